// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"cmp"
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// models returns the spans whose messages count, by start: the model spans, but
// not one that another instrumentation put around, inside or beside another; and
// agent spans where no model span inside has any.
func (f *facts) models() []int {
	t := f.t
	heard := make(map[int]bool) // spans at or under which a model span has messages
	hear := func(i int) {
		for at := i; at >= 0 && !heard[at]; at = t.nodes[at].parent {
			heard[at] = true
		}
	}
	var models []int
	for _, i := range t.order {
		s := &t.spans[i]
		if s.Kind != genai.Model || !f.within(i) || f.repeats(i) || f.repeatsBeside(models, i) {
			continue
		}
		models = append(models, i)
		if s.Input.Recorded || s.Output.Recorded {
			hear(i)
		}
	}
	// A model span without messages around one that has them says nothing of what
	// was not captured.
	models = slices.DeleteFunc(models, func(i int) bool {
		return heard[i] && !t.spans[i].Input.Recorded && !t.spans[i].Output.Recorded
	})
	for _, i := range t.order {
		s := &t.spans[i]
		if s.Kind == genai.Agent && f.within(i) && !heard[i] && !f.repeatsAgent(i) && (s.Input.Recorded || s.Output.Recorded) {
			hear(i)
			models = append(models, i)
		}
	}
	slices.SortStableFunc(models, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(t.nodes[a].start, t.nodes[b].start),
			cmp.Compare(t.nodes[a].skewedStart, t.nodes[b].skewedStart),
		)
	})
	return models
}

// repeats reports whether a model span stands inside another one that has its
// messages already. A tool or an agent between them is an agent that the model's
// tool is.
func (f *facts) repeats(i int) bool {
	above := f.t.nodes[i].above
	if above < 0 {
		return false
	}
	s := &f.t.spans[above]
	return s.Kind == genai.Model && s.Input.Recorded && s.Output.Recorded
}

// repeatsAgent reports whether an agent's span stands directly inside a client's span
// of the same call of the agent, which has its messages already.
func (f *facts) repeatsAgent(i int) bool {
	above := f.t.nodes[i].above
	if above < 0 {
		return false
	}
	s := &f.t.spans[above]
	return s.Kind == genai.Agent && s.SpanKind == genai.ClientSpan && s.Agent == f.t.spans[i].Agent && s.Input.Recorded && s.Output.Recorded
}

// maxModelsBeside bounds how many model spans are looked at for one that shows
// the same call.
const maxModelsBeside = 8

// repeatsBeside reports whether another instrumentation recorded the same model
// call at the same time.
func (f *facts) repeatsBeside(models []int, i int) bool {
	t := f.t
	s, n := &t.spans[i], &t.nodes[i]
	if len(s.Output.List) == 0 {
		return false
	}
	for k := len(models) - 1; k >= 0 && k >= len(models)-maxModelsBeside; k-- {
		other := &t.spans[models[k]]
		o := &t.nodes[models[k]]
		if other.Scope == s.Scope || o.service != n.service || o.start > n.end || n.start > o.end || len(other.Output.List) != len(s.Output.List) {
			continue
		}
		same := true
		for j := range s.Output.List {
			same = same && hash(&s.Output.List[j]) == hash(&other.Output.List[j])
		}
		if same {
			return true
		}
	}
	return false
}
