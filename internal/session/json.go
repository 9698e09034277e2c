// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxValueDepth bounds how deep arrays and objects of a value may nest. The
// scanner recurses once per level; a payload that a program means something by
// nests a dozen levels, so a thousand refuses only attacks while the stack stays
// a few hundred kilobytes.
const maxValueDepth = 1000

// ParseValue reads one JSON value. Numbers stay exact, the last of two equal
// keys counts, and the value keeps nothing but its canonical form.
func ParseValue(json string) (Value, error) {
	s := valueScanner{text: json}
	v, err := s.value(0)
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

// A valueScanner reads JSON text. Its errors name an offset and what should
// stand there, and nothing of the text: it is what a tool returned.
type valueScanner struct {
	text string
	pos  int
}

// fail returns an error at the scanner's place.
func (s *valueScanner) fail(expected string) error {
	return fmt.Errorf("offset %d: expected %s", s.pos, expected)
}

// space skips white space.
func (s *valueScanner) space() {
	for s.pos < len(s.text) && isSpace(s.text[s.pos]) {
		s.pos++
	}
}

// end fails unless only white space is left.
func (s *valueScanner) end() error {
	s.space()
	if s.pos < len(s.text) {
		return s.fail("the end of the text")
	}
	return nil
}

// accept skips white space and then c, if it stands there.
func (s *valueScanner) accept(c byte) bool {
	s.space()
	if s.pos < len(s.text) && s.text[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

// value reads one value, with white space before it.
func (s *valueScanner) value(depth int) (Value, error) {
	s.space()
	if s.pos == len(s.text) {
		return Value{}, s.fail("a JSON value")
	}
	switch c := s.text[s.pos]; {
	case c == '"':
		text, err := s.str()
		return Value{stringKind, text}, err
	case c == '{':
		return s.objectValue(depth)
	case c == '[':
		return s.array(depth)
	case c == '-' || '0' <= c && c <= '9':
		end := scanNumber(s.text, s.pos)
		if end == 0 {
			return Value{}, s.fail("a JSON number")
		}
		text := s.text[s.pos:end]
		s.pos = end
		return Value{numberKind, canonicalNumber(text)}, nil
	}
	for _, word := range [...]Value{NullValue(), BoolValue(true), BoolValue(false)} {
		if strings.HasPrefix(s.text[s.pos:], word.text) {
			s.pos += len(word.text)
			return word, nil
		}
	}
	return Value{}, s.fail("a JSON value")
}

// str reads a string in double quotes.
func (s *valueScanner) str() (string, error) {
	text, end, fault := scanString(s.text, s.pos)
	if fault != "" {
		return "", s.fail("a well-formed JSON string")
	}
	s.pos = end
	return text, nil
}

// array reads an array.
func (s *valueScanner) array(depth int) (Value, error) {
	if depth == maxValueDepth {
		return Value{}, s.fail(fmt.Sprintf("at most %d nested arrays and objects", maxValueDepth))
	}
	s.pos++
	out := []byte{'['}
	for n := 0; !s.accept(']'); n++ {
		if n > 0 {
			if !s.accept(',') {
				return Value{}, s.fail("',' or ']'")
			}
			out = append(out, ',')
		}
		v, err := s.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		out = v.AppendJSON(out)
	}
	return Value{compositeKind, string(append(out, ']'))}, nil
}

// objectValue reads an object as a value.
func (s *valueScanner) objectValue(depth int) (Value, error) {
	type member struct {
		key   string
		value Value
	}
	var members []member
	if err := s.object(depth, func(key string, v Value) { members = append(members, member{key, v}) }); err != nil {
		return Value{}, err
	}
	// Stable, so that the last of equal keys stays last.
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	out := []byte{'{'}
	for i, m := range members {
		if i+1 < len(members) && members[i+1].key == m.key {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(appendQuoted(out, m.key), ':')
		out = m.value.AppendJSON(out)
	}
	return Value{compositeKind, string(append(out, '}'))}, nil
}

// object reads an object and gives its members, in the order of the text.
func (s *valueScanner) object(depth int, give func(key string, v Value)) error {
	if depth == maxValueDepth {
		return s.fail(fmt.Sprintf("at most %d nested arrays and objects", maxValueDepth))
	}
	s.pos++
	for n := 0; !s.accept('}'); n++ {
		if n > 0 && !s.accept(',') {
			return s.fail("',' or '}'")
		}
		s.space()
		if s.pos == len(s.text) || s.text[s.pos] != '"' {
			return s.fail("a key in double quotes")
		}
		key, err := s.str()
		if err != nil {
			return err
		}
		if !s.accept(':') {
			return s.fail("':'")
		}
		v, err := s.value(depth + 1)
		if err != nil {
			return err
		}
		give(key, v)
	}
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// scanString decodes the string that starts with the quote at text[pos], a
// double or a single one, and returns the offset behind its closing quote.
// Between single quotes \' is an escape as well. If the string is malformed, fault
// describes it and end is the offset of the wrong escape or character, or of the
// opening quote if nothing closes the string.
func scanString(text string, pos int) (s string, end int, fault string) {
	const unterminated = "a string without an end"
	open, quote := pos, text[pos]
	pos++
	start := pos
	for pos < len(text) && text[pos] != quote && text[pos] != '\\' && ' ' <= text[pos] && text[pos] < utf8.RuneSelf {
		pos++
	}
	if pos < len(text) && text[pos] == quote {
		return text[start:pos], pos + 1, "" // no escapes: the text itself
	}
	out := append([]byte(nil), text[start:pos]...)
	for pos < len(text) {
		switch c := text[pos]; {
		case c == quote:
			return string(out), pos + 1, ""
		case c < ' ':
			return "", pos, "a string with the unescaped control character " + strconv.QuoteRune(rune(c))
		case c == '\\':
			if pos+1 == len(text) {
				return "", open, unterminated
			}
			pos++
			switch e := text[pos]; {
			case e == '"' || e == '\\' || e == '/' || e == '\'' && quote == '\'':
				out = append(out, e)
			case e == 'u':
				r, n := scanHex(text, pos+1)
				if n == 0 {
					return "", pos - 1, `a string with \u and not four hexadecimal digits`
				}
				pos += n
				if utf16.IsSurrogate(r) && strings.HasPrefix(text[pos+1:], `\u`) {
					if low, m := scanHex(text, pos+3); m > 0 && utf16.DecodeRune(r, low) != utf8.RuneError {
						r = utf16.DecodeRune(r, low)
						pos += 2 + m
					}
				}
				if utf16.IsSurrogate(r) {
					out = appendSurrogate(out, r)
				} else {
					out = utf8.AppendRune(out, r)
				}
			default:
				i := strings.IndexByte("bfnrt", e)
				if i < 0 {
					r, _ := utf8.DecodeRuneInString(text[pos:])
					return "", pos - 1, fmt.Sprintf(`a string with the unknown escape \%c`, shown(r))
				}
				out = append(out, "\b\f\n\r\t"[i])
			}
			pos++
		case c < utf8.RuneSelf:
			out = append(out, c)
			pos++
		default:
			r, size := utf8.DecodeRuneInString(text[pos:])
			if r == utf8.RuneError && size == 1 {
				return "", pos, fmt.Sprintf("a string with the byte 0x%02X, which is not UTF-8", c)
			}
			out = append(out, text[pos:pos+size]...)
			pos += size
		}
	}
	return "", open, unterminated
}

// scanHex reads four hexadecimal digits. It returns 0 digits if they are not
// there.
func scanHex(text string, pos int) (r rune, n int) {
	if pos+4 > len(text) {
		return 0, 0
	}
	v, err := strconv.ParseUint(text[pos:pos+4], 16, 32)
	if err != nil {
		return 0, 0
	}
	return rune(v), 4
}

// scanNumber returns the offset behind the longest JSON number at text[pos], 0
// if there is none.
func scanNumber(text string, pos int) int {
	digits := func(i int) int {
		for i < len(text) && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		return i
	}
	i := pos
	if i < len(text) && text[i] == '-' {
		i++
	}
	first := i
	if i = digits(i); i == first {
		return 0
	}
	if text[first] == '0' {
		i = first + 1
	}
	if i < len(text) && text[i] == '.' {
		if j := digits(i + 1); j > i+1 {
			i = j
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		j := i + 1
		if j < len(text) && (text[j] == '+' || text[j] == '-') {
			j++
		}
		if k := digits(j); k > j {
			i = k
		}
	}
	return i
}

// A number is written with an exponent where it would else end in more than
// maxTrailingZeros zeros or begin with more than maxLeadingZeros behind the
// point, so that 1e999999 stays short.
const (
	maxTrailingZeros = 20
	maxLeadingZeros  = 5
)

// canonicalNumber returns the one spelling of a JSON number's value. It returns
// its argument itself where that is canonical, which most numbers are.
func canonicalNumber(text string) string {
	if isCanonicalNumber(text) {
		return text
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	significant := strings.TrimRight(digits, "0")
	// The value is significant × 10^shift.
	shift := big.NewInt(int64(len(digits) - len(significant) - len(fraction)))
	if exponent != "" {
		e, _ := new(big.Int).SetString(strings.TrimPrefix(exponent, "+"), 10)
		shift.Add(shift, e)
	}
	var out strings.Builder
	if negative {
		out.WriteByte('-')
	}
	n := len(significant)
	switch point := new(big.Int).Add(shift, big.NewInt(int64(n))); {
	case shift.Sign() >= 0 && shift.Cmp(big.NewInt(maxTrailingZeros)) <= 0:
		out.WriteString(significant)
		out.WriteString(strings.Repeat("0", int(shift.Int64())))
	case shift.Sign() < 0 && point.Sign() > 0:
		i := int(point.Int64())
		out.WriteString(significant[:i] + "." + significant[i:])
	case shift.Sign() < 0 && point.Cmp(big.NewInt(-maxLeadingZeros)) >= 0:
		out.WriteString("0." + strings.Repeat("0", int(-point.Int64())) + significant)
	default:
		out.WriteString(significant[:1])
		if n > 1 {
			out.WriteString("." + significant[1:])
		}
		out.WriteString("e" + point.Sub(point, big.NewInt(1)).String())
	}
	return out.String()
}

// isCanonicalNumber recognises the common canonical numbers: integers of up to
// 18 digits, and decimals without an exponent and a needless zero.
func isCanonicalNumber(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	whole, fraction, decimal := strings.Cut(digits, ".")
	for _, part := range [...]string{whole, fraction} {
		for i := 0; i < len(part); i++ {
			if part[i] < '0' || part[i] > '9' {
				return false
			}
		}
	}
	if decimal {
		small := whole == "0" && len(fraction)-len(strings.TrimLeft(fraction, "0")) > maxLeadingZeros
		return fraction[len(fraction)-1] != '0' && !small
	}
	return len(whole) <= 18 && (whole[0] != '0' || len(digits) == len(text))
}
