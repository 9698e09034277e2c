// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// The names of a message's fields.
var (
	RoleKeys     = []string{"role", "type", "author"}
	partsKeys    = []string{"parts", "content", "contents"}
	CallListKeys = []string{"tool_calls", "toolCalls"}
)

// messageOf reads one message. It answers false for what is no message.
func messageOf(v jsonvalue.Value, fallback Role, d *Dialect) (Message, bool) {
	if v.Kind() != jsonvalue.ObjectKind {
		return Message{}, false
	}
	m := Message{}
	if class, kwargs, ok := LangChainMessage(v); ok {
		m.Role = RoleOf(class)
		v = kwargs
	} else if data, ok := v.Get("data"); ok && data.Kind() == jsonvalue.ObjectKind && RoleOf(text(v, "type")) != UnknownRole {
		m.Role = RoleOf(text(v, "type")) // LangChain's {"type": "human", "data": {…}}
		v = data
	}
	if m.Role == UnknownRole {
		for _, k := range RoleKeys {
			if m.Role = RoleOf(text(v, k)); m.Role != UnknownRole {
				break
			}
		}
	}
	if inner, ok := v.Get("message"); ok {
		return choiceOf(v, inner, m.Role, fallback, d)
	}
	if inner, ok := v.Get("content"); ok && inner.Kind() == jsonvalue.ObjectKind && m.Role == UnknownRole {
		if _, ok := inner.Get("parts"); ok { // a Gemini response around its content
			return messageOf(inner, fallback, d)
		}
	}
	if m.Role == UnknownRole {
		if m.Role = fallback; !messageShaped(v) && fallback != ToolRole {
			return Message{}, false
		}
	}
	m.read(v, d)
	return m, true
}

// choiceOf reads a message that stands inside a choice, or in a flattened list's
// extra level. Calls may stand beside it.
func choiceOf(v, inner jsonvalue.Value, role, fallback Role, d *Dialect) (Message, bool) {
	if role == UnknownRole {
		role = fallback
	}
	if inner.Kind() == jsonvalue.StringKind {
		inner = blocks(inner)
	}
	m := Message{Role: role}
	if inner.Kind() == jsonvalue.ObjectKind {
		var ok bool
		if m, ok = messageOf(inner, role, d); !ok {
			m = Message{Role: role, Uncaptured: true}
		}
	} else {
		m.Parts, m.Uncaptured = partsOf(inner, d)
	}
	m.addCalls(v, d)
	return m, true
}

// read fills a message with what an object says.
func (m *Message) read(v jsonvalue.Value, d *Dialect) {
	m.Uncaptured = true
	for _, k := range partsKeys {
		content, ok := v.Get(k)
		if !ok {
			continue
		}
		if m.Role == ToolRole && k != "parts" && !HoldsReplies(content, d) {
			// An answer whose message is the envelope: OpenAI, LangChain.
			m.Parts = []Part{{
				Kind: ResponsePart, CallID: callID(v), Tool: name(v),
				Content: contentOfValue(content, d), Failed: text(v, "status") == "error",
			}}
			m.Uncaptured = false
			return
		}
		if content.Kind() == jsonvalue.StringKind {
			content = blocks(content)
		}
		m.Parts, m.Uncaptured = partsOf(content, d)
		break
	}
	if m.Role == ToolRole && len(m.Parts) == 0 {
		m.Parts = []Part{{Kind: ResponsePart, CallID: callID(v), Tool: name(v)}}
		m.Uncaptured = false
		return
	}
	if len(m.Parts) == 0 {
		// Only a text, or a refusal in its place.
		for _, k := range [...]string{"text", "refusal"} {
			t, ok := v.Get(k)
			if said := t.Text(); ok && t.Kind() == jsonvalue.StringKind && !placeholder(said, d) {
				m.Parts, m.Uncaptured = append(m.Parts, Part{Kind: TextPart, Text: said}), false
				break
			}
		}
	}
	m.addCalls(v, d)
	m.dropNull()
}

// addCalls adds the calls that stand beside a message's content.
func (m *Message) addCalls(v jsonvalue.Value, d *Dialect) {
	for _, k := range CallListKeys {
		calls, ok := v.Get(k)
		if !ok {
			continue
		}
		if calls.Kind() == jsonvalue.StringKind {
			if parsed, err := jsonvalue.Parse(calls.Text()); err == nil {
				calls = parsed
			}
		}
		known := len(m.Parts)
		for _, call := range elements(calls) {
			if call.Kind() == jsonvalue.StringKind && LooksLikeJSON(call.Text()) { // a list of JSON texts
				if parsed, err := jsonvalue.Parse(call.Text()); err == nil {
					call = parsed
				}
			}
			if p, ok := callOf(call, d); ok && !m.asks(p.CallID, known) {
				m.Parts = append(m.Parts, p)
				m.Uncaptured = false
			}
		}
		if len(m.Parts) > known {
			return
		}
	}
}

