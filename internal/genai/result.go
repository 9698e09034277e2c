// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
)

// Result is what a tool returned, taken out of the wrappers that frameworks and
// instrumentations put around it.
type Result struct {
	State ResultState
	// Kind is what Value looks like: KindJSON, KindText or KindStdio.
	Kind engine.InputKind
	// Value is the result itself: a string for KindText, the whole object for
	// KindStdio.
	Value    engine.Value
	ExitCode int64 // KindStdio
	// Failed is set if a wrapper says that the call failed (isError, an error
	// status).
	Failed bool
	// CallID and Tool are what a wrapper says of the call, if it does.
	CallID, Tool string
}

// ResultState says whether there is a result to judge.
type ResultState uint8

const (
	// NotCaptured: the telemetry holds no result.
	NotCaptured ResultState = iota
	// Captured: there is one.
	Captured
	// Truncated: there is the beginning of one.
	Truncated
)

// maxWrappers bounds how many wrappers are opened. The deepest recorded nesting
// (a framework's output key, a serialised message, a content block, JSON in a
// string) has five.
const maxWrappers = 8

// Result opens the wrappers around a recorded result. JSON text is parsed; JSON
// in a JSON string is parsed once more, and no further.
func (c Content) Result() Result {
	if c.Form == Absent {
		if c.Dropped {
			return Result{State: Truncated}
		}
		return Result{}
	}
	r := Result{State: Captured, Kind: engine.KindJSON}
	o := opener{result: &r, dialect: c.Dialect, extra: 1}
	v := c.Value
	if c.Form == Text {
		o.extra++ // the attribute's own text is no extra layer
	}
	for range maxWrappers {
		next, more := o.open(v)
		v = next
		if !more {
			break
		}
	}
	r.Value = v
	if v.Kind() == engine.StringKind && r.State == Captured {
		r.Kind = engine.KindText
	}
	if code, ok := exitCode(v); ok {
		r.Kind, r.ExitCode = engine.KindStdio, code
	}
	return r
}

// opener takes off one wrapper at a time.
type opener struct {
	result  *Result
	dialect *Dialect
	extra   int // how many more texts may be parsed as JSON
	inner   bool
}

func (o *opener) open(v engine.Value) (engine.Value, bool) {
	switch v.Kind() {
	case engine.StringKind:
		return o.openText(v)
	case engine.ObjectKind:
		return o.openObject(v)
	case engine.ArrayKind:
		return o.openBlocks(v)
	default:
		return v, false
	}
}

func (o *opener) openText(v engine.Value) (engine.Value, bool) {
	text := v.Text()
	if o.extra == 0 || !jsonStart(text, o.inner) {
		return v, false
	}
	parsed, err := engine.ParseJSON(text)
	if err != nil {
		if brokenOff(text) {
			o.result.State = Truncated
		}
		return v, false
	}
	o.extra--
	o.inner = true
	return parsed, true
}

// jsonStart reports whether a text may be JSON. In a text that was already
// inside JSON only objects and arrays count: "42" in quotes is a string.
func jsonStart(text string, inner bool) bool {
	t := strings.TrimLeft(text, " \t\r\n")
	if t == "" {
		return false
	}
	switch c := t[0]; {
	case c == '{' || c == '[':
		return true
	case inner:
		return false
	case c == '"' || c == '-' || c >= '0' && c <= '9':
		return true
	default:
		t = strings.TrimRight(t, " \t\r\n")
		return t == "true" || t == "false" || t == "null"
	}
}

// brokenOff reports whether text is the beginning of a JSON object or array
// that ends too early, at the text's end or before a cut marker.
func brokenOff(text string) bool {
	t := strings.TrimLeft(text, " \t\r\n")
	if t == "" || t[0] != '{' && t[0] != '[' {
		return false
	}
	if incomplete(t) {
		return true
	}
	t, cut := trimCut(t)
	return cut && incomplete(t)
}

