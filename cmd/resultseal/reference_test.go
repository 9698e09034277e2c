// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/referencetest"
)

// TestReferenceFixtures replays and validates generated fixtures with this program and
// with the installed reference, and compares what they print, their exit status and
// their error codes.
func TestReferenceFixtures(t *testing.T) {
	reference := referencetest.Start(t)
	count := referencetest.Cases(t, 2_000)
	path := filepath.Join(t.TempDir(), "fixture")
	fixtures := func(yield func(referencetest.Fixture) bool) {
		for i := range count {
			if !yield(referencetest.NewFixture(i)) {
				return
			}
		}
	}
	same, listed, failures := map[string]int{}, map[string]int{}, 0
	err := referencetest.Each(reference, fixtures, func(f referencetest.Fixture) any { return map[string]any{"command": f} }, func(f referencetest.Fixture, text []byte) {
		kind, why, difference := compareFixture(&f, path, text)
		switch {
		case why != "":
			listed[why]++
		case difference == "":
			same[kind]++
		default:
			if failures++; failures <= 20 {
				t.Errorf("fixture %d, %v:\n%s\n%.1200q\nreference: %.600s", f.Number, f.Args, difference, f.Text, text)
			}
		}
	})
	require.NoError(t, err)
	require.Zero(t, failures, "fixtures differ")
	t.Logf("same %v, listed %v", same, listed)
	if count >= 2_000 {
		for _, want := range []string{"MATCH", "MISMATCH", "record", "valid", "CONTRACT_INVALID", "SCHEMA_INVALID", "PARSE_FAILED"} {
			require.NotZero(t, same[want], "no fixture is %s", want)
		}
	}
}

// compareFixture runs a command line. It returns what kind of answer it has, why it may
// differ from the reference's, if it does, and how it differs.
func compareFixture(f *referencetest.Fixture, path string, text []byte) (kind, why, difference string) {
	var want struct {
		Exit           int
		Stdout, Stderr string
		Crash          *struct{ At string }
	}
	if err := json.Unmarshal(text, &want); err != nil {
		return "", "", err.Error()
	}
	path += filepath.Ext(f.File)
	if err := os.WriteFile(path, f.Text, 0o600); err != nil {
		return "", "", err.Error()
	}
	args := slices.Clone(f.Args)
	args[slices.Index(args, "{}")] = path
	got := execute("", args...)
	got.stdout = strings.ReplaceAll(got.stdout, path, "{}")
	code := errorCode.FindString(got.stderr)
	switch {
	case want.Crash != nil && got.code >= 2:
		return "", "the reference fails", ""
	case strings.Contains(got.stderr, "half of a surrogate pair"):
		return "", "half of a surrogate pair is refused where it is read", ""
	case want.Crash != nil:
		return "", "", fmt.Sprintf("the reference fails at %s, exit %d: %s", want.Crash.At, got.code, got.stdout)
	case got.code == want.Exit && got.stdout != want.Stdout && display.Line(got.stdout) == display.Line(want.Stdout):
		return "", "control characters of a name are not printed", ""
	case got.code != want.Exit || got.stdout != want.Stdout:
		return "", "", fmt.Sprintf("exit %d, want %d\n%s%s", got.code, want.Exit, got.stdout, got.stderr)
	case want.Exit < 2 && args[0] == "validate":
		return "valid", "", ""
	case want.Exit < 2 && strings.HasPrefix(got.stdout, "{"):
		return "record", "", ""
	case want.Exit < 2:
		kind, _, _ = strings.Cut(got.stdout, ":")
		return kind, "", ""
	case strings.Contains(want.Stderr, "unrecognized document") && code == "CONTRACT_INVALID":
		return "", "validate names the key that a fixture lacks, where the reference no longer takes it for one", ""
	case code != errorCode.FindString(want.Stderr):
		return "", "", fmt.Sprintf("error %s", got.stderr)
	}
	return code, "", ""
}

var errorCode = regexp.MustCompile(`\b[A-Z]+_[A-Z]+\b`)
