// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	top      = "../.."
	patience = 60 * time.Second // for what takes seconds on a machine that is not busy
)

// collector is the distribution with one of the two configurations.
type collector struct {
	command             *exec.Cmd
	exited              chan struct{}
	err                 error // once exited is closed
	log                 string
	http, grpc, metrics int
}

func run(t *testing.T, configuration string, environment ...string) *collector {
	t.Helper()
	binary, err := filepath.Abs(filepath.Join(top, "dist", "otelcol-resultseal-kafka"))
	require.NoError(t, err)
	require.FileExists(t, binary, "make test-kafka builds it")
	c := &collector{exited: make(chan struct{}), log: filepath.Join(t.TempDir(), "log"), http: port(t), grpc: port(t), metrics: port(t)}
	log, err := os.Create(c.log)
	require.NoError(t, err)
	defer log.Close()
	c.command = exec.Command(binary, "--config", filepath.Join("deploy", "kafka", configuration))
	c.command.Dir, c.command.Stdout, c.command.Stderr = top, log, log
	c.command.Env = append(os.Environ(), fmt.Sprintf("RESULTSEAL_HTTP_PORT=%d", c.http), fmt.Sprintf("RESULTSEAL_GRPC_PORT=%d", c.grpc), fmt.Sprintf("RESULTSEAL_METRICS_PORT=%d", c.metrics))
	c.command.Env = append(c.command.Env, environment...)
	require.NoError(t, c.command.Start())
	go func() {
		c.err = c.command.Wait()
		close(c.exited)
	}()
	t.Cleanup(func() {
		c.kill()
		if text, err := os.ReadFile(c.log); t.Failed() && err == nil {
			t.Logf("%s said at last:\n%s", configuration, text[max(0, len(text)-3000):])
		}
	})
	require.Eventually(t, func() bool {
		_, err := c.page()
		return err == nil
	}, patience, 50*time.Millisecond)
	return c
}

// kill ends it at once, as a machine that fails does.
func (c *collector) kill() {
	_ = c.command.Process.Kill() // fails if it has ended, which is as well
	<-c.exited
}

// stop asks it to end, and requires that it ends well.
func (c *collector) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, c.command.Process.Signal(syscall.SIGTERM))
	select {
	case <-c.exited:
		require.NoError(t, c.err)
	case <-time.After(patience):
		t.Fatal("it did not end")
	}
}

// page is what it says of itself.
func (c *collector) page() (string, error) {
	response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", c.metrics))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

var held = regexp.MustCompile(`(?m)^otelcol_processor_resultseal_traces_active(?:\{.*\})? (\S+)$`)

// held is how many traces a worker holds.
func (c *collector) held(t *testing.T) int {
	t.Helper()
	text, err := c.page()
	require.NoError(t, err)
	sum := 0.0
	for _, match := range held.FindAllStringSubmatch(text, -1) {
		n, err := strconv.ParseFloat(match[1], 64)
		require.NoError(t, err)
		sum += n
	}
	return int(sum)
}

// send gives it one request, as JSON.
func (c *collector) send(t *testing.T, request []byte) {
	t.Helper()
	response, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/v1/traces", c.http), "application/json", strings.NewReader(string(request)))
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, "%s", text)
}

func port(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
