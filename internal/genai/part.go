// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// The names of a part's fields.
var (
	callIDKeys    = []string{"call_id", "tool_call_id", "toolCallId", "callId", "toolUseId", "tool_use_id", "id", "ref"}
	toolNameKeys  = []string{"name", "toolName", "tool_name"}
	ArgumentKeys  = []string{"arguments", "args", "input", "parameters"}
	ResponseKeys  = []string{"response", "result", "content", "output"}
	textKeys      = []string{"content", "text"}
	CallWrappers  = []string{"functionCall", "function_call", "toolUse", "tool_use", "server_tool_call", "tool_call", "toolRequest", "function"}
	ReplyWrappers = []string{"functionResponse", "function_response", "toolResult", "tool_result", "server_tool_call_response", "tool_call_response", "toolResponse"}
)

// partsOf reads a message's content. It answers true if nothing was recorded.
func partsOf(v jsonvalue.Value, d *Dialect) (parts []Part, uncaptured bool) {
	switch v.Kind() {
	case jsonvalue.StringKind:
		text := v.Text()
		if placeholder(text, d) {
			return nil, true
		}
		if d.placeholder(text) {
			return []Part{{Kind: OtherPart}}, false
		}
		return []Part{{Kind: TextPart, Text: text}}, false
	case jsonvalue.ObjectKind:
		parts, ok := partsAt(nil, v, d)
		return parts, !ok
	case jsonvalue.ArrayKind:
		uncaptured = true
		parts = make([]Part, 0, min(v.Len(), fewParts))
		for i := 0; i < v.Len(); i++ {
			var ok bool
			if parts, ok = partsAt(parts, v.Index(i), d); ok {
				uncaptured = false
			}
		}
		return parts, uncaptured
	default:
		return nil, true
	}
}

// fewParts is for how many parts there is room at first: an array may be anything.
const fewParts = 4

// partsAt adds an element of a message's content: a part, or a call that the
// provider ran, with its result in the same element.
func partsAt(parts []Part, v jsonvalue.Value, d *Dialect) ([]Part, bool) {
	if call, reply, ok := ranByProvider(v, d); ok {
		if parts = append(parts, call); reply.Content.Captured() || reply.Failed {
			parts = append(parts, reply)
		}
		return parts, true
	}
	p, ok := partOf(v, d)
	if !ok {
		return parts, false
	}
	return append(parts, p), true
}

// ProviderResults are where the items of OpenAI's Responses API keep what the
// provider's own tools returned.
var ProviderResults = map[string]string{
	"web_search_call":       "results",
	"file_search_call":      "results",
	"code_interpreter_call": "outputs",
	"image_generation_call": "result",
	"computer_call":         "output",
	"mcp_call":              "output",
}

// ranByProvider reads an item that is a call and its result at once.
func ranByProvider(v jsonvalue.Value, d *Dialect) (call, reply Part, ok bool) {
	if v.Kind() != jsonvalue.ObjectKind {
		return Part{}, Part{}, false
	}
	kind := text(v, "type")
	key, ok := ProviderResults[kind]
	if !ok {
		return Part{}, Part{}, false
	}
	call = Part{Kind: CallPart, CallID: callID(v), Tool: name(v), ServerSide: true}
	if call.Tool == "" {
		call.Tool = strings.TrimSuffix(kind, "_call")
	}
	for _, k := range [...]string{"arguments", "action", "queries", "code"} {
		if a, ok := v.Get(k); ok && !a.IsNull() {
			call.Content = contentOfValue(a, d)
			break
		}
	}
	reply = Part{Kind: ResponsePart, CallID: call.CallID, Tool: call.Tool, ServerSide: true}
	if r, ok := v.Get(key); ok && !r.IsNull() {
		reply.Content = contentOfValue(r, d)
	}
	if e, ok := v.Get("error"); ok && !e.IsNull() {
		reply.Failed = true
		if !reply.Content.Captured() {
			reply.Content = contentOfValue(e, d)
		}
	}
	reply.Failed = reply.Failed || text(v, "status") == "failed" || text(v, "status") == "incomplete" || errorInstead(v, key)
	return call, reply, true
}

