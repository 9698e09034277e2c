// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// jsonNodes reads a JSON text into the nodes of the YAML library, with the line and
// column of each. Most JSON is YAML, too, but not all of it: a YAML reader refuses
// surrogate pairs written as two escapes and a colon on the line after its key. It
// returns nil for a text that is not JSON in UTF-8.
func jsonNodes(text []byte) *yaml.Node {
	r := &jsonReader{text: text, decoder: json.NewDecoder(bytes.NewReader(text)), line: 1, column: 1}
	r.decoder.UseNumber()
	root := r.value(1)
	if root == nil {
		return nil
	}
	if _, err := r.decoder.Token(); err != io.EOF {
		return nil
	}
	return root
}

// jsonReader reads tokens and follows their places.
type jsonReader struct {
	text         []byte
	decoder      *json.Decoder
	at           int // everything before was counted
	line, column int
}

// maxNodeDepth bounds how deep values may be nested. Documents are refused beyond
// far less.
const maxNodeDepth = 1000

// value reads a value at the given depth.
func (r *jsonReader) value(depth int) *yaml.Node {
	n, ok := r.next()
	if !ok || n.Kind == 0 || depth > maxNodeDepth {
		return nil
	}
	for n.Kind != yaml.ScalarNode && r.decoder.More() {
		if n.Kind == yaml.MappingNode {
			key, ok := r.next()
			if !ok {
				return nil
			}
			n.Content = append(n.Content, key)
		}
		child := r.value(depth + 1)
		if child == nil {
			return nil
		}
		n.Content = append(n.Content, child)
	}
	if n.Kind != yaml.ScalarNode {
		if _, ok := r.next(); !ok { // its end
			return nil
		}
	}
	return n
}

// next reads a token: a scalar, the start of a collection, or its end, of kind 0.
func (r *jsonReader) next() (*yaml.Node, bool) {
	start := int(r.decoder.InputOffset())
	for start < len(r.text) && bytes.IndexByte([]byte(" \t\r\n,:"), r.text[start]) >= 0 {
		start++
	}
	token, err := r.decoder.Token()
	if err != nil {
		return nil, false
	}
	for r.at < start {
		c, size := utf8.DecodeRune(r.text[r.at:])
		r.at += size
		r.column++
		if c == '\n' {
			r.line, r.column = r.line+1, 1
		}
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: r.line, Column: r.column}
	switch t := token.(type) {
	case json.Delim:
		n.Kind = map[json.Delim]yaml.Kind{'{': yaml.MappingNode, '[': yaml.SequenceNode}[t]
	case string:
		n.Value = t
	}
	return n, true
}
