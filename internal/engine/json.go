// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Caps on a JSON text that stands inside a result. They are no published limits
// but what keeps one result from taking a collector's memory: a node costs up to
// 24 bytes for two bytes of text.
const (
	maxJSONBytes = 16 << 20
	maxJSONDepth = 960
)

// maxIntDigits is the published limit on the digits of an integer.
const maxIntDigits = 4300

// ParseJSON reads JSON text that stands inside a result.
//
// Beyond RFC 8259 it reads NaN, Infinity and -Infinity, and floats that
// overflow: they are values that cannot be hashed. Of equal keys the last wins.
// Errors are CodeParseFailed; CodeLimitExceeded for a text above 16 MiB, deeper
// than 960 levels or with an integer of more than 4,300 digits; and
// CodeSchemaInvalid for an escape that is half of a surrogate pair, which no
// UTF-8 text can hold.
func ParseJSON(text string) (Value, error) {
	if len(text) > maxJSONBytes {
		return Value{}, errorf(CodeLimitExceeded, "JSON text of more than %d bytes", maxJSONBytes)
	}
	v, _, err := scanJSON(text)
	return v, err
}

// invalidText tells a text that is no UTF-8 from one that only encodes
// surrogates: those can be read but stand for no character.
func invalidText(text string) *Error {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size <= 1 {
			if !(len(text)-i >= 3 && text[i] == 0xED && text[i+1]&0xE0 == 0xA0 && text[i+2]&0xC0 == 0x80) {
				return parseErrorf(i, "text is not UTF-8")
			}
			size = 3
		}
		i += size
	}
	return errLoneSurrogate
}

var errLoneSurrogate = errorf(CodeSchemaInvalid, "text holds half of a surrogate pair, which cannot be encoded")

// extent is how large a parsed text is, counting members that a later equal key
// replaced; so it is an upper bound of what the limits are about.
type extent struct {
	depth, nodes, longest int
}

// scanJSON parses a text.
func scanJSON(text string) (Value, extent, error) {
	s := scanners.Get().(*scanner)
	defer s.release()
	s.text = text
	err := s.scan()
	if s.foreign && !utf8.ValidString(text) {
		return Value{}, extent{}, invalidText(text)
	}
	if err != nil {
		return Value{}, extent{}, err
	}
	size := extent{depth: max(s.depth, 1), nodes: len(s.nodes), longest: s.longest}
	if root := &s.nodes[0]; root.kind < StringKind {
		// No tape is needed for what a Value carries itself.
		t := tape{source: text, nodes: s.nodes}
		return t.value(0), size, nil
	}
	t := &tape{
		source: text,
		side:   string(s.side),
		nodes:  slices.Clone(s.nodes),
		kids:   slices.Clone(s.kids),
	}
	return t.value(0), size, nil
}

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// scanner turns a text into a tape. It keeps its own stack, so no text can
// exhaust the goroutine's.
type scanner struct {
	text     string
	pos      int
	side     []byte
	nodes    []node
	kids     []uint32
	open     []frame  // the containers around pos
	pending  []uint32 // their children so far, container by container
	shape    shape
	depth    int  // the deepest value
	longest  int  // bytes of the longest string
	unpaired bool // an escape was half of a surrogate pair
	foreign  bool // a string has more than ASCII, so it may not be UTF-8
}

// frame is a container that is being scanned.
type frame struct {
	node   uint32
	base   uint32 // where its children start in pending
	start  uint32 // where its text starts
	object bool
	exact  bool // the text so far is canonical
}

// keep bounds what an idle scanner may hold on to.
const keep = 1 << 14

func (s *scanner) release() {
	if cap(s.nodes) > keep || cap(s.side) > 16*keep || cap(s.kids) > keep {
		return
	}
	s.text, s.pos, s.depth, s.longest, s.unpaired, s.foreign = "", 0, 0, 0, false, false
	s.side, s.nodes, s.kids = s.side[:0], s.nodes[:0], s.kids[:0]
	s.open, s.pending, s.shape.order = s.open[:0], s.pending[:0], s.shape.order[:0]
	scanners.Put(s)
}

func (s *scanner) fail(what string) *Error {
	return parseErrorf(s.pos, "JSON: %s", what)
}

// space skips white space and reports whether there was any.
func (s *scanner) space() bool {
	return s.pos < len(s.text) && s.text[s.pos] <= ' ' && s.skip()
}

func (s *scanner) skip() bool {
	start := s.pos
	for s.pos < len(s.text) {
		switch s.text[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
			continue
		}
		break
	}
	return s.pos > start
}

func (s *scanner) scan() error {
	exact := !s.space()
	for {
		// A value starts here.
		closed, err := s.value()
		if err != nil {
			return err
		}
		// After a value: its container goes on or ends, and so may its container's container.
		for closed {
			if len(s.open) == 0 {
				if s.space() || !exact {
					s.nodes[0].flags &^= flagExact
				}
				if s.pos != len(s.text) {
					return s.fail("more text after the value")
				}
				if s.unpaired {
					return errLoneSurrogate
				}
				return nil
			}
			f := &s.open[len(s.open)-1]
			if s.space() {
				f.exact = false
			}
			if s.pos == len(s.text) {
				return s.fail("unexpected end")
			}
			switch c := s.text[s.pos]; {
			case c == ',':
				s.pos++
				if s.space() {
					f.exact = false
				}
				closed = false
				if f.object {
					if err := s.key(f); err != nil {
						return err
					}
				}
			case c == '}' && f.object, c == ']' && !f.object:
				s.pos++
				s.close(f)
			case f.object:
				return s.fail("expected ',' or '}'")
			default:
				return s.fail("expected ',' or ']'")
			}
		}
	}
}

