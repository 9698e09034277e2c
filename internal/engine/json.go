// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
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
	size := extent{depth: s.depth, nodes: len(s.nodes), longest: s.longest}
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
	if d := len(s.open) + 1; d > s.depth {
		s.depth = d
	}
	at := uint32(len(s.nodes))
	if n := len(s.open); n > 0 && !s.open[n-1].object {
		s.pending = append(s.pending, at)
	}
	switch c := s.text[s.pos]; c {
	case '"':
		s.nodes = append(s.nodes, node{kind: StringKind})
		exact, err := s.str(at)
		if !exact && len(s.open) > 0 {
			s.open[len(s.open)-1].exact = false
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
	at := uint32(len(s.nodes))
	s.nodes = append(s.nodes, node{kind: StringKind})
	exact, err := s.str(at)
	if err != nil {
		return err
	}
	s.pending = append(s.pending, at)
	spaced := s.space()
	if s.pos == len(s.text) || s.text[s.pos] != ':' {
		return s.fail("expected ':'")
	}
	s.pos++
	if s.space() || spaced || !exact {
		f.exact = false
	}
	return nil
}

// keyText is the text of a string node while side is still growing. The result
// is for comparing only.
func (s *scanner) keyText(at uint32) string {
	n := &s.nodes[at]
	if n.flags&flagSide != 0 {
		return string(s.side[n.off:n.end])
	}
	return s.text[n.off:n.end]
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

// str scans a string into node at, and reports whether it is written canonically.
func (s *scanner) str(at uint32) (exact bool, err error) {
	start := s.pos + 1
	i := s.clean(start)
	if i < len(s.text) && s.text[i] == '"' {
		n := &s.nodes[at]
		n.off, n.end = uint32(start), uint32(i)
		s.longest = max(s.longest, i-start)
		s.pos = i + 1
		return true, nil
	}
	return s.escaped(at, start, i)
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
func (s *scanner) escaped(at uint32, start, i int) (exact bool, err error) {
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
			n := &s.nodes[at]
			n.off, n.end, n.flags = uint32(off), uint32(len(s.side)), flagSide
			if exact {
				n.flags |= flagExact
				n.first, n.count = uint32(open), uint32(i+1)
			}
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

// close finishes the innermost container, whose text ends at pos.
func (s *scanner) close(f *frame) {
	children := s.pending[f.base:]
	n := &s.nodes[f.node]
	n.first, n.count = uint32(len(s.kids)), uint32(len(children))
	switch {
	case !f.object || s.ascending(children):
		n.flags |= flagSorted
		s.kids = append(s.kids, children...)
	case s.shaped(children):
		f.exact = false
		s.kids = append(s.kids, children...)
		for _, i := range s.shape.order {
			s.kids = append(s.kids, children[i])
		}
	default:
		f.exact = false
		children = s.settle(children)
		n.count = uint32(len(children) / 2)
		s.kids = append(s.kids, children...)
		s.learn(n)
	}
	s.pending = s.pending[:f.base]
	if f.exact {
		n.flags |= flagExact
		n.off, n.end = f.start, uint32(s.pos)
	}
	exact := f.exact
	s.open = s.open[:len(s.open)-1]
	if !exact {
		s.inexact()
	}
}

// ascending reports whether keys are in canonical order, without repetition.
func (s *scanner) ascending(keys []uint32) bool {
	for i := 1; i < len(keys); i++ {
		if s.keyText(keys[i-1]) >= s.keyText(keys[i]) {
			return false
		}
	}
	return true
}

// shape is the order of the keys of the last object that had to be sorted. Lists
// of records repeat it, and comparing is faster than sorting.
type shape struct {
	keys  uint32   // where its keys stand in kids
	order []uint32 // canonical order, as places in document order
}

// maxShape bounds the number of keys of a shape.
const maxShape = 64

// learn makes an object's keys the shape.
func (s *scanner) learn(n *node) {
	s.shape.order = s.shape.order[:0]
	if n.count > maxShape {
		return
	}
	s.shape.keys = n.first
	keys := s.kids[n.first : n.first+n.count]
	for _, k := range s.kids[n.first+n.count : n.first+2*n.count] {
		s.shape.order = append(s.shape.order, uint32(slices.Index(keys, k)))
	}
}

// shaped reports whether keys are those of the shape.
func (s *scanner) shaped(keys []uint32) bool {
	n := uint32(len(s.shape.order))
	if uint32(len(keys)) != n {
		return false
	}
	for i, k := range s.kids[s.shape.keys : s.shape.keys+n] {
		if s.keyText(k) != s.keyText(keys[i]) {
			return false
		}
	}
	return true
}

// settle drops all but the last of equal keys, which takes the first one's
// place, and returns the keys in document order followed by the keys in
// canonical order. It works in pending's own storage.
func (s *scanner) settle(keys []uint32) []uint32 {
	base, n := len(s.pending)-len(keys), len(keys)
	s.pending = append(s.pending, keys...)
	keys, sorted := s.pending[base:base+n], s.pending[base+n:]
	s.sortKeys(sorted)
	var replaced map[uint32]uint32 // the first of equal keys, to the last
	var dropped map[uint32]bool    // the others
	unique := sorted[:0]
	for i := 0; i < n; {
		first, j := sorted[i], i+1
		for j < n && s.keyText(sorted[j]) == s.keyText(first) {
			if replaced == nil {
				replaced, dropped = make(map[uint32]uint32), make(map[uint32]bool)
			}
			replaced[first], dropped[sorted[j]] = sorted[j], true
			j++
		}
		unique = append(unique, sorted[j-1])
		i = j
	}
	if replaced == nil {
		return s.pending[base : base+2*n]
	}
	kept := keys[:0]
	for _, k := range keys {
		if dropped[k] {
			continue
		}
		if last, ok := replaced[k]; ok {
			k = last
		}
		kept = append(kept, k)
	}
	m := copy(s.pending[base+len(kept):], unique)
	return s.pending[base : base+len(kept)+m]
}

// sortKeys sorts keys by their texts, and equal ones by their place.
func (s *scanner) sortKeys(keys []uint32) {
	if len(keys) > 16 {
		slices.SortFunc(keys, func(a, b uint32) int { // nodes ascend in document order
			return cmp.Or(strings.Compare(s.keyText(a), s.keyText(b)), cmp.Compare(a, b))
		})
		return
	}
	for i := 1; i < len(keys); i++ { // for the few keys of most objects
		k := keys[i]
		text := s.keyText(k)
		j := i
		for ; j > 0 && s.keyText(keys[j-1]) > text; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
	}
}
