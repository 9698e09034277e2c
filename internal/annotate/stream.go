// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package annotate

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// Seal writes what a span proves by itself. v is the verdict on this span alone.
func (w *Writer) Seal(span ptrace.Span, v *score.Session) {
	for i := range v.Spans {
		if o := v.Spans[i].Observation; o >= 0 {
			w.observation(span, &v.Observations[o])
		}
	}
}

// Steps writes what protocols say of some of a session's spans, and nothing of
// the session. span returns the span with an index of the verdict, false if
// nothing is to be written onto it.
func (w *Writer) Steps(v *score.Session, span func(int) (ptrace.Span, bool)) {
	for i := range v.Spans {
		if s := &v.Spans[i]; len(s.Events) > 0 {
			if to, ok := span(s.Span); ok {
				w.events(to, v, s.Events)
			}
		}
	}
}
