// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// Compliance is a verdict on a session, from best to worst.
type Compliance uint8

const (
	// Unjudged: the protocol consumed no event, so nothing was evaluated.
	Unjudged Compliance = iota
	// Compliant: the agent kept to the protocol.
	Compliant
	// Incomplete: it kept to it as far as it went, which was to no terminal
	// state, and the protocol requires completion.
	Incomplete
	// Unrecognized: something happened that the protocol cannot classify.
	Unrecognized
	// Inconclusive: it seems to have broken the protocol, but an event that the
	// telemetry lacks could explain it.
	Inconclusive
	// Violation: it broke the protocol, whatever the telemetry lacks.
	Violation
)

// String returns the compliance as it is written to spans.
func (c Compliance) String() string {
	switch c {
	case Unjudged:
		return "unjudged"
	case Compliant:
		return "compliant"
	case Incomplete:
		return "incomplete"
	case Unrecognized:
		return "unrecognized"
	case Inconclusive:
		return "inconclusive"
	case Violation:
		return "violation"
	}
	return "invalid"
}

// EventVerdict is a verdict on one event of a protocol, from best to worst.
type EventVerdict uint8

const (
	// EventOK: the event was legal.
	EventOK EventVerdict = iota
	// EventUnrecognized: the event could not be classified; nothing changed.
	EventUnrecognized
	// EventBlocked: the monitor had halted before.
	EventBlocked
	// EventInconclusive: not legal, but a missing event could explain it.
	EventInconclusive
	// EventViolation: not legal, whatever is missing.
	EventViolation
)

// String returns the verdict as it is written to spans.
func (v EventVerdict) String() string {
	switch v {
	case EventOK:
		return "ok"
	case EventUnrecognized:
		return "unrecognized"
	case EventBlocked:
		return "blocked"
	case EventInconclusive:
		return "inconclusive"
	case EventViolation:
		return "violation"
	}
	return "invalid"
}

// Session is the verdict on one session.
type Session struct {
	TraceID      genai.TraceID
	Conversation string // "" if unknown
	Agent        string // of the outermost agent span, "" if unknown
	Service      string

	Start, End genai.Timestamp // of the first span's start, of the last span's end

	// PolicyHash identifies the policy that the session was evaluated by, see
	// policy.Policy.Hash.
	PolicyHash string

	// Compliance is the worst verdict of the protocols; Unjudged if none follows
	// the session.
	Compliance Compliance
	// Complete is set if every protocol that follows the session stands in a
	// terminal state.
	Complete bool

	// Gaps are why events of the session may be missing, also where that caps
	// nothing: those of the trace and those of the protocols. See [Session.GapsOf]
	// for one conversation of several.
	Gaps Gaps
	// TraceGaps are those of the trace, whatever follows it.
	TraceGaps Gaps

	Observations []Observation // of contracted calls, in order of their calls
	Protocols    []Protocol    // in policy order
	Uncontracted []Call        // calls that no contract matches, in order

	// Root is the span that carries the session's verdict: the trace's root, or
	// its earliest span.
	Root int
	// Spans are the spans that have something to say, in order of index.
	Spans []SpanVerdict
	// OutOfOrder is set if a conversation had been judged beyond this trace, so
	// that its events could not join.
	OutOfOrder bool
	// Ahead is set if a conversation's spans are dated ahead of the clock, so that
	// they were followed by themselves.
	Ahead bool
	// Unfollowed counts conversations of the trace beyond [MaxConversations].
	Unfollowed int
	// Duplicates counts spans that stand in the trace more than once.
	Duplicates int
}

// GapsOf returns the gaps of the trace and of the protocols that follow one of
// its conversations.
func (s *Session) GapsOf(conversation string) Gaps {
	gaps := s.TraceGaps
	for i := range s.Protocols {
		if p := &s.Protocols[i]; p.Conversation == "" || p.Conversation == conversation {
			gaps |= p.Gaps
		}
	}
	return gaps
}

// Call names a call that no contract matches.
type Call struct {
	Span     int // see Observation.Span
	Tool, ID string

	Conversation string // the span's, "" if unknown
}

