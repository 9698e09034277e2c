// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// Most objects of a text have the same keys in the same order as another one in the
// same place: the elements of a list of records, and what these hold under
// one key. So an object is taken to have the shape of the last one there. As long
// as its keys are the expected ones, they are compared and not scanned, and need no
// sorting.

// shape is a list of keys that is expected again.
type shape struct {
	first, count uint32 // its keys in the scanner's keys
	at           uint32 // where it is in the tape's shapes
	exact        node   // flagExact if the keys are written, and ordered, canonically
}

// key is a key, and what to compare with to find it again.
type key struct {
	node  node
	head  uint64 // the first bytes of its text, from the quotation mark to the colon
	mask  uint64 // which bits of head are its text
	tail  uint64 // the last bytes of its text, if it is longer than head
	size  uint32 // of its text
	child uint32 // the shape of the last object under it
}

// Shapes are not remembered that have too many keys, nor too many shapes.
const (
	maxShapeKeys = 64
	maxKnownKeys = 1 << 12
)

// expect notes that the last child of f has, or had in it, objects of a shape.
func (s *scanner) expect(f *frame, child uint32) {
	switch {
	case f.following:
		s.keys[f.next-1].child = child
	case f.closer == '}':
		s.fresh[len(s.fresh)-1].child = child
		f.child = child
	default:
		f.child = child
	}
}

// key scans the next key of an object, at i, and the colon after it. It returns where the
// value starts, and flagBeside if nothing but the colon is between.
func (s *scanner) key(f *frame, i int) (next int, beside node, err *Error) {
	text := s.text
	start := i
	if f.next < f.last && len(text)-i > 16 && s.keys[f.next].matches(text, i) {
		i += int(s.keys[f.next].size)
		start = i - 1
		f.next++
	} else {
		end, flags := 0, node(0)
		if i < len(text) && text[i] == '"' {
			end, flags = s.str(i)
		}
		switch {
		case end == 0:
			return 0, 0, fail(i, "expected a key")
		case end < 0:
			return 0, 0, s.strError(i)
		case f.following:
			s.depart(f)
		}
		s.fresh = append(s.fresh, s.newKey(makeNode(StringKind, flags, i, end-i)))
		start, i = end, end
		if i < len(text) && text[i] <= ' ' {
			i = skipSpace(text, i)
		}
		if i >= len(text) || text[i] != ':' {
			return 0, 0, fail(i, "expected ':'")
		}
		i++
	}
	if i < len(text) && text[i] <= ' ' {
		i = skipSpace(text, i)
	}
	if i-start > 1 {
		f.exact = 0
		return i, 0, nil
	}
	return i, flagBeside, nil
}

// newKey makes what is needed to find a key again, if a colon follows it.
func (s *scanner) newKey(n node) key {
	k := key{node: n, head: 1} // with the empty mask nothing matches
	i := n.first()
	end := i + n.second()
	if end < len(s.text) && s.text[end] == ':' {
		k.size = uint32(end + 1 - i)
		k.head, k.mask = s.head(i, end+1)
		if k.size > 8 {
			k.tail, _ = s.head(end-7, end+1)
		}
	}
	return k
}

// matches reports whether the key is at i, written as before. At least 16 bytes
// must be there.
func (k *key) matches(text string, i int) bool {
	if word(text, i)&k.mask != k.head {
		return false
	}
	size := int(k.size)
	return size <= 8 || i+size < len(text) && word(text, i+size-8) == k.tail && (size <= 16 || k.matchesLong(text, i))
}

func (k *key) matchesLong(text string, i int) bool {
	place := k.node.first()
	size := int(k.size)
	return text[i:i+size] == text[place:place+size]
}

// head returns up to eight bytes of text[i:end], and which bits they are.
func (s *scanner) head(i, end int) (head, mask uint64) {
	mask = ^uint64(0)
	if n := end - i; n < 8 {
		mask = 1<<(8*n) - 1
	}
	if len(s.text)-i >= 8 {
		return word(s.text, i) & mask, mask
	}
	for j := end - 1; j >= i; j-- {
		head = head<<8 | uint64(s.text[j])
	}
	return head, mask
}

// depart makes an object's keys its own.
func (s *scanner) depart(f *frame) {
	f.following = false
	f.fresh = uint32(len(s.fresh))
	s.fresh = append(s.fresh, s.keys[s.known[f.shape].first:f.next]...)
	f.next = f.last
}

