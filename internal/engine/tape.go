// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strings"
)

// A tape is a parsed JSON text: one node for every value and every key, in the
// order of the text. A key's value is the node after it. The nodes hold no
// pointers and no text of their own; strings are slices of the source, except
// those that had escapes, which stand decoded in side.
//
// A tape is a handful of allocations however many values the text holds, and the
// garbage collector has nothing to follow in it.
type tape struct {
	source string
	side   string
	nodes  []node
	kids   []uint32 // the children of every container, container by container
}

type node struct {
	kind  ValueKind
	flags nodeFlags
	// off and end delimit the text: of a number its digits, of a string its
	// value, of a container that is canonical its source.
	off, end uint32
	// first and count say where in kids a container's children stand. An array's
	// are its elements; an object's are its keys, in document order and, where
	// the keys are not in canonical order already, once more in that order. Of a
	// string whose escapes are canonical they delimit its source.
	first, count uint32
}

type nodeFlags uint8

const (
	flagExact  nodeFlags = 1 << iota // the text is the canonical form
	flagSide                         // off and end are in side
	flagSorted                       // the members stand in canonical order
	flagTrue
)

func (t *tape) text(at uint32) string {
	n := &t.nodes[at]
	if n.flags&flagSide != 0 {
		return t.side[n.off:n.end]
	}
	return t.source[n.off:n.end]
}

func (t *tape) value(at uint32) Value {
	n := &t.nodes[at]
	switch n.kind {
	case NullKind:
		return Value{}
	case BoolKind:
		return Bool(n.flags&flagTrue != 0)
	case StringKind:
		return Value{kind: StringKind, text: t.text(at)}
	case IntKind, FloatKind:
		return Value{kind: n.kind, text: t.source[n.off:n.end], exact: n.flags&flagExact != 0}
	}
	v := Value{kind: n.kind, tape: t, bits: uint64(at)}
	if n.flags&flagExact != 0 {
		v.text, v.exact = t.source[n.off:n.end], true
	}
	return v
}

// appendText appends the canonical form of a string.
func (t *tape) appendText(dst []byte, at uint32) []byte {
	n := &t.nodes[at]
	switch n.flags & (flagSide | flagExact) {
	case flagSide:
		return appendString(dst, t.side[n.off:n.end])
	case flagSide | flagExact:
		return append(dst, t.source[n.first:n.count]...)
	}
	return append(dst, t.source[n.off-1:n.end+1]...) // without escapes it is its own
}

// children are an array's elements or an object's keys, in document order.
func (t *tape) children(at uint32) []uint32 {
	n := &t.nodes[at]
	return t.kids[n.first : n.first+n.count]
}

// ordered are an object's keys in canonical order.
func (t *tape) ordered(at uint32) []uint32 {
	n := &t.nodes[at]
	if n.flags&flagSorted != 0 {
		return t.kids[n.first : n.first+n.count]
	}
	return t.kids[n.first+n.count : n.first+2*n.count]
}

// fewKeys is where comparing with every key stops being faster than a search.
const fewKeys = 8

func (t *tape) get(at uint32, key string) (Value, bool) {
	if t.nodes[at].count <= fewKeys {
		for _, k := range t.children(at) {
			if t.text(k) == key {
				return t.value(k + 1), true
			}
		}
		return Value{}, false
	}
	keys := t.ordered(at)
	i, found := slices.BinarySearchFunc(keys, key, func(k uint32, key string) int {
		return strings.Compare(t.text(k), key)
	})
	if !found {
		return Value{}, false
	}
	return t.value(keys[i] + 1), true
}
