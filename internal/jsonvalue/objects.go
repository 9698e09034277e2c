// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
)

// Most objects of a text have the same keys as another one in the same place: as the
// last element of a list of records, or what that had under the same key. So an object
// is expected to have the shape of the last one there. An expected key is compared and
// not scanned, and an object that has all of them needs no sorting either. Keys that
// come in another order, or without some, are found by their first bytes, and if they came
// in that order before, they have that shape.

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
	// The first and the last bytes of its source, from the quotation mark to the colon,
	// and which of their bits are it. They are the same if it is short.
	head, tail, mask uint64
	size, skip       uint32 // of its source, and of what is before tail
	child            uint32 // the shape of the last object under it
	home, rank       uint32 // a shape that it is in, and its place in the canonical order of that
}

// bucket holds keys that start alike.
type bucket [4]uint32

// Bounds on what is remembered.
const (
	maxShapeKeys = 64
	maxLists     = 1 << 14
)

// expect notes that the last child of f has, or had in it, objects of a shape.
func (s *scanner) expect(f *frame, child uint32) {
	f.child = child
	if f.closer == '}' {
		s.keys[f.key].child = child
	}
}

// key scans the next key of an object, at i, and the colon after it. It returns where the
// value starts, and flagBeside if nothing but the colon is between.
func (s *scanner) key(f *frame, i int) (next int, beside node, err *Error) {
	text := s.text
	colon := i
	if s.expected(f, i) || s.found(f, i) {
		i += int(s.keys[f.key].size)
		colon = i - 1
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
		f.key = s.newKey(makeNode(StringKind, flags, i, end-i))
		s.keys[f.key].child = f.child
		s.fresh = append(s.fresh, f.key)
		colon, i = end, end
		if i < len(text) && text[i] <= ' ' {
			i = skipSpace(text, i)
		}
		if i >= len(text) || text[i] != ':' {
			return 0, 0, fail(i, "expected ':'")
		}
		i++
	}
	if len(text)-i >= 2 && text[i] <= ' ' {
		if text[i] == ' ' && text[i+1] > ' ' { // mostly
			i++
		} else {
			i = skipSpace(text, i)
		}
	}
	if i-colon > 1 {
		f.exact = 0
		return i, 0, nil
	}
	return i, flagBeside, nil
}

// expected scans the key at i if it is the next one of the shape.
func (s *scanner) expected(f *frame, i int) bool {
	if f.next == f.last {
		return false
	}
	id := s.lists[f.next]
	// This is matches, without a call for every key.
	k, text := &s.keys[id], s.text
	last := i + int(k.skip)
	if len(text)-last < 16 || (word(text, i)&k.mask^k.head)|(word(text, last)&k.mask^k.tail) != 0 || k.skip > 8 && !k.matchesLong(text, i) {
		return false
	}
	f.key = id
	f.next++
	return true
}

// found scans the key at i if it is any one that was met before.
func (s *scanner) found(f *frame, i int) bool {
	if len(s.text)-i < 8 || len(s.known) == firstShape {
		return false // Before an object ends, no key is likely to come again.
	}
	b := s.bucket(word(s.text, i))
	for at, id := range b {
		// What a bucket holds may be of another text.
		if int(id) >= len(s.keys) || !s.keys[id].matches(s.text, i) {
			continue
		}
		if f.following {
			s.depart(f)
		}
		f.key = id
		s.fresh = append(s.fresh, id)
		if at > 0 { // New keys drive out the one that was not met for longest.
			copy(b[1:at+1], b[:at])
			b[0] = id
		}
		return true
	}
	return false
}

// depart notes that an object does not have the expected keys.
func (s *scanner) depart(f *frame) {
	f.following = false
	f.fresh = uint32(len(s.fresh))
	s.fresh = append(s.fresh, s.lists[s.known[f.shape].first:f.next]...)
	f.next, f.last = 0, 0
}

// bucket returns where a key may be whose source starts with w.
func (s *scanner) bucket(w uint64) *bucket {
	w >>= 8
	end := special(w) // the zero at its end is special, too
	return &s.buckets[(w&(end^(end-1)))*0x9E3779B97F4A7C15>>58]
}

// newKey remembers a key.
func (s *scanner) newKey(n node) uint32 {
	text := s.text
	i, size := n.first(), n.second()
	id := len(s.keys)
	s.keys = slices.Grow(s.keys, 1)[:id+1]
	k := &s.keys[id]
	*k = key{node: n, head: 1} // with the empty mask nothing matches
	if !n.has(flagEscaped) {
		k.prefix = bits.ReverseBytes64(firstBytes(text, i+1, size-2))
	}
	if i+size < len(text) && text[i+size] == ':' && len(text)-i >= 8 {
		size++ // with the colon
		last := max(size-8, 0)
		k.mask = ^uint64(0) >> (64 - 8*min(size, 8))
		k.size, k.skip = uint32(size), uint32(last)
		k.head, k.tail = word(text, i)&k.mask, word(text, i+last)&k.mask
		b := s.bucket(word(text, i))
		b[3], b[2], b[1], b[0] = b[2], b[1], b[0], uint32(id)
	}
	return uint32(id)
}

// firstBytes returns up to eight of the n bytes of text from i on; the first one is
// the lowest.
func firstBytes(text string, i, n int) (w uint64) {
	if n <= 0 {
		return 0
	}
	n = min(n, 8)
	if len(text)-i >= 8 {
		return word(text, i) & (^uint64(0) >> (64 - 8*n))
	}
	for j := i + n - 1; j >= i; j-- {
		w = w<<8 | uint64(text[j])
	}
	return w
}

