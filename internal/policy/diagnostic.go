// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/display"
)

// Level distinguishes an error, which rejects the policy, from a warning.
type Level uint8

const (
	LevelError Level = iota
	LevelWarning
)

// Diagnostic is one thing that is wrong with a policy file, and where.
type Diagnostic struct {
	Level   Level
	Kind    WarningKind // of a warning; "" for an error
	File    string      // the name that was given to Load
	Line    int         // 1-based; 0 where the policy came without its text
	Column  int         // 1-based, in characters
	Path    string      // of the offending value: contracts[0].claim_type
	Message string      // may hold several lines where a protocol's own excerpt is in it
	Excerpt string      // the line of the file and, below it, a caret; "" if there is none

	// Tool is the tool that a warning is about; "" if it is about no tool.
	Tool string
	// Repeat is how this warning is listed below another of its kind that has
	// been printed in full. "" for one that is listed by its line, which is only
	// done if the messages are equal.
	Repeat string
}

// String returns `file:line:column: path: message` and, below it, the excerpt. The
// name of the file is on one line, see [display.Line].
// A warning has `warning [kind]: ` before its path.
func (d Diagnostic) String() string {
	var b strings.Builder
	b.WriteString(display.Line(d.File))
	if d.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", d.Line, d.Column)
	}
	b.WriteString(": ")
	if d.Level == LevelWarning {
		fmt.Fprintf(&b, "warning [%s]: ", d.Kind)
	}
	if d.Path != "" {
		b.WriteString(d.Path)
		b.WriteString(": ")
	}
	b.WriteString(d.Message)
	if d.Excerpt != "" {
		b.WriteByte('\n')
		b.WriteString(d.Excerpt)
	}
	return b.String()
}

// Diagnostics are the errors of a policy file, ordered by place; never empty
// where they are returned as an error. Of a file with more than 20 errors they
// are the 20 that were found first, and one that says so.
type Diagnostics []Diagnostic

// Error returns the diagnostics one after the other.
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}
