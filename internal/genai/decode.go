// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Decoder turns spans into facts by a compiled table of dialects. It keeps
// scratch memory between spans, so one goroutine uses it at a time.
type Decoder struct {
	names         map[string]attr // every attribute name of the table
	prefixes      []string        // every flattened prefix, with its final dot
	rows          []row
	conversations []attr
	httpStatus    attr

	merged map[uint64]*Dialect // what several dialects on one span amount to, by the rows

	have  []bool // have[a]: the current span has attribute a
	value []pcommon.Value
	set   []attr
	flat  []flatAttribute
}

// attr numbers an attribute name of the table.
type attr int32

// flatAttribute is one field of a message list that was flattened into
// attributes.
type flatAttribute struct {
	prefix string
	rest   string
	value  pcommon.Value
}

type mark struct {
	attr     attr // -1: none
	value    string
	spanName string
	scope    string
	and      []mark // none or one
}

// row is a Dialect with its names resolved.
type row struct {
	*Dialect
	tool, model, agent, noCall, failure    []mark
	toolName, callID, arguments, result    []attr
	failureType, agentName                 []attr
	input, output, outputText, outputCalls []attr
}

// Options changes what a Decoder looks for.
type Options struct {
	// Dialects are tried before the built-in table.
	Dialects []*Dialect
	// Conversations are the attributes that name a conversation, in order;
	// nil means [Conversations].
	Conversations []string
}

// NewDecoder compiles the table of dialects.
func NewDecoder(o Options) *Decoder {
	d := &Decoder{names: map[string]attr{}, merged: map[uint64]*Dialect{}}
	for _, dialect := range append(append([]*Dialect(nil), o.Dialects...), Builtin...) {
		d.rows = append(d.rows, row{
			Dialect:     dialect,
			tool:        d.marks(dialect.Tool),
			model:       d.marks(dialect.Model),
			agent:       d.marks(dialect.Agent),
			noCall:      d.marks(dialect.NoCall),
			failure:     d.marks(dialect.FailureMark),
			toolName:    d.attrs(dialect.ToolName),
			callID:      d.attrs(dialect.CallID),
			arguments:   d.attrs(dialect.Arguments),
			result:      d.attrs(dialect.Result),
			failureType: d.attrs(dialect.FailureType),
			agentName:   d.attrs(dialect.AgentName),
			input:       d.attrs(dialect.Input),
			output:      d.attrs(dialect.Output),
			outputText:  d.attrs(dialect.OutputText),
			outputCalls: d.attrs(dialect.OutputCalls),
		})
		for _, p := range dialect.InputPrefix {
			d.prefixes = append(d.prefixes, p+".")
		}
		for _, p := range dialect.OutputPrefix {
			d.prefixes = append(d.prefixes, p+".")
		}
	}
	conversations := o.Conversations
	if conversations == nil {
		conversations = Conversations
	}
	d.conversations = d.attrs(conversations)
	d.httpStatus = d.attrs([]string{"http.response.status_code"})[0]
	d.have = make([]bool, len(d.names))
	d.value = make([]pcommon.Value, len(d.names))
	return d
}

func (d *Decoder) attrs(names []string) []attr {
	out := make([]attr, len(names))
	for i, name := range names {
		a, ok := d.names[name]
		if !ok {
			a = attr(len(d.names))
			d.names[name] = a
		}
		out[i] = a
	}
	return out
}

func (d *Decoder) marks(marks []Mark) []mark {
	out := make([]mark, len(marks))
	for i, m := range marks {
		out[i] = mark{attr: -1, value: m.Value, spanName: m.SpanName, scope: m.Scope}
		if m.Key != "" {
			out[i].attr = d.attrs([]string{m.Key})[0]
		}
		if m.And != nil {
			out[i].and = d.marks([]Mark{*m.And})
		}
	}
	return out
}

