// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Decoder turns spans into facts by a compiled table of dialects. It keeps
// scratch memory between spans, so one goroutine uses it at a time.
type Decoder struct {
	*table
	tenants []string                // attributes of the resource that belong to a conversation's identity
	merged  map[DialectSet]*Dialect // what several dialects on one span amount to, by their rows

	have    []bool // have[a]: the current span has attribute a
	value   []pcommon.Value
	set     []attr
	found   DialectSet // the dialects that an attribute of the current span may recognize
	failing DialectSet // the dialects of whose failures it has an attribute
	spoken  DialectSet // the dialects that the current span is of, see kind
	seen    purpose    // what the attributes of the current span are looked at for
	flat    []flatAttribute
	parsed  []parsed // attributes of the current span that sources lead into

	histories histories // of the trace that the current span belongs to
}

// flatAttribute is one field of a message list that was flattened into
// attributes.
type flatAttribute struct {
	prefix string
	rest   string
	value  pcommon.Value
}

// Options changes what a Decoder looks for.
type Options struct {
	// Dialects are tried before the built-in table. There is room for
	// [MaxDialects] of them.
	Dialects []*Dialect
	// Conversations are the attributes that name a conversation, in order;
	// nil means [Conversations].
	Conversations []string
	// ConversationResources are attributes of the resource that belong to a
	// conversation's identity, such as a tenant's name; none by default.
	ConversationResources []string
}

// Under returns the names of attributes below prefix that decoders with these
// options read, sorted.
func (o Options) Under(prefix string) (names []string) {
	t := NewDecoder(o).table
	for _, name := range slices.Concat(slices.Collect(maps.Keys(t.names)), t.prefixes, o.ConversationResources, []string{serviceName}) {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// NewDecoder compiles the table of dialects.
func NewDecoder(o Options) *Decoder {
	custom := o.Dialects[:min(len(o.Dialects), MaxDialects)]
	conversations := o.Conversations
	if conversations == nil {
		conversations = Conversations
	}
	t := compile(slices.Concat(custom, Builtin), len(custom), conversations)
	return &Decoder{
		table:   t,
		tenants: o.ConversationResources,
		merged:  map[DialectSet]*Dialect{},
		have:    make([]bool, len(t.names)),
		value:   make([]pcommon.Value, len(t.names)),
	}
}

// Traces decodes every span of td in order. The second result holds the spans
// that the facts were read from, in the same order.
func (d *Decoder) Traces(td ptrace.Traces) ([]Span, []ptrace.Span) {
	return d.TracesInto(nil, nil, td)
}

// TracesInto does what Traces does in the place of earlier results, which nobody
// uses any more.
func (d *Decoder) TracesInto(facts []Span, sources []ptrace.Span, td ptrace.Traces) ([]Span, []ptrace.Span) {
	n := td.SpanCount()
	facts, sources = slices.Grow(facts[:0], n)[:n], slices.Grow(sources[:0], n)
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				d.Decode(&facts[len(sources)], rs.Resource(), ss.Scope(), span)
				sources = append(sources, span)
			}
		}
	}
	d.histories = histories{}
	return facts, sources
}

// Decode fills s with the facts of one span. It never fails: what cannot be
// understood is left out.
func (d *Decoder) Decode(s *Span, resource pcommon.Resource, scope pcommon.InstrumentationScope, span ptrace.Span) {
	*s = Span{
		TraceID:      TraceID(span.TraceID()),
		SpanID:       SpanID(span.SpanID()),
		ParentID:     SpanID(span.ParentSpanID()),
		RemoteParent: RemoteParent(span),
		Name:         span.Name(),
		Scope:        scope.Name(),
		Start:        Timestamp(span.StartTimestamp()),
		End:          Timestamp(span.EndTimestamp()),
		Unended:      span.EndTimestamp() == 0,
		SpanKind:     SpanKind(span.Kind()), //nolint:gosec // OTLP has six
		Dropped:      span.DroppedAttributesCount() > 0 || span.DroppedEventsCount() > 0,
		attributes:   span.Attributes(),
		resource:     resource.Attributes(),
	}
	s.Service = Service(resource)
	s.ResourceDropped = resource.DroppedAttributesCount() > 0
	if s.End < s.Start {
		s.End = s.Start
	}

	d.histories.begin(s.TraceID)
	d.collect(s.attributes)
	if d.seen&forConversation != 0 {
		if s.Conversation = d.conversation(); s.Conversation != "" {
			s.Conversation = d.ofTenant(s.Conversation, s.resource)
			s.ConversationDropped = s.ResourceDropped && d.lacksTenant(s.resource)
		}
	}
	if d.seen&forMark != 0 || s.Name != "" && d.named[s.Name[0]] {
		s.Kind = d.kind(s)
	}
	if s.Kind != Other {
		s.Dropped = s.Dropped || droppedInEvents(span)
		d.facts(s, span)
	}
	if s.Agent == "" && d.seen&forAgent != 0 {
		// Agent names are handed down from any span that has one.
		s.Agent = d.first(d.agentNames)
	}
	d.reset()
}

