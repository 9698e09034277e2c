// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// This file holds the monitor against a deliberately naive one. It has its own
// terms, written out as text for the package to parse, and one idea: a protocol
// means the set of its traces, which it enumerates up to a length. It knows no
// states, no sharing and no numbering.

// A term is one of step, loopTerm, varTerm and endTerm.
type term any

type step struct {
	direction string
	branches  []stepBranch // without braces if there is one and plain is set
	plain     bool
}

type stepBranch struct {
	label  string
	clause []clauseTerm
	body   []term
}

type clauseTerm struct {
	field, op, operand string // operand is a register or a literal, as written
}

type loopTerm struct {
	name string
	body []term
}

type varTerm string

type endTerm struct{}

// text writes terms in the language.
func text(terms []term) string {
	var parts []string
	for _, t := range terms {
		switch t := t.(type) {
		case step:
			var branches []string
			for _, b := range t.branches {
				s := b.label
				if len(b.clause) > 0 {
					s += "(" + clauseText(b.clause) + ")"
				}
				if len(b.body) > 0 {
					s += "." + text(b.body)
				}
				branches = append(branches, s)
			}
			if t.plain {
				parts = append(parts, t.direction+branches[0])
			} else {
				parts = append(parts, t.direction+"{"+strings.Join(branches, ",")+"}")
			}
		case loopTerm:
			parts = append(parts, "rec "+t.name+"."+text(t.body))
		case varTerm:
			parts = append(parts, string(t))
		case endTerm:
			parts = append(parts, "end")
		}
	}
	return strings.Join(parts, ".")
}

func clauseText(clause []clauseTerm) string {
	var items []string
	for _, c := range clause {
		items = append(items, c.field+" "+c.op+" "+c.operand)
	}
	return strings.Join(items, ", ")
}

// A happening is an event of a trace, with the clause it must satisfy.
type happening struct {
	name   string // "!a"
	clause []clauseTerm
}

// A run is a trace and how it comes to an end: "cut" if it is only a beginning,
// "falls" if it goes on with what follows, "stops", or "jumps X".
type run struct {
	trace []happening
	how   string
}

// runs enumerates the runs of terms of at most n events.
func runs(terms []term, n int) []run {
	if len(terms) == 0 {
		return []run{{how: "falls"}}
	}
	rest := terms[1:]
	switch t := terms[0].(type) {
	case step:
		out := []run{{how: "cut"}}
		if n == 0 {
			return out
		}
		for _, b := range t.branches {
			first := []happening{{t.direction + b.label, b.clause}}
			out = append(out, after(run{trace: first}, then(runs(b.body, n-1), "falls", rest, n-1))...)
		}
		return out
	case loopTerm:
		// Nothing stands behind a loop: its body reaches as far as it can.
		body := runs(t.body, n)
		return then(body, "jumps "+t.name, terms, n)
	case varTerm:
		return []run{{how: "jumps " + string(t)}}
	default:
		return []run{{how: "stops"}}
	}
}

// then lets those runs that end in a certain way go on with terms.
func then(all []run, how string, terms []term, n int) []run {
	var out []run
	for _, r := range all {
		if r.how == how {
			out = append(out, after(r, runs(terms, n-len(r.trace)))...)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// after puts a trace before runs.
func after(r run, all []run) []run {
	var out []run
	for _, s := range all {
		out = append(out, run{append(slices.Clone(r.trace), s.trace...), s.how})
	}
	return out
}

// A naiveMonitor knows all runs, what happened so far and what was bound.
type naiveMonitor struct {
	runs      []run
	past      []string
	registers map[string]any
	halted    bool
}

func (m *naiveMonitor) matches(r run) bool {
	if len(r.trace) < len(m.past) {
		return false
	}
	for i, name := range m.past {
		if r.trace[i].name != name {
			return false
		}
	}
	return true
}

// legal returns what may happen next.
func (m *naiveMonitor) legal() map[string]happening {
	legal := map[string]happening{}
	if m.halted {
		return legal
	}
	for _, r := range m.runs {
		if m.matches(r) && len(r.trace) > len(m.past) {
			h := r.trace[len(m.past)]
			legal[h.name] = h
		}
	}
	return legal
}

// terminal reports whether some run is over here.
func (m *naiveMonitor) terminal() bool {
	return slices.ContainsFunc(m.runs, func(r run) bool {
		return m.matches(r) && len(r.trace) == len(m.past) && (r.how == "falls" || r.how == "stops")
	})
}

// step returns result and cause.
func (m *naiveMonitor) step(name string, payload map[string]any) (result, cause string) {
	if m.halted {
		return "blocked", ""
	}
	h, ok := m.legal()[name]
	if !ok && name[1:] == "Unrecognized" {
		return "unrecognized", ""
	}
	cause = "label"
	if ok {
		cause = "guard"
		for _, c := range h.clause {
			ok = ok && (c.op == "as" || m.holds(c, payload))
		}
	}
	if !ok {
		m.halted = true
		return "violation", cause
	}
	for _, c := range h.clause {
		if v, present := payload[c.field]; present && c.op == "as" {
			m.registers[c.operand] = v
		}
	}
	m.past = append(m.past, name)
	return "ok", ""
}

func (m *naiveMonitor) holds(c clauseTerm, payload map[string]any) bool {
	got, ok := payload[c.field]
	if !ok {
		return false
	}
	want, bound := m.registers[c.operand]
	if !slices.Contains(registerPool, c.operand) {
		want, bound = decode(c.operand), true
	}
	return bound && (c.op == "==") == naiveEqual(got, want)
}

// decode reads JSON with exact numbers.
func decode(text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return v
}

// naiveEqual is JSON's typed equality, spelled out.
func naiveEqual(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		b, ok := b.(json.Number)
		if !ok {
			return false
		}
		x, _ := new(big.Rat).SetString(a.String())
		y, _ := new(big.Rat).SetString(b.String())
		return x.Cmp(y) == 0
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, naiveEqual)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !naiveEqual(v, w) {
				return false
			}
		}
		return true
	default:
		return a == b
	}
}

