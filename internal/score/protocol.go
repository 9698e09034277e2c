// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"cmp"
	"slices"
	"sort"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/mask"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// Reasons of verdicts on events.
const (
	reasonLabel        = "not legal here"
	reasonGuard        = "a guard fails"
	reasonUnmatched    = "no event rule names it"
	reasonAfterEnd     = "the protocol has finished"
	reasonUnrecognized = "cannot be classified"
	reasonBlocked      = "the protocol was broken before"
)

// followed is what remains of a protocol's monitor between two traces of a
// conversation.
type followed struct {
	monitor *session.Monitor
	worst   Compliance
	// seen are the events so far, kept to tell whether a missing event could
	// explain a violation. There are more than are kept if cut is set; then one
	// always could.
	seen    []session.Event
	cut     bool
	certain bool // a violation was said
	// changed is set if earlier events of the conversation were not stepped, because
	// the policy had not this protocol then, or another one by its name.
	changed bool
	// possible are events of the protocol that may have happened instead of those
	// that were seen, or besides. One without a label stands for all of its
	// direction. lacks are the gaps that say so, and those that say that a guard or
	// a binding read something else than the call's content.
	possible map[session.Event]struct{}
	lacks    Gaps
}

// maxSeen bounds how many events of a session are kept to explain a violation.
// A trace's are all kept, up to a number that no agent's run reaches.
const (
	maxSeenConversation = 64
	maxSeenTrace        = 100_000
)

// follow steps one protocol's monitor by a session's facts, those of the
// protocol's span rules among them.
func follow(f *facts, p *policy.Protocol, observations map[*call]*Observation, state *followed, maxSeen int) Protocol {
	return advance(f, p, f.of(p), observations, state, maxSeen, (*runner).join)
}

// standApart notes the events of a trace that cannot join the conversation. It
// moves no monitor: the events may have happened at any time, so each is
// inconclusive and could explain others.
func standApart(f *facts, p *policy.Protocol, list []fact, observations map[*call]*Observation, state *followed, gap Gap) Protocol {
	return advance(f, p, list, observations, state, maxSeenConversation, func(r *runner, list []fact) {
		for i := range list {
			f.t.work.spend(1)
			before := r.mark()
			r.stand(&list[i], gap)
			r.tell(&list[i], before)
		}
	})
}

// advance makes a protocol's verdict of what by does with the facts.
func advance(f *facts, p *policy.Protocol, list []fact, observations map[*call]*Observation, state *followed, maxSeen int, by func(*runner, []fact)) Protocol {
	v := Protocol{Protocol: p}
	if state.monitor == nil {
		state.monitor = p.Automaton.NewMonitor()
	}
	run := runner{f: f, p: p, observations: observations, followed: state, maxSeen: maxSeen, out: &v}
	for i := range f.unnamed {
		run.unnamedCall(&f.unnamed[i])
	}
	by(&run, list)
	v.Gaps = run.gaps()
	run.close()
	v.Complete = state.monitor.Terminal() && !state.monitor.Halted()
	state.worst = max(state.worst, worst(v.Events))
	v.Verdict = state.worst
	if p.RequireCompletion {
		// The end is judged, too, even if nothing happened before it.
		if v.Verdict = max(v.Verdict, Compliant); !v.Complete {
			v.Verdict = max(v.Verdict, Incomplete)
		}
	}
	return v
}

// worst returns the worst verdict of the events, Unjudged if there are none.
func worst(events []Event) Compliance {
	if len(events) == 0 {
		return Unjudged
	}
	worst := Compliant
	for i := range events {
		switch events[i].Verdict {
		case EventViolation:
			return Violation
		case EventInconclusive:
			worst = max(worst, Inconclusive)
		case EventUnrecognized:
			worst = max(worst, Unrecognized)
		}
	}
	return worst
}

type runner struct {
	*followed
	f            *facts
	p            *policy.Protocol
	observations map[*call]*Observation
	out          *Protocol
	maxSeen      int

	began int // the state before the first step; for an account only, as steps
	steps []StepAccount
}

// join steps the monitor by facts that come after all that it has seen.
func (r *runner) join(list []fact) {
	if r.p.ParallelCalls == policy.Serialize {
		list = serialized(list)
	}
	seen := len(r.seen)
	for i := range list {
		r.f.t.work.spend(1)
		before := r.mark()
		r.step(&list[i])
		r.tell(&list[i], before)
	}
	r.conclude(seen)
}