// errorInstead reports whether an item has an object with an error in place of the
// list of its results.
func errorInstead(item jsonvalue.Value, key string) bool {
	r, ok := item.Get(key)
	if !ok || r.Kind() != jsonvalue.ObjectKind || key != "results" && key != "outputs" {
		return false
	}
	e, ok := r.Get("error")
	return ok && !e.IsNull() || errorObject(r)
}

// partOf reads one part. It answers false if the part's content was not
// recorded or is in no form that is known.
func partOf(v jsonvalue.Value, d *Dialect) (Part, bool) {
	if v.Kind() == jsonvalue.StringKind {
		text := v.Text()
		return Part{Kind: TextPart, Text: text}, !placeholder(text, d)
	}
	if v.Kind() != jsonvalue.ObjectKind {
		return Part{}, false
	}
	if inner, ok := v.Get("message_content"); ok { // OpenInference's flattened blocks
		return partOf(inner, d)
	}
	switch kind := text(v, "type"); kind {
	case "", "text", "input_text", "output_text":
		return textOrWrapped(v, kind, d)
	case "refusal":
		if t := text(v, "refusal"); t != "" {
			return Part{Kind: TextPart, Text: t}, true
		}
		return Part{Kind: OtherPart}, true
	case "tool_call", "tool-call", "tool_use", "toolUse", "function_call", "functionCall", "server_tool_call", "server_tool_use", "mcp_tool_use":
		p, ok := callOf(v, d)
		p.ServerSide = p.ServerSide || providersOwn(v, kind)
		return p, ok
	case "tool_call_response", "tool-result", "tool-error", "tool_result", "toolResult", "function_call_output", "functionResponse",
		"server_tool_call_response", "server_tool_result":
		p := responseOf(v, d)
		p.ServerSide = p.ServerSide || providersOwn(v, kind)
		p.Failed = p.Failed || kind == "tool-error"
		return p, true
	default:
		if strings.HasSuffix(kind, "_tool_result") { // Anthropic's, one for each of its own tools
			p := responseOf(v, d)
			p.ServerSide = true
			return p, true
		}
		return Part{Kind: OtherPart}, true
	}
}

// providersOwn reports whether a call was run by the model's provider.
func providersOwn(v jsonvalue.Value, kind string) bool {
	if strings.HasPrefix(kind, "server_") || strings.HasPrefix(kind, "mcp_") {
		return true
	}
	for _, key := range [...]string{"providerExecuted", "provider_executed", "builtin"} {
		if flag, ok := v.Get(key); ok && flag.Bool() {
			return true
		}
	}
	return false
}

// textOrWrapped reads a part that is text, or an object around a call or a
// reply.
func textOrWrapped(v jsonvalue.Value, kind string, d *Dialect) (Part, bool) {
	if kind == "" {
		for _, k := range CallWrappers {
			if inner, ok := v.Get(k); ok && inner.Kind() == jsonvalue.ObjectKind {
				return callOf(v, d)
			}
		}
		for _, k := range ReplyWrappers {
			if inner, ok := v.Get(k); ok && inner.Kind() == jsonvalue.ObjectKind {
				return responseOf(v, d), true
			}
		}
		for _, k := range [...]string{"executableCode", "codeExecutionResult", "inlineData", "fileData", "reasoningContent", "thought_signature", "image", "document"} {
			if _, ok := v.Get(k); ok {
				return Part{Kind: OtherPart}, true
			}
		}
	}
	for _, k := range textKeys {
		if t, ok := v.Get(k); ok && t.Kind() == jsonvalue.StringKind {
			text := t.Text()
			if thought, _ := v.Get("thought"); thought.Bool() || d.placeholder(text) {
				return Part{Kind: OtherPart}, true
			}
			return Part{Kind: TextPart, Text: text}, !placeholder(text, d)
		}
	}
	return Part{}, false
}

