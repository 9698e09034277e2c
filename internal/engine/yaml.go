// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"unicode/utf8"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// maxYAMLDepth bounds what is made into values at all; the published limit is
// far below it.
const maxYAMLDepth = 400

var errYAMLDepth = errorf(CodeLimitExceeded, "YAML: nested more than %d levels deep", maxYAMLDepth)

// parseYAML reads a YAML document. In this order, errors have CodeParseFailed for what is no YAML;
// CodeUnsafeInput for anchors, aliases and foreign tags; CodeParseFailed for a second document;
// CodeLimitExceeded for nesting beyond all reason; then, whichever comes first in the
// document, CodeUnsafeInput for a construct that no data needs and CodeParseFailed for a scalar
// that is not of its form; and CodeLimitExceeded for a document that is a time and nothing else.
func parseYAML(text string) (jsonvalue.Value, error) {
	if !utf8.ValidString(text) {
		return jsonvalue.Value{}, errorf(CodeParseFailed, "YAML: text is not UTF-8")
	}
	docs, unsafe, unpaired, err := parseYAMLTree(text)
	switch {
	case err != nil:
		return jsonvalue.Value{}, err
	case unsafe:
		return jsonvalue.Value{}, errorf(CodeUnsafeInput, "YAML: anchors, aliases and tags of other types are refused")
	case len(docs) > 1:
		return jsonvalue.Value{}, errorf(CodeParseFailed, "YAML: more than one document")
	case len(docs) == 0:
		return jsonvalue.Null(), nil
	}
	v, err := buildYAML(docs[0])
	switch {
	case err != nil:
	case v.Kind() == jsonvalue.TimestampKind:
		err = errorf(CodeLimitExceeded, "YAML: the document must be a mapping, a sequence or a scalar, not a time")
	case unpaired:
		err = errLoneSurrogate
	}
	return v, err
}

// parseYAMLPayload reads a YAML text that is a result, and holds it to the limits
// of a document.
func parseYAMLPayload(text string) (jsonvalue.Value, error) {
	v, err := parseYAML(text)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	return v, checkLimits(v)
}

// yamlBuild is a node on its way to a value.
type yamlBuild struct {
	node  *yamlNode
	tag   string
	value jsonvalue.Value
	// The values of a collection, and of a mapping the keys before them.
	keys, values []*yamlBuild
}

// yamlBuilder makes values of a tree, level by level: the order in which faults
// are found is that of the levels, and no depth needs a deep stack.
type yamlBuilder struct {
	queue []*yamlBuild // every node so far, children after their parents
}

func buildYAML(root *yamlNode) (jsonvalue.Value, error) {
	b := new(yamlBuilder)
	top, err := b.add(root, root.tagOf())
	if err != nil {
		return jsonvalue.Value{}, err
	}
	for i := 0; i < len(b.queue); i++ {
		if err := b.queue[i].expand(b); err != nil {
			return jsonvalue.Value{}, err
		}
	}
	for _, n := range slices.Backward(b.queue) { // children before their parents
		n.assemble()
	}
	return top.value, nil
}

// add makes a node's value if it is a scalar, and otherwise leaves it to expand.
func (b *yamlBuilder) add(n *yamlNode, tag string) (*yamlBuild, error) {
	if n.depth > maxYAMLDepth {
		return nil, errYAMLDepth
	}
	build := &yamlBuild{node: n, tag: tag}
	b.queue = append(b.queue, build)
	if tag == "seq" || tag == "map" {
		return build, nil
	}
	// A mapping can stand for a scalar: the value of its key "=".
	for n.kind == yamlMappingNode {
		var stand *yamlNode
		for i := 0; i < len(n.children); i += 2 {
			if n.children[i].tagOf() == "value" {
				stand = n.children[i+1]
				break
			}
		}
		if stand == nil {
			break
		}
		n = stand
	}
	if n.kind != yamlScalarNode {
		return nil, errorf(CodeUnsafeInput, "YAML: collection with the tag of a scalar")
	}
	var err error
	build.value, err = yamlScalarValue(tag, n.text)
	return build, err
}

// expand adds the children of a collection.
func (c *yamlBuild) expand(b *yamlBuilder) error {
	switch {
	case c.tag == "seq" && c.node.kind == yamlSequenceNode:
		for _, n := range c.node.children {
			v, err := b.add(n, n.tagOf())
			if err != nil {
				return err
			}
			c.values = append(c.values, v)
		}
	case c.tag == "map" && c.node.kind == yamlMappingNode:
		pairs, err := yamlPairs(c.node)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			tag := p.key.tagOf()
			if tag == "value" {
				tag = "str" // as a key "=" is a string
			}
			key, err := b.add(p.key, tag)
			if err != nil {
				return err
			}
			if tag == "seq" || tag == "map" {
				return errorf(CodeUnsafeInput, "YAML: key that is a collection")
			}
			value, err := b.add(p.value, p.value.tagOf())
			if err != nil {
				return err
			}
			c.keys, c.values = append(c.keys, key), append(c.values, value)
		}
	case c.tag == "seq" || c.tag == "map":
		return errorf(CodeUnsafeInput, "YAML: node with the tag of another kind of node")
	}
	return nil
}

// assemble makes a collection's value of its children's.
func (c *yamlBuild) assemble() {
	switch c.tag {
	case "seq":
		elements := make([]jsonvalue.Value, len(c.values))
		for i, v := range c.values {
			elements[i] = v.value
		}
		c.value = jsonvalue.Array(elements...)
	case "map":
		members, odd := make([]jsonvalue.Member, len(c.keys)), make([]bool, len(c.keys))
		for i, k := range c.keys {
			members[i].Value = c.values[i].value
			if k.value.Kind() == jsonvalue.StringKind {
				members[i].Key = k.value.Text()
				continue
			}
			members[i].Key, odd[i] = yamlKeyIdentity(k.value, k.node.text, i), true
		}
		c.value = jsonvalue.Mapping(members, odd)
	}
}

type yamlPair struct{ key, value *yamlNode }

// yamlPairs returns the pairs of a mapping: first those that its "<<" keys merge
// into it, which its own replace. Depth is bounded by maxYAMLDepth.
func yamlPairs(n *yamlNode) ([]yamlPair, error) {
	var merged, own []yamlPair
	for i := 0; i < len(n.children); i += 2 {
		key, value := n.children[i], n.children[i+1]
		if key.tagOf() != "merge" {
			own = append(own, yamlPair{key, value})
			continue
		}
		from := []*yamlNode{value}
		if value.kind == yamlSequenceNode {
			from = slices.Clone(value.children)
			slices.Reverse(from) // the first one's pairs replace the others'
		}
		for _, m := range from {
			switch {
			case m.kind != yamlMappingNode:
				return nil, errorf(CodeUnsafeInput, "YAML: << with something that cannot be merged")
			case m.depth > maxYAMLDepth:
				return nil, errYAMLDepth
			}
			pairs, err := yamlPairs(m)
			if err != nil {
				return nil, err
			}
			merged = append(merged, pairs...)
		}
	}
	return append(merged, own...), nil
}
