// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package annotate_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// The lists on a span are short, whatever the session has.
func TestListsAreBounded(t *testing.T) {
	text := `
contracts:
  - name: wide
    match: {tools: [order]}
    claim_type: found
    required_fields: [f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19]
    freshness: {mode: not_required}
    source_ref: s
    target_ref: t
protocols:
`
	for i := range 20 { // each is broken
		text += fmt.Sprintf("  - {name: p%d, protocol: \"!other\", unmatched: violation, events: [{label: \"{tool.name}\", event: tool_call}]}\n", i)
	}
	p, err := policy.Load("policy.yaml", []byte(text))
	require.NoError(t, err)
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{1})
	span.SetSpanID(pcommon.SpanID{1})
	for key, value := range map[string]string{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "order", "gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": `{"x":1}`,
	} {
		span.Attributes().PutStr(key, value)
	}
	out := annotated(annotate.New(annotate.Options{}), score.New(p), td)
	attributes := out.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes()
	for _, name := range []string{"resultseal.missing_fields", "resultseal.session.violations"} {
		list, ok := attributes.Get(name)
		require.True(t, ok, name)
		require.Equal(t, 16, list.Slice().Len(), name)
	}
}
