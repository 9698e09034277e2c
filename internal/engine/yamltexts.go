// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func (s *yamlScanner) scalar(at int, text []rune, plain bool) {
	s.tokens = append(s.tokens, yamlToken{kind: yamlScalar, at: at, text: string(text), plain: plain})
}

// plain scans a scalar without quotes.
func (s *yamlScanner) plain() error {
	if err := s.maybeKey(); err != nil {
		return err
	}
	s.allowKey = false
	start, flow := s.at, s.flow() > 0
	var text, spaces []rune
	for s.peek(0) != '#' {
		n := 0
		for {
			r := s.peek(n)
			if yamlBlank(r) || flow && strings.ContainsRune(",?[]{}", r) {
				break
			}
			if r == ':' {
				after := s.peek(n + 1)
				if yamlBlank(after) || flow && strings.ContainsRune(",[]{}", after) {
					break
				}
			}
			n++
		}
		if n == 0 {
			break
		}
		s.allowKey = false
		text = append(append(text, spaces...), s.src[s.at:s.at+n]...)
		s.forward(n)
		spaces = s.plainSpaces()
		if len(spaces) == 0 || s.peek(0) == '#' || !flow && s.column <= s.indent {
			break
		}
	}
	if s.at == start {
		return s.fail("character that cannot start anything")
	}
	s.scalar(start, text, true)
	return nil
}

// plainSpaces goes past what may stand between two parts of a plain scalar, and
// returns what it stands for: nothing at the end of a document.
func (s *yamlScanner) plainSpaces() []rune {
	start := s.at
	s.spaces()
	if !yamlBreak(s.peek(0)) {
		return s.src[start:s.at]
	}
	first := s.lineBreak()
	s.allowKey = true
	var breaks []rune
	for {
		if s.marks("---") || s.marks("...") {
			return nil
		}
		for s.peek(0) == ' ' {
			s.forward(1)
		}
		if !yamlBreak(s.peek(0)) {
			return foldBreaks(first, breaks)
		}
		breaks = append(breaks, []rune(s.lineBreak())...)
	}
}

// foldBreaks joins two lines: a single line feed becomes a space.
func foldBreaks(first string, more []rune) []rune {
	switch {
	case first != "\n":
		return append([]rune(first), more...)
	case len(more) == 0:
		return []rune{' '}
	}
	return more
}

// quoted scans a scalar in single or double quotes.
func (s *yamlScanner) quoted(quote rune) error {
	if err := s.maybeKey(); err != nil {
		return err
	}
	s.allowKey = false
	start := s.at
	s.forward(1)
	var text []rune
	for {
		switch r := s.peek(0); {
		case r == quote && quote == '\'' && s.peek(1) == '\'':
			text = append(text, '\'')
			s.forward(2)
		case r == quote:
			s.forward(1)
			s.scalar(start, text, false)
			return nil
		case r == 0:
			return s.fail("quoted text without end")
		case r == '\\' && quote == '"':
			decoded, err := s.escape()
			if err != nil {
				return err
			}
			text = append(text, decoded...)
		case yamlBlank(r):
			n := 0
			for s.peek(n) == ' ' || s.peek(n) == '\t' {
				n++
			}
			if !yamlBreakOrEnd(s.peek(n)) {
				text = append(text, s.src[s.at:s.at+n]...)
				s.forward(n)
				continue
			}
			s.forward(n)
			first := s.lineBreak()
			if first == "" {
				return s.fail("quoted text without end")
			}
			more, err := s.quotedBreaks()
			if err != nil {
				return err
			}
			text = append(text, foldBreaks(first, more)...)
		default:
			text = append(text, r)
			s.forward(1)
		}
	}
}

// quotedBreaks goes past the line breaks and white space before the next
// character of a quoted text.
func (s *yamlScanner) quotedBreaks() (breaks []rune, err error) {
	for {
		if s.marks("---") || s.marks("...") {
			return nil, s.fail("document that ends within quoted text")
		}
		for s.peek(0) == ' ' || s.peek(0) == '\t' {
			s.forward(1)
		}
		if !yamlBreak(s.peek(0)) {
			return breaks, nil
		}
		breaks = append(breaks, []rune(s.lineBreak())...)
	}
}

