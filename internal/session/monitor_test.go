// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestMonitorSize keeps a monitor without registers in one cache line.
func TestMonitorSize(t *testing.T) {
	require.LessOrEqual(t, unsafe.Sizeof(Monitor{}), uintptr(64))
	a := compiled(t, "rec X.!{a.X,b}")
	require.Equal(t, 1.0, testing.AllocsPerRun(100, func() { sink = a.NewMonitor() }), "the monitor itself")
}

var sink any

// TestStepAllocations steps without bindings, with guards, and into refusals.
func TestStepAllocations(t *testing.T) {
	a := compiled(t, `rec L.!{set(x as p, y as q).L, step.L, check(x == p, y != q, z == "lit").L, Unrecognized.L}`)
	m := a.NewMonitor()
	set := Fields{"x": StringValue("some text that is bound"), "y": NumberValue("17")}
	require.Equal(t, OK, m.Send("set", set).Result)
	var check Payload = Fields{"x": StringValue("some text that is bound"), "y": NumberValue("18"), "z": StringValue("lit")}
	symbol := a.Symbol(Send, "step")
	guarded := a.Symbol(Send, "check")
	for name, step := range map[string]func() Outcome{
		"by name":            func() Outcome { return m.Send("step", nil) },
		"by symbol":          func() Outcome { return m.StepSymbol(symbol, nil) },
		"guards":             func() Outcome { return m.Send("check", check) },
		"guards by symbol":   func() Outcome { return m.StepSymbol(guarded, check) },
		"sentinel":           func() Outcome { return m.Send(UnrecognizedLabel, nil) },
		"peek":               func() Outcome { return m.Peek(Send, "check", check) },
		"rebinding the same": func() Outcome { return m.Send("set", set) },
	} {
		require.Equal(t, OK, step().Result, name)
		require.Zero(t, testing.AllocsPerRun(100, func() { step() }), name)
	}
	require.Equal(t, Unrecognized, m.Receive(UnrecognizedLabel, nil).Result)
	require.Zero(t, testing.AllocsPerRun(100, func() { m.Receive(UnrecognizedLabel, nil) }), "unrecognized")
	require.Equal(t, Violation, m.Receive("step", nil).Result)
	require.Zero(t, testing.AllocsPerRun(100, func() { m.Receive("step", nil) }), "blocked")
}

// TestStepSymbol answers as Step does, for every event and for events that the
// automaton does not know.
func TestStepSymbol(t *testing.T) {
	eachRandomRun(t, func(m *Monitor, next Event) {
		byName, bySymbol := restored(t, m), restored(t, m)
		s := m.Automaton().Symbol(next.Direction, next.Label)
		want := byName.Step(next.Direction, next.Label, next.Payload)
		got := bySymbol.StepSymbol(s, next.Payload)
		require.Equal(t, want, got)
		require.Equal(t, byName.Snapshot(), bySymbol.Snapshot())
	})
	a := compiled(t, "!a")
	require.Equal(t, NoSymbol, a.Symbol(Send, "b"))
	require.Equal(t, NoSymbol, a.Symbol(Receive, "a"))
	for _, d := range []Direction{Send, Receive} {
		m := a.NewMonitor(WithTrace(TraceLimits{Events: 1, Bytes: 100}))
		require.Equal(t, Unrecognized, m.StepSymbol(a.Symbol(d, UnrecognizedLabel), nil).Result)
		attempts, _ := m.Trace()
		require.Equal(t, d.String()+UnrecognizedLabel, attempts[0].Event.String())
		o := m.StepSymbol(NoSymbol, nil)
		require.Equal(t, Violation, o.Result)
		require.Equal(t, LabelCause, o.Cause)
		require.Equal(t, []string{"!a"}, o.Expected)
	}
}

// TestWideChoice finds every edge of a choice that is searched by halves.
func TestWideChoice(t *testing.T) {
	for n := 1; n < 70; n++ {
		var labels []string
		for i := range n {
			labels = append(labels, fmt.Sprintf("tool%d.!got%d", i*7%n, i*7%n))
		}
		if n%7 == 0 {
			continue // labels repeat
		}
		a := compiled(t, "?{"+strings.Join(labels, ",")+"}")
		for i := range n {
			m := a.NewMonitor()
			require.Equal(t, OK, m.Receive(fmt.Sprintf("tool%d", i), nil).Result)
			require.Equal(t, OK, m.Send(fmt.Sprintf("got%d", i), nil).Result)
			require.True(t, m.Terminal())
		}
		require.Equal(t, Violation, a.NewMonitor().Receive("tool", nil).Result)
		require.Equal(t, Violation, a.NewMonitor().Receive("toolx", nil).Result)
	}
}

