// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Spans of an instrumentation that only the configuration knows are judged.
func TestCustomDialects(t *testing.T) {
	cfg, err := resolve(t, `
policy_file: testdata/config/policy.yaml
dialects:
  custom:
    - name: acme
      tool: [{attribute: acme.kind, value: tool}]
      tool_name: [acme.tool]
      result: [acme.output]
conversation_attributes: [acme.session]`)
	require.NoError(t, err)
	require.NoError(t, confmap.Validate(cfg))

	sink := new(consumertest.TracesSink)
	p := newScoringProcessor(t, sink, `
contracts:
  - name: order
    match: {tools: [get_order]}
    claim_type: read_complete
    required_fields: [status]
    freshness: {mode: not_required}
    source_ref: shop://orders
    target_ref: orders
`, func(c *Config) {
		c.RootDelay, c.Dialects, c.ConversationAttributes = 0, cfg.Dialects, cfg.ConversationAttributes
	})
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{1})
	span.SetSpanID(pcommon.SpanID{1})
	span.Attributes().PutStr("acme.kind", "tool")
	span.Attributes().PutStr("acme.tool", "get_order")
	span.Attributes().PutStr("acme.output", `{"status":"shipped"}`)
	require.NoError(t, p.Start(t.Context(), componenttest.NewNopHost()))
	require.NoError(t, p.ConsumeTraces(t.Context(), td))
	require.NoError(t, p.Shutdown(t.Context()))
	require.Equal(t, 1, sink.SpanCount())
	out := sink.AllTraces()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	decision, ok := out.Attributes().Get("resultseal.decision")
	require.True(t, ok)
	require.Equal(t, "sealed", decision.Str())
}

func TestBadDialectsAreRefused(t *testing.T) {
	cfg, err := resolve(t, `
policy_file: testdata/config/policy.yaml
dialects: {custom: [{name: acme, tool: [{value: x}]}]}
conversation_attributes: [""]`)
	require.NoError(t, err)
	err = cfg.Validate()
	require.ErrorContains(t, err, "dialects::custom::0 (acme)::tool::0: a value needs an attribute")
	require.ErrorContains(t, err, "dialects::custom::0 (acme)::tool_name: a tool needs a name")
	require.ErrorContains(t, err, "conversation_attributes::0: a name is empty")
	_, err = resolve(t, `
policy_file: testdata/config/policy.yaml
dialects: {custom: [{nam: acme}]}`)
	require.ErrorContains(t, err, "nam")
}
