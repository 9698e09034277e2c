// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// A result that has no canonical form is blocked and named, with and without a
// call id; what is missing of it is the better reason.
func TestUnreadableResults(t *testing.T) {
	p, err := policy.Load("policy.yaml", []byte(`contracts:
  - name: any
    match: {tools: [lookup]}
    claim_type: read_complete
    required_fields: []
    freshness: {mode: not_required}
    source_ref: test://results
    target_ref: result
`))
	require.NoError(t, err)

	for name, tc := range map[string]struct {
		result func(pcommon.Value)
		reason engine.ReasonCode
	}{
		"bytes that are no text": {func(v pcommon.Value) { v.SetEmptyBytes().FromRaw([]byte{0xff, 0x80}) }, engine.ReasonSchemaInvalid},
		"text that is not UTF-8": {func(v pcommon.Value) { v.SetStr("\xc3(") }, engine.ReasonSchemaInvalid},
		"key that is not UTF-8":  {func(v pcommon.Value) { v.SetEmptyMap().PutInt("\xff", 1) }, engine.ReasonSchemaInvalid},
		"not a number":           {func(v pcommon.Value) { v.SetEmptyMap().PutDouble("x", math.NaN()) }, engine.ReasonSchemaInvalid},
		"infinity":               {func(v pcommon.Value) { v.SetDouble(math.Inf(1)) }, engine.ReasonSchemaInvalid},
		"NaN in JSON":            {func(v pcommon.Value) { v.SetStr(`{"x":NaN}`) }, engine.ReasonSchemaInvalid},
		"overflow in JSON":       {func(v pcommon.Value) { v.SetStr(`[1e999]`) }, engine.ReasonSchemaInvalid},
		"a failed exit": {func(v pcommon.Value) {
			m := v.SetEmptyMap()
			m.PutInt("exit_code", 1)
			m.PutDouble("stdout", math.NaN())
		}, engine.ReasonTransportFailed},
		"cut off as well": {func(v pcommon.Value) { v.SetStr("{\"x\":\"\xff") }, engine.ReasonResultTruncated},
	} {
		for _, id := range []string{"", "call-1"} {
			t.Run(name+", call id "+id, func(t *testing.T) {
				td := ptrace.NewTraces()
				span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
				span.SetTraceID(pcommon.TraceID{1})
				span.SetSpanID(pcommon.SpanID{1})
				a := span.Attributes()
				a.PutStr("gen_ai.operation.name", "execute_tool")
				a.PutStr("gen_ai.tool.name", "lookup")
				a.PutStr("gen_ai.tool.call.id", id)
				a.PutStr("gen_ai.tool.call.arguments", "{}")
				tc.result(a.PutEmpty("gen_ai.tool.call.result"))

				facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
				v := score.New(p).Trace(facts, nil)
				require.Len(t, v.Observations, 1)
				o := v.Observations[0]
				require.Equal(t, engine.Blocked, o.Evaluation.Decision)
				require.Equal(t, engine.StateUnknown, o.Evaluation.TruthState)
				require.Equal(t, []engine.ReasonCode{tc.reason}, o.Evaluation.ReasonCodes)
				require.Empty(t, o.ContentHash)
				require.NotEmpty(t, o.Record.Fingerprint)
				require.NotEmpty(t, o.Record.ObservationID)
				if id == "" {
					require.NotEmpty(t, o.Record.ToolCallID)
				} else {
					require.Equal(t, id, o.Record.ToolCallID)
				}
			})
		}
	}
}
