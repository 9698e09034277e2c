// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package annotate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

// recorded is the quickstart's recording, a trace at a time, and its policy.
func recorded(t *testing.T) ([]ptrace.Traces, *score.Scorer) {
	t.Helper()
	top := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(top, "examples", "quickstart", "policy.yaml"))
	require.NoError(t, err)
	p, err := policy.Load("policy.yaml", text)
	require.NoError(t, err)
	var traces traceread.Collection
	require.NoError(t, traceread.Read([]string{filepath.Join(top, "testdata", "quickstart", "support.jsonl")}, nil, 1, traceread.Handler{
		Traces: func(td ptrace.Traces, _ traceread.Place) error { traces.Add(td); return nil },
		Broken: func(e *traceread.Error) error { return e },
	}))
	return traces.Traces(), score.New(p)
}

func annotated(w *annotate.Writer, scorer *score.Scorer, td ptrace.Traces) ptrace.Traces {
	out := ptrace.NewTraces()
	td.CopyTo(out)
	annotate.Namespace(annotate.DefaultPrefix).Clean(out)
	facts, spans := genai.NewDecoder(genai.Options{}).Traces(out)
	w.Session(spans, scorer.Trace(facts, nil), "root")
	return out
}

func bytesOf(t *testing.T, td ptrace.Traces) string {
	t.Helper()
	var m ptrace.JSONMarshaler
	text, err := m.MarshalTraces(td)
	require.NoError(t, err)
	return string(text)
}

var everything = annotate.Options{ContentHash: true, HashKey: "key", Record: true, EvaluationEvents: true}

// A span that was judged before, here or elsewhere, is judged anew.
func TestJudgingAgainGivesTheSame(t *testing.T) {
	traces, scorer := recorded(t)
	require.NotEmpty(t, traces)
	w := annotate.New(everything)
	for _, td := range traces {
		once := annotated(w, scorer, td)
		require.NotEqual(t, bytesOf(t, td), bytesOf(t, once))
		require.Equal(t, bytesOf(t, once), bytesOf(t, annotated(w, scorer, once)))
	}
}

// Whatever a sender writes under the prefix, the annotated spans are the same.
func TestForgedVerdictsAreRemoved(t *testing.T) {
	traces, scorer := recorded(t)
	w := annotate.New(annotate.Options{})
	for _, td := range traces {
		want := bytesOf(t, annotated(w, scorer, td))
		forged := ptrace.NewTraces()
		td.CopyTo(forged)
		_, spans := genai.NewDecoder(genai.Options{}).Traces(forged)
		for _, span := range spans {
			span.Attributes().PutStr("resultseal.decision", "sealed")
			span.Attributes().PutStr("resultseal.session.compliance", "compliant")
			span.Events().AppendEmpty().SetName("resultseal.protocol.blocked")
		}
		require.Equal(t, want, bytesOf(t, annotated(w, scorer, forged)))
	}
}

// What others wrote is as it was, and everything new stands under the prefix.
func TestOthersAreLeftAlone(t *testing.T) {
	traces, scorer := recorded(t)
	w := annotate.New(annotate.Options{Prefix: "acme."})
	for _, td := range traces {
		out := annotated(w, scorer, td)
		_, before := genai.NewDecoder(genai.Options{}).Traces(td)
		_, after := genai.NewDecoder(genai.Options{}).Traces(out)
		for i := range after {
			after[i].Attributes().RemoveIf(func(key string, _ pcommon.Value) bool { return strings.HasPrefix(key, "acme.") })
			after[i].Events().RemoveIf(func(e ptrace.SpanEvent) bool { return strings.HasPrefix(e.Name(), "acme.") })
			require.True(t, before[i].Attributes().Equal(after[i].Attributes()))
		}
		require.Equal(t, bytesOf(t, td), bytesOf(t, out))
	}
}

