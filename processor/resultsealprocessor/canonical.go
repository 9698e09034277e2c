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
// then by all that they hold; groups by their first span. Resources and
// scopes without spans are left out.
func canonicalize(trace ptrace.Traces) (canonical ptrace.Traces, duplicates int) {
	var (
		groups  groupSet
		entries []*spanEntry
		ids     = map[pcommon.SpanID]struct{}{}
	)
	for _, rs := range trace.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			spans := ptrace.NewSpanSlice()
			ss.Spans().MoveAndAppendTo(spans)
			if spans.Len() == 0 {
				continue
			}
			g := groups.find(rs, ss)
			for _, span := range spans.All() {
				entries = append(entries, &spanEntry{span: span, group: g})
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
	resources := map[string]ptrace.ResourceSpans{}
	for _, e := range entries {
		g := e.group
		if !g.placed {
			g.placed = true
			rs, ok := resources[g.resourceKey]
			if !ok {
				rs = canonical.ResourceSpans().AppendEmpty()
				g.resource.MoveTo(rs)
				resources[g.resourceKey] = rs
			}
			g.to = rs.ScopeSpans().AppendEmpty()
			g.scope.MoveTo(g.to)
		}
		e.span.MoveTo(g.to.Spans().AppendEmpty())
	}
	return canonical, duplicates
}

// spanEntry is one span on its way into the canonical form.
type spanEntry struct {
	span    ptrace.Span
	group   *spanGroup
	encoded []byte // the span as protobuf; made only where it decides
}

// spanGroup is one scope of one resource.
type spanGroup struct {
	resourceKey, scopeKey string               // these, as protobuf
	resource              ptrace.ResourceSpans // without any spans in it
	scope                 ptrace.ScopeSpans    // likewise

	placed bool
	to     ptrace.ScopeSpans
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
	if c := bytes.Compare(a.encode(), b.encode()); c != 0 {
		return c
	}
	if c := cmp.Compare(a.group.resourceKey, b.group.resourceKey); c != 0 {
		return c
	}
	return cmp.Compare(a.group.scopeKey, b.group.scopeKey)
}

func (e *spanEntry) encode() []byte {
	if e.encoded == nil {
		td := ptrace.NewTraces()
		e.span.CopyTo(td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty())
		e.encoded = marshal(td)
	}
	return e.encoded
}

// groupSet finds the group of a resource and a scope.
type groupSet struct {
	byKey map[[2]string]*spanGroup

	// The resource that was looked up last: its scopes follow each other.
	last    ptrace.ResourceSpans
	lastKey string
}

func (s *groupSet) find(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans) *spanGroup {
	if s.last != rs {
		s.last, s.lastKey = rs, string(marshal(resourceOnly(rs)))
	}
	scopeOnly := ptrace.NewTraces()
	ss.CopyTo(scopeOnly.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty())
	key := [2]string{s.lastKey, string(marshal(scopeOnly))}
	g, ok := s.byKey[key]
	if !ok {
		if s.byKey == nil {
			s.byKey = map[[2]string]*spanGroup{}
		}
		g = &spanGroup{
			resourceKey: key[0],
			scopeKey:    key[1],
			resource:    resourceOnly(rs).ResourceSpans().At(0),
			scope:       scopeOnly.ResourceSpans().At(0).ScopeSpans().At(0),
		}
		s.byKey[key] = g
	}
	return g
}

// resourceOnly copies a ResourceSpans without what lies under it.
func resourceOnly(rs ptrace.ResourceSpans) ptrace.Traces {
	td := ptrace.NewTraces()
	to := td.ResourceSpans().AppendEmpty()
	rs.Resource().CopyTo(to.Resource())
	to.SetSchemaUrl(rs.SchemaUrl())
	return td
}

// marshal cannot fail: the protobuf form of pdata has no values that it could
// not hold.
func marshal(td ptrace.Traces) []byte {
	var m ptrace.ProtoMarshaler
	data, _ := m.MarshalTraces(td)
	return data
}
