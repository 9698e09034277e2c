// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import "fmt"

// StateMachine is a protocol that is drawn rather than written: the automaton
// itself, as data.
type StateMachine struct {
	Initial     string
	Terminal    []string
	Transitions []Transition
}

// Transition is an edge of a StateMachine.
type Transition struct {
	From, To string
	Event    string // "!label" or "?label"
	When     string // guards, comma-separated: "path == p, mode != 'append'"; may be empty
	Bind     string // bindings, comma-separated: "path as p"; may be empty
}

// CompileStates turns a state machine into an automaton. The error is an
// *Error; its and the warnings' Index and Field name the transition and the key
// to blame, and their places are within that key's text.
func CompileStates(sm StateMachine) (*Automaton, []Warning, error) {
	m := &machine{known: map[string]int32{}, bound: map[string]bool{}}
	if err := m.read(sm); err != nil {
		return nil, nil, err
	}
	a, numbering := m.builder.build(0)
	return a, m.doubts(a, numbering), nil
}

// A machine reads a state machine into a builder.
type machine struct {
	builder  builder
	known    map[string]int32 // states by name
	entries  []reference      // where each state is first named
	bound    map[string]bool
	compared []usage
}

// A reference is a place in a state machine.
type reference struct {
	index int
	field string
	text  string
}

// A usage is a comparison, and where it stands.
type usage struct {
	comparison
	reference
}

// fail returns an error at an offset of a key's text.
func (r reference) fail(code ErrorCode, offset int, expected, found string) *Error {
	e := newError(r.text, code, offset, expected, found)
	e.Index, e.Field = r.index, r.field
	return e
}

// warn returns a warning about a key.
func (r reference) warn(code WarningCode, offset int, message string) Warning {
	w := newWarning(r.text, code, offset, message)
	w.Line, w.Column = position(r.text, offset)
	w.Index, w.Field = r.index, r.field
	return w
}

// read collects the states and edges of a state machine.
func (m *machine) read(sm StateMachine) *Error {
	if _, err := m.state(reference{-1, "initial", sm.Initial}); err != nil {
		return err
	}
	type step struct {
		from  int32
		d     Direction
		label string
	}
	first := map[step]int{} // the transition that takes it
	for i, t := range sm.Transitions {
		from, err := m.state(reference{i, "from", t.From})
		if err != nil {
			return err
		}
		event := reference{i, "event", t.Event}
		d, label, err := parseEvent(event)
		if err != nil {
			return err
		}
		to, err := m.state(reference{i, "to", t.To})
		if err != nil {
			return err
		}
		clause, err := m.clause(i, t)
		if err != nil {
			return err
		}
		key := step{from, d, label}
		if other, ok := first[key]; ok {
			return event.fail(CodeDuplicateLabel, 0,
				"each event once from a state", fmt.Sprintf("%s from %s again, as in transition %d", quoteName(d.String()+label), quoteName(t.From), other))
		}
		first[key] = i
		m.builder.states[from].edges = append(m.builder.states[from].edges,
			rawEdge{direction: d, label: label, clause: m.builder.clause(clause), to: to})
	}
	for i, name := range sm.Terminal {
		s, err := m.state(reference{i, "terminal", name})
		if err != nil {
			return err
		}
		m.builder.states[s].terminal = true
	}
	return nil
}

// state returns the state of a name.
func (m *machine) state(r reference) (int32, *Error) {
	if r.text == "" {
		return 0, r.fail(CodeMissing, 0, "the name of a state", "nothing")
	}
	s, ok := m.known[r.text]
	if !ok {
		s = m.builder.state(len(m.entries))
		m.builder.states[s].name = r.text
		m.known[r.text] = s
		m.entries = append(m.entries, r)
	}
	return s, nil
}

// parseEvent reads a direction and a label.
func parseEvent(r reference) (Direction, string, *Error) {
	p := newFragment(r, lexAtom)
	d := Send
	switch {
	case p.token.is("!"):
	case p.token.is("?"):
		d = Receive
	default:
		return 0, "", r.place(p.unexpected("'!' or '?' and a label"))
	}
	p.advance()
	label, err := p.label("a label")
	if err != nil {
		return 0, "", r.place(err)
	}
	if p.token.kind != tokenEnd {
		return 0, "", r.place(p.unexpected("the end"))
	}
	return d, label.text, nil
}

// clause reads the guards and bindings of a transition.
func (m *machine) clause(i int, t Transition) ([]item, *Error) {
	when, bind := reference{i, "when", t.When}, reference{i, "bind", t.Bind}
	guards, err := parseItems(when)
	if err != nil {
		return nil, err
	}
	for _, it := range guards {
		if it.op == opBind {
			return nil, when.fail(CodeSyntax, it.pos, "a guard with '==' or '!='", "a binding")
		}
		if it.name != "" {
			m.compared = append(m.compared, usage{comparison{it.name, it.operand}, when})
		}
	}
	bindings, err := parseItems(bind)
	if err != nil {
		return nil, err
	}
	var bound registerSet
	for _, it := range bindings {
		if it.op != opBind {
			return nil, bind.fail(CodeSyntax, it.pos, "a binding with 'as'", "a guard")
		}
		if !bound.bind(it.name) {
			return nil, bind.fail(CodeDuplicateRegister, it.operand, "each register bound once by a transition", quoteName(it.name)+" again")
		}
		m.bound[it.name] = true
	}
	return append(guards, bindings...), nil
}

// parseItems reads the items of a clause without its parentheses. Nothing but
// white space is no items.
func parseItems(r reference) ([]item, *Error) {
	p := newFragment(r, lexClause)
	if p.token.kind == tokenEnd {
		return nil, nil
	}
	var items []item
	for {
		it, err := p.item()
		if err != nil {
			return nil, r.place(err)
		}
		items = append(items, it)
		if p.token.kind == tokenEnd {
			return items, nil
		}
		if !p.token.is(",") {
			return nil, r.place(p.unexpected("',' or the end"))
		}
		p.advance()
	}
}

// newFragment returns a parser of a part of the language.
func newFragment(r reference, state stateFn) *parser {
	p := &parser{lexer: lexer{source: r.text, state: state}}
	p.advance()
	return p
}

// place says which key of the state machine an error is in.
func (r reference) place(err *Error) *Error {
	err.Index, err.Field = r.index, r.field
	return err
}

// doubts returns the warnings of a state machine.
func (m *machine) doubts(a *Automaton, numbering []int32) []Warning {
	var warnings []Warning
	reached := map[int32]bool{}
	for _, s := range numbering {
		reached[s] = true
	}
	for s := range m.builder.states {
		if !reached[int32(s)] {
			r := m.entries[s]
			warnings = append(warnings, r.warn(WarnUnreachable, 0, "nothing comes to the state "+quoteName(r.text)))
		}
	}
	for s, stuck := range a.stuck() {
		if r := m.entries[numbering[s]]; stuck {
			warnings = append(warnings, r.warn(WarnNoTerminal, 0, "no terminal state can be reached from "+quoteName(r.text)))
		}
	}
	seen := map[string]bool{}
	for _, u := range m.compared {
		if !m.bound[u.register] && !seen[u.register] {
			seen[u.register] = true
			warnings = append(warnings, u.warn(WarnUnboundRegister, u.offset, unboundRegister(u.register)))
		}
	}
	return warnings
}
