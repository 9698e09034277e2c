// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func value(t testing.TB, text string) jsonvalue.Value {
	t.Helper()
	v, err := jsonvalue.Parse(text)
	require.NoError(t, err)
	return v
}

// called makes a call with arguments and a result, both JSON; no result for "".
func called(t testing.TB, tool, arguments, result string) score.CallAccount {
	t.Helper()
	c := score.CallAccount{Tool: tool, Asked: -1, Shown: -1, Returned: true, Decided: -1}
	if arguments != "" {
		c.Arguments, c.ArgumentsKnown = value(t, arguments), true
	}
	if result != "" {
		c.Result = genai.Result{State: genai.Captured, Value: value(t, result)}
	}
	return c
}

// sessionOf makes a session of calls, and what was said around them.
func sessionOf(agent string, said bool, calls ...score.CallAccount) (*score.Session, *score.Account) {
	a := &score.Account{Spans: []score.SpanAccount{{Span: 0, Parent: -1, Agent: agent}}, Calls: calls}
	add := func(f score.FactAccount) { a.Facts = append(a.Facts, f) }
	if said {
		add(score.FactAccount{Kind: policy.UserMessage, Call: -1, First: true, Text: "first"})
	}
	for i := range calls {
		add(score.FactAccount{Kind: policy.ToolCall, Call: i})
		if calls[i].Returned {
			add(score.FactAccount{Kind: policy.ToolResult, Call: i})
		}
	}
	if said {
		add(score.FactAccount{Kind: policy.AgentMessage, Call: -1, Text: "done"})
		add(score.FactAccount{Kind: policy.UserMessage, Call: -1, Text: "thanks"})
		add(score.FactAccount{Kind: policy.AgentMessage, Call: -1, Calls: true})
	}
	return &score.Session{}, a
}

