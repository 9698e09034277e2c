// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
)

// Message lists come in a handful of shapes: the GenAI conventions' parts,
// OpenAI's and Anthropic's requests, Gemini's contents, the AI SDK's, Bedrock's
// blocks, LangChain's serialised messages. They differ in the names of the same
// few fields, so one reader with lists of names serves them all.
var (
	listKeys      = []string{"messages", "contents", "candidates", "choices", "generations"}
	roleKeys      = []string{"role", "type", "author"}
	partsKeys     = []string{"parts", "content", "contents"}
	callsKeys     = []string{"tool_calls", "toolCalls"}
	callIDKeys    = []string{"call_id", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "id"}
	toolNameKeys  = []string{"name", "toolName", "tool_name"}
	argumentKeys  = []string{"arguments", "args", "input", "parameters"}
	responseKeys  = []string{"response", "result", "content", "output"}
	textKeys      = []string{"content", "text"}
	callWrappers  = []string{"functionCall", "function_call", "toolUse", "tool_use", "server_tool_call", "tool_call", "function"}
	replyWrappers = []string{"functionResponse", "function_response", "toolResult", "tool_result", "server_tool_call_response", "tool_call_response"}
)

// messages adds the message lists that one dialect records and no earlier one
// did.
func (d *Decoder) messages(s *Span, r *row, dialect *Dialect, span ptrace.Span) {
	if !s.Input.Recorded {
		s.Input = d.messageList(r.input, r.InputPrefix, r.InputEvents, User, dialect, span)
	}
	if !s.Output.Recorded {
		s.Output = d.messageList(r.output, r.OutputPrefix, r.OutputEvents, Assistant, dialect, span)
	}
	if !s.Output.Recorded {
		s.Output = d.answer(r, dialect)
	}
}

// answer reads an answer whose text and calls stand apart.
func (d *Decoder) answer(r *row, dialect *Dialect) Messages {
	m := Message{Role: Assistant}
	recorded := false
	for _, a := range r.outputText {
		if text := d.text(a); d.have[a] {
			recorded = true
			m.Parts = append(m.Parts, Part{Kind: TextPart, Text: text})
			break
		}
	}
	for _, a := range r.outputCalls {
		if !d.have[a] {
			continue
		}
		recorded = true
		calls := contentOf(d.value[a], dialect).Value
		if calls.Kind() == engine.StringKind {
			parsed, err := engine.ParseJSON(calls.Text())
			if err != nil {
				return Messages{Recorded: true, Broken: true}
			}
			calls = parsed
		}
		for i := 0; i < calls.Len(); i++ {
			if p, ok := callOf(calls.Index(i), dialect); ok {
				m.Parts = append(m.Parts, p)
			}
		}
		break
	}
	if !recorded {
		return Messages{}
	}
	return Messages{Recorded: true, List: []Message{m}}
}

func (d *Decoder) messageList(attrs []attr, prefixes []string, events []EventAttribute, role Role, dialect *Dialect, span ptrace.Span) Messages {
	for _, a := range attrs {
		if d.have[a] {
			if m := readMessages(d.value[a], role, dialect); m.Recorded {
				return m
			}
		}
	}
	for _, p := range prefixes {
		if v, ok := d.unflatten(p + "."); ok {
			return messagesOf(v, role, dialect)
		}
	}
	for _, e := range events {
		if e.Key == "" {
			continue
		}
		for i := 0; i < span.Events().Len(); i++ {
			if event := span.Events().At(i); event.Name() == e.Event {
				if v, ok := event.Attributes().Get(e.Key); ok {
					return readMessages(v, role, dialect)
				}
			}
		}
	}
	var list Messages
	for i := 0; i < span.Events().Len(); i++ {
		event := span.Events().At(i)
		for _, e := range events {
			if e.Key != "" || event.Name() != e.Event {
				continue
			}
			list.Recorded = true
			if m, ok := messageOf(MapValue(event.Attributes()), e.Role, dialect); ok {
				list.List = append(list.List, m)
			}
			break
		}
	}
	return list
}

