// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// Account tells how a verdict came about, step by step. Nothing in a verdict
// depends on it. Unlike a verdict it holds content: arguments, results and what
// was said, which whoever shows it has to leave out or ask for.
//
// Spans are named by their index in what was judged, calls by their index in
// Calls, -1 where there is none.
type Account struct {
	Spans []SpanAccount // in the order in which facts are read
	// Gap says why an event may be missing, "" if nothing says so.
	Gap string
	// Unheard is set if a message is there that was not captured.
	Unheard   bool
	Calls     []CallAccount
	Facts     []FactAccount
	Protocols []ProtocolAccount // one for each of Session.Protocols

	calls map[*call]int
	tries map[*call][]Trial
}

// SpanAccount is a span's place in its trace.
type SpanAccount struct {
	Span, Parent int
	Depth        int
	Start, End   genai.Timestamp
	// Agent, Conversation and Service are the span's own or inherited.
	Agent, Conversation, Service string
}

// CallAccount is a tool call, put together from all that shows it.
type CallAccount struct {
	Tool, ID   string
	At         int   // the span that carries its verdict
	Spans      []int // its tool spans, the outermost first
	Asked      int   // the model's span that asked for it
	Shown      int   // the model's span that was first shown its result
	Start, End genai.Timestamp

	Arguments      jsonvalue.Value
	ArgumentsKnown bool
	Result         genai.Result
	// ResultSpan is the span whose attributes or events, or whose messages
	// (InMessages), hold the result.
	ResultSpan int
	InMessages bool

	Failure    genai.Failure
	Returned   bool // there is a result event
	NeverRan   bool // it was asked for, and certainly never run
	Conflict   bool // a model was shown something else than the tool returned
	Prior      bool // it was asked for before the session began
	ServerSide bool

	// Trials are the contracts that match, in order, as far as they were held
	// against the call; Decided is the one whose verdict counts.
	Trials  []Trial
	Decided int
	// Others says of the other contracts what does not match: tool, agent or
	// service.
	Others map[*policy.Contract]string
}

// Trial is one contract held against a call.
type Trial struct {
	Contract   *policy.Contract
	Bound      engine.Contract // with its refs rendered
	Envelope   engine.Envelope
	Payload    engine.Payload
	Clock      time.Time
	Evaluation engine.Evaluation
	Templates  []Rendering
}

// Rendering is a template of a contract and what it found.
type Rendering struct {
	Field    string // as the policy file names it: observation.target_ref
	Template string
	Text     string
	Found    bool
	// Content is set if the template reads content, see [policy.Template].
	Content bool
}

// FactAccount is something that happened.
type FactAccount struct {
	Kind  policy.EventKind
	Span  int
	Time  genai.Timestamp
	Call  int
	Text  string // of a message
	First bool   // of the user message that opens the session
	Calls bool   // of an agent message that asks for calls
}

// ProtocolAccount is a protocol's way through a session.
type ProtocolAccount struct {
	Protocol     *policy.Protocol
	Conversation string
	Start        int // the state in which the monitor was at the beginning
	Steps        []StepAccount
	// Missing says why an event may be missing, "" if nothing says so.
	Missing string
}

// StepAccount is a fact and what a protocol made of it.
type StepAccount struct {
	FactAccount
	// Rule is the index of the event rule that named it, -1 if none did or the
	// protocol has none.
	Rule int
	// Event is the index in Protocol.Events, -1 if it was no event; Ignored says
	// why.
	Event   int
	Ignored string
	// Payload is what guards and bindings read; nil if there is nothing.
	Payload  session.Payload
	From, To int      // the monitor's states
	Legal    []string // what was legal before
}

// Why a fact was no event.
const (
	IgnoredUnmatched = reasonUnmatched
	IgnoredAfterEnd  = reasonAfterEnd
)

// Explain judges as Trace does, and tells how the verdict came about. It answers
// nil, nil where Trace answers nil.
func (s *Scorer) Explain(spans []genai.Span, store Conversations) (*Session, *Account) {
	a := &Account{calls: map[*call]int{}, tries: map[*call][]Trial{}}
	v := s.judge(spans, store, &Live{}, a)
	if v == nil {
		return nil, nil
	}
	return v, a
}

// note fills in what happened. A nil Account notes nothing.
func (a *Account) note(t *trace, f *facts, contracts []*policy.Contract) {
	if a == nil {
		return
	}
	a.Gap, a.Unheard = f.gaps.reason(), f.unheard.user || f.unheard.agent
	for _, i := range t.order {
		n := &t.nodes[i]
		a.Spans = append(a.Spans, SpanAccount{
			Span: i, Parent: n.parent, Depth: int(n.depth), Start: n.start, End: n.end,
			Agent: n.agent, Conversation: n.conversation, Service: n.service,
		})
	}
	for _, k := range f.calls.list {
		a.calls[k] = len(a.Calls)
		a.Calls = append(a.Calls, a.call(t, k, contracts))
	}
	for i := range f.list {
		a.Facts = append(a.Facts, a.fact(&f.list[i]))
	}
}