// droppedInEvents reports whether the SDK dropped attributes of the span's events,
// where messages, results and exceptions may stand.
func droppedInEvents(span ptrace.Span) bool {
	for _, e := range span.Events().All() {
		if e.DroppedAttributesCount() > 0 {
			return true
		}
	}
	return false
}

// RemoteParent reads the span's flags: bit 8 says that bit 9 is meaningful, bit 9
// that the parent is another process's.
func RemoteParent(span ptrace.Span) bool {
	const hasIsRemote, isRemote = 0x100, 0x200
	return span.Flags()&hasIsRemote != 0 && span.Flags()&isRemote != 0
}

// serviceName is the resource attribute that names a service.
const serviceName = "service.name"

// Service is the name of the service that a resource describes, "" if it has none.
func Service(resource pcommon.Resource) string {
	if v, ok := resource.Attributes().Get(serviceName); ok && v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	return ""
}

// collect notes the attributes of the table that the span has.
func (d *Decoder) collect(m pcommon.Map) {
	for k, v := range m.All() {
		if a, ok := d.lookup(k); ok {
			if !d.have[a] {
				d.have[a] = true
				d.set = append(d.set, a)
				d.seen |= d.purposes[a]
				d.found = d.found.Union(d.recognizes[a])
				d.failing = d.failing.Union(d.fails[a])
			}
			d.value[a] = v
		} else if p := d.prefix(k); p != "" {
			d.flat = append(d.flat, flatAttribute{prefix: p, rest: k[len(p):], value: v})
		}
	}
}

func (d *Decoder) reset() {
	for _, a := range d.set {
		d.have[a] = false
		d.value[a] = pcommon.Value{}
	}
	clear(d.flat)
	d.set, d.flat, d.seen = d.set[:0], d.flat[:0], 0
	d.found, d.failing, d.spoken = DialectSet{}, DialectSet{}, DialectSet{}
	if len(d.parsed) > 0 {
		clear(d.parsed)
		d.parsed = d.parsed[:0]
	}
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

// conversation returns the conversation that the span names. Some applications
// number theirs.
func (d *Decoder) conversation() string {
	for _, a := range d.conversations {
		if !d.have[a] {
			continue
		}
		switch v := d.value[a]; v.Type() {
		case pcommon.ValueTypeStr:
			if id := UsableID(v.Str()); id != "" {
				return id
			}
		case pcommon.ValueTypeInt:
			return strconv.FormatInt(v.Int(), 10)
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
			if (m.value != "" || m.root || m.path != nil) && !d.markHolds(m) {
				continue
			}
		}
		if m.spanName != "" {
			if _, ok := fits(m.spanName, s.Name); !ok {
				continue
			}
		}
		if m.scope != "" && m.scope != s.Scope && !scopeFits(m.scope, s.Scope) || len(m.and) > 0 && !d.marked(m.and, s) {
			continue
		}
		return true
	}
	return false
}

// scopeFits reports whether a pattern with one or two "*" fits a scope.
func scopeFits(pattern, scope string) bool {
	if inner, ok := strings.CutPrefix(pattern, "*"); ok && strings.HasSuffix(inner, "*") {
		return strings.Contains(scope, inner[:len(inner)-1])
	}
	_, ok := fits(pattern, scope)
	return ok
}

// markHolds reports whether the attribute of a mark holds the value that the mark
// asks for.
func (d *Decoder) markHolds(m *mark) bool {
	if !m.root && m.path == nil {
		return markValue(m.value, d.value[m.attr])
	}
	v, ok := d.parse(m.attr)
	if ok {
		v, ok = follow(v, m.path)
	}
	if !ok || m.value == "" {
		return ok && !v.IsNull()
	}
	text, scalar := v.Scalar()
	return scalar && fitsFold(m.value, text)
}

func markValue(pattern string, v pcommon.Value) bool {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return fitsFold(pattern, v.Str())
	case pcommon.ValueTypeBool:
		return strings.EqualFold(pattern, strconv.FormatBool(v.Bool()))
	case pcommon.ValueTypeInt:
		return pattern == strconv.FormatInt(v.Int(), 10)
	default:
		return false
	}
}

