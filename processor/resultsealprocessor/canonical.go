// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"bytes"
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// canonicalize moves the spans of one trace into the one form that depends
// only on which spans there are, not on the order in which they came or on
// how they were batched, and says how many of them repeat another's span id.
//
// Spans with the same resource lie under one ResourceSpans, and of these the
// ones with the same scope under one ScopeSpans; the same means equal to the
// byte, schema URLs included. Spans are ordered by start time, then span id,
// then by a hash of all that they hold; groups by their first span. Resources and
// scopes without spans are left out.
func canonicalize(trace ptrace.Traces) (canonical ptrace.Traces, duplicates int) {
	var (
		groups  = groupSet{}
		entries []*spanEntry
		ids     = map[pcommon.SpanID]struct{}{}
	)
	for _, rs := range trace.ResourceSpans().All() {
		var resource *resourceGroup
		for _, ss := range rs.ScopeSpans().All() {
			spans := ptrace.NewSpanSlice()
			ss.Spans().MoveAndAppendTo(spans)
			if spans.Len() == 0 {
				continue
			}
			if resource == nil {
				resource = groups.resource(rs)
			}
			scope := resource.scope(ss)
			for _, span := range spans.All() {
				entries = append(entries, &spanEntry{span: span, scope: scope})
				if id := span.SpanID(); !id.IsEmpty() {
					if _, ok := ids[id]; ok {
						duplicates++
					}
					ids[id] = struct{}{}
				}
			}
		}
	}
	slices.SortFunc(entries, compareEntries)

	canonical = ptrace.NewTraces()
	for _, e := range entries {
		e.span.MoveTo(e.scope.place(canonical).AppendEmpty())
	}
	return canonical, duplicates
}

// spanEntry is one span on its way into the canonical form.
type spanEntry struct {
	span   ptrace.Span
	scope  *scopeGroup
	hash   uint64 // of all that the span holds; see sum
	hashed bool
}

// compareEntries orders spans by what they are. Two that compare equal can
// change places without anyone telling.
func compareEntries(a, b *spanEntry) int {
	if c := cmp.Compare(a.span.StartTimestamp(), b.span.StartTimestamp()); c != 0 {
		return c
	}
	aID, bID := a.span.SpanID(), b.span.SpanID()
	if c := bytes.Compare(aID[:], bID[:]); c != 0 {
		return c
	}
	return cmp.Compare(a.sum(), b.sum())
}

// sum is needed only for spans that have the same start and id, and so are
// redelivered or malformed. There may be many of those, so it is done once.
func (e *spanEntry) sum() uint64 {
	if !e.hashed {
		e.hash, e.hashed = hashSpan(e.scope.resource.from, e.scope.from, e.span), true
	}
	return e.hash
}

// resourceGroup is one resource with its schema URL. They are moved to where
// they go when the first of the spans comes there.
type resourceGroup struct {
	key    string // all that it is, as protobuf
	from   ptrace.ResourceSpans
	placed bool
	to     ptrace.ResourceSpans
	scopes map[string]*scopeGroup
}

// scopeGroup is one scope of a resource with its schema URL.
type scopeGroup struct {
	resource *resourceGroup
	key      string
	from     ptrace.ScopeSpans
	placed   bool
	to       ptrace.SpanSlice
}

// place is where the group's spans go.
func (g *scopeGroup) place(canonical ptrace.Traces) ptrace.SpanSlice {
	if g.placed {
		return g.to
	}
	g.placed = true
	r := g.resource
	if !r.placed {
		r.placed = true
		r.to = canonical.ResourceSpans().AppendEmpty()
		r.from.Resource().MoveTo(r.to.Resource())
		r.to.SetSchemaUrl(r.from.SchemaUrl())
	}
	ss := r.to.ScopeSpans().AppendEmpty()
	g.from.Scope().MoveTo(ss.Scope())
	ss.SetSchemaUrl(g.from.SchemaUrl())
	g.to = ss.Spans()
	return g.to
}

// groupSet finds the group of a resource by all that it is.
type groupSet map[string]*resourceGroup

func (s groupSet) resource(rs ptrace.ResourceSpans) *resourceGroup {
	alone := ptrace.NewTraces()
	only := alone.ResourceSpans().AppendEmpty()
	rs.Resource().MoveTo(only.Resource())
	only.SetSchemaUrl(rs.SchemaUrl())
	key := marshal(alone)
	g, ok := s[string(key)]
	if !ok {
		g = &resourceGroup{key: string(key), from: only, scopes: map[string]*scopeGroup{}}
		s[g.key] = g
	}
	return g
}

func (r *resourceGroup) scope(ss ptrace.ScopeSpans) *scopeGroup {
	alone := ptrace.NewTraces()
	only := alone.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	ss.Scope().MoveTo(only.Scope())
	only.SetSchemaUrl(ss.SchemaUrl())
	key := marshal(alone)
	g, ok := r.scopes[string(key)]
	if !ok {
		g = &scopeGroup{resource: r, key: string(key), from: only}
		r.scopes[g.key] = g
	}
	return g
}

// marshal cannot fail: the protobuf form of pdata has no values that it could
// not hold.
func marshal(td ptrace.Traces) []byte {
	var m ptrace.ProtoMarshaler
	data, _ := m.MarshalTraces(td)
	return data
}
