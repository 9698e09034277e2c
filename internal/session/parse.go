// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxNesting bounds how deep choices and loops may nest. Parsing, printing and
// compiling recurse once per level; written protocols nest a handful of levels
// and generated ones some dozens, so a thousand is out of anyone's way while the
// stack stays far below a megabyte. A sequence is a list and counts once, however
// long it is.
const maxNesting = 1000

// maxSource bounds the length of a protocol in bytes. Positions and state
// numbers then fit 32 bits many times over; ten thousand steps take about a
// hundred kilobytes.
const maxSource = 16 << 20

// Parse reads a protocol. The error is an *Error. What the grammar allows and
// the meaning forbids, such as a variable that nothing binds, is left to
// Compile.
func Parse(src string) (*Protocol, error) {
	return parse(src, maxNesting)
}

// parse is Parse with the nesting limit as an argument, so that a test can hit
// it with a protocol that can be read.
func parse(src string, nesting int) (*Protocol, error) {
	if len(src) > maxSource {
		return nil, newError(src, CodeTooLong, maxSource, fmt.Sprintf("at most %d bytes", maxSource), fmt.Sprintf("%d", len(src)))
	}
	p := &parser{lexer: lexer{source: src, state: lexAtom}, nesting: nesting}
	p.advance()
	root, err := p.sequence(0)
	if err != nil {
		return nil, err
	}
	if p.token.kind != tokenEnd {
		return nil, p.unexpected(p.separators("'.' or the end"))
	}
	return &Protocol{source: src, root: root}, nil
}

// newError returns an error at a byte offset of a written protocol.
func newError(source string, code ErrorCode, offset int, expected, found string) *Error {
	line, column := position(source, offset)
	return &Error{
		Code: code, Offset: offset, Line: line, Column: column,
		Expected: expected, Found: found, Index: -1, source: source,
	}
}

// A parser reads tokens one ahead.
type parser struct {
	lexer   lexer
	token   token // not yet consumed
	nesting int
	// clauseMayFollow is true right behind a label without a clause, where "("
	// belongs among the things expected.
	clauseMayFollow bool
}

// advance consumes the current token and returns it.
func (p *parser) advance() token {
	t := p.token
	p.token = p.lexer.next()
	p.clauseMayFollow = false
	return t
}

// fail returns an error at an offset.
func (p *parser) fail(code ErrorCode, offset int, expected, found string) *Error {
	return newError(p.lexer.source, code, offset, expected, found)
}

// unexpected returns the error that the current token is not what was expected.
func (p *parser) unexpected(expected string) *Error {
	return p.fail(CodeSyntax, p.token.pos, expected, p.token.found())
}

// separators lists what may stand behind an atom.
func (p *parser) separators(list string) string {
	if p.clauseMayFollow {
		return "'(', " + list
	}
	return list
}

// sequence reads atoms joined by dots, at the given depth of nesting.
func (p *parser) sequence(depth int) (*sequence, *Error) {
	s := &sequence{}
	for {
		a, err := p.atom(depth)
		if err != nil {
			return nil, err
		}
		s.atoms = append(s.atoms, a)
		if !p.token.is(".") {
			return s, nil
		}
		p.advance()
	}
}

// atom reads one atom.
func (p *parser) atom(depth int) (atom, *Error) {
	switch t := p.token; {
	case t.is("!"):
		p.advance()
		return p.choice(t.pos, Send, depth)
	case t.is("?"):
		p.advance()
		return p.choice(t.pos, Receive, depth)
	case t.kind == tokenName && t.text == "end":
		p.advance()
		return &stop{pos: t.pos}, nil
	case t.kind == tokenName && t.text == "rec":
		p.advance()
		return p.loop(t.pos, depth)
	case t.kind == tokenName:
		p.advance()
		return &jump{pos: t.pos, name: t.text}, nil
	}
	return nil, p.unexpected("'!', '?', 'rec', 'end' or a variable")
}

// loop reads a loop behind its "rec".
func (p *parser) loop(pos, depth int) (atom, *Error) {
	name := p.token
	if name.kind != tokenName {
		return nil, p.unexpected("a variable to name the loop")
	}
	p.advance()
	if !p.token.is(".") {
		return nil, p.unexpected("'.' and the body of the loop")
	}
	if isKeyword(name.text) {
		return nil, p.fail(CodeReservedName, name.pos, "a variable to name the loop", "the keyword "+name.found())
	}
	if depth == p.nesting {
		return nil, p.tooDeep(pos)
	}
	p.advance()
	body, err := p.sequence(depth + 1)
	if err != nil {
		return nil, err
	}
	return &loop{pos: pos, namePos: name.pos, name: name.text, body: body}, nil
}

