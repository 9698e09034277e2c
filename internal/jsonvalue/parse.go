// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// The limits on a text. They keep one text from taking a collector's memory: a value
// takes 8 bytes, a container 16, and a key of an object that is unlike others 16.
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
	err := s.scan()
	if (err != nil || s.seen&highBits != 0) && !utf8.ValidString(text) {
		return Value{}, CheckUTF8(text)
	}
	if err != nil {
		return Value{}, err
	}
	root := s.pending[0]
	if !root.container() {
		// No tape is needed for what a Value carries itself.
		t := tape{source: text}
		return t.value(root), nil
	}
	// What the scanner made is its own; the tape is a copy of the right size.
	count := len(s.nodes)
	made := append(s.nodes, s.shapes...)
	words := make([]node, len(made))
	copy(words, made)
	s.nodes = made
	t := &tape{source: text, nodes: words[:count], shapes: words[count:]}
	return t.value(root), nil
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

var scanners = sync.Pool{New: func() any { return newScanner() }}

// scanner turns a text into a tape in one pass. It keeps its own stack, so no text
// can exhaust the goroutine's.
type scanner struct {
	text     string
	nodes    []node      // the children of containers that are closed
	shapes   []node      // the shapes of objects that are closed
	pending  []node      // the children so far of open containers, container by container
	open     []frame     // the containers around what is scanned; the first is the text as a whole
	keys     []key       // keys that were met
	known    []shape     // shapes that are expected again
	lists    []uint32    // their keys, shape by shape
	fresh    []uint32    // the keys so far of open objects that do not follow a shape
	buckets  [64]bucket  // where keys are found
	variants [256]uint32 // and shapes
	order    []sortable  // the keys that are sorted
	side     []byte      // the texts of those that have escapes

	followed, departed int // objects that had the shape of the last one in their place, and that had not

	seen     uint64 // all bits of strings: without the highest they are ASCII
	unpaired bool   // an escape was half of a surrogate pair
	careful  bool   // scan without run, to which it is compared
}

// frame is a container that is being scanned.
type frame struct {
	base  uint32 // where its children start in pending
	start uint32 // where its text starts
	exact node   // flagExact as long as its text is canonical
	// beside is flagBeside if the container follows its key directly.
	beside node
	// child is the shape of the last object in it, which the next one may have, too.
	child uint32

	// An object expects the keys of shape; those from next to last are to come. It
	// follows the shape as long as these are all it has. Otherwise its keys are those
	// in fresh from fresh on.
	shape, next, last, fresh uint32
	key                      uint32 // the key whose value is scanned
	likely                   uint32 // the shape of the last object in the same place
	keys, known              uint32 // how many there were before the object
	following                bool
	closer                   byte // '}' or ']', 0 around the whole text
}

func newScanner() *scanner {
	s := &scanner{}
	s.reset()
	return s
}

// firstShape is the number of the first shape that a text has. Shape 0 has no keys and is
// known always; shape 1 is the last one that is not worth to be remembered.
const firstShape = 2

// reset forgets the text.
func (s *scanner) reset() {
	s.text = ""
	s.nodes, s.shapes, s.pending, s.open = s.nodes[:0], append(s.shapes[:0], flagSorted), s.pending[:0], s.open[:0]
	s.keys, s.lists, s.fresh = s.keys[:0], s.lists[:0], s.fresh[:0]
	s.known = append(s.known[:0], shape{exact: flagExact}, shape{})
	s.followed, s.departed = 0, 0
	s.seen, s.unpaired = 0, false
}

// keep bounds what an idle scanner may hold on to, in words.
const keep = 1 << 16

func (s *scanner) release() {
	if cap(s.nodes) > keep || cap(s.shapes) > keep || cap(s.pending) > keep || cap(s.fresh) > keep || cap(s.keys) > keep/8 || cap(s.order) > keep/4 || cap(s.side) > keep {
		return
	}
	s.reset()
	scanners.Put(s)
}

func fail(at int, what string) *Error {
	return &Error{Code: CodeMalformed, Message: "JSON: " + what, Offset: at}
}

// spaces has the bits of the characters that are white space.
const spaces uint64 = 1<<' ' | 1<<'\t' | 1<<'\n' | 1<<'\r'

// skipSpace returns where white space from i on ends.
func skipSpace(text string, i int) int {
	for i < len(text) && text[i] <= ' ' && spaces>>text[i]&1 != 0 {
		i++
		// Mostly a line ends, and an indentation follows.
		for len(text)-i >= 8 {
			n := leadingBytes(word(text, i), ' ')
			if i += n; n < 8 {
				break
			}
		}
	}
	return i
}

// A place is what is next in the text.
type place int

const (
	atItem  place = iota // white space, perhaps, and an element, or a key with its value
	atValue              // white space, perhaps, and a value; its key was scanned, if it has any
	atEnd                // what follows a value that was scanned
)

