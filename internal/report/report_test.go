// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

func TestJSON(t *testing.T) {
	golden(t, "traces.json", written(t, func(w *bytes.Buffer) error { return reportOf(t, false, sampleInputs, samples()...).JSON(w) }))
	golden(t, "conversations.json", written(t, func(w *bytes.Buffer) error { return reportOf(t, true, sampleInputs, samples()...).JSON(w) }))
	golden(t, "nothing.json", written(t, func(w *bytes.Buffer) error { return reportOf(t, false, Inputs{Files: 1}).JSON(w) }))
}

// A line a session holds what the document's list holds.
func TestJSONL(t *testing.T) {
	r := reportOf(t, false, sampleInputs, samples()...)
	var document struct{ Sessions []json.RawMessage }
	require.NoError(t, json.Unmarshal(written(t, func(w *bytes.Buffer) error { return r.JSON(w) }), &document))
	lines := strings.Split(strings.TrimSuffix(string(written(t, func(w *bytes.Buffer) error { return r.JSONL(w) })), "\n"), "\n")
	require.Len(t, lines, len(document.Sessions))
	for i := range lines {
		require.JSONEq(t, string(document.Sessions[i]), lines[i])
	}
	require.Empty(t, written(t, func(w *bytes.Buffer) error { return reportOf(t, false, Inputs{}).JSONL(w) }))
}

func TestTable(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	golden(t, "table.txt", written(t, func(w *bytes.Buffer) error { return reportOf(t, false, sampleInputs, samples()...).Table(w, false) }))
	golden(t, "nothing.txt", written(t, func(w *bytes.Buffer) error { return reportOf(t, false, Inputs{Files: 1, Spans: 1}).Table(w, false) }))
	golden(t, "scattered.txt", written(t, func(w *bytes.Buffer) error {
		return reportOf(t, false, Inputs{Files: 1, Spans: 9, Scattered: 2}, samples()[0]).Table(w, false)
	}))
	plain := string(written(t, func(w *bytes.Buffer) error { return reportOf(t, false, sampleInputs, samples()...).Table(w, false) }))
	require.NotContains(t, plain, "\x1b", "a name of a tool must not colour the terminal")
}

// A share is not rounded to nothing or to all.
func TestUncontractedShare(t *testing.T) {
	for want, c := range map[string]Counts{
		"":                               {Total: 7},
		"1 of 1 tool call (100%)":        {Uncontracted: 1},
		"2 of 7 tool calls (29%)":        {Total: 5, Uncontracted: 2},
		"1 of 1000 tool calls (<1%)":     {Total: 999, Uncontracted: 1},
		"999 of 1000 tool calls (>99%)":  {Total: 1, Uncontracted: 999},
		"10 of 1000 tool calls (1%)":     {Total: 990, Uncontracted: 10},
		"1000 of 1000 tool calls (100%)": {Uncontracted: 1000},
	} {
		require.Equal(t, want, c.uncontracted())
	}
}

// The order in which verdicts come, and where they are put aside, change nothing.
func TestDeterministic(t *testing.T) {
	for _, conversational := range []bool{false, true} {
		want := written(t, func(w *bytes.Buffer) error { return reportOf(t, conversational, sampleInputs, samples()...).JSON(w) })
		rapid.Check(t, func(rt *rapid.T) {
			traces := samples()
			if !conversational { // traces of a conversation are judged in order
				traces = rapid.Permutation(traces).Draw(rt, "traces")
			}
			b := NewBuilder(conversational)
			b.report.bodies.Limit = rapid.SampledFrom([]int{0, 1, 1000}).Draw(rt, "limit")
			for _, s := range traces {
				require.NoError(rt, b.Add(s.trace()))
			}
			r, err := b.Report(sampleInputs)
			require.NoError(rt, err)
			var got bytes.Buffer
			require.NoError(rt, r.JSON(&got))
			require.NoError(rt, r.Close())
			require.Equal(rt, string(want), got.String())
		})
	}
}

