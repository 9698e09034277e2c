// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// automaton is a protocol that was learned.
type automaton struct {
	states []learned
	tails  int // how far ahead states were compared
}

// learned is a state; the first is the initial one.
type learned struct {
	name  string
	ends  int // runs that end here
	runs  int
	edges []learnedEdge // sorted by event
}

type learnedEdge struct {
	event string
	to    int
	runs  int
}

// maxStates is how many states a protocol that a person is to read may have. Where
// there are more, states are compared less far ahead, so that more of them are
// taken to be the same.
const maxStates = 40

// automaton makes an automaton of the tree: states from which the same can happen
// in the next steps (their tails are equal) are one, and what then leads from one
// state to several by the same event is one too. All runs of the tree are runs of
// it. tails is how many steps ahead are looked at; negative chooses.
func (o *order) automaton(tails int) *automaton {
	if tails >= 0 {
		return o.merge(tails)
	}
	for tails = 2; ; tails-- {
		if a := o.merge(tails); len(a.states) <= maxStates || tails == 0 {
			return a
		}
	}
}

// merge makes the automaton for a number of steps.
func (o *order) merge(tails int) *automaton {
	classes := newClasses(len(o.nodes))
	byTail := map[[sha256.Size]byte]int{}
	signatures := o.signatures(tails)
	for i := range o.nodes {
		if first, ok := byTail[signatures[i]]; ok {
			classes.join(first, i)
		} else {
			byTail[signatures[i]] = i
		}
	}
	// One event leads from a state to one state.
	for changed := true; changed; {
		changed = false
		next := map[int]map[string]int{}
		for i := range o.nodes {
			from := classes.of(i)
			if next[from] == nil {
				next[from] = map[string]int{}
			}
			lead := func(event string, to int) {
				if first, ok := next[from][event]; !ok {
					next[from][event] = to
				} else if classes.join(first, to) {
					changed = true
				}
			}
			for event, to := range o.nodes[i].next {
				lead(event, to)
			}
			if o.nodes[i].repeats {
				lead(o.nodes[i].event, i)
			}
		}
	}
	return o.collect(classes, tails)
}

// signatures identify what can happen from each node in so many steps.
func (o *order) signatures(tails int) [][sha256.Size]byte {
	now := make([][sha256.Size]byte, len(o.nodes))
	for i := range o.nodes {
		if o.nodes[i].ends > 0 {
			now[i][0] = 1
		}
	}
	for range tails {
		deeper := make([][sha256.Size]byte, len(o.nodes))
		for i := range o.nodes {
			h := sha256.New()
			fmt.Fprintln(h, o.nodes[i].ends > 0)
			for _, label := range slices.Sorted(maps.Keys(o.nodes[i].next)) {
				to := o.nodes[i].next[label]
				fmt.Fprintf(h, "%q%x\n", label, now[to])
			}
			h.Sum(deeper[i][:0])
		}
		now = deeper
	}
	return now
}

// collect makes states of classes, numbered breadth first along sorted events.
func (o *order) collect(classes *classes, tails int) *automaton {
	type state struct {
		next      map[string]int
		runs      map[string]int
		all, ends int
		mostly    map[string]int // how it is come to
	}
	states := map[int]*state{}
	at := func(class int) *state {
		if states[class] == nil {
			states[class] = &state{next: map[string]int{}, runs: map[string]int{}, mostly: map[string]int{}}
		}
		return states[class]
	}
	for i := range o.nodes {
		s := at(classes.of(i))
		s.all += o.nodes[i].runs
		s.ends += o.nodes[i].ends
		for label, to := range o.nodes[i].next {
			class := classes.of(to)
			s.next[label] = class
			s.runs[label] += o.nodes[to].runs
			at(class).mostly[label] += o.nodes[to].runs
		}
		if o.nodes[i].repeats {
			s.next[o.nodes[i].event] = classes.of(i)
		}
	}
	a := &automaton{tails: tails}
	numbers := map[int]int{classes.of(0): 0}
	queue := []int{classes.of(0)}
	used := map[string]int{}
	for len(queue) > 0 {
		class := queue[0]
		queue = queue[1:]
		s := states[class]
		l := learned{name: stateName(len(a.states), s.mostly, used), ends: s.ends, runs: s.all}
		for _, label := range slices.Sorted(maps.Keys(s.next)) {
			to := s.next[label]
			if _, ok := numbers[to]; !ok {
				numbers[to] = len(numbers)
				queue = append(queue, to)
			}
			l.edges = append(l.edges, learnedEdge{event: label, to: numbers[to], runs: s.runs[label]})
		}
		a.states = append(a.states, l)
	}
	return a
}

// stateName names a state by what mostly leads to it.
func stateName(number int, entered map[string]int, used map[string]int) string {
	name := "start"
	if number > 0 {
		labels := slices.SortedFunc(maps.Keys(entered), func(a, b string) int {
			return cmp.Or(cmp.Compare(entered[b], entered[a]), cmp.Compare(a, b))
		})
		name = "after " + strings.TrimLeft(labels[0], "!?")
		switch labels[0] {
		case userMessage:
			name = "user spoke"
		case agentMessage:
			name = "agent spoke"
		}
	}
	if used[name]++; used[name] > 1 {
		return fmt.Sprintf("%s %d", name, used[name])
	}
	return name
}

// classes are sets of nodes that become one state.
type classes struct{ parent []int }

func newClasses(n int) *classes {
	c := &classes{make([]int, n)}
	for i := range c.parent {
		c.parent[i] = i
	}
	return c
}

// of returns the node that stands for the class of a node: its first.
func (c *classes) of(i int) int {
	for c.parent[i] != i {
		c.parent[i] = c.parent[c.parent[i]]
		i = c.parent[i]
	}
	return i
}

// join makes one class of two, and reports whether they were two.
func (c *classes) join(a, b int) bool {
	a, b = c.of(a), c.of(b)
	if a == b {
		return false
	}
	c.parent[max(a, b)] = min(a, b)
	return true
}
