// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package yaml11

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// syntaxError is an error of the library.
type syntaxError struct {
	line    int // counts from 1
	message string
}

func (e *syntaxError) Error() string { return e.message }

var (
	namedLine = regexp.MustCompile(`^line (\d+): `)
	// The lines in the messages of the library's parser count from 0, those of its scanner
	// from 1.
	ofParser  = regexp.MustCompile(`^(?:did not find expected (?:key|'-'|node|',' or|<)|found (?:undefined|duplicate|incompatible))`)
	aliasName = regexp.MustCompile(`\*([-\w]+)`)
)

// maxCommentWork bounds the levels of blocks times the comments of a text. At the end of
// every level the library goes through the comments before it. A text with comments on a
// thousand lines may have two thousand levels.
const maxCommentWork = 2_000_000

// overworks reports whether a text has so many levels and comments that the library could
// take long to read it. Each level of blocks needs a column of its own.
func overworks(text string) bool {
	comments, levels := strings.Count(text, "#"), 0
	if comments*len(text) <= maxCommentWork {
		return false
	}
	for line := range strings.FieldsFuncSeq(text, isBreak) {
		levels = max(levels, len(line)-len(strings.TrimLeft(line, " -?:")))
	}
	return levels*comments > maxCommentWork
}

// decode returns the documents of a text as the library reads them. An error is a
// *syntaxError.
func decode(text string) ([]*yaml.Node, error) {
	docs, err := decodeAll(text)
	if err == nil || !strings.HasPrefix(err.Error(), "unknown anchor") {
		return docs, err
	}
	// Aliases are refused, but an error in the syntax behind one comes first. The library
	// knows the anchors of a document in those that follow it.
	const lines = 3
	head := new(strings.Builder)
	head.WriteByte('[')
	known := map[string]bool{}
	for _, m := range aliasName.FindAllStringSubmatch(text, -1) {
		if !known[m[1]] {
			known[m[1]] = true
			fmt.Fprintf(head, "&%s ,", m[1])
		}
	}
	head.WriteString("]\n...\n")
	if !startsExplicitly.MatchString(text) {
		head.WriteString("---")
	}
	docs, err = decodeAll(head.String() + "\n" + text)
	if e := (*syntaxError)(nil); errors.As(err, &e) {
		e.line -= lines
		return nil, err
	}
	for n := range allNodes(docs) {
		n.Line -= lines
	}
	return docs[1:], nil
}

func decodeAll(text string) (docs []*yaml.Node, err error) {
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		doc := new(yaml.Node)
		switch err := d.Decode(doc); {
		case errors.Is(err, io.EOF):
			return docs, nil
		case err != nil:
			line, message := 1, strings.TrimPrefix(err.Error(), "yaml: ")
			if m := namedLine.FindStringSubmatch(message); m != nil {
				message = message[len(m[0]):]
				line, _ = strconv.Atoi(m[1])
				if ofParser.MatchString(message) {
					line++
				}
			}
			return nil, &syntaxError{line, message}
		}
		docs = append(docs, doc)
	}
}

// allNodes returns the nodes of documents in the order in which they start.
func allNodes(docs []*yaml.Node) iter.Seq[*yaml.Node] {
	return func(yield func(*yaml.Node) bool) {
		stack := slices.Clone(docs)
		slices.Reverse(stack)
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if !yield(n) {
				return
			}
			for _, child := range slices.Backward(n.Content) {
				stack = append(stack, child)
			}
		}
	}
}
