// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// Redactor takes content out of spans: tool results, and arguments where that is
// asked for, in whatever attribute, event or message part they stand. It goes by
// the same table of dialects as the decoder, and looks further: where decoding
// takes a fact from the first place that has it, redacting looks at them all,
// and at spans of every kind, since chains repeat what their models were shown.
//
// One goroutine uses it at a time.
type Redactor struct {
	decoder *Decoder
	replace Replace

	results, arguments map[string]bool // attributes that hold one on a tool's span
	messages           map[string]bool // attributes that may hold messages on any span
	callLists          map[string]bool // attributes that hold a list of calls
	events             map[string][]eventPlace
	withArguments      bool
}

// Replace says what stands in place of a piece of content; false removes it. It
// is given the content as data: without the wrappers that frameworks put around
// a result, and parsed if it is JSON.
type Replace func(content jsonvalue.Value) (string, bool)

// eventPlace is where an event holds content.
type eventPlace struct {
	key  string // "" for the event itself
	role Role
	what what
}

// what a place holds.
type what uint8

const (
	someMessages what = iota
	aResult           // on a tool's span
	theArguments      // on a tool's span
)

// NewRedactor returns a redactor for the dialects that a decoder would read.
// Arguments are left where they are unless withArguments is set.
func NewRedactor(o Options, replace Replace, withArguments bool) *Redactor {
	r := &Redactor{
		decoder: NewDecoder(o), replace: replace, withArguments: withArguments,
		results: map[string]bool{}, arguments: map[string]bool{}, messages: map[string]bool{}, callLists: map[string]bool{},
		events: map[string][]eventPlace{},
	}
	for i := range r.decoder.rows {
		d := r.decoder.rows[i].Dialect
		note(r.results, d.Result)
		note(r.arguments, d.Arguments)
		for _, names := range [][]string{d.Result, d.Arguments, d.Input, d.Output, d.Exchange, d.OutputCalls} {
			note(r.messages, names)
		}
		note(r.callLists, d.OutputCalls)
		for _, e := range d.EventResult {
			r.events[e.Event] = append(r.events[e.Event], eventPlace{key: e.Key, what: aResult})
		}
		for _, e := range d.EventArguments {
			r.events[e.Event] = append(r.events[e.Event], eventPlace{key: e.Key, what: theArguments})
		}
		for _, e := range append(append([]EventAttribute{}, d.InputEvents...), d.OutputEvents...) {
			r.events[e.Event] = append(r.events[e.Event], eventPlace{key: e.Key, role: e.Role})
		}
	}
	return r
}

func note(set map[string]bool, names []string) {
	for _, name := range names {
		set[name] = true
	}
}

// Redact edits one span in place. What cannot be edited because a mistake is met
// is removed: no content stays for that reason.
func (r *Redactor) Redact(resource pcommon.Resource, scope pcommon.InstrumentationScope, span ptrace.Span) {
	defer func() {
		if recover() != nil {
			r.strip(span)
			r.decoder.reset()
		}
	}()
	var s Span
	r.decoder.Decode(&s, resource, scope, span)
	tool := s.Kind == Tool
	r.attributes(span.Attributes(), tool)
	for _, event := range span.Events().All() {
		r.event(event, tool)
	}
}

// strip removes every attribute and event that may hold content.
func (r *Redactor) strip(span ptrace.Span) {
	span.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool {
		return r.messages[key] || r.decoder.prefix(key) != ""
	})
	span.Events().RemoveIf(func(e ptrace.SpanEvent) bool { return r.events[e.Name()] != nil })
}