// readMessages reads a list from an attribute: structured, JSON, or plain text,
// which is one message.
func readMessages(v pcommon.Value, role Role, d *Dialect) Messages {
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return Messages{}
	case pcommon.ValueTypeSlice, pcommon.ValueTypeMap:
		return messagesOf(ValueOf(v), role, d)
	}
	text := v.AsString()
	if v.Type() == pcommon.ValueTypeBytes {
		text = string(v.Bytes().AsRaw())
	}
	if placeholder(text, d) {
		return Messages{Recorded: true, List: []Message{{Role: role, Uncaptured: true}}}
	}
	if looksJSON(text) {
		value, err := engine.ParseJSON(text)
		if err == nil {
			return messagesOf(value, role, d)
		}
		return Messages{Recorded: true, Broken: true}
	}
	return messagesOf(engine.String(text), role, d)
}

// looksJSON reports whether text begins like a JSON array or object.
func looksJSON(text string) bool {
	t := strings.TrimLeft(text, " \t\r\n")
	return t != "" && (t[0] == '[' || t[0] == '{')
}

func messagesOf(v engine.Value, role Role, d *Dialect) Messages {
	list := Messages{Recorded: true}
	switch v.Kind() {
	case engine.NullKind:
		return Messages{}
	case engine.StringKind:
		list.List = []Message{{Role: role, Parts: []Part{{Kind: TextPart, Text: v.Text()}}}}
		return list
	case engine.ObjectKind:
		for _, k := range listKeys {
			if inner, ok := v.Get(k); ok && inner.Kind() == engine.ArrayKind {
				return messagesOf(inner, role, d)
			}
		}
		if m, ok := messageOf(v, role, d); ok {
			list.List = []Message{m}
		} else {
			list.Broken = true
		}
		return list
	case engine.ArrayKind:
		// A batch of one list ([[…]]) is the list.
		for v.Len() == 1 && v.Index(0).Kind() == engine.ArrayKind {
			v = v.Index(0)
		}
		list.List = make([]Message, 0, v.Len())
		var loose []Part // parts that stand outside any message
		for i := 0; i < v.Len(); i++ {
			e := v.Index(i)
			if m, ok := messageOf(e, role, d); ok {
				list.List = append(list.List, m)
			} else if p, ok := partOf(e, d); ok {
				loose = append(loose, p)
			} else {
				list.Broken = true
			}
		}
		if len(loose) > 0 {
			list.List = append(list.List, Message{Role: role, Parts: loose})
		}
		return list
	default:
		list.Broken = true
		return list
	}
}

// messageOf reads one message. It answers false for what is no message.
func messageOf(v engine.Value, fallback Role, d *Dialect) (Message, bool) {
	if v.Kind() != engine.ObjectKind {
		return Message{}, false
	}
	m := Message{}
	if class, kwargs, ok := langchain(v); ok {
		m.Role = roleOf(class)
		v = kwargs
	}
	if m.Role == UnknownRole {
		for _, k := range roleKeys {
			if m.Role = roleOf(text(v, k)); m.Role != UnknownRole {
				break
			}
		}
	}
	if inner, ok := v.Get("message"); ok {
		// A choice, or a flattened list's extra level.
		role := m.Role
		if role == UnknownRole {
			role = fallback
		}
		if inner.Kind() == engine.StringKind {
			inner = blocks(inner)
		}
		if inner.Kind() == engine.ObjectKind {
			return messageOf(inner, role, d)
		}
		m.Role = role
		m.Parts, m.Uncaptured = partsOf(inner, d)
		return m, true
	}
	if inner, ok := v.Get("content"); ok && inner.Kind() == engine.ObjectKind && m.Role == UnknownRole {
		if _, ok := inner.Get("parts"); ok { // a Gemini response around its content
			return messageOf(inner, fallback, d)
		}
	}
	if m.Role == UnknownRole {
		if m.Role = fallback; !messageShaped(v) {
			return Message{}, false
		}
	}

	recorded := false
	for _, k := range partsKeys {
		content, ok := v.Get(k)
		if !ok {
			continue
		}
		if m.Role == ToolRole && k != "parts" && !holdsReplies(content) {
			// An answer whose message is the envelope: OpenAI, LangChain.
			m.Parts = []Part{{
				Kind: ResponsePart, CallID: callID(v), Tool: name(v),
				Content: contentOfValue(content, d), Failed: text(v, "status") == "error",
			}}
			return m, true
		}
		if content.Kind() == engine.StringKind {
			content = blocks(content)
		}
		var uncaptured bool
		m.Parts, uncaptured = partsOf(content, d)
		recorded = !uncaptured
		break
	}
	if m.Role == ToolRole && len(m.Parts) == 0 {
		m.Parts = []Part{{Kind: ResponsePart, CallID: callID(v), Tool: name(v)}}
		return m, true
	}
	for _, k := range callsKeys {
		calls, ok := v.Get(k)
		if !ok {
			continue
		}
		for i := 0; i < calls.Len(); i++ {
			if p, ok := callOf(calls.Index(i), d); ok {
				m.Parts = append(m.Parts, p)
				recorded = true
			}
		}
	}
	m.Uncaptured = !recorded
	return m, true
}