// eachRandomRun calls f at every step of random runs of random protocols.
func eachRandomRun(t *testing.T, f func(m *Monitor, next Event)) {
	count := 1000
	if testing.Short() {
		count = 200
	}
	for seed := range count {
		r := &maker{Rand: rand.New(rand.NewPCG(uint64(seed), 5)), size: 16, clauses: true}
		m := compiled(t, text(r.terms(nil, nil, 0))).NewMonitor(WithTrace(TraceLimits{Events: 100, Bytes: 1 << 20}))
		for range 8 {
			next := Event{pick(r, []Direction{Send, Receive}), pick(r, labelPool), randomPayload(r)}
			if e := m.Expected(); len(e) > 0 && r.IntN(8) > 0 {
				event := pick(r, e)
				next.Direction, next.Label = direction(event[:1]), event[1:]
			}
			f(m, next)
			m.Step(next.Direction, next.Label, next.Payload)
		}
	}
}

func randomPayload(r *maker) Payload {
	fields := Fields{}
	for _, f := range fieldPool {
		if r.IntN(5) > 0 {
			v, err := ParseValue(pick(r, payloadPool))
			if err != nil {
				panic(err)
			}
			fields[f] = v
		}
	}
	return fields
}

// view is all that can be seen of a monitor.
func view(m *Monitor) string {
	attempts, dropped := m.Trace()
	snapshot, err := json.Marshal(m.Snapshot())
	if err != nil {
		panic(err)
	}
	return fmt.Sprint(string(snapshot), m.Terminal(), m.Halted(), m.Expected(), m.Registers(), attempts, dropped)
}

// TestPeek never changes anything, and answers as the step then does.
func TestPeek(t *testing.T) {
	eachRandomRun(t, func(m *Monitor, next Event) {
		before := view(m)
		peeked := m.Peek(next.Direction, next.Label, next.Payload)
		require.Equal(t, before, view(m))
		copied := *m
		copied.trace = nil
		copied.registers = append([]Value(nil), m.registers...)
		require.Equal(t, peeked, copied.Step(next.Direction, next.Label, next.Payload))
	})
}

// restored takes a monitor to JSON and back.
func restored(t *testing.T, m *Monitor) *Monitor {
	t.Helper()
	text, err := json.Marshal(m.Snapshot())
	require.NoError(t, err)
	var s Snapshot
	require.NoError(t, json.Unmarshal(text, &s))
	again, err := m.Automaton().Restore(s)
	require.NoError(t, err)
	return again
}

// TestSaveAndRestore goes on alike from every step of the measured runs.
func TestSaveAndRestore(t *testing.T) {
	eachMeasuredCase(t, func(t *testing.T, c *measuredCase) {
		if c.kind() != "run" {
			return
		}
		a := compiled(t, *c.Protocol)
		for at := range len(c.Steps) + 1 {
			m := a.NewMonitor()
			for i, s := range c.Steps {
				if i == at {
					before := m.Snapshot()
					m = restored(t, m)
					require.Equal(t, before, m.Snapshot())
				}
				if o := m.Peek(direction(s.Dir), s.Label, payload(s.Payload)); o.Result.String() != s.Expect {
					t.Fatalf("%s: saved before step %d, step %d is %s, want %s", c.ID, at, i, o.Result, s.Expect)
				}
				if !s.Peek {
					m.Step(direction(s.Dir), s.Label, payload(s.Payload))
				}
			}
		}
	})
}

// TestReplay of a trace gives the same monitor, with the payloads cut down to
// what matters.
func TestReplay(t *testing.T) {
	eachRandomRun(t, func(m *Monitor, _ Event) {
		attempts, dropped := m.Trace()
		require.Zero(t, dropped)
		var events []Event
		for _, a := range attempts {
			events = append(events, a.Event)
		}
		again := m.Automaton().Replay(events, WithTrace(TraceLimits{Events: 100, Bytes: 1 << 20}))
		require.Equal(t, view(m), view(again))
	})
}

