// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/mask"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/spill"
)

// Builder collects verdicts, from any number of goroutines.
type Builder struct {
	// Content shows content: arguments, results and messages in the details of the
	// page, and what protocols remember in every form. Without it, values are
	// masked, see package mask.
	Content bool

	// Policy describes the contracts and protocols in the report. Set it before
	// Report.
	Policy *policy.Policy

	conversational bool

	mu            sync.Mutex
	conversations map[string]*pending
	order         []*pending // the conversations as they came
	counts        *counter
	report        *Report
}

// pending is a session that may grow: a conversation.
type pending struct {
	conversation string // its identity; "" for what belongs to no conversation
	session      *Session
	values       mask.Values
	details      []spill.Blob
}

// NewBuilder returns a builder. If conversational is set, a session is a
// conversation over all its traces, as far as spans name one; else a trace.
func NewBuilder(conversational bool) *Builder {
	return &Builder{
		conversational: conversational,
		conversations:  map[string]*pending{},
		counts:         newCounter(),
		report:         &Report{bodies: &spill.Store{}},
	}
}

// Trace is a trace that was judged.
type Trace struct {
	Verdict *score.Session
	Spans   []genai.Span // that it was made from
	Origin  Origin
	// Account tells how the verdict came about. The page needs it, nothing else
	// does.
	Account *score.Account
}

// Origin is where in the input something was recorded.
type Origin struct {
	File string // "" if it was no file
	Line int    // from 1; 0 if the file has no lines
}

// String returns file:line, or what of it there is.
func (o Origin) String() string {
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d", o.File, o.Line)
}

// Add takes the verdict on a trace. Traces of one conversation come in the order
// in which they were judged.
func (b *Builder) Add(t Trace) error {
	v, spans := t.Verdict, t.Spans
	if b.conversational {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.converse(&t)
	}
	values := &mask.Values{}
	of := func(*score.Protocol) *mask.Values { return values }
	v.Number(of)
	detail, err := b.detail(&t, of)
	if err != nil {
		return err
	}
	s := newSession(v.TraceID.String(), v)
	s.origin = t.Origin
	s.ConversationID, s.gaps = genai.ConversationID(v.Conversation), v.Gaps
	for i := range v.Observations {
		s.Observations = append(s.Observations, observation(&v.Observations[i], spans))
	}
	for _, c := range v.Uncontracted {
		s.Uncontracted = append(s.Uncontracted, uncontracted(c, spans))
	}
	for i := range v.Protocols {
		b.protocol(s, &v.Protocols[i], spans, values)
	}
	buffer := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buffer)
	body, err := conclude(s, buffer)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var details []spill.Blob
	if detail != nil {
		d, err := b.report.bodies.Put(detail)
		if err != nil {
			return err
		}
		details = append(details, d)
	}
	return b.put(s, body, details)
}

// buffers are for sessions until they are stored.
var buffers = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// put stores a concluded session.
func (b *Builder) put(s *Session, body []byte, details []spill.Blob) error {
	at, err := b.report.bodies.Put(body)
	if err != nil {
		return err
	}
	b.counts.add(s, 1)
	b.report.entries = append(b.report.entries, entry{start: s.start, id: strings.Clone(s.ID), origin: s.origin, body: at, details: details})
	return nil
}

