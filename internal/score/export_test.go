// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import "github.com/resultseal/otelcol-resultseal/internal/genai"

// ExplainLive is Explain in a processor.
func (s *Scorer) ExplainLive(spans []genai.Span, store Conversations, live Live) (*Session, *Account) {
	a := &Account{calls: map[*call]int{}, tries: map[*call][]Trial{}}
	v := s.judge(spans, store, &live, a)
	if v == nil {
		return nil, nil
	}
	return v, a
}
