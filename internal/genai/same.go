// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// maxDataDepth bounds how deep two values are compared piece by piece. Deeper
// ones are compared as a whole.
const maxDataDepth = 64

// SameData reports whether two values are the same data: the order of keys, the
// spelling of numbers and the white space around a string do not count, and
// neither does where a string of copied was cut.
func SameData(whole, copied jsonvalue.Value) bool { return sameData(whole, copied, 0) }

func sameData(a, b jsonvalue.Value, depth int) bool {
	switch {
	case a.Kind() == jsonvalue.StringKind && b.Kind() == jsonvalue.StringKind:
		x, y := strings.TrimSpace(a.Text()), strings.TrimSpace(b.Text())
		return x == y || CutCopy(x, y)
	case a.Kind() == jsonvalue.ArrayKind && b.Kind() == jsonvalue.ArrayKind && depth < maxDataDepth:
		if a.Len() != b.Len() {
			return false
		}
		for i := 0; i < a.Len(); i++ {
			if !sameData(a.Index(i), b.Index(i), depth+1) {
				return false
			}
		}
		return true
	case a.Kind() == jsonvalue.ObjectKind && b.Kind() == jsonvalue.ObjectKind && depth < maxDataDepth:
		if a.Len() != b.Len() {
			return false
		}
		for i := 0; i < a.Len(); i++ {
			key, x := a.Member(i)
			y, ok := b.Get(key)
			if !ok || !sameData(x, y, depth+1) {
				return false
			}
		}
		return true
	default:
		return jsonvalue.Equal(a, b)
	}
}

// onlyResult returns what an MCP server wraps in a structure because a structure
// must be an object: the member result of an object that has no other.
func onlyResult(v jsonvalue.Value) (jsonvalue.Value, bool) {
	if v.Kind() != jsonvalue.ObjectKind || v.Len() != 1 {
		return v, false
	}
	if key, inner := v.Member(0); key == "result" {
		return inner, true
	}
	return v, false
}

// Unwrapped returns the member result of an object that has no other member, and
// any other value as it is.
func Unwrapped(v jsonvalue.Value) jsonvalue.Value {
	inner, _ := onlyResult(v)
	return inner
}

// SameAnswer reports whether two values are one answer of an MCP server: the same
// data, or of one the structure and of the other what a text block holds of it, that
// is its only member result, its only list, or the only element of that list.
func SameAnswer(a, b jsonvalue.Value) bool {
	for _, x := range answers(a) {
		for _, y := range answers(b) {
			if SameData(x, y) {
				return true
			}
		}
	}
	return false
}

func answers(v jsonvalue.Value) []jsonvalue.Value {
	all := append(make([]jsonvalue.Value, 0, 4), v)
	inner, wrapped := onlyResult(v)
	if wrapped {
		all = append(all, inner)
	}
	list := inner
	if list.Kind() != jsonvalue.ArrayKind {
		var ok bool
		if list, ok = onlyList(v); !ok {
			return all
		}
		all = append(all, list)
	}
	if list.Len() == 1 {
		all = append(all, list.Index(0))
	}
	return all
}

// renders reports whether a list of content blocks can be a rendering of a
// structure. A block that is JSON has to equal the structure, its only member
// result, or its only list. Those that do not have to be the elements of that
// list: one block for each element, in order. A block that is no JSON may be any
// rendering.
func renders(structure, blocks jsonvalue.Value) bool {
	inner, wrapped := onlyResult(structure)
	list, listed := inner, wrapped && inner.Kind() == jsonvalue.ArrayKind
	if !listed {
		list, listed = onlyList(structure)
	}
	var parts []block // JSON that is not the whole answer
	for i := 0; i < blocks.Len(); i++ {
		b, ok := blockOf(blocks.Index(i))
		switch {
		case !ok:
		case b.is(structure), wrapped && b.is(inner), listed && b.is(list), blocks.Len() == 1 && b.isMember(structure):
		default:
			b.at = i
			parts = append(parts, b)
		}
	}
	return len(parts) == 0 || listed && (inOrder(list, parts, blocks.Len()) || isFlat(list, parts))
}

// inOrder reports whether blocks are the elements of a list, one for each.
// Elements that are strings may stand in blocks that are no JSON.
func inOrder(list jsonvalue.Value, parts []block, blocks int) bool {
	if len(parts) != list.Len() && blocks != list.Len() {
		return false
	}
	for i := range parts {
		at := i
		if len(parts) != list.Len() {
			at = parts[i].at
		}
		if !parts[i].is(list.Index(at)) {
			return false
		}
	}
	return true
}

// isFlat reports whether blocks are the elements of a list and of the lists in
// it. Servers that write one block for each element write none for null.
func isFlat(list jsonvalue.Value, parts []block) bool {
	n := 0
	var walk func(v jsonvalue.Value, depth int) bool
	walk = func(v jsonvalue.Value, depth int) bool {
		switch {
		case v.IsNull():
			return true
		case v.Kind() == jsonvalue.ArrayKind && depth < maxDataDepth:
			for i := 0; i < v.Len(); i++ {
				if !walk(v.Index(i), depth+1) {
					return false
				}
			}
			return true
		case n == len(parts) || !parts[n].is(v):
			return false
		}
		n++
		return true
	}
	return walk(list, 0) && n == len(parts)
}

// block is a content block that holds JSON, in the ways in which it can be read.
type block struct {
	at       int // in the list of blocks
	readings []jsonvalue.Value
}

// blockOf reads a content block. It answers false if the block is no JSON.
func blockOf(v jsonvalue.Value) (block, bool) {
	if inner, ok := v.Get("json"); ok && v.Len() == 1 {
		return block{readings: []jsonvalue.Value{inner}}, true
	}
	text, _ := v.Get("text")
	if text.Kind() != jsonvalue.StringKind || !jsonStart(text.Text(), false) {
		return block{}, false
	}
	parsed, err := jsonvalue.Parse(text.Text())
	if err != nil {
		return block{}, false
	}
	b := block{readings: []jsonvalue.Value{parsed, text}} // "5" is a string that holds a number
	if parsed.Kind() == jsonvalue.StringKind && jsonStart(parsed.Text(), true) {
		if again, err := jsonvalue.Parse(parsed.Text()); err == nil {
			b.readings = append(b.readings, again)
		}
	}
	return b, true
}

// is reports whether a reading of the block is the value.
func (b *block) is(v jsonvalue.Value) bool {
	for _, reading := range b.readings {
		if SameData(v, reading) {
			return true
		}
	}
	return false
}

// isMember reports whether the block is a scalar that is a member of the
// structure: a rendering of the one that matters.
func (b *block) isMember(structure jsonvalue.Value) bool {
	if !scalar(b.readings[0]) || structure.Kind() != jsonvalue.ObjectKind {
		return false
	}
	for i := 0; i < structure.Len(); i++ {
		if _, member := structure.Member(i); scalar(member) && b.is(member) {
			return true
		}
	}
	return false
}

func scalar(v jsonvalue.Value) bool {
	return v.Kind() != jsonvalue.ArrayKind && v.Kind() != jsonvalue.ObjectKind
}
