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

// appendCanonical appends a container of the tape. It keeps its own stack; the depth of
// a tape is bounded by MaxDepth.
func (t *tape) appendCanonical(dst []byte, n node) ([]byte, error) {
	var room [32]writing
	stack := room[:0]
	next, mark := 0, n.opener() // mark is what stands before the next part: an opener, a comma or a colon
container:
	for {
		children, keys, order := t.parts(n)
		for next < len(children) {
			i := next
			next++
			if order != nil {
				i = order[i].first()
			}
			child := children[i]
			text := t.extent(child)
			start, size := text.first(), text.second()
			if keys != nil {
				key := keys[i]
				if (child & key).has(flagExact) && child.has(flagBeside) {
					start -= key.second() + 1 // The source has the member as it is wanted.
					size += key.second() + 1
				} else {
					dst = t.appendString(dst, mark, key)
					mark = ':'
				}
			}
			switch {
			case child.has(flagExact):
				dst = appendPart(dst, mark, t.source, start, size)
			case child.container():
				dst = append(dst, mark)
				first, complete := 0, false
				mark = child.opener()
				if mark == '{' {
					dst, first, mark, complete = t.appendMembers(dst, child, 0, mark)
				}
				if !complete {
					stack = append(stack, writing{n, next})
					n, next = child, first
					continue container
				}
				dst = append(dst, '}')
			case child.kind() == StringKind:
				dst = t.appendString(dst, mark, child)
			default:
				var err error
				if dst, err = t.value(child).appendScalar(append(dst, mark)); err != nil {
					return dst, err
				}
			}
			mark = ','
			if order != nil {
				dst, next, mark, _ = t.appendMembers(dst, n, next, mark)
			}
		}
		if len(children) == 0 {
			dst = append(dst, mark)
		}
		dst = append(dst, n.opener()+2) // '}' and ']' stand two after '{' and '['
		if len(stack) == 0 {
			return dst, nil
		}
		around := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		n, next, mark = around.n, around.next, ','
	}
}

// appendMembers appends members of the object n from next on, as long as keys and values stand in the source as they are wanted and are short.
// It returns which member is next, its mark, and whether there is none.
//
// It could be left out. It is here because it calls nothing and so takes a fraction of
// what appendCanonical does. Keys that are in canonical order are left to that: of these
// objects most are copied whole.
func (t *tape) appendMembers(dst []byte, n node, next int, mark byte) (_ []byte, _ int, _ byte, complete bool) {
	source, shapes := t.source, t.shapes[n.second():]
	count := shapes[0].second()
	if shapes[0].has(flagSorted) {
		return dst, next, mark, false
	}
	keys, order, children := shapes[1:1+count], shapes[1+count:1+2*count], t.nodes[n.first():n.first()+count]
	for ; next < len(order); next++ {
		entry := order[next]
		child := children[entry.first()]
		text := t.extent(child)
		start, size := text.first(), text.second()
		at := len(dst)
		if !(entry & child).has(flagExact) || start > len(source)-64 || cap(dst)-at < 128 {
			return dst, next, mark, false
		}
		if child.has(flagBeside) {
			start -= entry.second() + 1
			if size += entry.second() + 1; size > 64 {
				return dst, next, mark, false
			}
		} else {
			key := keys[entry.first()].first()
			if size > 64 || entry.second() > 32 || key > len(source)-64 {
				return dst, next, mark, false
			}
			copyPart((*[65]byte)(dst[at:at+65]), mark, source, key, 32)
			mark = ':'
			at += 1 + entry.second()
		}
		copyPart((*[65]byte)(dst[at:at+65]), mark, source, start, size)
		dst = dst[:at+1+size]
		mark = ','
	}
	return dst, next, mark, true
}

// appendPart appends mark and source[start:start+size], which is mostly short.
func appendPart(dst []byte, mark byte, source string, start, size int) []byte {
	at := len(dst)
	if size > 64 || start > len(source)-64 || cap(dst)-at <= 64 {
		return append(append(dst, mark), source[start:start+size]...)
	}
	copyPart((*[65]byte)(dst[at:at+65]), mark, source, start, size)
	return dst[:at+1+size]
}

// copyPart copies mark and up to 64 bytes. It copies more than is needed, which is faster
// than being exact: the source must have 64 bytes from start on.
func copyPart(part *[65]byte, mark byte, source string, start, size int) {
	text := source[start : start+64] // is checked, since copy32 does not
	part[0] = mark
	copy32((*[32]byte)(part[1:]), text)
	if size > 32 {
		copy32((*[32]byte)(part[33:]), text[32:])
	}
}

// writing is a container that is being written, and which child is next.
type writing struct {
	n    node
	next int
}

// opener is what a container starts with.
func (n node) opener() byte {
	if n.kind() == ObjectKind {
		return '{'
	}
	return '['
}

// appendString appends mark and the canonical form of a string or key.
func (t *tape) appendString(dst []byte, mark byte, n node) []byte {
	if n.has(flagExact) {
		return appendPart(dst, mark, t.source, n.first(), n.second())
	}
	text := n.within(t.source)
	return append(appendEscaped(append(dst, mark, '"'), text[1:len(text)-1]), '"')
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
				return dst, errorf(CodeUnencodable, "an object with a key that is no string has no canonical form")
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
