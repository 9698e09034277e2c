// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"slices"
	"strings"
)

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
