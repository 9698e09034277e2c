// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// dump writes a message list in a line: messages apart by " | ", parts by ", ".
func dump(m Messages) string {
	if !m.Recorded {
		return "not recorded"
	}
	var list []string
	for i := range m.List {
		var parts []string
		for j := range m.List[i].Parts {
			parts = append(parts, dumpPart(&m.List[i].Parts[j]))
		}
		text := roleName(m.List[i].Role) + ": " + strings.Join(parts, ", ")
		if m.List[i].Uncaptured {
			text += "not captured"
		}
		list = append(list, strings.TrimSpace(text))
	}
	text := strings.Join(list, " | ")
	if m.Broken {
		text = strings.TrimSpace(text + " BROKEN")
	}
	return text
}

func roleName(r Role) string {
	return [...]string{"?", "system", "user", "assistant", "tool"}[r]
}

func dumpPart(p *Part) string {
	switch p.Kind {
	case TextPart:
		return fmt.Sprintf("%q", p.Text)
	case OtherPart:
		return "other"
	}
	words := []string{"call"}
	if p.Kind == ResponsePart {
		words = []string{"reply"}
	}
	for _, w := range []string{p.CallID, p.Tool} {
		if w == "" {
			w = "-"
		}
		words = append(words, w)
	}
	switch text, err := p.Content.Value.AppendCanonical(nil); {
	case !p.Content.Captured():
		words = append(words, "nothing")
	case err == nil:
		words = append(words, string(text))
	}
	if p.Failed {
		words = append(words, "failed")
	}
	if p.ServerSide {
		words = append(words, "server")
	}
	return strings.Join(words, " ")
}

