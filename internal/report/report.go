// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package report turns verdicts on sessions into what people and programs read:
// a document with a stable JSON form, and tables made from it.
package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// Report is the whole answer. Its JSON form is the command line's `json`.
type Report struct {
	Sessions []*Session `json:"sessions"`
	Summary  Summary    `json:"summary"`
	Inputs   Inputs     `json:"inputs"`
}

// Session is the verdict on one session.
type Session struct {
	ID             string        `json:"id"`
	TraceIDs       []string      `json:"trace_ids"`
	ConversationID string        `json:"conversation_id"`
	Agent          string        `json:"agent"`
	Service        string        `json:"service"`
	Compliance     string        `json:"compliance"`
	Complete       bool          `json:"complete"`
	Score          *float64      `json:"score"` // null where nothing was checked
	Observations   []Observation `json:"observations"`
	Protocols      []Protocol    `json:"protocols"`

	Uncontracted []Uncontracted `json:"uncontracted"`

	start genai.Timestamp
}

// Observation is the verdict on one tool call.
type Observation struct {
	SpanID        string   `json:"span_id"`
	Tool          string   `json:"tool"`
	CallID        string   `json:"call_id"`
	Contract      string   `json:"contract"`
	ClaimType     string   `json:"claim_type"`
	Decision      string   `json:"decision"`
	TruthState    string   `json:"truth_state"`
	ReasonCodes   []string `json:"reason_codes"`
	MissingFields []string `json:"missing_fields"`
	Fingerprint   string   `json:"fingerprint"`
	ContentHash   string   `json:"content_hash"`

	uncaptured bool
}

// Uncontracted is a tool call that no contract matches.
type Uncontracted struct {
	SpanID string `json:"span_id"`
	Tool   string `json:"tool"`
	CallID string `json:"call_id"`
}

// Protocol is the verdict of one protocol.
type Protocol struct {
	Name     string  `json:"name"`
	Verdict  string  `json:"verdict"`
	Complete bool    `json:"complete"`
	Events   []Event `json:"events"`

	compliance score.Compliance
}

// Event is one step of a protocol's monitor.
type Event struct {
	Event     string             `json:"event"`
	Time      string             `json:"time"`
	SpanID    string             `json:"span_id"`
	Verdict   string             `json:"verdict"`
	Expected  []string           `json:"expected"`
	Reason    string             `json:"reason,omitempty"`
	Registers map[string]rawJSON `json:"registers"`

	traceID string
}

// rawJSON is a value that is JSON already.
type rawJSON string

// MarshalJSON implements json.Marshaler.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// Summary counts.
type Summary struct {
	Sessions     int            `json:"sessions"`
	ByCompliance map[string]int `json:"by_compliance"`
	Observations Counts         `json:"observations"`
	ByTruthState map[string]int `json:"by_truth_state"`
	ByReason     map[string]int `json:"by_reason"`
	ByTool       []Tool         `json:"by_tool"`
}

// Counts counts observations, and calls without a contract beside them.
type Counts struct {
	Total        int `json:"total"`
	Sealed       int `json:"sealed"`
	Blocked      int `json:"blocked"`
	Uncaptured   int `json:"uncaptured"`
	Uncontracted int `json:"uncontracted"`
}

// Tool counts the calls of one tool.
type Tool struct {
	Tool string `json:"tool"`
	Counts
}

// Inputs counts what was read.
type Inputs struct {
	Files  int `json:"files"`
	Spans  int `json:"spans"`
	Broken int `json:"broken"`
}

// Builder collects verdicts.
type Builder struct {
	sessions       []*Session
	conversations  map[string]*Session
	conversational bool
	inputs         Inputs
}

// NewBuilder returns a builder. If conversational is set, a session is a
// conversation over all its traces, as far as spans name one; else a trace.
func NewBuilder(conversational bool) *Builder {
	return &Builder{conversational: conversational, conversations: map[string]*Session{}}
}

// Inputs sets the counts of what was read.
func (b *Builder) Inputs(in Inputs) { b.inputs = in }

// Add takes the verdict on a trace and the facts that it was made from. Traces
// of one conversation come in the order in which they were judged.
func (b *Builder) Add(v *score.Session, spans []genai.Span) {
	trace := b.trace(v)
	own := func(conversation string) *Session {
		if !b.conversational || conversation == "" {
			return trace()
		}
		return b.conversation(v, conversation)
	}
	if !b.conversational {
		trace()
	}
	for i := range v.Observations {
		o := &v.Observations[i]
		s := own(o.Conversation)
		s.Observations = append(s.Observations, observation(o, spans))
	}
	for _, c := range v.Uncontracted {
		s := own(c.Conversation)
		s.Uncontracted = append(s.Uncontracted, Uncontracted{SpanID: spans[c.Span].SpanID.String(), Tool: c.Tool, CallID: c.ID})
	}
	for i := range v.Protocols {
		p := &v.Protocols[i]
		conversation := p.Conversation
		if conversation == "" {
			conversation = v.Conversation
		}
		s := own(conversation)
		s.protocol(p, spans)
	}
	if b.conversational && v.Conversation != "" {
		own(v.Conversation)
	}
}

// trace makes the session of a trace when it is first needed.
func (b *Builder) trace(v *score.Session) func() *Session {
	var s *Session
	return func() *Session {
		if s == nil {
			s = newSession(v.TraceID.String(), v)
			s.ConversationID = v.Conversation
			b.sessions = append(b.sessions, s)
		}
		return s
	}
}

