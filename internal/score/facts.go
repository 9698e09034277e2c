// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"cmp"
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// fact is something that happened in a session and may be an event of a
// protocol.
type fact struct {
	kind policy.EventKind
	span int
	time genai.Timestamp
	// late is set for what happened at a span's end: of two facts at the same
	// time, a call comes before a result.
	late bool
	// seq orders the facts of one span at one time.
	seq int

	call  *call             // of a call or a result
	rule  *policy.EventRule // of a span: the rule that found it
	text  string            // of a message
	first bool              // of the user message that opens the session
	calls bool              // of an agent message that asks for calls
}

// facts reads a trace's spans in order: the calls that they show, and what was
// said.
type facts struct {
	t       *trace
	within  func(span int) bool // the spans that count
	calls   *calls
	history *history
	list    []fact
	seq     int
	gap     string // why an event may be missing
	// unheard is set if a message was there and was not captured.
	unheard bool
}

// newFacts reads the spans of a trace that count: all of them (within is nil), or
// those of one conversation. A history from earlier traces of the conversation
// goes on, and so do its calls.
func newFacts(t *trace, within func(int) bool, h *history, known []knownCall) *facts {
	if within == nil {
		within = func(int) bool { return true }
	}
	f := &facts{t: t, within: within, calls: newCalls(t, within, known), history: h}
	for _, i := range f.models() {
		f.model(i)
	}
	f.calls.settle()
	for _, k := range f.calls.list {
		f.call(k)
	}
	f.order(f.list)
	return f
}

// models returns the spans whose messages count, by start: the model spans, but
// not one that another instrumentation put around or inside another; and agent
// spans where no model span inside has any.
func (f *facts) models() []int {
	t := f.t
	heard := make(map[int]bool) // spans at or under which a model span has messages
	var models []int
	for _, i := range t.order {
		s := &t.spans[i]
		if s.Kind != genai.Model || !f.within(i) || f.repeats(i) {
			continue
		}
		models = append(models, i)
		if s.Input.Recorded || s.Output.Recorded {
			for at := i; at >= 0 && !heard[at]; at = t.nodes[at].parent {
				heard[at] = true
			}
		}
	}
	for _, i := range t.order {
		s := &t.spans[i]
		if s.Kind == genai.Agent && f.within(i) && !heard[i] && (s.Input.Recorded || s.Output.Recorded) {
			for at := i; at >= 0 && !heard[at]; at = t.nodes[at].parent {
				heard[at] = true
			}
			models = append(models, i)
		}
	}
	slices.SortStableFunc(models, func(a, b int) int { return cmp.Compare(t.nodes[a].start, t.nodes[b].start) })
	return models
}

// repeats reports whether a model span stands inside another one that has its
// messages already.
func (f *facts) repeats(i int) bool {
	for at := f.t.nodes[i].parent; at >= 0; at = f.t.nodes[at].parent {
		if s := &f.t.spans[at]; s.Kind == genai.Model {
			return s.Input.Recorded && s.Output.Recorded
		}
	}
	return false
}

// model reads one model call: what is new in its input, and its answer.
func (f *facts) model(i int) {
	t := f.t
	s, n := &t.spans[i], &t.nodes[i]
	if !s.Input.Recorded || s.Input.Broken || s.Output.Broken || !s.Output.Recorded && s.Failure.Kind == genai.NoFailure {
		f.unheard = true
	}
	for _, news := range f.history.read(s.Input.List) {
		m := news.message
		if news.prior {
			f.asks(m, i, fromPrior)
			continue
		}
		for j := range m.Parts {
			if p := &m.Parts[j]; p.Kind == genai.ResponsePart {
				f.calls.show(p, i)
			}
		}
		switch roleOf(m) {
		case genai.User:
			if m.Uncaptured {
				f.unheard = true
			} else if m.Says() {
				f.add(fact{kind: policy.UserMessage, span: i, time: n.start, text: m.Text(), first: news.first})
			}
		case genai.Assistant:
			f.asks(m, i, fromHistory)
			f.says([]genai.Message{*m}, i, n.start, false)
		}
	}
	answer := s.Output.List
	for j := range answer {
		f.asks(&answer[j], i, fromAnswer)
		for k := range answer[j].Parts {
			// A summary of a whole run, or a tool that the provider ran.
			if p := &answer[j].Parts[k]; p.Kind == genai.ResponsePart {
				f.calls.show(p, i)
			}
		}
	}
	f.history.answered(answer)
	f.says(answer, i, n.end, true)
}

func (f *facts) asks(m *genai.Message, model int, from source) {
	for j := range m.Parts {
		if p := &m.Parts[j]; p.Kind == genai.CallPart {
			f.calls.ask(p, model, from)
		}
	}
}

// says adds an agent's answer: one, however many messages it was recorded as.
func (f *facts) says(answer []genai.Message, span int, time genai.Timestamp, late bool) {
	var texts []string
	asks := false
	for i := range answer {
		m := &answer[i]
		if roleOf(m) != genai.Assistant {
			continue
		}
		asks = asks || m.Calls()
		f.unheard = f.unheard || m.Uncaptured
		if text := m.Text(); strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) > 0 {
		f.add(fact{kind: policy.AgentMessage, span: span, time: time, late: late, text: strings.Join(texts, "\n"), calls: asks})
	}
}

// call adds a call's two facts.
func (f *facts) call(k *call) {
	if k.prior && len(k.spans) == 0 && k.shownAt < 0 {
		return
	}
	if (!k.prior || len(k.spans) > 0) && !k.called {
		f.add(fact{kind: policy.ToolCall, span: k.at, time: k.start, late: len(k.spans) == 0, call: k})
	}
	if k.returned && !k.answered {
		span := k.at
		if len(k.spans) == 0 {
			span = k.shownAt
		}
		f.add(fact{kind: policy.ToolResult, span: span, time: k.end, late: len(k.spans) > 0, call: k})
	}
}

func (f *facts) add(x fact) {
	x.seq = f.seq
	f.seq++
	f.list = append(f.list, x)
}

// order sorts by time; of two at once, a parent's before its child's, a call
// before a result, then by span id.
func (f *facts) order(list []fact) {
	slices.SortFunc(list, func(a, b fact) int { return f.compare(&a, &b) })
}

func (f *facts) compare(a, b *fact) int {
	t := f.t
	return cmp.Or(
		cmp.Compare(a.time, b.time),
		cmp.Compare(t.nodes[a.span].depth, t.nodes[b.span].depth),
		cmp.Compare(rank(a), rank(b)),
		compareIDs(t.spans[a.span].SpanID, t.spans[b.span].SpanID),
		cmp.Compare(a.seq, b.seq),
	)
}

func rank(f *fact) int {
	if f.late {
		return 1
	}
	return 0
}

// serialized moves each result next to its call: calls that overlap become
// pairs, in the order in which they began.
func serialized(list []fact) []fact {
	results := map[*call]int{}
	for i := range list {
		if list[i].kind == policy.ToolResult {
			results[list[i].call] = i
		}
	}
	out := make([]fact, 0, len(list))
	called := map[*call]bool{}
	for i := range list {
		x := &list[i]
		switch {
		case x.kind == policy.ToolCall:
			called[x.call] = true
			out = append(out, *x)
			if r, ok := results[x.call]; ok {
				out = append(out, list[r])
			}
		case x.kind == policy.ToolResult && called[x.call]:
		default:
			out = append(out, *x)
		}
	}
	return out
}
