// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package annotate

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// takeBack removes what stands under the writer's own prefix already: verdicts of
// a collector before this one, or of a sender who would like to be believed. So
// judging a span again gives what judging it once gives, and nothing under the
// prefix is somebody else's word.
func (w *Writer) takeBack(spans []ptrace.Span) {
	for _, span := range spans {
		if span == (ptrace.Span{}) {
			continue // passed on before; only its facts are left
		}
		if w.marked(span.Attributes()) {
			span.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool { return w.own(key) })
		}
		events := span.Events()
		for i := range events.Len() {
			if w.ownEvent(events.At(i)) {
				events.RemoveIf(w.ownEvent)
				break
			}
		}
	}
}

func (w *Writer) own(name string) bool { return strings.HasPrefix(name, w.o.Prefix) }

func (w *Writer) marked(attributes pcommon.Map) bool {
	for key := range attributes.All() {
		if w.own(key) {
			return true
		}
	}
	return false
}

func (w *Writer) ownEvent(event ptrace.SpanEvent) bool {
	if w.own(event.Name()) {
		return true
	}
	if event.Name() != evaluationEvent {
		return false
	}
	name, ok := event.Attributes().Get(evaluationName)
	return ok && w.own(name.AsString())
}
