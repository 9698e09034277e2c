// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"
)

func TestToolNames(t *testing.T) {
	for _, key := range []string{
		"acme.tool", "tool", "tool.name", "tool_name", "toolName", "tool_call_id", "toolCallId", "toolcallid", "TOOL_NAME", "acme.toolCall.args", "llm.function_call",
		"functionCall.name", "message.tool_calls", "x-tool-id", "ai.tool", "mcp.tool.result", "tool.0.input", "tool.description",
	} {
		require.True(t, toolAttribute(key), key)
	}
	for _, key := range []string{
		"", "http.route", "tooltip", "toolbar.color", "ui.toolkit", "stool", "tools", "llm.tools.0.name", "gen_ai.tool.definitions", "tool_choice", "llm.toolChoice",
		"build.tool.version", "pool", "cool.function", "code.function.name", "faas.function", "function.recall", strings.Repeat("x", 256) + ".tool",
	} {
		require.False(t, toolAttribute(key), key)
	}
	for _, name := range []string{
		"tool", "execute tool", "run_tool", "Tool: search", "tool search", "search.tool", "SearchTool", "ToolCall", "agent tool call", "tool_use", "function_call", "Tool Usage", "invokeTool search",
	} {
		require.True(t, toolSpanName(name), name)
	}
	for _, name := range []string{
		"", "GET /tools", "GET /tool", "tooltip", "show tool inventory", "list tools", "tool_choice", "chat", "pool.get", "call function", strings.Repeat("tool ", 60),
	} {
		require.False(t, toolSpanName(name), name)
	}
}

// scopedSpans makes spans of one trace under scopes; a span is written as
// "scope|name|key=value,…".
func scopedSpans(texts ...string) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	for i, text := range texts {
		parts := strings.SplitN(text, "|", 3)
		ss := rs.ScopeSpans().AppendEmpty()
		ss.Scope().SetName(parts[0])
		span := ss.Spans().AppendEmpty()
		span.SetTraceID([16]byte{15: 1})
		span.SetSpanID([8]byte{6: byte(i >> 8), 7: byte(i)})
		span.SetStartTimestamp(1)
		span.SetName(parts[1])
		for _, attribute := range strings.FieldsFunc(parts[2], func(r rune) bool { return r == ',' }) {
			key, value, _ := strings.Cut(attribute, "=")
			span.Attributes().PutStr(key, value)
		}
	}
	return td
}

func TestUnreadScopes(t *testing.T) {
	td := scopedSpans(
		"acme|run lookup|acme.kind=tool,acme.tool=get_order,acme.input=secret,acme.a=x",
		"acme|run refund|acme.kind=tool,acme.tool=refund,zzz=x",
		"other|toolCall|",
		"http|GET /tool|http.route=/tool",
		"read|tool one|x.tool=a",
		"read|execute_tool two|gen_ai.operation.name=execute_tool,gen_ai.tool.name=two",
		"model|chat|gen_ai.operation.name=chat,gen_ai.tool.definitions=x,my.tool=x",
		"gcp.vertex.agent|execute_tool (merged tools)|x.tool=y",
		"|bare|tool_call_id=7",
	)
	list, more := count(Options{}, td).List()
	require.False(t, more)
	require.Equal(t, []Unread{
		{Scope: "acme", Spans: 2, Attributes: []string{"acme.tool", "acme.a", "acme.input"}},
		{Scope: "", Spans: 1, Attributes: []string{"tool_call_id"}},
		{Scope: "other", Spans: 1, Attributes: []string{}},
	}, list)

	// A dialect of one's own reads them.
	list, _ = count(Options{Dialects: []*Dialect{
		{Name: "acme", Tool: []Mark{{Key: "acme.kind", Value: "tool"}}}, {Name: "none", NoCall: []Mark{{Key: "tool_call_id"}, {SpanName: "toolCall"}}},
	}}, td).List()
	require.Empty(t, list)
}

// count counts what a decoder leaves unread.
func count(o Options, td ptrace.Traces) *UnreadScopes {
	u, d := &UnreadScopes{}, NewDecoder(o)
	facts, spans := d.Traces(td)
	u.Add(d, facts, spans)
	return u
}

// Names come from outside: they are bounded, on one line, and UTF-8.
func TestUnreadNamesAreSafe(t *testing.T) {
	list, _ := count(Options{}, scopedSpans("sc\x1b[31m\nope\xff"+strings.Repeat("x", 1000)+"|tool|tool\n\x00.a\xff=x,tool."+strings.Repeat("é", 500)+"=x")).List()
	require.Len(t, list, 1)
	for _, text := range append(list[0].Attributes, list[0].Scope) {
		require.LessOrEqual(t, len([]rune(text)), 128)
		require.NotContains(t, text, "\x1b")
		require.NotContains(t, text, "\n")
		require.True(t, strings.ToValidUTF8(text, "") == text)
	}

	many := &UnreadScopes{}
	for i := range 1500 {
		many.Merge(count(Options{}, scopedSpans(fmt.Sprintf("scope %d|tool x|", i))))
	}
	list, more := many.List()
	require.Len(t, list, 1000)
	require.True(t, more)
}

// The order of spans, and who counts them, makes no difference.
func TestUnreadScopesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "scope") + "|" +
				rapid.SampledFrom([]string{"tool", "x", "execute_tool y"}).Draw(t, "name") + "|" +
				rapid.SampledFrom([]string{"", "a.tool=1", "b.tool=1,c=2", "c=2"}).Draw(t, "attributes")
		}), 1, 12).Draw(t, "spans")
		whole := scopedSpans(texts...)
		want := count(Options{}, whole)

		spans := whole.ResourceSpans().At(0).ScopeSpans()
		order := rapid.Permutation(make([]int, spans.Len())).Draw(t, "order")
		for i := range order {
			order[i] = i
		}
		order = rapid.Permutation(order).Draw(t, "spans in order")
		got := &UnreadScopes{}
		for _, i := range order {
			part := ptrace.NewTraces()
			spans.At(i).CopyTo(part.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty())
			got.Merge(count(Options{}, part))
		}
		a, _ := want.List()
		b, _ := got.List()
		require.Equal(t, a, b)
	})
}

func BenchmarkReadingPlainSpan(b *testing.B) {
	td := scopedSpans("http|GET /cart|http.route=/cart,http.request.method=GET,url.scheme=https,server.address=shop,server.port=443,user_agent.original=x")
	d := NewDecoder(Options{})
	ss := td.ResourceSpans().At(0).ScopeSpans().At(0)
	b.ReportAllocs()
	for b.Loop() {
		if d.Reading(ss.Scope().Name(), ss.Spans().At(0)) != NoTool {
			b.Fatal("it is no tool call")
		}
	}
}
