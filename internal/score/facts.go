// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
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
	// late is set for what happened at a span's end.
	late bool
	// seq orders the facts of one span at one time: 0 for what the span itself
	// shows.
	seq int

	call *call             // of a call or a result
	rule *policy.EventRule // of a span: the rule that found it
	text string            // of a message
	// delegated is set for a user message that an agent was given by another one,
	// as a tool's arguments. Only rules that name agents are about it.
	delegated bool
	first     bool // of the user message that opens the session
	calls     bool // of an agent message that asks for calls
	// unplaced is set if it happened at another time, or in another order with what
	// happened at that time, where spans are missing.
	unplaced bool
}

// mute reports whether a fact is an agent's message without text. It calls tools,
// and is an event only for rules about messages that do.
func (x *fact) mute() bool { return x.kind == policy.AgentMessage && x.text == "" }

// facts reads a trace's spans in order: the calls that they show, and what was
// said.
type facts struct {
	t       *trace
	within  func(span int) bool // the spans that count
	calls   *calls
	history *history
	list    []fact
	seq     int
	unnamed []fact // calls without a name, and their results
	gaps    Gaps   // why an event may be missing: of the spans that count
	earlier Gaps   // the same, of the conversation's earlier traces
	unheard unheard
	// began is set if the session's first model call shows a conversation that
	// came before.
	began bool
}

// unheard says whose messages were there, or may have been, and were not
// captured.
type unheard struct{ user, agent bool }

func (u *unheard) add(o unheard) {
	u.user = u.user || o.user
	u.agent = u.agent || o.agent
}

// newFacts reads the spans of a trace that count: all of them (within is nil), or
// those of one conversation. A history from earlier traces of the conversation
// goes on, and so do its calls.
func newFacts(t *trace, within func(int) bool, h *history, known []knownCall) *facts {
	if within == nil {
		within = func(int) bool { return true }
	}
	f := &facts{t: t, within: within, history: h, gaps: t.gaps}
	models := f.models()
	f.calls = newCalls(t, within, models, known)
	h.enter()
	f.unheard = unheard{user: true, agent: true}
	for _, i := range models {
		// Where no model call tells what was said, anything may have been.
		if s := &t.spans[i]; s.Input.Recorded || s.Output.Recorded {
			f.unheard = unheard{}
		}
	}
	h.work = t.work
	for _, i := range models {
		t.work.spend(1 + len(t.spans[i].Input.List) + len(t.spans[i].Output.List))
		f.model(i)
	}
	f.calls.settle()
	for _, k := range f.calls.list {
		t.work.spend(1)
		f.call(k)
	}
	f.order(f.list)
	return f
}

// model reads one model call: what is new in its input, and its answer.
func (f *facts) model(i int) {
	s, n := &f.t.spans[i], &f.t.nodes[i]
	f.hear(s)
	further := false // the message before was an assistant's, too
	unanswered := !f.unheard.agent
	for _, news := range f.history.read(f.withoutAnswer(s.Input.List, s.Output.List)) {
		m := news.message
		role := roleOf(m)
		switch {
		case news.prior:
			f.began = true
			f.asks(m, i, fromPrior, further)
		case role == genai.Assistant:
			if unanswered {
				f.gaps.Add(GapModelCallMissing)
			}
			mute := strings.TrimSpace(m.Text()) == ""
			if mute {
				f.says([]genai.Message{*m}, i, n.start, false)
			}
			f.asks(m, i, fromHistory, further)
			f.shows(m, i, false)
			if !mute {
				f.says([]genai.Message{*m}, i, n.start, false)
			}
		default:
			f.shows(m, i, false)
			if m.Role != genai.User {
				break
			}
			if m.Uncaptured {
				f.unheard.user = true
			} else if m.Says() {
				f.add(fact{kind: policy.UserMessage, span: i, time: n.start, text: m.Text(), first: news.first, delegated: f.delegated(i)})
			}
		}
		further = role == genai.Assistant
	}
	f.answer(i)
}

// answer reads what a model answered. If calls are answered in it as well, it is
// the summary of a whole run or tells of tools that the provider ran, and what
// it says comes after them.
func (f *facts) answer(i int) {
	answer := f.t.spans[i].Output.List
	summed := slices.ContainsFunc(answer, func(m genai.Message) bool { return m.Answers() })
	said := -1
	if !summed {
		said = f.says(answer, i, f.t.nodes[i].end, true)
	}
	for j := range answer {
		f.asks(&answer[j], i, fromAnswer, j > 0)
		f.shows(&answer[j], i, true)
	}
	if summed {
		f.says(answer, i, f.t.nodes[i].end, true)
	}
	if said >= 0 && f.list[said].calls && !f.calls.openAfter(i) {
		if f.list[said].calls = false; f.list[said].mute() {
			f.list = f.list[:said] // the last one that was added
		}
	}
	f.history.answered(answer)
}

// hear notes what of a model call's messages was not captured.
func (f *facts) hear(s *genai.Span) {
	if !s.Input.Recorded || s.Input.Broken || len(s.Input.List) == 0 { // no model is asked nothing
		f.unheard.user = true
	}
	if (!s.Output.Recorded || len(s.Output.List) == 0) && s.Failure.Kind == genai.NoFailure || s.Output.Broken {
		f.unheard.agent = true
	}
	f.calls.broken = f.calls.broken || s.Input.Broken || s.Output.Broken
}