// Decode fills s with the facts of one span. It never fails: what cannot be
// understood is left out.
func (d *Decoder) Decode(s *Span, resource pcommon.Resource, scope pcommon.InstrumentationScope, span ptrace.Span) {
	*s = Span{
		TraceID:      TraceID(span.TraceID()),
		SpanID:       SpanID(span.SpanID()),
		ParentID:     SpanID(span.ParentSpanID()),
		RemoteParent: remoteParent(span.Flags()),
		Name:         span.Name(),
		Scope:        scope.Name(),
		Start:        Timestamp(span.StartTimestamp()),
		End:          Timestamp(span.EndTimestamp()),
		Dropped:      span.DroppedAttributesCount() > 0 || span.DroppedEventsCount() > 0,
		attributes:   span.Attributes(),
		resource:     resource.Attributes(),
	}
	if v, ok := resource.Attributes().Get("service.name"); ok {
		s.Service = v.Str()
	}
	if s.End < s.Start {
		s.End = s.Start
	}

	d.collect(span.Attributes())
	for _, a := range d.conversations {
		if v := d.text(a); v != "" {
			s.Conversation = v
			break
		}
	}
	s.Kind = d.kind(s)
	if s.Kind == Other {
		// Agent names are handed down from any span that has one.
		for i := range d.rows {
			if s.Agent = d.first(d.rows[i].agentName); s.Agent != "" {
				break
			}
		}
		d.reset()
		return
	}
	d.facts(s, span)
	d.reset()
}

// remoteParent reads the span flags: bit 8 says that bit 9 is meaningful, bit 9
// that the parent is remote.
func remoteParent(flags uint32) bool {
	const hasIsRemote, isRemote = 0x100, 0x200
	return flags&hasIsRemote != 0 && flags&isRemote != 0
}

// collect notes the attributes of the table that the span has.
func (d *Decoder) collect(m pcommon.Map) {
	for k, v := range m.All() {
		if a, ok := d.names[k]; ok {
			if !d.have[a] {
				d.have[a] = true
				d.set = append(d.set, a)
			}
			d.value[a] = v
			continue
		}
		for _, p := range d.prefixes {
			if strings.HasPrefix(k, p) {
				d.flat = append(d.flat, flatAttribute{prefix: p, rest: k[len(p):], value: v})
				break
			}
		}
	}
}

func (d *Decoder) reset() {
	for _, a := range d.set {
		d.have[a] = false
		d.value[a] = pcommon.Value{}
	}
	clear(d.flat)
	d.set, d.flat = d.set[:0], d.flat[:0]
}

// text returns a string attribute, or "".
func (d *Decoder) text(a attr) string {
	if !d.have[a] || d.value[a].Type() != pcommon.ValueTypeStr {
		return ""
	}
	return d.value[a].Str()
}

// first returns the first non-empty string among the attributes.
func (d *Decoder) first(attrs []attr) string {
	for _, a := range attrs {
		if s := d.text(a); s != "" {
			return s
		}
	}
	return ""
}

func (d *Decoder) marked(marks []mark, s *Span) bool {
	for i := range marks {
		m := &marks[i]
		if m.attr >= 0 {
			if !d.have[m.attr] {
				continue
			}
			if m.value != "" && !markValue(m.value, d.value[m.attr]) {
				continue
			}
		}
		if m.spanName != "" {
			if _, ok := fits(m.spanName, s.Name); !ok {
				continue
			}
		}
		if m.scope != "" && m.scope != s.Scope || len(m.and) > 0 && !d.marked(m.and, s) {
			continue
		}
		return true
	}
	return false
}

func markValue(pattern string, v pcommon.Value) bool {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		_, ok := fits(pattern, v.Str())
		return ok
	case pcommon.ValueTypeBool:
		return pattern == "true" == v.Bool()
	default:
		return false
	}
}

// kind decides what the span is. A tool span is one even if it also carries
// what looks like a model's messages.
func (d *Decoder) kind(s *Span) Kind {
	kind := Other
	for i := range d.rows {
		r := &d.rows[i]
		if d.marked(r.noCall, s) {
			return Other
		}
		switch {
		case kind == Tool:
		case d.marked(r.tool, s):
			kind = Tool
		case kind == Other && d.marked(r.model, s):
			kind = Model
		case kind == Other && d.marked(r.agent, s):
			kind = Agent
		}
	}
	return kind
}

// speaks reports whether the span speaks the row's dialect at all.
func (d *Decoder) speaks(r *row, s *Span) bool {
	return d.marked(r.tool, s) || d.marked(r.model, s) || d.marked(r.agent, s)
}