func (r *Redactor) attributes(m pcommon.Map, tool bool) {
	flat := r.flatPlaces(m)
	m.RemoveIf(func(key string, v pcommon.Value) bool {
		switch {
		case tool && r.results[key]:
			return r.whole(v, true)
		case tool && r.arguments[key]:
			return r.withArguments && r.whole(v, false)
		case r.callLists[key]:
			r.callList(v)
		case r.decoder.prefix(key) != "":
			switch flat[key] {
			case flatResult:
				return r.whole(v, true)
			case flatArguments:
				return r.withArguments && r.whole(v, false)
			case flatMessage:
				r.list(v, UnknownRole)
			}
		default:
			// Also an attribute that no dialect reads may repeat messages.
			r.list(v, UnknownRole)
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

// whole replaces a value that is content as a whole, and reports whether it is
// to be removed.
func (r *Redactor) whole(v pcommon.Value, result bool) (remove bool) {
	if v.Type() == pcommon.ValueTypeEmpty {
		return false
	}
	text, keep := r.instead(contentValue(v), result)
	if keep {
		v.SetStr(text)
	}
	return !keep
}

// contentValue is a value with bytes and text alike as text.
func contentValue(v pcommon.Value) jsonvalue.Value {
	if c := contentOf(v, nil); c.Captured() {
		return c.Value
	}
	return ValueOf(v)
}

// instead returns what stands in place of content.
func (r *Redactor) instead(v jsonvalue.Value, result bool) (string, bool) {
	if !result {
		if arguments, ok := argumentsOf(v, 2); ok {
			v = arguments
		}
		return r.replace(v)
	}
	c := Content{Form: Structured, Value: v}
	if v.Kind() == jsonvalue.StringKind {
		c.Form = Text
	}
	if opened := c.Result(); opened.State == Captured {
		v = opened.Value
	}
	return r.replace(v)
}

// list edits an attribute that may hold messages: structured, or as JSON text.
// Text that begins like JSON and cannot be read might hold anything, and goes.
func (r *Redactor) list(v pcommon.Value, role Role) {
	switch v.Type() {
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		if edited, changed := r.value(ValueOf(v), role, 0); changed {
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

// maxRedactDepth bounds the nesting that is followed. What lies deeper is taken
// as content.
const maxRedactDepth = 64

// text edits JSON in a text.
func (r *Redactor) text(s string, role Role, depth int) (string, bool) {
	if !looksJSON(s) {
		return s, false
	}
	v, err := jsonvalue.Parse(s)
	if err != nil {
		if jsonPrefix(s) == jsonWrong && !brokenOff(s) {
			return s, false // it is no JSON
		}
		text, _ := r.replace(jsonvalue.String(s))
		return text, true
	}
	edited, changed := r.value(v, role, depth+1)
	if !changed {
		return s, false
	}
	return string(appendJSON(nil, edited)), true
}

// value edits a message, a part, or a list of them. role is that of the message
// around it.
func (r *Redactor) value(v jsonvalue.Value, role Role, depth int) (jsonvalue.Value, bool) {
	switch {
	case depth > maxRedactDepth:
		return jsonvalue.Null(), true
	case v.Kind() == jsonvalue.StringKind:
		text, changed := r.text(v.Text(), role, depth)
		return jsonvalue.String(text), changed
	case v.Kind() == jsonvalue.ArrayKind:
		return r.array(v, role, depth)
	case v.Kind() == jsonvalue.ObjectKind:
		return r.object(v, role, shape{}, depth)
	}
	return v, false
}

func (r *Redactor) array(v jsonvalue.Value, role Role, depth int) (jsonvalue.Value, bool) {
	elems := make([]jsonvalue.Value, v.Len())
	changed := false
	for i := range elems {
		edited, is := r.value(v.Index(i), role, depth+1)
		elems[i], changed = edited, changed || is
	}
	return jsonvalue.Array(elems...), changed
}

// shape is what an object is to a tool call.
type shape struct {
	reply, call bool
	named       bool   // it has a call's id
	provider    string // the key of a provider's own result
}

var (
	callTypes = []string{"tool_call", "tool-call", "tool_use", "toolUse", "function_call", "functionCall", "server_tool_call", "server_tool_use", "mcp_tool_use"}
	// resultKeys hold what a tool returned in a reply.
	resultKeys = append(append([]string{}, responseKeys...), "text", "structuredContent", "error", "artifact", "results", "outputs")
	// askedKeys hold what a tool was asked, in a call or beside its result.
	askedKeys = append(append([]string{}, argumentKeys...), "toolInput", "toolArgs", "tool_input", "tool_args")
	// returnedKeys hold what a tool returned beside the call's id.
	returnedKeys = []string{"result", "output", "response", "toolOutput", "toolResult", "tool_output"}
	// ranArguments hold what a tool that the provider ran was asked.
	ranArguments = []string{"arguments", "action", "queries", "code"}
)

// replyType reports whether a part's type is one of those that answer a call, or
// sounds like one.
func replyType(kind string) bool {
	for _, end := range [...]string{"result", "Result", "response", "Response", "_output", "tool-error"} {
		if strings.HasSuffix(kind, end) {
			return true
		}
	}
	return false
}

func shapeOf(v jsonvalue.Value, role Role) (s shape) {
	kind := text(v, "type")
	s.reply = role == ToolRole || replyType(kind)
	s.call = slices.Contains(callTypes, kind)
	for _, key := range [...]string{"toolCallId", "tool_call_id", "toolUseId", "tool_use_id"} {
		if _, ok := v.Get(key); ok {
			s.named = true
		}
	}
	if key, ok := providerResults[kind]; ok {
		s.provider = key
	}
	return s
}

// object edits the members of an object that hold content and follows the
// others. known is what its surroundings say that it is.
func (r *Redactor) object(v jsonvalue.Value, role Role, known shape, depth int) (jsonvalue.Value, bool) {
	if class, _, ok := langchain(v); ok {
		role = roleOf(class)
	} else {
		for _, k := range roleKeys {
			if own := roleOf(text(v, k)); own != UnknownRole {
				role = own
				break
			}
		}
	}
	s := shapeOf(v, role)
	s.reply, s.call = s.reply || known.reply, s.call || known.call

	members := make([]jsonvalue.Member, 0, v.Len())
	changed := false
	for i := range v.Len() {
		key, inner := v.Member(i)
		edited, keep, is := r.member(key, inner, role, s, depth+1)
		changed = changed || is
		if keep {
			members = append(members, jsonvalue.Member{Key: key, Value: edited})
		}
	}
	if !changed {
		return v, false
	}
	return jsonvalue.Object(members...), true
}

// member edits one member of an object.
func (r *Redactor) member(key string, v jsonvalue.Value, role Role, s shape, depth int) (edited jsonvalue.Value, keep, changed bool) {
	if v.IsNull() || v.Kind() == jsonvalue.BoolKind && key != "content" {
		return v, true, false
	}
	container := v.Kind() == jsonvalue.ObjectKind || v.Kind() == jsonvalue.ArrayKind
	switch {
	case s.reply && slices.Contains(resultKeys, key), s.named && slices.Contains(returnedKeys, key), s.provider != "" && (key == s.provider || key == "error"):
		if role == ToolRole && repliesNamed(v) {
			break // the parts name their calls themselves
		}
		return r.content(v, true)
	case slices.Contains(replyWrappers, key):
		if v.Kind() != jsonvalue.ObjectKind {
			return r.content(v, true)
		}
		edited, changed = r.object(v, UnknownRole, shape{reply: true}, depth)
		return edited, true, changed
	case (s.call || s.reply || s.named) && slices.Contains(askedKeys, key), s.provider != "" && slices.Contains(ranArguments, key):
		if !r.withArguments || isSchema(v) {
			return v, true, false
		}
		return r.content(v, false)
	case slices.Contains(callWrappers, key) && v.Kind() == jsonvalue.ObjectKind:
		edited, changed = r.object(v, UnknownRole, shape{call: true}, depth)
		return edited, true, changed
	case slices.Contains(callsKeys, key):
		edited, changed = r.calls(v, depth)
		return edited, true, changed
	}
	if container || v.Kind() == jsonvalue.StringKind {
		edited, changed = r.value(v, role, depth)
		return edited, true, changed
	}
	return v, true, false
}

// calls edits a list of calls that stands beside a message's content.
func (r *Redactor) calls(v jsonvalue.Value, depth int) (jsonvalue.Value, bool) {
	if v.Kind() == jsonvalue.StringKind {
		parsed, err := jsonvalue.Parse(v.Text())
		if err != nil {
			return v, false
		}
		edited, changed := r.calls(parsed, depth)
		if !changed {
			return v, false
		}
		return jsonvalue.String(string(appendJSON(nil, edited))), true
	}
	if v.Kind() != jsonvalue.ArrayKind {
		return r.value(v, UnknownRole, depth)
	}
	elems := make([]jsonvalue.Value, v.Len())
	changed := false
	for i := range elems {
		elems[i] = v.Index(i)
		if elems[i].Kind() == jsonvalue.ObjectKind {
			edited, is := r.object(elems[i], UnknownRole, shape{call: true}, depth+1)
			elems[i], changed = edited, changed || is
		}
	}
	return jsonvalue.Array(elems...), changed
}

// isSchema reports whether a value describes arguments, as the definition of a
// tool does.
func isSchema(v jsonvalue.Value) bool {
	for _, key := range [...]string{"properties", "$schema"} {
		if _, ok := v.Get(key); ok {
			return true
		}
	}
	return text(v, "type") == "object"
}

func (r *Redactor) content(v jsonvalue.Value, result bool) (edited jsonvalue.Value, keep, changed bool) {
	text, keep := r.instead(v, result)
	return jsonvalue.String(text), keep, true
}

// repliesNamed reports whether a tool message's content is a list of parts that
// are replies themselves, or text that holds one.
func repliesNamed(v jsonvalue.Value) bool {
	return v.Kind() == jsonvalue.ArrayKind && holdsReplies(v, nil)
}

// flatPlace is what a flattened attribute holds.
type flatPlace uint8

const (
	flatOther flatPlace = iota
	flatMessage
	flatResult
	flatArguments
)

// flatPlaces finds the flattened attributes that hold content. What they are
// stands in attributes beside them: a role, a type.
func (r *Redactor) flatPlaces(m pcommon.Map) map[string]flatPlace {
	var places map[string]flatPlace
	for key := range m.All() {
		prefix := r.decoder.prefix(key)
		if prefix == "" {
			continue
		}
		if places == nil {
			places = map[string]flatPlace{}
		}
		places[key] = r.flatPlace(m, prefix, key)
	}
	return places
}

func (r *Redactor) flatPlace(m pcommon.Map, prefix, key string) flatPlace {
	steps := strings.Split(key[len(prefix):], ".")
	last := steps[len(steps)-1]
	message := prefix + steps[0]
	role := UnknownRole
	for _, name := range [...]string{message + ".role", message + ".message.role", message + ".message.type", message + ".type"} {
		if v, ok := m.Get(name); ok && role == UnknownRole {
			role = roleOf(v.AsString())
		}
	}
	var beside jsonvalue.Value
	if v, ok := m.Get(strings.TrimSuffix(key, last) + "type"); ok {
		beside = jsonvalue.Object(jsonvalue.Member{Key: "type", Value: jsonvalue.String(v.AsString())})
	}
	s := shapeOf(beside, role)
	for _, step := range steps[:len(steps)-1] {
		s.reply = s.reply || slices.Contains(replyWrappers, step)
		s.call = s.call || slices.Contains(callWrappers, step) || slices.Contains(callsKeys, step)
	}
	if _, err := strconv.Atoi(last); err == nil && len(steps) > 1 { // an element of a list
		last = steps[len(steps)-2]
	}
	switch {
	case s.call && slices.Contains(argumentKeys, last):
		return flatArguments
	case s.reply && slices.Contains(resultKeys, last):
		return flatResult
	}
	return flatMessage
}

// event edits a span event: an attribute of it, or all of them as the fields of
// one message.
func (r *Redactor) event(event ptrace.SpanEvent, tool bool) {
	places := r.events[event.Name()]
	if places == nil {
		return
	}
	a := event.Attributes()
	for _, p := range places {
		switch {
		case p.what != someMessages:
			if v, ok := a.Get(p.key); ok && tool && (p.what == aResult || r.withArguments) && r.whole(v, p.what == aResult) {
				a.Remove(p.key)
			}
		case p.key != "":
			if v, ok := a.Get(p.key); ok {
				r.list(v, UnknownRole)
			}
		case !tool:
			r.eventMessage(a, p.role)
		}
	}
}

// eventMessage edits an event that is a message.
func (r *Redactor) eventMessage(a pcommon.Map, role Role) {
	if own, ok := a.Get("role"); ok && roleOf(own.AsString()) != UnknownRole {
		role = roleOf(own.AsString())
	}
	s := shapeOf(jsonvalue.Null(), role)
	a.RemoveIf(func(key string, v pcommon.Value) bool {
		if key == eventContent {
			if role == ToolRole && (v.Type() != pcommon.ValueTypeStr || !looksJSON(v.Str())) && v.Type() != pcommon.ValueTypeMap {
				return r.whole(v, true)
			}
			r.list(v, role)
			return false
		}
		edited, keep, changed := r.member(key, ValueOf(v), role, s, 0)
		if changed && keep {
			setValue(v, edited)
		}
		return !keep
	})
}

// setValue writes a JSON value as an attribute's.
func setValue(to pcommon.Value, v jsonvalue.Value) {
	switch v.Kind() {
	case jsonvalue.StringKind:
		to.SetStr(v.Text())
	case jsonvalue.BoolKind:
		to.SetBool(v.Bool())
	case jsonvalue.IntKind:
		if n, ok := v.Int64(); ok {
			to.SetInt(n)
			return
		}
		fallthrough
	case jsonvalue.FloatKind:
		n, _ := v.Float64()
		to.SetDouble(n)
	case jsonvalue.ArrayKind:
		s := to.SetEmptySlice()
		for i := range v.Len() {
			setValue(s.AppendEmpty(), v.Index(i))
		}
	case jsonvalue.ObjectKind:
		m := to.SetEmptyMap()
		for i := range v.Len() {
			key, inner := v.Member(i)
			setValue(m.PutEmpty(key), inner)
		}
	default:
		pcommon.NewValueEmpty().CopyTo(to)
	}
}

// appendJSON appends a value with its keys in their order.
func appendJSON(dst []byte, v jsonvalue.Value) []byte {
	switch v.Kind() {
	case jsonvalue.ArrayKind:
		dst = append(dst, '[')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, v.Index(i))
		}
		return append(dst, ']')
	case jsonvalue.ObjectKind:
		dst = append(dst, '{')
		for i := range v.Len() {
			if i > 0 {
				dst = append(dst, ',')
			}
			key, inner := v.Member(i)
			dst = append(appendJSON(dst, jsonvalue.String(key)), ':')
			dst = appendJSON(dst, inner)
		}
		return append(dst, '}')
	}
	out, err := v.AppendCanonical(dst)
	if err != nil { // a number that is none
		return append(dst, "null"...)
	}
	return out
}