// scan turns the text into nodes.
func (s *scanner) scan() *Error {
	text := s.text
	s.open = append(s.open, frame{})
	f := &s.open[0]
	i, at, beside := 0, atValue, node(0)
	var err *Error
	for {
		if at == atItem && !s.careful {
			// Run where there may be something for it.
			if f.next != f.last || f.closer == ']' && i < len(text) && text[i]|0x20 != '{' { // neither '{' nor '['
				i, at, beside = s.run(f, i)
			}
		}
		if at != atEnd && i < len(text) && text[i] <= ' ' {
			i = skipSpace(text, i)
			f.exact = 0
		}
		if at == atItem && f.closer == '}' {
			if i, beside, err = s.key(f, i); err != nil {
				return err
			}
		}
		if at != atEnd {
			if i >= len(text) {
				return fail(i, "unexpected end")
			}
			var n node
			switch c := text[i]; {
			case c == '"':
				end, flags := s.str(i)
				if end < 0 {
					return s.strError(i)
				}
				n = makeNode(StringKind, flags|beside, i, end-i)
				i = end
			case isDigit(c) || c == '-' && !strings.HasPrefix(text[i:], "-I"):
				end := 0
				if n, end, err = scanNumber(text, i); err != nil {
					return err
				}
				if n.second() == end-i {
					n |= beside
				} else {
					f.exact = 0
				}
				i = end
			case c == '{' || c == '[':
				if len(s.open) > MaxDepth {
					return errorf(CodeLimitExceeded, "JSON nested more than %d levels deep", MaxDepth)
				}
				f = s.enter(f, c, i, beside)
				if i++; i < len(text) && text[i] <= ' ' {
					i = skipSpace(text, i)
					f.exact = 0
				}
				if i == len(text) || text[i] != f.closer {
					at, beside = atItem, 0
					continue
				}
				i++
				f, n = s.leave(f, i)
			default:
				if n = scanLiteral(text, i); n == 0 {
					return fail(i, "expected a value")
				}
				n |= beside
				i += n.second()
			}
			s.pending = append(s.pending, n)
			f.exact &= n
		}
		// A value ends at i. Its container goes on or ends, and so may the ones around that.
		for {
			if i < len(text) && text[i] <= ' ' {
				i = skipSpace(text, i)
				f.exact = 0
			}
			if i >= len(text) || f.closer == 0 {
				return s.end(f, i)
			}
			c := text[i]
			i++
			if c == ',' {
				break
			}
			if c != f.closer {
				return fail(i-1, "expected ',' or '"+string(rune(f.closer))+"'")
			}
			var n node
			f, n = s.leave(f, i)
			s.pending = append(s.pending, n)
			f.exact &= n
		}
		at, beside = atItem, 0
	}
}

// end ends the scan at i, where nothing may follow and no container be open.
func (s *scanner) end(f *frame, i int) *Error {
	switch {
	case f.closer != 0:
		return fail(i, "unexpected end")
	case i < len(s.text):
		return fail(i, "more text after the value")
	case s.unpaired:
		return errLoneSurrogate
	}
	return nil
}

// enter opens a container in f that starts at i.
func (s *scanner) enter(f *frame, opener byte, i int, beside node) *frame {
	child := f.child
	if f.closer == '}' {
		child = s.keys[f.key].child
	}
	if n := len(s.open); n < cap(s.open) {
		s.open = s.open[:n+1] // what is not set below is set before it is read
	} else {
		s.open = append(s.open, frame{})
	}
	f = &s.open[len(s.open)-1]
	f.base, f.start = uint32(len(s.pending)), uint32(i)
	f.exact, f.beside = flagExact, beside
	f.child = child
	f.closer = opener + 2 // '}' and ']' stand two after '{' and '['
	f.following = opener == '{'
	f.next, f.last = 0, 0
	if f.following {
		f.likely = child
		if s.departed > 2*s.followed+4 {
			child = 0 // The keys come in any order, so none is expected.
		}
		known := &s.known[child]
		f.shape, f.next, f.last = child, known.first, known.first+known.count
		f.keys, f.known = uint32(len(s.keys)), uint32(len(s.known))
	}
	return f
}

// leave closes the innermost container, whose text ends at end. It returns the one around
// it, of which n is the next child.
func (s *scanner) leave(f *frame, end int) (around *frame, n node) {
	kind, exact, second, child := ArrayKind, f.exact, 0, f.child
	if f.closer == '}' {
		kind, child = ObjectKind, f.shape
		if !f.following || f.next != f.last {
			child = s.ownShape(f)
		}
		if child == f.likely {
			s.followed++
		} else if f.likely != 0 {
			s.departed++
		}
		known := &s.known[child]
		second = int(known.at)
		exact &= known.exact
	} else {
		second = len(s.pending) - int(f.base)
	}
	start := int(f.start)
	n = makeNode(kind, exact|f.beside, len(s.nodes)+1, second)
	s.nodes = append(s.nodes, makeNode(kind, exact, start, end-start))
	//lint:ignore S1011 most containers have so few children that a call takes longer than copying them
	for _, child := range s.pending[f.base:] {
		s.nodes = append(s.nodes, child)
	}
	s.pending = s.pending[:f.base]
	s.open = s.open[:len(s.open)-1]
	around = &s.open[len(s.open)-1]
	if child > 1 {
		s.expect(around, child)
	}
	return around, n
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
