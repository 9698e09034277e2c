// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// Message lists come in a handful of shapes: the GenAI conventions' parts,
// OpenAI's and Anthropic's requests, Gemini's contents, the AI SDK's, Bedrock's
// blocks, LangChain's serialised messages. They differ in the names of the same
// few fields, so one reader with lists of names serves them all: this file reads
// lists, message.go one message, part.go what a message consists of.

// listKeys hold the list in an object around it.
var listKeys = []string{"messages", "contents", "candidates", "choices", "generations", "input", "output"}

// messages adds the message lists that one dialect records and no earlier one
// did.
func (d *Decoder) messages(s *Span, r *row, dialect *Dialect, span ptrace.Span) {
	if !s.Input.Recorded && !s.Output.Recorded {
		s.Input, s.Output = d.exchange(r, dialect)
	}
	if !s.Input.Recorded {
		s.Input = d.messageList(r.input, r.InputPrefix, r.InputEvents, User, dialect, span)
	}
	if !s.Input.Recorded {
		s.Input = d.transcript(r, dialect)
	}
	if !s.Output.Recorded {
		s.Output = d.messageList(r.output, r.OutputPrefix, r.OutputEvents, Assistant, dialect, span)
	}
	if !s.Output.Recorded {
		s.Output = d.answer(r, dialect)
	}
}

// exchange reads a list that holds the request and the answer.
func (d *Decoder) exchange(r *row, dialect *Dialect) (input, output Messages) {
	for _, a := range r.exchange {
		if !d.have[a] {
			continue
		}
		all := valueOfList(d.value[a])
		if all.Kind() != jsonvalue.ArrayKind {
			continue
		}
		var asked, chosen []jsonvalue.Value
		for i := 0; i < all.Len(); i++ {
			if e := all.Index(i); text(e, "event.name") == "gen_ai.choice" {
				chosen = append(chosen, e)
			} else {
				asked = append(asked, e)
			}
		}
		if len(chosen) == 0 { // the answer is what the assistant says last
			n := len(asked)
			for n > 0 && RoleOf(text(asked[n-1], "role")) == Assistant {
				n--
			}
			asked, chosen = asked[:n], asked[n:]
		}
		return messagesOf(jsonvalue.Array(asked...), User, dialect), messagesOf(jsonvalue.Array(chosen...), Assistant, dialect)
	}
	return Messages{}, Messages{}
}

func valueOfList(v pcommon.Value) jsonvalue.Value {
	list := ValueOf(v)
	if list.Kind() == jsonvalue.StringKind {
		if parsed, err := jsonvalue.Parse(list.Text()); err == nil {
			list = parsed
		}
	}
	return list
}

