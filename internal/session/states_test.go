// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// machineOf draws an automaton: it gives back the state machine that compiles to
// it.
func machineOf(a *Automaton) StateMachine {
	name := func(i int) string { return fmt.Sprintf("state %d", i) }
	sm := StateMachine{Initial: name(0)}
	for i, s := range a.states {
		if s.terminal {
			sm.Terminal = append(sm.Terminal, name(i))
		}
		for _, e := range a.edges[s.first:s.end] {
			t := Transition{From: name(i), Event: a.symbols[e.symbol].name, To: name(int(e.to))}
			if e.clause != noClause {
				t.When, t.Bind = a.clauses[e.clause].guardText, a.clauses[e.clause].bindingText
			}
			sm.Transitions = append(sm.Transitions, t)
		}
	}
	return sm
}

// TestStateMachineIsTheAutomaton draws random protocols and the measured ones,
// shuffles the drawing, and compiles it to the same automaton.
func TestStateMachineIsTheAutomaton(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 6))
	check := func(source string) {
		a := compiled(t, source)
		sm := machineOf(a)
		r.Shuffle(len(sm.Transitions), func(i, j int) {
			sm.Transitions[i], sm.Transitions[j] = sm.Transitions[j], sm.Transitions[i]
		})
		b, warnings, err := CompileStates(sm)
		require.NoError(t, err, source)
		require.Equal(t, a.Hash(), b.Hash(), source)
		require.Equal(t, dump(a), dump(b), source)
		for _, w := range warnings {
			require.Contains(t, []WarningCode{WarnNoTerminal, WarnUnboundRegister}, w.Code, source)
		}
	}
	for seed := range 2000 {
		m := &maker{Rand: rand.New(rand.NewPCG(uint64(seed), 6)), size: 16, clauses: true}
		check(text(m.terms(nil, nil, 0)))
	}
	eachMeasuredCase(t, func(_ *testing.T, c *measuredCase) {
		if c.kind() == "run" {
			check(*c.Protocol)
		}
	})
}

func TestStateMachine(t *testing.T) {
	sm := StateMachine{
		Initial:  "idle",
		Terminal: []string{"done", "idle"},
		Transitions: []Transition{
			{From: "idle", Event: "!Search", To: "searching", Bind: "from as f, to as t"},
			{From: "searching", Event: "?Results", To: "found"},
			{From: "searching", Event: "?Nothing", To: "idle"},
			{From: "found", Event: " ! tool:book ", To: "done", When: " from == f , to == t, class != 'first' "},
			{From: "found", Event: "?Unrecognized", To: "found"},
		},
	}
	a, warnings, err := CompileStates(sm)
	require.NoError(t, err)
	require.Empty(t, warnings)
	require.Equal(t,
		`0*: !Search from as f, to as t>1 | 1: ?Nothing>0 ?Results>2 | `+
			`2: !tool:book [from == f, to == t, class != "first"]>3 ?Unrecognized>2 | 3*:`, dump(a))

	m := a.NewMonitor()
	require.True(t, m.Terminal())
	m.Send("Search", Fields{"from": StringValue("SFO"), "to": StringValue("JFK")})
	require.False(t, m.Terminal())
	m.Receive("Results", nil)
	require.Equal(t, GuardCause, m.Peek(Send, "tool:book", Fields{"from": StringValue("SFO")}).Cause)
	require.Equal(t, OK, m.Send("tool:book", Fields{"from": StringValue("SFO"), "to": StringValue("JFK"), "class": StringValue("second")}).Result)
	require.True(t, m.Terminal())
}

