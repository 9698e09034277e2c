// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package yaml11

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// maxDepth bounds the levels of a document. It keeps merge keys from nesting deeply, and
// is far above the published limit.
const maxDepth = 400

var errDepth = errorf(CodeLimitExceeded, "document nested more than %d levels deep", maxDepth)

// element is a node on its way to a value.
type element struct {
	node  *yaml.Node
	tag   string
	depth int
	value jsonvalue.Value
	// The values of a collection, and of a mapping the keys before them.
	keys, values []*element
}

// builder makes values of nodes, level by level: the order in which errors are found is
// that of the levels, and no depth needs a deep stack.
type builder struct {
	queue []*element // every element so far, children after their parents
}

// build returns the value of a node.
func build(root *yaml.Node) (jsonvalue.Value, error) {
	b := new(builder)
	top, err := b.add(root, tagOf(root), 1)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	for i := 0; i < len(b.queue); i++ {
		if err := b.expand(b.queue[i]); err != nil {
			return jsonvalue.Value{}, err
		}
	}
	for _, e := range slices.Backward(b.queue) { // children before their parents
		e.assemble()
	}
	return top.value, nil
}

// tagOf returns the tag of a node, without its exclamation marks: its own, or the one that
// its form implies.
func tagOf(n *yaml.Node) string {
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		return n.Tag[len("!!"):]
	case n.Kind == yaml.SequenceNode:
		return "seq"
	case n.Kind == yaml.MappingNode:
		return "map"
	case n.Style != 0:
		return "str"
	}
	return plainTag(n.Value)
}

// add returns the element of a node. It has its value if it is a scalar; that of a
// collection is left to expand and assemble.
func (b *builder) add(n *yaml.Node, tag string, depth int) (*element, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	e := &element{node: n, tag: tag, depth: depth}
	b.queue = append(b.queue, e)
	if tag == "seq" || tag == "map" {
		return e, nil
	}
	// A mapping can represent a scalar: the value of its key "=".
	for n.Kind == yaml.MappingNode {
		i := 0
		for i < len(n.Content) && tagOf(n.Content[i]) != "value" {
			i += 2
		}
		if i == len(n.Content) {
			break
		}
		n = n.Content[i+1]
	}
	if n.Kind != yaml.ScalarNode {
		return nil, errorf(CodeUnsafe, "collection with the tag of a scalar")
	}
	var err error
	e.value, err = scalarValue(tag, n.Value)
	return e, err
}

// expand adds the children of a collection.
func (b *builder) expand(e *element) error {
	switch {
	case e.tag == "seq" && e.node.Kind == yaml.SequenceNode:
		for _, n := range e.node.Content {
			v, err := b.add(n, tagOf(n), e.depth+1)
			if err != nil {
				return err
			}
			e.values = append(e.values, v)
		}
	case e.tag == "map" && e.node.Kind == yaml.MappingNode:
		pairs, err := appendPairs(nil, e.node, e.depth)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			tag := tagOf(p.key)
			if tag == "value" {
				tag = "str" // as a key "=" is a string
			}
			key, err := b.add(p.key, tag, p.depth)
			if err != nil {
				return err
			}
			if tag == "seq" || tag == "map" {
				return errorf(CodeUnsafe, "key that is a collection")
			}
			value, err := b.add(p.value, tagOf(p.value), p.depth)
			if err != nil {
				return err
			}
			e.keys, e.values = append(e.keys, key), append(e.values, value)
		}
	case e.tag == "seq" || e.tag == "map":
		return errorf(CodeUnsafe, "node with the tag of another kind of node")
	}
	return nil
}

// assemble makes a collection's value of its children's.
func (e *element) assemble() {
	switch e.tag {
	case "seq":
		elements := make([]jsonvalue.Value, len(e.values))
		for i, v := range e.values {
			elements[i] = v.value
		}
		e.value = jsonvalue.Array(elements...)
	case "map":
		members, odd := make([]jsonvalue.Member, len(e.keys)), make([]bool, len(e.keys))
		for i, k := range e.keys {
			members[i].Value = e.values[i].value
			if k.value.Kind() == jsonvalue.StringKind {
				members[i].Key = k.value.Text()
				continue
			}
			members[i].Key, odd[i] = keyIdentity(k.value, k.node.Value, i), true
		}
		e.value = jsonvalue.Mapping(members, odd)
	}
}

type pair struct {
	key, value *yaml.Node
	depth      int
}

// appendPairs appends the pairs of a mapping at a depth: first those that its "<<" keys
// merge into it, then its own, which replace them.
func appendPairs(pairs []pair, n *yaml.Node, depth int) ([]pair, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	var own []pair
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if tagOf(key) != "merge" {
			own = append(own, pair{key, value, depth + 1})
			continue
		}
		from, at := []*yaml.Node{value}, depth+1
		if value.Kind == yaml.SequenceNode {
			from, at = value.Content, depth+2
		}
		for _, m := range slices.Backward(from) { // the first one's pairs replace the others'
			if m.Kind != yaml.MappingNode {
				return nil, errorf(CodeUnsafe, "<< with something that cannot be merged")
			}
			var err error
			if pairs, err = appendPairs(pairs, m, at); err != nil {
				return nil, err
			}
		}
	}
	return append(pairs, own...), nil
}