func TestTraceBounds(t *testing.T) {
	a := compiled(t, "rec L.?{note(text as last).L, other.L}")
	step := func(m *Monitor, from, to int) {
		for i := from; i < to; i++ {
			m.Receive("note", Fields{"text": StringValue(fmt.Sprint(i)), "huge": StringValue(strings.Repeat("x", 1000))})
		}
	}
	kept := func(m *Monitor) (texts string, dropped int) {
		attempts, dropped := m.Trace()
		for _, a := range attempts {
			require.Equal(t, "?note", a.Event.String())
			v, ok := a.Event.Payload.Field("text")
			require.True(t, ok)
			_, ok = a.Event.Payload.Field("huge")
			require.False(t, ok, "what the protocol does not read is not kept")
			texts += v.text
		}
		return texts, dropped
	}

	byCount := a.NewMonitor(WithTrace(TraceLimits{Events: 3, Bytes: 1 << 20}))
	step(byCount, 0, 9)
	texts, dropped := kept(byCount)
	require.Equal(t, "678", texts)
	require.Equal(t, 6, dropped)

	byBytes := a.NewMonitor(WithTrace(TraceLimits{Events: 100, Bytes: 2 * len("notetext1")}))
	step(byBytes, 0, 9)
	texts, dropped = kept(byBytes)
	require.Equal(t, "78", texts)
	require.Equal(t, 7, dropped)
	step(byBytes, 10, 11) // longer, so that only it fits
	texts, _ = kept(byBytes)
	require.Equal(t, "10", texts)

	// An attempt that fits nowhere leaves a trace without it, and without the
	// ones before: what is kept has no gaps.
	byBytes.Receive("note", Fields{"text": StringValue(strings.Repeat("x", 100))})
	texts, dropped = kept(byBytes)
	require.Empty(t, texts)
	require.Equal(t, 11, dropped)

	nothing := a.NewMonitor(WithTrace(TraceLimits{}))
	step(nothing, 0, 9)
	texts, dropped = kept(nothing)
	require.Empty(t, texts)
	require.Equal(t, 9, dropped)

	none, dropped := a.NewMonitor().Trace()
	require.Empty(t, none)
	require.Zero(t, dropped)
}

func TestRestoreErrors(t *testing.T) {
	a := compiled(t, "!a(x as p).!b(x == p)")
	m := a.NewMonitor()
	m.Send("a", Fields{"x": NumberValue("1.0")})
	good := m.Snapshot()
	text, err := json.Marshal(good)
	require.NoError(t, err)
	require.Equal(t, `{"protocol":"`+a.Hash()+`","state":1,"halted":false,"registers":{"p":1}}`, string(text))

	_, err = compiled(t, "!a(x as p).!c(x == p)").Restore(good)
	require.ErrorIs(t, err, ErrProtocolChanged)
	for name, damage := range map[string]func(*Snapshot){
		"state too large":  func(s *Snapshot) { s.State = 3 },
		"state negative":   func(s *Snapshot) { s.State = -1 },
		"unknown register": func(s *Snapshot) { s.Registers = map[string]Value{"q": NullValue()} },
		"absent value":     func(s *Snapshot) { s.Registers = map[string]Value{"p": {}} },
	} {
		bad := good
		damage(&bad)
		_, err = a.Restore(bad)
		require.ErrorIs(t, err, ErrBadSnapshot, name)
	}

	// A rewritten protocol that does the same is the same protocol.
	_, err = compiled(t, " rec Unused . !a(x as p).\n!b(x == p).end").Restore(good)
	require.NoError(t, err)
}

// TestRegistersDoNotPinPayloads: what is bound is a copy, so that a register
// does not keep a whole document in memory.
func TestRegistersDoNotPinPayloads(t *testing.T) {
	document := strings.Repeat("x", 1000)
	m := compiled(t, "!a(x as p)").NewMonitor(WithTrace(TraceLimits{Events: 1, Bytes: 1 << 20}))
	m.Send("a", Fields{"x": StringValue(document[500:510])})
	inside := func(s string) bool {
		p, start := uintptr(unsafe.Pointer(unsafe.StringData(s))), uintptr(unsafe.Pointer(unsafe.StringData(document)))
		return start <= p && p < start+uintptr(len(document))
	}
	require.True(t, inside(document[500:510]), "the test itself")
	require.False(t, inside(m.Registers()[0].Value.text))
	attempts, _ := m.Trace()
	v, _ := attempts[0].Event.Payload.Field("x")
	require.False(t, inside(v.text))
}

func TestEventsAndNames(t *testing.T) {
	a := compiled(t, "rec X.!{b(x as p).X, a(y == q).?z}")
	require.Equal(t, []Event{{Direction: Send, Label: "a"}, {Direction: Send, Label: "b"}, {Direction: Receive, Label: "z"}}, a.Events())
	require.Equal(t, []string{"p", "q"}, a.RegisterNames())
	require.Equal(t, "!a", a.Events()[0].String())
	require.Equal(t, []string{"ok", "violation", "unrecognized", "blocked"},
		[]string{OK.String(), Violation.String(), Unrecognized.String(), Blocked.String()})
	require.Equal(t, []string{"", "label", "guard"}, []string{NoCause.String(), LabelCause.String(), GuardCause.String()})
	require.Empty(t, compiled(t, "end").Events())
	require.True(t, compiled(t, "end").NewMonitor().Terminal())
}
