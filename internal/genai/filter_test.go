// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"
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

// A user's marks may ask for nothing but a scope, for a name that is anything, or
// for several things, which one of them decides.
func TestSilentToOddMarks(t *testing.T) {
	names := []string{"a", "b", "gen_ai.operation.name", "ai.operationId"}
	var drawnMark func(t *rapid.T, depth int) Mark
	drawnMark = func(t *rapid.T, depth int) Mark {
		m := Mark{
			Key:      rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "key"),
			SpanName: rapid.SampledFrom([]string{"", "*", "cart", "*t", "c*"}).Draw(t, "span name"),
			Scope:    rapid.SampledFrom([]string{"", "mcp"}).Draw(t, "scope of mark"),
		}
		if m.Key != "" {
			m.Value = rapid.SampledFrom([]string{"", "*", "x", "7"}).Draw(t, "value of mark")
		}
		if depth > 0 && rapid.Bool().Draw(t, "and") {
			and := drawnMark(t, depth-1)
			m.And = &and
		}
		return m
	}
	rapid.Check(t, func(t *rapid.T) {
		dialect := &Dialect{Name: "own"}
		for _, marks := range []*[]Mark{&dialect.Tool, &dialect.Model, &dialect.Agent, &dialect.NoCall} {
			for range rapid.IntRange(0, 1).Draw(t, "marks") {
				*marks = append(*marks, drawnMark(t, 2))
			}
		}
		o := Options{Dialects: []*Dialect{dialect}}
		d, f := NewDecoder(o), NewFilter(o)
		scope := pcommon.NewInstrumentationScope()
		scope.SetName("mcp")
		for range 20 {
			span := drawnSpan(t, names)
			if !f.Silent(span) {
				continue
			}
			var s Span
			d.Decode(&s, pcommon.NewResource(), scope, span)
			if s.Kind != Other {
				t.Fatalf("%v: %q, %v", s.Kind, span.Name(), span.Attributes().AsRaw())
			}
		}
	})
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

// A filter with a prefix differs in the spans that have an attribute under it,
// and in no other.
func TestSilentWithPrefix(t *testing.T) {
	f := NewFilter(Options{})
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SampledFrom([]string{"resultseal.", "gen_", "z."}).Draw(t, "prefix")
		span := drawnSpan(t, []string{"resultseal.decision", "resultseal.", "resultseal", "rpc.system", "gen_ai.operation.name", "z.", "a", ""})
		under := false
		for name := range span.Attributes().All() {
			under = under || strings.HasPrefix(name, prefix)
		}
		if got, want := f.WithPrefix(prefix).Silent(span), f.Silent(span) && !under; got != want {
			t.Fatalf("%q under %s: silent is %v, want %v", span.Attributes().AsRaw(), prefix, got, want)
		}
	})
}