// yamlEscapes are the escapes of one character.
var yamlEscapes = map[rune]rune{
	'0': 0, 'a': '\a', 'b': '\b', 't': '\t', '\t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r',
	'e': 0x1B, ' ': ' ', '"': '"', '\\': '\\', '/': '/', 'N': 0x85, '_': 0xA0, 'L': 0x2028, 'P': 0x2029,
}

// yamlEscapeDigits are the escapes by number.
var yamlEscapeDigits = map[rune]int{'x': 2, 'u': 4, 'U': 8}

// escape scans an escape in double quotes.
func (s *yamlScanner) escape() ([]rune, error) {
	s.forward(1)
	r := s.peek(0)
	if decoded, ok := yamlEscapes[r]; ok {
		s.forward(1)
		return []rune{decoded}, nil
	}
	if n, ok := yamlEscapeDigits[r]; ok {
		s.forward(1)
		v, ok := s.hex(n)
		switch {
		case !ok:
			return nil, s.fail("expected %d hexadecimal digits", n)
		case v > utf8.MaxRune:
			return nil, s.fail("escape beyond the last character")
		}
		s.forward(n)
		if utf16.IsSurrogate(rune(v)) { // two of them do not make a pair
			s.unpaired = true
			v = utf8.RuneError
		}
		return []rune{rune(v)}, nil
	}
	if !yamlBreak(r) {
		return nil, s.fail("unknown escape")
	}
	s.lineBreak()
	return s.quotedBreaks()
}

// block scans a literal or folded block scalar.
func (s *yamlScanner) block(folded bool) error {
	s.allowKey = true
	if err := s.dropKey(); err != nil {
		return err
	}
	start := s.at
	s.forward(1)
	chomp, indent, err := s.blockHeader()
	if err != nil {
		return err
	}
	least := max(s.indent+1, 1)
	var breaks []rune
	if indent == 0 {
		// The first line that is not blank says how far the text is indented, and
		// blank lines before it may be indented further.
		widest := 0
		for s.peek(0) == ' ' || yamlBreak(s.peek(0)) {
			if s.peek(0) != ' ' {
				breaks = append(breaks, []rune(s.lineBreak())...)
				continue
			}
			s.forward(1)
			widest = max(widest, s.column)
		}
		indent = max(least, widest)
	} else {
		indent += least - 1
		breaks = s.blockBreaks(indent)
	}
	var text []rune
	last := ""
	for s.column == indent && s.peek(0) != 0 {
		text = append(text, breaks...)
		spaced := s.peek(0) == ' ' || s.peek(0) == '\t'
		n := 0
		for !yamlBreakOrEnd(s.peek(n)) {
			n++
		}
		text = append(text, s.src[s.at:s.at+n]...)
		s.forward(n)
		last = s.lineBreak()
		breaks = s.blockBreaks(indent)
		if s.column != indent || s.peek(0) == 0 {
			break
		}
		if folded && last == "\n" && !spaced && s.peek(0) != ' ' && s.peek(0) != '\t' {
			if len(breaks) == 0 {
				text = append(text, ' ')
			}
		} else {
			text = append(text, []rune(last)...)
		}
	}
	if chomp != '-' {
		text = append(text, []rune(last)...)
	}
	if chomp == '+' {
		text = append(text, breaks...)
	}
	s.scalar(start, text, false)
	return nil
}

// blockHeader scans what may follow "|" and ">": "+" or "-", and a digit.
func (s *yamlScanner) blockHeader() (chomp rune, indent int, err error) {
	for range 2 {
		switch r := s.peek(0); {
		case (r == '+' || r == '-') && chomp == 0:
			chomp = r
			s.forward(1)
		case r == '0' && indent == 0:
			return 0, 0, s.fail("block indented by 0")
		case '1' <= r && r <= '9' && indent == 0:
			indent = int(r - '0')
			s.forward(1)
		}
	}
	if !yamlSpaced(s.peek(0)) {
		return 0, 0, s.fail("block with an odd header")
	}
	return chomp, indent, s.restOfLine("block's header")
}

// blockBreaks goes past blank lines and the indentation of the next line.
func (s *yamlScanner) blockBreaks(indent int) (breaks []rune) {
	for {
		for s.column < indent && s.peek(0) == ' ' {
			s.forward(1)
		}
		if !yamlBreak(s.peek(0)) {
			return breaks
		}
		breaks = append(breaks, []rune(s.lineBreak())...)
	}
}
