// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package redact removes content from spans: tool results and, if asked for, arguments,
// in whatever attribute, event or message part they are. It uses the dialects of package
// genai and looks further: decoding takes a fact from the first location that has it,
// and redaction edits all of them, on spans of every kind, since spans of chains repeat
// the messages of their models.
package redact

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// Redactor edits spans. One goroutine uses it at a time.
type Redactor struct {
	options       genai.Options
	decoder       *genai.Decoder
	replace       Replace
	withArguments bool

	results, arguments map[string]genai.DialectSet // attributes that hold one on a tool span, and the dialects that the span has to be of
	transcripts        map[string]*genai.Transcript
	messages           map[string]bool // attributes that may hold messages on any span
	callLists          map[string]bool // attributes that hold a list of calls
	events             map[string][]eventLocation
}

// Replace returns the replacement for a piece of content; false removes it. The content
// is without the wrappers that frameworks put around it, and parsed if it is JSON.
type Replace func(content jsonvalue.Value) (string, bool)

// eventLocation is where an event holds content.
type eventLocation struct {
	key  string // "" for the event itself
	role genai.Role
	kind kind
}

// kind is the kind of content at a location.
type kind uint8

const (
	messages  kind = iota
	result         // on a tool span
	arguments      // on a tool span
)

// New returns a redactor for the dialects that a decoder with these options reads.
// Arguments are kept unless withArguments is set.
func New(o genai.Options, replace Replace, withArguments bool) *Redactor {
	r := &Redactor{
		options: o, decoder: genai.NewDecoder(o), replace: replace, withArguments: withArguments,
		results: map[string]genai.DialectSet{}, arguments: map[string]genai.DialectSet{}, transcripts: map[string]*genai.Transcript{},
		messages: map[string]bool{}, callLists: map[string]bool{},
		events: map[string][]eventLocation{},
	}
	shared := map[string]bool{} // of messages, on tool spans of other dialects, too
	add(shared, genai.Builtin[0].Input)
	add(shared, genai.Builtin[0].Output)
	for i, d := range r.decoder.Dialects() {
		addContent(r.results, d.Result, shared, genai.NewDialectSet(i))
		addContent(r.arguments, d.Arguments, shared, genai.NewDialectSet(i))
		for _, list := range [][]genai.Source{d.Result, d.Arguments, d.Input, d.Output, d.OutputCalls} {
			add(r.messages, list)
		}
		for _, name := range d.Exchange {
			r.messages[name] = true
		}
		for n := range d.Transcript {
			t := &d.Transcript[n]
			r.messages[t.Attribute], r.transcripts[t.Attribute] = true, t
		}
		add(r.callLists, d.OutputCalls)
		for _, e := range d.EventResult {
			r.events[e.Event] = append(r.events[e.Event], eventLocation{key: e.Key, kind: result})
		}
		for _, e := range d.EventArguments {
			r.events[e.Event] = append(r.events[e.Event], eventLocation{key: e.Key, kind: arguments})
		}
		for _, list := range [][]genai.EventAttribute{d.InputEvents, d.OutputEvents} {
			for _, e := range list {
				r.events[e.Event] = append(r.events[e.Event], eventLocation{key: e.Key, role: e.Role})
			}
		}
	}
	return r
}

func add(set map[string]bool, list []genai.Source) {
	for _, s := range list {
		set[s.Attribute] = true
	}
}

// addContent adds attributes that hold content. One of which only a part does, or that
// holds messages elsewhere, may be anything else on spans of other dialects.
func addContent(set map[string]genai.DialectSet, list []genai.Source, shared map[string]bool, dialect genai.DialectSet) {
	for _, s := range list {
		if s.Path != "" || shared[s.Attribute] {
			set[s.Attribute] = set[s.Attribute].Union(dialect)
		} else {
			set[s.Attribute] = genai.DialectSet{^uint64(0), ^uint64(0)}
		}
	}
}

// Redact edits one span in place. If redaction panics, every attribute and event that
// may hold content is removed.
func (r *Redactor) Redact(resource pcommon.Resource, scope pcommon.InstrumentationScope, span ptrace.Span) {
	defer func() {
		if recover() != nil {
			r.strip(span)
			r.decoder = genai.NewDecoder(r.options)
		}
	}()
	var s genai.Span
	r.decoder.Decode(&s, resource, scope, span)
	tool := s.Kind == genai.Tool
	r.attributes(span.Attributes(), tool, s.Dialects())
	for _, event := range span.Events().All() {
		r.event(event, tool)
	}
}

// strip removes every attribute and event that may hold content.
func (r *Redactor) strip(span ptrace.Span) {
	span.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool {
		return r.messages[key] || r.decoder.FlatPrefix(key) != ""
	})
	span.Events().RemoveIf(func(e ptrace.SpanEvent) bool { return r.events[e.Name()] != nil })
}

