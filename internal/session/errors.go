// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ErrorCode says which rule of the language a protocol broke. The codes are
// stable.
type ErrorCode string

// The ways in which a protocol can be wrong.
const (
	// CodeSyntax is text that the grammar does not allow.
	CodeSyntax ErrorCode = "syntax"
	// CodeLiteral is a string or a number that is not JSON's.
	CodeLiteral ErrorCode = "bad_literal"
	// CodeReservedName is a keyword where a variable, a register or a label
	// cannot have its name.
	CodeReservedName ErrorCode = "reserved_name"
	// CodeTooDeep is a protocol that nests deeper than maxNesting.
	CodeTooDeep ErrorCode = "nesting_too_deep"
	// CodeTooLong is a protocol longer than maxSource.
	CodeTooLong ErrorCode = "too_long"
	// CodeDuplicateLabel is a label that stands twice in one choice, or two
	// transitions of one state with the same event.
	CodeDuplicateLabel ErrorCode = "duplicate_label"
	// CodeDuplicateRegister is a register that one clause binds twice.
	CodeDuplicateRegister ErrorCode = "duplicate_register"
	// CodeUnboundVariable is a loop variable that no enclosing rec binds.
	CodeUnboundVariable ErrorCode = "unbound_variable"
	// CodeUnguardedRecursion is a loop that comes back to its start without an
	// event.
	CodeUnguardedRecursion ErrorCode = "unguarded_recursion"
	// CodeAfterVariable is an event or a variable behind a variable, where it
	// could never happen.
	CodeAfterVariable ErrorCode = "continuation_after_variable"
	// CodeAfterEnd is an event or a variable behind end, where it could never
	// happen.
	CodeAfterEnd ErrorCode = "continuation_after_end"
	// CodeMissing is a state machine that lacks a name it needs.
	CodeMissing ErrorCode = "missing"
)

// Error is what is wrong with a protocol, and where.
type Error struct {
	Code ErrorCode

	// Offset counts bytes from 0, Line and Column count from 1, a column being
	// a character and not a byte. They are places in the protocol's text or, for
	// a state machine, in the text of the field that Index and Field name.
	Offset, Line, Column int

	// Expected and Found complete the sentence "expected …, found …".
	Expected, Found string

	// Index is the number of the transition (from 0) of a state machine that
	// the error is about, or of the terminal state where Field is "terminal".
	// It is -1 for a written protocol and where no transition is to blame.
	Index int
	// Field is the key of the state machine: "initial", "terminal", "from",
	// "event", "to", "when" or "bind". It is empty for a written protocol.
	Field string

	source string
}

// Error says on one line what was expected and what was found.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: expected %s, found %s", place(e.Index, e.Field, e.Line, e.Column), e.Expected, e.Found)
}

// Detail is Error with the line of the source under it and a caret under the
// place.
func (e *Error) Detail() string {
	return e.Error() + "\n" + excerpt(e.source, e.Offset)
}

// Excerpt is the line of the source that holds the place, and a caret under it
// on a second line.
func (e *Error) Excerpt() string { return excerpt(e.source, e.Offset) }

// WarningCode says what kind of doubt a warning raises. The codes are stable.
type WarningCode string

// The things that are legal and probably not meant.
const (
	// WarnShadowedVariable is a rec that reuses the name of a rec around it.
	WarnShadowedVariable WarningCode = "shadowed_variable"
	// WarnUnusedVariable is a rec that nothing loops back to.
	WarnUnusedVariable WarningCode = "unused_variable"
	// WarnUnreachable is a continuation, or a state, that no run comes to.
	WarnUnreachable WarningCode = "unreachable"
	// WarnUnboundRegister is a register that is compared and never bound, so
	// that the guard can never hold.
	WarnUnboundRegister WarningCode = "unbound_register"
	// WarnNoTerminal is a place from which no terminal state can be reached.
	WarnNoTerminal WarningCode = "no_terminal_state"
)

// Warning is something legal in a protocol that is probably not meant. Its
// place is given as in Error.
type Warning struct {
	Code                 WarningCode
	Message              string
	Offset, Line, Column int
	Index                int
	Field                string

	source string
}

// String says on one line what is doubtful, and where.
func (w Warning) String() string {
	return place(w.Index, w.Field, w.Line, w.Column) + ": " + w.Message
}

// Detail is String with the line of the source under it and a caret under the
// place.
func (w Warning) Detail() string { return w.String() + "\n" + w.Excerpt() }

// Excerpt is the line of the source that holds the place, and a caret under it
// on a second line.
func (w Warning) Excerpt() string { return excerpt(w.source, w.Offset) }

// place names a position in a written protocol or in a state machine.
func place(index int, field string, line, column int) string {
	switch {
	case field == "":
		return fmt.Sprintf("%d:%d", line, column)
	case index < 0:
		return fmt.Sprintf("%s: %d:%d", field, line, column)
	case field == "terminal":
		return fmt.Sprintf("terminal[%d]: %d:%d", index, line, column)
	default:
		return fmt.Sprintf("transitions[%d].%s: %d:%d", index, field, line, column)
	}
}

// position turns a byte offset into a line and a column. Only a line feed ends
// a line, so that CR LF counts once.
func position(source string, offset int) (line, column int) {
	before := source[:offset]
	line = strings.Count(before, "\n") + 1
	column = utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return line, column
}

// maxExcerpt bounds the part of a line that an excerpt shows, in characters:
// a protocol is often one long line, and a caret that is wrapped by a terminal
// points nowhere.
const maxExcerpt = 100

// excerpt shows the line of source around offset, and a caret under it.
func excerpt(source string, offset int) string {
	start := strings.LastIndexByte(source[:offset], '\n') + 1
	end := len(source)
	if i := strings.IndexByte(source[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	before, after := []rune(source[start:offset]), []rune(source[offset:end])
	var line, caret strings.Builder
	if len(before)+len(after) > maxExcerpt && len(before) > maxExcerpt/2 {
		before = before[len(before)-maxExcerpt/2:]
		line.WriteString("…")
		caret.WriteByte(' ')
	}
	cut := false
	if rest := maxExcerpt - len(before); len(after) > rest {
		after, cut = after[:rest], true
	}
	for _, r := range before {
		line.WriteRune(shown(r))
		if r == '\t' {
			caret.WriteByte('\t')
		} else {
			caret.WriteByte(' ')
		}
	}
	for _, r := range after {
		line.WriteRune(shown(r))
	}
	if cut {
		line.WriteString("…")
	}
	return strings.TrimRight(line.String(), " ") + "\n" + caret.String() + "^"
}

// shown replaces what would move the cursor of a terminal.
func shown(r rune) rune {
	switch {
	case r == '\t' || unicode.IsPrint(r):
		return r
	case r == '\r':
		return ' '
	default:
		return utf8.RuneError
	}
}
