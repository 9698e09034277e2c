// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/describe"
)

// FailOn are outcomes that count as failures: verdicts of protocols, "unjudged"
// for sessions, "blocked" and "uncaptured" for observations, and "uncontracted"
// for calls. None at all stands for those that are wrong for certain: a violation,
// a protocol that was not completed, and a blocked observation whose content was
// recorded.
type FailOn []string

func (f FailOn) verdict(verdict string) bool {
	if len(f) == 0 {
		return verdict == "violation" || verdict == "incomplete"
	}
	return slices.Contains(f, verdict)
}

func (f FailOn) observation(o *Observation) bool {
	if o.Sealed() {
		return false
	}
	if len(f) == 0 {
		return !o.Uncaptured()
	}
	return slices.Contains(f, "blocked") || o.Uncaptured() && slices.Contains(f, "uncaptured")
}

func (f FailOn) unjudged() bool { return slices.Contains(f, "unjudged") }

func (f FailOn) uncontracted() bool { return slices.Contains(f, "uncontracted") }

// Failed reports whether a session of the report has one of the outcomes.
func (f FailOn) Failed(r *Report) bool {
	for _, outcome := range f {
		n := r.Summary.ByCompliance[outcome]
		switch outcome {
		case "blocked":
			n = r.Summary.Observations.Blocked
		case "uncaptured":
			n = r.Summary.Observations.Uncaptured
		case "uncontracted":
			n = r.Summary.Observations.Uncontracted
		}
		if n > 0 {
			return true
		}
	}
	return false
}

// Rules of findings that are neither about a reason code nor about a verdict of
// a protocol.
const (
	ruleUnjudged     = "session-unjudged"
	ruleUncontracted = "call-uncontracted"
)

// What these rules mean, in a sentence each.
const (
	unjudgedWords     = "No event of a protocol occurred in the session, so no protocol was evaluated."
	uncontractedWords = "No contract matches the call, so its result was not evaluated."
)

// finding is what is to be said of a session's part that is not as it should be.
type finding struct {
	rule    string // a reason code, protocol- and a verdict, or one of the rules above
	fails   bool
	message string // one line
	trace   string
	span    string // "" if it is about no span
	subject string // the tool or the event
	of      string // the call or the protocol
	part    *Part  // the contract or protocol; nil if it is about neither
	lines   []string
}

// proved reports whether a finding has no other explanation than that something
// went wrong: that an event is missing, or that a result was not recorded.
func (f *finding) proved() bool {
	switch f.rule {
	case "protocol-inconclusive", "RESULT_NOT_CAPTURED", "RESULT_TRUNCATED", "ARGUMENTS_NOT_CAPTURED":
		return false
	}
	return true
}

// finding says what a blocked observation lacks; nil if it is sealed.
func (o *Observation) finding(s *Session, on FailOn) *finding {
	if o.Sealed() {
		return nil
	}
	rule := "SCHEMA_INVALID"
	if len(o.ReasonCodes) > 0 {
		rule = o.ReasonCodes[0]
	}
	f := &finding{
		rule: rule, fails: on.observation(o), trace: s.traceOf(o.TraceID), span: o.SpanID, subject: o.Tool, of: o.CallID,
		message: fmt.Sprintf("%s: blocked, %s (%s)", o.Tool, o.TruthState, strings.Join(o.ReasonCodes, ", ")),
		part:    s.contract(o),
		lines:   []string{fmt.Sprintf("contract %s, claim %s", o.Contract, o.ClaimType)},
	}
	f.lines = append(f.lines, f.part.lines()...)
	for _, reason := range o.ReasonCodes {
		f.lines = append(f.lines, reason+": "+describe.Reasons[reason])
	}
	if len(o.MissingFields) > 0 {
		f.lines = append(f.lines, "missing: "+strings.Join(o.MissingFields, ", "))
	}
	if o.CallID != "" {
		f.lines = append(f.lines, "call "+o.CallID)
	}
	f.place(s)
	return f
}

