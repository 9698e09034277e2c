// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import "slices"

// Shape is an automaton as data, for those who draw it or explain a run in it.
type Shape struct {
	States []StateShape // the first is the initial one
	Edges  []EdgeShape  // by state, then as the state's legal set is sorted
}

// StateShape is a state of a Shape.
type StateShape struct {
	Name     string // a state machine's own name, else the state's number
	Terminal bool
}

// EdgeShape is an edge of a Shape.
type EdgeShape struct {
	From, To int
	Event    string   // "!label" or "?label"
	Guards   string   // as the language writes them; "" for none
	Bindings string   // likewise
	Fields   []string // that guards and bindings read, each once
}

// Shape returns the automaton as data.
func (a *Automaton) Shape() Shape {
	var s Shape
	for i := range a.states {
		st := &a.states[i]
		s.States = append(s.States, StateShape{Name: a.stateName(i), Terminal: st.terminal})
		for _, e := range a.edges[st.first:st.end] {
			edge := EdgeShape{From: i, To: int(e.to), Event: a.symbols[e.symbol].name}
			if e.clause != noClause {
				c := &a.clauses[e.clause]
				edge.Guards, edge.Bindings, edge.Fields = c.guardText, c.bindingText, c.fields()
			}
			s.Edges = append(s.Edges, edge)
		}
	}
	return s
}

// fields returns the fields that a clause reads, each once.
func (c *clause) fields() []string {
	var fields []string
	add := func(field string) {
		if !slices.Contains(fields, field) {
			fields = append(fields, field)
		}
	}
	for i := range c.guards {
		add(c.guards[i].field)
	}
	for i := range c.bindings {
		add(c.bindings[i].field)
	}
	return fields
}

// State returns the number of the state in which the monitor is.
func (m *Monitor) State() int { return int(m.state) }
