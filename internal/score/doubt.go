// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
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

// mayMatch reports whether a rule names a call, as far as that can be known.
func (r *runner) mayMatch(rule *policy.EventRule, x *fact) bool {
	k, node := x.call, &r.f.t.nodes[x.span]
	if rule.Event != x.kind || !rule.Tools.Match(k.tool) || !rule.Agents.Match(node.agent) || !rule.Services.Match(node.service) {
		return false
	}
	if o := r.observations[k]; o == nil && asksForVerdict(rule) || o != nil && !o.Uncaptured && !verdictMatches(rule, o) {
		return false
	}
	if !k.argumentsLost() && !fieldsMatch(rule.Arguments, k.argumentsValue, k.argumentsKnown) {
		return false
	}
	p := payloadOf(k)
	return k.resultLost() || fieldsMatch(rule.Result, p.Value, p.Parsed)
}

// asksForLost reports whether a rule asks for what was not captured.
func (r *runner) asksForLost(rule *policy.EventRule, x *fact) bool {
	o := r.observations[x.call]
	return asksForVerdict(rule) && o != nil && o.Uncaptured ||
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
	return !k.argumentsKnown || k.argumentsValue.Kind() == engine.StringKind
}

// resultLost reports whether the call returned something that was not captured,
// or not to its end.
func (k *call) resultLost() bool {
	return k.failure.Kind == genai.NoFailure && k.result.State != genai.Captured
}

func asksForVerdict(rule *policy.EventRule) bool {
	return rule.Decision != "" || rule.TruthState != "" || rule.Contract != ""
}

func verdictMatches(rule *policy.EventRule, o *Observation) bool {
	return (rule.Decision == "" || o.Evaluation.Decision == rule.Decision) &&
		(rule.TruthState == "" || o.Evaluation.TruthState == rule.TruthState) &&
		(rule.Contract == "" || o.Contract.Name == rule.Contract)
}

func fieldsMatch(fields []policy.FieldGlob, v engine.Value, known bool) bool {
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
		if r.possible == nil {
			r.possible = map[session.Event]struct{}{}
		}
		r.possible[e] = struct{}{}
	}
	r.unread = r.unread || r.readsLost(x)
}
