// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package referencetest runs the published ResultSeal reference beside a test, as a
// Python process that answers requests. A test that needs it is skipped where there is
// no Python, no reference, or another version of either than the one whose answers the
// semantics were measured by.
package referencetest

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	// PythonVariable is the environment variable that names the Python interpreter
	// with the reference. Without it, it is python3.
	PythonVariable = "RESULTSEAL_REFERENCE_PYTHON"
	// RequireVariable is the environment variable that makes a missing reference a
	// failure if it is not empty.
	RequireVariable = "RESULTSEAL_REQUIRE_REFERENCE"

	// CasesVariable is the environment variable that names the number of cases to
	// generate, instead of a test's own.
	CasesVariable = "RESULTSEAL_REFERENCE_CASES"

	version = "0.1.3" // of the reference
	python  = "3.11"  // other versions read some spellings of times differently
)

//go:embed driver.py
var driver string

// Reference is a running reference. It serves one test at a time.
type Reference struct {
	requests *bufio.Writer
	answers  *bufio.Reader
}

// Start starts the reference and ends it with the test. It skips the test if it
// cannot be had.
func Start(t testing.TB) *Reference {
	t.Helper()
	r, why := start(t)
	switch {
	case why == "":
		return r
	case os.Getenv(RequireVariable) != "":
		t.Fatalf("%s is set: %s", RequireVariable, why)
	default:
		t.Skipf("skipped: %s; %s names a Python %s with resultseal %s, and make test-reference installs one", why, PythonVariable, python, version)
	}
	return nil
}

func start(t testing.TB) (_ *Reference, why string) {
	name := os.Getenv(PythonVariable)
	if name == "" {
		name = "python3"
	}
	cmd := exec.Command(name, "-c", driver)
	// Neither the place that the test runs in nor the user's settings may change the answers.
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PYTHONIOENCODING=utf-8", "PYTHONPATH=", "PYTHONDONTWRITEBYTECODE=1", "PYTHONINTMAXSTRDIGITS=4300", "NO_COLOR=1")
	stderr := new(strings.Builder)
	cmd.Stderr = stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	if err := cmd.Start(); err != nil {
		return nil, err.Error()
	}
	started := false
	t.Cleanup(func() {
		_ = stdin.Close() // is closed already if the process has ended
		_, _ = io.Copy(io.Discard, stdout)
		if err := cmd.Wait(); err != nil && started {
			t.Errorf("the reference ended with %v:\n%s", err, stderr)
		}
	})
	r := &Reference{requests: bufio.NewWriter(stdin), answers: bufio.NewReader(stdout)}
	line, err := r.answers.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Sprintf("%s does not start: %v", name, err)
	}
	var found struct{ Missing, Version, Python, YAML string }
	require.NoError(t, json.Unmarshal(line, &found))
	switch {
	case found.Missing != "":
		return nil, fmt.Sprintf("%s has no reference: %s", name, found.Missing)
	case found.Version != version:
		return nil, fmt.Sprintf("%s has resultseal %s", name, found.Version)
	case found.Python != python:
		return nil, fmt.Sprintf("%s is Python %s", name, found.Python)
	}
	started = true
	t.Logf("resultseal %s, Python %s, PyYAML %s", found.Version, found.Python, found.YAML)
	return r, ""
}

// Cases returns how many cases a test generates: its own number, a fortieth of it with
// -short, or the one that CasesVariable names.
func Cases(t testing.TB, own int) int {
	t.Helper()
	if text := os.Getenv(CasesVariable); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err, CasesVariable)
		return n
	}
	if testing.Short() {
		return own / 40
	}
	return own
}

// Each sends a request for every case and calls answer with the case and the text of
// its answer, in the order of the cases. Requests are sent ahead of the answers, so
// answer must not end the test. The error is that of a process that has ended.
func Each[Case any](r *Reference, cases iter.Seq[Case], request func(Case) any, answer func(Case, []byte)) error {
	sent := make(chan Case, 256)
	failed := make(chan error, 1)
	go func() {
		defer close(sent)
		encoder := json.NewEncoder(r.requests)
		for c := range cases {
			err := encoder.Encode(request(c))
			if err == nil {
				err = r.requests.Flush()
			}
			if err != nil {
				failed <- err
				return
			}
			sent <- c
		}
	}()
	var silent error
	for c := range sent {
		if silent != nil {
			continue // until the sender has noticed, too
		}
		line, err := r.answers.ReadBytes('\n')
		if err != nil {
			silent = fmt.Errorf("the reference does not answer: %w", err)
			continue
		}
		answer(c, line)
	}
	select {
	case err := <-failed:
		return errors.Join(silent, fmt.Errorf("the reference takes no request: %w", err))
	default:
		return silent
	}
}
