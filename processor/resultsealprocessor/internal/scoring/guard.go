// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"fmt"
	"runtime"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

// guard returns a function that scores a trace and does not panic: a trace whose scoring
// fails is left as it was before.
func (s *Scoring) guard(scoreTrace func(*trace)) func(*trace) {
	return func(t *trace) {
		if t.failed {
			return
		}
		var before spanSizes
		if !t.scored {
			before = measureSpans(t.Spans)
		}
		defer func() {
			if failure := recover(); failure != nil {
				before.restore(t.Spans)
				t.failed, t.verdict = true, nil
				s.unscored(t.Spans, failure)
			}
		}()
		scoreTrace(t)
	}
}

// unscored reports a panic, from within the function that recovered it.
func (s *Scoring) unscored(td ptrace.Traces, failure any) {
	s.Recorder.Unscored()
	s.Logger.Error("scoring a trace failed; the trace is passed on without a verdict",
		zap.Stringer("trace_id", canonical.TraceID(td)),
		zap.String("panic", describePanic(failure)),
		zap.StackSkip("stack", 2))
}

// describePanic describes a panic without any text that could come from a span. The
// runtime's own errors hold types and numbers only.
func describePanic(failure any) string {
	if err, ok := failure.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", failure)
}

// spanSizes are the numbers of attributes and events of each span of a trace. Scoring
// only appends, so they are all that it takes to undo it, and much less than a copy of the
// trace.
type spanSizes []struct{ attributes, events int }

func measureSpans(td ptrace.Traces) spanSizes {
	sizes := make(spanSizes, 0, td.SpanCount())
	for span := range canonical.Spans(td) {
		sizes = append(sizes, struct{ attributes, events int }{span.Attributes().Len(), span.Events().Len()})
	}
	return sizes
}

// restore removes what was appended since the sizes were taken.
func (sizes spanSizes) restore(td ptrace.Traces) {
	if sizes == nil {
		return
	}
	at := 0
	for span := range canonical.Spans(td) {
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