func incomplete(text string) bool {
	var raw json.RawMessage
	err := json.NewDecoder(strings.NewReader(text)).Decode(&raw)
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

func (o *opener) openObject(v engine.Value) (engine.Value, bool) {
	if inner, ok := o.toolMessage(v); ok {
		return inner, true
	}
	if inner, ok := o.mcp(v); ok {
		return inner, true
	}
	if inner, ok := o.typed(v); ok {
		return inner, true
	}
	if v.Len() == 1 && o.dialect != nil {
		key, inner := v.Member(0)
		if contains(o.dialect.ResultKeys, key) {
			return inner, true
		}
		if contains(o.dialect.FailureKeys, key) {
			o.result.Failed = true
			return inner, true
		}
	}
	return v, false
}

// toolMessage opens LangChain's message object, serialised or as a plain
// dictionary.
func (o *opener) toolMessage(v engine.Value) (engine.Value, bool) {
	if _, kwargs, ok := langchain(v); ok {
		v = kwargs
	} else if text(v, "type") != "tool" {
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

// mcp opens a CallToolResult: structuredContent if it has one, else its text.
func (o *opener) mcp(v engine.Value) (engine.Value, bool) {
	structured, hasStructured := v.Get("structuredContent")
	isError, hasError := v.Get("isError")
	content, hasContent := v.Get("content")
	if !hasStructured && !(hasContent && content.Kind() == engine.ArrayKind) {
		return v, false
	}
	for i := 0; i < v.Len(); i++ {
		switch key, _ := v.Member(i); key {
		case "structuredContent", "isError", "content", "_meta", "toolResult", "resultType":
		default:
			return v, false
		}
	}
	if !hasStructured && !hasError && content.Len() > 0 {
		if first := content.Index(0); text(first, "type") == "" {
			return v, false
		}
	}
	if hasError && isError.Kind() == engine.BoolKind && isError.Bool() {
		o.result.Failed = true
	}
	if hasStructured && !structured.IsNull() {
		return structured, true
	}
	if !hasContent || content.Len() == 0 {
		return engine.String(""), true
	}
	if joined, ok := joinBlocks(content); ok {
		return joined, true
	}
	return content, true
}

// typed opens the AI SDK's {"type": "json", "value": …}.
func (o *opener) typed(v engine.Value) (engine.Value, bool) {
	inner, ok := v.Get("value")
	if !ok || v.Len() > 3 {
		return v, false
	}
	switch text(v, "type") {
	case "json", "text", "content":
		return inner, true
	case "error-text", "error-json", "execution-denied":
		o.result.Failed = true
		return inner, true
	}
	return v, false
}

func (o *opener) openBlocks(v engine.Value) (engine.Value, bool) {
	if v.Len() == 0 {
		return v, false
	}
	if joined, ok := joinBlocks(v); ok {
		return joined, true
	}
	return v, false
}

// joinBlocks opens a list of content blocks: one json block is its value, text
// blocks are one text, a line each.
func joinBlocks(list engine.Value) (engine.Value, bool) {
	if list.Kind() != engine.ArrayKind || list.Len() == 0 {
		return list, false
	}
	var texts []string
	for i := 0; i < list.Len(); i++ {
		block := list.Index(i)
		if block.Kind() != engine.ObjectKind {
			return list, false
		}
		if inner, ok := block.Get("json"); ok && block.Len() == 1 {
			if list.Len() > 1 {
				return list, false
			}
			return inner, true
		}
		t, ok := block.Get("text")
		if !ok || t.Kind() != engine.StringKind {
			return list, false
		}
		if kind := text(block, "type"); kind != "text" && kind != "output_text" && (kind != "" || block.Len() != 1) {
			return list, false
		}
		texts = append(texts, t.Text())
	}
	return engine.String(strings.Join(texts, "\n")), true
}

func exitCode(v engine.Value) (int64, bool) {
	if v.Kind() != engine.ObjectKind {
		return 0, false
	}
	if _, ok := v.Get("stdout"); !ok {
		return 0, false
	}
	for _, key := range [...]string{"exit_code", "exitCode", "return_code"} {
		if code, ok := v.Get(key); ok {
			return code.Int64()
		}
	}
	return 0, false
}

// Arguments returns a call's arguments as data: JSON text is parsed (and JSON in
// a JSON string once more), a dialect's wrapper is taken off. It answers false
// if the telemetry holds none.
func (c Content) Arguments() (engine.Value, bool) {
	if c.Form == Absent {
		return engine.Null(), false
	}
	v := parseLayers(c.Value, 2)
	if c.Dialect == nil {
		return v, true
	}
	for _, key := range c.Dialect.ArgumentsKeys {
		inner, ok := v.Get(key)
		if !ok || inner.Len() == 0 && v.Len() > 1 {
			continue
		}
		// A single positional argument is the arguments, often as JSON text.
		if inner.Kind() == engine.ArrayKind && inner.Len() == 1 {
			inner = inner.Index(0)
		}
		return parseLayers(inner, 1), true
	}
	return v, true
}

// parseLayers parses JSON text, and JSON in JSON text, up to a number of layers.
func parseLayers(v engine.Value, layers int) engine.Value {
	for layer := 0; layer < layers && v.Kind() == engine.StringKind && jsonStart(v.Text(), layer > 0); layer++ {
		parsed, err := engine.ParseJSON(v.Text())
		if err != nil {
			break
		}
		v = parsed
	}
	return v
}

// failureTexts begin what frameworks tell a model about a tool that threw.
var failureTexts = []string{"Error: ", "Error executing tool ", "Error in tool ", "Error invoking tool "}

// FailureText reports whether a result is a framework's text about a tool that
// threw.
func FailureText(r Result) bool {
	if r.Kind != engine.KindText || r.Value.Kind() != engine.StringKind {
		return false
	}
	for _, begin := range failureTexts {
		if strings.HasPrefix(r.Value.Text(), begin) {
			return true
		}
	}
	return false
}
