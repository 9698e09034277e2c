// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"strings"
	"unicode/utf8"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// kinds says what spans are to an agent's trace.
var kinds = map[genai.Kind]string{
	genai.Tool:  "tool call",
	genai.Model: "model call",
	genai.Agent: "agent run",
	genai.Other: "",
}

// spans lists the spans as the tree that they are.
func (e *explanation) spans() {
	if e.Verdict.Gaps.Has(score.GapUnscored) {
		return
	}
	e.section("Spans")
	children := map[int][]int{}
	known := map[int]bool{}
	depth := map[int]int{}
	for _, s := range e.Account.Spans {
		children[s.Parent] = append(children[s.Parent], s.Span)
		known[s.Span], depth[s.Span] = true, s.Depth
	}
	// The tree in one pass, without recursion: traces may nest deeply.
	type line struct {
		span, level int
		name        string
	}
	var lines []line
	width := 0
	stack := []int{}
	push := func(list []int) {
		for i := len(list) - 1; i >= 0; i-- {
			stack = append(stack, list[i])
		}
	}
	push(children[-1])
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		const deepest = 12 // more is shown at this indentation
		l := line{i, min(depth[i], deepest), safe(e.Facts[i].Name)}
		l.name = strings.Repeat("  ", l.level) + l.name
		width = max(width, utf8.RuneCountInString(l.name))
		lines = append(lines, l)
		push(children[i])
	}
	width = min(width, 60)
	for _, l := range lines {
		s := &e.Facts[l.span]
		pad := strings.Repeat(" ", max(width-utf8.RuneCountInString(l.name), 0))
		e.line(1, "%s%s  %s  %-10s  %s, %s%s", l.name, pad, s.SpanID, kinds[s.Kind], e.at(s.Start), duration(s.End-s.Start), e.remarks(s))
	}
	for i := range e.Facts {
		if !known[i] {
			e.line(1, "%s stands in the input again, and counts once", e.span(i))
		}
	}
	e.missing()
}

// remarks are what is special about a span.
func (e *explanation) remarks(s *genai.Span) string {
	var out []string
	switch s.Failure.Kind {
	case genai.Failed, genai.ToolError:
		out = append(out, "failed")
	case genai.Cancelled:
		out = append(out, "cancelled")
	case genai.Interrupted:
		out = append(out, "waits for somebody")
	}
	if s.Dropped {
		out = append(out, "attributes or events were dropped")
	}
	if s.Kind == genai.Model && !s.Input.Recorded && !s.Output.Recorded {
		out = append(out, "its messages were not recorded")
	}
	if len(out) == 0 {
		return ""
	}
	return "; " + strings.Join(out, "; ")
}

// missing says what the telemetry may lack.
func (e *explanation) missing() {
	switch gap := e.Account.Gap; {
	case gap != "":
		e.line(1, "Events may be missing: %s. A violation that a missing event could explain is inconclusive.", gap)
	case e.Account.Unheard:
		e.line(1, "Not all that was said is recorded. A protocol that listens to messages is inconclusive where it could explain a violation.")
	default:
		e.line(1, "Nothing says that a span is missing.")
	}
}
