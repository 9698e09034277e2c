// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"
)

// drawnSpan draws a span of names from the table and others.
func drawnSpan(t *rapid.T, names []string) ptrace.Span {
	span := ptrace.NewSpan()
	span.SetName(rapid.SampledFrom([]string{
		"", "GET /", "execute_tool x", "execute_tool", "tools/call x", "call_llm", "agent run", "chat", "x.tool", "running tool: x", "execute_tool (merged tools)", "cart",
	}).Draw(t, "name"))
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 0, 4).Draw(t, "attributes") {
		switch v := rapid.SampledFrom([]string{"execute_tool", "chat", "TOOL", "tool", "ai.toolCall", "7", "x"}).Draw(t, "value"); v {
		case "7":
			span.Attributes().PutInt(name, 7)
		default:
			span.Attributes().PutStr(name, v)
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "dropped") == 0 {
		span.SetDroppedEventsCount(1)
	}
	return span
}

// A span that is silent is one that a decoder finds nothing in.
func TestSilentSpansTellNothing(t *testing.T) {
	o := Options{Dialects: []*Dialect{{Name: "own", Tool: []Mark{{Key: "own.tool"}, {SpanName: "cart*"}}, Agent: []Mark{{SpanName: "*agent", And: &Mark{Key: "own.agent"}}}}}}
	d, f := NewDecoder(o), NewFilter(o)
	names := []string{"http.route", "http.request.method", "gen_ai.", "g", "llm", "own", ""}
	for name := range d.names {
		names = append(names, name)
	}
	silent := 0
	rapid.Check(t, func(t *rapid.T) {
		span := drawnSpan(t, names)
		if !f.Silent(span) {
			return
		}
		silent++
		scope := pcommon.NewInstrumentationScope()
		scope.SetName(rapid.SampledFrom([]string{"", "gcp.vertex.agent", "mcp"}).Draw(t, "scope"))
		var s Span
		d.Decode(&s, pcommon.NewResource(), scope, span)
		if s.Kind != Other || s.Agent != "" || s.Conversation != "" || s.Dropped {
			t.Fatalf("%v, agent %q, conversation %q, dropped %v", s.Kind, s.Agent, s.Conversation, s.Dropped)
		}
	})
	require.Positive(t, silent)
}

// What is not silent and tells nothing costs a decoder's time. In what web
// services record there must be none of it.
func TestPlainSpansAreSilent(t *testing.T) {
	f := NewFilter(Options{})
	span := ptrace.NewSpan()
	span.SetName("GET /orders/{id}")
	for _, name := range []string{
		"http.request.method", "url.scheme", "url.path", "http.route", "http.response.status_code", "server.address", "server.port",
		"network.protocol.version", "user_agent.original", "client.address", "db.system.name", "db.query.text", "messaging.system",
		"rpc.system", "rpc.method", "exception.message", "error.type", "code.function.name", "thread.id",
	} {
		span.Attributes().PutStr(name, "x")
	}
	require.True(t, f.Silent(span))
	for _, name := range []string{"SELECT orders", "call_api", "tools", "execute", "agent", "checkout", "HTTP GET"} {
		span.SetName(name)
		require.True(t, f.Silent(span), name)
	}
	span.Attributes().PutStr("gen_ai.operation.name", "chat")
	require.False(t, f.Silent(span))
	require.Zero(t, testing.AllocsPerRun(100, func() { f.Silent(span) }))
}

func BenchmarkSilent(b *testing.B) {
	f := NewFilter(Options{})
	span := ptrace.NewSpan()
	span.SetName("GET /orders/{id}")
	for _, name := range []string{
		"http.request.method", "url.scheme", "url.path", "http.route", "http.response.status_code", "server.address", "server.port",
		"network.protocol.version", "user_agent.original", "client.address",
	} {
		span.Attributes().PutStr(name, "x")
	}
	b.ReportAllocs()
	for b.Loop() {
		f.Silent(span)
	}
}