// written returns the policy that was learned, which has to be valid and gives no
// warning.
func written(t testing.TB, l *Learner, o Options) (string, Summary) {
	t.Helper()
	var b bytes.Buffer
	s, err := l.Write(&b, o)
	require.NoError(t, err)
	if s.Contracts+s.Protocols > 0 {
		p, err := policy.Load("learned.yaml", b.Bytes())
		require.NoError(t, err, b.String())
		require.Empty(t, p.Review(time.Now()).Warnings, b.String())
	}
	return b.String(), s
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
		return
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run the test with -update")
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// Tools of every kind, each with what a person would guess of it.
func TestContracts(t *testing.T) {
	failed := called(t, "pay", `{"order_id":"A-3"}`, "")
	failed.Failure.Kind = genai.Failed
	l := New()
	l.Add(sessionOf("", false,
		called(t, "getOrder", `{"order_id":"A-1"}`, `{"order_id":"A-1","status":"open","total":5,"note":null}`),
		called(t, "getOrder", `{"order_id":"A-2"}`, `{"order_id":"A-2","status":"paid","total":7,"note":"x","updated_at":"2026-01-01"}`),
		called(t, "getOrder", `{"order_id":"A-3"}`, `{"order_id":"B-3","status":"paid","total":7.5,"updated_at":"2026-01-02"}`),
		called(t, "getOrder", `{"order_id":"A-4"}`, `{"status":"not_found"}`),
		called(t, "find_customer", `{"id":"42"}`, `{"data":{"customer_id":"42","name":"Ada","source":"crm","revision":3}}`),
		called(t, "find_customer", `{"id":"7"}`, `{"data":{"customer_id":"7","name":"Bob","source":"crm","revision":4}}`),
		called(t, "find_customer", `{"id":"8"}`, `"No customer found."`),
		called(t, "find_customer", `{"id":"9"}`, `"No customer found."`),
		called(t, "find_customer", `{"id":"1"}`, `[]`),
		called(t, "pay", `{"order_id":"A-1","amount":5}`, `{"payment_id":"p-1","order_id":"A-1"}`),
		called(t, "pay", `{"order_id":"A-2","amount":7}`, `{"payment_id":"p-2","order_id":"A-2"}`),
		failed,
		called(t, "send_email", `{"body":"a long text of a letter","to":"ada@example.test"}`, `"Email sent"`),
		called(t, "send_email", `{"body":"hi","to":"bob@example.test"}`, `"Email sent"`),
		called(t, "list_files", `{}`, `["a","b"]`),
		called(t, "weather", `{"city":"Oslo"}`, `{"city":"Oslo","degrees":3}`),
		called(t, "weather", `{"city":"Rome"}`, `{"city":"Rome","degrees":21}`),
		called(t, "weather", `{"city":"Lima"}`, `{"city":"Lima","degrees":18}`),
		called(t, "a*b?[c]{d}", `{"x y":"1"}`, `{"x y":"1","id":"1"}`),
		called(t, "lookup", `{"key":"{k}"}`, `"Unknown key k1"`),
		called(t, "lookup", `{"key":"{k}"}`, `"Unknown key k2"`),
		called(t, "true", `{"a":1}`, `{"ok":true}`),
		called(t, "unrecorded", `{"a":1}`, ""),
		called(t, "", `{"a":1}`, `{"ok":true}`),
	))
	text, summary := written(t, l, Options{Tails: -1})
	golden(t, "contracts.yaml", text)
	require.Equal(t, 1, summary.Sessions)
	require.Equal(t, 23, summary.Calls)
}

// Orders of events: loops, choices, several agents, tools that are called like
// the labels of messages.
func TestProtocols(t *testing.T) {
	call := func(tools string) (calls []score.CallAccount) {
		for _, tool := range strings.Fields(tools) {
			calls = append(calls, called(t, tool, "{}", `{"a":1}`))
		}
		return calls
	}
	l := New()
	for _, run := range []string{"search read write", "search search read write", "search search search read read write", "read", "search read", "search AgentMessage"} {
		l.Add(sessionOf("a", true, call(run)...))
	}
	partial, account := sessionOf("a", true, call("write")...)
	account.Gap = "a parent span is missing"
	l.Add(partial, account)
	text, _ := written(t, l, Options{Tails: -1, Command: "resultseal init runs"})
	golden(t, "one-agent.yaml", text)

	l.Add(sessionOf("b*", false, call("search delete")...))
	l.Add(sessionOf("", false, call("noise")...))
	text, summary := written(t, l, Options{Tails: 1})
	golden(t, "several-agents.yaml", text)
	require.Equal(t, 2, summary.Protocols)

	empty := New()
	require.True(t, empty.Empty())
	text, summary = written(t, empty, Options{})
	require.Equal(t, Summary{}, summary)
	require.Contains(t, text, "so there is no protocol")

	silent := New()
	silent.Add(sessionOf("a", false))
	text, _ = written(t, silent, Options{})
	require.Contains(t, text, "so there is no protocol")
	require.False(t, silent.Empty())
}

// compiled makes an automaton of what was learned.
func compiled(t *rapid.T, a *automaton) *session.Automaton {
	var sm session.StateMachine
	sm.Initial = a.states[0].name
	for _, s := range a.states {
		if s.ends > 0 {
			sm.Terminal = append(sm.Terminal, s.name)
		}
		for _, e := range s.edges {
			sm.Transitions = append(sm.Transitions, session.Transition{From: s.name, Event: e.event, To: a.states[e.to].name})
		}
	}
	out, _, err := session.CompileStates(sm)
	require.NoError(t, err)
	return out
}

// Every run that was learned from is a run of what was learned, however far ahead
// states are compared, and the order of the runs changes nothing. Who looks less
// far ahead does not get a larger automaton.
func TestAutomatonAccepts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		event := rapid.SampledFrom([]string{"!a", "!b", "!c", "?d"})
		runs := rapid.SliceOfN(rapid.SliceOfN(event, 0, 8), 1, 8).Draw(t, "runs")
		o, again := newOrder(), newOrder()
		for i := range runs {
			o.add(runs[i])
			again.add(runs[len(runs)-1-i])
		}
		last := 0
		for tails := range 5 {
			a := o.automaton(tails)
			require.Equal(t, fmt.Sprint(a), fmt.Sprint(again.automaton(tails)))
			require.GreaterOrEqual(t, len(a.states), last)
			last = len(a.states)
			automaton := compiled(t, a)
			for _, run := range runs {
				m := automaton.NewMonitor()
				for _, e := range run {
					d := session.Send
					if e[0] == '?' {
						d = session.Receive
					}
					require.Equal(t, session.OK, m.Step(d, e[1:], nil).Result, "%v with %d", run, tails)
				}
				require.True(t, m.Terminal(), "%v with %d", run, tails)
			}
		}
		require.LessOrEqual(t, len(o.automaton(-1).states), max(maxStates, len(o.automaton(0).states)))
	})
}

