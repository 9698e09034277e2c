// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"slices"
	"strings"
)

// A tape is a parsed JSON text: one word for every value, and the keys of its
// objects. It holds no text of its own: strings and numbers are places in the
// source, and a string that has escapes is decoded when it is asked for.
//
// The children of a container stand side by side, behind a word that says where the
// container is in the source. An object's keys stand apart, as a shape, because in most
// texts many objects have the same keys; all of these share one shape.
//
// A tape is one block of memory however many values the text holds, and the
// garbage collector has nothing to follow in it.
type tape struct {
	source string
	nodes  []node
	shapes []node
}

// node is a value or a key in one word: its kind and flags and two numbers of 28
// bits, of which MaxBytes needs 25.
//
// For a scalar these are the place and length of its text in the source; a
// string's text includes the quotation marks. For a container the first is where in
// nodes its children are. The second is the number of elements of an array, and
// where in shapes the shape of an object is.
//
// A shape is a head with the number of keys, the keys in document order and,
// unless that is the canonical order too, an entry for every key in canonical order:
// its place among the keys, its size, and flagExact if it has that.
type node uint64

const (
	kindMask      node = 1<<3 - 1
	flagExact     node = 1 << 3 // the text is the canonical form
	flagEscaped   node = 1 << 4 // of a string: it has escapes
	flagBeside    node = 1 << 5 // of a member's value: nothing but a colon is between the key and it
	flagTrue      node = 1 << 6
	flagSorted    node = 1 << 7 // of a shape: document order is canonical order
	nodeField          = 28
	nodeFieldMask node = 1<<nodeField - 1
	firstShift         = 8
	secondShift        = firstShift + nodeField
)

func makeNode(kind Kind, flags node, first, second int) node {
	return node(kind) | flags | node(first)<<firstShift | node(second)<<secondShift
}

func (n node) kind() Kind      { return Kind(n & kindMask) }
func (n node) has(f node) bool { return n&f == f }
func (n node) first() int      { return int(n >> firstShift & nodeFieldMask) }
func (n node) second() int     { return int(n >> secondShift) }
func (n node) container() bool { return n&kindMask >= node(ArrayKind) }
func (n node) within(s string) string {
	first := n.first()
	return s[first : first+n.second()]
}

// extent returns a node whose text is that of n, also where n is a container.
func (t *tape) extent(n node) node {
	if n.container() {
		return t.nodes[n.first()-1]
	}
	return n
}

func (t *tape) value(n node) Value {
	switch kind := n.kind(); kind {
	case NullKind:
		return Value{}
	case BoolKind:
		return Bool(n.has(flagTrue))
	case StringKind:
		text := n.within(t.source)
		return Value{kind: StringKind, text: text[1 : len(text)-1], escaped: n.has(flagEscaped), exact: n.has(flagEscaped | flagExact)}
	case IntKind, FloatKind:
		return Value{kind: kind, text: n.within(t.source), exact: n.has(flagExact)}
	default:
		v := Value{kind: kind, tape: t, bits: uint64(n)}
		if n.has(flagExact) {
			v.text, v.exact = t.extent(n).within(t.source), true
		}
		return v
	}
}

// keyText is the text of a key.
func (t *tape) keyText(key node) string {
	text := key.within(t.source)
	text = text[1 : len(text)-1]
	if key.has(flagEscaped) {
		return unescape(text)
	}
	return text
}

// size is the number of children of a container.
func (t *tape) size(n node) int {
	if n.kind() == ObjectKind {
		return t.shapes[n.second()].second()
	}
	return n.second()
}

// index returns child i of a container.
func (t *tape) index(n node, i int) node {
	return t.nodes[n.first() : n.first()+t.size(n)][i]
}

// keys are the keys of a shape in document order. order says how to go through them
// in canonical order; it is nil if that is the same.
func (t *tape) keys(shape int) (keys, order []node) {
	head := t.shapes[shape]
	keys = t.shapes[shape+1:]
	size := head.second()
	if !head.has(flagSorted) {
		order = keys[size : 2*size]
	}
	return keys[:size], order
}

// parts are what a container consists of; an array has no keys and no order.
func (t *tape) parts(n node) (children, keys, order []node) {
	children = t.nodes[n.first():]
	if n.kind() == ArrayKind {
		return children[:n.second()], nil, nil
	}
	keys, order = t.keys(n.second())
	return children[:len(keys)], keys, order
}

// fewKeys is where comparing with every key stops being faster than a search.
const fewKeys = 8

// find returns which child of an object has a key, -1 if none has.
func (t *tape) find(n node, key string) int {
	keys, order := t.keys(n.second())
	if len(keys) <= fewKeys {
		for i, k := range keys {
			if k.has(flagEscaped) {
				if t.keyText(k) == key {
					return i
				}
			} else if first := k.first() + 1; k.second() == len(key)+2 && t.source[first:first+len(key)] == key {
				return i
			}
		}
		return -1
	}
	compare := func(k node, key string) int { return strings.Compare(t.keyText(k), key) }
	if order == nil {
		if i, found := slices.BinarySearchFunc(keys, key, compare); found {
			return i
		}
		return -1
	}
	i, found := slices.BinarySearchFunc(order, key, func(entry node, key string) int { return compare(keys[entry.first()], key) })
	if !found {
		return -1
	}
	return order[i].first()
}
