// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"cmp"
	"slices"
	"strings"
)

// sortable is a key of an object that is closed.
type sortable struct {
	prefix     uint64 // the first bytes of its text, the first one highest
	start, end uint32 // its text: in the source, or in decoded if it has escapes
	at         uint32 // its place among the object's keys
	escaped    bool
}

// fewSorted is how many keys are sorted by insertion. Most objects have no more, and many
// have them in order.
const fewSorted = 16

// sort brings the keys of the object whose members are pending from base on into
// canonical order, equal ones in document order. It reports whether some are equal.
func (s *scanner) sort(base int) (order []sortable, repeated bool) {
	members := s.pending[base:]
	few := len(members) <= 2*fewSorted
	order, s.decoded = s.keys[:0], s.decoded[:0]
	for i := 0; i < len(members); i += 2 {
		k := members[i]
		start := k.first() + 1
		end := start + k.second() - 2
		text := s.text[start:end]
		if k.has(flagEscaped) {
			text = unescape(text)
			start, end = len(s.decoded), len(s.decoded)+len(text)
			s.decoded = append(s.decoded, text...)
		}
		o := sortable{prefix: prefix(text), start: uint32(start), end: uint32(end), at: uint32(i / 2), escaped: k.has(flagEscaped)}
		order = append(order, o)
		if !few {
			continue
		}
		j := len(order) - 1
		for ; j > 0 && (order[j-1].prefix > o.prefix || order[j-1].prefix == o.prefix && s.compare(order[j-1], o) > 0); j-- {
			order[j] = order[j-1]
		}
		order[j] = o
	}
	s.keys = order
	if !few {
		slices.SortFunc(order, func(a, b sortable) int {
			return cmp.Or(s.compare(a, b), cmp.Compare(a.at, b.at))
		})
	}
	for i := 1; i < len(order) && !repeated; i++ {
		repeated = order[i-1].prefix == order[i].prefix && s.compare(order[i-1], order[i]) == 0
	}
	return order, repeated
}

// prefix returns up to eight bytes of a text, the first one highest.
func prefix(text string) (w uint64) {
	if len(text) >= 8 {
		return uint64(text[0])<<56 | uint64(text[1])<<48 | uint64(text[2])<<40 | uint64(text[3])<<32 |
			uint64(text[4])<<24 | uint64(text[5])<<16 | uint64(text[6])<<8 | uint64(text[7])
	}
	for i := range len(text) {
		w |= uint64(text[i]) << (56 - 8*i)
	}
	return w
}

func (s *scanner) keyText(o sortable) string {
	if o.escaped {
		return string(s.decoded[o.start:o.end])
	}
	return s.text[o.start:o.end]
}

func (s *scanner) compare(a, b sortable) int {
	if a.prefix != b.prefix {
		return cmp.Compare(a.prefix, b.prefix)
	}
	return strings.Compare(s.keyText(a), s.keyText(b))
}

// settle drops all but the last of equal keys, with their values. The last one takes the
// place of the first.
func (s *scanner) settle(base int, order []sortable) {
	members := s.pending[base:]
	dropped := make([]bool, len(order))
	for i := 0; i < len(order); {
		first, j := order[i].at, i+1
		for ; j < len(order) && s.compare(order[i], order[j]) == 0; j++ {
			dropped[order[j].at] = true
		}
		last := order[j-1].at
		members[2*first], members[2*first+1] = members[2*last], members[2*last+1]
		i = j
	}
	kept := 0
	for i := range dropped {
		if !dropped[i] {
			members[kept], members[kept+1] = members[2*i], members[2*i+1]
			kept += 2
		}
	}
	s.pending = s.pending[:base+kept]
}
