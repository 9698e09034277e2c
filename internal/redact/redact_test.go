// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/testkit"
)

// redacted runs a redactor that writes <…> in place of content over a span with
// these attributes and events, and returns what stands there then.
func redacted(t *testing.T, attributes map[string]any, events map[string]map[string]any, arguments bool) string {
	t.Helper()
	span := ptrace.NewSpan()
	require.NoError(t, span.Attributes().FromRaw(attributes))
	for name, a := range events {
		e := span.Events().AppendEmpty()
		e.SetName(name)
		require.NoError(t, e.Attributes().FromRaw(a))
	}
	replace := func(v jsonvalue.Value) (string, bool) {
		text, err := v.AppendCanonical(nil)
		require.NoError(t, err)
		return fmt.Sprintf("<%d bytes>", len(text)), true
	}
	New(genai.Options{}, replace, arguments).Redact(pcommon.NewResource(), pcommon.NewInstrumentationScope(), span)
	var lines []string
	for key, v := range span.Attributes().All() {
		lines = append(lines, key+": "+v.AsString())
	}
	for _, e := range span.Events().All() {
		for key, v := range e.Attributes().All() {
			lines = append(lines, e.Name()+"/"+key+": "+v.AsString())
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestRedactPlaces(t *testing.T) {
	type attrs = map[string]any
	for name, c := range map[string]struct {
		attributes attrs
		events     map[string]map[string]any
		want       string // results only
		both       string // arguments too
	}{
		"tool span": {
			attrs{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": `{"id":1}`, "gen_ai.tool.call.result": `{"a":"secret"}`},
			nil,
			"gen_ai.operation.name: execute_tool\ngen_ai.tool.call.arguments: {\"id\":1}\ngen_ai.tool.call.result: <14 bytes>",
			"gen_ai.operation.name: execute_tool\ngen_ai.tool.call.arguments: <8 bytes>\ngen_ai.tool.call.result: <14 bytes>",
		},
		"structured, wrapped": {
			attrs{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": attrs{"content": []any{attrs{"type": "text", "text": `{"a": "secret"}`}}}},
			nil,
			"gen_ai.operation.name: execute_tool\ngen_ai.tool.call.result: <14 bytes>", "",
		},
		"tool span with events": {
			attrs{"gen_ai.operation.name": "execute_tool"},
			map[string]map[string]any{"gen_ai.choice": {"message": `{"a":"secret"}`}, "gen_ai.tool.message": {"content": `{"id":1}`, "id": "c1"}},
			"gen_ai.choice/message: <14 bytes>\ngen_ai.operation.name: execute_tool\ngen_ai.tool.message/content: {\"id\":1}\ngen_ai.tool.message/id: c1",
			"gen_ai.choice/message: <14 bytes>\ngen_ai.operation.name: execute_tool\ngen_ai.tool.message/content: <8 bytes>\ngen_ai.tool.message/id: c1",
		},
		"messages": {
			attrs{"gen_ai.operation.name": "chat", "gen_ai.input.messages": `[{"role":"user","parts":[{"type":"text","content":"hi"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"f","arguments":{"id":1}}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":{"a":"secret"}}]}]`},
			nil,
			`gen_ai.input.messages: [{"role":"user","parts":[{"type":"text","content":"hi"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"f","arguments":{"id":1}}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"<14 bytes>"}]}]` + "\ngen_ai.operation.name: chat",
			`gen_ai.input.messages: [{"role":"user","parts":[{"type":"text","content":"hi"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"f","arguments":"<8 bytes>"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"<14 bytes>"}]}]` + "\ngen_ai.operation.name: chat",
		},
		"openai, on a chain": {
			attrs{"input.value": `{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"id\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"secret"}]}`},
			nil,
			`input.value: {"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"id\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"<8 bytes>"}]}`,
			`input.value: {"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"<8 bytes>"}}]},{"role":"tool","tool_call_id":"c1","content":"<8 bytes>"}]}`,
		},
		"anthropic": {
			attrs{"gen_ai.input.messages": `[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"secret"}]},{"type":"text","text":"and now?"}]}]`},
			nil,
			`gen_ai.input.messages: [{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"<8 bytes>"},{"type":"text","text":"and now?"}]}]`, "",
		},
		"langchain": {
			attrs{"traceloop.entity.output": `{"messages":[{"lc":1,"type":"constructor","id":["langchain_core","messages","ToolMessage"],"kwargs":{"content":"secret","tool_call_id":"c1"}},{"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],"kwargs":{"content":"hi"}}]}`},
			nil,
			`traceloop.entity.output: {"messages":[{"lc":1,"type":"constructor","id":["langchain_core","messages","ToolMessage"],"kwargs":{"content":"<8 bytes>","tool_call_id":"c1"}},{"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],"kwargs":{"content":"hi"}}]}`, "",
		},
		"gemini": {
			attrs{"gcp.vertex.agent.llm_request": `{"contents":[{"role":"user","parts":[{"function_response":{"name":"f","response":{"a":"secret"}}}]},{"role":"model","parts":[{"function_call":{"name":"f","args":{"id":1}}}]}]}`},
			nil,
			`gcp.vertex.agent.llm_request: {"contents":[{"role":"user","parts":[{"function_response":{"name":"f","response":"<14 bytes>"}}]},{"role":"model","parts":[{"function_call":{"name":"f","args":{"id":1}}}]}]}`,
			`gcp.vertex.agent.llm_request: {"contents":[{"role":"user","parts":[{"function_response":{"name":"f","response":"<14 bytes>"}}]},{"role":"model","parts":[{"function_call":{"name":"f","args":"<8 bytes>"}}]}]}`,
		},
		"flattened": {
			attrs{
				"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "hi",
				"llm.input_messages.1.message.role": "tool", "llm.input_messages.1.message.content": "secret",
				"gen_ai.prompt.0.role": "tool", "gen_ai.prompt.0.content": "secret",
				"gen_ai.completion.0.tool_calls.0.name": "f", "gen_ai.completion.0.tool_calls.0.arguments": `{"id":1}`,
			},
			nil,
			"gen_ai.completion.0.tool_calls.0.arguments: {\"id\":1}\ngen_ai.completion.0.tool_calls.0.name: f\ngen_ai.prompt.0.content: <8 bytes>\ngen_ai.prompt.0.role: tool\nllm.input_messages.0.message.content: hi\nllm.input_messages.0.message.role: user\nllm.input_messages.1.message.content: <8 bytes>\nllm.input_messages.1.message.role: tool",
			"gen_ai.completion.0.tool_calls.0.arguments: <8 bytes>\ngen_ai.completion.0.tool_calls.0.name: f\ngen_ai.prompt.0.content: <8 bytes>\ngen_ai.prompt.0.role: tool\nllm.input_messages.0.message.content: hi\nllm.input_messages.0.message.role: user\nllm.input_messages.1.message.content: <8 bytes>\nllm.input_messages.1.message.role: tool",
		},
		"events as messages": {
			attrs{"gen_ai.operation.name": "chat"},
			map[string]map[string]any{"gen_ai.tool.message": {"content": "secret", "id": "c1"}, "gen_ai.user.message": {"content": "hi"}},
			"gen_ai.operation.name: chat\ngen_ai.tool.message/content: <8 bytes>\ngen_ai.tool.message/id: c1\ngen_ai.user.message/content: hi", "",
		},
		"tool definitions stay": {
			attrs{"gen_ai.tool.definitions": `[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"id":{"type":"string"}}}}}]`},
			nil,
			`gen_ai.tool.definitions: [{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"id":{"type":"string"}}}}}]`, "",
		},
		"broken off": {
			attrs{"gen_ai.input.messages": `[{"role":"tool","content":"secr`},
			nil,
			"gen_ai.input.messages: <40 bytes>", "",
		},
		"text in brackets": {
			attrs{"gen_ai.input.messages": `[sighs] all right`},
			nil,
			"gen_ai.input.messages: [sighs] all right", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, redacted(t, c.attributes, c.events, false))
			if c.both == "" {
				c.both = c.want
			}
			require.Equal(t, c.both, redacted(t, c.attributes, c.events, true))
		})
	}
}

// Whatever JSON surrounds it, the result of a tool's message does not stay.
func FuzzRedactMessages(f *testing.F) {
	f.Add(`{"x":`, `}`)
	f.Add(`[`, `,{"role":"user","content":"hi"}]`)
	f.Add(`{"messages":[`, `]}`)
	f.Add(`[{"role":"user","content":[`, `]}]`)
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "the 5ecret"
		if strings.Contains(before+after, secret) {
			return
		}
		whole := before + `{"type":"tool_call_response","id":"c","response":"` + secret + `"}` + after
		if _, err := jsonvalue.Parse(whole); err != nil || !genai.LooksLikeJSON(whole) {
			return
		}
		out := redacted(t, map[string]any{"gen_ai.input.messages": whole}, nil, false)
		require.NotContains(t, out, secret)
	})
}

// Nothing of what a tool returned is left in what instrumentations emit, whatever
// attribute it is in.
func TestReconstructionsAreRedacted(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "score", "testdata", "reconstructed", "*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	level := regexp.MustCompile(`level[\\"']*\s*:\s*[\\"']*\d`)
	r := New(genai.Options{}, func(jsonvalue.Value) (string, bool) { return "<removed>", true }, true)
	met := 0
	for _, file := range files {
		if filepath.Base(file) == "policy.yaml" {
			continue
		}
		reconstruction := testkit.ReadReconstruction(t, file)
		for _, td := range reconstruction.Traces(t) {
			for _, rs := range td.ResourceSpans().All() {
				for _, ss := range rs.ScopeSpans().All() {
					for _, span := range ss.Spans().All() {
						met += len(level.FindAllString(flatten(span), -1))
						r.Redact(rs.Resource(), ss.Scope(), span)
						require.NotRegexp(t, level, flatten(span), "%s: %s", file, span.Name())
					}
				}
			}
		}
	}
	require.Greater(t, met, 15)
}

// flatten returns the attributes of a span and of its events as one text.
func flatten(span ptrace.Span) string {
	var b strings.Builder
	for key, v := range span.Attributes().All() {
		b.WriteString(key + "=" + v.AsString() + "\n")
	}
	for _, e := range span.Events().All() {
		for key, v := range e.Attributes().All() {
			b.WriteString(key + "=" + v.AsString() + "\n")
		}
	}
	return b.String()
}
