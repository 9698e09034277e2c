// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/mask"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// detail is what the page shows of one trace when its session is opened.
type detail struct {
	Trace     string           `json:"trace"`
	Began     string           `json:"began"`
	Calls     []detailCall     `json:"calls"`
	Items     []detailItem     `json:"items"`
	Protocols []detailProtocol `json:"protocols"`
}

// detailCall is a tool call.
type detailCall struct {
	Tool       string   `json:"tool"`
	ID         string   `json:"id,omitempty"`
	Span       string   `json:"span"`
	Held       bool     `json:"held,omitempty"` // a contract might have been for it
	Contract   string   `json:"contract,omitempty"`
	Decision   string   `json:"decision,omitempty"`
	State      string   `json:"state,omitempty"`
	Reasons    []string `json:"reasons,omitempty"`
	Missing    []string `json:"missing,omitempty"`
	Uncaptured bool     `json:"uncaptured,omitempty"`
	Arguments  *string  `json:"arguments,omitempty"`
	Result     *string  `json:"result,omitempty"`
}

// detailItem is something that happened.
type detailItem struct {
	Kind  string  `json:"kind"` // call, result, user, agent, span
	At    string  `json:"at"`   // since the session began
	Call  int     `json:"call"` // -1 for none
	First bool    `json:"first,omitempty"`
	Calls bool    `json:"calls,omitempty"`
	Text  *string `json:"text,omitempty"`
	Name  string  `json:"name,omitempty"` // of a span

	fact score.FactAccount
}

// detailProtocol is a protocol's way through the trace.
type detailProtocol struct {
	Name  string       `json:"name"`
	Steps []detailStep `json:"steps"`
}

// detailStep is an event.
type detailStep struct {
	Item      int                `json:"item"`
	Event     string             `json:"event"`
	Verdict   string             `json:"verdict"`
	Expected  []string           `json:"expected"`
	Reason    string             `json:"reason,omitempty"`
	From      int                `json:"from"`
	To        int                `json:"to"`
	Registers map[string]rawJSON `json:"registers,omitempty"`
}

// detail writes down what the page shows of a trace; nil if nobody told how the
// verdict came about.
func (b *Builder) detail(t *Trace, values func(*score.Protocol) *mask.Values) ([]byte, error) {
	if t.Account == nil {
		return nil, nil
	}
	d := detail{
		Trace: t.Verdict.TraceID.String(), Began: t.Verdict.Start.Time().Format(time.RFC3339Nano),
		Calls: []detailCall{}, Items: []detailItem{}, Protocols: []detailProtocol{},
	}
	for i := range t.Account.Calls {
		d.Calls = append(d.Calls, b.detailCall(t, &t.Account.Calls[i]))
	}
	d.items(b, t)
	for i := range t.Account.Protocols {
		p := &t.Verdict.Protocols[i]
		d.protocol(b, &t.Account.Protocols[i], p, values(p))
	}
	return json.Marshal(&d)
}

func (b *Builder) detailCall(t *Trace, c *score.CallAccount) detailCall {
	out := detailCall{Tool: c.Tool, ID: c.ID, Span: t.Spans[c.At].SpanID.String(), Held: c.Tool != "" && (!c.Prior || c.Returned)}
	if c.Decided >= 0 {
		ev := &c.Trials[c.Decided].Evaluation
		o := Observation{Decision: string(ev.Decision)}
		for _, r := range ev.ReasonCodes {
			o.ReasonCodes = append(o.ReasonCodes, string(r))
		}
		out.Contract, out.Decision, out.State = c.Trials[c.Decided].Contract.Name, o.Decision, string(ev.TruthState)
		out.Reasons, out.Missing, out.Uncaptured = o.ReasonCodes, ev.MissingFields, o.Uncaptured()
	}
	if b.Content {
		if c.ArgumentsKnown {
			out.Arguments = shownValue(c.Arguments)
		}
		if c.Result.State != genai.NotCaptured {
			out.Result = shownValue(c.Result.Value)
		}
	}
	return out
}

// maxShownContent is how much of a content the page holds.
const maxShownContent = 8000

func shownValue(v jsonvalue.Value) *string {
	text := v.Text()
	if v.Kind() != jsonvalue.StringKind {
		canonical, err := v.AppendCanonical(nil)
		if err != nil {
			return nil
		}
		text = string(canonical)
	}
	return shownText(text)
}

func shownText(text string) *string {
	if len(text) > maxShownContent {
		text = fmt.Sprintf("%s … (%d bytes in all)", strings.ToValidUTF8(text[:maxShownContent], ""), len(text))
	}
	return &text
}

// items lists what happened: calls, results, messages, and the spans that a
// protocol named, each once.
func (d *detail) items(b *Builder, t *Trace) {
	facts := slices.Clone(t.Account.Facts)
	for i := range t.Account.Protocols {
		for _, s := range t.Account.Protocols[i].Steps {
			if s.Kind == policy.SpanEvent && s.Event >= 0 && !slices.ContainsFunc(facts, func(f score.FactAccount) bool { return sameFact(f, s.FactAccount) }) {
				facts = append(facts, s.FactAccount)
			}
		}
	}
	slices.SortStableFunc(facts, func(a, b score.FactAccount) int {
		switch {
		case a.Time < b.Time:
			return -1
		case a.Time > b.Time:
			return 1
		}
		return 0
	})
	kinds := map[policy.EventKind]string{
		policy.ToolCall: "call", policy.ToolResult: "result", policy.UserMessage: "user", policy.AgentMessage: "agent", policy.SpanEvent: "span",
	}
	for _, f := range facts {
		item := detailItem{Kind: kinds[f.Kind], At: since(t.Verdict.Start, f.Time), Call: f.Call, First: f.First, Calls: f.Calls, fact: f}
		if f.Kind == policy.SpanEvent {
			item.Name = t.Spans[f.Span].Name
		}
		if b.Content && (f.Kind == policy.UserMessage || f.Kind == policy.AgentMessage) {
			item.Text = shownText(f.Text)
		}
		d.Items = append(d.Items, item)
	}
}

func sameFact(a, b score.FactAccount) bool {
	return a.Kind == b.Kind && a.Span == b.Span && a.Time == b.Time && a.Call == b.Call && a.Text == b.Text
}

// since writes a time since the session began.
func since(start, at genai.Timestamp) string {
	return fmt.Sprintf("%+.3f s", time.Duration(int64(at)-int64(start)).Seconds()) //nolint:gosec // no trace lasts for centuries
}

// protocol lists a protocol's events.
func (d *detail) protocol(b *Builder, a *score.ProtocolAccount, p *score.Protocol, values *mask.Values) {
	out := detailProtocol{Name: a.Protocol.Name, Steps: []detailStep{}}
	used := map[int]bool{}
	for i := range a.Steps {
		s := &a.Steps[i]
		if s.Event < 0 {
			continue
		}
		e := &p.Events[s.Event]
		name, registers := b.shown(e, values)
		step := detailStep{
			Item: -1, Event: name, Verdict: e.Verdict.String(), Expected: append([]string{}, e.Expected...), Reason: e.Reason, From: s.From, To: s.To,
		}
		for j := range d.Items {
			if !used[j] && sameFact(d.Items[j].fact, s.FactAccount) {
				step.Item, used[j] = j, true
				break
			}
		}
		if len(registers) > 0 {
			step.Registers = registers
		}
		out.Steps = append(out.Steps, step)
	}
	d.Protocols = append(d.Protocols, out)
}
