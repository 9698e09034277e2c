// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package explain says in plain words how a verdict came about: what the spans
// are, which contract was held against which call and which rule decided, which
// event a protocol saw and what was legal then.
//
// It shows names and what rules compare, and no content unless it is asked to:
// a reference, a version or a time is shown if it has the shape of an identifier,
// and masked if it does not; what protocols remember is masked. See package mask.
//
// Reading order: explain.go writes the whole, spans.go, calls.go and protocol.go
// a part each; where.go finds the attribute that something was read from.
package explain

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/mask"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// Trace is a trace that was judged with an account.
type Trace struct {
	Verdict *score.Session
	Account *score.Account
	Facts   []genai.Span
	Spans   []ptrace.Span // that the facts were read from
	Policy  *policy.Policy
	Origin  string // where it was recorded; "" if unknown
	// Dialects are the tables by which spans were read; nil means the built-in
	// ones.
	Dialects []*genai.Dialect
	// Values number the masked values of each session; nil numbers those of this
	// trace only.
	Values *Values
}

// Values number the masked values of the sessions that are explained: traces, or
// conversations over their traces. It is for one goroutine at a time.
type Values struct {
	// Conversational is set if a session is a conversation where a trace is part
	// of one.
	Conversational bool

	sessions map[string]*mask.Values
}

// Number numbers the values of a verdict's events. The traces of a conversation
// come in order, also those that are not explained.
func (v *Values) Number(s *score.Session) {
	s.Number(func(p *score.Protocol) *mask.Values { return v.of(s, p.Conversation) })
}

// of returns the values of the session that a part of a trace belongs to, by the
// part's conversation.
func (v *Values) of(s *score.Session, conversation string) *mask.Values {
	id := "trace " + s.TraceID.String()
	if c := cmp.Or(conversation, s.Conversation); v.Conversational && c != "" {
		id = "conversation " + c
	}
	if v.sessions == nil {
		v.sessions = map[string]*mask.Values{}
	}
	if v.sessions[id] == nil {
		v.sessions[id] = &mask.Values{}
	}
	return v.sessions[id]
}

// Options choose what is shown.
type Options struct {
	// Content shows arguments, results, what was said and what protocols remember.
	Content bool
	// Colour marks what is wrong, for terminals.
	Colour bool
}

// Write writes the explanation of one trace.
func Write(w io.Writer, t *Trace, o Options) error {
	e := &explanation{Trace: t, o: o, values: t.Values}
	if e.values == nil {
		e.values = &Values{}
		e.values.Number(t.Verdict)
	}
	e.head()
	e.spans()
	e.calls()
	e.protocols()
	_, err := io.WriteString(w, e.b.String())
	return err
}

// explanation is the text being written.
type explanation struct {
	*Trace
	o      Options
	values *Values
	b      strings.Builder
}

// line writes a line at an indentation.
func (e *explanation) line(indent int, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if e.o.Colour {
		text = display.Painted(text) // only paint writes escapes, see safe
	} else {
		text = display.Line(text)
	}
	e.b.WriteString(strings.TrimRight(strings.Repeat("  ", indent)+text, " "))
	e.b.WriteByte('\n')
}

// section begins a part.
func (e *explanation) section(name string) {
	e.b.WriteByte('\n')
	e.line(0, "%s", name)
}

// safe is a text from telemetry.
func safe(s string) string { return display.Line(s) }

// metadata writes the metadata of a contract or protocol, if the policy has any.
func (e *explanation) metadata(indent int, m *policy.Metadata) {
	if *m == (policy.Metadata{}) {
		return
	}
	text := "severity " + m.Severity.String()
	if m.Owner != "" {
		text += ", owner " + safe(m.Owner)
	}
	if m.Runbook != "" {
		text += ", runbook " + safe(m.Runbook)
	}
	e.line(indent, "%s", text)
	for line := range strings.Lines(m.Description) {
		e.line(indent, "%s", safe(strings.TrimRight(line, "\n")))
	}
}

// paint colours a word: green what holds, red what does not, yellow the rest.
func (e *explanation) paint(colour, word string) string {
	if !e.o.Colour {
		return word
	}
	return map[string]string{"red": "\x1b[31m", "green": "\x1b[32m", "yellow": "\x1b[33m"}[colour] + word + "\x1b[0m"
}

// colourOf is the colour of a compliance or of an event's verdict.
func colourOf(verdict string) string {
	switch verdict {
	case "compliant", "ok", "sealed":
		return "green"
	case "violation", "blocked":
		return "red"
	}
	return "yellow"
}

func (e *explanation) head() {
	v := e.Verdict
	compliance := v.Compliance.String()
	e.line(0, "Trace %s: %s", v.TraceID, e.paint(colourOf(compliance), compliance))
	var who []string
	for _, part := range []struct{ name, value string }{
		{"agent", v.Agent}, {"service", v.Service}, {"conversation", genai.ConversationName(v.Conversation)},
	} {
		if part.value != "" {
			who = append(who, part.name+" "+safe(part.value))
		}
	}
	if len(who) > 0 {
		e.line(0, "%s", strings.Join(who, ", "))
	}
	e.line(0, "from %s, %s long", v.Start.Time().Format(time.RFC3339Nano), duration(v.End-v.Start))
	if e.Origin != "" {
		e.line(0, "recorded in %s", e.Origin)
	}
	if n := len(v.Observations); n > 0 {
		sealed, blocked, _ := v.Counts()
		e.line(0, "%s under contracts: %d sealed, %d blocked", plural(n, "tool call"), sealed, blocked)
	}
	for _, problem := range v.Violations(16) {
		e.line(0, "%s", e.paint("red", safe(problem)))
	}
	for _, gap := range v.Gaps.List() {
		e.line(0, "gap %s: %s", gap, gap.Reason())
	}
	if v.OutOfOrder {
		e.line(0, "A trace of the conversation that comes after this one was judged before it, so its events could not join.")
	}
}

// at is a time since the session's start.
func (e *explanation) at(t genai.Timestamp) string {
	if t < e.Verdict.Start {
		return "-" + duration(e.Verdict.Start-t)
	}
	return "+" + duration(t-e.Verdict.Start)
}

func duration(d genai.Timestamp) string {
	return time.Duration(d).Round(time.Microsecond).String() //nolint:gosec // no trace lasts for centuries
}

// span names a span by its id.
func (e *explanation) span(i int) string { return "span " + e.Facts[i].SpanID.String() }

// plural writes a number with its noun.
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