var (
	labelPool    = []string{"a", "b", "c", "tool:x", "Unrecognized", "é"}
	fieldPool    = []string{"x", "y"}
	registerPool = []string{"p", "q", "r-1"}
	literalPool  = []string{`1`, `1.0`, `"1"`, `true`, `null`, `""`, `"é"`, `-2.5e1`}
	// payloadPool has what literals cannot write, too.
	payloadPool = append([]string{`{"k":[1,{"l":2}]}`, `{"k":[1.0,{"l":2e0}]}`, `[1]`, `["1"]`, `-25`, `false`}, literalPool...)
)

// A maker makes random terms that are well formed.
type maker struct {
	*rand.Rand
	clauses bool
	size    int // how many more steps it may make
}

func pick[T any](r *maker, from []T) T { return from[r.IntN(len(from))] }

// terms makes a sequence. loops are the variables that may be jumped to once an
// event has happened, fresh those that were bound since.
func (r *maker) terms(loops, fresh []string, depth int) []term {
	var out []term
	for {
		switch n := r.IntN(8); {
		case n <= 1 && depth < 4:
			name := pick(r, []string{"X", "Y", "Z"})
			visible := func(s string) bool { return s == name } // hidden by the new one
			return append(out, loopTerm{name, r.terms(
				slices.DeleteFunc(slices.Clone(loops), visible),
				append(slices.DeleteFunc(slices.Clone(fresh), visible), name), depth+1)})
		case n == 2 && len(loops) > 0:
			return append(out, varTerm(pick(r, loops)))
		case n == 3 && r.IntN(2) == 0 || r.size <= 0:
			return append(out, endTerm{})
		}
		loops, fresh = append(slices.Clone(loops), fresh...), nil
		out = append(out, r.step(loops, depth))
		if r.IntN(4) == 0 {
			return out
		}
	}
}

func (r *maker) step(loops []string, depth int) step {
	r.size--
	s := step{direction: pick(r, []string{"!", "?"})}
	if depth >= 4 || r.IntN(2) == 0 {
		s.plain = r.IntN(4) > 0
		s.branches = []stepBranch{{label: pick(r, labelPool), clause: r.clause()}}
		return s
	}
	labels := slices.Clone(labelPool)
	r.Shuffle(len(labels), func(i, j int) { labels[i], labels[j] = labels[j], labels[i] })
	for _, l := range labels[:1+r.IntN(3)] {
		b := stepBranch{label: l, clause: r.clause()}
		if r.IntN(3) > 0 {
			b.body = r.terms(loops, nil, depth+1)
		}
		s.branches = append(s.branches, b)
	}
	return s
}

func (r *maker) clause() []clauseTerm {
	var out []clauseTerm
	var bound registerSet
	for r.clauses && r.IntN(2) == 0 {
		c := clauseTerm{pick(r, fieldPool), pick(r, []string{"as", "as", "==", "!="}), pick(r, registerPool)}
		if c.op != "as" && r.IntN(2) == 0 {
			c.operand = pick(r, literalPool)
		}
		if c.op == "as" && !bound.bind(c.operand) {
			continue
		}
		out = append(out, c)
	}
	return out
}

// protocols gives the subtests of a differential check their number: tens of
// thousands, or some hundreds with -short.
func protocols() int {
	if testing.Short() {
		return 500
	}
	return 30_000
}

