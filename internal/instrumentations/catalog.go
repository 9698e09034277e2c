// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package instrumentations

import (
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// Entry is an instrumentation, or several that record the same.
type Entry struct {
	Name string
	// Dialects are the rows of the table that read it.
	Dialects []string
	// Recorded and Reconstructed are the files among the tests that show it, without
	// their endings. Their names have the versions.
	Recorded, Reconstructed []string

	CallFrom string // where a call is
	Lacks    string // what is not recorded
	Switch   string // how content is turned on
}

// Basis is why it is known what an instrumentation emits.
type Basis uint8

const (
	// Documented: from documentation alone.
	Documented Basis = iota
	// Reconstructed: from public sources, such as its code, tests and snapshots.
	Reconstructed
	// Recorded: from spans of the instrumentation itself.
	Recorded
)

// String returns the mark of the basis in tables.
func (b Basis) String() string {
	switch b {
	case Recorded:
		return "✓"
	case Reconstructed:
		return "◐"
	default:
		return "○"
	}
}

// Bases are what the entry rests on, the best first.
func (e *Entry) Bases() (list []Basis) {
	if len(e.Recorded) > 0 {
		list = append(list, Recorded)
	}
	if len(e.Reconstructed) > 0 {
		list = append(list, Reconstructed)
	}
	if list == nil {
		list = append(list, Documented)
	}
	return list
}

// Files are the recordings and reconstructions of the entry.
func (e *Entry) Files() []string { return slices.Concat(e.Recorded, e.Reconstructed) }

// A Row is one dialect of the table with the entries that it reads.
type Row struct {
	Dialect string
	Entries []*Entry
}

// Rows returns a row for each built-in dialect, in the order of the table.
func Rows() []Row {
	rows := make([]Row, len(genai.Builtin))
	for i, d := range genai.Builtin {
		rows[i].Dialect = d.Name
		for n := range Entries {
			if slices.Contains(Entries[n].Dialects, d.Name) {
				rows[i].Entries = append(rows[i].Entries, &Entries[n])
			}
		}
	}
	return rows
}

// Title returns the entry's name without its explanation, as plain text.
func (e *Entry) Title() string {
	name, _, _ := strings.Cut(e.Name, ":")
	return strings.ReplaceAll(name, "`", "")
}

// Marks returns the marks of what the entry rests on, the best first.
func (e *Entry) Marks() string {
	marks := make([]string, 0, 2)
	for _, basis := range e.Bases() {
		marks = append(marks, basis.String())
	}
	return strings.Join(marks, " ")
}

// Table returns the table of the documentation, in Markdown.
func Table() string {
	var b strings.Builder
	b.WriteString("✓ recorded by this project, among the tests · ◐ reconstructed from public sources, among the tests · ○ from documentation\n\n")
	b.WriteString("| Instrumentation | | Dialects | Tool call from | Not recorded | Content is turned on by |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- |\n")
	for i := range Entries {
		e := &Entries[i]
		dialects := make([]string, len(e.Dialects))
		for n, d := range e.Dialects {
			dialects[n] = "`" + d + "`"
		}
		b.WriteString("| " + strings.Join([]string{e.Name, e.Marks(), strings.Join(dialects, ", "), e.CallFrom, e.Lacks, e.Switch}, " | ") + " |\n")
	}
	return b.String()
}
