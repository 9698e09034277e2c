// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// A trace that was given up is inconclusive in a report, though no protocol says
// anything of it.
func TestUnscoredSessionIsInconclusive(t *testing.T) {
	for _, conversational := range []bool{false, true} {
		b := NewBuilder(conversational)
		require.NoError(t, b.Add(Trace{Verdict: &score.Session{
			TraceID: [16]byte{1}, Conversation: "c1", Compliance: score.Inconclusive, Gaps: score.GapSet(score.GapUnscored), TraceGaps: score.GapSet(score.GapUnscored),
		}}))
		r, err := b.Report(Inputs{Files: 1})
		require.NoError(t, err)
		defer r.Close()
		require.Equal(t, 1, r.Summary.ByCompliance["inconclusive"])
		var out bytes.Buffer
		require.NoError(t, r.JSONL(&out))
		require.Contains(t, out.String(), `"compliance":"inconclusive","complete":false,"gaps":["unscored"]`)
	}
}
