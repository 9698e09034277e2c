// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

// shared returns a path in the folder of recordings that are not part of the
// repository, and skips the test where it is absent.
func shared(t *testing.T, path ...string) string {
	t.Helper()
	root := os.Getenv("RESULTSEAL_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	full := filepath.Join(append([]string{root}, path...)...)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("recordings are not here: %v (set RESULTSEAL_SHARED)", err)
	}
	return full
}

type judged struct {
	session *score.Session
	facts   []genai.Span
}

// judgeFile scores every trace of a file; the result is by trace id.
func judgeFile(t *testing.T, policyFile, traceFile string) map[string]judged {
	t.Helper()
	text, err := os.ReadFile(policyFile)
	require.NoError(t, err)
	p, err := policy.Load(policyFile, text)
	require.NoError(t, err)
	out := map[string]judged{}
	for _, j := range judgeAll(t, p, traceFile) {
		out[j.session.TraceID.String()] = j
	}
	return out
}

// judgeAll scores every trace of a file that tells anything, in order of time.
func judgeAll(t *testing.T, p *policy.Policy, traceFile string) (out []judged) {
	t.Helper()
	var traces traceread.Collection
	require.NoError(t, traceread.Read([]string{traceFile}, nil, 2, traceread.Handler{
		Traces: func(td ptrace.Traces, _ traceread.Place) error { traces.Add(td); return nil },
		Broken: func(e *traceread.Error) error { return e },
	}))
	decoder, scorer := genai.NewDecoder(genai.Options{}), score.New(p)
	for _, td := range traces.Traces() {
		facts, _ := decoder.Traces(td)
		if v := scorer.Trace(facts, nil); v != nil {
			out = append(out, judged{v, facts})
		}
	}
	return out
}
