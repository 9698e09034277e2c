// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// The limits on a text. They keep one text from taking a collector's memory and stack: a
// value and a key take 8 bytes each, a container 16, and 8 more for each of its keys
// unless they are in canonical order.
const (
	MaxBytes     = 16 << 20
	MaxDepth     = 960  // levels of arrays and objects
	MaxIntDigits = 4300 // digits of an integer
)

// Parse reads one JSON value.
//
// Beyond RFC 8259 it reads NaN, Infinity and -Infinity, and floats that overflow: they
// are values without a canonical form. Of equal keys the last wins, in the position of
// the first.
//
// An error is an [*Error]: CodeMalformed; CodeLimitExceeded for a text beyond MaxBytes,
// MaxDepth or MaxIntDigits; and CodeUnencodable for half of a surrogate pair, escaped or
// encoded, which no UTF-8 text can hold.
func Parse(text string) (Value, error) {
	if len(text) > MaxBytes {
		return Value{}, errorf(CodeLimitExceeded, "JSON text of more than %d bytes", MaxBytes)
	}
	s := scanners.Get().(*scanner)
	defer s.release()
	s.text = text
	root, err := s.scan()
	if (err != nil || s.seen&highBits != 0) && !utf8.ValidString(text) {
		return Value{}, CheckUTF8(text)
	}
	switch {
	case err != nil:
		return Value{}, err
	case s.unpaired:
		return Value{}, errLoneSurrogate
	case !root.container():
		// No tape is needed for what a Value carries itself.
		t := tape{source: text}
		return t.value(root), nil
	}
	// What the scanner made is its own; the tape is a copy of the right size.
	nodes := make([]node, len(s.nodes))
	copy(nodes, s.nodes)
	return (&tape{source: text, nodes: nodes}).value(root), nil
}

// CheckUTF8 returns nil for UTF-8. The [*Error] for any other text has CodeMalformed,
// or CodeUnencodable if halves of surrogate pairs are all that is wrong.
func CheckUTF8(text string) error {
	lone := false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size <= 1 {
			if !(len(text)-i >= 3 && text[i] == 0xED && text[i+1]&0xE0 == 0xA0 && text[i+2]&0xC0 == 0x80) {
				return &Error{Code: CodeMalformed, Message: "text is not UTF-8", Offset: i}
			}
			size, lone = 3, true
		}
		i += size
	}
	if lone {
		return errLoneSurrogate
	}
	return nil
}

var errLoneSurrogate = errorf(CodeUnencodable, "text holds half of a surrogate pair, which cannot be encoded")

var scanners = sync.Pool{New: func() any { return new(scanner) }}

// scanner turns a text into the nodes of a tape in one pass.
type scanner struct {
	text     string
	nodes    []node     // the containers that are closed
	pending  []node     // the children so far of open containers, container by container
	depth    int        // of open containers
	keys     []sortable // the keys of the object that is closed
	decoded  []byte     // the texts of those that have escapes
	seen     uint64     // all bits of strings: without the highest they are ASCII
	unpaired bool       // an escape was half of a surrogate pair
}

// keep bounds what an idle scanner may hold on to, in words.
const keep = 1 << 16

func (s *scanner) release() {
	if cap(s.nodes) > keep || cap(s.pending) > keep || cap(s.keys) > keep/4 || cap(s.decoded) > keep {
		return
	}
	*s = scanner{nodes: s.nodes[:0], pending: s.pending[:0], keys: s.keys[:0], decoded: s.decoded[:0]}
	scanners.Put(s)
}

func fail(at int, what string) *Error {
	return &Error{Code: CodeMalformed, Message: "JSON: " + what, Offset: at}
}

