// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package canonical

import (
	"bytes"
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
)

// Form moves the spans of one trace into the form that depends only on which spans
// there are, not on their order of arrival or their batches. It returns how many of
// them were redelivered.
//
// Spans with the same resource lie under one ResourceSpans, and of these the
// ones with the same scope under one ScopeSpans; the same means equal to the
// byte, schema URLs included. Spans are ordered by start time, then span id,
// then by a hash of all that they hold; groups by their first span. Resources and
// scopes without spans are left out.
func Form(trace ptrace.Traces) (canonical ptrace.Traces, duplicates int) {
	if !isOneGroup(trace) {
		trace = grouped(trace)
	}
	for _, rs := range trace.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			sortSpans(rs, ss)
		}
		if rs.ScopeSpans().Len() > 1 {
			rs.ScopeSpans().Sort(func(a, b ptrace.ScopeSpans) bool {
				return compareSpans(Placed{rs, a, a.Spans().At(0)}, Placed{rs, b, b.Spans().At(0)}) < 0
			})
		}
	}
	if trace.ResourceSpans().Len() > 1 {
		trace.ResourceSpans().Sort(func(a, b ptrace.ResourceSpans) bool {
			return compareSpans(firstOf(a), firstOf(b)) < 0
		})
	}
	return trace, countDuplicates(trace)
}

func firstOf(rs ptrace.ResourceSpans) Placed {
	ss := rs.ScopeSpans().At(0)
	return Placed{rs, ss, ss.Spans().At(0)}
}

// isOneGroup reports whether all spans lie together already, as those of a small
// trace do that came in one batch.
func isOneGroup(trace ptrace.Traces) bool {
	rs := trace.ResourceSpans()
	return rs.Len() == 1 && rs.At(0).ScopeSpans().Len() == 1 && rs.At(0).ScopeSpans().At(0).Spans().Len() > 0
}

// grouped moves what has the same resource and scope together.
func grouped(trace ptrace.Traces) ptrace.Traces {
	g := groups{to: ptrace.NewTraces(), resources: map[uint64]*resourceGroup{}}
	for _, rs := range trace.ResourceSpans().All() {
		var resource *resourceGroup
		for _, ss := range rs.ScopeSpans().All() {
			if ss.Spans().Len() == 0 {
				continue
			}
			if resource == nil {
				resource = g.resource(rs)
			}
			ss.Spans().MoveAndAppendTo(resource.scope(ss).Spans())
		}
	}
	return g.to
}

// groups finds the group of a resource by a hash of all that it is. Those with the
// same hash are in a list.
type groups struct {
	to        ptrace.Traces
	resources map[uint64]*resourceGroup
}

type resourceGroup struct {
	to     ptrace.ResourceSpans
	scopes map[uint64]*scopeGroup
	next   *resourceGroup
}

type scopeGroup struct {
	to   ptrace.ScopeSpans
	next *scopeGroup
}

func (g *groups) resource(rs ptrace.ResourceSpans) *resourceGroup {
	var h spanHash
	h.digest.Reset()
	h.resource(rs)
	key := h.digest.Sum64()
	for r := g.resources[key]; r != nil; r = r.next {
		if sameResource(r.to, rs) {
			return r
		}
	}
	r := &resourceGroup{to: g.to.ResourceSpans().AppendEmpty(), scopes: map[uint64]*scopeGroup{}, next: g.resources[key]}
	rs.Resource().MoveTo(r.to.Resource())
	r.to.SetSchemaUrl(rs.SchemaUrl())
	g.resources[key] = r
	return r
}

func (r *resourceGroup) scope(ss ptrace.ScopeSpans) ptrace.ScopeSpans {
	var h spanHash
	h.digest.Reset()
	h.scope(ss)
	key := h.digest.Sum64()
	for s := r.scopes[key]; s != nil; s = s.next {
		if sameScope(s.to, ss) {
			return s.to
		}
	}
	s := &scopeGroup{to: r.to.ScopeSpans().AppendEmpty(), next: r.scopes[key]}
	ss.Scope().MoveTo(s.to.Scope())
	s.to.SetSchemaUrl(ss.SchemaUrl())
	r.scopes[key] = s
	return s.to
}