func (d *Decoder) facts(s *Span, span ptrace.Span) {
	s.Failure = d.failure(s, span)
	var spoken uint64
	for i := range d.rows {
		if d.speaks(&d.rows[i], s) {
			spoken |= 1 << (i % 64)
		}
	}
	dialect := d.merge(spoken)
	s.ContentSwitch = dialect.ContentSwitch
	for i := range d.rows {
		if spoken&(1<<(i%64)) == 0 {
			continue
		}
		r := &d.rows[i]
		if s.Agent == "" {
			s.Agent = d.first(r.agentName)
		}
		if s.Kind == Tool {
			d.call(s, r, dialect, span)
		} else {
			d.messages(s, r, dialect, span)
		}
	}
	if s.Kind != Tool {
		return
	}
	if s.Call.Tool == "" {
		s.Call.Tool = d.toolFromSpanName(s, dialect)
	}
	if s.Dropped {
		s.Call.Arguments.Dropped = !s.Call.Arguments.Captured()
		s.Call.Result.Dropped = !s.Call.Result.Captured()
	}
	if d.have[d.httpStatus] && d.value[d.httpStatus].Type() == pcommon.ValueTypeInt {
		s.Call.HTTPStatus = d.value[d.httpStatus].Int()
	}
}

// merge makes one dialect of those that a span speaks: their wrappers and
// placeholders together. It is made once for each combination.
func (d *Decoder) merge(spoken uint64) *Dialect {
	if m := d.merged[spoken]; m != nil {
		return m
	}
	m := &Dialect{}
	for i := range d.rows {
		if spoken&(1<<(i%64)) == 0 {
			continue
		}
		r := d.rows[i].Dialect
		if m.Name != "" {
			m.Name += "+"
		}
		m.Name += r.Name
		m.HiddenNames = append(m.HiddenNames, r.HiddenNames...)
		m.ResultKeys = append(m.ResultKeys, r.ResultKeys...)
		m.FailureKeys = append(m.FailureKeys, r.FailureKeys...)
		m.ArgumentsKeys = append(m.ArgumentsKeys, r.ArgumentsKeys...)
		m.EmptyObject = m.EmptyObject || r.EmptyObject
		if r.ContentSwitch != "" {
			m.ContentSwitch = r.ContentSwitch // the most special one's
		}
	}
	d.merged[spoken] = m
	return m
}

// call adds what one dialect says of a tool call and no earlier one said.
func (d *Decoder) call(s *Span, r *row, dialect *Dialect, span ptrace.Span) {
	c := &s.Call
	if c.Tool == "" {
		if name := d.first(r.toolName); !contains(dialect.HiddenNames, name) {
			c.Tool = name
		}
	}
	if c.ID == "" {
		for _, a := range r.callID {
			if c.ID = UsableID(d.text(a)); c.ID != "" {
				break
			}
		}
	}
	if !c.Arguments.Captured() {
		c.Arguments = d.content(r.arguments, r.EventArguments, dialect, span)
	}
	if !c.Result.Captured() {
		c.Result = d.content(r.result, r.EventResult, dialect, span)
	}
}

// content reads the first captured value among attributes, then among events.
func (d *Decoder) content(attrs []attr, events []EventAttribute, dialect *Dialect, span ptrace.Span) Content {
	for _, a := range attrs {
		if d.have[a] {
			if c := contentOf(d.value[a], dialect); c.Captured() {
				return c
			}
		}
	}
	for _, e := range events {
		for i := 0; i < span.Events().Len(); i++ {
			event := span.Events().At(i)
			if event.Name() != e.Event {
				continue
			}
			if v, ok := event.Attributes().Get(e.Key); ok {
				if c := contentOf(v, dialect); c.Captured() {
					return c
				}
			}
		}
	}
	return Content{}
}

func (d *Decoder) toolFromSpanName(s *Span, dialect *Dialect) string {
	for i := range d.rows {
		r := &d.rows[i]
		if !d.marked(r.tool, s) {
			continue
		}
		for _, pattern := range r.SpanName {
			if name, ok := fits(pattern, s.Name); ok && name != "" && !contains(dialect.HiddenNames, name) {
				return name
			}
		}
	}
	return ""
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

// Traces decodes every span of td in order. The second result holds the spans
// that the facts were read from, in the same order.
func (d *Decoder) Traces(td ptrace.Traces) ([]Span, []ptrace.Span) {
	n := td.SpanCount()
	facts, sources := make([]Span, n), make([]ptrace.Span, 0, n)
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				d.Decode(&facts[len(sources)], rs.Resource(), ss.Scope(), span)
				sources = append(sources, span)
			}
		}
	}
	return facts, sources
}
