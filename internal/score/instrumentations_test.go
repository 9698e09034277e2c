// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

var recordings = filepath.Join("testdata", "recordings")

// recordingFiles lists the recordings, and those that were written.
func recordingFiles(t *testing.T) (files []string) {
	t.Helper()
	for _, pattern := range []string{"*.jsonl.gz", filepath.Join("written", "*.jsonl.gz")} {
		found, err := filepath.Glob(filepath.Join(recordings, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, found)
		files = append(files, found...)
	}
	return files
}

// recordingName is a recording's name without folder and endings.
func recordingName(file string) string {
	return strings.TrimSuffix(filepath.Base(file), ".jsonl.gz")
}

// One scenario, recorded through many instrumentations, comes to the same truth
// states.
func TestInstrumentations(t *testing.T) {
	var expected struct {
		Files map[string]map[string]struct {
			Observations, Optional map[string][]string
		}
	}
	readJSON(t, filepath.Join(recordings, "expected.json"), &expected)
	require.Len(t, expected.Files, len(recordingFiles(t)))
	for file, traces := range expected.Files {
		t.Run(file, func(t *testing.T) {
			got := judgeFile(t, filepath.Join(recordings, "policy.yaml"), filepath.Join(recordings, file+".gz"))
			for id, want := range traces {
				j, ok := got[id]
				require.True(t, ok || len(want.Observations) == 0, "%s: no verdict", id)
				states := map[string][]string{}
				if ok {
					for _, o := range j.session.Observations {
						states[o.Tool] = append(states[o.Tool], string(o.Evaluation.TruthState))
					}
				}
				for tool := range states {
					slices.Sort(states[tool])
				}
				for tool, optional := range want.Optional {
					// Any one of these may be there, or nothing.
					if len(states[tool]) == 1 && slices.Contains(optional, states[tool][0]) {
						delete(states, tool)
					}
				}
				if diff := cmp.Diff(want.Observations, states); diff != "" {
					t.Errorf("%s: truth states (-want +got):\n%s", id, diff)
				}
			}
		})
	}
}

// What happened is the same in every recording, in the same order. The golden
// file groups the recordings by what they tell: what stands apart lacks
// something that its instrumentation does not record.
func TestInstrumentationsTellTheSame(t *testing.T) {
	told := map[string][]string{}
	for _, file := range recordingFiles(t) {
		traces := judgeOrdered(t, "serialize", file)
		for n, s := range traces {
			told[events(s)] = append(told[events(s)], fmt.Sprintf("%s %d", recordingName(file), n+1))
		}
	}
	var groups []string
	for what, who := range told {
		groups = append(groups, what+"\n    "+strings.Join(who, "\n    ")+"\n")
	}
	slices.Sort(groups)
	golden(t, filepath.Join(recordings, "events.txt"), strings.Join(groups, "\n"))
}

// Two calls at the same time are two pairs, or as they happened.
func TestParallelCalls(t *testing.T) {
	file := filepath.Join(recordings, "ai-7.0.173.jsonl.gz")
	require.Equal(t, "?first !search_customer !search_customer ?search_customer ?search_customer !get_order ?get_order !send_email ?send_email !refund ?refund !lookup_stock ?lookup_stock !agent",
		events(judgeOrdered(t, "interleave", file)[0]))
	require.Equal(t, "?first !search_customer ?search_customer !search_customer ?search_customer !get_order ?get_order !send_email ?send_email !refund ?refund !lookup_stock ?lookup_stock !agent",
		events(judgeOrdered(t, "serialize", file)[0]))
}

// judgeOrdered follows everything that happens in the traces of a file, in order
// of their time.
func judgeOrdered(t *testing.T, parallel, file string) []*score.Session {
	t.Helper()
	p, err := policy.Load("events.yaml", []byte(`protocols:
  - name: everything
    protocol: "rec X.!{none.X}"
    parallel_calls: `+parallel+`
    events:
      - {label: "{tool.name}", event: tool_call}
      - {label: "{tool.name}", event: tool_result}
      - {label: first, event: user_message, turn: first}
      - {label: user, event: user_message}
      - {label: agent, event: agent_message}
`))
	require.NoError(t, err)
	var out []*score.Session
	for _, j := range judgeAll(t, p, file) {
		out = append(out, j.session)
	}
	return out
}

func events(s *score.Session) string {
	var names []string
	for _, e := range s.Protocols[0].Events {
		names = append(names, e.Name)
	}
	return strings.Join(names, " ")
}

// golden compares with a file, or rewrites it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
