// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
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
	if !isOneGroup(trace) {
		trace = grouped(trace)
	}
	for _, rs := range trace.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			sortSpans(rs, ss)
		}
		if rs.ScopeSpans().Len() > 1 {
			rs.ScopeSpans().Sort(func(a, b ptrace.ScopeSpans) bool {
				return compareSpans(placedSpan{rs, a, a.Spans().At(0)}, placedSpan{rs, b, b.Spans().At(0)}) < 0
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

func firstOf(rs ptrace.ResourceSpans) placedSpan {
	ss := rs.ScopeSpans().At(0)
	return placedSpan{rs, ss, ss.Spans().At(0)}
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
			return compareSpans(placedSpan{rs, ss, a}, placedSpan{rs, ss, b}) < 0
		})
	default:
		entries := make([]spanEntry, 0, spans.Len())
		order := make([]*spanEntry, 0, spans.Len())
		for _, span := range spans.All() {
			entries = append(entries, spanEntry{placedSpan: placedSpan{rs, ss, span}})
			order = append(order, &entries[len(entries)-1])
		}
		slices.SortFunc(order, compareEntries)
		sorted := ptrace.NewSpanSlice()
		sorted.EnsureCapacity(len(order))
		for _, e := range order {
			e.span.MoveTo(sorted.AppendEmpty())
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
func compareSpans(a, b placedSpan) int {
	if c := compareStarts(a.span, b.span); c != 0 {
		return c
	}
	return cmp.Compare(hashSpan(a.rs, a.ss, a.span), hashSpan(b.rs, b.ss, b.span))
}

// spanEntry is a span of many. Spans with the same start and id are redelivered
// or malformed; there may be many of those, so each is hashed once.
type spanEntry struct {
	placedSpan
	hash   uint64
	hashed bool
}

func compareEntries(a, b *spanEntry) int {
	if c := compareStarts(a.span, b.span); c != 0 {
		return c
	}
	return cmp.Compare(a.sum(), b.sum())
}

func (e *spanEntry) sum() uint64 {
	if !e.hashed {
		e.hash, e.hashed = hashSpan(e.rs, e.ss, e.span), true
	}
	return e.hash
}

// countDuplicates counts the redelivered spans.
func countDuplicates(trace ptrace.Traces) int {
	var few [32]uint64
	ids := few[:0]
	for span := range spansOf(trace) {
		id := span.SpanID()
		ids = append(ids, binary.BigEndian.Uint64(id[:]))
	}
	if repeated(ids) == 0 {
		return 0
	}
	copies := make([]spanCopy, 0, len(ids))
	for span := range spansOf(trace) {
		copies = append(copies, spanCopy{
			id: span.SpanID(), kind: genai.SpanKind(span.Kind()), start: span.StartTimestamp(), //nolint:gosec // OTLP has six
			name: genai.HashName(span.Name()), ended: span.EndTimestamp() != 0,
		})
	}
	return redelivered(copies)
}

// spanCopy is what redeliveries of a span have in common, see score's spanIDs.
type spanCopy struct {
	id    pcommon.SpanID
	kind  genai.SpanKind
	start pcommon.Timestamp
	name  uint64
	ended bool
}

// redelivered counts the spans that repeat another one, and sorts them. Spans
// without an id repeat nothing.
func redelivered(copies []spanCopy) (n int) {
	compareEnds := func(a, b spanCopy) int {
		switch {
		case a.ended == b.ended:
			return 0
		case a.ended:
			return -1
		}
		return 1
	}
	slices.SortFunc(copies, func(a, b spanCopy) int {
		return cmp.Or(bytes.Compare(a.id[:], b.id[:]), cmp.Compare(a.kind, b.kind), cmp.Compare(a.start, b.start), compareEnds(a, b), cmp.Compare(a.name, b.name))
	})
	for i := 1; i < len(copies); i++ {
		a, b := &copies[i-1], &copies[i]
		if !b.id.IsEmpty() && a.id == b.id && a.kind == b.kind && a.start == b.start && (a.name == b.name || !b.ended) {
			n++
		}
	}
	return n
}

// repeated counts the ids that stand somewhere before in the list, and sorts it.
// Spans without an id, which is 0, repeat nothing.
func repeated(ids []uint64) (n int) {
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] && ids[i] != 0 {
			n++
		}
	}
	return n
}

// marshal cannot fail: the protobuf form of pdata has no values that it could
// not hold.
func marshal(td ptrace.Traces) []byte {
	var m ptrace.ProtoMarshaler
	data, _ := m.MarshalTraces(td)
	return data
}
