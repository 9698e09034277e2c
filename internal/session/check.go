// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A checker walks a tree once, in the order of the text, and says what the
// grammar allows and the meaning forbids or doubts.
type checker struct {
	source   string
	scope    []binder       // the loops around the current place, outermost first
	depth    map[string]int // for each variable, how many loops reach to the innermost that binds it
	guarded  int            // how many of the loops an event has been seen in
	warnings []Warning

	bound    map[string]bool // registers that some clause binds
	compared []comparison    // registers that some clause compares
}

// A binder is a loop whose body is being walked.
type binder struct {
	used bool // something jumps to it
}

// A comparison is the use of a register in a guard.
type comparison struct {
	register string
	offset   int
}

// check returns the first error of a protocol, else its warnings.
func check(p *Protocol) ([]Warning, *Error) {
	c := &checker{source: p.source, depth: map[string]int{}, bound: map[string]bool{}}
	if _, err := c.sequence(p.root); err != nil {
		return nil, err
	}
	for _, cmp := range neverBound(c.compared, c.bound) {
		c.warn(WarnUnboundRegister, cmp.offset, unboundRegister(cmp.register))
	}
	return c.warnings, nil
}

// neverBound returns the first comparison of each register that nothing binds.
func neverBound(compared []comparison, bound map[string]bool) []comparison {
	seen := map[string]bool{}
	var out []comparison
	for _, c := range compared {
		if !bound[c.register] && !seen[c.register] {
			seen[c.register] = true
			out = append(out, c)
		}
	}
	return out
}

func unboundRegister(name string) string {
	return "the register " + quoteName(name) + " is compared and never bound, so this guard never holds"
}

// warn notes a warning.
func (c *checker) warn(code WarningCode, offset int, message string) {
	c.warnings = append(c.warnings, newWarning(c.source, code, offset, message))
}

// newWarning returns a warning at a byte offset of a written protocol. Its line
// and column are left to placeWarnings.
func newWarning(source string, code WarningCode, offset int, message string) Warning {
	return Warning{Code: code, Message: message, Offset: offset, Index: -1, source: source}
}

// placeWarnings puts warnings in the order of the text and counts their lines
// and columns in one pass: a long protocol may have a warning on every line.
func placeWarnings(source string, warnings []Warning) {
	slices.SortStableFunc(warnings, func(a, b Warning) int { return cmp.Compare(a.Offset, b.Offset) })
	line, column, at := 1, 1, 0
	for i := range warnings {
		w := &warnings[i]
		passed := source[at:w.Offset]
		if n := strings.Count(passed, "\n"); n > 0 {
			line, column = line+n, 1
			passed = passed[strings.LastIndexByte(passed, '\n')+1:]
		}
		column += utf8.RuneCountInString(passed)
		w.Line, w.Column, at = line, column, w.Offset
	}
}

// sequence walks a sequence. It reports whether some run comes to its end and
// goes on with what follows it.
func (c *checker) sequence(s *sequence) (leaves bool, err *Error) {
	for i, a := range s.atoms {
		rest := s.atoms[i+1:]
		switch a := a.(type) {
		case *choice:
			if leaves, err = c.choice(a); err != nil {
				return false, err
			}
			if next := firstThatMatters(rest); !leaves && next != nil {
				c.warn(WarnUnreachable, next.place(), "nothing comes here: every branch of the choice before it loops back or ends")
			}
		case *loop:
			return c.loop(a)
		// What stands behind a jump or a stop is an error, or says nothing.
		case *jump:
			return false, c.jump(a, rest)
		case *stop:
			if next := firstThatMatters(rest); next != nil {
				return false, newError(c.source, CodeAfterEnd, next.place(), "nothing behind 'end'", c.atom(next))
			}
			return false, nil
		}
	}
	return leaves, nil
}

// choice walks a choice. It reports whether some branch goes on with what
// follows the choice.
func (c *checker) choice(ch *choice) (leaves bool, err *Error) {
	for i := range ch.branches {
		b := &ch.branches[i]
		for _, it := range b.clause {
			switch {
			case it.op == opBind:
				c.bound[it.name] = true
			case it.name != "":
				c.compared = append(c.compared, comparison{it.name, it.operand})
			}
		}
		// Behind its label a branch may loop back to any loop around it.
		c.guarded = len(c.scope)
		bodyLeaves := true
		if b.body != nil {
			if bodyLeaves, err = c.sequence(b.body); err != nil {
				return false, err
			}
		}
		leaves = leaves || bodyLeaves
	}
	c.guarded = len(c.scope) // so may what follows the choice
	return leaves, nil
}

// loop walks a loop.
func (c *checker) loop(l *loop) (leaves bool, err *Error) {
	outer := c.depth[l.name]
	if outer > 0 {
		c.warn(WarnShadowedVariable, l.namePos, "this "+quoteName(l.name)+" hides the one of an enclosing rec")
	}
	c.scope = append(c.scope, binder{}) // not guarded: c.guarded stays
	c.depth[l.name] = len(c.scope)
	leaves, err = c.sequence(l.body)
	if err != nil {
		return false, err
	}
	used := c.scope[len(c.scope)-1].used
	c.depth[l.name] = outer
	c.scope = c.scope[:len(c.scope)-1]
	c.guarded = min(c.guarded, len(c.scope))
	if !used {
		c.warn(WarnUnusedVariable, l.namePos, "nothing loops back to "+quoteName(l.name))
	}
	return leaves, nil
}

// jump checks a variable and what stands behind it.
func (c *checker) jump(j *jump, rest []atom) *Error {
	depth := c.depth[j.name]
	if depth == 0 {
		return newError(c.source, CodeUnboundVariable, j.pos, "a variable of an enclosing rec", quoteName(j.name))
	}
	c.scope[depth-1].used = true
	if depth > c.guarded {
		return newError(c.source, CodeUnguardedRecursion, j.pos,
			"an event before the loop comes back to "+quoteName(j.name), quoteName(j.name)+" at once")
	}
	if next := firstThatMatters(rest); next != nil {
		return newError(c.source, CodeAfterVariable, next.place(),
			"nothing behind "+quoteName(j.name)+", which loops back", c.atom(next))
	}
	return nil
}

// firstThatMatters returns the first atom in which anything could happen. An
// end behind an end, or behind a jump, says nothing new and does no harm.
func firstThatMatters(atoms []atom) atom {
	for _, a := range atoms {
		switch a := a.(type) {
		case *stop:
		case *loop:
			if next := firstThatMatters(a.body.atoms); next != nil {
				return next
			}
		default:
			return a
		}
	}
	return nil
}

// atom names the beginning of an atom for an error.
func (c *checker) atom(a atom) string {
	switch a := a.(type) {
	case *jump:
		return quoteName(a.name)
	case *choice:
		if a.braces {
			return "'" + a.direction.String() + "{'"
		}
		return quoteName(a.direction.String() + a.branches[0].label)
	}
	return "more"
}
