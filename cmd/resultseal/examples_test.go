// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

var updateDrawings = flag.Bool("update-drawings", false, "redraw the protocols in the examples' README.md")

// TestProtocolExamples holds each of examples/protocols to its word: its policy
// gives no warning, its runs come to what expected.json says, good ones and bad
// ones, and its page lists them and shows the protocol as it is.
func TestProtocolExamples(t *testing.T) {
	policies, err := filepath.Glob("../../examples/protocols/*/policy.yaml")
	require.NoError(t, err)
	require.Len(t, policies, 9)
	for _, policyFile := range policies {
		dir := filepath.Dir(policyFile)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			traces := filepath.Join(dir, "traces.jsonl")
			var stdout, stderr bytes.Buffer
			require.Zero(t, run([]string{"validate", policyFile}, strings.NewReader(""), &stdout, &stderr), stderr.String())
			require.NotContains(t, stdout.String()+stderr.String(), "warning")

			var expected struct {
				Traces map[string]struct{ Run, Compliance, Violation string }
			}
			readJSON(t, filepath.Join(dir, "expected.json"), &expected)
			readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
			require.NoError(t, err)

			stdout.Reset()
			require.Zero(t, run([]string{"score", "--policy", policyFile, "--format", "json", traces}, strings.NewReader(""), &stdout, &stderr), stderr.String())
			var report struct {
				Sessions []struct {
					TraceIDs   []string `json:"trace_ids"`
					Compliance string
					Protocols  []struct {
						Events []struct{ Event, Verdict string }
					}
				}
			}
			require.NoError(t, json.Unmarshal(stdout.Bytes(), &report))
			require.Len(t, report.Sessions, len(expected.Traces))
			seen := map[string]int{}
			for _, s := range report.Sessions {
				want, ok := expected.Traces[s.TraceIDs[0]]
				require.True(t, ok, s.TraceIDs)
				require.Equal(t, want.Compliance, s.Compliance, want.Run)
				violation := ""
				for _, p := range s.Protocols {
					for _, e := range p.Events {
						if e.Verdict == "violation" {
							violation = e.Event
						}
					}
				}
				require.Equal(t, want.Violation, violation, want.Run)
				require.Contains(t, string(readme), "| "+want.Run+" | "+want.Compliance+" |")
				seen[want.Compliance]++
			}
			require.NotZero(t, seen["compliant"])
			require.NotZero(t, seen["violation"])

			checkDrawing(t, dir, policyFile, string(readme))
		})
	}
}

// checkDrawing requires that the page draws the protocol of the policy.
func checkDrawing(t *testing.T, dir, policyFile, readme string) {
	raw, err := os.ReadFile(policyFile)
	require.NoError(t, err)
	p, err := policy.Load(policyFile, raw)
	require.NoError(t, err)
	require.Len(t, p.Protocols, 1)
	before, rest, ok := strings.Cut(readme, "```mermaid\n")
	require.True(t, ok)
	drawing, after, ok := strings.Cut(rest, "```\n")
	require.True(t, ok)
	want := p.Protocols[0].Automaton.Mermaid()
	if *updateDrawings {
		readme = before + "```mermaid\n" + want + "```\n" + after
		require.NoError(t, os.WriteFile(filepath.Join(dir, "README.md"), []byte(readme), 0o600))
		return
	}
	require.Equal(t, want, drawing, "run the test with -update-drawings")
}

func readJSON(t *testing.T, file string, v any) {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, v))
}