func (b *Builder) conversation(v *score.Session, id string) *Session {
	s := b.conversations[id]
	if s == nil {
		s = newSession(id, v)
		s.ConversationID = id
		b.conversations[id] = s
		b.sessions = append(b.sessions, s)
	}
	if trace := v.TraceID.String(); s.TraceIDs[len(s.TraceIDs)-1] != trace {
		s.TraceIDs = append(s.TraceIDs, trace)
	}
	return s
}

func newSession(id string, v *score.Session) *Session {
	return &Session{
		ID:           id,
		TraceIDs:     []string{v.TraceID.String()},
		Agent:        v.Agent,
		Service:      v.Service,
		Observations: []Observation{},
		Protocols:    []Protocol{},
		Uncontracted: []Uncontracted{},
		start:        v.Start,
	}
}

func observation(o *score.Observation, spans []genai.Span) Observation {
	reasons := make([]string, len(o.Evaluation.ReasonCodes))
	for i, r := range o.Evaluation.ReasonCodes {
		reasons[i] = string(r)
	}
	return Observation{
		SpanID:        spans[o.Span].SpanID.String(),
		Tool:          o.Tool,
		CallID:        o.CallID,
		Contract:      o.Contract.Name,
		ClaimType:     string(o.Contract.Base.ClaimType),
		Decision:      string(o.Evaluation.Decision),
		TruthState:    string(o.Evaluation.TruthState),
		ReasonCodes:   reasons,
		MissingFields: append([]string{}, o.Evaluation.MissingFields...),
		Fingerprint:   o.Record.Fingerprint,
		ContentHash:   o.ContentHash,
		uncaptured:    o.Uncaptured,
	}
}

// protocol adds a protocol's verdict. One that goes on from an earlier trace of
// the conversation has the verdict of all of it.
func (s *Session) protocol(p *score.Protocol, spans []genai.Span) {
	var out *Protocol
	for i := range s.Protocols {
		if p.Conversation != "" && s.Protocols[i].Name == p.Protocol.Name {
			out = &s.Protocols[i]
		}
	}
	if out == nil {
		s.Protocols = append(s.Protocols, Protocol{Name: p.Protocol.Name, Events: []Event{}})
		out = &s.Protocols[len(s.Protocols)-1]
	}
	out.Verdict, out.Complete, out.compliance = p.Verdict.String(), p.Complete, p.Verdict
	for i := range p.Events {
		e := &p.Events[i]
		registers := map[string]rawJSON{}
		for name, value := range e.Registers {
			registers[name] = rawJSON(value)
		}
		out.Events = append(out.Events, Event{
			Event:     e.Name,
			Time:      e.Time.Time().Format(time.RFC3339Nano),
			SpanID:    spans[e.Span].SpanID.String(),
			Verdict:   e.Verdict.String(),
			Expected:  append([]string{}, e.Expected...),
			Reason:    e.Reason,
			Registers: registers,
			traceID:   spans[e.Span].TraceID.String(),
		})
	}
}

// conclude draws the session's verdict from its parts.
func (s *Session) conclude() {
	worst, complete := score.Compliant, true
	passed, made := 0, 0
	for i := range s.Protocols {
		p := &s.Protocols[i]
		worst = max(worst, p.compliance)
		complete = complete && p.Complete
		if made++; p.compliance == score.Compliant {
			passed++
		}
	}
	for i := range s.Observations {
		if made++; s.Observations[i].Decision == "sealed" {
			passed++
		}
	}
	s.Compliance, s.Complete = worst.String(), complete
	if made > 0 {
		share := float64(passed) / float64(made)
		s.Score = &share
	}
}

// Report orders the sessions by the time of their first span, then by id, and
// counts.
func (b *Builder) Report() *Report {
	slices.SortFunc(b.sessions, func(x, y *Session) int {
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.ID, y.ID))
	})
	r := &Report{Sessions: b.sessions, Inputs: b.inputs, Summary: Summary{
		Sessions:     len(b.sessions),
		ByCompliance: map[string]int{},
		ByTruthState: map[string]int{},
		ByReason:     map[string]int{},
		ByTool:       []Tool{},
	}}
	if r.Sessions == nil {
		r.Sessions = []*Session{}
	}
	for c := score.Compliant; c <= score.Violation; c++ {
		r.Summary.ByCompliance[c.String()] = 0
	}
	tools := map[string]*Tool{}
	tool := func(name string) *Counts {
		t, ok := tools[name]
		if !ok {
			t = &Tool{Tool: name}
			tools[name] = t
		}
		return &t.Counts
	}
	for i := range r.Sessions {
		s := r.Sessions[i]
		s.conclude()
		r.Summary.ByCompliance[s.Compliance]++
		for j := range s.Observations {
			o := &s.Observations[j]
			r.Summary.Observations.count(o)
			tool(o.Tool).count(o)
			r.Summary.ByTruthState[o.TruthState]++
			for _, reason := range o.ReasonCodes {
				r.Summary.ByReason[reason]++
			}
		}
		for _, c := range s.Uncontracted {
			r.Summary.Observations.Uncontracted++
			tool(c.Tool).Uncontracted++
		}
	}
	for _, t := range tools {
		r.Summary.ByTool = append(r.Summary.ByTool, *t)
	}
	slices.SortFunc(r.Summary.ByTool, func(a, b Tool) int {
		return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(b.Total+b.Uncontracted, a.Total+a.Uncontracted), cmp.Compare(a.Tool, b.Tool))
	})
	return r
}

func (c *Counts) count(o *Observation) {
	c.Total++
	switch {
	case o.Decision == "sealed":
		c.Sealed++
	case o.uncaptured:
		c.Blocked++
		c.Uncaptured++
	default:
		c.Blocked++
	}
}
