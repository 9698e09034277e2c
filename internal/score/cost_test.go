// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
)

// allocated is how many bytes a function allocates, the least of a few runs.
func allocated(f func()) uint64 {
	least := ^uint64(0)
	for range 5 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// A history of a megabyte is parsed once by decoding, and not again by judging.
func TestLongHistoryIsParsedOnce(t *testing.T) {
	var list []string
	for i := range 5500 {
		list = append(list,
			fmt.Sprintf(`{"role":"user","parts":[{"type":"text","content":"question number %d, and some more words of it"}]}`, i),
			fmt.Sprintf(`{"role":"assistant","parts":[{"type":"tool_call","id":"k%d","name":"lookup","arguments":{"id":"42"}}]}`, i))
	}
	history := "[" + strings.Join(list, ",") + "]"
	require.Greater(t, len(history), 1<<20)
	td := manySpans(1, func(_ int, span ptrace.Span) { chat(span, history, "") })
	d, scorer := genai.NewDecoder(genai.Options{}), score.New(propertyPolicy(t))

	once := allocated(func() { _, _ = jsonvalue.Parse(history) })
	facts, _ := d.Traces(td)
	messages := allocated(func() { _ = append([]genai.Message(nil), facts[0].Input.List...) }) * 3 // with parts
	decoding := allocated(func() { d.Traces(td) })
	require.Less(t, decoding, once*19/10+messages, "%d bytes to parse it once", once)

	// What was said is hashed, and nothing of its size is made.
	words := `[{"role":"user","parts":[{"type":"text","content":"` + strings.Repeat("all is well. ", 1<<20/13) + `"}]}]`
	said, _ := d.Traces(manySpans(2, func(_ int, span ptrace.Span) { chat(span, words, "") }))
	require.Less(t, allocated(func() { scorer.Trace(said, nil) }), uint64(len(words))/16)
}

// A result of a megabyte is parsed and hashed once, however many contracts and
// protocols ask for it.
func TestLargeResultIsReadOnce(t *testing.T) {
	result := `{"customer_id":"42","name":"Ada","log":[` + strings.TrimSuffix(strings.Repeat(`{"all":"is well"},`, 60_000), ",") + `]}`
	td := manySpans(1, func(_ int, span ptrace.Span) {
		tool(span, "k")
		span.Attributes().PutStr("gen_ai.tool.call.result", result)
	})
	facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
	load := func(contracts int) *score.Scorer {
		text := "contracts:\n"
		for i := range contracts {
			text += fmt.Sprintf(`  - {name: c%d, match: {tools: [lookup]}, claim_type: found, required_fields: [nobody], freshness: {mode: not_required}, source_ref: a, target_ref: b}`+"\n", i)
		}
		text += `protocols:
  - {name: talk, session: conversation, protocol: "rec X.!lookup.?lookup.X", events: [{label: lookup, event: tool_call}, {label: lookup, event: tool_result, result: {$.name: Ada}}]}
`
		p, err := policy.Load("p.yaml", []byte(text))
		require.NoError(t, err)
		return score.New(p)
	}
	one, many := load(1), load(20)
	first := allocated(func() { one.Trace(facts, nil) })
	all := allocated(func() { many.Trace(facts, nil) })
	require.Greater(t, first, uint64(len(result))/4)
	require.Less(t, all, first+first/2, "20 contracts and 1 contract")
}

// What a tool call may cost in allocations, in traces of whatever length.
func TestAllocationsOfToolCalls(t *testing.T) {
	if spantest.RaceEnabled {
		t.Skip("the race detector changes what is allocated")
	}
	p, err := policy.Load("p.yaml", []byte(`
contracts:
  - {name: c, match: {tools: [lookup]}, claim_type: found, required_fields: [customer_id], freshness: {mode: not_required}, source_ref: a, target_ref: b}
protocols:
  - {name: talk, protocol: "rec X.!lookup.?lookup.X"}
`))
	require.NoError(t, err)
	scorer := score.New(p)
	for _, spans := range []int{10, 100, 1000} {
		td := manySpans(spans, func(n int, span ptrace.Span) {
			tool(span, fmt.Sprint("k", n))
			span.Attributes().PutStr("gen_ai.tool.call.result", `{"customer_id":"42","name":"Ada"}`)
		})
		facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
		got := testing.AllocsPerRun(10, func() { scorer.Trace(facts, nil) }) / float64(spans)
		t.Logf("%d spans: %.1f allocations each", spans, got)
		require.LessOrEqual(t, got, 36.0, "%d spans", spans)
		require.Greater(t, got, 10.0, "a budget that is never reached is none")
	}
}