// What is taken back is as if it had never been there.
func TestRemove(t *testing.T) {
	all := samples()
	for _, conversational := range []bool{false, true} {
		b := NewBuilder(conversational)
		for _, s := range all {
			require.NoError(t, b.Add(s.trace()))
		}
		rest := all
		for _, n := range []int{1, 2} {
			require.NoError(t, b.Remove(all[n].verdict.TraceID.String()))
		}
		require.NoError(t, b.Remove("none"))
		rest = append(rest[:1:1], rest[3:]...)
		r, err := b.Report(sampleInputs)
		require.NoError(t, err)
		want := written(t, func(w *bytes.Buffer) error { return reportOf(t, conversational, sampleInputs, rest...).JSON(w) })
		require.Equal(t, string(want), string(written(t, func(w *bytes.Buffer) error { return r.JSON(w) })))
		require.NoError(t, r.Close())
	}
}

// Values are masked, numbered over all traces of a session, and there if content
// is asked for.
func TestMaskedRegisters(t *testing.T) {
	step := func(n int, name, rendered string, registers map[string]string) score.Event {
		return score.Event{Span: n, Name: name, Rendered: rendered, Time: start + genai.Timestamp(n)*second, Registers: registers}
	}
	protocol := func(name string, events ...score.Event) score.Protocol {
		return score.Protocol{Protocol: &policy.Protocol{Name: name}, Conversation: "c-1", Events: events}
	}
	trace := func(id byte, protocols ...score.Protocol) judgedTrace {
		return judgedTrace{&score.Session{TraceID: genai.TraceID{15: id}, Conversation: "c-1", Start: start, Protocols: protocols}, spansOf(id, 6)}
	}
	traces := []judgedTrace{
		// By time: "late" comes after what the second protocol remembers.
		trace(1, protocol("a", step(3, "!A", "", map[string]string{"x": `"late"`})),
			protocol("b", step(1, "!B", "", map[string]string{"y": `"one"`, "x": "2"}), step(2, "!‹5 characters›", "label", map[string]string{"y": `"one"`, "x": "2"}))),
		trace(2, protocol("a", step(4, "!A", "", map[string]string{"x": `"one"`}), step(5, "!A", "", map[string]string{"x": `"new"`}))),
	}
	events := func(conversational, content bool) []string {
		b := NewBuilder(conversational)
		b.Content = content
		for _, tr := range traces {
			require.NoError(t, b.Add(tr.trace()))
		}
		r, err := b.Report(Inputs{})
		require.NoError(t, err)
		defer r.Close()
		var out []string
		for s, err := range r.Sessions() {
			require.NoError(t, err)
			for _, p := range s.Protocols {
				for _, e := range p.Events {
					text, err := json.Marshal(e.Registers)
					require.NoError(t, err)
					out = append(out, e.Event+" "+string(text))
				}
			}
		}
		return out
	}
	require.Equal(t, []string{
		`!A {"x":"‹4 characters, #4›"}`,
		`!B {"x":"‹1 character, #1›","y":"‹3 characters, #2›"}`,
		`!‹5 characters, #3› {"x":"‹1 character, #1›","y":"‹3 characters, #2›"}`,
		`!A {"x":"‹3 characters, #1›"}`,
		`!A {"x":"‹3 characters, #2›"}`,
	}, events(false, false), "a session is a trace")
	require.Equal(t, []string{
		`!A {"x":"‹4 characters, #4›"}`,
		`!A {"x":"‹3 characters, #2›"}`,
		`!A {"x":"‹3 characters, #5›"}`,
		`!B {"x":"‹1 character, #1›","y":"‹3 characters, #2›"}`,
		`!‹5 characters, #3› {"x":"‹1 character, #1›","y":"‹3 characters, #2›"}`,
	}, events(true, false), "a session is a conversation")
	require.Equal(t, []string{
		`!A {"x":"late"}`, `!B {"x":2,"y":"one"}`, `!label {"x":2,"y":"one"}`, `!A {"x":"one"}`, `!A {"x":"new"}`,
	}, events(false, true), "content is asked for")
}
