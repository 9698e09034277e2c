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
