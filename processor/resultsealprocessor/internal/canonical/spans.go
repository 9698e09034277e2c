// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package canonical puts the spans of a trace in canonical form: the same spans give
// the same bytes in any order of arrival and any split into batches. It also walks and
// hashes spans, and counts those that were redelivered.
package canonical

import (
	"iter"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Spans iterates over all spans.
func Spans(td ptrace.Traces) iter.Seq[ptrace.Span] {
	return func(yield func(ptrace.Span) bool) {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					if !yield(span) {
						return
					}
				}
			}
		}
	}
}

// Placed is a span with its resource and scope.
type Placed struct {
	Resource ptrace.ResourceSpans
	Scope    ptrace.ScopeSpans
	Span     ptrace.Span
}

// PlacedSpans iterates over all spans, each with its resource and scope.
func PlacedSpans(td ptrace.Traces) iter.Seq[Placed] {
	return func(yield func(Placed) bool) {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					if !yield(Placed{rs, ss, span}) {
						return
					}
				}
			}
		}
	}
}

// TraceID returns the trace id of the first span; all zeros if there is none.
func TraceID(td ptrace.Traces) pcommon.TraceID {
	for span := range Spans(td) {
		return span.TraceID()
	}
	return pcommon.TraceID{}
}
