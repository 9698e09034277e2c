// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"fmt"
	"iter"
	"runtime"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// judgeFunc decodes and scores the spans of a finished trace, which are in
// canonical form, and writes the verdicts onto them in place. It adds
// attributes and span events at the end of what is there, and neither adds,
// removes nor reorders spans. It is called from one goroutine.
type judgeFunc func(td ptrace.Traces, fin finish)

// newJudge makes the judge of a policy. It is the one place where the
// processor meets the packages that score and annotate.
func newJudge(component.TelemetrySettings, *Config, *policy.Policy, *recorder) judgeFunc {
	return func(ptrace.Traces, finish) {}
}

// guard makes of a judge one that does not panic: a trace whose scoring fails
// is left as it was before.
func guard(judge judgeFunc, logger *zap.Logger, rec *recorder) judgeFunc {
	return func(td ptrace.Traces, fin finish) {
		before := measureSpans(td)
		defer func() {
			if failure := recover(); failure != nil {
				before.restore(td)
				rec.Unscored()
				logger.Error("scoring a trace failed; the trace is passed on without a verdict",
					zap.Stringer("trace_id", traceIDOf(td)),
					zap.String("panic", describePanic(failure)),
					zap.StackSkip("stack", 1))
			}
		}()
		judge(td, fin)
	}
}

// describePanic says what went wrong without any text that could come from a
// span. The runtime's own errors hold types and numbers only.
func describePanic(failure any) string {
	if err, ok := failure.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", failure)
}

// spanSizes are the numbers of attributes and events of each span of a trace.
// What a judge wrote comes after them, so they are all that it takes to undo
// it, and much less than a copy of the trace.
type spanSizes []struct{ attributes, events int }

func measureSpans(td ptrace.Traces) spanSizes {
	sizes := make(spanSizes, 0, td.SpanCount())
	for span := range spansOf(td) {
		sizes = append(sizes, struct{ attributes, events int }{span.Attributes().Len(), span.Events().Len()})
	}
	return sizes
}

// restore takes away what was added since the sizes were taken.
func (sizes spanSizes) restore(td ptrace.Traces) {
	at := 0
	for span := range spansOf(td) {
		size := sizes[at]
		at++
		n := 0
		span.Attributes().RemoveIf(func(string, pcommon.Value) bool {
			n++
			return n > size.attributes
		})
		n = 0
		span.Events().RemoveIf(func(ptrace.SpanEvent) bool {
			n++
			return n > size.events
		})
	}
}

// spansOf walks all spans.
func spansOf(td ptrace.Traces) iter.Seq[ptrace.Span] {
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

// traceIDOf is the trace id of the first span; finished spans are of one
// trace.
func traceIDOf(td ptrace.Traces) pcommon.TraceID {
	for span := range spansOf(td) {
		return span.TraceID()
	}
	return pcommon.TraceID{}
}
