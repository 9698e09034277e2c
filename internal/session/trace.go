// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import "strings"

// Attempt is one event that a monitor was stepped with, and what it came to.
type Attempt struct {
	// Event holds of the payload what the protocol reads: the fields of the
	// clause of the edge that waited for the event. Stepping it again has the
	// same outcome.
	Event  Event
	Result Result
	Cause  Cause
}

// TraceLimits bound a trace. The oldest attempts give way to new ones.
type TraceLimits struct {
	Events int // attempts kept
	Bytes  int // bytes of their labels, fields and values
}

// WithTrace makes a monitor keep its attempts, peeks excepted. Limits that are
// not positive keep nothing but the count.
func WithTrace(limits TraceLimits) Option {
	return func(m *Monitor) { m.trace = &trace{limits: limits} }
}

// Trace returns the attempts that are kept, oldest first, and how many older
// ones were dropped for the limits. A trace from which nothing was dropped can
// be replayed.
func (m *Monitor) Trace() (attempts []Attempt, dropped int) {
	if m.trace == nil {
		return nil, 0
	}
	return append(attempts, m.trace.attempts...), m.trace.dropped
}

// Replay returns a monitor that was stepped with the events, in order.
func (a *Automaton) Replay(events []Event, options ...Option) *Monitor {
	m := a.NewMonitor(options...)
	for _, e := range events {
		m.Step(e.Direction, e.Label, e.Payload)
	}
	return m
}

// A trace is a queue of attempts, bounded by count and by bytes. It is always
// the end of what happened, without gaps.
type trace struct {
	limits   TraceLimits
	attempts []Attempt
	bytes    int
	dropped  int
}

// record adds an event and its outcome to the monitor's trace.
func (m *Monitor) record(d Direction, label string, p Payload, o Outcome, e *edge) {
	attempt := Attempt{Event: Event{Direction: d, Label: strings.Clone(label)}, Result: o.Result, Cause: o.Cause}
	if read := m.automaton.read(e, p); len(read) > 0 {
		attempt.Event.Payload = read
	}
	m.trace.add(attempt)
}

// add appends an attempt. An attempt that does not fit an empty trace is
// dropped like those before it.
func (t *trace) add(attempt Attempt) {
	t.attempts = append(t.attempts, attempt)
	t.bytes += attempt.size()
	for len(t.attempts) > 0 && (len(t.attempts) > t.limits.Events || t.bytes > t.limits.Bytes) {
		t.bytes -= t.attempts[0].size()
		t.attempts[0] = Attempt{} // not kept alive by the slice
		t.attempts = t.attempts[1:]
		t.dropped++
	}
}

// size returns the bytes that an attempt counts for.
func (a *Attempt) size() int {
	n := len(a.Event.Label)
	fields, _ := a.Event.Payload.(Fields)
	for name, v := range fields {
		n += len(name) + len(v.text)
	}
	return n
}

// read returns copies of the fields that the clause of an edge looks at. A
// payload is not kept: it may be large, and nothing else in it matters.
func (a *Automaton) read(e *edge, p Payload) Fields {
	if e == nil || e.clause == noClause || p == nil {
		return nil
	}
	fields := Fields{}
	keep := func(name string) {
		if v, ok := p.Field(name); ok {
			v.text = strings.Clone(v.text)
			fields[name] = v
		}
	}
	c := &a.clauses[e.clause]
	for _, g := range c.guards {
		keep(g.field)
	}
	for _, b := range c.bindings {
		keep(b.field)
	}
	return fields
}
