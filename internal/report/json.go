// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
)

// JSON writes the report as one indented document.
func (r *Report) JSON(w io.Writer) error {
	out := bufio.NewWriterSize(w, 1<<16)
	out.WriteString("{\n  \"sessions\": [")
	var b bytes.Buffer
	separator := "\n    "
	for body, err := range r.raw() {
		if err != nil {
			return err
		}
		b.Reset()
		if err := json.Indent(&b, body, "    ", "  "); err != nil {
			return err
		}
		out.WriteString(separator)
		out.Write(b.Bytes())
		separator = ",\n    "
	}
	if r.Len() > 0 {
		out.WriteString("\n  ")
	}
	out.WriteString("]")
	for _, part := range []struct {
		key   string
		value any
	}{{"summary", r.Summary}, {"inputs", r.Inputs}} {
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
