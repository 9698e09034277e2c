// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package report turns verdicts on sessions into what people and programs read:
// a document with a stable JSON form, and what is made from it: a line a
// session, tables, JUnit, SARIF, a page.
//
// A [Builder] takes verdicts in any order and from any goroutine; the [Report]
// is in order. It holds no session in memory that nobody looks at: what was
// concluded is kept as JSON, and beyond some size in a temporary file.
//
// Reading order: report.go is the document; builder.go makes it and count.go
// sums it up; each form has a file of its own.
package report

import (
	"encoding/json"
	"iter"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/spill"
)

// Report is the whole answer.
type Report struct {
	Summary Summary
	Inputs  Inputs
	// Policy describes the contracts and protocols; nil if the builder was given
	// no policy.
	Policy *Parts

	index   *index
	entries []entry
	bodies  *spill.Store
	blocked int // sessions with a blocked call
}

// entry is a session that lies in the store.
type entry struct {
	start   genai.Timestamp
	id      string
	origin  Origin
	body    spill.Blob
	details []spill.Blob // for the page only
}

// Session is the verdict on one session.
type Session struct {
	ID             string        `json:"id"`
	TraceIDs       []string      `json:"trace_ids"`
	ConversationID string        `json:"conversation_id"`
	Agent          string        `json:"agent"`
	Service        string        `json:"service"`
	PolicyHash     string        `json:"policy_hash"`
	Compliance     string        `json:"compliance"`
	Complete       bool          `json:"complete"`
	Gaps           []string      `json:"gaps"`  // why events may be missing
	Score          *float64      `json:"score"` // null where nothing was checked
	Observations   []Observation `json:"observations"`
	Protocols      []Protocol    `json:"protocols"`

	Uncontracted []Uncontracted `json:"uncontracted"`

	index  *index // of the policy's parts, once it was read back
	start  genai.Timestamp
	origin Origin
	gaps   score.Gaps // until it is concluded
}

// Observation is the verdict on one tool call.
type Observation struct {
	SpanID        string   `json:"span_id"`
	TraceID       string   `json:"trace_id,omitempty"` // where the session has several
	Tool          string   `json:"tool"`
	CallID        string   `json:"call_id"`
	Contract      string   `json:"contract"`
	ClaimType     string   `json:"claim_type"`
	Severity      string   `json:"severity"` // of the contract
	Decision      string   `json:"decision"`
	TruthState    string   `json:"truth_state"`
	ReasonCodes   []string `json:"reason_codes"`
	MissingFields []string `json:"missing_fields"`
	Fingerprint   string   `json:"fingerprint"`
	ContentHash   string   `json:"content_hash"`
}

// Sealed reports whether the result may back a claim.
func (o *Observation) Sealed() bool { return o.Decision == "sealed" }

// Uncaptured reports whether the observation is blocked only because the
// telemetry holds no usable content.
func (o *Observation) Uncaptured() bool {
	if o.Sealed() || len(o.ReasonCodes) == 0 {
		return false
	}
	switch o.ReasonCodes[0] {
	case "RESULT_NOT_CAPTURED", "RESULT_TRUNCATED", "ARGUMENTS_NOT_CAPTURED":
		return true
	}
	return false
}

// Uncontracted is a tool call that no contract matches.
type Uncontracted struct {
	SpanID  string `json:"span_id"`
	TraceID string `json:"trace_id,omitempty"`
	Tool    string `json:"tool"`
	CallID  string `json:"call_id"`
}

// Protocol is the verdict of one protocol.
type Protocol struct {
	Name     string  `json:"name"`
	Severity string  `json:"severity"`
	Verdict  string  `json:"verdict"`
	Complete bool    `json:"complete"`
	Events   []Event `json:"events"`
}

// Event is one step of a protocol's monitor.
type Event struct {
	Event     string             `json:"event"`
	Time      string             `json:"time"`
	SpanID    string             `json:"span_id"`
	TraceID   string             `json:"trace_id,omitempty"`
	Verdict   string             `json:"verdict"`
	Expected  []string           `json:"expected"`
	Reason    string             `json:"reason,omitempty"`
	Registers map[string]rawJSON `json:"registers"`
}

// rawJSON is a value that is JSON already.
type rawJSON string

// MarshalJSON implements json.Marshaler.
func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (r *rawJSON) UnmarshalJSON(text []byte) error {
	*r = rawJSON(text)
	return nil
}

// Inputs counts what was read.
type Inputs struct {
	Files  int `json:"files"`
	Spans  int `json:"spans"`
	Broken int `json:"broken"`
	// Scattered counts the traces of which there is no verdict, because their
	// spans stood too far apart to be held.
	Scattered int `json:"scattered,omitempty"`
}

// traceOf returns the trace that something of the session stands in.
func (s *Session) traceOf(traceID string) string {
	if traceID == "" {
		return s.TraceIDs[0]
	}
	return traceID
}

// Len returns the number of sessions.
func (r *Report) Len() int { return len(r.entries) }

// Sessions returns the sessions, ordered by the time of their first span, then
// by id. The error is that of the temporary file.
func (r *Report) Sessions() iter.Seq2[*Session, error] {
	return func(yield func(*Session, error) bool) {
		for i := range r.entries {
			s, err := r.session(i)
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// session reads a session back.
func (r *Report) session(i int) (*Session, error) {
	e := &r.entries[i]
	body, err := r.bodies.Get(e.body)
	if err != nil {
		return nil, err
	}
	s := &Session{index: r.index, start: e.start, origin: e.origin}
	return s, json.Unmarshal(body, s)
}

// raw returns the sessions as JSON.
func (r *Report) raw() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for i := range r.entries {
			body, err := r.bodies.Get(r.entries[i].body)
			if !yield(body, err) || err != nil {
				return
			}
		}
	}
}

// Close removes what was put aside.
func (r *Report) Close() error { return r.bodies.Close() }
