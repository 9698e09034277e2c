// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/testkit"
)

// What an instrumentation emits that was not recorded here is reconstructed from
// public sources: names and structure are exact, content is invented. The files say
// what each call must come to, and in which order events happen.
func TestReconstructed(t *testing.T) {
	dir := filepath.Join("testdata", "reconstructed")
	text, err := os.ReadFile(filepath.Join(dir, "policy.yaml"))
	require.NoError(t, err)
	p, err := policy.Load("policy.yaml", text)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	require.NoError(t, err)
	decoder, scorer := genai.NewDecoder(genai.Options{}), score.New(p)
	for _, file := range files {
		if filepath.Base(file) == "policy.yaml" {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			r := testkit.ReadReconstruction(t, file)
			var got []string
			for _, td := range r.Traces(t) {
				facts, _ := decoder.Traces(td)
				got = append(got, outcomes(scorer.Trace(facts, nil))...)
				reversed := slices.Clone(facts)
				slices.Reverse(reversed)
				require.Equal(t, outcomes(scorer.Trace(facts, nil)), outcomes(scorer.Trace(reversed, nil)), "in the order of arrival")
			}
			if *update {
				rewriteWant(t, file, got)
				return
			}
			if diff := cmp.Diff(r.Want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// outcomes are what a session's calls came to, and its events.
func outcomes(s *score.Session) (lines []string) {
	if s == nil {
		return []string{"no session"}
	}
	for _, o := range s.Observations {
		lines = append(lines, fmt.Sprintf("%s %s", o.Tool, o.Evaluation.ReasonCodes[0]))
	}
	for _, c := range s.Uncontracted {
		lines = append(lines, c.Tool+" uncontracted")
	}
	if len(s.Protocols) > 0 {
		lines = append(lines, events(s))
	}
	if s.TraceGaps != 0 {
		lines = append(lines, "gaps "+s.TraceGaps.String())
	}
	return lines
}

func rewriteWant(t *testing.T, file string, want []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, _, ok := bytes.Cut(text, []byte("\nwant:"))
	require.True(t, ok, "%s has no want", file)
	out, err := yaml.Marshal(map[string][]string{"want": want})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, append(append(before, '\n'), out...), 0o600))
}

// The shapes that were found wrong, with the answers that are right.
func TestInstrumentationCases(t *testing.T) {
	root := shared(t, "cases", "instrumentations")
	dirs, err := os.ReadDir(root)
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, dir := range dirs {
		t.Run(dir.Name(), func(t *testing.T) {
			var want struct {
				Observations []struct {
					Tool    string
					Reasons []string
				}
				Compliance string
			}
			at := filepath.Join(root, dir.Name())
			text, err := os.ReadFile(filepath.Join(at, "expected.json"))
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &want))
			got := judgeFile(t, filepath.Join(at, "policy.yaml"), filepath.Join(at, "trace.jsonl"))
			require.Len(t, got, 1)
			for _, j := range got {
				require.Len(t, j.session.Observations, len(want.Observations))
				for i, o := range j.session.Observations {
					require.True(t, strings.HasSuffix(o.Tool, want.Observations[i].Tool), o.Tool)
					require.Contains(t, want.Observations[i].Reasons, string(o.Evaluation.ReasonCodes[0]))
				}
				if want.Compliance != "" {
					require.Equal(t, want.Compliance, j.session.Compliance.String())
				}
			}
		})
	}
}