// A protocol that consumed no event is unjudged, and its evaluation event has no
// score: nothing was evaluated.
func TestUnjudged(t *testing.T) {
	p, err := policy.Load("policy.yaml", []byte(`
contracts:
  - name: order
    match: {tools: [get_order]}
    claim_type: read_complete
    required_fields: [status]
    freshness: {mode: not_required}
    source_ref: shop://orders
    target_ref: orders
protocols:
  - name: refunds
    protocol: "!Refund.end"
    events: [{label: Refund, event: tool_call, tools: [refund]}]
`))
	require.NoError(t, err)
	scorer := score.New(p)
	root := func(attributes map[string]any) ptrace.Span {
		td := ptrace.NewTraces()
		span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		span.SetTraceID([16]byte{1})
		span.SetSpanID([8]byte{1})
		span.SetName("execute_tool")
		span.SetStartTimestamp(1)
		span.SetEndTimestamp(2)
		require.NoError(t, span.Attributes().FromRaw(attributes))
		return annotated(annotate.New(annotate.Options{EvaluationEvents: true}), scorer, td).ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	}
	call := func(tool string) map[string]any {
		return map[string]any{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
	}
	attribute := func(span ptrace.Span, key string) string {
		v, ok := span.Attributes().Get("resultseal.session." + key)
		if !ok {
			return ""
		}
		return v.AsString()
	}
	events := func(span ptrace.Span) (all []map[string]any) {
		for _, e := range span.Events().All() {
			all = append(all, e.Attributes().AsRaw())
		}
		return all
	}

	// Neither a contract nor a protocol is about it.
	span := root(call("ping"))
	require.Equal(t, "unjudged", attribute(span, "compliance"))
	require.Equal(t, `["refunds=unjudged"]`, attribute(span, "protocols"))
	require.Empty(t, attribute(span, "score"))
	require.Equal(t, []map[string]any{{
		"gen_ai.evaluation.name": "resultseal.protocol.refunds", "gen_ai.evaluation.score.label": "unjudged",
		"gen_ai.evaluation.explanation": "consumed no event",
	}}, events(span))

	// An observation is judged, the session is not.
	span = root(call("get_order"))
	require.Equal(t, "unjudged", attribute(span, "compliance"))
	require.Equal(t, "0", attribute(span, "score"))
	require.Equal(t, "1", attribute(span, "blocked"))

	span = root(call("refund"))
	require.Equal(t, "compliant", attribute(span, "compliance"))
	require.Equal(t, "1", attribute(span, "score"))
	require.Equal(t, []map[string]any{{
		"gen_ai.evaluation.name": "resultseal.protocol.refunds", "gen_ai.evaluation.score.value": 1.0, "gen_ai.evaluation.score.label": "compliant",
	}}, events(span))
}

// Nothing that a tool returned or somebody wrote is in what is added.
func TestNoContent(t *testing.T) {
	traces, scorer := recorded(t)
	w := annotate.New(annotate.Options{ContentHash: true, EvaluationEvents: true})
	for _, td := range traces {
		out := annotated(w, scorer, td)
		_, spans := genai.NewDecoder(genai.Options{}).Traces(out)
		for _, span := range spans {
			span.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool { return !strings.HasPrefix(key, "resultseal.") })
			for key, v := range span.Attributes().All() {
				for _, content := range []string{"Ada", "revision-17", "B-2", "shipped", "Email sent", "unavailable"} {
					require.NotContains(t, v.AsString(), content, key)
				}
			}
		}
	}
}

// The root of a session names the policy that it was evaluated by, in the form of
// policy.Policy.Hash, and no other span does.
func TestPolicyHash(t *testing.T) {
	traces, scorer := recorded(t)
	require.NotEmpty(t, scorer.Policy().Hash)
	w := annotate.New(annotate.Options{Prefix: "acme."})
	for _, td := range traces {
		out := ptrace.NewTraces()
		td.CopyTo(out)
		facts, spans := genai.NewDecoder(genai.Options{}).Traces(out)
		v := scorer.Trace(facts, nil)
		w.Session(spans, v, "root")
		for i, span := range spans {
			hash, ok := span.Attributes().Get("acme.policy.hash")
			require.Equal(t, i == v.Root, ok)
			if ok {
				require.Equal(t, scorer.Policy().Hash, hash.Str())
			}
		}
		annotate.Namespace("acme.").Clean(out)
		w.Late(spans, scorer.Late(facts))
		for _, span := range spans {
			_, ok := span.Attributes().Get("acme.policy.hash")
			require.False(t, ok, "late spans have no session")
		}
	}
}
