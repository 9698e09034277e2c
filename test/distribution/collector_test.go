// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/template"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/child"
)

// patience is how long is waited for what a healthy collector does in well
// under a second. It only makes failing slow.
const patience = time.Minute

// top is the top of the repository.
var top = filepath.Join("..", "..")

// distribution returns the path of the binary. It skips the test where there is
// none, or only one that was built from older sources, unless it was asked for.
func distribution(t *testing.T) string {
	t.Helper()
	return child.Distribution(t, top)
}

// settings are what the tests vary in the collector's configuration.
type settings struct {
	// Processor is what stands under resultseal:, a line each.
	Processor []string
	// Format is the file exporter's: json, or proto, which keeps every byte of
	// texts that are not UTF-8. The default is json.
	Format string
}

// policyFile is the line that takes the policy from a file.
func policyFile(path string) string { return "policy: ${file:" + path + "}" }

// holding are the lines that say how long a trace is held.
func holding(rootDelay, idleTimeout time.Duration) []string {
	return []string{"root_delay: " + rootDelay.String(), "idle_timeout: " + idleTimeout.String()}
}

var configuration = template.Must(template.New("").Parse(`extensions:
  health_check: {endpoint: "127.0.0.1:{{.Ports.Health}}"}
receivers:
  otlp:
    protocols:
      grpc: {endpoint: "127.0.0.1:{{.Ports.GRPC}}", max_recv_msg_size_mib: 16}
      http: {endpoint: "127.0.0.1:{{.Ports.HTTP}}"}
processors:
  resultseal:
{{- range .Processor}}
    {{.}}
{{- end}}
exporters:
  file: {path: "{{.Output}}", append: true, format: {{.Format}}, flush_interval: 20ms}
service:
  extensions: [health_check]
  telemetry:
    logs: {encoding: json}
    metrics:
      readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: {{.Ports.Metrics}}}}}}]
  pipelines:
    traces: {receivers: [otlp], processors: [resultseal], exporters: [file]}
`))

// ports are what one collector listens on, all on the loopback interface.
type ports struct{ GRPC, HTTP, Health, Metrics int }

// freePorts finds ports that nobody listens on. Somebody else may take one
// before the collector does; launch tries again then.
func freePorts(t *testing.T) ports {
	t.Helper()
	numbers := child.FreePorts(t, 4)
	return ports{numbers[0], numbers[1], numbers[2], numbers[3]}
}

// configure writes a configuration and returns its path.
func configure(t *testing.T, dir string, s settings, p ports) string {
	t.Helper()
	if s.Format == "" {
		s.Format = "json"
	}
	var text bytes.Buffer
	require.NoError(t, configuration.Execute(&text, struct {
		settings
		Ports  ports
		Output string
	}{s, p, filepath.Join(dir, "output")}))
	path := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(path, text.Bytes(), 0o600))
	return path
}

// collector is a running process of the distribution.
type collector struct {
	*child.Process
	ports  ports
	output *output
}

var errAddressInUse = errors.New("a port was taken meanwhile")

// start runs a collector until the end of the test, and waits until it is
// ready.
func start(t *testing.T, s settings) *collector {
	t.Helper()
	for attempt := 1; ; attempt++ {
		c, err := launch(t, s)
		if err == nil {
			return c
		}
		if !errors.Is(err, errAddressInUse) || attempt == 5 {
			t.Fatalf("the collector did not start: %v", err)
		}
	}
}

func launch(t *testing.T, s settings) (*collector, error) {
	t.Helper()
	dir := t.TempDir()
	c := &collector{ports: freePorts(t), output: &output{path: filepath.Join(dir, "output"), format: s.Format}}
	return c, c.launch(t, dir, configure(t, dir, s, c.ports), filepath.Join(dir, "log"))
}

// launch runs the collector until the end of the test, and waits until it is ready.
func (c *collector) launch(t *testing.T, dir, config, log string) error {
	t.Helper()
	binary := distribution(t)
	p := child.Start(t, child.Command{Name: "the collector", Binary: binary, Arguments: []string{"--config", config}, Dir: dir, Log: log})
	c.Process = p
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the collector said:\n%s%s", complaints(p.Log), child.Staleness(binary, top)) // a failure's first suspect
		}
	})
	err := p.AwaitReady(func() bool {
		status, _, err := get(t, c.ports.Health, "/")
		return err == nil && status == http.StatusOK
	}, patience)
	if err == nil {
		return nil
	}
	text, readErr := os.ReadFile(log)
	require.NoError(t, readErr)
	if strings.Contains(string(text), "address already in use") {
		return errAddressInUse
	}
	return fmt.Errorf("%w: %s", err, text)
}

