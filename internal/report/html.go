// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/describe"
	"github.com/resultseal/otelcol-resultseal/internal/draw"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

//go:embed page
var pageFiles embed.FS

var pageTemplates = template.Must(template.ParseFS(pageFiles, "page/page.html"))

// Page is what the page says besides the report.
type Page struct {
	Version    string         // this program's
	PolicyFile string         // its name; "" if there is none
	Policy     *policy.Policy // its protocols are drawn
	Content    bool           // the details hold content
}

// pageHead is what the page's upper part is made of.
type pageHead struct {
	Page
	Title, Inputs, Trouble string
	Unjudged               string // how many sessions are; "" if none is
	Style                  template.CSS
	Compliance             []pageCount
	Blocked                int // sessions with a blocked call
	Tools                  []pageTool
	Reasons                []pageCount
	Gaps                   []pageCount
	Protocols              []pageProtocol
	Contracts              []Part   // those with metadata, the most severe first
	Severities             []string // of the parts, the most severe first; nil if no part has metadata
}

type pageCount struct {
	Name, Mark, Words string
	Count             int
}

type pageTool struct {
	Name  string
	Calls int
	Counts
}

type pageProtocol struct {
	Part
	Source  string
	Drawing template.HTML
}

// complianceMarks tell outcomes apart where colours do not.
var complianceMarks = map[string]string{"unjudged": "○", "compliant": "✓", "incomplete": "◐", "unrecognized": "?", "inconclusive": "≈", "violation": "✗"}

// maxDrawn is how many states a protocol may have and still be drawn.
const maxDrawn = 150

// HTML writes the report as one page that loads nothing: a summary, filters, and
// for each session a timeline and the way that it took through its protocols.
// The sessions are those of a builder that was given accounts.
func (r *Report) HTML(w io.Writer, page Page) error {
	style, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return err
	}
	script, err := pageFiles.ReadFile("page/page.js")
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	if err := pageTemplates.ExecuteTemplate(out, "head", r.pageHead(page, style)); err != nil {
		return err
	}
	if err := r.pageIndex(out); err != nil {
		return err
	}
	for i := range r.entries {
		fmt.Fprintf(out, "<script type=\"application/json\" id=\"d%d\">[", i)
		for j, b := range r.entries[i].details {
			text, err := r.bodies.Get(b)
			if err != nil {
				return err
			}
			if j > 0 {
				out.WriteByte(',')
			}
			out.Write(inScript(text))
		}
		out.WriteString("]</script>\n")
	}
	parts := &Parts{}
	if page.Policy != nil {
		parts = partsOf(page.Policy)
	}
	words, err := json.Marshal(map[string]any{"contracts": partsByName(parts.Contracts), "protocols": partsByName(parts.Protocols), "reasons": describe.Reasons, "verdicts": describe.Verdicts, "states": describe.States, "gaps": describe.Gaps, "content": page.Content})
	if err != nil {
		return err
	}
	err = pageTemplates.ExecuteTemplate(out, "foot", map[string]any{
		"Words":  template.JS(inScript(words)), //nolint:gosec // constants
		"Script": template.JS(script),          //nolint:gosec // a file of this package
	})
	if err != nil {
		return err
	}
	return out.Flush()
}

// partsByName returns the parts that have metadata.
func partsByName(parts []Part) map[string]Part {
	named := map[string]Part{}
	for i := range parts {
		if !parts[i].usual() {
			named[parts[i].Name] = parts[i]
		}
	}
	return named
}

// inScript is JSON that can stand in a script element: nothing in it ends one.
func inScript(text []byte) []byte { return bytes.ReplaceAll(text, []byte("<"), []byte(`\u003c`)) }