func (r *runner) step(x *fact) {
	event, payload, rule, ok := r.project(x)
	doubts := r.doubts(x)
	r.doubt(x, doubts)
	rendered := r.hide(&event, rule)
	if !ok {
		if x.delegated || x.mute() {
			return // it was never said to anybody outside, or is the calls themselves
		}
		switch r.p.Unmatched {
		case policy.UnmatchedIgnore:
			return
		case policy.UnmatchedUnrecognized:
			event = session.Event{Direction: x.kind.Direction(), Label: session.UnrecognizedLabel}
		default:
			event = session.Event{Direction: x.kind.Direction(), Label: defaultLabel(x)}
		}
	}
	violates := !ok && r.p.Unmatched == policy.UnmatchedViolation
	if r.finished() {
		if r.p.AfterEnd == policy.AfterEndIgnore {
			return
		}
		violates = true
	}

	var outcome session.Outcome
	switch {
	case violates:
		expected := r.monitor.Expected()
		outcome = r.monitor.StepSymbol(session.NoSymbol, nil)
		outcome.Expected = expected
	case rule != nil && rule.Symbol != session.NoSymbol:
		outcome = r.monitor.StepSymbol(rule.Symbol, payload)
	default:
		outcome = r.monitor.Step(event.Direction, event.Label, payload)
	}
	e := Event{Span: x.span, Name: display.Field(event.String()), Rendered: rendered, Time: x.time, Registers: r.registers()}
	switch outcome.Result {
	case session.OK:
	case session.Unrecognized:
		e.Verdict, e.Expected, e.Reason = EventUnrecognized, outcome.Expected, reasonUnrecognized
	case session.Violation:
		e.Verdict, e.Expected = EventViolation, outcome.Expected
		switch {
		case violates && !ok:
			e.Reason = reasonUnmatched
		case violates:
			e.Reason = reasonAfterEnd
		case outcome.Cause == session.GuardCause:
			e.Reason = reasonGuard
		default:
			e.Reason = reasonLabel
		}
	case session.Blocked:
		e.Verdict, e.Reason = EventBlocked, reasonBlocked
	}
	unsure := len(doubts) > 0 || r.ambiguous(x)
	if unsure || r.unplaced(x) && r.p.Automaton.Symbol(event.Direction, event.Label) != session.NoSymbol {
		// What it was, or when, is not certain, so nothing has to explain it.
		event.Label = session.UnrecognizedLabel
	}
	r.weigh(&e, event, violates && !ok && !unsure)
	r.out.Events = append(r.out.Events, e)
}

// weigh softens a violation that an event which the telemetry lacks could
// explain. An event that no rule names, where that is forbidden, nothing explains.
func (r *runner) weigh(e *Event, event session.Event, unmatched bool) {
	event.Payload = nil
	if len(r.seen) < r.maxSeen {
		r.seen = append(r.seen, event)
	} else {
		r.cut = true
	}
	if e.Verdict == EventBlocked && unmatched && !r.certain {
		// What the protocol seemed to be broken by may be explained, this is not.
		e.Verdict, e.Reason = EventViolation, reasonUnmatched
	}
	if e.Verdict != EventViolation {
		return
	}
	if why, missing := r.missing(); why != "" && !r.certain && !unmatched && r.explained(r.seen, missing) {
		e.Verdict, e.Reason = EventInconclusive, why
		return
	}
	r.certain = true
}

// conclude says a violation that was softened after all, at the event from which
// on nothing explains what happened. before is how many events were seen before
// this trace.
func (r *runner) conclude(before int) {
	why, missing := r.missing()
	if why == "" || r.certain || r.cut || !r.monitor.Halted() || r.explained(r.seen, missing) {
		return
	}
	r.certain = true
	// What follows an event that nothing explains does not explain it.
	n := sort.Search(len(r.seen)-before, func(i int) bool { return !r.explained(r.seen[:before+i+1], missing) })
	if n < len(r.out.Events) && r.out.Events[n].Verdict == EventBlocked {
		r.out.Events[n].Verdict, r.out.Events[n].Reason = EventViolation, reasonLabel
	}
}

func (r *runner) explained(seen []session.Event, missing func(session.Direction, string) bool) bool {
	explains := r.p.Automaton.Explains
	if r.p.AfterEnd == policy.AfterEndIgnore {
		explains = r.p.Automaton.ExplainsPast
	}
	return r.cut || explains(seen, missing)
}

// missing says why an event may be missing, and which ones.
func (r *runner) missing() (why string, which func(session.Direction, string) bool) {
	counts := r.counted()
	if why := cmp.Or((r.f.gaps & counts).reason(), (r.f.earlier & counts).reason(), r.changes().reason()); why != "" {
		return why, func(session.Direction, string) bool { return true }
	}
	kinds := r.unheard()
	if why = r.ownGaps(kinds).reason(); why == "" {
		return "", nil
	}
	return why, func(d session.Direction, label string) bool {
		_, possible := r.possible[session.Event{Direction: d, Label: label}]
		_, wildcard := r.possible[session.Event{Direction: d}]
		return possible || wildcard || says(r.p, kinds, d, label)
	}
}

