// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

// Protocol is a parsed protocol: a tree that is never changed after Parse made
// it, with the place of every part in the text. It may be shared.
type Protocol struct {
	source string
	root   *sequence
}

// Source returns the text that was parsed.
func (p *Protocol) Source() string { return p.source }

// A sequence is one or more atoms joined by dots. A loop, whose body reaches as
// far as it can, is always the last atom of its sequence.
type sequence struct {
	atoms []atom
}

// An atom is one of *choice, *loop, *jump and *stop.
type atom interface {
	// place returns the byte offset of the atom's first character.
	place() int
}

// A choice is a send or a receive of one of its branches. A plain step is a
// choice of one branch without braces.
type choice struct {
	pos       int
	direction Direction
	braces    bool
	branches  []branch
}

// A branch is a label with its clause and, between braces, what follows it.
type branch struct {
	pos    int
	label  string
	clause []item
	body   *sequence // nil where the branch ends at once
}

// An item is one guard or one binding of a clause.
type item struct {
	pos     int
	field   string
	op      operator
	operand int    // the offset of what stands right of the operator
	name    string // the register, "" for a literal
	literal Value  // if name is empty
}

// An operator is what stands between a field and its operand.
type operator uint8

const (
	opBind   operator = iota // as
	opEqual                  // ==
	opDiffer                 // !=
)

func (op operator) String() string {
	return [...]string{"as", "==", "!="}[op]
}

// A loop is "rec name.body".
type loop struct {
	pos     int
	namePos int
	name    string
	body    *sequence
}

// A jump is a variable: back to the loop that binds it.
type jump struct {
	pos  int
	name string
}

// A stop is an explicit end.
type stop struct {
	pos int
}

func (c *choice) place() int { return c.pos }
func (l *loop) place() int   { return l.pos }
func (j *jump) place() int   { return j.pos }
func (s *stop) place() int   { return s.pos }
