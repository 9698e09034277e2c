// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str scans the string at i and returns where it ends. The node has flagEscaped if it
// has escapes and flagExact if it is written canonically.
func (s *scanner) str(start int) (n node, end int, err *Error) {
	text, seen, flags := s.text, s.seen, flagExact
	for i := start + 1; ; {
		for len(text)-i >= 8 {
			w := word(text, i)
			seen |= w
			m := special(w)
			if m != 0 {
				i += firstMark(m)
				break
			}
			i += 8
		}
		if i >= len(text) {
			return 0, 0, fail(len(text), "string without end")
		}
		switch c := text[i]; {
		case c == '"':
			s.seen = seen
			return makeNode(StringKind, flags, start, i+1-start), i + 1, nil
		case c == '\\':
			size, exact := s.escape(i)
			if size == 0 {
				return 0, 0, escapeError(text, i)
			}
			flags = flags&exact&flagExact | flagEscaped
			i += size
		case c < 0x20:
			return 0, 0, fail(i, "control character in a string")
		default:
			seen |= uint64(c)
			i++
		}
	}
}

// Strings are looked through eight bytes at a time. Each of these functions
// works on the bytes of a word side by side and marks a byte by its highest bit.

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// word returns the eight bytes of s from i on; the first one is the lowest.
func word(s string, i int) uint64 {
	s = s[i : i+8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// special is not zero if a byte of w is a quotation mark, a backslash or a
// control character: something that a JSON string cannot hold as it is.
func special(w uint64) uint64 {
	// x-0x21 borrows into the highest bit of a byte that is below 0x21, which after
	// changing one bit a quotation mark is, too, and a space is not; x-1 borrows into
	// that of a zero. ^w and ^b keep bytes out that had the bit anyway.
	const twos, backslashes = 2 * lowBits, '\\' * lowBits
	b := w ^ backslashes
	return (((w^twos)-0x21*lowBits)&^w | (b-lowBits)&^b) & highBits
}

// firstMark is which byte is marked first. Only marks above the first may be
// wrong, by a borrow.
func firstMark(m uint64) int { return bits.TrailingZeros64(m) / 8 }

// plainEscape holds, of the letter of an escape of two characters, flagExact if
// it is canonical, flagEscaped if not; and else 0.
var plainEscape = [256]node{
	'"': flagExact, '\\': flagExact, 'b': flagExact, 'f': flagExact, 'n': flagExact, 'r': flagExact, 't': flagExact,
	'/': flagEscaped,
}

// escape scans the escape at i. It returns its size, which is 0 if it is none,
// and flagExact if it is canonical.
func (s *scanner) escape(i int) (size int, exact node) {
	text := s.text
	if len(text)-i < 2 {
		return 0, 0
	}
	if p := plainEscape[text[i+1]]; p != 0 {
		return 2, p
	}
	if text[i+1] != 'u' {
		return 0, 0
	}
	r, ok := hex4(text, i+2)
	switch {
	case !ok:
		return 0, 0
	case surrogate(r):
		if _, ok := pairedWith(text[i+6:]); ok && r < 0xDC00 {
			return 12, 0
		}
		s.unpaired = true
	case r < 0x20 && shortEscape[r] == 0 && (isDigit(text[i+5]) || text[i+5] >= 'a'):
		return 6, flagExact
	}
	return 6, 0
}

// escapeError is what is wrong with the escape at i.
func escapeError(text string, i int) *Error {
	switch {
	case i+1 == len(text):
		return fail(i, "string without end")
	case text[i+1] == 'u':
		return fail(i, "expected four hexadecimal digits")
	}
	return fail(i, "unknown escape")
}

// unescape decodes the escapes of a string that was scanned.
func unescape(raw string) string {
	var b strings.Builder
	b.Grow(len(raw))
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 {
			b.WriteString(raw)
			return b.String()
		}
		b.WriteString(raw[:i])
		r, size := decodeEscape(raw[i:])
		b.WriteRune(r)
		raw = raw[i+size:]
	}
}

// appendEscaped appends the canonical form of a string that was scanned, without its
// quotation marks.
func appendEscaped(dst []byte, raw string) []byte {
	for {
		i := strings.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		r, size := decodeEscape(raw[i:])
		if r < 0x20 || r == '"' || r == '\\' {
			dst = appendEscape(dst, byte(r))
		} else {
			dst = utf8.AppendRune(dst, r)
		}
		raw = raw[i+size:]
	}
}

// decodeEscape decodes the escape that a string which was scanned starts with.
func decodeEscape(s string) (r rune, size int) {
	switch c := s[1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r, _ := hex4(s, 2)
		if !surrogate(r) {
			return r, 6
		}
		if low, ok := pairedWith(s[6:]); ok && r < 0xDC00 {
			return utf16.DecodeRune(r, low), 12
		}
		return utf8.RuneError, 6 // only until the text is refused for it
	default: // '"', '\\' and '/'
		return rune(c), 2
	}
}

// pairedWith reads the second half of a surrogate pair.
func pairedWith(s string) (low rune, ok bool) {
	if !strings.HasPrefix(s, `\u`) {
		return 0, false
	}
	low, ok = hex4(s, 2)
	return low, ok && 0xDC00 <= low && low <= 0xDFFF
}

func surrogate(r rune) bool { return 0xD800 <= r && r <= 0xDFFF }

// hexValue holds the values of hexadecimal digits, and for other bytes a bit that
// no value of four digits has.
var hexValue = func() (t [256]uint32) {
	for c := range t {
		switch c := byte(c); {
		case isDigit(c):
			t[c] = uint32(c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			t[c] = uint32(c|0x20-'a') + 10
		default:
			t[c] = 1 << 16
		}
	}
	return t
}()

// hex4 reads four hexadecimal digits at i.
func hex4(text string, i int) (rune, bool) {
	if len(text)-i < 4 {
		return 0, false
	}
	d := text[i : i+4]
	v := hexValue[d[0]]<<12 | hexValue[d[1]]<<8 | hexValue[d[2]]<<4 | hexValue[d[3]]
	return rune(v & 0xFFFF), v <= 0xFFFF
}
