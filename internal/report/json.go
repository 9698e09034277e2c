// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"io"
)

// JSON writes the report as one indented document.
func (r *Report) JSON(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	out.WriteString("{\n  \"sessions\": [")
	var text []byte
	separator := "\n    "
	for body, err := range r.raw() {
		if err != nil {
			return err
		}
		text = appendIndented(text[:0], body, "    ")
		out.WriteString(separator)
		out.Write(text)
		separator = ",\n    "
	}
	if r.Len() > 0 {
		out.WriteString("\n  ")
	}
	out.WriteString("]")
	type part struct {
		key   string
		value any
	}
	parts := []part{{"summary", r.Summary}, {"inputs", r.Inputs}}
	if r.Policy != nil {
		parts = append(parts, part{"policy", r.Policy})
	}
	for _, part := range parts {
		text, err := indentedJSON("  ", part.value)
		if err != nil {
			return err
		}
		out.WriteString(",\n  \"" + part.key + "\": ")
		out.Write(text)
	}
	out.WriteString("\n}\n")
	return out.Flush() // the writer keeps its first error
}

// JSONL writes a line for each session.
func (r *Report) JSONL(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	for body, err := range r.raw() {
		if err != nil {
			return err
		}
		out.Write(body)
		out.WriteByte('\n')
	}
	return out.Flush()
}

// appendIndented appends JSON that has no space between its tokens in the form
// of json.Indent, which spends most of its time on whether it is JSON. Whoever
// wrote a session has seen to that.
func appendIndented(dst, text []byte, prefix string) []byte {
	const indent = "  "
	depth := 0
	newline := func() {
		dst = append(dst, '\n')
		dst = append(dst, prefix...)
		for range depth {
			dst = append(dst, indent...)
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			end := i + 1
			for text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			dst = append(dst, text[i:end+1]...)
			i = end
		case '{', '[':
			if dst = append(dst, c); text[i+1] == c+2 { // the bracket that closes it
				dst = append(dst, text[i+1])
				i++
				continue
			}
			depth++
			newline()
		case '}', ']':
			depth--
			newline()
			dst = append(dst, c)
		case ',':
			dst = append(dst, c)
			newline()
		case ':':
			dst = append(dst, ':', ' ')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
