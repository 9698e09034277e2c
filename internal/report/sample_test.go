// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares with a file of testdata.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", file)
	if *update {
		require.NoError(t, os.WriteFile(path, got, 0o600))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update")
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// judgedTrace is a verdict with the facts that it was made from.
type judgedTrace struct {
	verdict *score.Session
	spans   []genai.Span
}

// trace is what a builder is given.
func (j judgedTrace) trace() Trace {
	return Trace{Verdict: j.verdict, Spans: j.spans, Origin: Origin{File: "runs/a b.jsonl", Line: int(j.verdict.TraceID[15])}}
}

const second = genai.Timestamp(1e9)

// start is when the samples begin.
const start = 1_780_000_000 * second

// spansOf makes the facts of a trace with n spans, a second each.
func spansOf(trace byte, n int) []genai.Span {
	spans := make([]genai.Span, n)
	for i := range spans {
		spans[i] = genai.Span{
			TraceID: genai.TraceID{15: trace}, SpanID: genai.SpanID{6: trace, 7: byte(i + 1)},
			Start: start + genai.Timestamp(trace)*10*second + genai.Timestamp(i)*second,
		}
	}
	return spans
}

func sealedBy(tool, contract string, claim engine.ClaimType, ev engine.Evaluation) score.Observation {
	return score.Observation{
		Tool: tool, CallID: "call-" + tool,
		Contract:    &policy.Contract{Name: contract, Base: engine.Contract{ClaimType: claim}},
		Evaluation:  ev,
		Record:      engine.Record{Fingerprint: "sha256:f0"},
		ContentHash: "sha256:c0",
	}
}

func evaluation(d engine.Decision, s engine.TruthState, missing []string, reasons ...engine.ReasonCode) engine.Evaluation {
	return engine.Evaluation{Decision: d, TruthState: s, ReasonCodes: reasons, MissingFields: missing}
}

// samples are sessions of every kind. Their conversations matter only to a
// builder that follows these.
func samples() []judgedTrace {
	booking := &policy.Protocol{Name: "booking"}
	reading := &policy.Protocol{Name: "reading <first>"}
	order := sealedBy("get_order", "order", engine.ClaimReadComplete, evaluation(engine.Sealed, engine.StateSealed, nil, engine.ReasonSealed))
	empty := sealedBy("search", "customer & co", engine.ClaimFound, evaluation(engine.Blocked, engine.StateEmpty, nil, engine.ReasonEmptyWithoutSentinel))
	partial := sealedBy("search", "customer & co", engine.ClaimFound, evaluation(engine.Blocked, engine.StatePartial, []string{"name", "id"}, engine.ReasonMissingRequiredField))
	partial.Span = 1
	uncaptured := sealedBy("refund\x1b[31m", "refund", engine.ClaimEffectObserved, evaluation(engine.Blocked, engine.StateUnknown, nil, engine.ReasonResultNotCaptured))
	uncaptured.Uncaptured = true
	both := sealedBy("get_order", "order", engine.ClaimReadComplete, evaluation(engine.Blocked, engine.StateSourceMismatch, nil, engine.ReasonSourceMismatch, engine.ReasonTargetMismatch))

	session := func(trace byte, conversation string, v score.Session) judgedTrace {
		v.TraceID, v.Conversation = genai.TraceID{15: trace}, conversation
		v.Start = start + genai.Timestamp(trace)*10*second
		v.Agent, v.Service = "agent-1", "service"
		v.PolicyHash = "sha256:" + strings.Repeat("0123456789abcdef", 4)
		for i := range v.Observations {
			v.Observations[i].Conversation = conversation
		}
		v.Gaps |= v.TraceGaps
		for i := range v.Protocols {
			v.Gaps |= v.Protocols[i].Gaps
			v.Compliance = max(v.Compliance, v.Protocols[i].Verdict)
		}
		return judgedTrace{&v, spansOf(trace, 6)}
	}
	at := func(trace byte, n int) genai.Timestamp {
		return start + genai.Timestamp(trace)*10*second + genai.Timestamp(n)*second
	}
	return []judgedTrace{
		session(1, "c-1", score.Session{
			Observations: []score.Observation{order},
			Protocols: []score.Protocol{{
				Protocol: booking, Conversation: "c-1", Verdict: score.Compliant, Complete: true,
				Events: []score.Event{{Span: 0, Name: "!Search", Time: at(1, 0)}, {Span: 1, Name: "?Results", Time: at(1, 1), Registers: map[string]string{"p": `"a<b"`, "n": "1"}}},
			}},
		}),
		session(2, "c-2", score.Session{
			Observations: []score.Observation{empty, partial},
			Protocols: []score.Protocol{
				{
					Protocol: booking, Conversation: "c-2", Verdict: score.Violation,
					Events: []score.Event{
						{Span: 0, Name: "!Search", Time: at(2, 0)},
						{Span: 2, Name: "!Book", Time: at(2, 2) + 123456789, Verdict: score.EventViolation, Expected: []string{"!Present", "?Results"}, Reason: "not legal here"},
						{Span: 3, Name: "?Booked", Time: at(2, 3), Verdict: score.EventBlocked, Reason: "the protocol was broken before"},
					},
				},
				{
					Protocol: reading, Conversation: "c-2", Verdict: score.Violation,
					Events: []score.Event{{
						Span: 4, Name: "!write", Time: at(2, 4), Verdict: score.EventViolation, Expected: []string{"!read", "!write"}, Reason: "a guard fails",
						Registers: map[string]string{"path": `"a.txt"`},
					}},
				},
			},
			Uncontracted: []score.Call{{Span: 5, Tool: "log", ID: "x", Conversation: "c-2"}},
		}),
		session(3, "c-3", score.Session{
			TraceGaps:    score.GapSet(score.GapParentMissing),
			Observations: []score.Observation{uncaptured},
			Protocols: []score.Protocol{{
				Protocol: booking, Conversation: "c-3", Verdict: score.Inconclusive,
				Events: []score.Event{{Span: 1, Name: "!Book", Time: at(3, 1), Verdict: score.EventInconclusive, Expected: []string{"!Search"}, Reason: "a parent span is missing"}},
			}},
		}),
		session(4, "c-1", score.Session{
			Observations: []score.Observation{both},
			Protocols: []score.Protocol{{
				Protocol: booking, Conversation: "c-1", Verdict: score.Unrecognized, Gaps: score.GapSet(score.GapMessages, score.GapShutdown),
				Events: []score.Event{{Span: 1, Name: "?Unrecognized", Time: at(4, 1), Verdict: score.EventUnrecognized, Expected: []string{"?Approval"}, Reason: "cannot be classified"}},
			}},
		}),
		session(5, "", score.Session{
			Protocols: []score.Protocol{
				{Protocol: booking, Verdict: score.Incomplete, Events: []score.Event{{Span: 2, Name: "?Results", Time: at(5, 2)}}},
				{Protocol: reading, Verdict: score.Incomplete},
			},
		}),
		session(6, "", score.Session{Uncontracted: []score.Call{{Span: 0, Tool: "log"}}}),
		session(7, "c-7", score.Session{}),
		// Neither protocol saw an event.
		session(8, "", score.Session{
			Observations: []score.Observation{order, uncaptured},
			Protocols: []score.Protocol{
				{Protocol: booking, Complete: true},
				{Protocol: reading},
			},
			Uncontracted: []score.Call{{Span: 2, Tool: "log", ID: "y"}, {Span: 3, Tool: "log"}},
		}),
		// One did.
		session(9, "", score.Session{
			Protocols: []score.Protocol{
				{Protocol: booking, Complete: true},
				{Protocol: reading, Verdict: score.Compliant, Complete: true, Events: []score.Event{{Span: 1, Name: "!read", Time: at(9, 1)}}},
			},
		}),
	}
}

// reportOf builds the report of the samples.
func reportOf(t testing.TB, conversational bool, in Inputs, traces ...judgedTrace) *Report {
	t.Helper()
	b := NewBuilder(conversational)
	for _, s := range traces {
		require.NoError(t, b.Add(s.trace()))
	}
	r, err := b.Report(in)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

var sampleInputs = Inputs{Files: 2, Spans: 42, Broken: 1}

// written returns what a form writes.
func written(t testing.TB, form func(w *bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, form(&b))
	return b.Bytes()
}
