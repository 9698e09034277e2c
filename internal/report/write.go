// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// JSON writes the report as one indented document.
func (r *Report) JSON(w io.Writer) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Table writes what a person wants first: how the sessions came out, which
// tools are worst and why, then the places where a protocol was not kept to.
// Colour marks what is wrong.
func (r *Report) Table(w io.Writer, colour bool) error {
	paint := func(c text.Color, s string) string { return s }
	if colour {
		paint = func(c text.Color, s string) string { return c.Sprint(s) }
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d sessions in %d spans", r.Summary.Sessions, r.Inputs.Spans)
	if r.Inputs.Broken > 0 {
		fmt.Fprintf(&b, ", %s", paint(text.FgRed, fmt.Sprintf("%d broken inputs", r.Inputs.Broken)))
	}
	b.WriteString("\n")
	if len(r.Sessions) == 0 {
		b.WriteString("Nothing in them tells of an agent: no tool calls, model calls or agent runs.\n")
		_, err := io.WriteString(w, b.String())
		return err
	}

	t := newTable(&b, "compliance", "sessions")
	for _, c := range [...]string{"compliant", "incomplete", "unrecognized", "inconclusive", "violation"} {
		if n := r.Summary.ByCompliance[c]; n > 0 {
			t.AppendRow(table.Row{paint(complianceColour(c), c), n})
		}
	}
	t.Render()

	if len(r.Summary.ByTool) > 0 {
		b.WriteString("\n")
		t = newTable(&b, "tool", "calls", "sealed", "blocked", "uncaptured", "no contract")
		for _, tool := range r.Summary.ByTool {
			t.AppendRow(table.Row{tool.Tool, tool.Total + tool.Uncontracted, tool.Sealed, tool.Blocked, tool.Uncaptured, tool.Uncontracted})
		}
		t.Render()
	}
	if len(r.Summary.ByReason) > 0 {
		b.WriteString("\n")
		t = newTable(&b, "reason", "observations")
		for _, reason := range byCount(r.Summary.ByReason) {
			t.AppendRow(table.Row{reason, r.Summary.ByReason[reason]})
		}
		t.Render()
	}

	heading := false
	for i := range r.Sessions {
		s := r.Sessions[i]
		for j := range s.Protocols {
			p := &s.Protocols[j]
			for k := range p.Events {
				e := &p.Events[k]
				if e.Verdict != "violation" && e.Verdict != "inconclusive" {
					continue
				}
				if !heading {
					b.WriteString("\n")
					heading = true
				}
				fmt.Fprintf(&b, "%s %s: got %s", paint(complianceColour(e.Verdict), e.Verdict), p.Name, e.Event)
				if len(e.Expected) > 0 {
					fmt.Fprintf(&b, ", expected %s", strings.Join(e.Expected, " or "))
				}
				if e.Reason != "" && len(e.Expected) == 0 || e.Verdict == "inconclusive" {
					fmt.Fprintf(&b, " (%s)", e.Reason)
				}
				fmt.Fprintf(&b, "\n  trace %s span %s\n", e.traceID, e.SpanID)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func newTable(w io.Writer, head ...any) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(w)
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	t.AppendHeader(head)
	return t
}

func complianceColour(c string) text.Color {
	switch c {
	case "compliant":
		return text.FgGreen
	case "violation":
		return text.FgRed
	default:
		return text.FgYellow
	}
}

func byCount(counts map[string]int) []string {
	keys := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(keys, func(a, b string) int { return counts[b] - counts[a] })
	return keys
}