// delegated reports whether a model call is made inside a tool's: what it is told
// and what it answers is between agents, and no word of a person.
func (f *facts) delegated(span int) bool { return f.t.nodes[span].delegated }

func (f *facts) asks(m *genai.Message, model int, from source, further bool) {
	f.calls.asks(m, model, from, further, &f.seq)
}

func (f *facts) shows(m *genai.Message, model int, summed bool) {
	for j := range m.Parts {
		if p := &m.Parts[j]; p.Kind == genai.ResponsePart {
			f.calls.show(p, model, summed, &f.seq)
		}
	}
}

// withoutAnswer cuts off what an input shows from the model's own answer on. An
// instrumentation that keeps a reference to the list of messages writes down
// what it has become by then.
func (f *facts) withoutAnswer(input, answer []genai.Message) []genai.Message {
	asked := map[string]*genai.Part{}
	for i := range answer {
		for j := range answer[i].Parts {
			if p := &answer[i].Parts[j]; p.Kind == genai.CallPart && p.CallID != "" && !p.ServerSide {
				asked[p.CallID] = p
			}
		}
	}
	if last := len(input) - 1; len(asked) == 0 {
		if len(answer) == 1 && last >= 0 && strings.TrimSpace(answer[0].Text()) != "" &&
			roleOf(&input[last]) == genai.Assistant && hash(&input[last]) == hash(&answer[0]) {
			return input[:last]
		}
		return input
	}
	for i := range input {
		if roleOf(&input[i]) == genai.Assistant && f.t.asksOnly(&input[i], asked) && f.history.find(hash(&input[i]), 0) < 0 {
			return input[:i]
		}
	}
	return input
}

// asksOnly reports whether a message asks for calls, and for none but these. A
// model that uses its ids again asks for something else.
func (t *trace) asksOnly(m *genai.Message, asked map[string]*genai.Part) bool {
	found := false
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Kind != genai.CallPart {
			continue
		}
		q := asked[p.CallID]
		if q == nil || q.Tool != p.Tool {
			return false
		}
		if a, b := t.args(&p.Content), t.args(&q.Content); a.known && b.known && !a.masked && !b.masked && compareArguments(a.value, b.value) == different {
			return false
		}
		found = true
	}
	return found
}

// says adds an agent's answer: one, however many messages it was recorded as. It
// returns the fact's index, -1 if the answer has no text and asks for no call.
func (f *facts) says(answer []genai.Message, span int, time genai.Timestamp, late bool) int {
	var texts []string
	asks := 0 // calls that are not answered in the same answer
	for i := range answer {
		m := &answer[i]
		for j := range m.Parts {
			switch p := &m.Parts[j]; {
			case p.ServerSide:
			case p.Kind == genai.CallPart:
				asks++
			case p.Kind == genai.ResponsePart:
				asks--
			}
		}
		if roleOf(m) != genai.Assistant {
			continue
		}
		f.unheard.agent = f.unheard.agent || m.Uncaptured
		if text := m.Text(); strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 && asks <= 0 {
		return -1
	}
	// What only a later model's input shows was said before that began.
	f.add(fact{kind: policy.AgentMessage, span: span, time: time, late: late, text: strings.Join(texts, "\n"), calls: asks > 0, unplaced: !late})
	return len(f.list) - 1
}

// call adds a call's two facts.
func (f *facts) call(k *call) {
	if k.prior && len(k.spans) == 0 && k.shownAt < 0 {
		return
	}
	spans := len(k.spans) > 0
	if (!k.prior || spans) && !k.called {
		x := fact{kind: policy.ToolCall, span: k.at, time: k.start, late: !spans && !k.seenLater, call: k, seq: k.askedSeq}
		if spans {
			x.span, x.seq = k.spans[0], 0
		}
		f.addCall(x)
	}
	if k.returned && !k.answered {
		x := fact{kind: policy.ToolResult, span: k.at, time: k.end, late: spans || k.summed, call: k}
		if !spans {
			x.span, x.seq = k.shownAt, k.shownSeq
		}
		f.addCall(x)
	}
}

// addCall adds a call or its result. Without a name it is no event, but some event
// happened.
func (f *facts) addCall(x fact) {
	if x.call.tool == "" {
		f.unnamed = append(f.unnamed, x)
		return
	}
	f.list = append(f.list, x)
}

// traceGaps are the gaps of the spans that count, whatever a protocol listens to.
func (f *facts) traceGaps() Gaps {
	gaps := f.gaps
	if len(f.unnamed) > 0 {
		gaps.Add(GapUnnamedCall)
	}
	return gaps
}

// of returns the facts for one protocol, in order: what happened, and the spans
// that its rules name.
func (f *facts) of(p *policy.Protocol) []fact {
	spans := spanFacts(f.t, p, f.within)
	if len(spans) == 0 {
		return f.list
	}
	list := append(spans, f.list...)
	f.order(list)
	return list
}

func (f *facts) add(x fact) {
	f.seq++
	x.seq = f.seq
	f.list = append(f.list, x)
}
