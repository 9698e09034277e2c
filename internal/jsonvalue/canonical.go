// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// The canonical form of a value is what hashes are taken of: JSON in UTF-8 with
// an object's keys in code point order, no white space, the shortest escapes,
// integers as they are and floats in their shortest form that reads back as the
// same float.

// AppendCanonical appends the canonical form of v. A value that has none is an
// error with CodeUnencodable: a float that is not finite, a timestamp, a key
// that is no string, a text that is not UTF-8; an integer of more than 4,300
// digits is one with CodeLimitExceeded.
func (v Value) AppendCanonical(dst []byte) ([]byte, error) {
	switch v.kind {
	case ArrayKind, ObjectKind:
		if v.exact {
			return append(dst, v.text...), nil
		}
		if v.tape != nil {
			return v.tape.appendCanonical(dst, node(v.bits))
		}
		return appendMade(dst, v)
	}
	return v.appendScalar(dst)
}

func (v Value) appendScalar(dst []byte) ([]byte, error) {
	switch v.kind {
	case NullKind:
		return append(dst, "null"...), nil
	case BoolKind:
		if v.bits != 0 {
			return append(dst, "true"...), nil
		}
		return append(dst, "false"...), nil
	case IntKind:
		if v.text == "" {
			return strconv.AppendInt(dst, int64(v.bits), 10), nil
		}
		if len(v.text) > MaxIntDigits+1 || len(v.text) == MaxIntDigits+1 && v.text[0] != '-' {
			return dst, errorf(CodeLimitExceeded, "integer of more than %d digits", MaxIntDigits)
		}
		return append(dst, v.text...), nil
	case FloatKind:
		if v.exact {
			return append(dst, v.text...), nil
		}
		f, _ := v.Float64()
		return appendFloat(dst, f)
	case StringKind:
		if v.escaped {
			dst = append(dst, '"')
			if v.exact {
				dst = append(dst, v.text...)
			} else {
				dst = appendEscaped(dst, v.text)
			}
			return append(dst, '"'), nil
		}
		if !utf8.ValidString(v.text) {
			return dst, errorf(CodeUnencodable, "a text that is not UTF-8 has no canonical form")
		}
		return AppendString(dst, v.text), nil
	}
	return dst, errorf(CodeUnencodable, "a %s has no canonical form", v.kind)
}

// appendFloat appends the shortest decimal that reads back as f, with an
// exponent below 0.0001 and from 1e16 on.
func appendFloat(dst []byte, f float64) ([]byte, error) {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return dst, errorf(CodeUnencodable, "a number that is not finite has no canonical form")
	case f == 0: // negative zero too
		return append(dst, "0.0"...), nil
	}
	if a := math.Abs(f); a < 1e-4 || a >= 1e16 {
		return strconv.AppendFloat(dst, f, 'e', -1, 64), nil
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
	for _, c := range dst[start:] {
		if c == '.' {
			return dst, nil
		}
	}
	return append(dst, '.', '0'), nil
}

// shortEscape holds the letter of the escapes \b \t \n \f \r.
var shortEscape = [0x20]byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

// AppendString appends the canonical form of a string, which must be UTF-8.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		plain := plainBytes(s)
		dst = append(dst, s[:plain]...)
		if plain == len(s) {
			return append(dst, '"')
		}
		dst = appendEscape(dst, s[plain])
		s = s[plain+1:]
	}
}

// plainBytes is how many of the first bytes of s can stand for themselves in a JSON string.
func plainBytes(s string) int {
	i := 0
	for ; len(s)-i >= 8; i += 8 {
		if m := special(word(s, i)); m != 0 {
			return i + firstMark(m)
		}
	}
	if i < len(s) && len(s) >= 8 {
		if special(word(s, len(s)-8)) == 0 {
			return len(s)
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' {
			break
		}
	}
	return i
}

// appendEscape appends a character that cannot stand for itself.
func appendEscape(dst []byte, c byte) []byte {
	const hexDigits = "0123456789abcdef"
	switch {
	case c >= 0x20:
		return append(dst, '\\', c)
	case shortEscape[c] != 0:
		return append(dst, '\\', shortEscape[c])
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// appendCanonical appends a value of the tape. MaxDepth bounds the recursion.
func (t *tape) appendCanonical(dst []byte, n node) (_ []byte, err error) {
	switch {
	case n.has(flagExact):
		return append(dst, t.extent(n).within(t.source)...), nil
	case !n.container():
		return t.value(n).appendScalar(dst)
	}
	object := n.kind() == ObjectKind
	var order []node
	opener, closer := byte('['), byte(']')
	if object {
		order, opener, closer = t.order(n), '{', '}'
	}
	dst = append(dst, opener)
	for i := range n.second() {
		if i > 0 {
			dst = append(dst, ',')
		}
		at := i
		if order != nil {
			at = int(order[i])
		}
		child := t.index(n, at)
		if object {
			key := t.key(n, at)
			if text := t.extent(child); (key & child).has(flagExact) && text.first() == key.first()+key.second()+1 {
				// The source has the member as it is wanted: nothing but a colon is between.
				dst = append(dst, t.source[key.first():text.first()+text.second()]...)
				continue
			}
			if dst, err = t.appendCanonical(dst, key); err != nil {
				return dst, err
			}
			dst = append(dst, ':')
		}
		if dst, err = t.appendCanonical(dst, child); err != nil {
			return dst, err
		}
	}
	return append(dst, closer), nil
}

// appendMade appends a container that was made of values.
func appendMade(dst []byte, v Value) (_ []byte, err error) {
	c, opener, closer := v.made, byte('['), byte(']')
	if v.kind == ObjectKind {
		opener, closer = '{', '}'
	}
	dst = append(dst, opener)
	for i := range c.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		at := i
		if v.kind == ObjectKind {
			at = int(c.sorted[i])
			if c.odd != nil && c.odd[at] {
				return dst, errorf(CodeUnencodable, "an object with a key that is no string has no canonical form")
			}
			if dst, err = String(c.members[at].Key).appendScalar(dst); err != nil {
				return dst, err
			}
			dst = append(dst, ':')
		}
		if dst, err = c.members[at].Value.AppendCanonical(dst); err != nil {
			return dst, err
		}
	}
	return append(dst, closer), nil
}
