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
	Sessions []Session `json:"sessions"`
	Summary  Summary   `json:"summary"`
	Inputs   Inputs    `json:"inputs"`
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

	start      genai.Timestamp
	compliance score.Compliance
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
	sessions []Session
	inputs   Inputs
}

// Inputs sets the counts of what was read.
func (b *Builder) Inputs(in Inputs) { b.inputs = in }

// Add takes the verdict on a session and the facts that it was made from.
func (b *Builder) Add(v *score.Session, spans []genai.Span) {
	s := Session{
		ID:             v.TraceID.String(),
		TraceIDs:       []string{v.TraceID.String()},
		ConversationID: v.Conversation,
		Agent:          v.Agent,
		Service:        v.Service,
		Compliance:     v.Compliance.String(),
		Complete:       v.Complete,
		Observations:   make([]Observation, 0, len(v.Observations)),
		Protocols:      make([]Protocol, 0, len(v.Protocols)),
		Uncontracted:   make([]Uncontracted, 0, len(v.Uncontracted)),
		start:          v.Start,
		compliance:     v.Compliance,
	}
	if passed, made := v.Score(); made > 0 {
		share := float64(passed) / float64(made)
		s.Score = &share
	}
	for i := range v.Observations {
		o := &v.Observations[i]
		reasons := make([]string, len(o.Evaluation.ReasonCodes))
		for j, r := range o.Evaluation.ReasonCodes {
			reasons[j] = string(r)
		}
		s.Observations = append(s.Observations, Observation{
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
		})
	}
	for _, c := range v.Uncontracted {
		s.Uncontracted = append(s.Uncontracted, Uncontracted{SpanID: spans[c.Span].SpanID.String(), Tool: c.Tool, CallID: c.ID})
	}
	for i := range v.Protocols {
		p := &v.Protocols[i]
		out := Protocol{Name: p.Protocol.Name, Verdict: p.Verdict.String(), Complete: p.Complete, Events: make([]Event, 0, len(p.Events))}
		for j := range p.Events {
			e := &p.Events[j]
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
			})
		}
		s.Protocols = append(s.Protocols, out)
	}
	b.sessions = append(b.sessions, s)
}

// Report orders the sessions by the time of their first span, then by id, and
// counts.
func (b *Builder) Report() *Report {
	slices.SortFunc(b.sessions, func(x, y Session) int {
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
		r.Sessions = []Session{}
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
		s := &r.Sessions[i]
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
