// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Collection gathers spans by trace, from however many files.
type Collection struct {
	traces map[pcommon.TraceID]ptrace.Traces
	order  []pcommon.TraceID
	Spans  int
}

// Add takes the spans of td, which is empty afterwards.
func (c *Collection) Add(td ptrace.Traces) {
	if c.traces == nil {
		c.traces = map[pcommon.TraceID]ptrace.Traces{}
	}
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			into := map[pcommon.TraceID]ptrace.SpanSlice{}
			ss.Spans().RemoveIf(func(span ptrace.Span) bool {
				id := span.TraceID()
				to, ok := into[id]
				if !ok {
					to = c.scope(id, rs, ss)
					into[id] = to
				}
				span.MoveTo(to.AppendEmpty())
				c.Spans++
				return true
			})
		}
	}
}

func (c *Collection) scope(id pcommon.TraceID, rs ptrace.ResourceSpans, ss ptrace.ScopeSpans) ptrace.SpanSlice {
	td, ok := c.traces[id]
	if !ok {
		td = ptrace.NewTraces()
		c.traces[id] = td
		c.order = append(c.order, id)
	}
	toResource := td.ResourceSpans().AppendEmpty()
	rs.Resource().CopyTo(toResource.Resource())
	toResource.SetSchemaUrl(rs.SchemaUrl())
	toScope := toResource.ScopeSpans().AppendEmpty()
	ss.Scope().CopyTo(toScope.Scope())
	toScope.SetSchemaUrl(ss.SchemaUrl())
	return toScope.Spans()
}

// Traces returns the traces, ordered by the start of their first span, then by
// id.
func (c *Collection) Traces() []ptrace.Traces {
	starts := make(map[pcommon.TraceID]pcommon.Timestamp, len(c.order))
	for id, td := range c.traces {
		starts[id] = start(td)
	}
	slices.SortFunc(c.order, func(a, b pcommon.TraceID) int {
		return cmp.Or(cmp.Compare(starts[a], starts[b]), bytes.Compare(a[:], b[:]))
	})
	out := make([]ptrace.Traces, len(c.order))
	for i, id := range c.order {
		out[i] = c.traces[id]
	}
	return out
}

func start(td ptrace.Traces) pcommon.Timestamp {
	first := pcommon.Timestamp(math.MaxUint64)
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				first = min(first, span.StartTimestamp())
			}
		}
	}
	return first
}
