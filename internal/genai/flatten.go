// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"sort"
	"strconv"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// node is a level of a message list that was flattened into attributes.
type node struct {
	leaf     jsonvalue.Value
	children map[string]*node
	order    []string
}

// maxFlatDepth bounds the levels of a flattened name. The deepest known name
// (llm.input_messages.N.message.tool_calls.M.tool_call.function.arguments) has
// eight.
const maxFlatDepth = 16

// unflatten puts the attributes under prefix back together: numeric steps are
// list positions, the others object keys.
func (d *Decoder) unflatten(prefix string) (jsonvalue.Value, bool) {
	root := &node{}
	found := false
	for i := range d.flat {
		if d.flat[i].prefix != prefix {
			continue
		}
		found = true
		at := root
		for _, step := range strings.SplitN(d.flat[i].rest, ".", maxFlatDepth) {
			next := at.children[step]
			if next == nil {
				next = &node{}
				if at.children == nil {
					at.children = map[string]*node{}
				}
				at.children[step] = next
				at.order = append(at.order, step)
			}
			at = next
		}
		at.leaf = ValueOf(d.flat[i].value)
	}
	return root.value(), found
}

func (n *node) value() jsonvalue.Value {
	if len(n.order) == 0 {
		return n.leaf
	}
	// Positions may have gaps; only their order counts.
	positions := make([]int, 0, len(n.order))
	for _, step := range n.order {
		p, err := strconv.Atoi(step)
		if err != nil {
			return n.object()
		}
		positions = append(positions, p)
	}
	sort.Ints(positions)
	elems := make([]jsonvalue.Value, 0, len(positions))
	for _, p := range positions {
		child, ok := n.children[strconv.Itoa(p)]
		if !ok { // "01": not a position
			return n.object()
		}
		elems = append(elems, child.value())
	}
	return jsonvalue.Array(elems...)
}

func (n *node) object() jsonvalue.Value {
	sort.Strings(n.order)
	members := make([]jsonvalue.Member, 0, len(n.order))
	for _, step := range n.order {
		members = append(members, jsonvalue.Member{Key: step, Value: n.children[step].value()})
	}
	return jsonvalue.Object(members...)
}
