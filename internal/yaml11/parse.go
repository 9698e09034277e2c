// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package yaml11

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// Parse reads a YAML document. An empty text is null. An error is an *Error. Of several
// errors the first in this order is returned: a text that is not YAML; anchors, aliases
// and tags that are not plain data; more than one document; too deep nesting; then, in the
// order of their levels, constructs that no data needs and scalars that are not of their
// type; and half of a surrogate pair.
func Parse(text string) (jsonvalue.Value, error) {
	if err := readable(text); err != nil {
		return jsonvalue.Value{}, err
	}
	s := &source{original: text}
	docs, err := s.parse()
	if err != nil {
		return jsonvalue.Value{}, err
	}
	if s.unsafe(docs) {
		return jsonvalue.Value{}, errorf(CodeUnsafe, "anchors, aliases and tags of other types are refused")
	}
	switch len(docs) {
	case 0:
		return jsonvalue.Null(), nil
	case 1:
	default:
		return jsonvalue.Value{}, s.errorAt(docs[1].Line, "more than one document")
	}
	v, err := build(docs[0].Content[0])
	if err == nil && s.unpaired {
		err = errorf(CodeUnencodable, "text holds half of a surrogate pair, which cannot be encoded")
	}
	return v, err
}

// readable returns an error for the first character of a text that no YAML text holds.
func readable(text string) error {
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			return &Error{CodeMalformed, "text is not UTF-8", i}
		case r == '\t', r == '\n', r == '\r', r == 0x85, 0x20 <= r && r <= 0x7E:
		case 0xA0 <= r && r <= 0xFFFD, r >= 0x10000:
		default:
			return &Error{CodeMalformed, "character that YAML does not allow", i}
		}
	}
	return nil
}

// safeTags are the tags that state which kind of plain data a node is.
var safeTags = []string{"!!str", "!!int", "!!float", "!!bool", "!!null", "!!seq", "!!map", "!!timestamp"}

// nonSpecific is the tag "!", which the library takes for none, at the start of a node.
var nonSpecific = regexp.MustCompile(`^!(?:<!>)?(?:[ ` + breaks + `]|$)`)

// unsafe reports whether documents have an anchor, an alias or a tag that is not one of
// plain data.
func (s *source) unsafe(docs []*yaml.Node) bool {
	marked := strings.Contains(s.text, "!")
	for n := range allNodes(docs) {
		switch {
		case n.Kind == yaml.AliasNode, n.Anchor != "":
			return true
		case n.Style&yaml.TaggedStyle != 0:
			if !slices.Contains(safeTags, n.Tag) {
				return true
			}
		case marked && nonSpecific.MatchString(s.text[s.offset(n):]):
			return true
		}
	}
	return false
}
