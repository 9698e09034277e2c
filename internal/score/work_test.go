// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// insertions is a trace whose model calls insert messages into the middle of a
// conversation of n messages.
func insertions(n int) ptrace.Traces {
	return manySpans(n, func(i int, span ptrace.Span) {
		chat(span, fmt.Sprintf(`[{"role":"assistant","parts":[{"type":"text","content":"first"}]},`+
			`{"role":"user","parts":[{"type":"text","content":"n%d"}]},{"role":"assistant","parts":[{"type":"text","content":"last"}]}]`, i),
			fmt.Sprintf(`[{"role":"assistant","parts":[{"type":"text","content":"a%d"}]}]`, i))
		span.Attributes().PutStr("gen_ai.conversation.id", "c")
	})
}

// A trace past the bound of scoring work is inconclusive, in any order, and takes
// the certainty from its conversation.
func TestTraceBeyondTheBoundIsUnscored(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	scorer := score.New(propertyPolicy(t))
	td := insertions(6000)
	facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
	store := conversationStore{}
	v := scorer.Trace(facts, store)
	require.Equal(t, score.Inconclusive, v.Compliance)
	require.Equal(t, []string{"unscored"}, v.Gaps.Strings())
	require.Empty(t, v.Observations)
	require.Equal(t, tell(v, facts), tell(scorer.Trace(facts, nil), facts))

	// The next trace of the conversation knows that it follows something unknown.
	next, _ := genai.NewDecoder(genai.Options{}).Traces(insertions(3))
	for i := range next {
		next[i].TraceID[0] = 9
		next[i].Start += 1 << 40
		next[i].End += 1 << 40
	}
	v = scorer.Trace(next, store)
	require.True(t, v.Gaps.Has(score.GapUnscored), "%v", v.Gaps.Strings())
	require.NotEqual(t, score.Violation, v.Compliance)
}

// Scoring ends when it is canceled.
func TestScoringIsCanceled(t *testing.T) {
	done := make(chan struct{})
	close(done)
	scorer := score.New(propertyPolicy(t))
	list := "[" + strings.TrimSuffix(strings.Repeat(`{"role":"user","parts":[{"type":"text","content":"yes"}]},`, 5000), ",") + "]"
	facts, _ := genai.NewDecoder(genai.Options{}).Traces(manySpans(2, func(_ int, span ptrace.Span) { chat(span, list, "") }))
	require.False(t, scorer.Trace(facts, nil).Gaps.Has(score.GapUnscored))
	require.True(t, scorer.Until(done).Trace(facts, nil).Gaps.Has(score.GapUnscored))
	v, _ := scorer.Until(done).Explain(facts, nil)
	require.True(t, v.Gaps.Has(score.GapUnscored))
	late, _ := genai.NewDecoder(genai.Options{}).Traces(manySpans(5000, func(_ int, span ptrace.Span) { tool(span, "") }))
	require.True(t, scorer.Until(done).Late(late).Gaps.Has(score.GapUnscored))
}
