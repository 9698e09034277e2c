// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package yaml11

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// colonAtEnd returns a plain scalar in a flow collection that ends with a colon, nil if
// there is none. If an indicator follows it, the colon is an indicator, too.
func colonAtEnd(docs []*yaml.Node) *yaml.Node {
	for n := range allNodes(docs) {
		if n.Style&yaml.FlowStyle == 0 {
			continue
		}
		for _, c := range n.Content {
			if c.Style&^yaml.TaggedStyle == 0 && strings.HasSuffix(c.Value, ":") {
				return c
			}
		}
	}
	return nil
}

// colons puts a tab behind each colon that an indicator of a flow collection follows.
var colons = strings.NewReplacer(":,", ":\t,", ":[", ":\t[", ":]", ":\t]", ":{", ":\t{", ":}", ":\t}")

// parseSpaced returns the documents of a text with the tabs of colons. In a flow collection
// a colon before an indicator ends a plain scalar; the library takes it for a part of the
// scalar without the tab. Outside of one it is a part of the scalar, so a text with such
// colons in both places is rejected: with err, the error of the text without the tabs.
func (s *source) parseSpaced(text string, err error) ([]*yaml.Node, error) {
	docs, failed := decode(text)
	if failed != nil {
		return nil, err
	}
	s.text, s.spaced = text, true
	for n := range allNodes(docs) {
		if strings.HasSuffix(n.Tag, ":") {
			return nil, err // the colon is not the end of the tag
		}
		if n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle != 0 {
			continue
		}
		for i := 1; i < len(n.Content); i += 2 {
			if value := n.Content[i]; value.Style&yaml.FlowStyle != 0 && s.text[s.offset(value)-1] == '\t' {
				return nil, err
			}
		}
	}
	return docs, nil
}
