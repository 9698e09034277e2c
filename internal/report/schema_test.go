// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/describe"
	"github.com/resultseal/otelcol-resultseal/internal/testkit"
)

// reports are the samples, judged as traces and as conversations, and nothing.
func reports(t *testing.T) map[string]*Report {
	return map[string]*Report{
		"traces":        reportOf(t, false, sampleInputs, samples()...),
		"conversations": reportOf(t, true, Inputs{Files: 1, Scattered: 2}, samples()...),
		"nothing":       reportOf(t, false, Inputs{}),
	}
}

var (
	scoreSchema = filepath.Join("..", "..", "docs", "score.schema.json")
	sarifSchema = filepath.Join("testdata", "sarif-2.1.0.schema.json")
)

// The JSON form is what its schema says, and the schema says all of it.
func TestJSONSchema(t *testing.T) {
	for name, r := range reports(t) {
		t.Run(name, func(t *testing.T) {
			testkit.RequireSchema(t, scoreSchema, written(t, func(w *bytes.Buffer) error { return r.JSON(w) }))
		})
	}
	// Every code, state and verdict that there is, is one of the schema's.
	text, err := os.ReadFile(scoreSchema)
	require.NoError(t, err)
	var defs struct {
		Defs map[string]struct{ Enum []string } `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(text, &defs))
	for name, words := range map[string]map[string]string{"reason_code": describe.Reasons, "compliance": describe.Verdicts, "truth_state": describe.States, "gap": describe.Gaps} {
		require.Len(t, defs.Defs[name].Enum, len(words))
		for _, word := range defs.Defs[name].Enum {
			require.NotEmpty(t, words[word], word)
		}
	}
}

func TestSARIF(t *testing.T) {
	for _, r := range reports(t) {
		for _, on := range []FailOn{nil, {"blocked"}, {"unrecognized", "inconclusive"}, {"unjudged", "uncaptured", "uncontracted"}} {
			text := written(t, func(w *bytes.Buffer) error { return r.SARIF(w, "0.1.0", on) })
			testkit.RequireSchema(t, sarifSchema, text)

			var log struct {
				Runs []struct {
					Tool struct {
						Driver struct{ Rules []struct{ ID string } }
					}
					Results []struct {
						RuleID              string
						RuleIndex           int
						Level               string
						PartialFingerprints map[string]string
					}
				}
			}
			require.NoError(t, json.Unmarshal(text, &log))
			seen, rules := map[string]bool{}, map[string]int{}
			for _, result := range log.Runs[0].Results {
				rules[result.RuleID]++
				require.Equal(t, result.RuleID, log.Runs[0].Tool.Driver.Rules[result.RuleIndex].ID)
				fingerprint := result.PartialFingerprints["resultseal/v1"]
				require.False(t, seen[fingerprint], fingerprint)
				seen[fingerprint] = true
				// All have the default severity.
				want := "warning"
				switch result.RuleID {
				case "session-unjudged":
					want = "note"
					if on.unjudged() {
						want = "error"
					}
				case "call-uncontracted":
					want = "error"
				case "protocol-inconclusive":
					if !slices.Contains(on, "inconclusive") {
						want = "note"
					}
				case "RESULT_NOT_CAPTURED":
					if !slices.Contains(on, "blocked") && !slices.Contains(on, "uncaptured") {
						want = "note"
					}
				}
				require.Equal(t, want, result.Level, result.RuleID)
			}
			require.Equal(t, r.Summary.ByCompliance["unjudged"], rules["session-unjudged"], "one for each unjudged session")
			require.Zero(t, rules["protocol-unjudged"])
			if on.uncontracted() {
				require.Equal(t, r.Summary.Observations.Uncontracted, rules["call-uncontracted"])
			} else {
				require.Zero(t, rules["call-uncontracted"])
			}
		}
	}
	golden(t, "report.sarif", written(t, func(w *bytes.Buffer) error { return reports(t)["traces"].SARIF(w, "0.1.0", nil) }))
	golden(t, "nothing.sarif", written(t, func(w *bytes.Buffer) error { return reports(t)["nothing"].SARIF(w, "0.1.0", nil) }))
	require.Equal(t, "a%20b/c.jsonl", uriOf("a b/c.jsonl"))
	require.Equal(t, "file:///tmp/c%23.jsonl", uriOf("/tmp/c#.jsonl"))
}
