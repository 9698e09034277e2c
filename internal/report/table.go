// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// Table writes what a person wants first: how the sessions came out, which
// tools are worst and why, then the places where a protocol was not kept to.
// Colour marks what is wrong.
func (r *Report) Table(w io.Writer, colour bool) error {
	t := &tables{report: r, paint: func(_ text.Color, s string) string { return s }}
	if colour {
		t.paint = func(c text.Color, s string) string { return c.Sprint(s) }
	}
	if err := t.read(); err != nil {
		return err
	}
	t.head()
	if r.Len() > 0 {
		t.compliance()
		t.tools()
		t.reasons()
		t.contracts()
		t.gaps()
		t.unjudged()
		t.findings()
	}
	_, err := io.WriteString(w, t.b.String())
	return err
}

// tables are what the table form writes.
type tables struct {
	report *Report
	paint  func(text.Color, string) string
	b      strings.Builder

	blocked  map[string]*group // by reason
	gapped   map[string]string // by gap: the first session's first trace
	verdicts []*group          // what went wrong with protocols, in order of verdict and appearance
	followed map[string]*following
	unmet    map[string]int // by contract: calls whose recorded result it blocked
}

// following is how many sessions a protocol followed, and how many of them it did
// not judge.
type following struct {
	sessions, unjudged int
	trace              string // of the first unjudged session
}

// group is how often something was found, and where first.
type group struct {
	verdict, text string
	part          *Part // the protocol
	count         int
	tools         map[string]bool
	places        []place
}

// place is where something was found.
type place struct{ trace, span string }

// maxPlaces is how many places of a finding are shown: enough to look at one.
const maxPlaces = 3

// maxFindings is how many different findings are shown; more are for the JSON
// form.
const maxFindings = 20

func (g *group) add(at place) {
	if g.count++; len(g.places) < maxPlaces {
		g.places = append(g.places, at)
	}
}

// read goes through the sessions once.
func (t *tables) read() error {
	t.blocked, t.gapped, t.followed = map[string]*group{}, map[string]string{}, map[string]*following{}
	t.unmet = map[string]int{}
	verdicts := map[string]*group{}
	for s, err := range t.report.Sessions() {
		if err != nil {
			return err
		}
		for _, gap := range s.Gaps {
			if t.gapped[gap] == "" {
				t.gapped[gap] = s.TraceIDs[0]
			}
		}
		for i := range s.Observations {
			o := &s.Observations[i]
			if !o.Sealed() && !o.Uncaptured() {
				t.unmet[o.Contract]++
			}
			for _, reason := range o.ReasonCodes {
				g := t.blocked[reason]
				if g == nil {
					g = &group{tools: map[string]bool{}}
					t.blocked[reason] = g
				}
				g.tools[o.Tool] = true
				g.add(place{s.traceOf(o.TraceID), o.SpanID})
			}
		}
		for i := range s.Protocols {
			p := &s.Protocols[i]
			n := t.followed[p.Name]
			if n == nil {
				n = &following{}
				t.followed[p.Name] = n
			}
			n.sessions++
			f := p.finding(s, nil)
			if f == nil {
				continue
			}
			if p.Verdict == "unjudged" {
				if n.unjudged++; n.unjudged == 1 {
					n.trace = f.trace
				}
				continue
			}
			key := p.Verdict + "\x00" + f.message
			g := verdicts[key]
			if g == nil {
				g = &group{verdict: p.Verdict, text: f.message, part: f.part}
				verdicts[key] = g
				t.verdicts = append(t.verdicts, g)
			}
			g.add(place{f.trace, f.span})
		}
	}
	slices.SortStableFunc(t.verdicts, func(a, b *group) int {
		return cmp.Or(
			int(complianceOf(b.verdict))-int(complianceOf(a.verdict)),
			severityRank(b.part.Severity)-severityRank(a.part.Severity),
		)
	})
	return nil
}

func (t *tables) head() {
	r := t.report
	fmt.Fprintf(&t.b, "%s in %s", number(r.Summary.Sessions, "session"), number(r.Inputs.Spans, "span"))
	if r.Inputs.Broken > 0 {
		fmt.Fprintf(&t.b, ", %s", t.paint(text.FgRed, number(r.Inputs.Broken, "broken input")))
	}
	if r.Inputs.Scattered > 0 {
		fmt.Fprintf(&t.b, ", %s", t.paint(text.FgRed, number(r.Inputs.Scattered, "scattered trace")))
	}
	t.b.WriteString("\n")
	if share := r.Summary.Observations.uncontracted(); share != "" {
		fmt.Fprintf(&t.b, "%s without a contract\n", share)
	}
	if r.Len() == 0 {
		t.b.WriteString("Nothing in them tells of an agent: no tool calls, model calls or agent runs.\n")
	}
}

func (t *tables) compliance() {
	w := newTable("compliance", "sessions")
	for level := score.Unjudged; level <= score.Violation; level++ {
		c := level.String()
		if n := t.report.Summary.ByCompliance[c]; n > 0 {
			w.AppendRow(table.Row{t.paint(complianceColour(c), c), n})
		}
	}
	t.render(w)
}

