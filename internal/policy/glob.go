// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Glob is a compiled pattern over a whole text. The zero Glob matches the empty
// text only.
//
//	?        one character
//	*        any run of characters, dots, slashes and line ends included
//	[abc]    one of the characters; [a-z0-9] of the ranges; [!a] any other
//	{a,b*}   either of the patterns, which may be empty and may nest
//	\c       the character c as it is
//	c        itself, upper and lower case being different
type Glob struct {
	text  string
	shape globShape
	// head and tail are the literal parts of a simple shape.
	head, tail string
	// expr is the pattern of any other shape. Regular expressions match in
	// linear time whatever the text is, and the text comes from outside.
	expr *regexp.Regexp
}

// globShape tells the patterns that need no regular expression. Nearly all are
// one of these.
type globShape uint8

const (
	globLiteral  globShape = iota // head
	globAffixes                   // head*tail
	globContains                  // *head*
	globExpr
)

// maxGlobNesting bounds braces inside braces, which the regular expression
// parser reads by recursion. Two levels are a lot to read already.
const maxGlobNesting = 100

// ParseGlob compiles a pattern. Its error says what is wrong, not where.
func ParseGlob(text string) (Glob, error) {
	if len(text) > maxPatternLength {
		return Glob{}, &syntaxError{maxPatternLength, "glob is longer than 4,096 bytes"}
	}
	if !strings.ContainsAny(text, `*?[{}\`) {
		return Glob{text: text, head: text}, nil
	}
	if !strings.ContainsAny(text, `?[{}\`) {
		switch parts := strings.Split(text, "*"); {
		case len(parts) == 2:
			return Glob{text: text, shape: globAffixes, head: parts[0], tail: parts[1]}, nil
		case len(parts) == 3 && parts[0] == "" && parts[2] == "":
			return Glob{text: text, shape: globContains, head: parts[1]}, nil
		}
	}
	pattern, err := globExpression(text)
	if err != nil {
		return Glob{}, err
	}
	expr, err := regexp.Compile(pattern)
	if err != nil {
		// Only size is left to be wrong.
		return Glob{}, &syntaxError{0, "glob is too large: " + err.Error()}
	}
	return Glob{text: text, shape: globExpr, expr: expr}, nil
}

// globExpression writes a glob as a regular expression.
func globExpression(text string) (string, error) {
	var b strings.Builder
	b.WriteString(`(?s)\A(?:`)
	var open []int // where the braces are that are not closed yet
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '*':
			b.WriteString(".*")
		case r == '?':
			b.WriteByte('.')
		case r == '[':
			end, err := globClass(&b, text, i)
			if err != nil {
				return "", err
			}
			i = end
			continue
		case r == '{':
			if len(open) == maxGlobNesting {
				return "", &syntaxError{i, "bad glob: braces nest too deeply"}
			}
			open = append(open, i)
			b.WriteString("(?:")
		case r == ',' && len(open) > 0:
			b.WriteByte('|')
		case r == '}':
			if len(open) == 0 {
				return "", &syntaxError{i, `bad glob: "}" closes nothing; write "\}" for a brace`}
			}
			open = open[:len(open)-1]
			b.WriteByte(')')
		case r == '\\':
			i++
			if i == len(text) {
				return "", &syntaxError{i - 1, `bad glob: "\" stands before nothing; write "\\" for a backslash`}
			}
			r, size = utf8.DecodeRuneInString(text[i:])
			fallthrough
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
		i += size
	}
	if len(open) > 0 {
		return "", &syntaxError{open[len(open)-1], `bad glob: "{" is never closed; write "\{" for a brace`}
	}
	b.WriteString(`)\z`)
	return b.String(), nil
}

// globClass writes the class that starts at text[start], and returns the place
// after it.
func globClass(b *strings.Builder, text string, start int) (end int, err error) {
	i := start + 1
	b.WriteByte('[')
	if strings.HasPrefix(text[i:], "!") {
		b.WriteByte('^')
		i++
	}
	empty := true
	for i < len(text) && text[i] != ']' {
		low, next, err := classRune(text, i)
		if err != nil {
			return 0, err
		}
		high := low
		// A hyphen makes a range unless it is the last of the class.
		if next+1 < len(text) && text[next] == '-' && text[next+1] != ']' {
			high, next, err = classRune(text, next+1)
			if err != nil {
				return 0, err
			}
			if high < low {
				return 0, &syntaxError{i, fmt.Sprintf("bad glob: the range %s is backwards", text[i:next])}
			}
		}
		fmt.Fprintf(b, `\x{%x}-\x{%x}`, low, high)
		i, empty = next, false
	}
	if i >= len(text) {
		return 0, &syntaxError{start, `bad glob: "[" is never closed; write "\[" for a bracket`}
	}
	if empty {
		return 0, &syntaxError{start, "bad glob: the class is empty"}
	}
	b.WriteByte(']')
	return i + 1, nil
}

// classRune reads one character of a class.
func classRune(text string, i int) (r rune, next int, err error) {
	if text[i] == '\\' {
		i++
		if i == len(text) {
			return 0, 0, &syntaxError{i - 1, `bad glob: "\" stands before nothing`}
		}
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	return r, i + size, nil
}

// Match reports whether the pattern matches the whole of s. It allocates
// nothing, and takes time in proportion to the length of s.
func (g Glob) Match(s string) bool {
	switch g.shape {
	case globLiteral:
		return s == g.head
	case globAffixes:
		return len(s) >= len(g.head)+len(g.tail) && strings.HasPrefix(s, g.head) && strings.HasSuffix(s, g.tail)
	case globContains:
		return strings.Contains(s, g.head)
	default:
		return g.expr.MatchString(s)
	}
}

// String returns the pattern as it was written.
func (g Glob) String() string { return g.text }

// Literal returns the only text that the glob matches; false if it is a
// pattern.
func (g Glob) Literal() (string, bool) { return g.head, g.shape == globLiteral }

// Globs is a list of which one must match. The empty list matches everything.
type Globs []Glob

// Match reports whether the list is empty or one of its globs matches s. It
// allocates nothing.
func (gs Globs) Match(s string) bool {
	for i := range gs {
		if gs[i].Match(s) {
			return true
		}
	}
	return len(gs) == 0
}
