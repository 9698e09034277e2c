// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A token is one word of the language.
type token struct {
	kind tokenKind
	pos  int    // its first byte
	text string // as it stands in the source
}

type tokenKind uint8

const (
	tokenEnd    tokenKind = iota // the end of the input
	tokenBad                     // a character that begins no token
	tokenMark                    // one of ! ? { } ( ) , . and, in a clause, == and !=
	tokenName                    // an identifier, a label, a field or a register
	tokenNumber                  // in a clause: what begins like a number, well formed or not
	tokenString                  // in a clause: what begins with a quote; only the quote is consumed
)

// found names the token for an error.
func (t token) found() string {
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenBad:
		r, size := utf8.DecodeRuneInString(t.text)
		if r == utf8.RuneError && size == 1 {
			return fmt.Sprintf("the byte 0x%02X, which is not UTF-8", t.text[0])
		}
		return strconv.QuoteRune(r)
	default:
		return quoteName(t.text)
	}
}

// quoteName puts a name in quotes for an error, cut where it is very long and
// without what would break its line: states may have any name.
func quoteName(name string) string {
	const most = 60
	if utf8.RuneCountInString(name) > most {
		name = string([]rune(name)[:most]) + "…"
	}
	return "'" + strings.Map(shown, name) + "'"
}

// is reports whether the token is a given mark.
func (t token) is(mark string) bool { return t.kind == tokenMark && t.text == mark }

// A stateFn reads one token and returns the state for the next.
type stateFn func(*lexer) (token, stateFn)

// A lexer cuts a source into tokens. What a character means depends on where it
// stands: a colon belongs to a label and to nothing else, and only in a clause
// are there numbers, strings and comparisons. The states keep these apart.
type lexer struct {
	source string
	pos    int
	state  stateFn
}

// next returns the next token. Behind the end it returns the end again.
func (l *lexer) next() token {
	for l.pos < len(l.source) && isSpace(l.source[l.pos]) {
		l.pos++
	}
	t, state := l.state(l)
	l.state = state
	return t
}

// lexAtom reads where an atom, a variable or a separator may stand.
func lexAtom(l *lexer) (token, stateFn) {
	if t, ok := l.name(); ok {
		return t, lexAtom
	}
	t := l.mark("!?{}(),.")
	switch {
	case t.is("!"), t.is("?"), t.is("{"), t.is(","):
		return t, lexLabel
	case t.is("("):
		return t, lexClause
	}
	return t, lexAtom
}

// lexLabel reads where a label may stand: names joined by colons.
func lexLabel(l *lexer) (token, stateFn) {
	t, ok := l.name()
	if !ok {
		return lexAtom(l)
	}
	for l.pos < len(l.source) && l.source[l.pos] == ':' {
		l.pos++
		if _, ok := l.name(); !ok {
			break // the parser complains about the colon at the end
		}
	}
	t.text = l.source[t.pos:l.pos]
	return t, lexAtom
}

// lexClause reads between parentheses.
func lexClause(l *lexer) (token, stateFn) {
	if l.pos == len(l.source) {
		return l.mark(""), lexClause
	}
	rest := l.source[l.pos:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "==") || strings.HasPrefix(rest, "!="):
		l.pos += 2
		return token{tokenMark, l.pos - 2, rest[:2]}, lexClause
	case c == '"' || c == '\'':
		return token{tokenString, l.pos, rest[:1]}, lexClause
	case c == '-' || '0' <= c && c <= '9':
		start := l.pos
		for l.pos < len(l.source) {
			r, size := utf8.DecodeRuneInString(l.source[l.pos:])
			if !isNameRune(r) && r != '.' && r != '+' {
				break
			}
			l.pos += size
		}
		return token{tokenNumber, start, l.source[start:l.pos]}, lexClause
	}
	if r, _ := utf8.DecodeRuneInString(rest); r == '_' || unicode.IsLetter(r) {
		t, _ := l.name()
		return t, lexClause
	}
	t := l.mark("!?{}(),.")
	if t.is(")") {
		return t, lexAtom
	}
	return t, lexClause
}

// name reads an identifier, if one stands here.
func (l *lexer) name() (token, bool) {
	start := l.pos
	for l.pos < len(l.source) {
		r, size := utf8.DecodeRuneInString(l.source[l.pos:])
		if !isNameRune(r) {
			break
		}
		l.pos += size
	}
	return token{tokenName, start, l.source[start:l.pos]}, l.pos > start
}

// mark reads one of the given marks, or the end, or a character that is none.
func (l *lexer) mark(marks string) token {
	if l.pos == len(l.source) {
		return token{tokenEnd, l.pos, ""}
	}
	start := l.pos
	_, size := utf8.DecodeRuneInString(l.source[start:])
	l.pos += size
	text := l.source[start:l.pos]
	if size == 1 && strings.Contains(marks, text) {
		return token{tokenMark, start, text}
	}
	return token{tokenBad, start, text}
}

// isNameRune reports whether a character may stand in an identifier. An invalid
// byte decodes to U+FFFD, which is no letter.
func isNameRune(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsNumber(r)
}