// asks reports whether one of the first parts asks for the same call: some
// serialised messages list their calls twice.
func (m *Message) asks(id string, first int) bool {
	for i := range m.Parts[:first] {
		if p := &m.Parts[i]; p.Kind == CallPart && id != "" && p.CallID == id {
			return true
		}
	}
	return false
}

// dropNull removes the text "null", which some instrumentations write for an
// answer that only asks for calls.
func (m *Message) dropNull() {
	if m.Role != Assistant || len(m.Parts) == 0 || m.Parts[0].Kind != TextPart || m.Parts[0].Text != "null" {
		return
	}
	if m.Parts[0] = (Part{Kind: OtherPart}); len(m.Parts) > 1 {
		m.Parts = m.Parts[1:]
	}
}

// messageShaped reports whether an object without a role can be a message.
func messageShaped(v jsonvalue.Value) bool {
	for _, keys := range [][]string{partsKeys, CallListKeys} {
		for _, k := range keys {
			if content, ok := v.Get(k); ok && (k != "content" || content.Kind() != jsonvalue.ObjectKind) {
				return text(v, "type") == "" || k != "content"
			}
		}
	}
	return false
}

// blocks parses a text that holds a JSON list of content blocks, which is how
// some instrumentations put them into one attribute. Any other text is itself.
func blocks(v jsonvalue.Value) jsonvalue.Value {
	said := v.Text()
	if v = jsonvalue.String(said); !LooksLikeJSON(said) { // it is asked for its text again
		return v
	}
	list, err := jsonvalue.Parse(said)
	if err != nil {
		return v
	}
	if list.Kind() == jsonvalue.ObjectKind {
		if _, ok := list.Get("role"); ok {
			return list
		}
		return v
	}
	for _, e := range elements(list) {
		p, ok := partOf(e, nil)
		if !ok || p.Kind == OtherPart || p.Kind == TextPart && text(e, "type") == "" && e.Len() != 1 {
			return v
		}
	}
	return list
}

// HoldsReplies reports whether a tool message's content is a list of replies
// that name their calls themselves.
func HoldsReplies(v jsonvalue.Value, d *Dialect) bool {
	if v.Kind() == jsonvalue.StringKind {
		v = blocks(v)
	}
	if v.Kind() != jsonvalue.ArrayKind || v.Len() == 0 {
		return false
	}
	replies := false
	for i := 0; i < v.Len(); i++ {
		p, ok := partOf(v.Index(i), d)
		if !ok || p.Kind != ResponsePart && p.Kind != OtherPart { // what was approved may be beside them
			return false
		}
		replies = replies || p.Kind == ResponsePart
	}
	return replies
}

// LangChainMessage opens LangChain's serialised form of a message.
func LangChainMessage(v jsonvalue.Value) (class string, kwargs jsonvalue.Value, ok bool) {
	id, found := v.Get("id")
	kwargs, _ = v.Get("kwargs")
	if !found || text(v, "type") != "constructor" {
		// JSON.stringify of a message that does not say how it is serialised.
		id, _ = v.Get("lc_namespace")
		if kwargs, found = v.Get("lc_kwargs"); !found {
			return "", jsonvalue.Value{}, false
		}
		return text(v, "type"), kwargs, kwargs.Kind() == jsonvalue.ObjectKind && id.Kind() == jsonvalue.ArrayKind
	}
	if id.Kind() != jsonvalue.ArrayKind || id.Len() == 0 || kwargs.Kind() != jsonvalue.ObjectKind {
		return "", jsonvalue.Value{}, false
	}
	return id.Index(id.Len() - 1).Text(), kwargs, true
}

// RoleOf returns the role that a name stands for in any dialect, [UnknownRole] if it
// is none.
func RoleOf(s string) Role {
	switch strings.ToLower(s) {
	case "system", "developer", "systemmessage":
		return System
	case "user", "human", "humanmessage", "humanmessagechunk":
		return User
	case "assistant", "ai", "model", "agent", "aimessage", "aimessagechunk":
		return Assistant
	case "tool", "function", "toolmessage", "toolmessagechunk", "functionmessage":
		return ToolRole
	}
	return UnknownRole
}
