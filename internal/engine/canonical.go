// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

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
// error with CodeSchemaInvalid: a float that is not finite, a timestamp, a key
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
		if len(v.text) > maxIntDigits+1 || len(v.text) == maxIntDigits+1 && v.text[0] != '-' {
			return dst, errorf(CodeLimitExceeded, "integer of more than %d digits", maxIntDigits)
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
			return dst, errorf(CodeSchemaInvalid, "a text that is not UTF-8 has no canonical form")
		}
		return appendString(dst, v.text), nil
	}
	return dst, errorf(CodeSchemaInvalid, "a %s has no canonical form", v.kind)
}

// appendFloat appends the shortest decimal that reads back as f, with an
// exponent below 0.0001 and from 1e16 on.
func appendFloat(dst []byte, f float64) ([]byte, error) {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return dst, errorf(CodeSchemaInvalid, "a number that is not finite has no canonical form")
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

// appendString appends a UTF-8 text between quotation marks.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		if len(s)-i >= 8 {
			m := special(word(s, i))
			if m == 0 {
				i += 7
				continue
			}
			i += firstMark(m)
		}
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = appendEscape(append(dst, s[start:i]...), c)
		start = i + 1
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
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

// appendCanonical appends a container of the tape. It keeps its own stack; the depth of
// a tape is bounded by maxJSONDepth.
func (t *tape) appendCanonical(dst []byte, n node) ([]byte, error) {
	var room [32]writing
	stack := room[:0]
	source := bytesOf(t.source)
	w := t.writing(n)
	dst = append(dst, w.opener)
container:
	for {
		children := t.nodes[w.first:][:w.count]
		var keys, order []node
		if w.opener == '{' {
			keys, order = t.keys(w.shape)
		}
		for w.next < w.count {
			i := int(w.next)
			w.next++
			if i > 0 {
				dst = append(dst, ',')
			}
			if order != nil {
				i = int(order[i])
			}
			n = children[i]
			text := n
			if n.container() {
				text = t.nodes[n.first()-1]
			}
			start := text.first()
			end := start + text.second()
			if keys != nil {
				key := keys[i]
				if (n & key).has(flagExact) && n.has(flagBeside) {
					start -= key.second() + 1 // The source has the member as it is wanted.
				} else {
					dst = append(t.appendString(dst, key), ':')
				}
			}
			switch {
			case n.has(flagExact):
				if at := len(dst); end-start <= 32 && len(source)-start >= 32 && cap(dst)-at >= 32 {
					// Copying more than is needed is faster than being exact.
					*(*[32]byte)(dst[at : at+32]) = *(*[32]byte)(source[start:])
					dst = dst[:at+end-start]
				} else {
					dst = append(dst, source[start:end]...)
				}
			case n.container():
				stack = append(stack, w)
				w = t.writing(n)
				dst = append(dst, w.opener)
				continue container
			case n.kind() == StringKind:
				dst = t.appendString(dst, n)
			default:
				var err error
				if dst, err = t.value(n).appendScalar(dst); err != nil {
					return dst, err
				}
			}
		}
		dst = append(dst, w.opener+2) // '}' and ']' stand two after '{' and '['
		if len(stack) == 0 {
			return dst, nil
		}
		w = stack[len(stack)-1]
		stack = stack[:len(stack)-1]
	}
}

// writing is a container that is being written, and how far it is.
type writing struct {
	first, next, count, shape uint32
	opener                    byte
}

func (t *tape) writing(n node) writing {
	if n.kind() == ArrayKind {
		return writing{first: uint32(n.first()), count: uint32(n.second()), opener: '['}
	}
	shape := uint32(n.second())
	return writing{first: uint32(n.first()), count: uint32(t.shapes[shape].second()), shape: shape, opener: '{'}
}

// appendString appends the canonical form of a string or key.
func (t *tape) appendString(dst []byte, n node) []byte {
	text := n.within(t.source)
	if n.has(flagExact) {
		return append(dst, text...)
	}
	return append(appendEscaped(append(dst, '"'), text[1:len(text)-1]), '"')
}

// appendMade appends a container that was made of values.
func appendMade(dst []byte, v Value) ([]byte, error) {
	type frame struct {
		v    Value
		next int
	}
	opener := func(v Value) byte { // a closer stands two after its opener
		if v.kind == ObjectKind {
			return '{'
		}
		return '['
	}
	stack := []frame{{v: v}}
	dst = append(dst, opener(v))
	for len(stack) > 0 {
		f := &stack[len(stack)-1]
		c := f.v.made
		object := f.v.kind == ObjectKind
		if f.next == len(c.members) {
			dst = append(dst, opener(f.v)+2)
			stack = stack[:len(stack)-1]
			continue
		}
		if f.next > 0 {
			dst = append(dst, ',')
		}
		i := uint32(f.next)
		f.next++
		if object {
			i = c.sorted[i]
			if c.odd != nil && c.odd[i] {
				return dst, errorf(CodeSchemaInvalid, "an object with a key that is no string has no canonical form")
			}
			var err error
			if dst, err = String(c.members[i].Key).appendScalar(dst); err != nil {
				return dst, err
			}
			dst = append(dst, ':')
		}
		m := c.members[i].Value
		if m.made != nil {
			dst = append(dst, opener(m))
			stack = append(stack, frame{v: m})
			continue
		}
		var err error
		if dst, err = m.AppendCanonical(dst); err != nil {
			return dst, err
		}
	}
	return dst, nil
}