// sameResource and sameScope compare what has the same hash, which nobody may rely
// on: it could be made. Attributes that are equal but for their order have not.
// What cannot be compared so, such as a name that comes twice, is as protobuf.
func sameResource(a, b ptrace.ResourceSpans) bool {
	if a.Resource().Attributes().Equal(b.Resource().Attributes()) &&
		entity.ResourceEntityRefs(a.Resource()).Len() == 0 && entity.ResourceEntityRefs(b.Resource()).Len() == 0 {
		return a.SchemaUrl() == b.SchemaUrl() && a.Resource().DroppedAttributesCount() == b.Resource().DroppedAttributesCount()
	}
	return bytes.Equal(marshalAlone(a, ptrace.NewScopeSpans()), marshalAlone(b, ptrace.NewScopeSpans()))
}

func sameScope(a, b ptrace.ScopeSpans) bool {
	if a.Scope().Attributes().Equal(b.Scope().Attributes()) {
		return a.SchemaUrl() == b.SchemaUrl() && a.Scope().Name() == b.Scope().Name() && a.Scope().Version() == b.Scope().Version() &&
			a.Scope().DroppedAttributesCount() == b.Scope().DroppedAttributesCount()
	}
	return bytes.Equal(marshalAlone(ptrace.NewResourceSpans(), a), marshalAlone(ptrace.NewResourceSpans(), b))
}

// marshalAlone is a resource with a scope, without any span.
func marshalAlone(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans) []byte {
	td := ptrace.NewTraces()
	toResource := td.ResourceSpans().AppendEmpty()
	rs.Resource().CopyTo(toResource.Resource())
	toResource.SetSchemaUrl(rs.SchemaUrl())
	toScope := toResource.ScopeSpans().AppendEmpty()
	ss.Scope().CopyTo(toScope.Scope())
	toScope.SetSchemaUrl(ss.SchemaUrl())
	return marshal(td)
}

// fewSpans is up to where spans change places one by one, which takes no memory.
// The time for that grows faster than the number of spans.
const fewSpans = 64

// sortSpans orders the spans of a group.
func sortSpans(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans) {
	spans := ss.Spans()
	switch {
	case isSorted(spans):
	case spans.Len() <= fewSpans:
		spans.Sort(func(a, b ptrace.Span) bool {
			return compareSpans(Placed{rs, ss, a}, Placed{rs, ss, b}) < 0
		})
	default:
		entries := make([]spanEntry, 0, spans.Len())
		order := make([]*spanEntry, 0, spans.Len())
		for _, span := range spans.All() {
			entries = append(entries, spanEntry{Placed: Placed{rs, ss, span}})
			order = append(order, &entries[len(entries)-1])
		}
		slices.SortFunc(order, compareEntries)
		sorted := ptrace.NewSpanSlice()
		sorted.EnsureCapacity(len(order))
		for _, e := range order {
			e.Span.MoveTo(sorted.AppendEmpty())
		}
		spans.RemoveIf(func(ptrace.Span) bool { return true })
		sorted.MoveAndAppendTo(spans)
	}
}

// isSorted reports whether each span begins, or has an id, after the one before.
// If two agree in both there is more to look at.
func isSorted(spans ptrace.SpanSlice) bool {
	for i := 1; i < spans.Len(); i++ {
		if compareStarts(spans.At(i-1), spans.At(i)) >= 0 {
			return false
		}
	}
	return true
}

func compareStarts(a, b ptrace.Span) int {
	if c := cmp.Compare(a.StartTimestamp(), b.StartTimestamp()); c != 0 {
		return c
	}
	aID, bID := a.SpanID(), b.SpanID()
	return bytes.Compare(aID[:], bID[:])
}

// compareSpans orders spans by what they are. Two that compare equal can
// change places without anyone telling.
func compareSpans(a, b Placed) int {
	if c := compareStarts(a.Span, b.Span); c != 0 {
		return c
	}
	return cmp.Compare(Hash(a), Hash(b))
}

// spanEntry is a span of many. Spans with the same start and id are redelivered
// or malformed; there may be many of those, so each is hashed once.
type spanEntry struct {
	Placed
	hash   uint64
	hashed bool
}

func compareEntries(a, b *spanEntry) int {
	if c := compareStarts(a.Span, b.Span); c != 0 {
		return c
	}
	return cmp.Compare(a.sum(), b.sum())
}

func (e *spanEntry) sum() uint64 {
	if !e.hashed {
		e.hash, e.hashed = Hash(e.Placed), true
	}
	return e.hash
}

// marshal cannot fail: the protobuf form of pdata has no values that it could
// not hold.
func marshal(td ptrace.Traces) []byte {
	var m ptrace.ProtoMarshaler
	data, _ := m.MarshalTraces(td)
	return data
}
