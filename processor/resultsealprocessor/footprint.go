// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
)

// What is held is counted in bytes of memory, since that is what runs out. The
// size as OTLP protobuf would be a poor measure of it: a span with little in it
// takes several times its size on the wire, one with a long result hardly more.
//
// The sizes below are those of pdata's structures on a 64-bit machine with what
// the allocator and growing slices add, and of what the assembler keeps itself.
// Tests compare the count with the heap, and with the memory of a process.
const (
	// partBytes are the trace that is held, its place in the assembler and the
	// queues, and the pdata around its spans.
	partBytes      = 640
	resourceBytes  = 136
	scopeBytes     = 136
	spanBytes      = 256
	eventBytes     = 88
	linkBytes      = 112
	attributeBytes = 58 // a key with its value
	valueBytes     = 24 // an element of a list
	textualBytes   = 16 // what a value that is a text points to
	numberBytes    = 8
	nestedBytes    = 24
	entityRefBytes = 104 // an entity reference of a resource
	entityKeyBytes = 16
)

// footprint is by how much the process grows to hold the spans of a part,
// estimated: the memory that they take, and as much again, which is what Go's
// garbage collector lets lie around before it works.
func footprint(td ptrace.Traces) int64 {
	n := partBytes
	for _, rs := range td.ResourceSpans().All() {
		n += resourceBytes + mapBytes(rs.Resource().Attributes()) + textBytes(rs.SchemaUrl()) + entityBytes(rs.Resource())
		for _, ss := range rs.ScopeSpans().All() {
			scope := ss.Scope()
			n += scopeBytes + mapBytes(scope.Attributes()) + textBytes(scope.Name()) + textBytes(scope.Version()) + textBytes(ss.SchemaUrl())
			for _, span := range ss.Spans().All() {
				n += footprintOfSpan(span)
			}
		}
	}
	return int64(2 * n)
}

func footprintOfSpan(span ptrace.Span) int {
	n := spanBytes + mapBytes(span.Attributes()) + textBytes(span.Name()) +
		textBytes(span.TraceState().AsRaw()) + textBytes(span.Status().Message())
	for _, event := range span.Events().All() {
		n += eventBytes + mapBytes(event.Attributes()) + textBytes(event.Name())
	}
	for _, link := range span.Links().All() {
		n += linkBytes + mapBytes(link.Attributes()) + textBytes(link.TraceState().AsRaw())
	}
	return n
}

// entityBytes is what the entity references of a resource take.
func entityBytes(resource pcommon.Resource) (n int) {
	for _, ref := range entity.ResourceEntityRefs(resource).All() {
		n += entityRefBytes + textBytes(ref.SchemaUrl()) + textBytes(ref.Type())
		for _, keys := range [...]pcommon.StringSlice{ref.IdKeys(), ref.DescriptionKeys()} {
			for _, key := range keys.All() {
				n += entityKeyBytes + textBytes(key)
			}
		}
	}
	return n
}

func mapBytes(m pcommon.Map) int {
	n := 0
	for key, value := range m.All() {
		n += attributeBytes + textBytes(key) + innerBytes(value)
	}
	return n
}

// innerBytes is what a value takes besides its place in a map or list.
func innerBytes(v pcommon.Value) int {
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return textualBytes + textBytes(v.Str())
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

func textBytes(s string) int { return roundUp(len(s)) }

// roundUp is what the allocator makes of n bytes, about.
func roundUp(n int) int { return (n + n/16 + 15) &^ 15 }
