// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
)

// Buffered spans are counted in bytes of memory, not of OTLP protobuf: a small span takes
// several times its size on the wire, one with a long result hardly more.
//
// The sizes below are those of pdata's structures on a 64-bit machine with what the
// allocator and growing slices add, and of the assembler's own structures. Tests compare
// the count with the heap, and with the memory of a process.
const (
	// partBytes are the buffered trace, its place in the assembler and the
	// queues, and the pdata around its spans.
	partBytes         = 640
	resourceBytes     = 136
	scopeBytes        = 136
	spanBytes         = 256
	eventBytes        = 88
	linkBytes         = 112
	attributeBytes    = 58 // a key with its value
	valueBytes        = 24 // an element of a list
	stringHeaderBytes = 16 // what a string value points to
	numberBytes       = 8
	nestedBytes       = 24
	entityRefBytes    = 104 // an entity reference of a resource
	entityKeyBytes    = 16
)

// Footprint estimates by how much the process grows to buffer spans: the memory that
// they take, and as much again for what Go's garbage collector leaves unused before it
// runs.
func Footprint(td ptrace.Traces) int64 {
	n := partBytes
	for _, rs := range td.ResourceSpans().All() {
		n += resourceBytes + mapBytes(rs.Resource().Attributes()) + stringBytes(rs.SchemaUrl()) + entityBytes(rs.Resource())
		for _, ss := range rs.ScopeSpans().All() {
			scope := ss.Scope()
			n += scopeBytes + mapBytes(scope.Attributes()) + stringBytes(scope.Name()) + stringBytes(scope.Version()) + stringBytes(ss.SchemaUrl())
			for _, span := range ss.Spans().All() {
				n += footprintOfSpan(span)
			}
		}
	}
	return int64(2 * n)
}

func footprintOfSpan(span ptrace.Span) int {
	n := spanBytes + mapBytes(span.Attributes()) + stringBytes(span.Name()) +
		stringBytes(span.TraceState().AsRaw()) + stringBytes(span.Status().Message())
	for _, event := range span.Events().All() {
		n += eventBytes + mapBytes(event.Attributes()) + stringBytes(event.Name())
	}
	for _, link := range span.Links().All() {
		n += linkBytes + mapBytes(link.Attributes()) + stringBytes(link.TraceState().AsRaw())
	}
	return n
}

// entityBytes returns the size of the entity references of a resource.
func entityBytes(resource pcommon.Resource) (n int) {
	for _, ref := range entity.ResourceEntityRefs(resource).All() {
		n += entityRefBytes + stringBytes(ref.SchemaUrl()) + stringBytes(ref.Type())
		for _, keys := range [...]pcommon.StringSlice{ref.IdKeys(), ref.DescriptionKeys()} {
			for _, key := range keys.All() {
				n += entityKeyBytes + stringBytes(key)
			}
		}
	}
	return n
}

func mapBytes(m pcommon.Map) int {
	n := 0
	for key, value := range m.All() {
		n += attributeBytes + stringBytes(key) + innerBytes(value)
	}
	return n
}

// innerBytes returns the size of a value besides its place in a map or list.
func innerBytes(v pcommon.Value) int {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return stringHeaderBytes + stringBytes(v.Str())
	case pcommon.ValueTypeBytes:
		return nestedBytes + roundUp(v.Bytes().Len())
	case pcommon.ValueTypeMap:
		return nestedBytes + mapBytes(v.Map())
	case pcommon.ValueTypeSlice:
		n := nestedBytes
		for _, element := range v.Slice().All() {
			n += valueBytes + innerBytes(element)
		}
		return n
	case pcommon.ValueTypeEmpty:
		return 0
	default:
		return numberBytes
	}
}

func stringBytes(s string) int { return roundUp(len(s)) }

// roundUp returns what the allocator makes of n bytes, about.
func roundUp(n int) int { return (n + n/16 + 15) &^ 15 }