// finding returns why nothing was judged in a session; nil if something was.
func (s *Session) finding(on FailOn) *finding {
	if s.Compliance != "unjudged" {
		return nil
	}
	f := &finding{
		rule: ruleUnjudged, fails: on.unjudged(), trace: s.TraceIDs[0], of: s.ID,
		message: "unjudged: no protocol follows the session",
		lines:   []string{unjudgedWords},
	}
	if len(s.Protocols) > 0 {
		var names []string // one that follows traces is there once for each trace
		for i := range s.Protocols {
			if name := s.Protocols[i].Name; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		f.message = "unjudged: no event of " + strings.Join(names, ", ")
	}
	if n := len(s.Observations); n > 0 {
		f.lines = append(f.lines, number(n, "tool call")+" with a contract")
	}
	if n := len(s.Uncontracted); n > 0 {
		f.lines = append(f.lines, number(n, "tool call")+" without a contract")
	}
	f.place(s)
	return f
}

// finding returns that no contract matches the call; nil unless that counts as a
// failure.
func (u *Uncontracted) finding(s *Session, on FailOn) *finding {
	if !on.uncontracted() {
		return nil
	}
	f := &finding{
		rule: ruleUncontracted, fails: true, trace: s.traceOf(u.TraceID), span: u.SpanID, subject: u.Tool, of: u.CallID,
		message: u.Tool + ": no contract",
		lines:   []string{uncontractedWords},
	}
	if u.CallID != "" {
		f.lines = append(f.lines, "call "+u.CallID)
	}
	f.place(s)
	return f
}

// finding says what decided a protocol's verdict; nil if it is compliant. That a
// protocol is unjudged is no failure: most protocols are not about most sessions.
func (p *Protocol) finding(s *Session, on FailOn) *finding {
	switch p.Verdict {
	case "compliant":
		return nil
	case "unjudged":
		f := &finding{
			rule: "protocol-unjudged", trace: s.TraceIDs[len(s.TraceIDs)-1], of: p.Name,
			message: p.Name + ": no event occurred",
			lines:   []string{describe.Verdicts[p.Verdict]},
		}
		f.place(s)
		return f
	}
	f := &finding{rule: "protocol-" + p.Verdict, fails: on.verdict(p.Verdict), trace: s.TraceIDs[len(s.TraceIDs)-1], of: p.Name, part: s.protocolPart(p)}
	at := slices.IndexFunc(p.Events, func(e Event) bool { return e.Verdict == p.Verdict })
	before, happened := p.Events, "events"
	if at >= 0 {
		e := &p.Events[at]
		f.message, f.subject = p.Name+": "+e.describe(), e.Event
		f.trace, f.span = s.traceOf(e.TraceID), e.SpanID
		f.lines = append(f.lines, describe.Verdicts[p.Verdict])
		if e.Reason != "" {
			f.lines = append(f.lines, "reason: "+e.Reason)
		}
		if len(e.Expected) > 0 {
			f.lines = append(f.lines, "expected: "+strings.Join(e.Expected, " or "))
		}
		before, happened = p.Events[:at], "events before it"
	} else {
		// Nothing was wrong with any event, it was the end that came too soon.
		after := "before anything happened"
		if n := len(p.Events); n > 0 {
			e := &p.Events[n-1]
			after = "after " + e.Event
			f.trace, f.span, f.subject = s.traceOf(e.TraceID), e.SpanID, e.Event
		}
		f.message = p.Name + ": ended " + after
		f.lines = append(f.lines, describe.Verdicts[p.Verdict])
	}
	f.lines = append(f.lines, f.part.lines()...)
	if len(before) > 0 {
		names := make([]string, len(before))
		for i := range before {
			names[i] = before[i].Event
		}
		const shown = 50
		if more := len(names) - shown; more > 0 {
			names = append([]string{fmt.Sprintf("(%d earlier)", more)}, names[more:]...)
		}
		f.lines = append(f.lines, happened+": "+strings.Join(names, " "))
	}
	f.place(s)
	return f
}

// describe says what came and what was legal.
func (e *Event) describe() string {
	text := "got " + e.Event
	if len(e.Expected) > 0 {
		text += ", expected " + strings.Join(e.Expected, " or ")
	}
	if e.Reason != "" && (len(e.Expected) == 0 || e.Verdict == "inconclusive" || e.Reason == "a guard fails") {
		text += " (" + e.Reason + ")"
	}
	return text
}

// place adds where it was found.
func (f *finding) place(s *Session) {
	at := "trace " + f.trace
	if f.span != "" {
		at += ", span " + f.span
	}
	f.lines = append(f.lines, at)
	if len(s.Gaps) > 0 {
		f.lines = append(f.lines, "gaps: "+strings.Join(s.Gaps, " "))
	}
	if s.ConversationID != "" {
		f.lines = append(f.lines, "conversation "+s.ConversationID)
	}
	if origin := s.origin.String(); origin != "" {
		f.lines = append(f.lines, "recorded in "+origin)
	}
	f.lines = append(f.lines, "why: resultseal score --explain "+f.trace)
}
