// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"text/template"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// patience is how long is waited for a collector to start, to pass spans on and to end.
const patience = time.Minute

// collector is a running process of the distribution.
type collector struct {
	command  *exec.Cmd
	metrics  string // the address of its own metrics
	profiler string // and of its processor profile, if that is wanted
	log      bytes.Buffer
	exited   chan struct{} // closed when it is gone; err is set then
	err      error
	senders  []*grpc.ClientConn
	traces   int // sent so far: no trace id comes twice
}

// collectorSettings are what configs/collector.yaml leaves open.
type collectorSettings struct {
	Processors, Exporter string
	Backend              int // the port of what the exporter sends to, if it does
	GRPC, Metrics        int
	PProf                int // the port of the profiler, if it is wanted
	Policy               string
}

// write puts the configuration into a folder and returns its path.
func (s collectorSettings) write(dir string) (string, error) {
	s.Policy = filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(s.Policy, []byte(configFile("policy-protocol.yaml")), 0o600); err != nil {
		return "", err
	}
	form, err := template.New("").Parse(configFile("collector.yaml"))
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	if err := form.Execute(&text, s); err != nil {
		return "", err
	}
	path := filepath.Join(dir, "config.yaml")
	return path, os.WriteFile(path, text.Bytes(), 0o600)
}

// freePorts finds three ports that nobody listens on.
func freePorts() (ports [3]int, err error) {
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return ports, err
		}
		defer l.Close() // not before all are found, so that they differ
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports, nil
}

// startCollector runs the binary until stop.
func startCollector(binary, dir string, s collectorSettings, senders int) (*collector, error) {
	ports, err := freePorts()
	if err != nil {
		return nil, err
	}
	s.GRPC, s.Metrics = ports[0], ports[1]
	if s.PProf > 0 {
		s.PProf = ports[2]
	}
	config, err := s.write(dir)
	if err != nil {
		return nil, err
	}
	c := &collector{command: exec.Command(binary, "--config", config), exited: make(chan struct{})}
	c.profiler = fmt.Sprintf("http://127.0.0.1:%d/debug/pprof/profile", s.PProf)
	c.metrics = "http://127.0.0.1:" + strconv.Itoa(ports[1]) + "/metrics"
	c.command.Stdout, c.command.Stderr = &c.log, &c.log
	if err := c.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		c.err = c.command.Wait()
		close(c.exited)
	}()
	for range senders {
		conn, err := grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", ports[0]), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			return nil, errors.Join(err, c.stop())
		}
		c.senders = append(c.senders, conn)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		select {
		case <-c.exited:
			return nil, fmt.Errorf("the collector ended with %w: %s", c.err, c.log.String())
		default:
		}
		if _, err := c.usage(); err == nil {
			return c, nil
		} else if time.Now().After(deadline) {
			return nil, errors.Join(fmt.Errorf("the collector did not start: %w", err), c.stop())
		}
	}
}

// stop asks the collector to end and fails if it does not end well.
func (c *collector) stop() error {
	for _, conn := range c.senders {
		conn.Close()
	}
	if err := c.command.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-c.exited:
	case <-time.After(patience):
		return errors.Join(errors.New("the collector did not end"), c.command.Process.Kill())
	}
	if c.err != nil {
		return fmt.Errorf("the collector ended with %w: %s", c.err, c.log.String())
	}
	return nil
}

// collectorUsage is what a collector says of itself.
type collectorUsage struct {
	cpu   time.Duration
	spans int // that went to the sink
}

var localClient = &http.Client{Timeout: 10 * time.Second}

func (c *collector) usage() (u collectorUsage, err error) {
	response, err := localClient.Get(c.metrics)
	if err != nil {
		return u, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return u, err
	}
	known := false
	for line := range strings.Lines(string(body)) {
		name, _, _ := strings.Cut(line, "{")
		name, _, _ = strings.Cut(name, " ")
		value := line[strings.LastIndexByte(line, ' ')+1:]
		number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil {
			continue // a comment
		}
		switch strings.TrimSuffix(name, "_total") {
		case "otelcol_process_cpu_seconds":
			u.cpu, known = time.Duration(number*float64(time.Second)), true
		case "otelcol_exporter_sent_spans":
			u.spans += int(number)
		}
	}
	if !known {
		return u, errors.New("the collector does not say what it used")
	}
	return u, nil
}
