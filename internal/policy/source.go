// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// source is the text of a policy file, for places and excerpts.
type source struct {
	name  string
	text  string
	lines []string // without their line ends
	// rendered says that nobody wrote this text: it stands for a policy that
	// came parsed, so its lines and columns mean nothing to the reader.
	rendered bool
}

func newSource(name, text string) *source {
	return &source{name: name, text: text, lines: splitLines(text)}
}

// position returns the line and column of a byte of the text.
func (s *source) position(offset int) (line, column int) {
	before := splitLines(s.text[:offset])
	return len(before), utf8.RuneCountInString(before[len(before)-1]) + 1
}

// splitLines cuts a text where the YAML reader counts a new line: at LF, CR,
// CR LF, NEL, LS and PS.
func splitLines(text string) []string {
	var lines []string
	start := 0
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		end := i
		i += size
		switch r {
		case '\r':
			if strings.HasPrefix(text[i:], "\n") {
				i++
			}
		case '\n', '\u0085', '\u2028', '\u2029':
		default:
			continue
		}
		lines = append(lines, text[start:end])
		start = i
	}
	return append(lines, text[start:])
}

// line returns a line by its number from 1; "" if there is none.
func (s *source) line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	return s.lines[n-1]
}

// clamp moves a place that lies outside of the text to its nearest end. The
// reader places the end of an unfinished document behind its last line.
func (s *source) clamp(line, column int) (int, int) {
	if line > len(s.lines) {
		return len(s.lines), utf8.RuneCountInString(s.lines[len(s.lines)-1]) + 1
	}
	line = max(line, 1)
	return line, min(max(column, 1), utf8.RuneCountInString(s.lines[line-1])+1)
}

// locate returns the place in the file of a byte of a scalar's value. exact is
// false where the scalar is written in a way that moves its characters about
// (folded, or over several lines); then the place is the scalar's start.
func (s *source) locate(n *yaml.Node, offset int) (line, column int, exact bool) {
	offset = min(max(offset, 0), len(n.Value))
	line, column = n.Line, n.Column
	text := skipRunes(s.line(line), column-1)
	switch style := n.Style &^ yaml.TaggedStyle; {
	case style&yaml.DoubleQuotedStyle != 0:
		if i, ok := doubleQuoted(text, n.Value, offset); ok {
			return line, column + utf8.RuneCountInString(text[:i]), true
		}
	case style&yaml.SingleQuotedStyle != 0:
		if i, ok := singleQuoted(text, n.Value, offset); ok {
			return line, column + utf8.RuneCountInString(text[:i]), true
		}
	case style&yaml.LiteralStyle != 0:
		return s.literal(n, offset)
	case style&yaml.FoldedStyle != 0:
	case strings.HasPrefix(text, n.Value):
		return line, column + utf8.RuneCountInString(n.Value[:offset]), true
	}
	return line, column, false
}

// skipRunes returns text after its first n characters.
func skipRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[i:]
		}
		n--
	}
	return ""
}

// singleQuoted returns the byte of a quoted text that writes the byte at offset
// of its value; false if the text does not write the value.
func singleQuoted(text, value string, offset int) (int, bool) {
	if !strings.HasPrefix(text, "'") {
		return 0, false
	}
	i := 1
	for j := range len(value) {
		if j == offset {
			return i, true
		}
		if i >= len(text) || text[i] != value[j] {
			return 0, false
		}
		if text[i] == '\'' {
			i++ // written twice
		}
		i++
	}
	return i, i < len(text) && text[i] == '\''
}

// doubleQuoted is singleQuoted for double quotes and their escapes.
func doubleQuoted(text, value string, offset int) (int, bool) {
	if !strings.HasPrefix(text, `"`) {
		return 0, false
	}
	i := 1
	for j := 0; j < len(value); {
		if j >= offset {
			return i, true
		}
		if i >= len(text) || text[i] == '"' {
			return 0, false
		}
		_, size := utf8.DecodeRuneInString(value[j:])
		if text[i] != '\\' {
			if !strings.HasPrefix(text[i:], value[j:j+size]) {
				return 0, false
			}
			i += size
			j += size
			continue
		}
		if i+1 >= len(text) {
			return 0, false // the line is continued on the next
		}
		switch text[i+1] {
		case 'x':
			i += 4
		case 'u':
			i += 6
		case 'U':
			i += 10
		default:
			i += 2
		}
		j += size
	}
	return i, i < len(text) && text[i] == '"'
}

// literal is locate for a block scalar that keeps its line ends.
func (s *source) literal(n *yaml.Node, offset int) (line, column int, exact bool) {
	before := n.Value[:offset]
	row := strings.Count(before, "\n")
	col := offset - (strings.LastIndexByte(before, '\n') + 1)
	rows := strings.Split(n.Value, "\n")
	line = n.Line + 1 + row
	if line <= len(s.lines) && strings.HasSuffix(s.line(line), rows[row]) {
		indent := len(s.line(line)) - len(rows[row])
		if strings.Trim(s.line(line)[:indent], " ") == "" {
			return line, indent + utf8.RuneCountInString(rows[row][:col]) + 1, true
		}
	}
	return n.Line, n.Column, false
}

// maxExcerpt bounds the part of a line that an excerpt shows, in characters: a
// terminal that wraps the line puts the caret under the wrong one.
const maxExcerpt = 100

// excerpt returns a line and, below it, a caret under one of its columns; ""
// where the line is empty.
func (s *source) excerpt(line, column int) string {
	runes := []rune(s.line(line))
	if len(runes) == 0 {
		return ""
	}
	at := min(column-1, len(runes))
	start, end := 0, len(runes)
	if end > maxExcerpt {
		start = max(0, min(at-maxExcerpt/2, end-maxExcerpt))
		end = start + maxExcerpt
	}
	var text, caret strings.Builder
	if start > 0 {
		text.WriteString("…")
		caret.WriteByte(' ')
	}
	for i, r := range runes[start:end] {
		if r != '\t' && !unicode.IsPrint(r) {
			r = utf8.RuneError // it would move the terminal's cursor
		}
		text.WriteRune(r)
		switch {
		case start+i >= at:
		case r == '\t':
			caret.WriteByte('\t')
		default:
			caret.WriteByte(' ')
		}
	}
	if end < len(runes) {
		text.WriteString("…")
	}
	return "  " + strings.TrimRight(text.String(), " \t") + "\n  " + caret.String() + "^"
}
