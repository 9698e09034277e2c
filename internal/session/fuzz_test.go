// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzProtocol parses any text. An error has a place inside it; a protocol
// survives printing, and its automaton can be drawn, saved at every step, and
// peeked without a change. What happens is taken from the events themselves, as
// the second argument picks them.
func FuzzProtocol(f *testing.F) {
	for _, tt := range parseTests {
		f.Add(tt.source, "\x00\x01\x02\x03")
	}
	for _, tt := range parseErrorTests {
		f.Add(tt.source, "")
	}
	for _, source := range []string{
		"rec Main.?Task.!{Retryable.rec Try.!Call.?{Fail.Try,Ok},Simple.!Call}.Main",
		`rec L.!{read(path as p).L, write(path == p, mode != 'append').L, stop}`,
		"rec X.rec Y.!a.?{b.X,c.Y,d}.end.end", "rec X.X", "X.!a", "end.!a",
	} {
		f.Add(source, "\x00\x00\x01\x00\x05\x02")
	}
	f.Fuzz(func(t *testing.T, source, choices string) {
		p, err := Parse(source)
		var a *Automaton
		var warnings []Warning
		if err == nil {
			roundTrip(t, source)
			a, warnings, err = Compile(p)
		}
		if err != nil {
			e := err.(*Error)
			require.True(t, 0 <= e.Offset && e.Offset <= len(source))
			require.True(t, e.Line >= 1 && e.Column >= 1 && e.Expected != "" && e.Found != "" && e.Code != "")
			require.NotContains(t, e.Error(), "\n")
			require.True(t, utf8.ValidString(e.Detail()))
			require.Equal(t, 2, strings.Count(e.Detail(), "\n"))
			return
		}
		for _, w := range warnings {
			require.True(t, 0 <= w.Offset && w.Offset <= len(source) && w.Line >= 1 && w.Column >= 1)
		}
		require.Contains(t, a.DOT(), "digraph")
		require.Contains(t, a.Mermaid(), "flowchart")
		m := a.NewMonitor()
		events := append(a.Events(), Event{Label: "other"}, Event{Label: UnrecognizedLabel, Direction: Receive})
		payloads := []Payload{nil, Fields{}, Fields{"path": StringValue("a"), "x": NullValue()}, Fields{"path": NumberValue("1")}}
		for _, c := range []byte(choices) {
			event, p := events[int(c)%len(events)], payloads[int(c>>4)%len(payloads)]
			before := m.Snapshot()
			peeked := m.Peek(event.Direction, event.Label, p)
			require.Equal(t, before, m.Snapshot())
			again, err := a.Restore(before)
			require.NoError(t, err)
			o := m.Step(event.Direction, event.Label, p)
			require.Equal(t, peeked, o)
			require.Equal(t, o, again.Step(event.Direction, event.Label, p))
			require.Equal(t, m.Snapshot(), again.Snapshot())
			require.Equal(t, m.Halted(), o.Result == Violation || o.Result == Blocked)
		}
	})
}

// FuzzValue reads any text as JSON. It accepts what encoding/json accepts, and
// what it makes of it is a fixed point that means the same.
func FuzzValue(f *testing.F) {
	for _, text := range []string{
		`null`, `true`, `-0.0e+5`, `1e400`, `"a\u00e9\ud83d\ude00\ud83d"`, `[1,[2,{"a":"b"}],[]]`, `{"b":1,"a":{},"b":[]}`, `01`, `"\q"`, "\"\xff\"", ` [ ] `, `1.`, `{"a":}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseValue(text)
		if utf8.ValidString(text) && strings.Count(text, "[")+strings.Count(text, "{") <= maxValueDepth {
			require.Equal(t, json.Valid([]byte(text)), err == nil, "%v", err)
		}
		if err != nil {
			return
		}
		again, err := ParseValue(v.String())
		require.NoError(t, err)
		require.True(t, v == again)
		require.Equal(t, v.String(), again.String())
		if !strings.ContainsAny(text, "eE\\") {
			require.True(t, naiveEqual(decode(text), decode(v.String())))
		}
		if v.kind == numberKind {
			require.True(t, NumberValue(strings.TrimSpace(text)) == v)
		}
	})
}

// FuzzStateMachine compiles any machine of two transitions. An error names a key
// and a place in it; a machine has a hash and a monitor.
func FuzzStateMachine(f *testing.F) {
	f.Add("a", "b", "!x", "path == p", "path as p", "?y")
	f.Add("", "a", "x", "path", "1 as p", "!x(y)")
	f.Add("a\nb", "a\nb", "!x", "", "", "!x")
	f.Add("a", "a", " ! x:y ", " x == 'y' , z != q ", " ", "? x:y")
	f.Fuzz(func(t *testing.T, from, to, event, when, bind, event2 string) {
		sm := StateMachine{Initial: from, Terminal: []string{to}, Transitions: []Transition{
			{From: from, To: to, Event: event, When: when, Bind: bind}, {From: to, To: from, Event: event2},
		}}
		a, warnings, err := CompileStates(sm)
		if err != nil {
			e := err.(*Error)
			require.NotEmpty(t, e.Field)
			require.NotContains(t, e.Error(), "\n")
			require.True(t, strings.Count(e.Detail(), "\n") == 2)
			return
		}
		for _, w := range warnings {
			require.NotEmpty(t, w.Field)
		}
		b, _, err := CompileStates(machineOf(a))
		require.NoError(t, err)
		require.Equal(t, a.Hash(), b.Hash())
	})
}
