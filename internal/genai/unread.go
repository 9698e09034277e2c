// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/display"
)

// Reading is what a decoder makes of a span that may be a tool call.
type Reading uint8

const (
	// NoTool: nothing about the span looks like a tool call, or a dialect reads it as
	// something else.
	NoTool Reading = iota
	// UnreadTool: the span looks like a tool call, and no dialect reads it.
	UnreadTool
	// ReadTool: a dialect reads the span as a tool call.
	ReadTool
)

// Reading returns whether a span of the scope is a tool call, or looks like one
// that no dialect reads. It does not allocate for a span that looks like none.
func (d *Decoder) Reading(scope string, span ptrace.Span) Reading {
	s := Span{Name: span.Name(), Scope: scope}
	d.collect(span.Attributes())
	defer d.reset()
	kind := Other
	if d.seen&forMark != 0 || s.Name != "" && d.named[s.Name[0]] {
		kind = d.kind(&s)
	}
	switch {
	case kind == Tool:
		return ReadTool
	case kind != Other, !looksLikeTool(span):
		return NoTool
	}
	if d.excluded(&s) {
		return NoTool // a dialect says that it is none
	}
	return UnreadTool
}

// looksLikeTool reports whether a span's name or one of its attributes is named
// like those of tool calls.
func looksLikeTool(span ptrace.Span) bool {
	if toolSpanName(span.Name()) {
		return true
	}
	for key := range span.Attributes().All() {
		if toolAttribute(key) {
			return true
		}
	}
	return false
}

// toolAttribute reports whether an attribute is named like those of tool calls:
// one of its words is tool, or two of them are function call. Words end at
// separators and where capitals begin: acme.tool, tool_call_id, toolCallId. What
// describes tools to a model (tool_choice, tool.definitions) is no call.
func toolAttribute(key string) bool {
	if !mayNameTool(key) {
		return false
	}
	list := nameWords(key)
	for i, word := range list {
		next := ""
		if i+1 < len(list) {
			next = list[i+1]
		}
		if word == "tool" && !aboutTools[next] || joinedTool[word] || word == "function" && (next == "call" || next == "calls") {
			return true
		}
	}
	return false
}

// toolSpanName reports whether a span is named like a tool call: tool or its
// joined forms at the beginning or the end, or beside a word for running it. Paths
// and URLs are none.
func toolSpanName(name string) bool {
	const longest = 256
	if len(name) > longest || !mayNameTool(name) || strings.ContainsRune(name, '/') {
		return false
	}
	list := nameWords(name)
	for i, word := range list {
		before, next := "", ""
		if i > 0 {
			before = list[i-1]
		}
		if i+1 < len(list) {
			next = list[i+1]
		}
		switch {
		case joinedTool[word], word == "function" && next == "call":
			return true
		case word == "tool" && !aboutTools[next] && (before == "" || next == "" || runsTool[before] || runsTool[next]):
			return true
		}
	}
	return false
}

var (
	// aboutTools follow tool where a tool is described and not called.
	aboutTools = map[string]bool{
		"choice": true, "choices": true, "definition": true, "definitions": true, "schema": true, "version": true, "config": true, "count": true, "chain": true,
	}
	// joinedTool are words for a call that are written as one.
	joinedTool = map[string]bool{
		"toolcall": true, "toolcalls": true, "toolcallid": true, "toolname": true, "tooluse": true, "toolinput": true, "tooloutput": true, "toolresult": true,
		"toolargs": true, "toolarguments": true, "functioncall": true,
	}
	// runsTool are words beside tool in names of spans.
	runsTool = map[string]bool{
		"call": true, "calls": true, "calling": true, "use": true, "usage": true, "run": true, "running": true, "execute": true, "execution": true,
		"invoke": true, "invocation": true, "executor": true,
	}
)

// mayNameTool reports whether a name holds tool or function, in upper or lower
// case, or something close to them. Most names do not. It looks for their double o
// and for their u and n, which are rarer than how they begin.
func mayNameTool(name string) bool {
	for i := 1; i+1 < len(name); i++ {
		switch name[i] | 0x20 {
		case 'o':
			if name[i-1]|0x20 == 'o' && name[i+1]|0x20 == 'l' {
				return true
			}
		case 'u':
			if name[i-1]|0x20 == 'f' && name[i+1]|0x20 == 'n' {
				return true
			}
		}
	}
	return false
}

// nameWords returns the words of a name in lower case. It looks at no more than
// its first 256 bytes.
func nameWords(name string) []string {
	const longest = 256
	var list []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			list = append(list, string(word))
			word = word[:0]
		}
	}
	previous := rune(0)
	for _, r := range name[:min(len(name), longest)] {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case unicode.IsUpper(r) && unicode.IsLower(previous):
			end()
			fallthrough
		default:
			word = append(word, unicode.ToLower(r))
		}
		previous = r
	}
	end()
	return list
}

