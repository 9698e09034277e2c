// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"strconv"
	"strings"
)

// DOT draws the automaton for Graphviz. Terminal states have two circles; under
// an event stand its guards in brackets and then its bindings.
func (a *Automaton) DOT() string {
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`)
	var b strings.Builder
	b.WriteString("digraph protocol {\n\trankdir=LR;\n\tnode [shape=circle];\n\tstart [shape=point];\n\tstart -> 0;\n")
	for i, s := range a.states {
		number := strconv.Itoa(i)
		var attributes []string
		if s.terminal {
			attributes = append(attributes, "shape=doublecircle")
		}
		if name := a.stateName(i); name != number {
			attributes = append(attributes, `label="`+escape.Replace(name)+`"`)
		}
		b.WriteString("\t" + number)
		if len(attributes) > 0 {
			b.WriteString(" [" + strings.Join(attributes, ", ") + "]")
		}
		b.WriteString(";\n")
		for _, e := range a.edges[s.first:s.end] {
			// The separator is DOT's own line break, which must not be escaped.
			lines := a.edgeLines(e)
			for j := range lines {
				lines[j] = escape.Replace(lines[j])
			}
			b.WriteString("\t" + number + " -> " + strconv.Itoa(int(e.to)) + ` [label="` + strings.Join(lines, `\n`) + "\"];\n")
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// Mermaid draws the automaton as a Mermaid flowchart. Terminal states have two
// circles; under an event stand its guards in brackets and then its bindings.
func (a *Automaton) Mermaid() string {
	// Mermaid knows no escapes but HTML's, with # for &.
	escape := strings.NewReplacer(`#`, "#35;", `"`, "#quot;", `&`, "#amp;", `<`, "#lt;", `>`, "#gt;", "`", "#96;", `\`, "#92;", "\n", " ", "\r", " ")
	var b strings.Builder
	b.WriteString("flowchart LR\n    start(( )) --> s0\n")
	for i, s := range a.states {
		open, shut := `(("`, `"))`
		if s.terminal {
			open, shut = `((("`, `")))`
		}
		id := "s" + strconv.Itoa(i)
		b.WriteString("    " + id + open + escape.Replace(a.stateName(i)) + shut + "\n")
		for _, e := range a.edges[s.first:s.end] {
			lines := a.edgeLines(e)
			for j := range lines {
				lines[j] = escape.Replace(lines[j])
			}
			b.WriteString("    " + id + ` -->|"` + strings.Join(lines, "<br/>") + `"| s` + strconv.Itoa(int(e.to)) + "\n")
		}
	}
	return b.String()
}

// stateName returns the name that a state machine gave to a state, else its
// number.
func (a *Automaton) stateName(i int) string {
	if len(a.names) > 0 {
		return a.names[i]
	}
	return strconv.Itoa(i)
}

// edgeLines returns what is written at an edge: the event, its guards, its
// bindings.
func (a *Automaton) edgeLines(e edge) []string {
	lines := []string{a.symbols[e.symbol].name}
	if e.clause == noClause {
		return lines
	}
	c := &a.clauses[e.clause]
	if c.guardText != "" {
		lines = append(lines, "["+c.guardText+"]")
	}
	if c.bindingText != "" {
		lines = append(lines, c.bindingText)
	}
	return lines
}
