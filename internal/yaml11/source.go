// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package yaml11

import (
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// source is a text and the form in which the library reads it.
type source struct {
	original string
	text     string // as the library reads it
	spaced   bool   // text is the result of space
	unpaired bool   // a scalar has half of a surrogate pair

	lines            []int // where the lines of text start
	line, column, at int   // the position that was asked for last
}

// parse returns the documents of the text. The scalars have the values of YAML 1.1.
func (s *source) parse() ([]*yaml.Node, error) {
	body, err := s.directives(strings.TrimPrefix(s.original, bom))
	if err != nil {
		return nil, err
	}
	in := newStandIns(body)
	s.text = in.put(body, true)
	replaced := s.text != body
	if overworks(s.text) {
		return nil, errorf(CodeLimitExceeded, "too many comments for the depth of the document")
	}
	docs, err := s.read(in)
	if err != nil {
		spaced := space(s.text, in)
		if spaced == s.text {
			return nil, err
		}
		s.text, s.spaced = spaced, true
		var failed error
		if docs, failed = s.read(in); failed != nil {
			return nil, err // of the text as it is
		}
	}
	if replaced || s.spaced {
		if err := s.resolve(docs, body, in); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// tabAtBreak is a tab that counts in the folding of lines, or behind a document marker.
var tabAtBreak = regexp.MustCompile(`\t *[` + breaks + `]|[` + breaks + `](?: *|---|\.\.\.)\t`)

// resolve replaces the stand-ins in the scalars by what they stand for.
func (s *source) resolve(docs []*yaml.Node, body string, in *standIns) error {
	all := scalars(docs)
	// Lines that start or end with tabs are folded in another way than those with letters.
	var folded []*yaml.Node
	atBreak := tabAtBreak.MatchString(body)
	if atBreak && !s.spaced {
		if docs, err := decode(in.put(body, false)); err == nil {
			folded = scalars(docs)
		}
	}
	for i, n := range all {
		if s.spaced {
			n.Value = strings.ReplaceAll(n.Value, "\t", "")
		}
		switch {
		case !strings.Contains(n.Value, in.tab):
		case n.Style&^yaml.TaggedStyle == 0:
			return s.errorAt(n.Line, "tab outside of quotes, blocks and comments")
		case !atBreak, n.Style&yaml.LiteralStyle != 0:
		case len(folded) == len(all):
			n.Value = folded[i].Value
		default:
			return s.errorAt(n.Line, "tab in a scalar whose lines cannot be folded")
		}
		value, unpaired, ok := in.resolve(n.Value, n.Style&yaml.DoubleQuotedStyle != 0)
		if !ok {
			return s.errorAt(n.Line, "unknown escape")
		}
		n.Value = value
		s.unpaired = s.unpaired || unpaired
	}
	return nil
}

func scalars(docs []*yaml.Node) (all []*yaml.Node) {
	for n := range allNodes(docs) {
		if n.Kind == yaml.ScalarNode {
			all = append(all, n)
		}
	}
	return all
}

// failure returns the Error for an error of the library.
func (s *source) failure(err error) error {
	e := (*syntaxError)(nil)
	if !errors.As(err, &e) {
		return err
	}
	failure := s.errorAt(e.line, e.message)
	switch {
	case strings.HasPrefix(e.message, "exceeded max depth"):
		failure.Code = CodeLimitExceeded
	case strings.HasPrefix(strings.TrimLeft(s.original[failure.Offset:], " "), "\t"):
		failure.Message = "line indented by a tab, not by spaces"
	}
	return failure
}

// errorAt returns an Error with CodeMalformed at the start of a line, which counts from 1.
func (s *source) errorAt(line int, message string) *Error {
	rest := s.original
	for ; line > 1; line-- {
		_, _, after, ok := cutLine(rest)
		if !ok {
			break
		}
		rest = after
	}
	return &Error{CodeMalformed, message, len(s.original) - len(rest)}
}

// cutLine cuts a text at the end of its first line.
func cutLine(text string) (line, end, after string, ok bool) {
	i := strings.IndexFunc(text, isBreak)
	if i < 0 {
		return text, "", "", false
	}
	size := 1
	switch {
	case text[i] >= utf8.RuneSelf:
		_, size = utf8.DecodeRuneInString(text[i:])
	case strings.HasPrefix(text[i:], "\r\n"):
		size = 2
	}
	return text[:i], text[i : i+size], text[i+size:], true
}

func isBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

// offset returns where a node starts in the text that the library read. It is fast for
// nodes in their order.
func (s *source) offset(n *yaml.Node) int {
	if s.lines == nil {
		s.lines = append(s.lines, 0)
		for rest := s.text; ; {
			_, _, after, ok := cutLine(rest)
			if !ok {
				break
			}
			s.lines = append(s.lines, len(s.text)-len(after))
			rest = after
		}
	}
	if n.Line != s.line || n.Column < s.column {
		s.line, s.column = n.Line, 1
		s.at = s.lines[min(n.Line, len(s.lines))-1]
	}
	for ; s.column < n.Column && s.at < len(s.text); s.column++ {
		_, size := utf8.DecodeRuneInString(s.text[s.at:])
		s.at += size
	}
	return s.at
}