// converse deals a trace's verdict out to its conversations. What belongs to
// none stays with the trace.
func (b *Builder) converse(t *Trace) error {
	v, spans := t.Verdict, t.Spans
	touched := map[*pending]bool{}
	var trace *pending
	own := func(conversation string) *pending {
		p := trace
		switch {
		case conversation != "":
			p = b.conversation(t, conversation)
		case trace == nil:
			trace = &pending{session: newSession(v.TraceID.String(), v)}
			trace.session.origin = t.Origin
			b.order = append(b.order, trace)
			p = trace
		}
		touched[p] = true
		return p
	}
	for i := range v.Observations {
		s := own(v.Observations[i].Conversation).session
		o := observation(&v.Observations[i], spans)
		o.TraceID = v.TraceID.String()
		s.Observations = append(s.Observations, o)
	}
	for _, c := range v.Uncontracted {
		s := own(c.Conversation).session
		u := uncontracted(c, spans)
		u.TraceID = v.TraceID.String()
		s.Uncontracted = append(s.Uncontracted, u)
	}
	values := func(p *score.Protocol) *mask.Values { return &own(cmp.Or(p.Conversation, v.Conversation)).values }
	v.Number(values)
	for i := range v.Protocols {
		p := &v.Protocols[i]
		b.protocol(own(cmp.Or(p.Conversation, v.Conversation)).session, p, spans, values(p))
	}
	if v.Conversation != "" || len(touched) == 0 {
		own(v.Conversation)
	}
	for p := range touched {
		p.session.gaps |= v.GapsOf(p.conversation)
	}
	detail, err := b.detail(t, values)
	if detail == nil || err != nil {
		return err
	}
	d, err := b.report.bodies.Put(detail)
	for p := range touched {
		p.details = append(p.details, d)
	}
	return err
}

// conversation finds the session of a conversation.
func (b *Builder) conversation(t *Trace, id string) *pending {
	v := t.Verdict
	p := b.conversations[id]
	if p == nil {
		id = strings.Clone(id)
		p = &pending{session: newSession(genai.ConversationName(id), v), conversation: id}
		p.session.ConversationID, p.session.origin = genai.ConversationID(id), t.Origin
		b.conversations[id] = p
		b.order = append(b.order, p)
	}
	s := p.session
	s.start = min(s.start, v.Start)
	if trace := v.TraceID.String(); s.TraceIDs[len(s.TraceIDs)-1] != trace {
		s.TraceIDs = append(s.TraceIDs, trace)
	}
	return p
}

// Strings are cloned: they may be parts of large texts, which would stay in
// memory with them.

func newSession(id string, v *score.Session) *Session {
	return &Session{
		ID:           id,
		TraceIDs:     []string{v.TraceID.String()},
		Agent:        strings.Clone(v.Agent),
		Service:      strings.Clone(v.Service),
		PolicyHash:   v.PolicyHash,
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
		Tool:          strings.Clone(o.Tool),
		CallID:        strings.Clone(o.CallID),
		Contract:      o.Contract.Name,
		ClaimType:     string(o.Contract.Base.ClaimType),
		Severity:      o.Contract.Severity.String(),
		Decision:      string(o.Evaluation.Decision),
		TruthState:    string(o.Evaluation.TruthState),
		ReasonCodes:   reasons,
		MissingFields: append([]string{}, o.Evaluation.MissingFields...),
		Fingerprint:   o.Record.Fingerprint,
		ContentHash:   o.ContentHash,
	}
}

func uncontracted(c score.Call, spans []genai.Span) Uncontracted {
	return Uncontracted{SpanID: spans[c.Span].SpanID.String(), Tool: strings.Clone(c.Tool), CallID: strings.Clone(c.ID)}
}

// protocol adds a protocol's verdict to its session. One that goes on from an
// earlier trace of the conversation has the verdict of all of it.
func (b *Builder) protocol(s *Session, p *score.Protocol, spans []genai.Span, values *mask.Values) {
	var out *Protocol
	for i := range s.Protocols {
		if p.Conversation != "" && s.Protocols[i].Name == p.Protocol.Name {
			out = &s.Protocols[i]
		}
	}
	if out == nil {
		s.Protocols = append(s.Protocols, Protocol{Name: p.Protocol.Name, Severity: p.Protocol.Severity.String(), Events: []Event{}})
		out = &s.Protocols[len(s.Protocols)-1]
	}
	out.Verdict, out.Complete = p.Verdict.String(), p.Complete
	for i := range p.Events {
		e := &p.Events[i]
		name, registers := b.shown(e, values)
		out.Events = append(out.Events, Event{
			Event:     strings.Clone(name),
			Time:      e.Time.Time().Format(time.RFC3339Nano),
			SpanID:    spans[e.Span].SpanID.String(),
			TraceID:   spans[e.Span].TraceID.String(),
			Verdict:   e.Verdict.String(),
			Expected:  append([]string{}, e.Expected...),
			Reason:    e.Reason,
			Registers: registers,
		})
	}
}