// localClient talks to the loopback interface without any proxy.
var localClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}, Timeout: patience}

func get(t *testing.T, port int, path string) (status int, body []byte, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url(port, path), nil)
	require.NoError(t, err)
	response, err := localClient.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

func url(port int, path string) string { return "http://" + address(port) + path }

func address(port int) string { return child.Address(port) }

// signal sends a signal.
func (c *collector) signal(t *testing.T, s os.Signal) {
	t.Helper()
	require.NoError(t, c.Signal(s))
}

// stop asks the collector to end, as an orchestrator does, and checks that it
// ends well: with exit code 0 and without having logged an error.
func (c *collector) stop(t *testing.T) {
	t.Helper()
	c.signal(t, syscall.SIGTERM)
	c.awaitExit(t)
}

func (c *collector) awaitExit(t *testing.T) {
	t.Helper()
	require.NoError(t, c.AwaitExit(patience), "the collector's exit")
	for _, line := range c.logLines(t) {
		require.Contains(t, []string{"debug", "info", "warn"}, line.Level, "the collector logged: %s", line.text)
	}
}

// logLine is one line of the collector's log.
type logLine struct {
	Level   string `json:"level"`
	Message string `json:"msg"`
	text    string
}

// logLines reads the log. All of it is JSON; something else, such as the trace
// of a panic, fails the test.
func (c *collector) logLines(t *testing.T) []logLine {
	t.Helper()
	text, err := os.ReadFile(c.Log)
	require.NoError(t, err)
	var lines []logLine
	for scanner := bufio.NewScanner(bytes.NewReader(text)); scanner.Scan(); {
		line := logLine{text: scanner.Text()}
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &line), "the collector printed: %s", line.text)
		lines = append(lines, line)
	}
	return lines
}

// awaitLog waits until a message was logged so many times.
func (c *collector) awaitLog(t *testing.T, message string, times int) {
	t.Helper()
	require.Eventually(t, func() bool {
		n := 0
		text, err := os.ReadFile(c.Log)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, message) {
				n++
			}
		}
		return n >= times
	}, patience, 20*time.Millisecond, "%q was not logged %d times", message, times)
}

// metric adds up the series of one of the collector's own metrics that carry
// all of the labels, each of them written as in name="value".
func (c *collector) metric(t *testing.T, name string, labels ...string) float64 {
	t.Helper()
	status, body, err := get(t, c.ports.Metrics, "/metrics")
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	sum, found := 0.0, false
lines:
	for line := range strings.Lines(string(body)) {
		series, value, ok := strings.Cut(strings.TrimSpace(line), "} ")
		if !ok {
			series, value, ok = strings.Cut(strings.TrimSpace(line), " ")
		}
		if !ok || series != name && !strings.HasPrefix(series, name+"{") {
			continue
		}
		found = true
		for _, label := range labels {
			if !strings.Contains(series, label) {
				continue lines
			}
		}
		number, err := strconv.ParseFloat(value, 64)
		require.NoError(t, err, line)
		sum += number
	}
	require.True(t, found, "there is no metric %s", name)
	return sum
}

// run runs the distribution to its end, for calls that are not to start a
// collector.
func run(t *testing.T, dir string, arguments ...string) (code int, printed string) {
	t.Helper()
	p := child.Start(t, child.Command{Name: "the collector", Binary: distribution(t), Arguments: arguments, Dir: dir, Log: filepath.Join(t.TempDir(), "log")})
	err := p.AwaitExit(patience)
	text, readErr := os.ReadFile(p.Log)
	require.NoError(t, readErr)
	if err == nil {
		return 0, string(text)
	}
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%v; it printed:\n%s", arguments, text)
	return exit.ExitCode(), string(text)
}

// complaints returns what a collector printed, for a failure's message: all but
// what is said of every start and every end.
func complaints(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, `{"level":"info"`) && out.Len() < 50_000 {
			out.WriteString(line)
		}
	}
	return out.String()
}
