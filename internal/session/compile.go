// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

// Compile turns a protocol into an automaton. The error is an *Error; warnings
// come in the order of the text.
func Compile(p *Protocol) (*Automaton, []Warning, error) {
	warnings, err := check(p)
	if err != nil {
		return nil, nil, err
	}
	b := &builder{}
	final := b.state(len(p.source))
	b.states[final].terminal = true
	c := &compiler{builder: b, final: final, loops: map[string][]int32{}}
	initial := c.sequence(p.root, final)
	a, numbering := b.build(initial)
	warnings = append(warnings, c.deadEnds(p.source, a, numbering)...)
	placeWarnings(p.source, warnings)
	return a, warnings, nil
}

// deadEnds warns of the places where a run loses its last way to a terminal
// state, or of the protocol if it never had one.
func (c *compiler) deadEnds(source string, a *Automaton, numbering []int32) []Warning {
	stuck := a.stuck()
	if stuck[0] {
		return []Warning{newWarning(source, WarnNoTerminal, c.states[numbering[0]].pos, "this protocol can never stop: no terminal state can be reached")}
	}
	var warnings []Warning
	warned := make([]bool, len(a.states))
	for s, st := range a.states {
		for _, e := range a.edges[st.first:st.end] {
			if !stuck[s] && stuck[e.to] && !warned[e.to] {
				warned[e.to] = true
				warnings = append(warnings, newWarning(source, WarnNoTerminal, c.states[numbering[e.to]].pos,
					"a run that comes here can never stop: no terminal state can be reached"))
			}
		}
	}
	return warnings
}

// A compiler walks a tree that check found right, from the end to the
// beginning, so that what follows an atom is one state before the atom is
// compiled: all branches of a choice lead to the same continuation, and it is
// built once.
type compiler struct {
	*builder
	final int32
	// loops holds, for each variable, the states that stand for the beginnings
	// of the loops around the current place, innermost last.
	loops map[string][]int32
}

// sequence compiles a sequence that goes on with the state next, and returns
// its first state.
func (c *compiler) sequence(s *sequence, next int32) int32 {
	for i := len(s.atoms) - 1; i >= 0; i-- {
		switch a := s.atoms[i].(type) {
		case *choice:
			next = c.choice(a, next)
		case *loop:
			next = c.loop(a, next)
		case *jump:
			// A jump goes to the beginning of its loop and does not come back:
			// what follows is for the branches that leave.
			loops := c.loops[a.name]
			next = loops[len(loops)-1]
		case *stop:
			next = c.final
		}
	}
	return next
}

// choice compiles a choice.
func (c *compiler) choice(ch *choice, next int32) int32 {
	edges := make([]rawEdge, len(ch.branches))
	for i := range ch.branches {
		b := &ch.branches[i]
		to := next
		if b.body != nil {
			to = c.sequence(b.body, next)
		}
		edges[i] = rawEdge{direction: ch.direction, label: b.label, clause: c.clause(b.clause), to: to}
	}
	s := c.state(ch.pos)
	c.states[s].edges = edges
	return s
}

// loop compiles a loop. A state of its own stands for its beginning until that
// is known, and is an alias for it afterwards.
func (c *compiler) loop(l *loop, next int32) int32 {
	start := c.state(l.pos)
	outer := c.loops[l.name]
	c.loops[l.name] = append(outer, start)
	body := c.sequence(l.body, next)
	c.loops[l.name] = outer
	c.states[start].alias = body
	return body
}
