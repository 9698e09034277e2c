// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// Most objects of a text have the same keys as another one in the same place: as the
// last element of a list of records, or what that had under the same key. So an object
// is expected to have the shape of the last one there. An expected key is compared and
// not scanned, and an object that has all of them needs no sorting either.

// shape is a list of keys that is expected again.
type shape struct {
	first, count uint32 // its keys in the scanner's lists
	at           uint32 // where it is in the tape's shapes
	exact        node   // flagExact if the keys are written, and ordered, canonically
}

// key is a key, and what to compare with to find it again.
type key struct {
	node   node
	prefix uint64 // the first bytes of its text, the first one highest; 0 if it has escapes
	head   uint64 // the first bytes of its source, from the quotation mark to the colon
	mask   uint64 // which bits of head are it
	tail   uint64 // the last bytes of its source, if it is longer than head
	size   uint32 // of its source
	child  uint32 // the shape of the last object under it
}

// member is a key of an object, and where in the object's expected shape it is: -1
// if it is not.
type member struct {
	id uint32
	at int32
}

// Bounds on what is remembered, and on how far a key is looked for.
const (
	maxShapeKeys = 64
	maxLists     = 1 << 14
	maxSearch    = 16
)

// expect notes that the last child of f has, or had in it, objects of a shape.
func (s *scanner) expect(f *frame, child uint32) {
	f.child = child
	if f.closer == '}' {
		s.keys[f.key].child = child
	}
}

// take notes that the next key of f is the expected one.
func (s *scanner) take(f *frame, id uint32) {
	f.key = id
	if !f.following {
		s.fresh = append(s.fresh, member{id, int32(f.next - s.known[f.shape].first)})
	}
	f.next++
}