// Where there is nothing to generalise, nothing is: what was not seen is no run.
func TestAutomatonRefuses(t *testing.T) {
	o := newOrder()
	for range 3 {
		o.add([]string{"!search", "!present", "?approval", "!book", "!done"})
	}
	o.add([]string{"!search", "!search", "!present", "?approval", "!book", "!done"})
	rapid.Check(t, func(t *rapid.T) {
		a := compiled(t, o.automaton(2))
		for run, want := range map[string]session.Result{
			"!search !search !search !present ?approval !book !done": session.OK,
			"!search !book":                           session.Violation,
			"!search !present !book":                  session.Violation,
			"!search !present ?approval !book !book":  session.Violation,
			"!book":                                   session.Violation,
			"!search !present ?approval !search":      session.Violation,
			"!search !present ?approval !book !other": session.Violation,
		} {
			m := a.NewMonitor()
			var last session.Outcome
			for _, e := range strings.Fields(run) {
				d := session.Send
				if e[0] == '?' {
					d = session.Receive
				}
				last = m.Step(d, e[1:], nil)
			}
			require.Equal(t, want, last.Result, run)
		}
	})
}

func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"get_order":          "read_complete get order",
		"getOrderDetails":    "read_complete get order-details",
		"crm.search-people":  "found search crm-people",
		"lookup_stock":       "found lookup stock",
		"customer_refund":    "effect_observed refund customer",
		"HTTPGetURL":         "  httpget-url",
		"send":               "effect_observed send send",
		"42":                 "  42",
		"mcp__shop__list_it": "found list mcp-shop-it",
		"Überweisung":        "  überweisung",
		"":                   "  ",
	} {
		claim, word := claimOf(name)
		require.Equal(t, want, fmt.Sprintf("%s %s %s", claim, word, nounOf(name)), name)
	}
	for text, want := range map[string]bool{
		"not found": true, "Not Found": true, "404 not_found": true, "No results": true, "no such user": true, "nil": true, "None": true,
		"customer does not exist": true, "does not exist": true, "order doesn't exist": true, "(nil)": true, "No matches.": true, "Unknown customer": true,
		"Email sent": false, "No customer found.": true, "no open orders were found": true, "order 42 not found": true, "The order was placed; nothing found in the basket is missing": false, "nothing to say": false, "": false,
		"nonexistent": false, "Known": false, strings.Repeat("x", 200) + " not found": false,
	} {
		require.Equal(t, want, saysAbsent(text), text)
	}
	require.True(t, identifies("customerId"))
	require.True(t, identifies("sku"))
	require.False(t, identifies("valid"))
	require.True(t, sameName("orderId", "order_id"))
	require.True(t, akin("id", "customer_id"))
	require.False(t, akin("id", "valid"))
}

