// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

// Automaton is a compiled protocol: a flat program that never changes and that
// any number of monitors may share, from any number of goroutines.
type Automaton struct {
	states    []state
	edges     []edge   // of all states, a stretch each, sorted by symbol
	expected  []string // the name of each edge's event; so a state's stretch is its sorted legal set
	clauses   []clause
	symbols   []symbol             // sorted by name
	byLabel   [2]map[string]Symbol // by direction
	sentinels [2]Symbol            // UnrecognizedLabel's, by direction
	registers []string             // sorted
	names     []string             // of the states of a state machine, else empty
	hash      string
}

// A state is a stretch of edges. State 0 is the initial one.
type state struct {
	first, end int32
	terminal   bool
}

// An edge leads from its state to another if its event happens and its clause
// holds.
type edge struct {
	symbol Symbol
	clause int32 // noClause, or an index of Automaton.clauses
	to     int32
}

// A symbol is an event that some edge waits for.
type symbol struct {
	direction Direction
	label     string
	name      string // "!label"
}

// A clause is what an event must satisfy, and what is kept of it.
type clause struct {
	guards                 []guard
	bindings               []binding
	guardText, bindingText string // as the language writes them
}

// A guard compares a field with a register or a literal.
type guard struct {
	field    string
	literal  Value // if register is noRegister
	register int32
	differ   bool // != instead of ==
}

const noRegister = -1

// A binding stores a field in a register.
type binding struct {
	field    string
	register int32
}

// Symbol is an interned event of one automaton. It is worth resolving once
// where the same events are stepped again and again.
type Symbol int32

const (
	// NoSymbol stands for every event that no edge of the automaton waits for.
	NoSymbol Symbol = -1
	// The sentinel of each direction where no edge waits for it.
	sentSentinel     Symbol = -2
	receivedSentinel Symbol = -3
)

// Symbol returns the symbol of an event, NoSymbol if no edge waits for it. The
// sentinel UnrecognizedLabel always has a symbol.
func (a *Automaton) Symbol(d Direction, label string) Symbol {
	if s, ok := a.byLabel[d&1][label]; ok {
		return s
	}
	if label == UnrecognizedLabel {
		return a.sentinels[d&1]
	}
	return NoSymbol
}

// isSentinel reports whether a symbol stands for UnrecognizedLabel.
func (a *Automaton) isSentinel(s Symbol) bool {
	return s == a.sentinels[Send] || s == a.sentinels[Receive]
}

// event returns what a symbol stands for. Nothing is known of NoSymbol.
func (a *Automaton) event(s Symbol) Event {
	switch {
	case s >= 0:
		return Event{Direction: a.symbols[s].direction, Label: a.symbols[s].label}
	case s == receivedSentinel:
		return Event{Direction: Receive, Label: UnrecognizedLabel}
	case s == sentSentinel:
		return Event{Direction: Send, Label: UnrecognizedLabel}
	}
	return Event{}
}

// Events returns the events that some edge waits for, without payloads, sorted
// as they are written: sends before receives, then by label.
func (a *Automaton) Events() []Event {
	events := make([]Event, len(a.symbols))
	for i := range events {
		events[i] = a.event(Symbol(i))
	}
	return events
}

// Hash identifies what the automaton does. Protocols that differ only in white
// space, in the order of branches or in the names of loops have the same hash.
func (a *Automaton) Hash() string { return a.hash }

// States returns the number of states that can be reached.
func (a *Automaton) States() int { return len(a.states) }

// RegisterNames returns the names of the registers, sorted.
func (a *Automaton) RegisterNames() []string { return append([]string(nil), a.registers...) }

// find returns the edge of a state for a symbol, or nil.
func (a *Automaton) find(s *state, sym Symbol) *edge {
	edges := a.edges[s.first:s.end]
	// Most states have a handful of edges. The binary search is for choices
	// among hundreds of tools.
	for len(edges) > 8 {
		half := len(edges) / 2
		if edges[half].symbol > sym {
			edges = edges[:half]
		} else {
			edges = edges[half:]
		}
	}
	for i := range edges {
		if edges[i].symbol == sym {
			return &edges[i]
		}
	}
	return nil
}

// ReadsPayloads reports whether a guard or a binding reads what events carry.
func (a *Automaton) ReadsPayloads() bool { return len(a.clauses) > 0 }
