// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package yaml11

import (
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

var (
	// colons puts a tab behind each colon that an indicator of a flow collection follows.
	colons = strings.NewReplacer(":,", ":\t,", ":[", ":\t[", ":]", ":\t]", ":{", ":\t{", ":}", ":\t}")
	// emptyKey is a question mark that an indicator follows instead of a key.
	emptyKey = regexp.MustCompile(`\?( *)([\],:])`)
	// handle is a tag with a second exclamation mark, behind a character that no handle has.
	handle = regexp.MustCompile(`^![-\w]*[^-\w!][^!]*!`)
)

// space returns a text in which the library reads flow collections as YAML 1.1 does: with a
// tab behind each colon that would end a plain scalar there, and with the stand-in for
// nothing in place of each empty key. The tabs mean nothing there. Elsewhere they are in
// the middle of scalars, and are removed from them later, or lead to an error.
func space(text string, in *standIns) string {
	text = emptyKey.ReplaceAllString(text, "?${1}\t"+in.nothing+"\t${2}")
	return colons.Replace(text)
}

// read returns the documents of s.text as the library reads them. The error is that of the
// library, or one for what it does not read as YAML 1.1.
func (s *source) read(in *standIns) ([]*yaml.Node, error) {
	docs, err := decode(s.text)
	if err != nil {
		return nil, s.failure(err)
	}
	for n := range allNodes(docs) {
		switch {
		case n.Style&yaml.TaggedStyle != 0 && handle.MatchString(n.Tag):
			return nil, s.errorAt(n.Line, "tag with an odd handle")
		case s.spaced && s.misplaced(n, in):
			return nil, s.errorAt(n.Line, "flow collection without a space behind a colon")
		case n.Style&yaml.FlowStyle == 0:
			continue
		}
		for _, c := range n.Content {
			switch {
			case !s.spaced && plain(c) && strings.HasSuffix(c.Value, ":"):
				return nil, s.errorAt(c.Line, "flow collection without a space behind a colon")
			case n.Kind != yaml.SequenceNode || c.Kind != yaml.MappingNode || len(c.Content) == 0:
			case plain(c.Content[0]) && c.Content[0].Value == "" && c.Content[0].Style == 0 && c.Content[0].Anchor == "":
				// The library has skipped the token behind the "?".
				return nil, s.errorAt(c.Line, "pair without a key in a flow sequence")
			}
		}
	}
	return docs, nil
}

func plain(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style&^yaml.TaggedStyle == 0
}

// misplaced reports whether what space adds has changed a node outside of flow collections,
// or its tag.
func (s *source) misplaced(n *yaml.Node, in *standIns) bool {
	switch {
	case strings.HasSuffix(n.Tag, ":"), strings.HasSuffix(n.Tag, "?"):
		return true
	case plain(n): // it goes on behind the stand-in, or spaces at its end are part of it
		return n.Value != in.nothing && strings.HasPrefix(n.Value, in.nothing) || strings.HasSuffix(n.Value, " \t"+in.nothing)
	case n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle != 0:
		return false
	}
	for i := 1; i < len(n.Content); i += 2 {
		if value := n.Content[i]; value.Style&yaml.FlowStyle != 0 && s.text[s.offset(value)-1] == '\t' {
			return true // the colon was a part of a plain scalar
		}
	}
	return false
}
