// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"bytes"
	"cmp"
	"container/list"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Collection gathers spans by trace, from however many files. The zero
// Collection holds all there are.
//
// With a budget it holds so many bytes and no more: the trace to which nothing
// was added for the longest time is taken to be whole and released. That is
// right where the input is grouped by trace, as files written by a collector
// are, give or take some. What a released trace turns out to lack is scattered.
// The trace that was added to last may take twice the budget.
type Collection struct {
	// Budget bounds the bytes of the spans that are held, counted in their
	// protobuf form with [spanHeader] for each; 0 is no bound.
	Budget int64
	// Release is given the traces that the budget has no room for.
	Release func(Trace)
	// Scattered is told of spans of a trace that was released before. They are
	// dropped.
	Scattered func(trace pcommon.TraceID, spans int)

	// Spans counts the spans that were added, scattered ones too.
	Spans int

	held     map[pcommon.TraceID]*list.Element // of a *Trace
	byTouch  list.List                         // the longest untouched first
	bytes    int64
	released map[pcommon.TraceID]struct{}
	sizer    ptrace.ProtoMarshaler
}

// Trace is the spans of one trace.
type Trace struct {
	ID     pcommon.TraceID
	Traces ptrace.Traces
	Place  Place // where its first span stood

	bytes int64
}

// Add takes the spans of td, which is empty afterwards.
func (c *Collection) Add(td ptrace.Traces) { c.AddFrom(td, Place{}) }

// AddFrom takes the spans of td, which stood at a place. It is empty afterwards.
func (c *Collection) AddFrom(td ptrace.Traces, at Place) {
	if one, ok := onlyTrace(td); ok {
		n := td.SpanCount()
		c.Spans += n
		if t := c.trace(one, at, n); t != nil {
			c.grow(t, int64(c.sizer.TracesSize(td))+spanHeader*int64(n))
			td.ResourceSpans().MoveAndAppendTo(t.Traces.ResourceSpans())
		}
	} else {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				c.addScope(rs, ss, at)
			}
		}
	}
	c.shrink()
}

// onlyTrace returns the trace of all spans, if it is one.
func onlyTrace(td ptrace.Traces) (id pcommon.TraceID, ok bool) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				if ok && span.TraceID() != id {
					return id, false
				}
				id, ok = span.TraceID(), true
			}
		}
	}
	return id, ok
}

// addScope takes the spans of a scope, each to its trace.
func (c *Collection) addScope(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, at Place) {
	type place struct {
		trace *Trace
		spans ptrace.SpanSlice
	}
	into := map[pcommon.TraceID]*place{}
	ss.Spans().RemoveIf(func(span ptrace.Span) bool {
		c.Spans++
		id := span.TraceID()
		to, ok := into[id]
		if !ok {
			to = &place{trace: c.trace(id, at, 0)}
			if to.trace != nil {
				to.spans = scope(to.trace.Traces, rs, ss)
				c.grow(to.trace, c.scopeSize(rs, ss))
			}
			into[id] = to
		}
		if to.trace == nil {
			c.Scattered(id, 1)
			return true
		}
		c.grow(to.trace, int64(c.sizer.SpanSize(span))+spanHeader)
		span.MoveTo(to.spans.AppendEmpty())
		return true
	})
}

// scope adds an empty copy of a scope and its resource to a trace.
func scope(to ptrace.Traces, rs ptrace.ResourceSpans, ss ptrace.ScopeSpans) ptrace.SpanSlice {
	toResource := to.ResourceSpans().AppendEmpty()
	rs.Resource().CopyTo(toResource.Resource())
	toResource.SetSchemaUrl(rs.SchemaUrl())
	toScope := toResource.ScopeSpans().AppendEmpty()
	ss.Scope().CopyTo(toScope.Scope())
	toScope.SetSchemaUrl(ss.SchemaUrl())
	return toScope.Spans()
}

// scopeSize is what the copy counts for, about.
func (c *Collection) scopeSize(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans) int64 {
	const header = 64
	n := header
	for key, v := range rs.Resource().Attributes().All() {
		n += len(key) + header
		if v.Type() == pcommon.ValueTypeStr {
			n += len(v.Str())
		}
	}
	return int64(n + len(ss.Scope().Name()))
}

// trace returns the trace of an id, nil if it was released. spans are told to
// be scattered then.
func (c *Collection) trace(id pcommon.TraceID, at Place, spans int) *Trace {
	if e, ok := c.held[id]; ok {
		c.byTouch.MoveToBack(e)
		return e.Value.(*Trace)
	}
	if _, ok := c.released[id]; ok {
		if spans > 0 {
			c.Scattered(id, spans)
		}
		return nil
	}
	if c.held == nil {
		c.held = map[pcommon.TraceID]*list.Element{}
	}
	t := &Trace{ID: id, Traces: ptrace.NewTraces(), Place: at}
	c.held[id] = c.byTouch.PushBack(t)
	return t
}

func (c *Collection) grow(t *Trace, bytes int64) {
	t.bytes += bytes
	c.bytes += bytes
}

// spanHeader is what a span counts for besides its bytes. In memory an empty one
// takes some hundred bytes, and in protobuf two.
const spanHeader = 128

// maxOfOne is how many budgets one trace may take.
const maxOfOne = 2

// shrink releases traces until the rest is within the budget, or is the one
// that was added to last.
func (c *Collection) shrink() {
	for c.Budget > 0 && c.bytes > c.Budget && (c.byTouch.Len() > 1 || c.bytes > maxOfOne*c.Budget) {
		t := c.byTouch.Remove(c.byTouch.Front()).(*Trace)
		delete(c.held, t.ID)
		if c.released == nil {
			c.released = map[pcommon.TraceID]struct{}{}
		}
		c.released[t.ID] = struct{}{}
		c.bytes -= t.bytes
		c.Release(*t)
	}
}

// Released returns how many traces the budget had no room for.
func (c *Collection) Released() int { return len(c.released) }

// Held returns the traces that are held, ordered by the start of their first
// span, then by id.
func (c *Collection) Held() []Trace {
	type started struct {
		*Trace
		start pcommon.Timestamp
	}
	all := make([]started, 0, len(c.held))
	for e := c.byTouch.Front(); e != nil; e = e.Next() {
		t := e.Value.(*Trace)
		all = append(all, started{t, t.Start()})
	}
	slices.SortFunc(all, func(a, b started) int {
		return cmp.Or(cmp.Compare(a.start, b.start), bytes.Compare(a.ID[:], b.ID[:]))
	})
	out := make([]Trace, len(all))
	for i := range all {
		out[i] = *all[i].Trace
	}
	return out
}

// Traces returns what Held returns, but only the spans.
func (c *Collection) Traces() []ptrace.Traces {
	held := c.Held()
	out := make([]ptrace.Traces, len(held))
	for i := range held {
		out[i] = held[i].Traces
	}
	return out
}

// Start returns the start of the first span.
func (t *Trace) Start() pcommon.Timestamp {
	first := pcommon.Timestamp(math.MaxUint64)
	for _, rs := range t.Traces.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				first = min(first, span.StartTimestamp())
			}
		}
	}
	return first
}