// skipSpace returns where white space from i on ends.
func skipSpace(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// scan scans the text.
func (s *scanner) scan() (root node, err *Error) {
	root, i, err := s.value(skipSpace(s.text, 0))
	if err != nil {
		return 0, err
	}
	if i = skipSpace(s.text, i); i < len(s.text) {
		return 0, fail(i, "more text after the value")
	}
	return root, nil
}

// value scans the value at i and returns where it ends.
func (s *scanner) value(i int) (n node, end int, err *Error) {
	text := s.text
	if i >= len(text) {
		return 0, 0, fail(i, "unexpected end")
	}
	switch c := text[i]; {
	case c == '"':
		return s.str(i)
	case c == '{' || c == '[':
		return s.container(i)
	case isDigit(c) || c == '-' && !strings.HasPrefix(text[i:], "-I"):
		return scanNumber(text, i)
	}
	if n = scanLiteral(text, i); n == 0 {
		return 0, 0, fail(i, "expected a value")
	}
	return n, i + n.second(), nil
}

// container scans the array or object at i. MaxDepth bounds the recursion.
func (s *scanner) container(i int) (n node, end int, err *Error) {
	if s.depth == MaxDepth {
		return 0, 0, errorf(CodeLimitExceeded, "JSON nested more than %d levels deep", MaxDepth)
	}
	s.depth++
	text, start, base := s.text, i, len(s.pending)
	kind, closer, flags := ArrayKind, byte(']'), flagExact
	if text[i] == '{' {
		kind, closer = ObjectKind, '}'
	}
	space := func(i int) int {
		end := skipSpace(text, i)
		if end > i {
			flags = 0
		}
		return end
	}
	i = space(i + 1)
	for first := true; ; first = false {
		if first && i < len(text) && text[i] == closer {
			break
		}
		if kind == ObjectKind {
			if i >= len(text) || text[i] != '"' {
				return 0, 0, fail(i, "expected a key")
			}
			key, end, err := s.str(i)
			if err != nil {
				return 0, 0, err
			}
			s.pending = append(s.pending, key)
			flags &= key
			if i = space(end); i >= len(text) || text[i] != ':' {
				return 0, 0, fail(i, "expected ':'")
			}
			i = space(i + 1)
		}
		child, end, err := s.value(i)
		if err != nil {
			return 0, 0, err
		}
		if child.kind() == FloatKind && child.second() < end-i {
			flags = 0 // zeros at its end are no part of the canonical form
		}
		s.pending = append(s.pending, child)
		flags &= child
		if i = space(end); i >= len(text) {
			return 0, 0, fail(i, "unexpected end")
		}
		if text[i] == closer {
			break
		}
		if text[i] != ',' {
			return 0, 0, fail(i, "expected ',' or '"+string(rune(closer))+"'")
		}
		i = space(i + 1)
	}
	s.depth--
	return s.close(kind, flags&flagExact, start, i+1, base), i + 1, nil
}

// close makes a node of the container at start, whose children are pending from base on.
func (s *scanner) close(kind Kind, exact node, start, end, base int) node {
	var order []sortable
	if kind == ObjectKind {
		var repeated bool
		order, repeated = s.sort(base)
		if repeated {
			exact = 0
			s.settle(base, order)
			order, _ = s.sort(base)
		}
	}
	children := s.pending[base:]
	sorted := flagSorted
	for i := range order {
		if int(order[i].at) != i {
			sorted, exact = 0, 0
			break
		}
	}
	at, count := len(s.nodes)+1, len(children)
	s.nodes = append(s.nodes, makeNode(kind, exact, start, end-start))
	s.nodes = append(s.nodes, children...)
	if kind == ObjectKind {
		count /= 2
		exact |= sorted
		if sorted == 0 {
			for i := range order {
				s.nodes = append(s.nodes, node(order[i].at))
			}
		}
	}
	s.pending = s.pending[:base]
	return makeNode(kind, exact, at, count)
}

// scanLiteral scans a word, and returns 0 if there is none.
func scanLiteral(text string, i int) node {
	kind, flags, word := FloatKind, node(0), ""
	switch text[i] {
	case 'n':
		kind, flags, word = NullKind, flagExact, "null"
	case 't':
		kind, flags, word = BoolKind, flagExact|flagTrue, "true"
	case 'f':
		kind, flags, word = BoolKind, flagExact, "false"
	case 'N':
		word = "NaN"
	case 'I':
		word = "Infinity"
	case '-':
		word = "-Infinity"
	default:
		return 0
	}
	if !strings.HasPrefix(text[i:], word) {
		return 0
	}
	return makeNode(kind, flags, i, len(word))
}
