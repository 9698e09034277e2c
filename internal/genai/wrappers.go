// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// openObject takes off a wrapper that is an object.
func (o *opener) openObject(v jsonvalue.Value) (jsonvalue.Value, bool) {
	if inner, ok := o.toolMessage(v); ok {
		o.fresh = true
		return inner, true
	}
	if inner, ok := o.mcp(v); ok {
		return inner, true
	}
	if inner, ok := o.typed(v); ok {
		o.fresh = false
		return inner, true
	}
	if inner, ok := o.keyed(v); ok {
		o.fresh = false
		return inner, true
	}
	return v, false
}

// toolMessage opens LangChain's message object, serialised or as a plain
// dictionary.
func (o *opener) toolMessage(v jsonvalue.Value) (jsonvalue.Value, bool) {
	if _, kwargs, ok := LangChainMessage(v); ok {
		v = kwargs
	} else if _, named := v.Get("tool_call_id"); !named || text(v, "type") != "tool" {
		return v, false
	}
	content, ok := v.Get("content")
	if !ok {
		return v, false
	}
	if o.result.CallID == "" {
		o.result.CallID = UsableID(text(v, "tool_call_id"))
	}
	if o.result.Tool == "" {
		o.result.Tool = text(v, "name")
	}
	if text(v, "status") == "error" {
		o.result.Failed = true
	}
	return content, true
}

// mcpKeys are those that an MCP tool result may have, as the protocol and as the
// Python libraries spell them; mcpBeside those that only count beside one which
// nothing else has.
var (
	mcpKeys   = []string{"content", "structuredContent", "isError", "_meta", "structured_content", "is_error"}
	mcpBeside = []string{"meta", "data", "toolResult", "resultType"}
)

// mcp opens a CallToolResult: structuredContent if it has one, else its text. A
// structure whose only member is result is that member.
func (o *opener) mcp(v jsonvalue.Value) (jsonvalue.Value, bool) {
	content, hasContent := v.Get("content")
	structured, hasStructured := either(v, "structuredContent", "structured_content")
	isError, hasError := either(v, "isError", "is_error")
	blocks := hasContent && content.Kind() == jsonvalue.ArrayKind
	hasError = hasError && !isError.IsNull() // null is how some write that it is not there
	if !blocks && !hasStructured || hasContent && !blocks && !content.IsNull() {
		return v, false
	}
	for i := 0; i < v.Len(); i++ {
		key, _ := v.Member(i)
		if !slices.Contains(mcpKeys, key) && !(slices.Contains(mcpBeside, key) && (hasStructured || hasError)) {
			return v, false
		}
	}
	if !hasStructured && !hasError && !allTyped(content) {
		return v, false // a list under a key that only looks like it
	}
	o.result.MCP = true
	o.result.Failed = o.result.Failed || isError.Bool()
	o.result.Conflict = o.result.Conflict || hasError && isError.Kind() != jsonvalue.BoolKind
	if !structured.IsNull() {
		o.result.Conflict = o.result.Conflict || blocks && !renders(structured, content)
		return Unwrapped(structured), true
	}
	o.fresh = true
	if content.Len() == 0 {
		return jsonvalue.String(""), true
	}
	if joined, ok := joinBlocks(content); ok {
		return joined, true
	}
	return content, true // images and resources are part of the answer
}

// allTyped reports whether every element is a block that says its type.
func allTyped(list jsonvalue.Value) bool {
	for _, block := range elements(list) {
		if text(block, "type") == "" {
			return false
		}
	}
	return true
}

func either(v jsonvalue.Value, keys ...string) (jsonvalue.Value, bool) {
	for _, key := range keys {
		if inner, ok := v.Get(key); ok {
			return inner, true
		}
	}
	return jsonvalue.Null(), false
}

// typed opens the AI SDK's {"type": "json", "value": …}.
func (o *opener) typed(v jsonvalue.Value) (jsonvalue.Value, bool) {
	if text(v, "type") == "execution-denied" && v.Len() <= 4 {
		o.result.Denied, o.result.State = true, NotCaptured
		return v, false
	}
	inner, ok := v.Get("value")
	if !ok || v.Len() > 3 {
		return v, false
	}
	switch text(v, "type") {
	case "content": // toModelOutput
		o.result.Rendering = true
		return inner, true
	case "json", "text":
		return inner, true
	case "error-text", "error-json":
		o.result.Failed = true
		return inner, true
	}
	return v, false
}

// keyed opens a wrapper of a single key that the dialect's row names.
func (o *opener) keyed(v jsonvalue.Value) (jsonvalue.Value, bool) {
	if o.dialect == nil || v.Len() == 0 {
		return v, false
	}
	found := false
	var value jsonvalue.Value
	failed, conflict := false, false
	for i := 0; i < v.Len(); i++ {
		key, inner := v.Member(i)
		switch {
		case !found && slices.Contains(o.dialect.ResultKeys, key):
			found, value = true, inner
		case !found && v.Len() == 1 && slices.Contains(o.dialect.FailureKeys, key):
			found, value, failed = true, inner, true
		case slices.Contains(o.dialect.BesideKeys, key):
			if key == "is_error" || key == "isError" || key == "is_interrupted" {
				failed = failed || inner.Bool()
				conflict = conflict || !inner.IsNull() && inner.Kind() != jsonvalue.BoolKind
			}
			failed = failed || key == "status" && (inner.Text() == "failure" || inner.Text() == "error")
		default:
			return v, false
		}
	}
	if !found {
		return v, false
	}
	o.result.Failed = o.result.Failed || failed
	o.result.Conflict = o.result.Conflict || conflict
	return value, true
}

// joinBlocks opens a list of content blocks: one json block is its value, text
// blocks are one text, a line each.
func joinBlocks(list jsonvalue.Value) (jsonvalue.Value, bool) {
	if list.Kind() != jsonvalue.ArrayKind || list.Len() == 0 {
		return list, false
	}
	var texts []string
	for i := 0; i < list.Len(); i++ {
		block := list.Index(i)
		if block.Kind() != jsonvalue.ObjectKind {
			return list, false
		}
		if inner, ok := block.Get("json"); ok && block.Len() == 1 {
			if list.Len() > 1 {
				return list, false
			}
			return inner, true
		}
		t, ok := block.Get("text")
		if !ok || t.Kind() != jsonvalue.StringKind {
			return list, false
		}
		if kind := text(block, "type"); kind != "text" && kind != "output_text" && (kind != "" || block.Len() != 1) {
			return list, false
		}
		texts = append(texts, t.Text())
	}
	return jsonvalue.String(strings.Join(texts, "\n")), true
}
