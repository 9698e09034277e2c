// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package canonical

import (
	"encoding/binary"
	"math"

	"github.com/cespare/xxhash/v2"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
)

// Hash returns a hash of everything that a span holds, in its order, with its resource
// and scope.
func Hash(p Placed) uint64 {
	var h spanHash
	h.digest.Reset()
	h.resource(p.Resource)
	h.scope(p.Scope)
	h.span(p.Span)
	return h.digest.Sum64()
}

// spanHash feeds a hash. Every text is preceded by its length, and every list by
// the number of its elements, so that what ends where is part of the hash.
type spanHash struct {
	digest xxhash.Digest
}

func (h *spanHash) resource(rs ptrace.ResourceSpans) {
	h.text(rs.SchemaUrl())
	h.number(uint64(rs.Resource().DroppedAttributesCount()))
	h.attributes(rs.Resource().Attributes())
	refs := entity.ResourceEntityRefs(rs.Resource())
	h.number(uint64(refs.Len())) //nolint:gosec // not negative
	for _, ref := range refs.All() {
		h.text(ref.SchemaUrl())
		h.text(ref.Type())
		h.texts(ref.IdKeys())
		h.texts(ref.DescriptionKeys())
	}
}

func (h *spanHash) scope(ss ptrace.ScopeSpans) {
	scope := ss.Scope()
	h.text(ss.SchemaUrl())
	h.text(scope.Name())
	h.text(scope.Version())
	h.number(uint64(scope.DroppedAttributesCount()))
	h.attributes(scope.Attributes())
}

func (h *spanHash) span(span ptrace.Span) {
	trace, id, parent := span.TraceID(), span.SpanID(), span.ParentSpanID()
	h.bytes(trace[:])
	h.bytes(id[:])
	h.bytes(parent[:])
	h.text(span.TraceState().AsRaw())
	h.text(span.Name())
	h.number(uint64(span.Kind())<<32 | uint64(span.Flags())) //nolint:gosec // bits
	h.number(uint64(span.StartTimestamp()))
	h.number(uint64(span.EndTimestamp()))
	h.number(uint64(span.DroppedAttributesCount()))
	h.attributes(span.Attributes())
	h.number(uint64(span.DroppedEventsCount()))
	h.number(uint64(span.Events().Len())) //nolint:gosec // not negative
	for _, event := range span.Events().All() {
		h.number(uint64(event.Timestamp()))
		h.text(event.Name())
		h.number(uint64(event.DroppedAttributesCount()))
		h.attributes(event.Attributes())
	}
	h.number(uint64(span.DroppedLinksCount()))
	h.number(uint64(span.Links().Len())) //nolint:gosec // not negative
	for _, link := range span.Links().All() {
		trace, id := link.TraceID(), link.SpanID()
		h.bytes(trace[:])
		h.bytes(id[:])
		h.text(link.TraceState().AsRaw())
		h.number(uint64(link.Flags())<<32 | uint64(link.DroppedAttributesCount()))
		h.attributes(link.Attributes())
	}
	h.number(uint64(span.Status().Code())) //nolint:gosec // bits
	h.text(span.Status().Message())
}

func (h *spanHash) attributes(m pcommon.Map) {
	h.number(uint64(m.Len())) //nolint:gosec // not negative
	for name, value := range m.All() {
		h.text(name)
		h.value(value)
	}
}

func (h *spanHash) value(v pcommon.Value) {
	h.number(uint64(v.Type())) //nolint:gosec // not negative
	switch v.Type() {
	case pcommon.ValueTypeStr:
		h.text(v.Str())
	case pcommon.ValueTypeInt:
		h.number(uint64(v.Int())) //nolint:gosec // bits
	case pcommon.ValueTypeDouble:
		h.number(math.Float64bits(v.Double()))
	case pcommon.ValueTypeBool:
		if v.Bool() {
			h.number(1)
		} else {
			h.number(0)
		}
	case pcommon.ValueTypeBytes:
		h.number(uint64(v.Bytes().Len())) //nolint:gosec // not negative
		for _, b := range v.Bytes().All() {
			h.number(uint64(b))
		}
	case pcommon.ValueTypeMap:
		h.attributes(v.Map())
	case pcommon.ValueTypeSlice:
		h.number(uint64(v.Slice().Len())) //nolint:gosec // not negative
		for _, element := range v.Slice().All() {
			h.value(element)
		}
	case pcommon.ValueTypeEmpty:
	}
}

func (h *spanHash) text(s string) {
	h.number(uint64(len(s)))
	_, _ = h.digest.WriteString(s) // it cannot fail
}

func (h *spanHash) texts(list pcommon.StringSlice) {
	h.number(uint64(list.Len())) //nolint:gosec // not negative
	for _, s := range list.All() {
		h.text(s)
	}
}

func (h *spanHash) bytes(b []byte) { _, _ = h.digest.Write(b) }

func (h *spanHash) number(n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	_, _ = h.digest.Write(b[:])
}
