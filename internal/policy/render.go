// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"
)

// LoadMap is Load for a policy that was parsed before: a tree of
// map[string]any, []any and scalars as YAML or JSON decoders make them. The map
// is written out as YAML and that is loaded, so its diagnostics name the path
// and show an excerpt of the text, and have no line and column.
func LoadMap(name string, m map[string]any) (*Policy, error) {
	node, err := toNode(m, "", 0)
	if err != nil {
		return nil, Diagnostics{{File: name, Message: err.Error()}}
	}
	var text bytes.Buffer
	encoder := yaml.NewEncoder(&text)
	encoder.SetIndent(2)
	if err := encoder.Encode(node); err != nil {
		return nil, Diagnostics{{File: name, Message: "the policy cannot be written as YAML: " + err.Error()}}
	}
	src := newSource(name, text.String())
	src.rendered = true
	return load(src)
}

// maxMapDepth bounds the nesting of a parsed policy; none that is right nests
// deeper than a handful.
const maxMapDepth = 64

// toNode returns the YAML node of a parsed value.
func toNode(v any, path string, depth int) (*yaml.Node, error) {
	if depth > maxMapDepth {
		return nil, fmt.Errorf("%s: nests too deeply", path)
	}
	here := at{path: path}
	switch v := v.(type) {
	case map[string]any:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			child, err := toNode(v[key], here.field(key), depth+1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, stringNode(key), child)
		}
		return n, nil
	case []any:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i, e := range v {
			child, err := toNode(e, fmt.Sprintf("%s[%d]", path, i), depth+1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		return n, nil
	case map[any]any:
		m := make(map[string]any, len(v))
		for key, e := range v {
			s, ok := key.(string)
			if !ok {
				return nil, fmt.Errorf("%s: expected keys that are strings, found %T", path, key)
			}
			m[s] = e
		}
		return toNode(m, path, depth)
	case []string:
		list := make([]any, len(v))
		for i, s := range v {
			list[i] = s
		}
		return toNode(list, path, depth)
	case string:
		return stringNode(v), nil
	case nil, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64, time.Time:
		n := &yaml.Node{}
		if err := n.Encode(v); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		return n, nil
	default:
		return nil, fmt.Errorf("%s: a value of type %T has no place in a policy", path, v)
	}
}

// stringNode returns the node of a string, in quotes where the writer's plain
// and block forms might not give it back as it is.
func stringNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	odd := func(r rune) bool { return r == '\u00a0' || r == '\ufeff' || !unicode.IsPrint(r) }
	if s == "" || s == "<<" || strings.TrimSpace(s) != s || strings.ContainsFunc(s, odd) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
