// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// collector is the running child process.
type collector struct {
	cmd     *exec.Cmd
	ports   ports
	grace   time.Duration // for stopping
	logPath string
	exited  chan struct{} // closed when the process is gone
	err     error         // how it went; read after exited is closed
}

// ports are those of examples/quickstart/collector.yaml.
type ports struct{ grpc, http, health, metrics int }

func startCollector(ctx context.Context, o options, annotated string) (*collector, error) {
	binary, err := filepath.Abs(o.collector)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("there is no collector to run: %w; build it with `make dist`", err)
	}
	c := &collector{grace: o.grace, logPath: filepath.Join(o.out, "collector.log"), exited: make(chan struct{})}
	if c.ports, err = choosePorts(4317, 4318, 13133, 8888); err != nil {
		return nil, err
	}
	log, err := os.Create(c.logPath)
	if err != nil {
		return nil, err
	}
	// Not a context's command: it is stopped by stop, also when ctx is over,
	// so that it can pass on what it holds and its end is waited for.
	c.cmd = exec.Command(binary, "--config", o.config) //nolint:gosec // the binary is the user's choice
	c.cmd.Env = append(os.Environ(),
		"QUICKSTART_GRPC_PORT="+strconv.Itoa(c.ports.grpc),
		"QUICKSTART_HTTP_PORT="+strconv.Itoa(c.ports.http),
		"QUICKSTART_HEALTH_PORT="+strconv.Itoa(c.ports.health),
		"QUICKSTART_METRICS_PORT="+strconv.Itoa(c.ports.metrics),
		"QUICKSTART_POLICY="+o.policy,
		"QUICKSTART_OUT="+annotated,
	)
	c.cmd.Stdout, c.cmd.Stderr = log, log
	endWithParent(c.cmd)
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(context.Cause(ctx), log.Close())
	}
	started := make(chan error)
	go func() {
		err := startAndWait(c.cmd, started)
		c.err = errors.Join(err, log.Close())
		close(c.exited)
	}()
	if err := <-started; err != nil {
		<-c.exited
		return nil, err
	}
	return c, nil
}

// choosePorts takes each preferred port if it is free on loopback, and any
// free one otherwise.
func choosePorts(grpc, http, health, metrics int) (ports, error) {
	var p ports
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close()
		}
	}()
	for _, want := range []struct {
		preferred int
		port      *int
	}{{grpc, &p.grpc}, {http, &p.http}, {health, &p.health}, {metrics, &p.metrics}} {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(want.preferred)))
		if err != nil {
			l, err = net.Listen("tcp", "127.0.0.1:0")
		}
		if err != nil {
			return ports{}, fmt.Errorf("no free port on loopback: %w", err)
		}
		held = append(held, l)
		*want.port = l.Addr().(*net.TCPAddr).Port
	}
	return p, nil
}

func (c *collector) waitUntilHealthy(ctx context.Context) error {
	url := fmt.Sprintf("http://127.0.0.1:%d/", c.ports.health)
	return c.poll(ctx, "the collector is ready", func() (bool, error) {
		status, _, err := request(ctx, http.MethodGet, url, nil)
		return err == nil && status == http.StatusOK, nil
	})
}

func (c *collector) send(ctx context.Context, body []byte) error {
	status, answer, err := request(ctx, http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/v1/traces", c.ports.http), body)
	if err != nil {
		return fmt.Errorf("the collector did not take the spans: %w", err)
	}
	if status != http.StatusOK || bytes.Contains(answer, []byte("rejectedSpans")) {
		return fmt.Errorf("the collector did not take the spans: HTTP %d: %s", status, answer)
	}
	return nil
}

func (c *collector) waitForSpans(ctx context.Context, file string, want int) error {
	return c.poll(ctx, fmt.Sprintf("%d spans are in %s", want, file), func() (bool, error) {
		_, got, err := readRequests(file)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, errPartialLine) {
			return false, nil
		}
		return got >= want, err
	})
}

// poll asks until the answer is yes, the collector exits or ctx is over.
func (c *collector) poll(ctx context.Context, what string, ready func() (bool, error)) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		if ok, err := ready(); err != nil || ok {
			return err
		}
		select {
		case <-ticker.C:
		case <-c.exited:
			return fmt.Errorf("the collector exited before %s: %w", what, c.exit())
		case <-ctx.Done():
			return fmt.Errorf("waiting until %s: %w", what, context.Cause(ctx))
		}
	}
}

// stop asks the collector to end, waits for that, and ends it by force if it
// does not.
func (c *collector) stop() error {
	select {
	case <-c.exited:
		return fmt.Errorf("the collector exited by itself: %w", c.exit())
	default:
	}
	if err := c.cmd.Process.Signal(os.Interrupt); err != nil {
		_ = c.cmd.Process.Kill()
	}
	select {
	case <-c.exited:
		if c.err != nil {
			return fmt.Errorf("the collector did not stop well: %w", c.err)
		}
		return nil
	case <-time.After(c.grace):
		_ = c.cmd.Process.Kill()
		<-c.exited
		return fmt.Errorf("the collector did not stop within %v and was killed", c.grace)
	}
}

// exit says how a process that should still be there went.
func (c *collector) exit() error {
	if c.err == nil {
		return errors.New("exit status 0")
	}
	return c.err
}

func (c *collector) printLog(w io.Writer) {
	text, err := os.ReadFile(c.logPath)
	if err != nil {
		fmt.Fprintln(w, "the collector's log cannot be read:", err)
		return
	}
	fmt.Fprintf(w, "---- %s\n%s----\n", c.logPath, text)
}

// request does one HTTP exchange. Its errors hold no part of the body.
func request(ctx context.Context, method, url string, body []byte) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// client never goes through a proxy: everything is on this machine.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
