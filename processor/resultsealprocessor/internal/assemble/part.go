// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// Part is the spans of one trace in one batch.
type Part struct {
	ID pcommon.TraceID
	// Revision is the policy that was in force when the part arrived, and then the one
	// that evaluates its trace.
	Revision *revision.Revision
	Spans    ptrace.Traces
	Count    int

	// Facts and Unreadable are set by [Handler.Early], see [Early].
	Facts      []Fact
	Unreadable bool

	bytes    int64 // of memory, see Footprint
	root     bool  // one of the spans is a root
	refs     []wal.Ref
	inFlight *inFlight // in mode stream

	// The resource and scope of the batch that the last resource and scope of
	// spans were copied from.
	resource, scope int
}

// Split moves the spans of a batch apart by trace id, in the order in
// which the traces first appear, and leaves the batch empty. Spans are moved,
// never copied; a resource and a scope are copied once for each further trace
// that has spans under them. A batch of one trace is moved as it stands.
func Split(td ptrace.Traces) []*Part {
	if part := wholeBatch(td); part != nil {
		part.measure()
		return []*Part{part}
	}
	return SplitOff(td, func(int) bool { return true })
}

// SplitOff moves those spans of a batch apart for which takes returns true, by their
// number in the batch, and leaves the others.
func SplitOff(td ptrace.Traces, takes func(i int) bool) (parts []*Part) {
	byID := map[pcommon.TraceID]*Part{}
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
					part = &Part{ID: span.TraceID(), Spans: ptrace.NewTraces(), resource: -1, scope: -1}
					byID[part.ID] = part
					parts = append(parts, part)
				}
				part.Count++
				part.root = part.root || IsRoot(span)
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

func (p *Part) measure() { p.bytes = Footprint(p.Spans) }

// CutChildren moves the spans that are no roots into a part of their own.
func (p *Part) CutChildren() *Part {
	children := &Part{ID: p.ID, Spans: ptrace.NewTraces(), inFlight: p.inFlight, resource: -1, scope: -1}
	for r, rs := range p.Spans.ResourceSpans().All() {
		for s, ss := range rs.ScopeSpans().All() {
			ss.Spans().RemoveIf(func(span ptrace.Span) bool {
				if IsRoot(span) {
					return false
				}
				span.MoveTo(children.sliceFor(r, rs, s, ss).AppendEmpty())
				children.Count++
				return true
			})
		}
	}
	children.measure()
	return children
}

// wholeBatch returns a batch whose spans are all of one trace as a part, or nil.
// A batch without any span is of no trace, and has no part.
func wholeBatch(td ptrace.Traces) *Part {
	var part *Part
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				if part == nil {
					part = &Part{ID: span.TraceID()}
				} else if span.TraceID() != part.ID {
					return nil
				}
				part.Count++
				part.root = part.root || IsRoot(span)
			}
		}
	}
	if part != nil {
		part.Spans = ptrace.NewTraces()
		td.ResourceSpans().MoveAndAppendTo(part.Spans.ResourceSpans())
	}
	return part
}

// marshal returns the spans as OTLP protobuf. It cannot fail: the protobuf form of
// pdata has no values that it could not hold.
func (p *Part) marshal() []byte {
	var m ptrace.ProtoMarshaler
	data, _ := m.MarshalTraces(p.Spans)
	return data
}

// sliceFor is where a span of the batch's r-th resource and s-th scope goes.
func (p *Part) sliceFor(r int, rs ptrace.ResourceSpans, s int, ss ptrace.ScopeSpans) ptrace.SpanSlice {
	resources := p.Spans.ResourceSpans()
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

// IsRoot reports whether nothing above the span is waited for: it has no
// parent, or its parent is another service's. A trace may have several.
func IsRoot(span ptrace.Span) bool {
	return span.ParentSpanID().IsEmpty() || genai.RemoteParent(span)
}

// GiveBack moves the spans of parts back into a batch that was split.
func GiveBack(parts []*Part, td ptrace.Traces) {
	for _, part := range parts {
		part.Spans.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
	}
}

// ReadPart reads an entry of the log. clean is called on its spans: an earlier release
// may have written them.
func ReadPart(ref wal.Ref, payload []byte, clean func(ptrace.Traces)) (*Part, error) {
	td, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(payload)
	if err != nil {
		return nil, err
	}
	clean(td)
	parts := Split(td)
	if len(parts) != 1 {
		return nil, errDamaged
	}
	parts[0].refs = []wal.Ref{ref}
	return parts[0], nil
}
