// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// A builder collects states in any order and numbers them at the end. Both
// forms of a protocol end here.
type builder struct {
	states  []rawState
	clauses [][]item         // in normal form
	known   map[string]int32 // their indices by their text
}

// A rawState is a state before it has its number.
type rawState struct {
	pos      int   // where it stands in the source, as the caller counts
	alias    int32 // the state it stands for, noAlias if it is one itself
	terminal bool
	edges    []rawEdge // none of a state share direction and label
	name     string    // of a state machine
}

const noAlias = -1

// A rawEdge is an edge before its event is interned.
type rawEdge struct {
	direction Direction
	label     string
	clause    int32 // noClause, or an index of builder.clauses
	to        int32
}

const noClause = -1

// state adds a state without edges.
func (b *builder) state(pos int) int32 {
	b.states = append(b.states, rawState{pos: pos, alias: noAlias})
	return int32(len(b.states) - 1)
}

// clause interns a clause.
func (b *builder) clause(items []item) int32 {
	if len(items) == 0 {
		return noClause
	}
	// Guards before bindings: that changes nothing, because guards never see the
	// bindings of their own event.
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Compare(a.rank(), b.rank()) })
	text := itemsText(items)
	if i, ok := b.known[text]; ok {
		return i
	}
	if b.known == nil {
		b.known = map[string]int32{}
	}
	i := int32(len(b.clauses))
	b.known[text] = i
	b.clauses = append(b.clauses, items)
	return i
}

// rank orders guards before bindings.
func (it item) rank() int {
	if it.op == opBind {
		return 1
	}
	return 0
}

// resolve follows aliases to the state that they stand for, and shortens the
// way for the next time. There is no circle: check refuses loops that come back
// without an event.
func (b *builder) resolve(s int32) int32 {
	end := s
	for b.states[end].alias != noAlias {
		end = b.states[end].alias
	}
	for b.states[s].alias != noAlias {
		s, b.states[s].alias = b.states[s].alias, end
	}
	return end
}

// build makes the automaton of the states that can be reached from initial. The
// numbering, breadth first along sorted edges, depends on nothing but the
// protocol, so that equal protocols get equal automata however they were
// written. It returns the builder's state for each of the automaton's.
func (b *builder) build(initial int32) (*Automaton, []int32) {
	initial = b.resolve(initial)
	a := &Automaton{}
	reached := b.reach(initial)
	a.internSymbols(b, reached)

	number := make([]int32, len(b.states)) // 1 + the automaton's number
	order := append(make([]int32, 0, len(reached)), initial)
	number[initial] = 1
	a.states = make([]state, 0, len(reached))
	for i := 0; i < len(order); i++ {
		raw := &b.states[order[i]]
		st := state{first: int32(len(a.edges)), terminal: raw.terminal}
		for _, e := range raw.edges {
			a.edges = append(a.edges, edge{symbol: a.Symbol(e.direction, e.label), clause: e.clause, to: b.resolve(e.to)})
		}
		st.end = int32(len(a.edges))
		edges := a.edges[st.first:]
		slices.SortFunc(edges, func(x, y edge) int { return cmp.Compare(x.symbol, y.symbol) })
		for j := range edges {
			e := &edges[j]
			if number[e.to] == 0 {
				order = append(order, e.to)
				number[e.to] = int32(len(order))
			}
			e.to = number[e.to] - 1
			a.expected = append(a.expected, a.symbols[e.symbol].name)
		}
		a.states = append(a.states, st)
		if raw.name != "" {
			a.names = append(a.names, raw.name)
		}
	}
	a.internClauses(b)
	a.hash = a.computeHash()
	return a, order
}

// reach returns the states that can be reached from initial, in no particular
// order.
func (b *builder) reach(initial int32) []int32 {
	seen := make([]bool, len(b.states))
	seen[initial] = true
	reached := []int32{initial}
	for i := 0; i < len(reached); i++ {
		for _, e := range b.states[reached[i]].edges {
			if to := b.resolve(e.to); !seen[to] {
				seen[to] = true
				reached = append(reached, to)
			}
		}
	}
	return reached
}