// choice reads a step or a choice behind its direction.
func (p *parser) choice(pos int, d Direction, depth int) (atom, *Error) {
	c := &choice{pos: pos, direction: d}
	if !p.token.is("{") {
		b, err := p.branch("a label or '{'")
		if err != nil {
			return nil, err
		}
		c.branches = []branch{b}
		return c, nil
	}
	if depth == p.nesting {
		return nil, p.tooDeep(p.token.pos)
	}
	c.braces = true
	seen := map[string]bool{}
	for {
		p.advance() // "{" or ","
		b, err := p.branch("a label")
		if err != nil {
			return nil, err
		}
		if seen[b.label] {
			return nil, p.fail(CodeDuplicateLabel, b.pos, "each label once in a choice", quoteName(b.label)+" again")
		}
		seen[b.label] = true
		if p.token.is(".") {
			p.advance()
			if b.body, err = p.sequence(depth + 1); err != nil {
				return nil, err
			}
		}
		c.branches = append(c.branches, b)
		switch {
		case p.token.is("}"):
			p.advance()
			return c, nil
		case !p.token.is(","):
			return nil, p.unexpected(p.separators("'.', ',' or '}'"))
		}
	}
}

// branch reads a label and its clause.
func (p *parser) branch(expected string) (branch, *Error) {
	t, err := p.label(expected)
	if err != nil {
		return branch{}, err
	}
	b := branch{pos: t.pos, label: t.text}
	if !p.token.is("(") {
		p.clauseMayFollow = true
		return b, nil
	}
	var bound registerSet
	for {
		p.advance() // "(" or ","
		it, err := p.item()
		if err != nil {
			return branch{}, err
		}
		if it.op == opBind && !bound.bind(it.name) {
			return branch{}, p.fail(CodeDuplicateRegister, it.operand, "each register bound once in a clause", quoteName(it.name)+" again")
		}
		b.clause = append(b.clause, it)
		switch {
		case p.token.is(")"):
			p.advance()
			return b, nil
		case !p.token.is(","):
			return branch{}, p.unexpected("',' or ')'")
		}
	}
}

// A registerSet holds the registers that a clause has bound so far.
type registerSet map[string]bool

// bind reports whether the clause binds a register for the first time.
func (s *registerSet) bind(register string) bool {
	if (*s)[register] {
		return false
	}
	if *s == nil {
		*s = registerSet{}
	}
	(*s)[register] = true
	return true
}

// label reads a label.
func (p *parser) label(expected string) (token, *Error) {
	t := p.token
	if t.kind != tokenName {
		return t, p.unexpected(expected)
	}
	if strings.HasSuffix(t.text, ":") {
		end := t.pos + len(t.text)
		rest := token{kind: tokenEnd}
		if end < len(p.lexer.source) {
			rest = token{kind: tokenBad, text: p.lexer.source[end:]}
		}
		return t, p.fail(CodeSyntax, end, "the rest of the label behind ':'", rest.found())
	}
	return p.advance(), nil
}

// item reads one guard or binding.
func (p *parser) item() (item, *Error) {
	field := p.token
	if field.kind != tokenName {
		return item{}, p.unexpected("a field")
	}
	p.advance()
	it := item{pos: field.pos, field: field.text}
	switch op := p.token; {
	case op.kind == tokenName && op.text == "as":
		it.op = opBind
	case op.is("=="):
		it.op = opEqual
	case op.is("!="):
		it.op = opDiffer
	default:
		return item{}, p.unexpected("'as', '==' or '!='")
	}
	p.advance()
	it.operand = p.token.pos
	if it.op == opBind {
		if p.token.kind != tokenName {
			return item{}, p.unexpected("a register")
		}
		if isLiteralWord(p.token.text) {
			return item{}, p.fail(CodeReservedName, p.token.pos, "a register", "the literal "+p.token.found())
		}
		it.name = p.advance().text
		return it, nil
	}
	var err *Error
	switch t := p.token; t.kind {
	case tokenString:
		it.literal, err = p.stringLiteral()
	case tokenNumber:
		it.literal, err = p.numberLiteral()
	case tokenName:
		switch p.advance().text {
		case "true":
			it.literal = BoolValue(true)
		case "false":
			it.literal = BoolValue(false)
		case "null":
			it.literal = NullValue()
		default:
			it.name = t.text
		}
	default:
		err = p.unexpected("a register or a literal")
	}
	return it, err
}

// stringLiteral reads a string, of which the lexer has only seen the quote.
func (p *parser) stringLiteral() (Value, *Error) {
	text, end, fault := scanString(p.lexer.source, p.token.pos)
	if fault != "" {
		return Value{}, p.fail(CodeLiteral, end, "a JSON string", fault)
	}
	p.lexer.pos = end
	p.advance()
	return StringValue(text), nil
}

// numberLiteral reads a number, whose token may be malformed.
func (p *parser) numberLiteral() (Value, *Error) {
	t := p.token
	v := NumberValue(t.text)
	if v.IsZero() {
		if r, _ := utf8.DecodeRuneInString(t.text[1:]); t.text[0] == '-' && !unicode.IsDigit(r) {
			return Value{}, p.unexpected("a register or a literal")
		}
		return Value{}, p.fail(CodeLiteral, t.pos, "a JSON number", t.found())
	}
	p.advance()
	return v, nil
}

// tooDeep returns the error for one level too many.
func (p *parser) tooDeep(offset int) *Error {
	return p.fail(CodeTooDeep, offset, fmt.Sprintf("at most %d nested choices and loops", p.nesting), "one more")
}

func isKeyword(name string) bool { return name == "end" || name == "rec" }

func isLiteralWord(name string) bool { return name == "true" || name == "false" || name == "null" }
