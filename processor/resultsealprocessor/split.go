// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// tracePart is what one batch holds of one trace.
type tracePart struct {
	id pcommon.TraceID
	// revision is the one in force when the part came, and the trace's own once the
	// shard knows that.
	revision *revision.Revision
	spans    ptrace.Traces
	count    int
	bytes    int64 // of memory, see footprint
	root     bool  // one of the spans is a root

	// In mode stream, see streamer.
	facts      []streamFact
	unreadable bool
	passage    *passage

	entry []wal.Ref // its name in the log, if there is one

	// The resource and scope of the batch that the last resource and scope of
	// spans were copied from.
	resource, scope int
}

// splitByTrace moves the spans of a batch apart by trace id, in the order in
// which the traces first appear, and leaves the batch empty. Spans are moved,
// never copied; a resource and a scope are copied once for each further trace
// that has spans under them. A batch of one trace is moved as it stands.
func splitByTrace(td ptrace.Traces) []*tracePart {
	if part := wholeBatch(td); part != nil {
		part.measure()
		return []*tracePart{part}
	}
	return splitOff(td, func(int) bool { return true })
}

// splitOff moves those spans of a batch apart for which takes says so, by their
// number in the batch, and leaves the others.
func splitOff(td ptrace.Traces, takes func(i int) bool) (parts []*tracePart) {
	byID := map[pcommon.TraceID]*tracePart{}
	i := 0
	for r, rs := range td.ResourceSpans().All() {
		for s, ss := range rs.ScopeSpans().All() {
			ss.Spans().RemoveIf(func(span ptrace.Span) bool {
				i++
				if !takes(i - 1) {
					return false
				}
				part, ok := byID[span.TraceID()]
				if !ok {
					part = &tracePart{id: span.TraceID(), spans: ptrace.NewTraces(), resource: -1, scope: -1}
					byID[part.id] = part
					parts = append(parts, part)
				}
				part.count++
				part.root = part.root || isRoot(span)
				span.MoveTo(part.sliceFor(r, rs, s, ss).AppendEmpty())
				return true
			})
		}
	}
	td.ResourceSpans().RemoveIf(func(rs ptrace.ResourceSpans) bool {
		rs.ScopeSpans().RemoveIf(func(ss ptrace.ScopeSpans) bool { return ss.Spans().Len() == 0 })
		return rs.ScopeSpans().Len() == 0
	})
	for _, part := range parts {
		part.measure()
	}
	return parts
}

func (p *tracePart) measure() { p.bytes = footprint(p.spans) }

// wholeBatch takes a batch whose spans are all of one trace, or returns nil.
// A batch without any span is of no trace and dissolves into nothing.
func wholeBatch(td ptrace.Traces) *tracePart {
	var part *tracePart
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				if part == nil {
					part = &tracePart{id: span.TraceID()}
				} else if span.TraceID() != part.id {
					return nil
				}
				part.count++
				part.root = part.root || isRoot(span)
			}
		}
	}
	if part != nil {
		part.spans = ptrace.NewTraces()
		td.ResourceSpans().MoveAndAppendTo(part.spans.ResourceSpans())
	}
	return part
}

// marshal returns the spans as OTLP protobuf. It cannot fail: the protobuf form of
// pdata has no values that it could not hold.
func (p *tracePart) marshal() []byte {
	var m ptrace.ProtoMarshaler
	data, _ := m.MarshalTraces(p.spans)
	return data
}

// sliceFor is where a span of the batch's r-th resource and s-th scope goes.
func (p *tracePart) sliceFor(r int, rs ptrace.ResourceSpans, s int, ss ptrace.ScopeSpans) ptrace.SpanSlice {
	resources := p.spans.ResourceSpans()
	if p.resource != r {
		p.resource, p.scope = r, -1
		to := resources.AppendEmpty()
		rs.Resource().CopyTo(to.Resource())
		to.SetSchemaUrl(rs.SchemaUrl())
	}
	scopes := resources.At(resources.Len() - 1).ScopeSpans()
	if p.scope != s {
		p.scope = s
		to := scopes.AppendEmpty()
		ss.Scope().CopyTo(to.Scope())
		to.SetSchemaUrl(ss.SchemaUrl())
	}
	return scopes.At(scopes.Len() - 1).Spans()
}

// isRoot reports whether nothing above the span is waited for: it has no
// parent, or its parent is another service's. A trace may have several.
func isRoot(span ptrace.Span) bool {
	return span.ParentSpanID().IsEmpty() || genai.RemoteParent(span)
}