// kind decides what the span is, and notes the dialects that it speaks. A tool span
// is one even if it also carries what looks like a model's messages.
func (d *Decoder) kind(s *Span) Kind {
	kind := Other
	candidates := d.found.Union(d.keyless)
	d.spoken = DialectSet{}
	for i := candidates.next(0); i >= 0; i = candidates.next(i + 1) {
		r := &d.rows[i]
		if d.marked(r.noCall, s) {
			d.spoken = DialectSet{}
			return Other
		}
		own := Other
		switch {
		case d.marked(r.tool, s), d.marked(r.toolResult, s):
			own = Tool
		case d.marked(r.model, s):
			own = Model
		case d.marked(r.agent, s):
			own = Agent
		default:
			continue
		}
		d.spoken.add(i)
		if own == Tool || kind == Other {
			kind = own
		}
	}
	return kind
}

// excluded reports whether a dialect says that the span is no call.
func (d *Decoder) excluded(s *Span) bool {
	candidates := d.found.Union(d.keyless)
	for i := candidates.next(0); i >= 0; i = candidates.next(i + 1) {
		if d.marked(d.rows[i].noCall, s) {
			return true
		}
	}
	return false
}

// facts reads what the dialects of the span say.
func (d *Decoder) facts(s *Span, span ptrace.Span) {
	spoken := d.spoken
	dialect := d.merge(spoken)
	s.Failure = d.failure(s, spoken, span)
	s.ContentSwitch = dialect.ContentSwitch
	s.rows = spoken
	for i := spoken.next(0); i >= 0; i = spoken.next(i + 1) {
		r := &d.rows[i]
		for _, a := range r.elsewhere {
			if d.have[a] {
				s.ContentSwitch = elsewhere
			}
		}
		if s.Agent == "" {
			s.Agent = d.first(r.agentName)
		}
		if s.Kind == Tool {
			d.call(s, r, dialect, span)
		} else {
			d.messages(s, r, dialect, span)
		}
	}
	if s.Kind == Tool {
		d.finishCall(s, dialect)
	}
}

// merge makes one dialect of those that a span speaks: their wrappers and
// placeholders together. It is made once for each combination.
func (d *Decoder) merge(spoken DialectSet) *Dialect {
	if m := d.merged[spoken]; m != nil {
		return m
	}
	m := &Dialect{}
	custom := false // one of them is the user's
	for i := range d.custom {
		custom = custom || spoken.Has(i)
	}
	for i := range d.rows {
		if !spoken.Has(i) {
			continue
		}
		r := d.rows[i].Dialect
		if m.Name != "" {
			m.Name += "+"
		}
		m.Name += r.Name
		m.Carrier = m.Carrier || r.Carrier
		m.HiddenNames = append(m.HiddenNames, r.HiddenNames...)
		m.ArgumentsKeys = append(m.ArgumentsKeys, r.ArgumentsKeys...)
		m.ResultKeys = append(m.ResultKeys, r.ResultKeys...)
		m.BesideKeys = append(m.BesideKeys, r.BesideKeys...)
		m.FailureKeys = append(m.FailureKeys, r.FailureKeys...)
		m.ArgumentsEach = append(m.ArgumentsEach, r.ArgumentsEach...)
		m.FailureText = append(m.FailureText, r.FailureText...)
		m.Printed = append(m.Printed, r.Printed...)
		m.Python = m.Python || r.Python
		m.Placeholders = append(m.Placeholders, r.Placeholders...)
		m.EmptyObject = m.EmptyObject || r.EmptyObject
		// The user's own dialect knows best, then the most special one.
		if r.ContentSwitch != "" && (m.ContentSwitch == "" || i >= d.custom && !custom) {
			m.ContentSwitch = r.ContentSwitch
		}
	}
	d.merged[spoken] = m
	return m
}