func (a *Account) call(t *trace, k *call, contracts []*policy.Contract) CallAccount {
	c := CallAccount{
		Tool: k.tool, ID: k.id, At: k.at, Spans: k.spans, Asked: k.asked, Shown: k.shownAt, Start: k.start, End: k.end,
		Arguments: k.argumentsValue, ArgumentsKnown: k.argumentsKnown, Result: k.result, ResultSpan: -1,
		Failure: k.failure, Returned: k.returned, NeverRan: k.neverRan, Conflict: k.conflict, Prior: k.prior, ServerSide: k.serverSide,
		Trials: a.tries[k], Decided: -1, Others: map[*policy.Contract]string{},
	}
	if k.result.State != genai.NotCaptured {
		for i := range k.shown {
			if k.shown[i].result.State == k.result.State && k.shownAt >= 0 {
				c.ResultSpan, c.InMessages = k.shownAt, true
				break
			}
		}
		for i := len(k.spans) - 1; i >= 0; i-- {
			if t.result(&t.spans[k.spans[i]].Call.Result).State == k.result.State {
				c.ResultSpan, c.InMessages = k.spans[i], false
			}
		}
	}
	for i := range c.Trials {
		if c.Decided = 0; c.Trials[i].Evaluation.Decision == engine.Sealed {
			c.Decided = i
			break
		}
	}
	node := &t.nodes[k.at]
	for _, contract := range contracts {
		switch m := &contract.Match; {
		case !m.Tools.Match(k.tool):
			c.Others[contract] = "tool"
		case !m.Agents.Match(node.agent):
			c.Others[contract] = "agent"
		case !m.Services.Match(node.service):
			c.Others[contract] = "service"
		}
	}
	return c
}

func (a *Account) fact(x *fact) FactAccount {
	out := FactAccount{Kind: x.kind, Span: x.span, Time: x.time, Call: -1, Text: x.text, First: x.first, Calls: x.calls}
	if x.call == nil {
		return out
	}
	out.Call = -1
	if i, ok := a.calls[x.call]; ok {
		out.Call = i
		return out
	}
	// A protocol that follows a conversation reads the trace again.
	for i := range a.Calls {
		if c := &a.Calls[i]; c.At == x.call.at && c.Tool == x.call.tool && c.ID == x.call.id {
			out.Call = i
		}
	}
	return out
}

// tried notes that a contract was held against a call.
func (a *Account) tried(s scope, c *policy.Contract, bound engine.Contract, env engine.Envelope, clock time.Time, ev engine.Evaluation) {
	tr := Trial{Contract: c, Bound: bound, Envelope: env, Payload: s.result, Clock: clock, Evaluation: ev}
	render := func(field string, t *policy.Template) {
		if t == nil {
			return
		}
		text, ok := t.Render(s)
		tr.Templates = append(tr.Templates, Rendering{Field: field, Template: t.String(), Text: text, Found: ok && text != "", Content: t.ReadsContent()})
	}
	o := &c.Observation
	render("source_ref", c.SourceRef)
	render("target_ref", c.TargetRef)
	render("observation.source_ref", o.SourceRef)
	render("observation.target_ref", o.TargetRef)
	render("observation.source_version", o.SourceVersion)
	render("observation.observed_at", o.ObservedAt)
	for _, ref := range o.EvidenceRefs {
		render("observation.evidence_refs", ref)
	}
	a.tries[s.k] = append(a.tries[s.k], tr)
}

// A mark is where a protocol was before a fact.
type mark struct {
	state    int
	events   int
	legal    []string
	finished bool
}

// mark notes where the protocol is, if anybody asks.
func (r *runner) mark() mark {
	if r.f.t.account == nil {
		return mark{}
	}
	return mark{state: r.monitor.State(), events: len(r.out.Events), legal: r.monitor.Expected(), finished: r.finished()}
}

// tell notes what a fact came to.
func (r *runner) tell(x *fact, before mark) {
	a := r.f.t.account
	if a == nil || x.mute() && len(r.out.Events) == before.events {
		return // the calls have steps of their own
	}
	if before.events == 0 && len(r.steps) == 0 {
		r.began = before.state
	}
	step := StepAccount{
		FactAccount: a.fact(x), Rule: -1, Event: -1,
		From: before.state, To: r.monitor.State(), Legal: before.legal,
	}
	_, payload, rule, ok := r.project(x)
	if ok {
		step.Payload = payload
	}
	for i := range r.p.Events {
		if r.p.Events[i] == rule {
			step.Rule = i
		}
	}
	switch {
	case len(r.out.Events) > before.events:
		step.Event = before.events
	case before.finished && (ok || r.p.Unmatched != policy.UnmatchedIgnore):
		step.Ignored = IgnoredAfterEnd
	default:
		step.Ignored = IgnoredUnmatched
	}
	r.steps = append(r.steps, step)
}

// close ends a protocol's account.
func (r *runner) close() {
	a := r.f.t.account
	if a == nil {
		return
	}
	why, _ := r.missing()
	start := r.began
	if len(r.steps) == 0 {
		start = r.monitor.State()
	}
	a.Protocols = append(a.Protocols, ProtocolAccount{
		Protocol: r.p, Start: start, Steps: r.steps, Missing: why,
	})
}

// converses names the conversation of the protocol that was followed last.
func (a *Account) converses(id string) {
	if a != nil {
		a.Protocols[len(a.Protocols)-1].Conversation = id
	}
}
