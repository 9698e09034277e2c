// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

// Explains reports whether the events could be part of a legal run in which any
// number of other events, of those that missing accepts, happened unseen: before
// them, between them or after them. Guards are assumed to hold, because an
// unseen event may have bound anything. It decides whether a violation may be
// said where telemetry is known to be incomplete.
//
// It follows all states at once, each together with those that unseen events
// lead to, so the work is at most events times edges.
func (a *Automaton) Explains(events []Event, missing func(d Direction, label string) bool) bool {
	return a.explains(events, missing, false)
}

// ExplainsPast is Explains for those who look away once a protocol has finished:
// where nothing is legal any more, anything may follow.
func (a *Automaton) ExplainsPast(events []Event, missing func(d Direction, label string) bool) bool {
	return a.explains(events, missing, true)
}

func (a *Automaton) explains(events []Event, missing func(d Direction, label string) bool, past bool) bool {
	unseen := make([]bool, len(a.symbols))
	for i, s := range a.symbols {
		unseen[i] = missing(s.direction, s.label)
	}
	now, next := newStateSet(len(a.states)), newStateSet(len(a.states))
	now.add(0)
	a.close(now, unseen)
	for _, ev := range events {
		s := a.Symbol(ev.Direction, ev.Label)
		next.clear()
		for _, from := range now.members {
			st := &a.states[from]
			switch e := a.find(st, s); {
			case e != nil:
				next.add(e.to)
			case ev.Label == UnrecognizedLabel:
				next.add(from) // seen, and changed nothing
			case past && st.terminal && st.first == st.end:
				next.add(from)
			}
		}
		if len(next.members) == 0 {
			return false
		}
		a.close(next, unseen)
		now, next = next, now
	}
	return true
}

// close adds to a set of states what unseen events lead to.
func (a *Automaton) close(set *stateSet, unseen []bool) {
	for i := 0; i < len(set.members); i++ {
		st := &a.states[set.members[i]]
		for _, e := range a.edges[st.first:st.end] {
			if unseen[e.symbol] {
				set.add(e.to)
			}
		}
	}
}

// A stateSet is a set of states that can be cleared at once.
type stateSet struct {
	members []int32
	in      []bool
}

func newStateSet(states int) *stateSet { return &stateSet{in: make([]bool, states)} }

// add adds a state.
func (s *stateSet) add(state int32) {
	if !s.in[state] {
		s.in[state] = true
		s.members = append(s.members, state)
	}
}

// clear removes all states.
func (s *stateSet) clear() {
	for _, m := range s.members {
		s.in[m] = false
	}
	s.members = s.members[:0]
}
