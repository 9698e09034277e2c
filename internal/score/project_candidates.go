// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// doubts returns the events that a call may have been if what was not captured of
// it decides which: a rule that asks for a sealed result, say, and a result that
// the telemetry does not hold. It answers nil if nothing is in doubt.
func (r *runner) doubts(x *fact) []session.Event {
	if x.call == nil || len(r.p.Events) == 0 {
		return nil
	}
	var events []session.Event
	doubtful := false
	for _, rule := range r.p.Events {
		if !r.mayMatch(rule, x) {
			continue
		}
		label, ok := rule.Label.Literal()
		if !ok {
			if label, ok = rule.Label.Render(r.scope(x)); !ok {
				continue
			}
			label = policy.DefaultLabel(label)
		}
		events = append(events, session.Event{Direction: rule.Direction, Label: label})
		if !r.asksForLost(rule, x) {
			break // it names the event if none before it does
		}
		doubtful = true
	}
	if !doubtful {
		return nil
	}
	return events
}

// missingSpans are the gaps by which a trace shows that spans are missing, or a
// processor knows that.
var missingSpans = GapSet(GapRootMissing, GapParentMissing, GapModelCallMissing, GapSharedID,
	GapRestart, GapOverflow, GapOversize, GapMaxAge, GapShutdown)

// unplaced reports whether missing spans decide when a fact happened:
//
//   - A later model call shows the message first.
//   - Only messages show the call, whose span may be missing.
//   - It happened at the time of another fact, and ancestors of a span are missing.
//   - The model's span may repeat a missing one of another instrumentation around it.
func (r *runner) unplaced(x *fact) bool {
	if !r.lacksSpans() {
		return false
	}
	n := &r.f.t.nodes[x.span]
	return x.unplaced || x.kind == policy.UserMessage || x.call != nil && len(x.call.spans) == 0 ||
		x.kind == policy.AgentMessage && n.stray && n.above < 0 && r.f.t.mixed
}

// ambiguous reports whether missing spans decide which event a fact is:
//
//   - A user message may be one that an agent gave another, or another message may
//     be the first of the session.
//   - Only messages show the call, whose span may be missing.
//   - A span of the call is that of a transport, and the tool's own is missing: it
//     may be another call, and have another name for the tool.
//   - The agent is not known, and rules or contracts ask for it.
func (r *runner) ambiguous(x *fact) bool {
	if !r.lacksSpans() {
		return false
	}
	t, k := r.f.t, x.call
	n := &t.nodes[x.span]
	agentLost := n.stray && n.agent == ""
	if k != nil {
		if len(k.spans) == 0 {
			return true
		}
		for _, i := range k.spans {
			if t.nodes[i].stray && t.spans[i].Call.Carrier {
				return true
			}
		}
		at := &t.nodes[k.at]
		agentLost = agentLost || at.stray && at.agent == ""
	}
	for _, rule := range r.p.Events {
		if rule.Event != x.kind {
			continue
		}
		switch {
		case x.kind == policy.UserMessage && (rule.Turn != policy.TurnAny || n.stray && !x.delegated && len(rule.Agents) == 0):
			return true
		case !agentLost:
		case len(rule.Agents) > 0, rule.Label.Roots().Has(policy.RootAgentName), k != nil && k.byAgent && rule.ReadsVerdict():
			return true
		}
	}
	return false
}

// lacksSpans reports whether the trace shows that spans are missing.
func (r *runner) lacksSpans() bool { return r.f.gaps&missingSpans&r.counted() != 0 }

// mayMatch reports whether a rule names a call, as far as that can be known.
func (r *runner) mayMatch(rule *policy.EventRule, x *fact) bool {
	k, node := x.call, &r.f.t.nodes[x.span]
	if rule.Event != x.kind || !rule.Tools.Match(k.tool) || !rule.Agents.Match(node.agent) || !rule.Services.Match(node.service) {
		return false
	}
	if o := r.observations[k]; o == nil && rule.ReadsVerdict() || o != nil && !o.Uncaptured && !verdictMatches(rule, o) {
		return false
	}
	return contentMayMatch(rule, k)
}

// contentMayMatch reports whether a call's arguments and result are what a rule
// asks for, as far as they were captured.
func contentMayMatch(rule *policy.EventRule, k *call) bool {
	if !k.argumentsLost() && !fieldsMatch(rule.Arguments, k.argumentsValue, k.argumentsKnown) {
		return false
	}
	p := payloadOf(k)
	return k.resultLost() || fieldsMatch(rule.Result, p.Value, p.Parsed)
}

