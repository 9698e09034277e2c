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
			return v.tape.appendCanonical(dst, uint32(v.bits))
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
	const hexDigits = "0123456789abcdef"
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
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch {
		case c >= 0x20:
			dst = append(dst, '\\', c)
		case shortEscape[c] != 0:
			dst = append(dst, '\\', shortEscape[c])
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// appendCanonical appends the container at a node of the tape. It keeps its own
// stack; the depth of a tape is bounded by maxJSONDepth.
func (t *tape) appendCanonical(dst []byte, at uint32) ([]byte, error) {
	// A container that is being written: what is left of its children, as a part
	// of kids. There are no pointers, so nothing here is the garbage collector's.
	type frame struct {
		next, end uint32
		object    bool
	}
	var room [32]frame
	stack := room[:0]
	kids := t.kids
	for {
		// Append the value at.
		n := &t.nodes[at]
		switch {
		case n.flags&flagExact != 0 && n.kind != StringKind:
			dst = append(dst, t.source[n.off:n.end]...)
		case n.kind == StringKind:
			dst = t.appendText(dst, at)
		case n.kind == ArrayKind:
			dst = append(dst, '[')
			stack = append(stack, frame{next: n.first, end: n.first + n.count})
		case n.kind == ObjectKind:
			dst = append(dst, '{')
			first := n.first
			if n.flags&flagSorted == 0 {
				first += n.count
			}
			stack = append(stack, frame{next: first, end: first + n.count, object: true})
		default:
			var err error
			if dst, err = t.value(at).appendScalar(dst); err != nil {
				return dst, err
			}
		}
		// Find the next one, closing what has no more.
		for {
			if len(stack) == 0 {
				return dst, nil
			}
			f := &stack[len(stack)-1]
			if f.next == f.end {
				if f.object {
					dst = append(dst, '}')
				} else {
					dst = append(dst, ']')
				}
				stack = stack[:len(stack)-1]
				continue
			}
			if last := dst[len(dst)-1]; last != '[' && last != '{' {
				dst = append(dst, ',')
			}
			at = kids[f.next]
			f.next++
			if f.object {
				if start, end, ok := t.canonicalMember(at); ok {
					dst = append(dst, t.source[start:end]...)
					continue
				}
				dst = append(t.appendText(dst, at), ':')
				at++
			}
			break
		}
	}
}

// canonicalMember returns where the source has a key, its colon and its value in
// canonical form, if it does.
func (t *tape) canonicalMember(key uint32) (start, end uint32, ok bool) {
	k, v := &t.nodes[key], &t.nodes[key+1]
	start, end = v.off, v.end
	switch {
	case v.kind == StringKind:
		if v.flags&flagSide != 0 {
			return 0, 0, false
		}
		start, end = start-1, end+1 // the quotation marks
	case v.flags&flagExact == 0:
		return 0, 0, false
	}
	return k.off - 1, end, k.flags&flagSide == 0 && k.end+2 == start
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