// internSymbols numbers the events of the reached states in the order of their
// names.
func (a *Automaton) internSymbols(b *builder, reached []int32) {
	a.byLabel = [2]map[string]Symbol{{}, {}}
	for _, s := range reached {
		for _, e := range b.states[s].edges {
			if _, ok := a.byLabel[e.direction][e.label]; !ok {
				a.byLabel[e.direction][e.label] = NoSymbol
				a.symbols = append(a.symbols, symbol{e.direction, e.label, e.direction.String() + e.label})
			}
		}
	}
	slices.SortFunc(a.symbols, func(x, y symbol) int { return strings.Compare(x.name, y.name) })
	for i, s := range a.symbols {
		a.byLabel[s.direction][s.label] = Symbol(i)
	}
	a.sentinels = [2]Symbol{sentSentinel, receivedSentinel}
	for d := range a.sentinels {
		if s, ok := a.byLabel[d][UnrecognizedLabel]; ok {
			a.sentinels[d] = s
		}
	}
}

// internClauses compiles the clauses that edges use, in the order of first use,
// and numbers their registers in the order of their names.
func (a *Automaton) internClauses(b *builder) {
	number := make([]int32, len(b.clauses)) // 1 + the automaton's number
	var used [][]item
	for i := range a.edges {
		e := &a.edges[i]
		if e.clause == noClause {
			continue
		}
		if number[e.clause] == 0 {
			used = append(used, b.clauses[e.clause])
			number[e.clause] = int32(len(used))
		}
		e.clause = number[e.clause] - 1
	}
	for _, items := range used {
		for _, it := range items {
			if it.name != "" {
				a.registers = append(a.registers, it.name)
			}
		}
	}
	slices.Sort(a.registers)
	a.registers = slices.Compact(a.registers)
	for _, items := range used {
		c := clause{}
		for _, it := range items {
			register := int32(noRegister)
			if it.name != "" {
				i, _ := slices.BinarySearch(a.registers, it.name)
				register = int32(i)
			}
			if it.op == opBind {
				c.bindings = append(c.bindings, binding{it.field, register})
			} else {
				c.guards = append(c.guards, guard{it.field, it.literal, register, it.op == opDiffer})
			}
		}
		c.guardText = itemsText(items[:len(c.guards)])
		c.bindingText = itemsText(items[len(c.guards):])
		a.clauses = append(a.clauses, c)
	}
}

// computeHash hashes all that decides what a monitor does.
func (a *Automaton) computeHash() string {
	h := sha256.New()
	var line []byte
	for _, s := range a.states {
		line = append(line[:0], "state"...)
		if s.terminal {
			line = append(line, " terminal"...)
		}
		line = append(line, '\n')
		for _, e := range a.edges[s.first:s.end] {
			line = append(line, a.symbols[e.symbol].name...)
			line = append(line, ' ')
			line = strconv.AppendInt(line, int64(e.to), 10)
			if e.clause != noClause {
				c := &a.clauses[e.clause]
				line = append(line, " ["+c.guardText+"] "+c.bindingText...)
			}
			line = append(line, '\n')
		}
		h.Write(line)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// stuck returns, for each state, whether no terminal state can be reached from
// it.
func (a *Automaton) stuck() []bool {
	// The edges backwards, all sources of a state in one stretch.
	first := make([]int32, len(a.states)+1)
	for _, e := range a.edges {
		first[e.to+1]++
	}
	for i := range a.states {
		first[i+1] += first[i]
	}
	sources := make([]int32, len(a.edges))
	fill := slices.Clone(first)
	stuck := make([]bool, len(a.states))
	var work []int32
	for s, st := range a.states {
		for _, e := range a.edges[st.first:st.end] {
			sources[fill[e.to]] = int32(s)
			fill[e.to]++
		}
		stuck[s] = !st.terminal
		if st.terminal {
			work = append(work, int32(s))
		}
	}
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		for _, from := range sources[first[s]:first[s+1]] {
			if stuck[from] {
				stuck[from] = false
				work = append(work, from)
			}
		}
	}
	return stuck
}