func (r *Report) pageHead(page Page, style []byte) *pageHead {
	h := &pageHead{
		Page:    page,
		Title:   "ResultSeal: " + number(r.Summary.Sessions, "session"),
		Inputs:  number(r.Inputs.Spans, "span") + " in " + number(r.Inputs.Files, "file"),
		Style:   template.CSS(style), //nolint:gosec // a file of this package
		Blocked: r.blocked,
	}
	if total := r.Summary.Observations.Total; total > 0 {
		h.Inputs += fmt.Sprintf(", %d of %s sealed", r.Summary.Observations.Sealed, number(total, "contracted call"))
	}
	if share := r.Summary.Observations.uncontracted(); share != "" {
		h.Inputs += ", " + share + " without a contract"
	}
	if n := r.Summary.ByCompliance["unjudged"]; n > 0 {
		h.Unjudged = fmt.Sprintf("%d of %s unjudged: no event of a protocol occurred.", n, number(r.Summary.Sessions, "session"))
	}
	switch {
	case r.Inputs.Broken > 0:
		h.Trouble = number(r.Inputs.Broken, "part") + " of the input could not be read, so sessions may be missing or lack spans."
	case r.Inputs.Scattered > 0:
		h.Trouble = number(r.Inputs.Scattered, "trace") + " stood scattered over the input and have no verdict."
	}
	for c := score.Unjudged; c <= score.Violation; c++ {
		name := c.String()
		h.Compliance = append(h.Compliance, pageCount{name, complianceMarks[name], describe.Verdicts[name], r.Summary.ByCompliance[name]})
	}
	for _, t := range r.Summary.ByTool {
		h.Tools = append(h.Tools, pageTool{t.Tool, t.Total + t.Uncontracted, t.Counts})
	}
	for _, reason := range byCount(r.Summary.ByReason) {
		h.Reasons = append(h.Reasons, pageCount{Name: reason, Words: describe.Reasons[reason], Count: r.Summary.ByReason[reason]})
	}
	for _, gap := range score.AllGaps() {
		if n := r.Summary.ByGap[gap.String()]; n > 0 {
			h.Gaps = append(h.Gaps, pageCount{Name: gap.String(), Words: gap.Reason(), Count: n})
		}
	}
	if page.Policy != nil {
		parts := partsOf(page.Policy)
		if parts.anyMetadata() {
			h.Severities = parts.severities()
		}
		h.Contracts = slices.DeleteFunc(slices.Clone(parts.Contracts), func(p Part) bool { return p.usual() })
		slices.SortStableFunc(h.Contracts, func(a, b Part) int { return severityRank(b.Severity) - severityRank(a.Severity) })
		for i, p := range page.Policy.Protocols {
			shape := p.Automaton.Shape()
			drawn := pageProtocol{Part: parts.Protocols[i], Source: p.Source}
			if len(shape.States) > maxDrawn {
				drawn.Drawing = template.HTML(fmt.Sprintf("<p>It has %d states, which are too many to draw.</p>", len(shape.States))) //nolint:gosec // a number
			} else {
				drawn.Drawing = template.HTML(draw.SVG(shape, fmt.Sprintf("p%d", i), "The protocol "+p.Name)) //nolint:gosec // escaped there
			}
			h.Protocols = append(h.Protocols, drawn)
		}
	}
	return h
}

// pageRow is a session in the page's list.
type pageRow struct {
	At           int                `json:"at"`
	ID           string             `json:"id"`
	Traces       []string           `json:"traces"`
	Conversation string             `json:"conversation"`
	Agent        string             `json:"agent"`
	Service      string             `json:"service"`
	Compliance   string             `json:"compliance"`
	Score        *float64           `json:"score"`
	Began        string             `json:"began"`
	Origin       string             `json:"origin"`
	Sealed       int                `json:"sealed"`
	Blocked      int                `json:"blocked"`
	Tools        []string           `json:"tools"`
	Reasons      []string           `json:"reasons"`
	Gaps         []string           `json:"gaps"`
	Protocols    []pageRowsProtocol `json:"protocols"`
	Finding      string             `json:"finding"`
	Severity     string             `json:"severity,omitempty"` // the highest of what went wrong
}

type pageRowsProtocol struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	Text    string `json:"text,omitempty"` // what went wrong
}

// pageIndex writes the list of sessions.
func (r *Report) pageIndex(out *bufio.Writer) error {
	out.WriteString("<script type=\"application/json\" id=\"index\">[\n")
	at := 0
	for s, err := range r.Sessions() {
		if err != nil {
			return err
		}
		text, err := json.Marshal(s.pageRow(at))
		if err != nil {
			return err
		}
		if at > 0 {
			out.WriteString(",\n")
		}
		out.Write(inScript(text))
		at++
	}
	out.WriteString("]</script>\n")
	return nil
}

func (s *Session) pageRow(at int) pageRow {
	row := pageRow{
		At: at, ID: s.ID, Traces: s.TraceIDs, Conversation: s.ConversationID, Agent: s.Agent, Service: s.Service,
		Compliance: s.Compliance, Score: s.Score, Began: s.start.Time().Format(time.RFC3339Nano), Origin: s.origin.String(),
		Tools: []string{}, Reasons: []string{}, Gaps: s.Gaps, Protocols: []pageRowsProtocol{},
	}
	add := func(list *[]string, text string) {
		if !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	for i := range s.Observations {
		o := &s.Observations[i]
		if o.Sealed() {
			row.Sealed++
		} else {
			row.Blocked++
		}
		add(&row.Tools, o.Tool)
		for _, reason := range o.ReasonCodes {
			add(&row.Reasons, reason)
		}
	}
	for _, u := range s.Uncontracted {
		add(&row.Tools, u.Tool)
	}
	// The finding that is shown is one that decided the outcome, the most severe
	// first; else any.
	shown := -1
	offer := func(f *finding, decided bool) {
		rank := severityRank(f.part.Severity)
		if f.proved() && (row.Severity == "" || rank > severityRank(row.Severity)) {
			row.Severity = f.part.Severity
		}
		if decided {
			rank += len(severities)
		}
		if rank > shown {
			row.Finding, shown = f.message, rank
		}
	}
	for i := range s.Protocols {
		p := &s.Protocols[i]
		out := pageRowsProtocol{Name: p.Name, Verdict: p.Verdict}
		if f := p.finding(s, nil); f != nil && p.Verdict != "unjudged" {
			out.Text = f.message
			offer(f, p.Verdict == s.Compliance)
		}
		row.Protocols = append(row.Protocols, out)
	}
	for i := range s.Observations {
		if f := s.Observations[i].finding(s, nil); f != nil {
			offer(f, false)
		}
	}
	if f := s.finding(nil); f != nil && row.Finding == "" {
		row.Finding = f.message
	}
	return row
}