// answer reads an answer whose text and calls stand apart.
func (d *Decoder) answer(r *row, dialect *Dialect) Messages {
	m := Message{Role: Assistant}
	recorded := false
	for i := range r.outputText {
		if d.have[r.outputText[i].attr] {
			recorded = true
			m.Parts = append(m.Parts, Part{Kind: TextPart, Text: d.textAt(&r.outputText[i])})
			break
		}
	}
	for i := range r.outputCalls {
		if !d.have[r.outputCalls[i].attr] {
			continue
		}
		recorded = true
		calls := d.contentAt(&r.outputCalls[i], dialect).Value
		if calls.Kind() == jsonvalue.StringKind {
			parsed, err := jsonvalue.Parse(calls.Text())
			if err != nil {
				return Messages{Recorded: true, Broken: true}
			}
			calls = parsed
		}
		for _, call := range elements(calls) {
			if p, ok := callOf(call, dialect); ok {
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

// elements returns the elements of an array; any other value but null is one.
func elements(v jsonvalue.Value) []jsonvalue.Value {
	switch v.Kind() {
	case jsonvalue.ArrayKind:
		out := make([]jsonvalue.Value, v.Len())
		for i := range out {
			out[i] = v.Index(i)
		}
		return out
	case jsonvalue.NullKind:
		return nil
	default:
		return []jsonvalue.Value{v}
	}
}

func (d *Decoder) messageList(list []source, prefixes []string, events []EventAttribute, role Role, dialect *Dialect, span ptrace.Span) Messages {
	for _, p := range prefixes {
		if v, ok := d.unflatten(p + "."); ok {
			return messagesOf(v, role, dialect)
		}
	}
	for i := range list {
		s := &list[i]
		if !d.have[s.attr] {
			continue
		}
		var m Messages
		if s.whole() {
			m = readMessages(d.value[s.attr], role, dialect, &d.histories)
		} else if v, ok, cut := d.at(s); cut {
			m = Messages{Recorded: true, Broken: true}
		} else if ok {
			m = messagesOf(v, role, dialect)
		}
		if m.Recorded {
			return m
		}
	}
	return eventMessages(events, role, dialect, span)
}

// readMessages reads a list from an attribute: structured, JSON, or plain text,
// which is one message. Most of a JSON list may be in the histories, which may be
// nil.
func readMessages(v pcommon.Value, role Role, d *Dialect, h *histories) Messages {
	var text string
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return Messages{}
	case pcommon.ValueTypeSlice, pcommon.ValueTypeMap:
		return messagesOf(ValueOf(v), role, d)
	case pcommon.ValueTypeBytes:
		text = string(v.Bytes().AsRaw())
	default:
		text = v.AsString()
	}
	if placeholder(text, d) {
		return Messages{Recorded: true, List: []Message{{Role: role, Uncaptured: true}}}
	}
	switch strings.TrimSpace(text) {
	case "", "null", `""`: // nobody says nothing
		return Messages{}
	}
	if LooksLikeJSON(text) {
		if list, ok := h.read(text, role, d); ok {
			return Messages{Recorded: true, List: list}
		}
		value, err := jsonvalue.Parse(text)
		if err == nil {
			return h.readWhole(value, text, role, d)
		}
		if jsonPrefix(text) != jsonWrong || brokenOff(text) {
			return Messages{Recorded: true, Broken: true}
		}
	}
	return messagesOf(jsonvalue.String(text), role, d)
}

// LooksLikeJSON reports whether text begins like a JSON array or object.
func LooksLikeJSON(text string) bool {
	t := strings.TrimLeft(text, " \t\r\n")
	return t != "" && (t[0] == '[' || t[0] == '{')
}

// messagesOf reads a list of messages, or what stands for one.
func messagesOf(v jsonvalue.Value, role Role, d *Dialect) Messages {
	switch v.Kind() {
	case jsonvalue.NullKind:
		return Messages{}
	case jsonvalue.StringKind:
		m := Message{Role: role}
		m.Parts, m.Uncaptured = partsOf(v, d)
		return Messages{Recorded: true, List: []Message{m}}
	case jsonvalue.ObjectKind:
		for _, k := range listKeys {
			if inner, ok := v.Get(k); ok && inner.Kind() == jsonvalue.ArrayKind {
				return messagesOf(inner, role, d)
			}
		}
		if m, ok := messageOf(v, role, d); ok {
			return Messages{Recorded: true, List: []Message{m}}
		}
		if prompt := text(v, "prompt"); prompt != "" { // the AI SDK's {"system": …, "prompt": …}
			return messagesOf(jsonvalue.String(prompt), role, d)
		}
		if list, _, ok := looseMessages(jsonvalue.Array(v), role, d); ok {
			return Messages{Recorded: true, List: list}
		}
		return Messages{Recorded: true, Broken: true}
	case jsonvalue.ArrayKind:
		// A batch of one list ([[…]]) is the list.
		for v.Len() == 1 && v.Index(0).Kind() == jsonvalue.ArrayKind {
			v = v.Index(0)
		}
		list, _, ok := looseMessages(v, role, d)
		return Messages{Recorded: true, Broken: !ok, List: list}
	default:
		return Messages{Recorded: true, Broken: true}
	}
}

// listed returns the answers in a response of Gemini's, of which there is a list
// where they were streamed.
func listed(v jsonvalue.Value) (jsonvalue.Value, bool) {
	inner, ok := v.Get("candidates")
	return inner, ok && inner.Kind() == jsonvalue.ArrayKind
}

// looseMessages reads a list whose elements are messages, or parts that stand
// outside any: OpenAI's Responses API puts calls and results between the
// messages. A call is then its asker's message, a result a tool's. It answers
// false if an element is neither, and whether a further element could belong to
// the last message.
func looseMessages(v jsonvalue.Value, role Role, d *Dialect) (list []Message, isOpen, ok bool) {
	list = make([]Message, 0, v.Len())
	ok = true
	open := -1 // the message that loose text is added to
	for i := 0; i < v.Len(); i++ {
		e := v.Index(i)
		if m, isMessage := messageOf(e, role, d); isMessage {
			list, open = append(list, m), -1
			continue
		}
		if inner, several := listed(e); several {
			more, _, good := looseMessages(inner, role, d)
			list, open, ok = append(list, more...), -1, ok && good
			continue
		}
		parts, isPart := partsAt(nil, e, d)
		if !isPart {
			ok = false
			continue
		}
		m := Message{Role: role, Parts: parts}
		switch {
		case slices.ContainsFunc(parts, func(p Part) bool { return p.Kind == CallPart }):
			m.Role = Assistant
		case slices.ContainsFunc(parts, func(p Part) bool { return p.Kind == ResponsePart }):
			m.Role = ToolRole
		case text(e, "type") == "reasoning":
			m.Role = Assistant
		case open >= 0:
			list[open].Parts = append(list[open].Parts, parts...)
			continue
		default:
			open = len(list)
			list = append(list, m)
			continue
		}
		list, open = append(list, m), -1
	}
	return list, open >= 0, ok
}
