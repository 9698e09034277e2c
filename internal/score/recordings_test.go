// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/score"
)

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into))
}

// The published study's 60 runs: every outcome, every event of the monitor with
// its verdict, and the span that broke the protocol.
func TestBookingStudy(t *testing.T) {
	var expected struct {
		Traces map[string]struct {
			Outcome       string  `json:"outcome"`
			ViolatingSpan *string `json:"violating_span_id"`
			Events        []struct {
				Dir, Label, Verdict string
				Expected            []string
			}
		}
	}
	readJSON(t, shared(t, "traces", "booking", "expected.json"), &expected)
	got := judgeFile(t, shared(t, "traces", "booking", "policy.yaml"), shared(t, "traces", "booking", "traces.jsonl.gz"))
	require.Len(t, got, len(expected.Traces))

	counts := map[string]int{}
	for id, want := range expected.Traces {
		j := got[id]
		require.NotNil(t, j.session, id)
		counts[j.session.Compliance.String()]++
		outcome := map[string]string{"ok": "compliant", "unrecognized": "unrecognized", "violated": "violation"}[want.Outcome]
		require.Equal(t, outcome, j.session.Compliance.String(), id)

		var wantEvents, gotEvents []string
		for _, e := range want.Events {
			dir := map[string]string{"send": "!", "receive": "?"}[e.Dir]
			wantEvents = append(wantEvents, line(dir+e.Label, e.Verdict, e.Expected))
		}
		violating := ""
		require.Len(t, j.session.Protocols, 1)
		for _, e := range j.session.Protocols[0].Events {
			gotEvents = append(gotEvents, line(e.Name, e.Verdict.String(), e.Expected))
			if e.Verdict == score.EventViolation && violating == "" {
				violating = j.facts[e.Span].SpanID.String()
			}
		}
		if diff := cmp.Diff(wantEvents, gotEvents); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", id, diff)
		}
		if want.ViolatingSpan == nil {
			require.Empty(t, violating, id)
		} else {
			require.Equal(t, *want.ViolatingSpan, violating, id)
		}
	}
	require.Equal(t, map[string]int{"compliant": 31, "unrecognized": 24, "violation": 5}, counts)
}

func line(event, verdict string, expected []string) string {
	text := event + " " + verdict
	for _, e := range expected {
		text += " " + e
	}
	return text
}

// A public benchmark's 100 airline runs.
func TestTauAirline(t *testing.T) {
	var expected struct {
		Traces map[string]struct {
			Violated      bool
			ViolatingSpan *string `json:"violating_span_id"`
			Unrecognized  int     `json:"unrecognized_events"`
		}
	}
	readJSON(t, shared(t, "traces", "tau-airline", "expected.json"), &expected)
	got := judgeFile(t, shared(t, "traces", "tau-airline", "policy.yaml"), shared(t, "traces", "tau-airline", "traces.jsonl.gz"))
	require.Len(t, got, len(expected.Traces))
	for id, want := range expected.Traces {
		j := got[id]
		require.NotNil(t, j.session, id)
		require.Equal(t, want.Violated, j.session.Compliance == score.Violation, "%s: %s", id, j.session.Compliance)
		unrecognized, violating := 0, ""
		for _, e := range j.session.Protocols[0].Events {
			switch e.Verdict {
			case score.EventUnrecognized:
				unrecognized++
			case score.EventViolation:
				if violating == "" {
					violating = j.facts[e.Span].SpanID.String()
				}
			}
		}
		require.Equal(t, want.Unrecognized, unrecognized, id)
		if want.ViolatingSpan != nil {
			require.Equal(t, *want.ViolatingSpan, violating, id)
		}
	}
}

// The same airline runs recorded by OpenInference come to the same verdicts.
func TestTauAirlineTwins(t *testing.T) {
	var expected struct {
		Twins map[string]struct {
			GenAI string `json:"genai_trace_id"`
		} `json:"traces_openinference"`
	}
	readJSON(t, shared(t, "traces", "tau-airline", "expected.json"), &expected)
	policyFile := shared(t, "traces", "tau-airline", "policy.yaml")
	genAI := judgeFile(t, policyFile, shared(t, "traces", "tau-airline", "traces.jsonl.gz"))
	twins := judgeFile(t, policyFile, shared(t, "traces", "tau-airline", "traces_openinference.jsonl.gz"))
	require.Len(t, twins, len(expected.Twins))
	events := func(j judged) (out []string) {
		for _, e := range j.session.Protocols[0].Events {
			out = append(out, line(e.Name, e.Verdict.String(), e.Expected))
		}
		return out
	}
	for id, twin := range twins {
		original := genAI[expected.Twins[id].GenAI]
		require.NotNil(t, original.session, id)
		require.Equal(t, original.session.Compliance, twin.session.Compliance, id)
		if diff := cmp.Diff(events(original), events(twin)); diff != "" {
			t.Errorf("%s: events (-GenAI +OpenInference):\n%s", id, diff)
		}
	}
}