// messageShaped reports whether an object without a role can be a message.
func messageShaped(v engine.Value) bool {
	for _, keys := range [][]string{partsKeys, callsKeys} {
		for _, k := range keys {
			if content, ok := v.Get(k); ok && (k != "content" || content.Kind() != engine.ObjectKind) {
				return text(v, "type") == "" || k != "content"
			}
		}
	}
	return false
}

// blocks parses a text that holds a JSON list of content blocks, which is how
// some instrumentations put them into one attribute. Any other text is itself.
func blocks(v engine.Value) engine.Value {
	t := strings.TrimLeft(v.Text(), " \t\r\n")
	if !strings.HasPrefix(t, "[{") && !strings.HasPrefix(t, `{"`) {
		return v
	}
	list, err := engine.ParseJSON(v.Text())
	if err != nil {
		return v
	}
	if list.Kind() == engine.ObjectKind {
		if _, ok := list.Get("role"); ok {
			return list
		}
		return v
	}
	for i := 0; i < list.Len(); i++ {
		p, ok := partOf(list.Index(i), nil)
		if !ok || p.Kind == OtherPart {
			return v
		}
	}
	return list
}

// partsOf reads a message's content. It answers true if nothing was recorded.
func partsOf(v engine.Value, d *Dialect) (parts []Part, uncaptured bool) {
	switch v.Kind() {
	case engine.StringKind:
		if placeholder(v.Text(), d) {
			return nil, true
		}
		return []Part{{Kind: TextPart, Text: v.Text()}}, false
	case engine.ObjectKind:
		if p, ok := partOf(v, d); ok {
			return []Part{p}, false
		}
		return nil, true
	case engine.ArrayKind:
		uncaptured = true
		for i := 0; i < v.Len(); i++ {
			p, ok := partOf(v.Index(i), d)
			if !ok {
				continue
			}
			parts = append(parts, p)
			uncaptured = false
		}
		return parts, uncaptured
	default:
		return nil, true
	}
}

// partOf reads one part. It answers false if the part's content was not
// recorded or is in no form that is known.
func partOf(v engine.Value, d *Dialect) (Part, bool) {
	if v.Kind() == engine.StringKind {
		return Part{Kind: TextPart, Text: v.Text()}, !placeholder(v.Text(), d)
	}
	if v.Kind() != engine.ObjectKind {
		return Part{}, false
	}
	kind := text(v, "type")
	if inner, ok := v.Get("message_content"); ok { // OpenInference's flattened blocks
		return partOf(inner, d)
	}
	switch kind {
	case "tool_call", "tool-call", "tool_use", "function_call", "server_tool_call", "server_tool_use", "mcp_call":
		p, ok := callOf(v, d)
		p.ServerSide = p.ServerSide || strings.HasPrefix(kind, "server_") || kind == "mcp_call"
		return p, ok
	case "tool_call_response", "tool-result", "tool_result", "function_call_output", "server_tool_call_response",
		"server_tool_result", "web_search_tool_result", "code_execution_tool_result":
		p := responseOf(v, d)
		p.ServerSide = p.ServerSide || strings.HasPrefix(kind, "server_") || strings.HasSuffix(kind, "_tool_result")
		return p, true
	case "", "text", "input_text", "output_text":
	case "reasoning", "thinking", "refusal":
		return Part{Kind: OtherPart}, true
	default:
		return Part{Kind: OtherPart}, true
	}
	if kind == "" {
		for _, k := range callWrappers {
			if inner, ok := v.Get(k); ok && inner.Kind() == engine.ObjectKind {
				return callOf(inner, d)
			}
		}
		for _, k := range replyWrappers {
			if inner, ok := v.Get(k); ok && inner.Kind() == engine.ObjectKind {
				return responseOf(inner, d), true
			}
		}
	}
	for _, k := range textKeys {
		if t, ok := v.Get(k); ok && t.Kind() == engine.StringKind {
			return Part{Kind: TextPart, Text: t.Text()}, !placeholder(t.Text(), d)
		}
	}
	return Part{}, false
}