func TestStateMachineErrors(t *testing.T) {
	edge := func(from, event, to string) Transition { return Transition{From: from, Event: event, To: to} }
	tests := []struct {
		sm      StateMachine
		message string
		code    ErrorCode
		index   int
		field   string
	}{
		{StateMachine{}, "initial: 1:1: expected the name of a state, found nothing", CodeMissing, -1, "initial"},
		{StateMachine{Initial: "a", Terminal: []string{"a", ""}}, "terminal[1]: 1:1: expected the name of a state, found nothing", CodeMissing, 1, "terminal"},
		{machineWith(edge("", "!x", "b")), "transitions[0].from: 1:1: expected the name of a state, found nothing", CodeMissing, 0, "from"},
		{machineWith(edge("a", "!x", "")), "transitions[0].to: 1:1: expected the name of a state, found nothing", CodeMissing, 0, "to"},
		{machineWith(edge("a", "", "b")), "transitions[0].event: 1:1: expected '!' or '?' and a label, found the end", CodeSyntax, 0, "event"},
		{machineWith(edge("a", "x", "b")), "transitions[0].event: 1:1: expected '!' or '?' and a label, found 'x'", CodeSyntax, 0, "event"},
		{machineWith(edge("a", "!", "b")), "transitions[0].event: 1:2: expected a label, found the end", CodeSyntax, 0, "event"},
		{machineWith(edge("a", "!{x}", "b")), "transitions[0].event: 1:2: expected a label, found '{'", CodeSyntax, 0, "event"},
		{machineWith(edge("a", "!x: y", "b")), "transitions[0].event: 1:4: expected the rest of the label behind ':', found ' '", CodeSyntax, 0, "event"},
		{machineWith(edge("a", "!x y", "b")), "transitions[0].event: 1:4: expected the end, found 'y'", CodeSyntax, 0, "event"},
		{machineWith(edge("a", "!x(y as z)", "b")), "transitions[0].event: 1:3: expected the end, found '('", CodeSyntax, 0, "event"},
		{
			machineWith(edge("a", "!x", "b"), edge("b", "!x", "a"), edge("a", " !x ", "a")),
			"transitions[2].event: 1:1: expected each event once from a state, found '!x' from 'a' again, as in transition 0", CodeDuplicateLabel, 2, "event",
		},
		{machineWith(Transition{From: "a", Event: "!x", To: "b", When: "path = p"}), "transitions[0].when: 1:6: expected 'as', '==' or '!=', found '='", CodeSyntax, 0, "when"},
		{machineWith(Transition{From: "a", Event: "!x", To: "b", When: "path == p,"}), "transitions[0].when: 1:11: expected a field, found the end", CodeSyntax, 0, "when"},
		{machineWith(Transition{From: "a", Event: "!x", To: "b", When: "path == p)"}), "transitions[0].when: 1:10: expected ',' or the end, found ')'", CodeSyntax, 0, "when"},
		{machineWith(Transition{From: "a", Event: "!x", To: "b", When: "x == 1, path as p"}), "transitions[0].when: 1:9: expected a guard with '==' or '!=', found a binding", CodeSyntax, 0, "when"},
		{machineWith(Transition{From: "a", Event: "!x", To: "b", When: "x == 01"}), "transitions[0].when: 1:6: expected a JSON number, found '01'", CodeLiteral, 0, "when"},
		{machineWith(Transition{From: "a", Event: "!x", To: "b", Bind: "x as p, path == p"}), "transitions[0].bind: 1:9: expected a binding with 'as', found a guard", CodeSyntax, 0, "bind"},
		{machineWith(Transition{From: "a", Event: "!x", To: "b", Bind: "x as p, y as p"}), "transitions[0].bind: 1:14: expected each register bound once by a transition, found 'p' again", CodeDuplicateRegister, 0, "bind"},
		{machineWith(Transition{From: "a", Event: "!x", To: "b", Bind: "x as null"}), "transitions[0].bind: 1:6: expected a register, found the literal 'null'", CodeReservedName, 0, "bind"},
	}
	for _, tt := range tests {
		_, _, err := CompileStates(tt.sm)
		require.EqualError(t, err, tt.message)
		e := err.(*Error)
		require.Equal(t, tt.code, e.Code, tt.message)
		require.Equal(t, tt.index, e.Index, tt.message)
		require.Equal(t, tt.field, e.Field, tt.message)
		require.True(t, strings.HasSuffix(e.Detail(), "^"), e.Detail())
	}
}

// machineWith returns a machine from a to b.
func machineWith(transitions ...Transition) StateMachine {
	return StateMachine{Initial: "a", Terminal: []string{"b"}, Transitions: transitions}
}

func TestStateMachineWarnings(t *testing.T) {
	edge := func(from, event, to string) Transition { return Transition{From: from, Event: event, To: to} }
	tests := []struct {
		sm       StateMachine
		warnings []string
	}{
		{machineWith(edge("a", "!x", "b")), nil},
		{machineWith(), []string{"terminal[0]: 1:1: nothing comes to the state 'b'", "initial: 1:1: no terminal state can be reached from 'a'"}},
		{
			machineWith(edge("a", "!x", "b"), edge("c", "!y", "b"), edge("c", "!z", "d")),
			[]string{"transitions[1].from: 1:1: nothing comes to the state 'c'", "transitions[2].to: 1:1: nothing comes to the state 'd'"},
		},
		{
			machineWith(edge("a", "!x", "b"), edge("a", "!y", "c"), edge("c", "!z", "c")),
			[]string{"transitions[1].to: 1:1: no terminal state can be reached from 'c'"},
		},
		{
			StateMachine{Initial: "a", Transitions: []Transition{edge("a", "!x", "b")}},
			[]string{
				"initial: 1:1: no terminal state can be reached from 'a'",
				"transitions[0].to: 1:1: no terminal state can be reached from 'b'",
			},
		},
		{
			machineWith(Transition{From: "a", Event: "!x", To: "b", When: "x == 1, y == p"}),
			[]string{"transitions[0].when: 1:14: the register 'p' is compared and never bound, so this guard never holds"},
		},
	}
	for _, tt := range tests {
		_, warnings, err := CompileStates(tt.sm)
		require.NoError(t, err)
		var got []string
		for _, w := range warnings {
			got = append(got, w.String())
		}
		require.Equal(t, tt.warnings, got)
	}
}
