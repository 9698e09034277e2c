// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"sort"
	"strings"
)

// A tape is a parsed JSON text: one word for every value and every key. It holds no text
// of its own: strings and numbers are places in the source.
//
// The children of a container stand side by side, behind a word that says where the
// container is in the source. Those of an object are its keys and values in turn, in
// document order. If that is not the canonical order of the keys, the places of the keys
// in canonical order follow.
//
// A tape is one block of memory however many values the text holds, and the garbage
// collector has nothing to follow in it.
type tape struct {
	source string
	nodes  []node
}

// node is a value or a key in one word: its kind and flags and two numbers of 28
// bits, of which MaxBytes needs 25.
//
// For a scalar these are the place and length of its text in the source; a
// string's text includes the quotation marks. For a container the first is where in
// nodes its children are, and the second the number of its elements or members.
type node uint64

const (
	kindMask      node = 1<<3 - 1
	flagExact     node = 1 << 3 // the text is the canonical form
	flagEscaped   node = 1 << 4 // of a string: it has escapes
	flagTrue      node = 1 << 5 // of a boolean
	flagSorted    node = 1 << 6 // of an object: document order is canonical order
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

// index returns child i of a container, key of an object the key of that.
func (t *tape) index(n node, i int) node {
	if n.kind() == ArrayKind {
		return t.nodes[n.first():][:n.second()][i]
	}
	return t.nodes[n.first():][:2*n.second()][2*i+1]
}

// key returns key i of an object.
func (t *tape) key(n node, i int) node { return t.nodes[n.first():][:2*n.second()][2*i] }

// order is the places of an object's keys in canonical order, nil if that is document
// order.
func (t *tape) order(n node) []node {
	if n.has(flagSorted) {
		return nil
	}
	return t.nodes[n.first()+2*n.second():][:n.second()]
}

// fewKeys is where comparing with every key stops being faster than a search.
const fewKeys = 8

// find returns which member of an object has a key, -1 if none has.
func (t *tape) find(n node, key string) int {
	if n.second() <= fewKeys {
		for i := range n.second() {
			k := t.key(n, i)
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
	order := t.order(n)
	place := func(i int) int {
		if order == nil {
			return i
		}
		return int(order[i])
	}
	i, found := sort.Find(n.second(), func(i int) int { return strings.Compare(key, t.keyText(t.key(n, place(i)))) })
	if !found {
		return -1
	}
	return place(i)
}
