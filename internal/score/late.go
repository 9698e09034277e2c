// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import "github.com/resultseal/otelcol-resultseal/internal/genai"

// LateTurn is [Scorer.Late] with the conversations of the late spans: their
// events are stepped where they do not come before what a conversation's
// protocols have consumed already. Only a conversation that a span names or
// inherits from another late span counts.
//
// Joined reports whether the spans became part of what a protocol followed.
func (s *Scorer) LateTurn(spans []genai.Span, store Conversations, live Live) (v *Session, joined bool) {
	if len(spans) == 0 || !s.concerns(spans) {
		return nil, false
	}
	defer s.giveUp(spans, store, &v)
	t := s.newTrace(spans, &live)
	v = &Session{TraceID: spans[0].TraceID, Root: t.root(), Duplicates: len(t.duplicates)}
	v.describe(t)
	c := newCalls(t, func(int) bool { return true }, nil, nil)
	c.broken = true // a model that asked may still come
	c.settle()
	observations := s.observe(t, c.list, v)
	if s.conversational && store != nil {
		for _, id := range t.conversations() {
			if id != "" {
				s.turn(t, id, store.Conversation(id), v, observations, &live)
			}
		}
		for _, id := range t.further {
			store.Skip(id)
		}
		v.Unfollowed = len(t.further)
	}
	v.index(t)
	return v, len(v.Protocols) > 0 && !v.OutOfOrder && !v.Ahead
}
