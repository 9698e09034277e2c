// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// matches reports whether a rule names a fact, and what its text captured.
func (r *runner) matches(rule *policy.EventRule, x *fact) (session.Fields, bool) {
	if rule.Event != x.kind {
		return nil, false
	}
	node := &r.f.t.nodes[x.span]
	if !rule.Agents.Match(node.agent) || !rule.Services.Match(node.service) {
		return nil, false
	}
	switch x.kind {
	case policy.ToolCall, policy.ToolResult:
		return nil, r.matchesCall(rule, x)
	case policy.SpanEvent:
		return nil, x.rule == rule
	case policy.UserMessage:
		if x.delegated && len(rule.Agents) == 0 {
			return nil, false
		}
		if rule.Turn == policy.TurnFirst && !x.first || rule.Turn == policy.TurnLater && x.first {
			return nil, false
		}
	case policy.AgentMessage:
		if rule.ToolCalls == policy.ToolCallsNone && x.calls || rule.ToolCalls == policy.ToolCallsSome && !x.calls {
			return nil, false
		}
	}
	if rule.Text == nil {
		return nil, true
	}
	found := rule.Text.FindStringSubmatchIndex(x.text)
	if found == nil {
		return nil, false
	}
	var fields session.Fields
	for i, name := range rule.Text.SubexpNames() {
		if name == "" || found[2*i] < 0 {
			continue
		}
		if fields == nil {
			fields = session.Fields{}
		}
		fields[name] = session.StringValue(x.text[found[2*i]:found[2*i+1]])
	}
	return fields, true
}

func (r *runner) matchesCall(rule *policy.EventRule, x *fact) bool {
	k := x.call
	if !rule.Tools.Match(k.tool) {
		return false
	}
	if o := r.observations[k]; rule.ReadsVerdict() && (o == nil || !verdictMatches(rule, o)) {
		return false
	}
	p := payloadOf(k)
	return fieldsMatch(rule.Arguments, k.argumentsValue, k.argumentsKnown) && fieldsMatch(rule.Result, p.Value, p.Parsed)
}

// payload is what guards and bindings read of a fact: a call's arguments, a
// result, or what a rule's text captured.
func (r *runner) payload(x *fact, captures session.Fields) session.Payload {
	switch {
	case captures != nil:
		return captures
	case x.kind == policy.ToolCall && x.call.argumentsKnown:
		return object{x.call.argumentsValue}
	case x.kind == policy.ToolResult:
		if p := payloadOf(x.call); p.Parsed {
			return object{p.Value}
		}
	}
	return nil
}

// object lets a monitor read the fields of a JSON object.
type object struct{ v jsonvalue.Value }

// Field implements session.Payload.
func (o object) Field(name string) (session.Value, bool) {
	v, ok := o.v.Get(name)
	if !ok {
		return session.Value{}, false
	}
	return sessionValue(v)
}

func sessionValue(v jsonvalue.Value) (session.Value, bool) {
	switch v.Kind() {
	case jsonvalue.NullKind:
		return session.NullValue(), true
	case jsonvalue.BoolKind:
		return session.BoolValue(v.Bool()), true
	case jsonvalue.StringKind:
		return session.StringValue(v.Text()), true
	}
	text, err := v.AppendCanonical(nil)
	if err != nil { // a number that is none
		return session.Value{}, false
	}
	if v.Kind() == jsonvalue.IntKind || v.Kind() == jsonvalue.FloatKind {
		return session.NumberValue(string(text)), true
	}
	value, err := session.ParseValue(string(text))
	return value, err == nil
}

// spanFacts finds the facts that a protocol's span rules name. A span's start and
// its end are two facts, each named by the first rule about it that matches.
func spanFacts(t *trace, p *policy.Protocol, within func(int) bool) []fact {
	var out []fact
	for n, rule := range p.Events {
		if rule.Event != policy.SpanEvent {
			continue
		}
		for _, i := range t.order {
			if !within(i) || spanRule(t, p.Events[:n+1], i, rule.AtEnd) != n {
				continue
			}
			node := &t.nodes[i]
			x := fact{kind: policy.SpanEvent, span: i, time: node.start, rule: rule}
			if rule.AtEnd {
				x.time, x.late = node.end, true
			}
			out = append(out, x)
		}
	}
	return out
}

// spanRule returns the first rule about the starts of spans, or about their ends,
// that a span matches, -1 for none.
func spanRule(t *trace, rules []*policy.EventRule, i int, atEnd bool) int {
	for n, rule := range rules {
		if rule.Event != policy.SpanEvent || rule.AtEnd != atEnd || !rule.SpanName.Match(t.spans[i].Name) ||
			!rule.Agents.Match(t.nodes[i].agent) || !rule.Services.Match(t.nodes[i].service) {
			continue
		}
		all := true
		for _, a := range rule.Attributes {
			v, ok := t.spans[i].Attribute(a.Name)
			text, scalar := v.Scalar()
			if !ok || !scalar || !a.Glob.Match(text) {
				all = false
				break
			}
		}
		if all {
			return n
		}
	}
	return -1
}