func (t *tables) tools() {
	if len(t.report.Summary.ByTool) == 0 {
		return
	}
	w := newTable("tool", "calls", "sealed", "blocked", "uncaptured", "no contract")
	for _, tool := range t.report.Summary.ByTool {
		w.AppendRow(table.Row{display.Line(tool.Tool), tool.Total + tool.Uncontracted, tool.Sealed, tool.Blocked, tool.Uncaptured, tool.Uncontracted})
	}
	t.render(w)
}

func (t *tables) reasons() {
	if len(t.blocked) == 0 {
		return
	}
	w := newTable("reason", "observations", "tools", "for example, trace")
	for _, reason := range byCount(t.report.Summary.ByReason) {
		g := t.blocked[reason]
		tools := slices.Sorted(maps.Keys(g.tools))
		shown := display.Line(strings.Join(tools[:min(len(tools), 3)], ", "))
		if more := len(tools) - 3; more > 0 {
			shown += fmt.Sprintf(" and %d more", more)
		}
		w.AppendRow(table.Row{reason, g.count, shown, g.places[0].trace})
	}
	t.render(w)
}

func (t *tables) gaps() {
	if len(t.gapped) == 0 {
		return
	}
	w := newTable("gap", "sessions", "meaning", "for example, trace")
	for _, gap := range score.AllGaps() {
		if name := gap.String(); t.gapped[name] != "" {
			w.AppendRow(table.Row{name, t.report.Summary.ByGap[name], gap.Reason(), t.gapped[name]})
		}
	}
	t.render(w)
}

// unjudged lists the protocols that judged nothing in some sessions. One that
// judged nothing in any session may be about other names than the traces.
func (t *tables) unjudged() {
	names := slices.DeleteFunc(slices.Collect(maps.Keys(t.followed)), func(name string) bool { return t.followed[name].unjudged == 0 })
	if len(names) == 0 {
		return
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(t.followed[b].unjudged, t.followed[a].unjudged), cmp.Compare(a, b))
	})
	w := newTable("protocol", "sessions", "unjudged", "for example, trace")
	for _, name := range names {
		n := t.followed[name]
		w.AppendRow(table.Row{display.Line(name), n.sessions, n.unjudged, n.trace})
	}
	t.render(w)
}

// contracts lists the contracts with metadata that blocked recorded results, the
// most severe first.
func (t *tables) contracts() {
	var parts []*Part
	for name := range t.unmet {
		if p := t.report.index.contracts[name]; p != nil && !p.usual() {
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		return
	}
	slices.SortFunc(parts, func(a, b *Part) int {
		return cmp.Or(
			severityRank(b.Severity)-severityRank(a.Severity),
			cmp.Compare(t.unmet[b.Name], t.unmet[a.Name]), cmp.Compare(a.Name, b.Name),
		)
	})
	w := newTable("contract", "severity", "blocked", "owner", "runbook")
	for _, p := range parts {
		w.AppendRow(table.Row{display.Line(p.Name), p.Severity, t.unmet[p.Name], display.Line(p.Owner), display.Line(p.Runbook)})
	}
	t.render(w)
}

func (t *tables) findings() {
	if len(t.verdicts) == 0 {
		return
	}
	t.b.WriteString("\n")
	for i, g := range t.verdicts {
		if i == maxFindings {
			fmt.Fprintf(&t.b, "and %d more kinds of findings; --format json has them all\n", len(t.verdicts)-i)
			break
		}
		fmt.Fprintf(&t.b, "%s ", t.paint(complianceColour(g.verdict), g.verdict))
		if g.part.Severity != defaultSeverity {
			fmt.Fprintf(&t.b, "(%s) ", g.part.Severity)
		}
		t.b.WriteString(display.Line(g.text))
		if g.count > 1 {
			fmt.Fprintf(&t.b, " (%d sessions)", g.count)
		}
		t.b.WriteString("\n")
		if aside := g.part.aside(); aside != "" {
			fmt.Fprintf(&t.b, "  %s\n", display.Line(aside))
		}
		for _, at := range g.places {
			fmt.Fprintf(&t.b, "  trace %s", at.trace)
			if at.span != "" {
				fmt.Fprintf(&t.b, " span %s", at.span)
			}
			t.b.WriteString("\n")
		}
	}
	fmt.Fprintf(&t.b, "\nWhy: the same command with --explain %s\n", t.verdicts[0].places[0].trace)
}

func (t *tables) render(w table.Writer) {
	t.b.WriteString("\n")
	for line := range strings.Lines(w.Render() + "\n") {
		t.b.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
}

func newTable(head ...any) table.Writer {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft = ""
	style.Box.PaddingRight = "  "
	t.SetStyle(style)
	t.AppendHeader(head)
	return t
}

// number writes a number with its noun.
func number(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
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
	slices.SortStableFunc(keys, func(a, b string) int {
		if good := "SEALED_WITH_REQUIRED_EVIDENCE"; (a == good) != (b == good) {
			if a == good { // it is no trouble, so it comes last
				return 1
			}
			return -1
		}
		return counts[b] - counts[a]
	})
	return keys
}