// callOf reads a request for a tool call, whatever encloses it: the first id,
// name and arguments from the outside count.
func callOf(v jsonvalue.Value, d *Dialect) (Part, bool) {
	if v.Kind() != jsonvalue.ObjectKind {
		return Part{}, false
	}
	p := Part{Kind: CallPart, ServerSide: providersOwn(v, "")}
	for depth := 0; ; depth++ {
		if p.CallID == "" {
			p.CallID = callID(v)
		}
		if p.Tool == "" {
			p.Tool = name(v)
		}
		for _, k := range ArgumentKeys {
			if a, ok := v.Get(k); ok && !a.IsNull() && !p.Content.Captured() {
				p.Content = contentOfValue(a, d)
				break
			}
		}
		inner, key := wrapped(v, CallWrappers)
		if key == "" || depth == 3 {
			break
		}
		p.ServerSide = p.ServerSide || key == "server_tool_call"
		v = inner
	}
	if p.ServerSide && !p.Content.Captured() && p.Tool != "" {
		p.Content = contentOfValue(without(v, "type"), d)
	}
	return p, p.Tool != "" || p.CallID != ""
}

// wrapped returns the object under one of the keys, and the key.
func wrapped(v jsonvalue.Value, keys []string) (jsonvalue.Value, string) {
	for _, k := range keys {
		if inner, ok := v.Get(k); ok && inner.Kind() == jsonvalue.ObjectKind {
			return inner, k
		}
	}
	return jsonvalue.Value{}, ""
}

// without returns an object's members but one.
func without(v jsonvalue.Value, key string) jsonvalue.Value {
	members := make([]jsonvalue.Member, 0, v.Len())
	for i := 0; i < v.Len(); i++ {
		if k, inner := v.Member(i); k != key {
			members = append(members, jsonvalue.Member{Key: k, Value: inner})
		}
	}
	return jsonvalue.Object(members...)
}

// responseOf reads the answer to a tool call.
func responseOf(v jsonvalue.Value, d *Dialect) Part {
	p := Part{Kind: ResponsePart, CallID: callID(v), Tool: name(v)}
	own := false
	inner, key := wrapped(v, ReplyWrappers)
	switch {
	case key == "":
		for _, k := range ReplyWrappers { // a text, or a list, in place of the object
			if r, ok := v.Get(k); ok && !r.IsNull() {
				p.Content, own = contentOfValue(r, d), true
				break
			}
		}
	case key == "server_tool_call_response":
		p.ServerSide = true
		fallthrough
	default:
		p.Failed = failedReply(v)
		v = inner
		if p.CallID == "" {
			p.CallID = callID(v)
		}
		if p.Tool == "" {
			p.Tool = name(v)
		}
	}
	if !own {
		for _, k := range ResponseKeys {
			if r, ok := v.Get(k); ok {
				p.Content, own = contentOfValue(r, d), true
				break
			}
		}
	}
	if !own && key == "server_tool_call_response" {
		p.Content, own = contentOfValue(without(v, "type"), d), true
	}
	if e, ok := v.Get("error"); ok && !own && !e.IsNull() {
		p.Content = contentOfValue(e, d)
	}
	p.Failed = p.Failed || failedReply(v) || errorObject(p.Content.Value)
	return p
}

// errorObject reports whether a result is the object that providers put in place of
// what a tool of theirs returns if it failed.
func errorObject(v jsonvalue.Value) bool {
	if v.Kind() != jsonvalue.ObjectKind {
		return false
	}
	_, coded := v.Get("error_code")
	return coded && strings.HasSuffix(text(v, "type"), "_error")
}

// failedReply reports whether a reply is marked as a failure.
func failedReply(v jsonvalue.Value) bool {
	for _, key := range [...]string{"is_error", "isError"} {
		if flag, ok := v.Get(key); ok && flag.Bool() {
			return true
		}
	}
	return text(v, "status") == "error"
}

func callID(v jsonvalue.Value) string {
	for _, k := range callIDKeys {
		if id := UsableID(text(v, k)); id != "" {
			return id
		}
	}
	return ""
}

func name(v jsonvalue.Value) string {
	for _, k := range toolNameKeys {
		if n := text(v, k); n != "" {
			return n
		}
	}
	return ""
}

func text(v jsonvalue.Value, key string) string {
	t, ok := v.Get(key)
	if !ok {
		return ""
	}
	return t.Text()
}