// matches reports whether the key is at i, written as before, and some more text
// after it.
func (k *key) matches(text string, i int) bool {
	last := i + int(k.skip)
	if len(text)-last < 16 || (word(text, i)&k.mask^k.head)|(word(text, last)&k.mask^k.tail) != 0 {
		return false
	}
	return k.skip <= 8 || k.matchesLong(text, i)
}

func (k *key) matchesLong(text string, i int) bool {
	place := k.node.first()
	size := int(k.size)
	return text[i:i+size] == text[place:place+size]
}

// ownShape makes a shape of the keys of an object that ends, and returns its number.
func (s *scanner) ownShape(f *frame) uint32 {
	if f.following {
		s.depart(f)
	}
	keys := s.fresh[f.fresh:]
	if len(keys) == 0 {
		return 0
	}
	s.fresh = s.fresh[:f.fresh] // its content stays for now
	same := s.variant(keys)
	if id := *same; s.has(id, keys) {
		return id
	}
	order, known := s.permuted(keys)
	repeated := false
	if !known {
		order = s.sort(keys)
		if repeated = s.repeated(order); repeated {
			keys = s.settle(f, keys, order)
			order = s.sort(keys)
		}
	}
	own := shape{first: uint32(len(s.lists)), count: uint32(len(keys)), at: uint32(len(s.shapes)), exact: flagExact}
	s.shapes = append(s.shapes, makeNode(NullKind, flagSorted, 0, len(keys)))
	for _, id := range keys {
		n := s.keys[id].node
		own.exact &= n
		s.shapes = append(s.shapes, n)
	}
	for i := range order {
		if int(order[i].place) != i {
			own.exact = 0
			s.shapes[own.at] &^= flagSorted
			for i := range order {
				place := order[i].place
				n := s.keys[keys[place]].node
				s.shapes = append(s.shapes, makeNode(NullKind, n&flagExact, int(place), n.second()))
			}
			break
		}
	}
	if repeated {
		own.exact = 0
	}
	if repeated || len(keys) > maxShapeKeys || len(s.lists)+len(keys) > maxLists {
		if int(f.known) == len(s.known) {
			s.keys = s.keys[:f.keys] // nothing refers to the others any more
		}
		// Shape 1 is for those that are not expected again.
		own.count = 0
		s.known[1] = own
		return 1
	}
	id := uint32(len(s.known))
	if !known {
		for i := range order {
			k := &s.keys[keys[order[i].place]]
			k.home, k.rank = id, uint32(i)
		}
	}
	s.lists = append(s.lists, keys...)
	s.known = append(s.known, own)
	*same = id
	return id
}

// variant returns where the number of the shape with these keys in this order may be.
func (s *scanner) variant(keys []uint32) *uint32 {
	hash := uint32(0)
	for _, id := range keys {
		hash = hash*31 + id
	}
	return &s.variants[hash*0x9E3779B9>>24]
}

// has reports whether a shape has these keys in this order. The number may be of another
// text's shape.
func (s *scanner) has(id uint32, keys []uint32) bool {
	if int(id) >= len(s.known) {
		return false
	}
	known := &s.known[id]
	return int(known.count) == len(keys) && slices.Equal(s.lists[known.first:known.first+known.count], keys)
}

// permuted returns the canonical order of keys if they are those of a shape in another
// order. It need not compare them then.
func (s *scanner) permuted(keys []uint32) (order []sortable, ok bool) {
	home := s.keys[keys[0]].home
	if home == 0 || len(keys) != int(s.known[home].count) {
		return nil, false
	}
	if cap(s.order) < maxShapeKeys {
		s.order = make([]sortable, maxShapeKeys)
	}
	order = s.order[:len(keys)]
	met := uint64(0)
	for i, id := range keys {
		k := &s.keys[id]
		if k.home != home {
			return nil, false
		}
		met |= 1 << k.rank
		order[k.rank].place = uint32(i)
	}
	return order, bits.OnesCount64(met) == len(keys)
}

// sortable is a key that is being sorted.
type sortable struct {
	prefix  uint64 // eight bytes of its text, the first one highest
	start   uint32 // its text, in side if it had escapes and else in the source
	end     uint32
	place   uint32 // among the object's keys
	decoded bool
}

// fewSorted is how many keys are sorted by insertion.
const fewSorted = 16

// sort brings keys into canonical order, equal ones in document order.
func (s *scanner) sort(keys []uint32) []sortable {
	if cap(s.order) < len(keys) {
		s.order = make([]sortable, max(len(keys), maxShapeKeys))
	}
	order := s.order[:len(keys)]
	s.side = s.side[:0]
	for i, id := range keys {
		k := &s.keys[id]
		start := uint32(k.node.first() + 1)
		o := sortable{prefix: k.prefix, start: start, end: start + uint32(k.node.second()-2), place: uint32(i)}
		if k.node.has(flagEscaped) {
			s.decode(&o)
		}
		j := i
		if len(keys) <= fewSorted {
			for ; j > 0 && (order[j-1].prefix > o.prefix || order[j-1].prefix == o.prefix && s.compare(order[j-1], o) > 0); j-- {
				order[j] = order[j-1]
			}
		}
		order[j] = o
	}
	if len(keys) > fewSorted {
		slices.SortFunc(order, func(a, b sortable) int {
			return cmp.Or(s.compare(a, b), cmp.Compare(a.place, b.place))
		})
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
func (s *scanner) settle(f *frame, keys []uint32, order []sortable) []uint32 {
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