// callOf reads a request for a tool call, whatever encloses it.
func callOf(v engine.Value, d *Dialect) (Part, bool) {
	if v.Kind() != engine.ObjectKind {
		return Part{}, false
	}
	p := Part{Kind: CallPart, CallID: callID(v)}
	for depth := 0; depth < 3; depth++ {
		if p.CallID == "" {
			p.CallID = callID(v)
		}
		inner, found := engine.Value{}, false
		for _, k := range callWrappers {
			if inner, found = v.Get(k); found && inner.Kind() == engine.ObjectKind {
				break
			}
			found = false
		}
		if !found {
			break
		}
		v = inner
	}
	p.Tool = name(v)
	for _, k := range argumentKeys {
		if a, ok := v.Get(k); ok && !a.IsNull() {
			p.Content = contentOfValue(a, d)
			break
		}
	}
	return p, p.Tool != "" || p.CallID != ""
}

func responseOf(v engine.Value, d *Dialect) Part {
	p := Part{Kind: ResponsePart, CallID: callID(v), Tool: name(v)}
	for _, k := range replyWrappers {
		if inner, ok := v.Get(k); ok && inner.Kind() == engine.ObjectKind {
			v = inner
			break
		}
	}
	for _, k := range responseKeys {
		if r, ok := v.Get(k); ok {
			p.Content = contentOfValue(r, d)
			break
		}
	}
	if failed, ok := v.Get("is_error"); ok && failed.Bool() {
		p.Failed = true
	}
	p.Failed = p.Failed || text(v, "status") == "error"
	return p
}

// holdsReplies reports whether a tool message's content is a list of replies
// that name their calls themselves.
func holdsReplies(v engine.Value) bool {
	if v.Kind() == engine.StringKind {
		v = blocks(v)
	}
	if v.Kind() != engine.ArrayKind || v.Len() == 0 {
		return false
	}
	for i := 0; i < v.Len(); i++ {
		if p, ok := partOf(v.Index(i), nil); !ok || p.Kind != ResponsePart {
			return false
		}
	}
	return true
}

func callID(v engine.Value) string {
	for _, k := range callIDKeys {
		if id := UsableID(text(v, k)); id != "" {
			return id
		}
	}
	return ""
}

func name(v engine.Value) string {
	for _, k := range toolNameKeys {
		if n := text(v, k); n != "" {
			return n
		}
	}
	return ""
}

func text(v engine.Value, key string) string {
	t, ok := v.Get(key)
	if !ok {
		return ""
	}
	return t.Text()
}

// langchain opens LangChain's serialised form of a message.
func langchain(v engine.Value) (class string, kwargs engine.Value, ok bool) {
	if text(v, "type") != "constructor" {
		return "", engine.Value{}, false
	}
	id, _ := v.Get("id")
	kwargs, _ = v.Get("kwargs")
	if id.Kind() != engine.ArrayKind || id.Len() == 0 || kwargs.Kind() != engine.ObjectKind {
		return "", engine.Value{}, false
	}
	return id.Index(id.Len() - 1).Text(), kwargs, true
}

func roleOf(s string) Role {
	switch strings.ToLower(s) {
	case "system", "developer", "systemmessage":
		return System
	case "user", "human", "humanmessage", "humanmessagechunk":
		return User
	case "assistant", "ai", "model", "agent", "aimessage", "aimessagechunk":
		return Assistant
	case "tool", "function", "toolmessage", "functionmessage":
		return ToolRole
	}
	return UnknownRole
}
