// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

// Result is what an event came to.
type Result uint8

// The four results.
const (
	// OK is an event that the protocol allows here and whose guards hold. The
	// monitor moves on.
	OK Result = iota
	// Violation is an event that the protocol does not allow here, or whose
	// guard fails. The monitor halts.
	Violation
	// Unrecognized is the sentinel label Unrecognized where no edge waits for it.
	// Nothing changes.
	Unrecognized
	// Blocked is any event after a violation. Nothing changes.
	Blocked
)

// String returns "ok", "violation", "unrecognized" or "blocked".
func (r Result) String() string {
	return [...]string{"ok", "violation", "unrecognized", "blocked"}[r&3]
}

// Cause says why an event is a violation.
type Cause uint8

// The causes.
const (
	NoCause    Cause = iota // no violation
	LabelCause              // no edge waits for the event
	GuardCause              // an edge waits for it, and a guard fails
)

// String returns "", "label" or "guard".
func (c Cause) String() string {
	return [...]string{"", "label", "guard", ""}[c&3]
}

// Outcome is the answer to one event. It is four words, so that it travels in
// registers.
type Outcome struct {
	Result Result
	Cause  Cause // of a violation

	// Expected is what would have been legal instead: the sorted names
	// ("!label", "?label") of the events that the state waited for before this
	// one came. It is empty for a blocked event. It is shared: do not modify it.
	Expected []string
}

// Monitor follows one run of a protocol. It is small, because there is one for
// every session: a state number, registers once something is bound, and a
// trace if one is asked for. A Monitor is for one goroutine at a time.
type Monitor struct {
	automaton *Automaton
	registers []Value // nil until something is bound
	trace     *trace  // nil if none is kept
	state     int32
	halted    bool
}

// NewMonitor returns a monitor in the initial state.
func (a *Automaton) NewMonitor(options ...Option) *Monitor {
	m := &Monitor{automaton: a}
	for _, o := range options {
		o(m)
	}
	return m
}

// Option is a choice about a new monitor.
type Option func(*Monitor)

// Send steps an event of the agent.
func (m *Monitor) Send(label string, p Payload) Outcome { return m.Step(Send, label, p) }

// Receive steps an event that comes to the agent.
func (m *Monitor) Receive(label string, p Payload) Outcome { return m.Step(Receive, label, p) }

// Step steps an event.
func (m *Monitor) Step(d Direction, label string, p Payload) Outcome {
	o, e := m.look(m.automaton.Symbol(d, label), p)
	if m.trace != nil {
		m.record(d, label, p, o, e)
	}
	m.commit(o, e, p)
	return o
}

// StepSymbol steps an event whose symbol, one of this monitor's automaton, is
// known already. A trace has no label for NoSymbol.
func (m *Monitor) StepSymbol(s Symbol, p Payload) Outcome {
	o, e := m.look(s, p)
	if m.trace != nil {
		event := m.automaton.event(s)
		m.record(event.Direction, event.Label, p, o, e)
	}
	m.commit(o, e, p)
	return o
}

// Peek answers as Step would and changes nothing.
func (m *Monitor) Peek(d Direction, label string, p Payload) Outcome {
	o, _ := m.look(m.automaton.Symbol(d, label), p)
	return o
}

// look finds the answer to an event, and the edge that waits for it if there is
// one.
func (m *Monitor) look(s Symbol, p Payload) (o Outcome, e *edge) {
	if m.halted {
		o.Result = Blocked
		return o, nil
	}
	a := m.automaton
	st := &a.states[m.state]
	o.Expected = a.expected[st.first:st.end:st.end]
	e = a.find(st, s)
	switch {
	case e == nil && a.isSentinel(s):
		o.Result = Unrecognized
	case e == nil:
		o.Result, o.Cause = Violation, LabelCause
	case e.clause != noClause && !m.holds(a.clauses[e.clause].guards, p):
		o.Result, o.Cause = Violation, GuardCause
	}
	return o, e
}

// holds reports whether all guards hold, with the registers as they are.
func (m *Monitor) holds(guards []guard, p Payload) bool {
	for i := range guards {
		g := &guards[i]
		if p == nil {
			return false
		}
		got, ok := p.Field(g.field)
		if !ok || got.IsZero() {
			return false
		}
		want := g.literal
		if g.register != noRegister {
			if m.registers == nil {
				return false
			}
			want = m.registers[g.register]
		}
		if want.IsZero() || got.equalsKept(want) == g.differ {
			return false
		}
	}
	return true
}

// commit makes the outcome of an event the monitor's new past.
func (m *Monitor) commit(o Outcome, e *edge, p Payload) {
	switch o.Result {
	case OK:
		m.state = e.to
		if e.clause != noClause {
			m.bind(m.automaton.clauses[e.clause].bindings, p)
		}
	case Violation:
		m.halted = true
	}
}

// bind stores fields in registers. A field that is absent leaves its register
// as it was.
func (m *Monitor) bind(bindings []binding, p Payload) {
	if p == nil {
		return
	}
	for _, b := range bindings {
		v, ok := p.Field(b.field)
		if !ok || v.IsZero() {
			continue
		}
		if m.registers == nil {
			m.registers = make([]Value, len(m.automaton.registers))
		}
		if m.registers[b.register] != v {
			m.registers[b.register] = v.kept()
		}
	}
}

// Terminal reports whether the protocol may stop where the monitor is. That
// stays so when the monitor halts there.
func (m *Monitor) Terminal() bool { return m.automaton.states[m.state].terminal }

// Halted reports whether there was a violation.
func (m *Monitor) Halted() bool { return m.halted }

// Automaton returns what the monitor follows.
func (m *Monitor) Automaton() *Automaton { return m.automaton }

// Expected returns the sorted names of the events that would be legal now,
// guards aside. It is empty after a violation. It is shared: do not modify it.
func (m *Monitor) Expected() []string {
	if m.halted {
		return nil
	}
	st := &m.automaton.states[m.state]
	return m.automaton.expected[st.first:st.end:st.end]
}

// Register is a register that something was bound to.
type Register struct {
	Name  string
	Value Value
}

// Registers returns the registers that something was bound to, sorted by name.
func (m *Monitor) Registers() []Register {
	var out []Register
	for i, v := range m.registers {
		if !v.IsZero() {
			out = append(out, Register{m.automaton.registers[i], v})
		}
	}
	return out
}
