// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
)

// Trace is a completed trace, or late spans of one.
type Trace struct {
	ID       pcommon.TraceID
	Revision *revision.Revision // evaluates the trace
	Spans    ptrace.Traces      // in the order of arrival; the zero value if all were forwarded early
	Count    int                // of spans, with those without GenAI content that were forwarded early
	// Cause is why the trace was completed. For late spans it is why their trace was.
	Cause Cause
	// Late is set for spans that arrived after their trace was completed.
	Late bool
	// Early is what is kept of the spans that were forwarded early.
	Early Early

	receipt receipt
}

// AllForwarded reports whether all spans were forwarded early, so that there is no span
// to evaluate or to forward.
func (t *Trace) AllForwarded() bool { return t.Spans == (ptrace.Traces{}) }

// Early is what is kept of the spans of a trace that are forwarded before the trace is
// completed, in mode stream.
type Early struct {
	Facts []Fact     // of all spans with GenAI content, also of roots, which are buffered
	Plain PlainSpans // of spans without GenAI content
	// Unreadable is set if the evaluation of a span failed. The trace has no verdict.
	Unreadable bool
}

// IsEmpty reports whether no span was forwarded early, as in mode trace.
func (e *Early) IsEmpty() bool { return e.Facts == nil && e.Plain.spans == nil && !e.Unreadable }

// Fact is what is kept of a span with GenAI content.
type Fact struct {
	genai.Span
	Hash uint64 // of everything that the span held; distinguishes copies of a span
	Root bool   // the span itself is buffered
}

// Cause is why a trace was completed, as in resultseal.session.finalized_by and in
// metrics.
type Cause uint8

// The causes.
const (
	// ByRoot: a root span arrived, and root_delay passed after it.
	ByRoot Cause = iota
	// ByIdle: no span arrived for idle_timeout.
	ByIdle
	// ByMaxAge: max_age passed since the first span.
	ByMaxAge
	// ByOverflow: it was the oldest trace when max_traces or max_bytes was exceeded.
	ByOverflow
	// ByOversize: it alone exceeded max_bytes or max_spans_per_trace.
	ByOversize
	// ByShutdown: the collector was stopped or its configuration reloaded.
	ByShutdown
)

func (c Cause) String() string {
	switch c {
	case ByRoot:
		return "root"
	case ByIdle:
		return "idle"
	case ByMaxAge:
		return "max_age"
	case ByOverflow:
		return "overflow"
	case ByOversize:
		return "oversize"
	case ByShutdown:
		return "shutdown"
	}
	return "unknown"
}
