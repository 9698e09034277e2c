// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str scans the string at i. It returns where it ends, with flagEscaped if it has
// escapes and flagExact if it is written canonically. The end is -1 if the string is
// none; strError then says why.
func (s *scanner) str(i int) (end int, flags node) {
	text := s.text
	seen := s.seen
	flags = flagExact
	for i++; len(text)-i >= 8; {
		w := word(text, i)
		seen |= w
		m := special(w)
		if m == 0 {
			i += 8
			continue
		}
		first := firstMark(m)
		i += first
		switch byte(w >> (8 * first)) {
		case '"':
			s.seen = seen
			return i + 1, flags
		case '\\':
			if len(text)-i >= 2 {
				if exact := plainEscape[text[i+1]]; exact != 0 { // mostly
					flags = flags&exact | flagEscaped
					i += 2
					continue
				}
			}
			size, exact := s.escape(i)
			if size == 0 {
				return -1, 0
			}
			flags = flags&exact | flagEscaped
			i += size
		default:
			return -1, 0
		}
	}
	s.seen = seen
	return s.stringEnd(i, flags)
}

// stringEnd scans a string where the text is about to end.
func (s *scanner) stringEnd(i int, flags node) (end int, _ node) {
	text := s.text
	for i < len(text) {
		c := text[i]
		s.seen |= uint64(c)
		switch {
		case c == '"':
			return i + 1, flags
		case c < 0x20:
			return -1, 0
		case c != '\\':
			i++
			continue
		}
		size, exact := s.escape(i)
		if size == 0 {
			return -1, 0
		}
		flags = flags&exact | flagEscaped
		i += size
	}
	return -1, 0
}

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

// strError says what is wrong with the string at i, which str could not scan.
func (s *scanner) strError(i int) *Error {
	text := s.text
	for i++; i < len(text); {
		switch c := text[i]; {
		case c < 0x20:
			return fail(i, "control character in a string")
		case c != '\\':
			i++
			continue
		}
		size, _ := s.escape(i)
		switch {
		case size > 0:
			i += size
			continue
		case i+1 == len(text):
			return fail(i, "string without end")
		case text[i+1] == 'u':
			return fail(i, "expected four hexadecimal digits")
		}
		return fail(i, "unknown escape")
	}
	return fail(i, "string without end")
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

// appendEscaped appends the canonical form of a string that was scanned, without
// its quotation marks. An escape's canonical form is never longer than itself.
func appendEscaped(dst []byte, raw string) []byte {
	end := len(dst)
	dst = slices.Grow(dst, len(raw)+8)
	dst = dst[:cap(dst)]
	for i := 0; i < len(raw); {
		if len(raw)-i >= 8 {
			w := word(raw, i)
			binary.LittleEndian.PutUint64(dst[end:], w)
			n := firstByte(w, '\\')
			i += n
			end += n
			if n == 8 {
				continue
			}
		}
		c := raw[i]
		if c != '\\' {
			dst[end] = c
			i++
			end++
			continue
		}
		r, size := decodeEscape(raw[i:])
		i += size
		switch {
		case r < 0x20 || r == '"' || r == '\\':
			end = len(appendEscape(dst[:end], byte(r)))
		case r < utf8.RuneSelf:
			dst[end] = byte(r)
			end++
		default:
			end += utf8.EncodeRune(dst[end:], r)
		}
	}
	return dst[:end]
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