// Lists of messages in all the shapes that are known, and in some that are not.
func TestReadMessages(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		// The GenAI conventions.
		{
			"parts", `[{"role":"user","parts":[{"type":"text","content":"hi"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"k1","name":"find","arguments":{"id":"42"}}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"k1","response":{"x":1}}]}]`,
			`user: "hi" | assistant: call k1 find {"id":"42"} | tool: reply k1 - {"x":1}`,
		},
		{
			"a response under the role user, and under result or content", `[{"role":"user","parts":[{"type":"tool_call_response","id":"k1","result":[]},{"type":"tool_call_response","id":"k2","content":"x"}]}]`,
			`user: reply k1 - [], reply k2 - "x"`,
		},
		{
			"reasoning and an image", `[{"role":"assistant","parts":[{"type":"reasoning","content":"hm"},{"type":"text","content":"hi"},{"type":"blob","modality":"image","content":"AAAA"}]}]`,
			`assistant: other, "hi", other`,
		},
		{
			"what the provider ran", `[{"role":"assistant","parts":[{"type":"server_tool_call","id":"w","name":"web_search","server_tool_call":{"type":"web_search","query":"news"}},{"type":"server_tool_call_response","id":"w","server_tool_call_response":{"type":"web_search","results":[1]}}]}]`,
			`assistant: call w web_search {"query":"news"} server, reply w - {"results":[1]} server`,
		},
		{
			"what the provider ran, with arguments and response", `[{"role":"assistant","parts":[{"type":"server_tool_call","id":"w","name":"web_search","server_tool_call":{"type":"web_search","arguments":{"q":"x"}}},{"type":"server_tool_call_response","id":"w","server_tool_call_response":{"type":"web_search","response":{"hits":1}}}]}]`,
			`assistant: call w web_search {"q":"x"} server, reply w - {"hits":1} server`,
		},
		{
			"a tool of Pydantic AI's that the provider ran", `[{"role":"assistant","parts":[{"type":"tool_call","id":"w","name":"web_search","arguments":{},"builtin":true},{"type":"tool_call_response","id":"w","name":"web_search","result":[],"builtin":true}]}]`,
			`assistant: call w web_search {} server, reply w web_search [] server`,
		},
		{"a version around the list", `{"version":"0.1.0","messages":[{"role":"user","parts":[{"type":"text","content":"hi"}]}]}`, `user: "hi"`},
		{
			"a role and no parts", `[{"role":"user"},{"role":"user","parts":[]},{"role":"user","parts":[{"type":"text"}]}]`,
			`user: not captured | user: not captured | user: not captured`,
		},
		{"blank is not nothing", `[{"role":"user","parts":[{"type":"text","content":""}]},{"role":"user","content":" "}]`, `user: "" | user: " "`},
		{
			"placeholders", `[{"role":"user","parts":[{"type":"text","content":"[redacted]"}]},{"role":"user","content":"<not specified>"}]`,
			`user: not captured | user: not captured`,
		},
		{
			"placeholders for ids", `[{"role":"assistant","parts":[{"type":"tool_call","id":"N/A","name":"find"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"null","response":1}]}]`,
			`assistant: call - find nothing | tool: reply - - 1`,
		},

		// OpenAI's chat completions.
		{
			"OpenAI", `[{"role":"system","content":"s"},{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"k1","type":"function","function":{"name":"find","arguments":"{\"id\":\"42\"}"}}]},{"role":"tool","tool_call_id":"k1","content":"[]"}]`,
			`system: "s" | user: "hi" | assistant: call k1 find "{\"id\":\"42\"}" | tool: reply k1 - "[]"`,
		},
		{"a response with choices", `{"id":"r","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`, `assistant: "hi"`},
		{"content in blocks", `[{"role":"user","content":[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"x"}}]}]`, `user: "see", other`},
		{"a refusal", `[{"role":"assistant","content":null,"refusal":"no"}]`, `assistant: "no"`},
		{"no content at all", `[{"role":"assistant","content":null}]`, `assistant: not captured`},
		{"a developer and a function", `[{"role":"developer","content":"s"},{"role":"function","name":"find","content":"x"}]`, `system: "s" | tool: reply - find "x"`},
		{"calls as a text", `[{"role":"assistant","tool_calls":"[{\"id\":\"k1\",\"function\":{\"name\":\"find\",\"arguments\":\"{}\"}}]"}]`, `assistant: call k1 find "{}"`},
		{"the text null", `[{"role":"assistant","content":"null","tool_calls":[{"name":"find","arguments":"{}"}]},{"role":"assistant","content":"null"}]`, `assistant: call - find "{}" | assistant: other`},

		// OpenAI's Responses API.
		{
			"items", `[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"reasoning","id":"rs","summary":[]},{"type":"function_call","id":"fc","call_id":"k1","name":"find","arguments":"{}"},{"type":"function_call_output","call_id":"k1","output":"[]"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}]`,
			`user: "hi" | assistant: other | assistant: call k1 find "{}" | tool: reply k1 - "[]" | assistant: "ok"`,
		},
		{"items with callId", `[{"type":"function_call","id":"fc","callId":"k1","name":"find","arguments":"{}"}]`, `assistant: call k1 find "{}"`},
		{"a response with output", `{"id":"r","object":"response","output":[{"type":"function_call","call_id":"k1","name":"find","arguments":"{}"}]}`, `assistant: call k1 find "{}"`},
		{
			"the provider's own tools", `[{"type":"web_search_call","id":"w","status":"completed","action":{"query":"x"}},{"type":"mcp_call","id":"m","name":"find","arguments":"{}","output":"[]","server_label":"s"},{"type":"code_interpreter_call","id":"c","code":"1","outputs":[{"type":"logs","logs":"1"}]},{"type":"mcp_call","id":"n","name":"find","arguments":"{}","error":"no"}]`,
			`assistant: call w web_search {"query":"x"} server | assistant: call m find "{}" server, reply m find "[]" server | assistant: call c code_interpreter "1" server, reply c code_interpreter [{"logs":"1","type":"logs"}] server | assistant: call n find "{}" server, reply n find "no" failed server`,
		},

		// Anthropic.
		{
			"Anthropic", `[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"I look"},{"type":"tool_use","id":"k1","name":"find","input":{"id":"42"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"k1","content":[{"type":"text","text":"[]"}],"is_error":true}]}]`,
			`user: "hi" | assistant: "I look", call k1 find {"id":"42"} | user: reply k1 - [{"text":"[]","type":"text"}] failed`,
		},
		{
			"its own tools", `[{"role":"assistant","content":[{"type":"server_tool_use","id":"w","name":"web_search","input":{"query":"x"}},{"type":"web_search_tool_result","tool_use_id":"w","content":[]}]}]`,
			`assistant: call w web_search {"query":"x"} server, reply w - [] server`,
		},

		// Gemini.
		{
			"Gemini", `{"model":"g","contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"k1","name":"find","args":{"id":"42"}}}]},{"role":"user","parts":[{"functionResponse":{"id":"k1","name":"find","response":{"result":"x"}}}]}]}`,
			`user: "hi" | assistant: call k1 find {"id":"42"} | user: reply k1 find {"result":"x"}`,
		},
		{"a response of Gemini's", `{"content":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"ok"}]},"finishReason":"STOP"}`, `assistant: other, "ok"`},
		{"candidates", `{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]}}]}`, `assistant: "ok"`},

		// The AI SDK.
		{
			"AI SDK", `[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool-call","toolCallId":"k1","toolName":"find","input":{"id":"42"}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"k1","toolName":"find","output":{"type":"json","value":[]}}]}]`,
			`user: "hi" | assistant: call k1 find {"id":"42"} | tool: reply k1 find {"type":"json","value":[]}`,
		},
		{
			"AI SDK 4", `[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"k1","toolName":"find","args":{}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"k1","toolName":"find","result":"x"}]}]`,
			`assistant: call k1 find {} | tool: reply k1 find "x"`,
		},
		{"its prompt", `{"system":"s","prompt":"hi"}`, `user: "hi"`},
		{
			"an error and a call of the provider's", `[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"k1","toolName":"find","input":{},"providerExecuted":true},{"type":"tool-error","toolCallId":"k1","toolName":"find","error":"no"}]}]`,
			`assistant: call k1 find {} server, reply k1 find "no" failed`,
		},

		// Bedrock, Strands.
		{
			"Bedrock", `[{"role":"assistant","content":[{"toolUse":{"toolUseId":"k1","name":"find","input":{"id":"42"}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"k1","status":"error","content":[{"text":"no"}]}}]}]`,
			`assistant: call k1 find {"id":"42"} | user: reply k1 - [{"text":"no"}] failed`,
		},
		{"blocks as a text", `[{"role":"user","content":"[{\"text\":\"hi\"}]"}]`, `user: "hi"`},
		{"a text that looks like blocks", `[{"role":"user","content":"[{\"sku\":\"X\"}]"},{"role":"user","content":"{\"a\":1}"}]`, `user: "[{\"sku\":\"X\"}]" | user: "{\"a\":1}"`},

		// LangChain.
		{
			"LangChain, serialised", `{"messages":[{"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],"kwargs":{"content":"hi"}},{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"content":"","tool_calls":[{"name":"find","args":{"id":"42"},"id":"k1","type":"tool_call"}],"additional_kwargs":{"tool_calls":[{"id":"k1"}]}}},{"lc":1,"type":"constructor","id":["langchain_core","messages","ToolMessage"],"kwargs":{"content":"[]","tool_call_id":"k1","name":"find","status":"error"}}]}`,
			`user: "hi" | assistant: "", call k1 find {"id":"42"} | tool: reply k1 find "[]" failed`,
		},
		{"LangChain, dictionaries", `[{"type":"human","data":{"content":"hi"}},{"type":"ai","content":"ok"}]`, `user: "hi" | assistant: "ok"`},
		{"generations", `{"generations":[[{"text":"ok","message":{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"content":"ok"}}}]]}`, `assistant: "ok"`},

		// Others.
		{"plain text", `find 42`, `user: "find 42"`},
		{"a batch of one", `[[{"role":"user","content":"hi"}]]`, `user: "hi"`},
		{"Mastra's answer", `{"text":"","toolCalls":[{"toolCallId":"k1","toolName":"find","args":{}}]}`, `user: "", call k1 find {}`},
		{"nothing", `[]`, ``},
		{"null", `null`, `not recorded`},
		{"nothing in quotes", `""`, `not recorded`},
		{"cut off", `[{"role":"user","parts":[{"type":"te… [truncated]`, `BROKEN`},
		{"no list", `{"a":1}`, `BROKEN`},
		{"numbers", `[1,2]`, `BROKEN`},
		{"a role in the middle that is unknown", `[{"role":"user","content":"hi"},{"role":"narrator","content":"then"}]`, `user: "hi" | user: "then"`},
		{"brackets that are no JSON", `[see below] hi`, `user: "[see below] hi"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := dump(readMessages(pcommon.NewValueStr(tc.text), User, nil, nil))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