// Whatever tools and fields are called and whatever they hold, the policy that
// comes out is valid and gives no warning.
func TestAlwaysValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"get_order", "search", "true", "~", "- a", "a: b", "#x", "*", "{}", "\u2028", "\xff", "<<", "0x1", "send_mail"}))
		texts := rapid.OneOf(name, rapid.SampledFrom([]string{"not found", "nil", "a", "{", "}", "'", `"`}))
		object := func() string {
			var b strings.Builder
			b.WriteByte('{')
			for i := range rapid.IntRange(0, 4).Draw(t, "fields") {
				if i > 0 {
					b.WriteByte(',')
				}
				fmt.Fprintf(&b, "%s:%s", asJSON(name.Draw(t, "field")), asJSON(texts.Draw(t, "value")))
			}
			return b.String() + "}"
		}
		l := New()
		for range rapid.IntRange(1, 4).Draw(t, "sessions") {
			var calls []score.CallAccount
			tool := name.Draw(t, "tool")
			for range rapid.IntRange(0, 4).Draw(t, "calls") {
				c := score.CallAccount{Tool: tool, Decided: -1, Returned: true}
				if v, err := jsonvalue.Parse(object()); err == nil {
					c.Arguments, c.ArgumentsKnown = v, true
				}
				result := object()
				if rapid.Bool().Draw(t, "text") {
					result = asJSON(texts.Draw(t, "result"))
				}
				if v, err := jsonvalue.Parse(result); err == nil {
					c.Result = genai.Result{State: genai.Captured, Value: v}
				}
				calls = append(calls, c)
			}
			l.Add(sessionOf(name.Draw(t, "agent"), rapid.Bool().Draw(t, "said"), calls...))
		}
		var b bytes.Buffer
		s, err := l.Write(&b, Options{Tails: rapid.IntRange(-1, 3).Draw(t, "tails")})
		require.NoError(t, err)
		if s.Contracts+s.Protocols == 0 {
			return
		}
		p, err := policy.Load("learned.yaml", b.Bytes())
		require.NoError(t, err, b.String())
		require.Empty(t, p.Review(time.Now()).Warnings, b.String())
	})
}

func asJSON(text string) string {
	out, _ := json.Marshal(text) // a text can always be written
	return string(out)
}

// References are made of identifiers, never of free text, however well it binds.
func TestFreeTextIsNoReference(t *testing.T) {
	calls := func(asked, evidence, source string) []score.CallAccount {
		var out []score.CallAccount
		for n := range 3 {
			out = append(out, called(t, "create_note",
				fmt.Sprintf(`{"title":"%s%d"}`, asked, n),
				fmt.Sprintf(`{"title":"%s%d","receipt":"%s%d","source":%q}`, asked, n, evidence, n, source)))
		}
		return out
	}
	for _, tt := range []struct {
		name, asked, evidence, source string
		holds, lacks                  []string
	}{
		{
			"identifiers", "note-", "r-", "notes", []string{
				`target_ref: "note:{arguments.title}"`, `target_ref: "note:{result.title}"`, `source_ref: "source:notes"`, `evidence_refs: ["{result.receipt}"]`,
			}, nil,
		},
		{
			"free text", "a note about ", "it was noted as ", "our notes", []string{
				`target_ref: "note" # the arguments of every call are free text, so it is not checked`, `source_ref: "tool:create_note"`,
			}, []string{"{arguments", "{result", "our notes", "about", "noted"},
		},
		{"too long", strings.Repeat("x", 64), "r-", "notes", []string{`target_ref: "note"`, `source:notes`}, []string{"{arguments", "xxx"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := New()
			l.Add(sessionOf("", false, calls(tt.asked, tt.evidence, tt.source)...))
			text, _ := written(t, l, Options{Tails: -1})
			for _, part := range tt.holds {
				require.Contains(t, text, part)
			}
			for _, part := range tt.lacks {
				require.NotContains(t, text, part)
			}
		})
	}
	// One call in words is enough.
	l := New()
	l.Add(sessionOf("", false, append(calls("note-", "r-", "notes"), called(t, "create_note", `{"title":"in words"}`, `{"title":"in words","receipt":"r-9","source":"notes"}`))...))
	text, _ := written(t, l, Options{Tails: -1})
	require.NotContains(t, text, "{arguments.title}")
	require.Contains(t, text, `evidence_refs: ["{result.receipt}"]`)
}
