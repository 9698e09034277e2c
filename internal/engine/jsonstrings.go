// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"unicode/utf8"
)

// keyText is the text of a string node while side is still growing. The result
// is for comparing only.
func (s *scanner) keyText(at uint32) string {
	n := &s.nodes[at]
	if n.flags&flagSide != 0 {
		return string(s.side[n.off:n.end])
	}
	return s.text[n.off:n.end]
}

// str scans a string, and reports whether it is written canonically.
func (s *scanner) str() (exact bool, err error) {
	start := s.pos + 1
	i := s.clean(start)
	if i < len(s.text) && s.text[i] == '"' {
		s.nodes = append(s.nodes, node{kind: StringKind, off: uint32(start), end: uint32(i)})
		s.longest = max(s.longest, i-start)
		s.pos = i + 1
		return true, nil
	}
	return s.escaped(start, i)
}

// clean returns where, from i on, a string ends or has something that is not
// itself: a quotation mark, a backslash or a control character.
func (s *scanner) clean(i int) int {
	text := s.text
	for ; len(text)-i >= 8; i += 8 {
		w := word(text, i)
		if w&highBits != 0 {
			s.foreign = true
		}
		if m := special(w); m != 0 {
			return i + firstMark(m)
		}
	}
	for ; i < len(text); i++ {
		c := text[i]
		if c >= utf8.RuneSelf {
			s.foreign = true
		} else if c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// escaped scans a string that has escapes, of which text[start:i] has none.
func (s *scanner) escaped(start, i int) (exact bool, err error) {
	exact = true
	off, open := len(s.side), s.pos
	for {
		s.side = append(s.side, s.text[start:i]...)
		s.pos = i
		if i == len(s.text) {
			return false, s.fail("string without end")
		}
		switch c := s.text[i]; {
		case c == '"':
			n := node{kind: StringKind, flags: flagSide, off: uint32(off), end: uint32(len(s.side))}
			if exact {
				n.flags |= flagExact
				n.first, n.count = uint32(open), uint32(i+1)
			}
			s.nodes = append(s.nodes, n)
			s.longest = max(s.longest, len(s.side)-off)
			s.pos = i + 1
			return exact, nil
		case c < 0x20:
			return false, s.fail("control character in a string")
		}
		i++
		if i == len(s.text) {
			return false, s.fail("string without end")
		}
		c := s.text[i]
		i++
		switch c {
		case '"', '\\':
			s.side = append(s.side, c)
		case '/':
			s.side, exact = append(s.side, c), false
		case 'b':
			s.side = append(s.side, '\b')
		case 'f':
			s.side = append(s.side, '\f')
		case 'n':
			s.side = append(s.side, '\n')
		case 'r':
			s.side = append(s.side, '\r')
		case 't':
			s.side = append(s.side, '\t')
		case 'u':
			r, ok := hex4(s.text, i)
			if !ok {
				return false, s.fail("expected four hexadecimal digits")
			}
			canonical := r < 0x20 && shortEscape[r] == 0 && !strings.ContainsAny(s.text[i:i+4], "ABCDEF")
			i += 4
			if surrogate(r) {
				low, ok := rune(0), false
				if r < 0xDC00 && strings.HasPrefix(s.text[i:], `\u`) {
					low, ok = hex4(s.text, i+2)
				}
				if ok && low>>10 == 0xDC00>>10 {
					r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
					i += 6
				} else {
					r, s.unpaired = utf8.RuneError, true
				}
			}
			exact = exact && canonical
			s.side = utf8.AppendRune(s.side, r)
		default:
			return false, s.fail("unknown escape")
		}
		start = i
		i = s.clean(i)
	}
}

func surrogate(r rune) bool { return 0xD800 <= r && r <= 0xDFFF }

func hex4(text string, i int) (rune, bool) {
	if len(text)-i < 4 {
		return 0, false
	}
	var r rune
	for _, c := range []byte(text[i : i+4]) {
		switch {
		case isDigit(c):
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