// counted are the gaps that the policy does not rule out.
func (r *runner) counted() Gaps {
	if r.p.AssumeComplete {
		return processorGaps
	}
	return ^Gaps(0)
}

// ownGaps are the gaps that are none to other protocols: what this one listens to
// or reads and the telemetry does not hold. unheard are the kinds of messages
// that were not captured.
func (r *runner) ownGaps(unheard []policy.EventKind) Gaps {
	gaps := r.lacks
	if len(unheard) > 0 {
		gaps.Add(GapMessages)
	}
	return gaps & r.counted()
}

// gaps are all that could explain what the protocol seems to see.
func (r *runner) gaps() Gaps {
	return (r.f.gaps|r.f.earlier)&r.counted() | r.changes() | r.ownGaps(r.unheard())
}

// changes is the gap of a protocol that was changed within the conversation.
func (r *runner) changes() Gaps {
	if r.changed {
		return GapSet(GapPolicyChanged)
	}
	return 0
}

// unheard returns the kinds of messages that the protocol listens to and that
// were not all captured.
func (r *runner) unheard() (kinds []policy.EventKind) {
	if r.p.AssumeComplete {
		return nil
	}
	for _, k := range [...]struct {
		kind policy.EventKind
		lost bool
	}{{policy.UserMessage, r.f.unheard.user}, {policy.AgentMessage, r.f.unheard.agent}} {
		if k.lost && listens(r.p, k.kind) {
			kinds = append(kinds, k.kind)
		}
	}
	return kinds
}

// listens reports whether a protocol has rules for a kind of event.
func listens(p *policy.Protocol, kind policy.EventKind) bool {
	return slices.ContainsFunc(p.Events, func(rule *policy.EventRule) bool { return rule.Event == kind })
}

// says reports whether a message may be the event.
func says(p *policy.Protocol, kinds []policy.EventKind, d session.Direction, label string) bool {
	for _, rule := range p.Events {
		if !slices.Contains(kinds, rule.Event) || rule.Direction != d {
			continue
		}
		if literal, ok := rule.Label.Literal(); !ok || literal == label {
			return true
		}
	}
	return false
}

// finished reports whether the protocol has ended: nothing is legal any more,
// and nothing was broken.
func (r *runner) finished() bool {
	return !r.monitor.Halted() && r.monitor.Terminal() && len(r.monitor.Expected()) == 0
}

func (r *runner) registers() map[string]string {
	if len(r.p.Automaton.RegisterNames()) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, reg := range r.monitor.Registers() {
		out[reg.Name] = reg.Value.String()
	}
	return out
}

// project names the event that a fact is: by the first rule that matches, or by
// the tool's name if the protocol has no rules.
func (r *runner) project(x *fact) (session.Event, session.Payload, *policy.EventRule, bool) {
	if len(r.p.Events) == 0 {
		if x.call == nil {
			return session.Event{}, nil, nil, false
		}
		return session.Event{Direction: x.kind.Direction(), Label: policy.DefaultLabel(x.call.tool)}, r.payload(x, nil), nil, true
	}
	for _, rule := range r.p.Events {
		captures, ok := r.matches(rule, x)
		if !ok {
			continue
		}
		label, ok := rule.Label.Literal()
		if !ok {
			if label, ok = rule.Label.Render(r.scope(x)); !ok {
				continue
			}
			label = policy.DefaultLabel(label)
		}
		return session.Event{Direction: rule.Direction, Label: label}, r.payload(x, captures), rule, true
	}
	return session.Event{}, nil, nil, false
}

// hide replaces an event's label by its length, and returns the label, if it was
// rendered from content and the protocol does not know it. A label that it knows
// is the policy's own word. To the monitor, all labels that it does not know are
// the same.
func (r *runner) hide(event *session.Event, rule *policy.EventRule) (rendered string) {
	if rule == nil || !rule.Label.ReadsContent() || r.p.Automaton.Symbol(event.Direction, event.Label) != session.NoSymbol {
		return ""
	}
	rendered = event.Label
	event.Label = mask.Length(rendered)
	return rendered
}

func (r *runner) scope(x *fact) policy.Scope {
	if x.call != nil {
		return scope{t: r.f.t, k: x.call, result: payloadOf(x.call)}
	}
	return spanScope{t: r.f.t, span: x.span}
}

// payloadOf is a call's result as data, without any contract's path.
func payloadOf(k *call) engine.Payload {
	return engine.Payload{Value: k.result.Value, Parsed: k.result.State == genai.Captured}
}

func defaultLabel(x *fact) string {
	switch {
	case x.call != nil:
		return policy.DefaultLabel(x.call.tool)
	default:
		return x.kind.String()
	}
}