// ownShape makes a shape of the keys of an object that ends, and returns its number.
func (s *scanner) ownShape(f *frame) uint32 {
	if f.following {
		s.depart(f)
	}
	keys := s.fresh[f.fresh:]
	s.count += 2 * len(keys)
	s.fresh = s.fresh[:f.fresh] // its content stays for now
	order, sorted := s.sort(keys)
	keys, repeated := s.settle(f, keys, order)
	if repeated {
		order, sorted = s.sort(keys)
	}
	known := shape{first: uint32(len(s.keys)), count: uint32(len(keys)), at: uint32(len(s.shapes))}
	head := makeNode(NullKind, 0, 0, len(keys))
	if sorted {
		head |= flagSorted
		known.exact = flagExact
	}
	s.shapes = append(s.shapes, head)
	for i := range keys {
		known.exact &= keys[i].node
		s.shapes = append(s.shapes, keys[i].node)
	}
	if !sorted {
		for i := range order {
			s.shapes = append(s.shapes, node(order[i].place))
		}
	}
	if repeated {
		known.exact = 0
	}
	if repeated || len(keys) > maxShapeKeys || len(s.keys)+len(keys) > maxKnownKeys {
		// Shape 1 is for those that are not expected again.
		known.count = 0
		s.known[1] = known
		return 1
	}
	s.keys = append(s.keys, keys...)
	s.known = append(s.known, known)
	return uint32(len(s.known) - 1)
}

// sortable is a key that is being sorted.
type sortable struct {
	prefix  uint64 // eight bytes of its text, the first one highest
	start   uint32 // its text, in side if it had escapes and else in the source
	end     uint32
	place   uint32 // among the object's keys
	decoded bool
}

// sort brings keys into canonical order, equal ones in document order, and reports
// whether they were in it.
func (s *scanner) sort(keys []key) (order []sortable, sorted bool) {
	order, s.side = s.order[:0], s.side[:0]
	for i := range keys {
		order = append(order, s.sortable(&keys[i], i))
	}
	s.order = order
	if len(order) > 16 {
		if slices.IsSortedFunc(order, s.compare) {
			return order, true
		}
		slices.SortFunc(order, func(a, b sortable) int {
			return cmp.Or(s.compare(a, b), cmp.Compare(a.place, b.place))
		})
		return order, false
	}
	sorted = true
	for i := 1; i < len(order); i++ { // for the few keys of most objects
		o := order[i]
		j := i
		for ; j > 0 && (order[j-1].prefix > o.prefix || order[j-1].prefix == o.prefix && s.compare(order[j-1], o) > 0); j-- {
			order[j] = order[j-1]
		}
		order[j] = o
		sorted = sorted && j == i
	}
	return order, sorted
}

func (s *scanner) sortable(k *key, place int) sortable {
	start := k.node.first() + 1
	end := start + k.node.second() - 2
	o := sortable{start: uint32(start), end: uint32(end), place: uint32(place)}
	if !k.node.has(flagEscaped) {
		head, _ := s.head(start, end)
		o.prefix = bits.ReverseBytes64(head)
		return o
	}
	o.decoded = true
	o.start = uint32(len(s.side))
	s.side = append(s.side, unescape(s.text[start:end])...)
	o.end = uint32(len(s.side))
	for i, c := range s.side[o.start:min(o.start+8, o.end)] {
		o.prefix |= uint64(c) << (56 - 8*i)
	}
	return o
}

func (s *scanner) compare(a, b sortable) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	return bytes.Compare(s.sortedText(a), s.sortedText(b))
}

func (s *scanner) sortedText(o sortable) []byte {
	if o.decoded {
		return s.side[o.start:o.end]
	}
	return bytesOf(s.text)[o.start:o.end]
}

// settle drops all but the last of equal keys, with their values. The last one
// takes the place of the first.
func (s *scanner) settle(f *frame, keys []key, order []sortable) (_ []key, repeated bool) {
	for i := 1; i < len(order); i++ {
		if s.compare(order[i-1], order[i]) == 0 {
			repeated = true
			break
		}
	}
	if !repeated {
		return keys, false
	}
	values := s.pending[f.base:]
	dropped := make([]bool, len(keys))
	for i := 0; i < len(order); {
		first, j := order[i].place, i+1
		for ; j < len(order) && s.compare(order[i], order[j]) == 0; j++ {
			dropped[order[j].place] = true
		}
		last := order[j-1].place
		keys[first], values[first] = keys[last], values[last]
		i = j
	}
	kept := 0
	for i := range keys {
		if !dropped[i] {
			keys[kept], values[kept] = keys[i], values[i]
			kept++
		}
	}
	s.pending = s.pending[:int(f.base)+kept]
	return keys[:kept], true
}