// maxUnreadNames is how many attribute names are named of a scope.
const maxUnreadNames = 3

// UnreadNames returns up to three names of the span's attributes, those that are
// named like a tool call's first, safe to show.
func UnreadNames(span ptrace.Span) []string {
	keys := make([]string, 0, span.Attributes().Len())
	for key := range span.Attributes().All() {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if x, y := toolAttribute(a), toolAttribute(b); x != y {
			if x {
				return -1
			}
			return 1
		}
		return cmp.Compare(a, b)
	})
	keys = slices.Compact(keys)
	keys = keys[:min(len(keys), maxUnreadNames)]
	for i, key := range keys {
		keys[i] = strings.Clone(display.Label(key))
	}
	return keys
}

// UnreadScopes counts the spans that look like tool calls and that no dialect
// reads, by scope. The zero UnreadScopes is ready. It is for one goroutine at a
// time.
type UnreadScopes struct {
	scopes map[string]*unreadScope
	more   bool // there are scopes that are not counted
}

// unreadScope is a scope that was met.
type unreadScope struct {
	read  bool // a dialect reads its tool calls
	spans int
	first unreadSpan // the earliest
}

// unreadSpan is a span that stands for its scope.
type unreadSpan struct {
	start Timestamp
	trace TraceID
	id    SpanID
	names []string
}

// maxUnreadScopes bounds the scopes that are told apart; their names are foreign.
const maxUnreadScopes = 1000

// Unread is a scope with spans that look like tool calls and that no dialect
// reads.
type Unread struct {
	Scope      string // safe to show; "" for the scope without a name
	Spans      int
	Attributes []string // up to three names of attributes of the earliest
}

// Add counts the spans of a trace, from which the decoder has read the facts. The
// order of traces and of spans makes no difference.
func (u *UnreadScopes) Add(d *Decoder, facts []Span, spans []ptrace.Span) {
	for i := range facts {
		f := &facts[i]
		switch {
		case f.Kind == Tool:
			if s := u.scope(f.Scope); s != nil {
				s.read = true
			}
		case f.Kind == Other && looksLikeTool(spans[i]) && d.Reading(f.Scope, spans[i]) == UnreadTool:
			if s := u.scope(f.Scope); s != nil {
				s.add(spans[i])
			}
		}
	}
}

// Merge adds what another one has counted.
func (u *UnreadScopes) Merge(other *UnreadScopes) {
	u.more = u.more || other.more
	for name, o := range other.scopes {
		s := u.scope(name)
		if s == nil {
			continue
		}
		if o.spans > 0 && (s.spans == 0 || o.first.before(&s.first)) {
			s.first = o.first
		}
		s.read, s.spans = s.read || o.read, s.spans+o.spans
	}
}

// scope finds a scope; nil if there are too many.
func (u *UnreadScopes) scope(name string) *unreadScope {
	s := u.scopes[name]
	if s != nil {
		return s
	}
	if len(u.scopes) >= maxUnreadScopes {
		u.more = true
		return nil
	}
	if u.scopes == nil {
		u.scopes = map[string]*unreadScope{}
	}
	s = &unreadScope{}
	u.scopes[strings.Clone(name)] = s
	return s
}

func (s *unreadScope) add(span ptrace.Span) {
	at := unreadSpan{start: Timestamp(span.StartTimestamp()), trace: TraceID(span.TraceID()), id: SpanID(span.SpanID())}
	if s.spans == 0 || at.before(&s.first) {
		at.names = UnreadNames(span)
		s.first = at
	}
	s.spans++
}

func (s *unreadSpan) before(o *unreadSpan) bool {
	return cmp.Or(cmp.Compare(s.start, o.start), bytes.Compare(s.trace[:], o.trace[:]), bytes.Compare(s.id[:], o.id[:])) < 0
}

// List returns the scopes none of whose spans a dialect reads as a tool call, those
// with most spans first. more is set if there were more scopes than are counted.
func (u *UnreadScopes) List() (list []Unread, more bool) {
	for _, name := range slices.Sorted(maps.Keys(u.scopes)) {
		if s := u.scopes[name]; s.spans > 0 && !s.read {
			list = append(list, Unread{Scope: display.Label(name), Spans: s.spans, Attributes: s.first.names})
		}
	}
	slices.SortStableFunc(list, func(a, b Unread) int { return cmp.Compare(b.Spans, a.Spans) })
	return list, u.more
}
