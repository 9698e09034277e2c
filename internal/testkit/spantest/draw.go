// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"
)

// DrawnSpan is a span with its resource and scope.
type DrawnSpan struct {
	trace, id       string
	Name            string // unique unless the span is a duplicate
	start           int
	root            bool
	resource, scope string
}

// BatchOf lays spans out as they might come: a resource and a scope are
// sometimes continued, sometimes begun again.
func BatchOf(t *rapid.T, spans []DrawnSpan) ptrace.Traces {
	td := ptrace.NewTraces()
	var last *DrawnSpan
	var rs ptrace.ResourceSpans
	var ss ptrace.ScopeSpans
	for i := range spans {
		s := &spans[i]
		continues := last != nil && rapid.Bool().Draw(t, "continues")
		if !continues || s.resource != last.resource {
			rs = td.ResourceSpans().AppendEmpty()
			rs.Resource().Attributes().PutStr("service.name", s.resource)
			rs.SetSchemaUrl("schema/" + s.resource)
			continues = false
		}
		if !continues || s.scope != last.scope {
			ss = rs.ScopeSpans().AppendEmpty()
			ss.Scope().SetName(s.scope)
			ss.SetSchemaUrl("schema/" + s.scope)
		}
		span := ss.Spans().AppendEmpty()
		if s.trace != "" {
			span.SetTraceID(TraceID(s.trace))
		}
		span.SetSpanID(SpanID(s.id))
		span.SetName(s.Name)
		span.SetStartTimestamp(pcommon.Timestamp(s.start))
		if !s.root {
			span.SetParentSpanID(SpanID("parent"))
		}
		last = s
	}
	return td
}

var drawnResources, drawnScopes = []string{"r1", "r2"}, []string{"s1", "s2"}

// Draw draws up to 20 spans of the traces with these names, with redelivered and
// malformed ones among them. The empty name is no trace id.
func Draw(traces ...string) *rapid.Generator[[]DrawnSpan] {
	return rapid.Custom(func(t *rapid.T) []DrawnSpan {
		spans := make([]DrawnSpan, 0, 20)
		for i := range rapid.IntRange(0, 20).Draw(t, "spans") {
			if i > 0 && rapid.IntRange(0, 5).Draw(t, "duplicate") == 0 {
				again := spans[rapid.IntRange(0, i-1).Draw(t, "of")]
				if rapid.Bool().Draw(t, "elsewhere") {
					again.resource = rapid.SampledFrom(drawnResources).Draw(t, "resource")
					again.scope = rapid.SampledFrom(drawnScopes).Draw(t, "scope")
				}
				spans = append(spans, again)
				continue
			}
			spans = append(spans, DrawnSpan{
				trace:    rapid.SampledFrom(traces).Draw(t, "trace"),
				id:       rapid.SampledFrom([]string{"", "a", "b", "c", fmt.Sprint(i)}).Draw(t, "id"),
				Name:     fmt.Sprint("span ", i),
				start:    rapid.IntRange(0, 3).Draw(t, "start"),
				root:     rapid.IntRange(0, 7).Draw(t, "root") == 0,
				resource: rapid.SampledFrom(drawnResources).Draw(t, "resource"),
				scope:    rapid.SampledFrom(drawnScopes).Draw(t, "scope"),
			})
		}
		return spans
	})
}

// Cut cuts spans into batches.
func Cut(t *rapid.T, spans []DrawnSpan) [][]DrawnSpan {
	var batches [][]DrawnSpan
	for len(spans) > 0 {
		n := rapid.IntRange(1, len(spans)).Draw(t, "batch size")
		batches = append(batches, spans[:n])
		spans = spans[n:]
	}
	return batches
}