func (r *Redactor) attributes(m pcommon.Map, tool bool, dialects genai.DialectSet) {
	flat := r.flatFields(m)
	m.RemoveIf(func(key string, v pcommon.Value) bool {
		switch {
		case tool && r.results[key].Meets(dialects):
			return r.whole(v, result)
		case tool && r.arguments[key].Meets(dialects):
			return r.withArguments && r.whole(v, arguments)
		case r.transcripts[key] != nil && v.Type() == pcommon.ValueTypeStr:
			v.SetStr(r.transcripts[key].EditAnswers(v.Str(), func(answer string) string {
				text, _ := r.replacement(jsonvalue.String(answer), result)
				return text
			}))
		case r.decoder.HoldsArgument(key):
			return r.withArguments && r.whole(v, arguments)
		case r.callLists[key]:
			r.callList(v)
		case r.decoder.FlatPrefix(key) != "":
			switch flat[key] {
			case result:
				return r.whole(v, result)
			case arguments:
				return r.withArguments && r.whole(v, arguments)
			default:
				r.list(v, genai.UnknownRole)
			}
		default:
			// An attribute that no dialect reads may repeat messages, too.
			r.list(v, genai.UnknownRole)
		}
		return false
	})
}

// callList edits an attribute that is a list of calls.
func (r *Redactor) callList(v pcommon.Value) {
	list := contentValue(v)
	edited, changed := r.calls(list, 0)
	switch {
	case !changed:
	case list.Kind() == jsonvalue.StringKind:
		v.SetStr(edited.Text())
	default:
		setValue(v, edited)
	}
}

// whole replaces a value that is content as a whole, and reports whether it is to be
// removed.
func (r *Redactor) whole(v pcommon.Value, k kind) (remove bool) {
	if v.Type() == pcommon.ValueTypeEmpty {
		return false
	}
	text, keep := r.replacement(contentValue(v), k)
	if keep {
		v.SetStr(text)
	}
	return !keep
}

// contentValue converts an attribute's value. Bytes become a string.
func contentValue(v pcommon.Value) jsonvalue.Value {
	if c := genai.ContentOf(v, nil); c.Captured() {
		return c.Value
	}
	return genai.ValueOf(v)
}

// replacement returns the replacement for content, without its wrappers.
func (r *Redactor) replacement(v jsonvalue.Value, k kind) (string, bool) {
	if k == arguments {
		if parsed, ok := genai.ParseArguments(v, 2); ok {
			v = parsed
		}
		return r.replace(v)
	}
	c := genai.Content{Form: genai.Structured, Value: v}
	if v.Kind() == jsonvalue.StringKind {
		c.Form = genai.Text
	}
	if opened := c.Result(); opened.State == genai.Captured {
		v = opened.Value
	}
	return r.replace(v)
}

// list edits an attribute that may hold messages: structured, or as JSON.
func (r *Redactor) list(v pcommon.Value, role genai.Role) {
	switch v.Type() {
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		if edited, changed := r.value(genai.ValueOf(v), role, 0); changed {
			setValue(v, edited)
		}
	case pcommon.ValueTypeStr:
		if text, changed := r.text(v.Str(), role, 0); changed {
			v.SetStr(text)
		}
	case pcommon.ValueTypeBytes:
		if text, changed := r.text(string(v.Bytes().AsRaw()), role, 0); changed {
			v.SetStr(text)
		}
	}
}

// event edits a span event: one of its attributes, or all of them as the fields of one
// message.
func (r *Redactor) event(event ptrace.SpanEvent, tool bool) {
	a := event.Attributes()
	for _, l := range r.events[event.Name()] {
		switch {
		case l.kind != messages:
			if v, ok := a.Get(l.key); ok && tool && (l.kind == result || r.withArguments) && r.whole(v, l.kind) {
				a.Remove(l.key)
			}
		case l.key != "":
			if v, ok := a.Get(l.key); ok {
				r.list(v, genai.UnknownRole)
			}
		case !tool:
			r.eventMessage(a, l.role)
		}
	}
}

// eventMessage edits an event that is a message.
func (r *Redactor) eventMessage(a pcommon.Map, role genai.Role) {
	if own, ok := a.Get("role"); ok && genai.RoleOf(own.AsString()) != genai.UnknownRole {
		role = genai.RoleOf(own.AsString())
	}
	message := objectOf(jsonvalue.Null(), role)
	a.RemoveIf(func(key string, v pcommon.Value) bool {
		if key == genai.EventContent {
			if role == genai.ToolRole && (v.Type() != pcommon.ValueTypeStr || !genai.LooksLikeJSON(v.Str())) && v.Type() != pcommon.ValueTypeMap {
				return r.whole(v, result)
			}
			r.list(v, role)
			return false
		}
		edited, keep, changed := r.member(message, key, genai.ValueOf(v), 0)
		if changed && keep {
			setValue(v, edited)
		}
		return !keep
	})
}