// key scans the next key of an object, at i, and the colon after it. It returns where the
// value starts, and flagBeside if nothing but the colon is between.
func (s *scanner) key(f *frame, i int) (next int, beside node, err *Error) {
	text := s.text
	colon := i
	if id, ok := s.expected(f, i); ok {
		i += int(s.keys[id].size)
		colon = i - 1
		s.take(f, id)
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
		k := s.newKey(makeNode(StringKind, flags, i, end-i))
		k.child = f.child
		f.key = uint32(len(s.keys))
		s.keys = append(s.keys, k)
		s.fresh = append(s.fresh, member{f.key, -1})
		colon, i = end, end
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
	if i-colon > 1 {
		f.exact = 0
		return i, 0, nil
	}
	return i, flagBeside, nil
}

// expected returns the key at i if it is one that the object may have: the next one of the
// shape, or another one, after which those are expected that follow it there.
func (s *scanner) expected(f *frame, i int) (id uint32, ok bool) {
	text := s.text
	if len(text)-i <= 16 {
		return 0, false
	}
	if f.next < f.last {
		id = s.lists[f.next]
		if s.keys[id].matches(text, i) {
			return id, true
		}
	}
	known := &s.known[f.shape]
	w := word(text, i)
	for at, id := range s.lists[known.first:][:min(known.count, maxSearch)] {
		if k := &s.keys[id]; w&k.mask == k.head && k.matches(text, i) {
			if f.following {
				s.depart(f)
			}
			f.next = known.first + uint32(at)
			return id, true
		}
	}
	return 0, false
}

// depart notes that an object does not have the expected keys.
func (s *scanner) depart(f *frame) {
	f.following = false
	f.fresh = uint32(len(s.fresh))
	first := s.known[f.shape].first
	for i, id := range s.lists[first:f.next] {
		s.fresh = append(s.fresh, member{id, int32(i)})
	}
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
	if !n.has(flagEscaped) {
		head, _ := s.head(i+1, end-1)
		k.prefix = bits.ReverseBytes64(head)
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

// ownShape makes a shape of the keys of an object that ends, and returns its number.
func (s *scanner) ownShape(f *frame) uint32 {
	if f.following {
		s.depart(f)
	}
	keys := s.fresh[f.fresh:]
	s.fresh = s.fresh[:f.fresh] // its content stays for now
	order, ok := s.permuted(f, keys)
	repeated := false
	if !ok {
		order = s.sort(keys)
		if repeated = s.repeated(order); repeated {
			keys = s.settle(f, keys, order)
			order = s.sort(keys)
		}
	}
	known := shape{first: uint32(len(s.lists)), count: uint32(len(keys)), at: uint32(len(s.shapes)), exact: flagExact}
	s.shapes = append(s.shapes, makeNode(NullKind, flagSorted, 0, len(keys)))
	for _, m := range keys {
		n := s.keys[m.id].node
		known.exact &= n
		s.shapes = append(s.shapes, n)
	}
	for i := range order {
		if int(order[i].place) != i {
			known.exact = 0
			s.shapes[known.at] &^= flagSorted
			for _, o := range order {
				s.shapes = append(s.shapes, node(o.place))
			}
			break
		}
	}
	if repeated {
		known.exact = 0
	}
	if repeated || len(keys) > maxShapeKeys || len(s.lists)+len(keys) > maxLists {
		if int(f.known) == len(s.known) {
			s.keys = s.keys[:f.keys] // nothing refers to the others any more
		}
		// Shape 1 is for those that are not expected again.
		known.count = 0
		s.known[1] = known
		return 1
	}
	for _, m := range keys {
		s.lists = append(s.lists, m.id)
	}
	s.known = append(s.known, known)
	return uint32(len(s.known) - 1)
}

// permuted returns the canonical order of keys if they are the expected ones in another
// order. It need not compare them, since the order of the expected ones is known.
func (s *scanner) permuted(f *frame, keys []member) (order []sortable, ok bool) {
	known := s.known[f.shape]
	if len(keys) != int(known.count) || len(keys) > maxSearch {
		return nil, false
	}
	var places [maxSearch]uint32
	met := 0
	for i, m := range keys {
		if m.at < 0 || met>>m.at&1 != 0 {
			return nil, false
		}
		met |= 1 << m.at
		places[m.at] = uint32(i)
	}
	order = s.order[:0]
	head := s.shapes[known.at]
	for i := range keys {
		at := i
		if !head.has(flagSorted) {
			at = int(s.shapes[int(known.at)+1+len(keys)+i])
		}
		order = append(order, sortable{place: places[at]})
	}
	s.order = order
	return order, true
}

// sortable is a key that is being sorted.
type sortable struct {
	prefix  uint64 // eight bytes of its text, the first one highest
	start   uint32 // its text, in side if it had escapes and else in the source
	end     uint32
	place   uint32 // among the object's keys
	decoded bool
}

// sort brings keys into canonical order, equal ones in document order.
func (s *scanner) sort(keys []member) []sortable {
	order := s.order[:0]
	s.side = s.side[:0]
	for i, m := range keys {
		k := &s.keys[m.id]
		start := uint32(k.node.first() + 1)
		o := sortable{prefix: k.prefix, start: start, end: start + uint32(k.node.second()-2), place: uint32(i)}
		if k.node.has(flagEscaped) {
			s.decode(&o)
		}
		order = append(order, o)
	}
	s.order = order
	if len(order) > 16 {
		slices.SortFunc(order, func(a, b sortable) int {
			return cmp.Or(s.compare(a, b), cmp.Compare(a.place, b.place))
		})
		return order
	}
	for i := 1; i < len(order); i++ { // for the few keys of most objects
		o := order[i]
		j := i
		for ; j > 0 && (order[j-1].prefix > o.prefix || order[j-1].prefix == o.prefix && s.compare(order[j-1], o) > 0); j-- {
			order[j] = order[j-1]
		}
		order[j] = o
	}
	return order
}

// decode decodes a key that has escapes.
func (s *scanner) decode(o *sortable) {
	raw := s.text[o.start:o.end]
	o.decoded = true
	o.start = uint32(len(s.side))
	s.side = append(s.side, unescape(raw)...)
	o.end = uint32(len(s.side))
	for i, c := range s.side[o.start:min(o.start+8, o.end)] {
		o.prefix |= uint64(c) << (56 - 8*i)
	}
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

// repeated reports whether two of the keys are equal.
func (s *scanner) repeated(order []sortable) bool {
	for i := 1; i < len(order); i++ {
		if order[i-1].prefix == order[i].prefix && s.compare(order[i-1], order[i]) == 0 {
			return true
		}
	}
	return false
}

// settle drops all but the last of equal keys, with their values. The last one
// takes the place of the first.
func (s *scanner) settle(f *frame, keys []member, order []sortable) []member {
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
	return keys[:kept]
}