// value scans a scalar or the start of a container. It reports whether the value
// is closed: whether a scalar, or a container that is empty.
func (s *scanner) value() (closed bool, err error) {
	if s.pos == len(s.text) {
		return false, s.fail("unexpected end")
	}
	at := uint32(len(s.nodes))
	if n := len(s.open); n > 0 && !s.open[n-1].object {
		s.pending = append(s.pending, at)
	}
	switch c := s.text[s.pos]; c {
	case '"':
		exact, err := s.str()
		if !exact {
			s.inexact()
		}
		return true, err
	case '{', '[':
		if len(s.open) == maxJSONDepth {
			return false, errorf(CodeLimitExceeded, "JSON nested more than %d levels deep", maxJSONDepth)
		}
		kind := ArrayKind
		if c == '{' {
			kind = ObjectKind
		}
		s.nodes = append(s.nodes, node{kind: kind})
		s.open = append(s.open, frame{
			node: at, base: uint32(len(s.pending)), start: uint32(s.pos),
			object: c == '{', exact: true,
		})
		s.pos++
		f := &s.open[len(s.open)-1]
		if s.space() {
			f.exact = false
		}
		if s.pos < len(s.text) && s.text[s.pos] == c+2 { // '}' and ']' stand two after '{' and '['
			s.pos++
			s.close(f)
			return true, nil
		}
		s.depth = max(s.depth, len(s.open)+1)
		if f.object {
			return false, s.key(f)
		}
		return false, nil
	case 'n':
		return true, s.literal("null", node{kind: NullKind, flags: flagExact})
	case 't':
		return true, s.literal("true", node{kind: BoolKind, flags: flagExact | flagTrue})
	case 'f':
		return true, s.literal("false", node{kind: BoolKind, flags: flagExact})
	case 'N':
		return true, s.literal("NaN", node{kind: FloatKind})
	case 'I':
		return true, s.literal("Infinity", node{kind: FloatKind})
	case '-':
		if strings.HasPrefix(s.text[s.pos:], "-I") {
			return true, s.literal("-Infinity", node{kind: FloatKind})
		}
		return true, s.number()
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return true, s.number()
	}
	return false, s.fail("expected a value")
}

func (s *scanner) literal(word string, n node) error {
	if !strings.HasPrefix(s.text[s.pos:], word) {
		return s.fail("expected a value")
	}
	n.off, n.end = uint32(s.pos), uint32(s.pos+len(word))
	s.pos += len(word)
	s.nodes = append(s.nodes, n)
	if n.kind == FloatKind && len(s.open) > 0 { // not finite
		s.open[len(s.open)-1].exact = false
	}
	return nil
}

// key scans a key and the colon after it.
func (s *scanner) key(f *frame) error {
	if s.pos == len(s.text) || s.text[s.pos] != '"' {
		return s.fail("expected a key")
	}
	s.pending = append(s.pending, uint32(len(s.nodes)))
	exact, err := s.str()
	if err != nil {
		return err
	}
	if !exact {
		f.exact = false
	}
	if i := s.pos; len(s.text)-i >= 2 && s.text[i] == ':' && s.text[i+1] > ' ' { // mostly
		s.pos++
		return nil
	}
	spaced := s.space()
	if s.pos == len(s.text) || s.text[s.pos] != ':' {
		return s.fail("expected ':'")
	}
	s.pos++
	if s.space() || spaced {
		f.exact = false
	}
	return nil
}

// number scans -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?
func (s *scanner) number() error {
	start := s.pos
	i := start
	if s.text[i] == '-' {
		i++
	}
	first := i
	i = digits(s.text, i)
	switch {
	case i == first:
		return s.fail("expected a digit")
	case s.text[first] == '0' && i > first+1:
		s.pos = first + 1
		return s.fail("a number must not start with 0")
	}
	whole := i
	if i+1 < len(s.text) && s.text[i] == '.' && isDigit(s.text[i+1]) {
		i = digits(s.text, i+1)
	}
	frac := i
	if i < len(s.text) && s.text[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s.text) && (s.text[j] == '+' || s.text[j] == '-') {
			j++
		}
		if k := digits(s.text, j); k > j {
			i = k
		}
	}
	n := node{kind: IntKind, off: uint32(start), end: uint32(i), flags: flagExact}
	switch {
	case i == whole:
		if i-first > maxIntDigits {
			return errorf(CodeLimitExceeded, "integer of more than %d digits", maxIntDigits)
		}
		if s.text[first] == '0' && first > start { // -0 is the integer 0
			n.off = uint32(first)
			s.inexact()
		}
	default:
		n.kind = FloatKind
		if i != frac || !plainDecimal(s.text[first:i], whole-first) {
			n.flags = 0
			s.inexact()
		}
	}
	s.pos = i
	s.nodes = append(s.nodes, n)
	return nil
}

// inexact notes that the container around pos is not written canonically.
func (s *scanner) inexact() {
	if len(s.open) > 0 {
		s.open[len(s.open)-1].exact = false
	}
}

// plainDecimal reports whether a decimal without sign and exponent is certainly
// written as its canonical form is: with so few digits that they are the
// shortest, none of them superfluous, and large enough for no exponent.
func plainDecimal(text string, point int) bool {
	if len(text) > 16 || text == "0.0" { // 15 digits and the point; -0.0 is 0.0
		return false
	}
	if text[len(text)-1] == '0' && len(text) > point+2 {
		return false
	}
	// From 0.0001 on no exponent is used.
	return text[0] != '0' || !strings.HasPrefix(text, "0.0000")
}

func digits(text string, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c-'0' <= 9 }