// TestDifferentialTraces compares legal sets and terminal states after every
// trace of random protocols, and that nothing else is legal.
func TestDifferentialTraces(t *testing.T) {
	const length = 7
	compared := 0
	for seed := range protocols() {
		r := &maker{Rand: rand.New(rand.NewPCG(uint64(seed), 1)), size: 12}
		terms := r.terms(nil, nil, 0)
		source := text(terms)
		a := compiled(t, source)
		naive := &naiveMonitor{runs: runs(terms, length)}
		seen := map[string]bool{}
		for _, all := range naive.runs {
			for n := range min(len(all.trace), length-1) + 1 {
				trace := names(all.trace[:n])
				if key := strings.Join(trace, " "); seen[key] {
					continue
				} else {
					seen[key] = true
				}
				naive.past = trace
				m := a.NewMonitor()
				for _, name := range trace {
					if o := m.Step(direction(name[:1]), name[1:], nil); o.Result != OK {
						t.Fatalf("seed %d: %s: %v is refused at %s", seed, source, trace, name)
					}
				}
				legal := sortedKeys(naive.legal())
				if !slices.Equal(m.Expected(), legal) || m.Terminal() != naive.terminal() {
					t.Fatalf("seed %d: %s: after %v legal %v, terminal %t; naively %v, %t", seed, source, trace, m.Expected(), m.Terminal(), legal, naive.terminal())
				}
				for _, d := range []Direction{Send, Receive} {
					for _, label := range append(slices.Clone(labelPool), "other") {
						want := Violation
						if _, ok := slices.BinarySearch(legal, d.String()+label); ok {
							want = OK
						} else if label == UnrecognizedLabel {
							want = Unrecognized
						}
						if got := m.Peek(d, label, nil).Result; got != want {
							t.Fatalf("seed %d: %s: after %v, %s%s is %s; naively %s", seed, source, trace, d, label, got, want)
						}
					}
				}
				compared++
			}
		}
	}
	t.Logf("%d protocols, %d traces", protocols(), compared)
}

// TestDifferentialRuns compares every answer of random runs with payloads.
func TestDifferentialRuns(t *testing.T) {
	const length = 6
	results := map[string]int{}
	for seed := range protocols() {
		r := &maker{Rand: rand.New(rand.NewPCG(uint64(seed), 2)), size: 12, clauses: true}
		terms := r.terms(nil, nil, 0)
		source := text(terms)
		m := compiled(t, source).NewMonitor()
		naive := &naiveMonitor{runs: runs(terms, length), registers: map[string]any{}}
		var told []string
		for len(naive.past) < length-1 && len(told) < length+2 {
			legal := sortedKeys(naive.legal())
			name := pick(r, []string{"!", "?"}) + pick(r, append(slices.Clone(labelPool), "other"))
			if len(legal) > 0 && r.IntN(9) > 0 {
				name = pick(r, legal)
			}
			document := map[string]json.RawMessage{}
			for _, f := range fieldPool {
				if r.IntN(5) > 0 {
					document[f] = json.RawMessage(pick(r, payloadPool))
				}
			}
			raw, err := json.Marshal(document)
			require.NoError(t, err)
			fields, err := ParseFields(string(raw))
			require.NoError(t, err)

			told = append(told, name+string(raw))
			result, cause := naive.step(name, decode(string(raw)).(map[string]any))
			o := m.Step(direction(name[:1]), name[1:], fields)
			results[result+cause]++
			if result == "blocked" {
				legal = nil
			}
			if o.Result.String() != result || o.Cause.String() != cause || !slices.Equal(o.Expected, legal) {
				t.Fatalf("seed %d: %s: %v is %s %s, expected %v; naively %s %s, %v", seed, source, told, o.Result, o.Cause, o.Expected, result, cause, legal)
			}
			registers := map[string]any{}
			for _, reg := range m.Registers() {
				registers[reg.Name] = decode(reg.Value.String())
			}
			if !naiveEqual(registers, naive.registers) {
				t.Fatalf("seed %d: %s: after %v the registers differ, want -, got +:\n%s", seed, source, told, cmp.Diff(naive.registers, registers))
			}
			if m.Terminal() != naive.terminal() || m.Halted() != naive.halted {
				t.Fatalf("seed %d: %s: after %v terminal %t, halted %t; naively %t, %t", seed, source, told, m.Terminal(), m.Halted(), naive.terminal(), naive.halted)
			}
		}
	}
	t.Logf("results: %v", results)
	for _, want := range []string{"ok", "violationlabel", "violationguard", "unrecognized", "blocked"} {
		require.Greater(t, results[want], protocols()/100, "the runs rarely come to %s", want)
	}
}

// compiled parses and compiles a protocol that is right.
func compiled(t testing.TB, source string) *Automaton {
	t.Helper()
	p, err := Parse(source)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	a, _, err := Compile(p)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return a
}

func names(trace []happening) []string {
	var out []string
	for _, h := range trace {
		out = append(out, h.name)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestNaiveMonitorIsNotFooled shows that the comparison can fail: the naive
// monitor disagrees with an automaton of another protocol.
func TestNaiveMonitorIsNotFooled(t *testing.T) {
	a := compiled(t, "!a.!b")
	naive := &naiveMonitor{runs: runs([]term{
		step{direction: "!", plain: true, branches: []stepBranch{{label: "a"}}},
		step{direction: "!", plain: true, branches: []stepBranch{{label: "c"}}},
	}, 3)}
	naive.step("!a", nil)
	m := a.NewMonitor()
	m.Send("a", nil)
	require.NotEqual(t, fmt.Sprint(m.Expected()), fmt.Sprint(sortedKeys(naive.legal())))
}
