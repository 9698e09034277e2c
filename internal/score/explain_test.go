// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"fmt"
	"os"
	"path/filepath"
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
