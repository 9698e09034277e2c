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

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

// To explain a verdict does not change it, and what is told agrees with it.
func TestExplainAgrees(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(shared(t, "traces", "booking", "policy.yaml"))), "*", "*.jsonl*"))
	require.NoError(t, err)
	for _, file := range files {
		if strings.Contains(file, ".logs.") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			policyFile := filepath.Join(filepath.Dir(file), "policy.yaml")
			text, err := os.ReadFile(policyFile)
			require.NoError(t, err)
			p, err := policy.Load(policyFile, text)
			require.NoError(t, err)
			var traces traceread.Collection
			require.NoError(t, traceread.Read([]string{file}, nil, 2, traceread.Handler{
				Traces: func(td ptrace.Traces, _ traceread.Place) error { traces.Add(td); return nil },
				Broken: func(e *traceread.Error) error { return e },
			}))
			decoder, scorer := genai.NewDecoder(genai.Options{}), score.New(p)
			for _, td := range traces.Traces() {
				facts, _ := decoder.Traces(td)
				plain := scorer.Trace(facts, nil)
				v, a := scorer.Explain(facts, nil)
				require.Equal(t, fmt.Sprintf("%+v", plain), fmt.Sprintf("%+v", v))
				if v != nil {
					agrees(t, v, a)
				}
			}
		})
	}
}

func agrees(t *testing.T, v *score.Session, a *score.Account) {
	t.Helper()
	decided := 0
	for _, c := range a.Calls {
		if c.Decided < 0 {
			continue
		}
		decided++
		trial := c.Trials[c.Decided]
		found := false
		for _, o := range v.Observations {
			found = found || o.Span == c.At && o.Tool == c.Tool && o.Contract == trial.Contract && fmt.Sprint(o.Evaluation) == fmt.Sprint(trial.Evaluation)
		}
		require.True(t, found, "%s: no such observation", c.Tool)
		require.Equal(t, c.Result.State == genai.NotCaptured, c.ResultSpan < 0, "%s: where its result is", c.Tool)
	}
	require.Len(t, v.Observations, decided)

	require.Len(t, a.Protocols, len(v.Protocols))
	for i, p := range a.Protocols {
		require.Equal(t, v.Protocols[i].Protocol, p.Protocol)
		at, n := p.Start, 0
		for _, s := range p.Steps {
			require.Equal(t, at, s.From)
			at = s.To
			if s.Event < 0 {
				require.NotEmpty(t, s.Ignored)
				require.Equal(t, s.From, s.To)
				continue
			}
			require.Equal(t, n, s.Event)
			n++
			e := v.Protocols[i].Events[s.Event]
			require.Equal(t, s.Span, e.Span)
			if e.Verdict == score.EventOK {
				require.Contains(t, s.Legal, e.Name)
			} else if e.Verdict == score.EventViolation || e.Verdict == score.EventInconclusive {
				require.Equal(t, e.Expected, s.Legal)
			}
		}
		require.Equal(t, len(v.Protocols[i].Events), n)
	}
}

// What follows a run that an unseen event may have ended proves nothing: a
// protocol that looks away after its end may have been kept to.
func TestInconclusiveAfterEnd(t *testing.T) {
	const file = "../../examples/protocols/search-present-approve-book/"
	text, err := os.ReadFile(file + "policy.yaml")
	require.NoError(t, err)
	for afterEnd, want := range map[string]score.Compliance{"ignore": score.Inconclusive, "violation": score.Violation} {
		p, err := policy.Load("policy.yaml", []byte(string(text)+"    after_end: "+afterEnd+"\n"))
		require.NoError(t, err)
		var traces traceread.Collection
		require.NoError(t, traceread.Read([]string{file + "traces.jsonl"}, nil, 2, traceread.Handler{
			Traces: func(td ptrace.Traces, _ traceread.Place) error { traces.Add(td); return nil },
			Broken: func(e *traceread.Error) error { return e },
		}))
		for _, td := range traces.Traces() {
			facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
			if !strings.HasPrefix(facts[0].TraceID.String(), "dba32420") { // books without asking
				continue
			}
			require.Equal(t, score.Violation, score.New(p).Trace(facts, nil).Compliance)
			rest := slices.DeleteFunc(facts, func(s genai.Span) bool { return s.ParentID.IsEmpty() })
			require.Equal(t, want, score.New(p).Trace(rest, nil).Compliance, afterEnd)
		}
	}
}