// asksForLost reports whether a rule asks for what was not captured.
func (r *runner) asksForLost(rule *policy.EventRule, x *fact) bool {
	o := r.observations[x.call]
	return rule.ReadsVerdict() && o != nil && o.Uncaptured ||
		len(rule.Arguments) > 0 && x.call.argumentsLost() ||
		len(rule.Result) > 0 && x.call.resultLost()
}

// readsLost reports whether guards or bindings read what was not captured. What
// they bind, or do not, counts for the rest of the session.
func (r *runner) readsLost(x *fact) bool {
	if x.call == nil || !r.p.Automaton.ReadsPayloads() {
		return false
	}
	return x.kind == policy.ToolCall && x.call.argumentsLost() || x.kind == policy.ToolResult && x.call.resultLost()
}

// argumentsLost reports whether the call's arguments were not captured, or not to
// their end.
func (k *call) argumentsLost() bool {
	return !k.argumentsKnown || k.argumentsMasked || k.argumentsValue.Kind() == jsonvalue.StringKind
}

// resultLost reports whether the call returned something that was not captured,
// or not to its end.
func (k *call) resultLost() bool {
	return k.failure.Kind == genai.NoFailure && (k.result.State != genai.Captured || k.result.Masked)
}

func verdictMatches(rule *policy.EventRule, o *Observation) bool {
	return (rule.Decision == "" || o.Evaluation.Decision == rule.Decision) &&
		(rule.TruthState == "" || o.Evaluation.TruthState == rule.TruthState) &&
		(rule.Contract == "" || o.Contract.Name == rule.Contract)
}

func fieldsMatch(fields []policy.FieldGlob, v jsonvalue.Value, known bool) bool {
	for _, field := range fields {
		if !known || !field.Matches(v) {
			return false
		}
	}
	return true
}

// doubt notes what a fact may have been.
func (r *runner) doubt(x *fact, events []session.Event) {
	for _, e := range events {
		r.mayHaveBeen(e, GapContent)
	}
	if r.readsLost(x) {
		r.lacks.Add(GapContent)
	}
}

// mayHaveBeen notes an event that may have happened, and the gap that says so.
// There are no more of them than the protocol has events.
func (r *runner) mayHaveBeen(e session.Event, gap Gap) {
	if r.p.AssumeComplete && !processorGaps.Has(gap) {
		return
	}
	r.lacks.Add(gap)
	if e.Label != "" && r.p.Automaton.Symbol(e.Direction, e.Label) < 0 {
		return // it could explain nothing
	}
	if r.possible == nil {
		r.possible = map[session.Event]struct{}{}
	}
	r.possible[e] = struct{}{}
}

// unnamedCall notes the events that a call without a name, or its result, may
// have been.
func (r *runner) unnamedCall(x *fact) {
	if len(r.p.Events) == 0 {
		r.mayHaveBeen(session.Event{Direction: x.kind.Direction()}, GapUnnamedCall)
		return
	}
	node := &r.f.t.nodes[x.span]
	for _, rule := range r.p.Events {
		if rule.Event != x.kind || !rule.Agents.Match(node.agent) || !rule.Services.Match(node.service) || !contentMayMatch(rule, x.call) {
			continue
		}
		label, _ := rule.Label.Literal() // any label if that depends on the call
		r.mayHaveBeen(session.Event{Direction: rule.Direction, Label: label}, GapUnnamedCall)
	}
}

// stand notes what a fact of a trace that cannot join its conversation is to the
// protocol.
func (r *runner) stand(x *fact, gap Gap) {
	event, _, rule, ok := r.project(x)
	doubts := r.doubts(x)
	r.doubt(x, doubts)
	for _, e := range doubts {
		r.mayHaveBeen(e, gap)
	}
	for _, e := range r.inAnyTurn(x) {
		r.mayHaveBeen(e, gap)
	}
	if !ok {
		if len(doubts) == 0 && (x.delegated || x.mute() || r.p.Unmatched == policy.UnmatchedIgnore) {
			return
		}
		event = session.Event{Direction: x.kind.Direction(), Label: defaultLabel(x)}
		if r.p.Unmatched == policy.UnmatchedUnrecognized {
			event.Label = session.UnrecognizedLabel
		}
	}
	r.mayHaveBeen(event, gap)
	rendered := r.hide(&event, rule)
	r.out.Events = append(r.out.Events, Event{
		Span: x.span, Name: display.Field(event.String()), Rendered: rendered, Time: x.time, Verdict: EventInconclusive, Reason: gap.Reason(), Registers: r.registers(),
	})
}

// inAnyTurn returns the events that a message is to rules that ask for its place
// in the conversation.
func (r *runner) inAnyTurn(x *fact) (events []session.Event) {
	if x.kind != policy.UserMessage {
		return nil
	}
	other := *x
	other.first = !x.first
	if event, _, _, ok := r.project(&other); ok {
		events = append(events, event)
	}
	return events
}