// Observation is the verdict on one tool call under the contract that decided.
type Observation struct {
	// Span carries the verdict: the call's outermost tool span. If no tool span
	// shows the call, it is the model's span that asked for it.
	Span int
	// ToolSpan reports whether Span is a tool span.
	ToolSpan bool
	Tool     string
	CallID   string // "" if none can be trusted
	// Conversation is the span\'s, "" if unknown.
	Conversation string
	Time         genai.Timestamp // when the result was there

	Contract   *policy.Contract
	Evaluation engine.Evaluation
	Record     engine.Record
	// ContentHash is the hash of what was observed, sha256:… in hex.
	ContentHash string
	TargetRef   string

	// Uncaptured is set if the observation is blocked only because the
	// telemetry holds no usable content.
	Uncaptured bool
	// ContentSwitch says how the call's instrumentation is told to record
	// content; "" if its dialect is unknown.
	ContentSwitch string
}

// Sealed reports whether the result may back a claim.
func (o *Observation) Sealed() bool { return o.Evaluation.Decision == engine.Sealed }

// Protocol is the verdict of one protocol on a session.
type Protocol struct {
	Protocol *policy.Protocol
	// Conversation is the conversation that the protocol follows; "" if it
	// follows the trace.
	Conversation string
	// Verdict is that of the whole session so far.
	Verdict Compliance
	// Complete is set if the monitor stands in a terminal state.
	Complete bool
	// Gaps are why events that the protocol listens to may be missing. There are
	// none where the policy says that the telemetry is complete.
	Gaps   Gaps
	Events []Event
}

// Event is one step of a protocol's monitor.
type Event struct {
	Span int
	// Name is !Label or ?Label. It holds no content: see Rendered.
	Name string
	// Rendered is the label itself if it was rendered from content (arguments, a
	// result, span attributes) and the protocol does not know it; Name then has
	// its length in place of it. It is "" for any other event.
	Rendered string
	Time     genai.Timestamp
	Verdict  EventVerdict
	// Expected is the sorted set of legal events, for anything but EventOK.
	Expected []string
	// Reason says why, for anything but EventOK. It holds no content.
	Reason string
	// Registers are the monitor's registers after the event, as JSON; nil if the
	// protocol has none.
	Registers map[string]string
}

// SpanVerdict is what one span is to be told.
type SpanVerdict struct {
	Span        int
	Observation int // index in Session.Observations, -1 if none
	Events      []EventRef
}

// EventRef points at Session.Protocols[Protocol].Events[Event].
type EventRef struct{ Protocol, Event int }

// Score returns checks passed and checks made. A check is a contracted
// observation, passed when sealed, or a protocol, passed when compliant. Unjudged
// protocols do not count.
func (s *Session) Score() (passed, made int) {
	for i := range s.Observations {
		if made++; s.Observations[i].Sealed() {
			passed++
		}
	}
	for i := range s.Protocols {
		switch s.Protocols[i].Verdict {
		case Unjudged:
		case Compliant:
			passed++
			made++
		default:
			made++
		}
	}
	return passed, made
}

// Counts returns how many observations were sealed and blocked, and how many of
// the blocked ones only for lack of recorded content.
func (s *Session) Counts() (sealed, blocked, uncaptured int) {
	for i := range s.Observations {
		switch o := &s.Observations[i]; {
		case o.Sealed():
			sealed++
		case o.Uncaptured:
			blocked++
			uncaptured++
		default:
			blocked++
		}
	}
	return sealed, blocked, uncaptured
}

// Violations describes the events that broke a protocol, at most limit of them:
// "booking: got !BookFlight, expected ?Approval".
func (s *Session) Violations(limit int) []string {
	var out []string
	for i := range s.Protocols {
		p := &s.Protocols[i]
		for j := range p.Events {
			if p.Events[j].Verdict != EventViolation {
				continue
			}
			if len(out) == limit {
				return out
			}
			out = append(out, p.Protocol.Name+": "+p.Events[j].describe())
		}
	}
	return out
}

// Reason says what decided the verdict, "" if the protocol is compliant.
func (p *Protocol) Reason() string {
	for _, worst := range [...]EventVerdict{EventViolation, EventInconclusive, EventUnrecognized} {
		for i := range p.Events {
			if e := &p.Events[i]; e.Verdict == worst {
				return e.describe()
			}
		}
	}
	switch p.Verdict {
	case Incomplete:
		return "ended before a terminal state"
	case Unjudged:
		return "consumed no event"
	}
	return ""
}

func (e *Event) describe() string {
	text := "got " + e.Name
	if len(e.Expected) > 0 {
		text += ", expected " + strings.Join(e.Expected, " or ")
	}
	if e.Verdict != EventUnrecognized && e.Reason != reasonLabel {
		text += " (" + e.Reason + ")"
	}
	return text
}
