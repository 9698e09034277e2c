// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"
)

// Severity tells an error, which refuses the policy, from a warning, which is
// legal but probably not meant.
type Severity uint8

const (
	SeverityError Severity = iota
	SeverityWarning
)

// Diagnostic is one thing that is wrong with a policy file, and where.
type Diagnostic struct {
	Severity Severity
	File     string // the name that was given to Load
	Line     int    // 1-based; 0 where the policy came without its text
	Column   int    // 1-based, in characters
	Path     string // of the offending value: contracts[0].claim_type
	Message  string // may hold several lines where a protocol's own excerpt is in it
	Excerpt  string // the line of the file and, below it, a caret; "" if there is none
}

// String returns `file:line:column: path: message` and, below it, the excerpt.
func (d Diagnostic) String() string {
	var b strings.Builder
	b.WriteString(d.File)
	if d.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", d.Line, d.Column)
	}
	b.WriteString(": ")
	if d.Severity == SeverityWarning {
		b.WriteString("warning: ")
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
