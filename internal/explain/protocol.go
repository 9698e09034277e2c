// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/describe"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// protocols explains what each protocol saw.
func (e *explanation) protocols() {
	if len(e.Policy.Protocols) == 0 {
		e.section("Protocols")
		e.line(1, "The policy has none.")
		return
	}
	for i := range e.Account.Protocols {
		e.protocol(&e.Account.Protocols[i], &e.Verdict.Protocols[i])
	}
	for _, p := range e.Policy.Protocols {
		follows := func(a score.ProtocolAccount) bool { return a.Protocol == p }
		if !slices.ContainsFunc(e.Account.Protocols, follows) {
			e.section("Protocol " + safe(p.Name))
			e.line(1, "does not follow this session: it is for %s", matches(&p.Match))
		}
	}
}

func (e *explanation) protocol(a *score.ProtocolAccount, p *score.Protocol) {
	verdict := p.Verdict.String()
	e.section(fmt.Sprintf("Protocol %s: %s", safe(a.Protocol.Name), e.paint(colourOf(verdict), verdict)))
	e.line(1, "%s", describe.Verdicts[verdict])
	e.metadata(1, &a.Protocol.Metadata)
	if a.Protocol.Source != "" {
		e.line(1, "%s", safe(a.Protocol.Source))
	}
	shape := a.Protocol.Automaton.Shape()
	if a.Conversation != "" {
		e.line(1, "It follows the conversation %s.", safe(genai.ConversationName(a.Conversation)))
	}
	if a.Start != 0 {
		e.line(1, "It goes on in state %s, where the conversation's earlier traces left it.", safe(shape.States[a.Start].Name))
	}
	at := a.Start
	for i := range a.Steps {
		e.step(a, p, shape, &a.Steps[i])
		at = a.Steps[i].To
	}
	if len(a.Steps) == 0 {
		e.line(1, "Nothing happened that it could see.")
	}
	end := "which is no terminal one"
	if shape.States[at].Terminal {
		end = "in which it may end"
	}
	e.line(1, "It ends in state %s, %s.", safe(shape.States[at].Name), end)
	if a.Missing != "" && !a.Protocol.AssumeComplete {
		e.line(1, "Events may be missing: %s.", a.Missing)
	}
}

// step explains one fact.
func (e *explanation) step(a *score.ProtocolAccount, p *score.Protocol, shape session.Shape, s *score.StepAccount) {
	what := e.fact(s)
	if s.Event < 0 {
		why := map[string]string{
			score.IgnoredUnmatched: "no event rule names it, so it is no event",
			score.IgnoredAfterEnd:  "the protocol has finished, so it is no event",
		}[s.Ignored]
		if len(a.Protocol.Events) == 0 && s.Ignored == score.IgnoredUnmatched {
			why = "the protocol has no event rules, so only calls and results are events"
		}
		e.line(1, "%-14s %s: %s", e.at(s.Time), what, why)
		e.text(s)
		return
	}
	event := &p.Events[s.Event]
	named := ""
	if s.Rule >= 0 {
		named = fmt.Sprintf(" (events[%d])", s.Rule)
	}
	verdict := event.Verdict.String()
	moved := ""
	if event.Verdict == score.EventOK {
		moved = fmt.Sprintf(", state %s -> %s", safe(shape.States[s.From].Name), safe(shape.States[s.To].Name))
	}
	e.line(1, "%-14s %s is %s%s: %s%s", e.at(s.Time), what, e.name(p, event), named, e.paint(colourOf(verdict), verdict), moved)
	e.text(s)
	legal := "nothing is legal any more"
	if len(s.Legal) > 0 {
		legal = "legal was " + safe(strings.Join(s.Legal, " or "))
	}
	switch event.Verdict {
	case score.EventOK:
		if bound := e.registers(p, event); bound != "" {
			e.below("it remembers %s", bound)
		}
	case score.EventBlocked:
	case score.EventInconclusive:
		e.below("%s", legal)
		e.guard(p, shape, s, event)
		e.below("%s, and an event that was not recorded could make it legal, so it is no certain violation", event.Reason)
	default:
		e.below("%s; %s", legal, event.Reason)
		e.guard(p, shape, s, event)
		if event.Verdict == score.EventViolation && a.Missing != "" {
			e.below("%s, but no event that may be missing could make it legal", a.Missing)
		}
	}
}

// below writes a line under what an event is.
func (e *explanation) below(format string, args ...any) {
	e.line(1, "%-14s %s", "", fmt.Sprintf(format, args...))
}

// guard shows the guard of the edge that waited for the event, and what it
// compares.
func (e *explanation) guard(p *score.Protocol, shape session.Shape, s *score.StepAccount, event *score.Event) {
	for _, edge := range shape.Edges {
		if edge.From != s.From || edge.Event != event.Name || edge.Guards == "" {
			continue
		}
		e.below("the guard is %s", safe(edge.Guards))
		if bound := e.registers(p, event); bound != "" {
			e.below("it remembers %s", bound)
		} else {
			e.below("it remembers nothing yet")
		}
		for _, field := range guardFields(edge.Guards) {
			v, ok := session.Value{}, false
			if s.Payload != nil {
				v, ok = s.Payload.Field(field)
			}
			switch {
			case !ok:
				e.below("the event has no %s", safe(field))
			case e.o.Content:
				e.below("the event's %s is %s", safe(field), safe(v.String()))
			default:
				e.below("the event's %s is %s (--show-content shows it)", safe(field), e.values.of(e.Verdict, p.Conversation).JSON(v.String()))
			}
		}
	}
}

// guardFields lists the fields that guards look at: each guard begins with one.
func guardFields(guards string) []string {
	var fields []string
	for _, part := range strings.Split(guards, ", ") {
		field, _, ok := strings.Cut(part, " ")
		if ok && !slices.Contains(fields, field) && field != "" && field[0] != '"' {
			fields = append(fields, field)
		}
	}
	return fields
}

// registers writes what a protocol remembers.
func (e *explanation) registers(p *score.Protocol, event *score.Event) string {
	values := event.Registers
	if !e.o.Content {
		values = event.MaskedRegisters(e.values.of(e.Verdict, p.Conversation))
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, safe(name+" = "+values[name]))
	}
	return strings.Join(out, ", ")
}

// name writes an event's name.
func (e *explanation) name(p *score.Protocol, event *score.Event) string {
	if e.o.Content {
		return safe(event.FullName())
	}
	return safe(event.MaskedName(e.values.of(e.Verdict, p.Conversation)))
}

// fact says what happened.
func (e *explanation) fact(s *score.StepAccount) string {
	tool := ""
	if s.Call >= 0 {
		tool = safe(e.Account.Calls[s.Call].Tool)
		if e.Account.Calls[s.Call].Decided >= 0 && s.Kind == policy.ToolResult {
			c := &e.Account.Calls[s.Call]
			ev := &c.Trials[c.Decided].Evaluation
			tool += fmt.Sprintf(" (%s, %s)", ev.Decision, ev.TruthState)
		}
	}
	switch s.Kind {
	case policy.ToolCall:
		return "the call of " + tool
	case policy.ToolResult:
		return "the result of " + tool
	case policy.UserMessage:
		if s.First {
			return "the user's first message"
		}
		return "a user's message"
	case policy.AgentMessage:
		if s.Calls {
			return "the agent's message, which calls tools"
		}
		return "the agent's message"
	default:
		return "the span " + safe(e.Facts[s.Span].Name)
	}
}

// text shows what a message says, if content is to be shown.
func (e *explanation) text(s *score.StepAccount) {
	if e.o.Content && s.Text != "" {
		e.said(s.Text)
	}
}
