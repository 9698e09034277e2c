// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// ConversationPolicy has a protocol that follows conversations and keeps two registers.
const ConversationPolicy = `
contracts:
  - name: order
    match: {tools: [order]}
    claim_type: found
    required_fields: [ok]
    freshness: {mode: not_required}
    source_ref: shop
    target_ref: "order:{arguments.id}"
protocols:
  - name: orders
    session: conversation
    protocol: "rec X.!{order(id as id, who as who).?order.X, cancel(id == id, who == who).?cancel.X}"
`

// StreamPolicy has a contract that reads an attribute, and a protocol that follows traces.
const StreamPolicy = `
contracts:
  - name: order
    match: {tools: [order]}
    claim_type: found
    required_fields: [ok]
    freshness: {mode: not_required}
    source_ref: shop
    target_ref: "order:{attributes.shop.order}"
protocols:
  - name: orders
    protocol: "!order.?order.!cancel.?cancel.end"
`

// LoadPolicy compiles a policy.
func LoadPolicy(t testing.TB, text string) *policy.Policy {
	t.Helper()
	p, err := policy.Load("policy.yaml", []byte(text))
	require.NoError(t, err)
	return p
}

// PolicyFile writes a policy into a file that exists as long as the test.
func PolicyFile(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	return file
}

// Turn returns the n-th trace of a conversation: an agent that calls a tool.
func Turn(n int, conversation, tool, id string) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "shop")
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	root := spans.AppendEmpty()
	trace := TraceID(fmt.Sprintf("%s/%d", conversation, n))
	start := Epoch.Add(time.Duration(n) * time.Second)
	at := func(span ptrace.Span, id string, from, to time.Duration) {
		span.SetTraceID(trace)
		span.SetSpanID(SpanID(id))
		span.SetName(id)
		span.SetStartTimestamp(pcommon.NewTimestampFromTime(start.Add(from)))
		span.SetEndTimestamp(pcommon.NewTimestampFromTime(start.Add(to)))
	}
	at(root, "agent", 0, 900*time.Millisecond)
	root.Attributes().PutStr("gen_ai.operation.name", "invoke_agent")
	root.Attributes().PutStr("gen_ai.conversation.id", conversation)
	call := spans.AppendEmpty()
	at(call, "tool", 100*time.Millisecond, 200*time.Millisecond)
	call.SetParentSpanID(root.SpanID())
	call.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
	call.Attributes().PutStr("gen_ai.tool.name", tool)
	call.Attributes().PutStr("gen_ai.tool.call.id", fmt.Sprintf("call_%s_%d", conversation, n))
	call.Attributes().PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"id": %q, "who": "customer-%s"}`, id, id))
	call.Attributes().PutStr("gen_ai.tool.call.result", `{"ok": true}`)
	return td
}

// Turns returns n traces of a few conversations, each conversation's in order. Some
// keep to the protocol and some do not.
func Turns(random *rand.Rand, conversations, n int) (all []ptrace.Traces) {
	at := make([]int, conversations)
	for range n {
		c := random.IntN(conversations)
		at[c]++
		tool := []string{"order", "cancel"}[random.IntN(2)]
		if at[c] == 1 {
			tool = "order"
		}
		all = append(all, Turn(at[c], fmt.Sprintf("c%d", c), tool, fmt.Sprint(random.IntN(100)/95)))
	}
	return all
}

// Call returns a tool call of a trace, begun and ended so many seconds after the
// start.
func Call(trace, id, tool string, from, to int) ptrace.Traces {
	td := Turn(0, "c", tool, "1")
	spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	spans.RemoveIf(func(span ptrace.Span) bool { return span.ParentSpanID().IsEmpty() })
	span := spans.At(0)
	span.SetTraceID(TraceID(trace))
	span.SetSpanID(SpanID(id))
	span.SetName(id)
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(Epoch.Add(time.Duration(from) * time.Second)))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(Epoch.Add(time.Duration(to) * time.Second)))
	span.Attributes().PutStr("gen_ai.tool.call.id", "call_"+id)
	span.Attributes().PutStr("shop.order", "1")
	return td
}

// Root returns the root span of a trace of an agent.
func Root(trace string) ptrace.Traces {
	td := Turn(0, "c", "order", "1")
	spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	spans.RemoveIf(func(span ptrace.Span) bool { return !span.ParentSpanID().IsEmpty() })
	spans.At(0).SetTraceID(TraceID(trace))
	spans.At(0).SetEndTimestamp(pcommon.NewTimestampFromTime(Epoch.Add(time.Hour)))
	return td
}

// Plain returns spans without GenAI content, of a web service, below roots of another.
func Plain(traces, spans int) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "shop")
	ss := rs.ScopeSpans().AppendEmpty()
	for n := range spans {
		for trace := range traces {
			span := ss.Spans().AppendEmpty()
			span.SetTraceID(TraceID(fmt.Sprint("silent", trace)))
			span.SetSpanID(pcommon.SpanID{1, byte(n), byte(n >> 8)})
			span.SetParentSpanID(pcommon.SpanID{2})
			span.SetName("GET /orders/{id}")
			a := span.Attributes()
			a.PutStr("http.request.method", "GET")
			a.PutStr("url.scheme", "https")
			a.PutStr("url.path", "/orders/42")
			a.PutStr("http.route", "/orders/{id}")
			a.PutInt("http.response.status_code", 200)
			a.PutStr("server.address", "shop.example")
			a.PutStr("network.protocol.version", "1.1")
			a.PutStr("user_agent.original", "curl/8")
		}
	}
	return td
}
