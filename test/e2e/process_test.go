// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/child"
)

// patience is how long is waited for what takes seconds on a machine that is not
// busy. It only makes failing slow.
const patience = 90 * time.Second

// top is the top of the repository.
var top = filepath.Join("..", "..")

// asked skips a test that nobody asked for.
func asked(t *testing.T) {
	t.Helper()
	if os.Getenv("RESULTSEAL_E2E") != "1" {
		t.Skip("end-to-end tests were not asked for: run make e2e, or set RESULTSEAL_E2E=1")
	}
}

// distribution is the collector's path.
func distribution(t *testing.T) string {
	t.Helper()
	asked(t)
	return built(t, "RESULTSEAL_DISTRIBUTION", "otelcol-resultseal", "make dist")
}

// jaegerBinary is Jaeger's path.
func jaegerBinary(t *testing.T) string {
	t.Helper()
	asked(t)
	return built(t, "RESULTSEAL_JAEGER", "jaeger", "make jaeger")
}

func built(t *testing.T, variable, name, how string) string {
	t.Helper()
	path, named := os.LookupEnv(variable)
	if !named {
		path = filepath.Join(top, "dist", name)
	}
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	if _, err := os.Stat(path); err != nil {
		require.False(t, named, "%s: %v", variable, err)
		t.Skipf("there is no %s: %s builds it", path, how)
	}
	return path
}

// installed is the path of a program that a package manager installs, under one
// of its names.
func installed(t *testing.T, names ...string) string {
	t.Helper()
	asked(t)
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skipf("%s is not installed", names[0])
	return ""
}

// process is a program that runs until the end of the test.
type process struct{ *child.Process }

// run starts a program, and waits until its page says that it is ready.
func run(t *testing.T, name, binary, dir string, environment []string, ready string, arguments ...string) *process {
	t.Helper()
	p := &process{child.Start(t, child.Command{
		Name: name, Binary: binary, Arguments: arguments, Dir: dir, Environment: environment, Log: filepath.Join(t.TempDir(), name+".log"),
	})}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s said at last:\n%s", name, tail(p.Log))
		}
	})
	err := p.AwaitReady(func() bool {
		status, _, err := get(t, ready)
		return err == nil && status == http.StatusOK
	}, patience)
	require.NoError(t, err, "%s", tail(p.Log))
	return p
}

// stop asks a program to end, and requires that it ends well.
func (p *process) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.Stop(patience), "%s:\n%s", p.Name, tail(p.Log))
}

// tail is the end of a log, without what is said of every start.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, "\tinfo\t") && !strings.Contains(line, "level=info") && !strings.Contains(line, "the policy is valid") {
			out.WriteString(line)
		}
	}
	return out.String()[max(0, out.Len()-2000):]
}

// output runs a program to its end.
func output(t *testing.T, dir string, environment []string, binary string, arguments ...string) (text string, ok bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	command := exec.CommandContext(ctx, binary, arguments...)
	command.Dir, command.Env = dir, append(os.Environ(), environment...)
	printed, err := command.CombinedOutput()
	return string(printed), err == nil
}

// local talks to the loopback interface without any proxy.
var local = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}, Timeout: patience}

func get(t *testing.T, url string) (status int, body []byte, err error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	response, err := local.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

// getJSON reads a page that must be there.
func getJSON(t *testing.T, url string, into any) {
	t.Helper()
	status, body, err := get(t, url)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, "%s: %s", url, body)
	require.NoError(t, json.Unmarshal(body, into), "%s: %s", url, body)
}

func ports(t *testing.T, n int) []int {
	t.Helper()
	return child.FreePorts(t, n)
}

func address(port int) string { return child.Address(port) }

func page(port int, path string) string { return "http://" + address(port) + path }

// replaced is a file of deploy/ with some of its words changed. Each must be
// there: otherwise the test would run something else than it says.
func replaced(t *testing.T, path string, pairs ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, path))
	require.NoError(t, err)
	out := string(text)
	for i := 0; i < len(pairs); i += 2 {
		require.Contains(t, out, pairs[i], path)
		out = strings.ReplaceAll(out, pairs[i], pairs[i+1])
	}
	return out
}

func write(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755)) //nolint:gosec // for programs that the test starts
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func absolute(t *testing.T, path ...string) string {
	t.Helper()
	out, err := filepath.Abs(filepath.Join(append([]string{top}, path...)...))
	require.NoError(t, err)
	return out
}

func variable(name string, value any) string { return fmt.Sprintf("%s=%v", name, value) }
