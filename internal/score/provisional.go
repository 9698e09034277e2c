// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// Provisional steps the protocols that follow traces by the spans that have come
// so far, as if no others were missing, and returns the steps of the fresh ones.
// A protocol's steps are left out if a fresh span belongs before one that was
// there already: what was said of that one may be wrong.
//
// Nothing of it is final. A violation here may be explained by spans that are
// still to come.
func (s *Scorer) Provisional(spans []genai.Span, fresh func(span int) bool) (v *Session) {
	if len(spans) == 0 || !s.concerns(spans) {
		return nil
	}
	defer s.giveUp(spans, nil, &v)
	t := newTrace(spans, s.newWork(len(spans)))
	t.gaps = 0
	f := newFacts(t, nil, &history{}, nil)
	v = &Session{TraceID: spans[0].TraceID, Root: t.root(), Complete: true}
	observations := s.observe(t, f.calls.list, v)
	for _, p := range s.policy.Protocols {
		if p.Session != policy.SessionTrace || !t.follows(p, nil) {
			continue
		}
		verdict := follow(f, p, observations, &followed{}, maxSeenTrace)
		verdict.Events = freshEnd(verdict.Events, fresh)
		v.judge(verdict)
	}
	v.Observations = nil // each span has its own seal, see [Scorer.Late]
	v.index(t)
	return v
}

// freshEnd returns the events of fresh spans if all of them come last.
func freshEnd(events []Event, fresh func(int) bool) []Event {
	first := slices.IndexFunc(events, func(e Event) bool { return fresh(e.Span) })
	if first < 0 {
		return nil
	}
	for _, e := range events[first:] {
		if !fresh(e.Span) {
			return nil
		}
	}
	return events[first:]
}
