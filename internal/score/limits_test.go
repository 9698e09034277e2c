// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// scored scores traces by a policy, the conversations among them one after another.
func scored(t *testing.T, text string, traces ...ptrace.Traces) (sessions []*Session, kept remembering) {
	t.Helper()
	p, err := policy.Load("policy.yaml", []byte(text))
	require.NoError(t, err)
	s := New(p)
	kept = remembering{}
	for _, td := range traces {
		facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
		sessions = append(sessions, s.Trace(facts, kept))
	}
	return sessions, kept
}

// The state of a conversation has the last messages, calls and events.
func TestConversationKeepsTheLast(t *testing.T) {
	td := turnOf(1, "a", "order", "1")
	spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	calls := maxKnownCalls + 50
	for n := range calls {
		call := spans.AppendEmpty()
		spans.At(1).CopyTo(call)
		call.SetSpanID(pcommon.SpanID{9, byte(n >> 8), byte(n)})
		call.SetStartTimestamp(pcommon.Timestamp(1210 + n))
		call.SetEndTimestamp(pcommon.Timestamp(1210 + n))
		call.Attributes().PutStr("gen_ai.tool.call.id", fmt.Sprint("c", n))
	}
	messages := maxHistory + 100
	list := make([]string, messages)
	for n := range list {
		list[n] = fmt.Sprintf(`{"role":"user","parts":[{"type":"text","content":"m%d"}]}`, n)
	}
	spans.At(2).Attributes().PutStr("gen_ai.input.messages", "["+strings.Join(list, ",")+"]")

	_, kept := scored(t, conversationPolicy, td)
	c := kept["a"]
	require.Len(t, c.history.items, maxHistory)
	require.Len(t, c.calls, maxKnownCalls)
	require.Equal(t, fmt.Sprint("c", calls-1), c.calls[len(c.calls)-1].ID)
	for _, f := range c.followed {
		require.Len(t, f.seen, maxSeenConversation)
		require.True(t, f.cut)
	}
}

// An event that could explain a violation is searched among so many. A session
// with more, and with a gap, has no certain violation.
func TestSeenEventsAreBounded(t *testing.T) {
	const text = `
protocols:
  - name: lookups
    session: %s
    states:
      initial: a
      terminal: [a]
      transitions:
        - {from: a, event: "!order", to: a}
    events:
      - {label: "{tool.name}", event: tool_call}
`
	for session, limit := range map[string]int{"conversation": maxSeenConversation, "trace": maxSeenTrace} {
		if session == "trace" && testing.Short() {
			continue // 100,000 spans
		}
		for past, want := range map[bool]Compliance{false: Violation, true: Inconclusive} {
			td := turnOf(1, "a", "order", "1")
			spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
			spans.RemoveIf(func(s ptrace.Span) bool { return s.SpanID() == pcommon.SpanID{3} })
			calls := limit - 1 // one is there already
			if past {
				calls++
			}
			for n := range calls {
				call := spans.AppendEmpty()
				spans.At(1).CopyTo(call)
				call.SetSpanID(pcommon.SpanID{9, byte(n >> 16), byte(n >> 8), byte(n)})
				call.SetStartTimestamp(pcommon.Timestamp(1210 + n))
				call.SetEndTimestamp(pcommon.Timestamp(1210 + n))
				call.Attributes().PutStr("gen_ai.tool.call.id", fmt.Sprint("c", n))
			}
			bad := spans.At(spans.Len() - 1)
			bad.SetParentSpanID(pcommon.SpanID{8}) // which is not there
			bad.Attributes().PutStr("gen_ai.tool.name", "refund")
			sessions, _ := scored(t, fmt.Sprintf(text, session), td)
			require.True(t, sessions[0].Gaps.Has(GapParentMissing))
			require.Equal(t, want, sessions[0].Compliance, "%s, past the limit: %v", session, past)
		}
	}
}

// What a span has beyond the limits of an observation never fails it: names are
// cut, ids and versions are left out, and a reference blocks.
func TestObservationLimits(t *testing.T) {
	const text = `
contracts:
  - name: c
    match: {tools: ["order*"]}
    claim_type: found
    required_fields: [ok]
    freshness: {mode: source_version}
    min_source_version: "1"
    source_ref: s
    target_ref: "t{arguments.id}"
    observation:
      target_ref: "t{result.id}"
      source_version: "{result.version}"
      evidence_refs: ["{result.evidence}"]
`
	type observed struct{ tool, call, arguments, result, version, evidence int } // characters
	at := observed{tool: maxNameRunes, call: maxNameRunes, arguments: maxRefRunes, result: maxRefRunes, version: maxNameRunes, evidence: maxEvidenceRunes}
	observe := func(o observed) *Observation {
		long := func(first string, n int) string { return first + strings.Repeat("é", n-len(first)) }
		td := turnOf(1, "a", long("order", o.tool), "1")
		a := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1).Attributes()
		a.PutStr("gen_ai.tool.call.id", long("c", o.call))
		a.PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"id":%q}`, long("", o.arguments-1)))
		a.PutStr("gen_ai.tool.call.result", fmt.Sprintf(`{"ok":true,"id":%q,"version":%q,"evidence":%q}`,
			long("", o.result-1), strings.Repeat("2", o.version), long("e", o.evidence)))
		sessions, _ := scored(t, text, td)
		require.Len(t, sessions[0].Observations, 1)
		return &sessions[0].Observations[0]
	}
	o := observe(at)
	require.Equal(t, engine.Sealed, o.Evaluation.Decision, "%v", o.Evaluation.ReasonCodes)
	require.True(t, strings.HasPrefix(o.Record.ToolCallID, "cé"))
	require.Len(t, o.Record.EvidenceRefs, 1)

	past := at
	past.tool++
	require.Equal(t, engine.Sealed, observe(past).Evaluation.Decision)
	past = at
	past.call++
	o = observe(past)
	require.Equal(t, engine.Sealed, o.Evaluation.Decision)
	require.True(t, strings.HasPrefix(o.Record.ToolCallID, "call-"), "a hash of other things")
	past = at
	past.evidence++
	require.Empty(t, observe(past).Record.EvidenceRefs)
	past = at
	past.version++
	require.Contains(t, observe(past).Evaluation.ReasonCodes, engine.ReasonCode("STALE_OBSERVATION"))
	past = at
	past.arguments, past.result = past.arguments+1, past.result+1
	require.Contains(t, observe(past).Evaluation.ReasonCodes, engine.ReasonSchemaInvalid)
	past = at
	past.result++
	require.Contains(t, observe(past).Evaluation.ReasonCodes, engine.ReasonTargetMismatch)
}

// A text that a message shows is found in a structure so deep.
func TestTextsAreFoundSoDeep(t *testing.T) {
	nested := func(n int) jsonvalue.Value {
		v, err := jsonvalue.Parse(strings.Repeat("[", n) + `"found"` + strings.Repeat("]", n))
		require.NoError(t, err)
		return v
	}
	require.True(t, sameResult(jsonvalue.String("found"), nested(maxDataDepth)))
	require.False(t, sameResult(jsonvalue.String("found"), nested(maxDataDepth+1)))
}