// shown returns an event's name and registers as the report shows them.
func (b *Builder) shown(e *score.Event, values *mask.Values) (name string, registers map[string]rawJSON) {
	registers = map[string]rawJSON{}
	if b.Content {
		for name, value := range e.Registers {
			registers[name] = rawJSON(value)
		}
		return e.FullName(), registers
	}
	for name, masked := range e.MaskedRegisters(values) {
		registers[name] = rawJSON(`"` + masked + `"`) // a mask has nothing to escape
	}
	return e.MaskedName(values), registers
}

// conclude draws the session's verdict from its parts, and writes it down, into b.
func conclude(s *Session, b *bytes.Buffer) ([]byte, error) {
	worst, complete := score.Unjudged, true
	passed, made := 0, 0
	for i := range s.Protocols {
		p := &s.Protocols[i]
		worst = max(worst, complianceOf(p.Verdict))
		complete = complete && p.Complete
		switch p.Verdict {
		case score.Unjudged.String():
		case score.Compliant.String():
			passed++
			made++
		default:
			made++
		}
	}
	for i := range s.Observations {
		if made++; s.Observations[i].Sealed() {
			passed++
		}
	}
	if s.gaps.Has(score.GapUnscored) { // no protocol of it has a verdict
		worst, complete = max(worst, score.Inconclusive), false
	}
	s.Compliance, s.Complete = worst.String(), complete
	s.Gaps = append([]string{}, s.gaps.Strings()...)
	if made > 0 {
		share := float64(passed) / float64(made)
		s.Score = &share
	}
	s.oneTrace()
	b.Reset()
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	err := e.Encode(s)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// oneTrace leaves the traces out of the parts if there is only one.
func (s *Session) oneTrace() {
	if len(s.TraceIDs) > 1 {
		return
	}
	for i := range s.Observations {
		s.Observations[i].TraceID = ""
	}
	for i := range s.Uncontracted {
		s.Uncontracted[i].TraceID = ""
	}
	for i := range s.Protocols {
		for j := range s.Protocols[i].Events {
			s.Protocols[i].Events[j].TraceID = ""
		}
	}
}

// complianceOf reads a verdict back.
func complianceOf(text string) score.Compliance {
	for c := score.Unjudged; c < score.Violation; c++ {
		if c.String() == text {
			return c
		}
	}
	return score.Violation
}

// Remove takes back the verdict on a trace, which turned out to lack spans. A
// conversation that the trace is part of is taken back as a whole.
func (b *Builder) Remove(trace string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.order = slices.DeleteFunc(b.order, func(p *pending) bool { return slices.Contains(p.session.TraceIDs, trace) })
	for i := range b.report.entries {
		if b.report.entries[i].id != trace {
			continue
		}
		body, err := b.report.bodies.Get(b.report.entries[i].body)
		if err != nil {
			return err
		}
		var s Session
		if err := json.Unmarshal(body, &s); err != nil {
			return err
		}
		b.counts.add(&s, -1)
		b.report.entries = slices.Delete(b.report.entries, i, i+1)
		return nil
	}
	return nil
}

// Report orders the sessions by the time of their first span, then by id, and
// counts. Nothing is to be added afterwards.
func (b *Builder) Report(in Inputs) (*Report, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var buffer bytes.Buffer
	for _, p := range b.order {
		body, err := conclude(p.session, &buffer)
		if err != nil {
			return nil, err
		}
		if err := b.put(p.session, body, p.details); err != nil {
			return nil, err
		}
	}
	b.order = nil
	r := b.report
	slices.SortFunc(r.entries, func(x, y entry) int {
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.id, y.id))
	})
	if b.Policy != nil {
		r.Policy = partsOf(b.Policy)
	}
	r.index = indexOf(r.Policy)
	r.Summary, r.Inputs, r.blocked = b.counts.sum(), in, b.counts.blocked
	return r, nil
}
