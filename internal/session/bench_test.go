// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func BenchmarkStep(b *testing.B) {
	const source = "rec L.?{read(path as p).L, write(path == p, mode != \"append\").L, list.L, Unrecognized.L, done}"
	loop := compiled(b, source)
	var wide []string
	for i := range 200 {
		wide = append(wide, fmt.Sprintf("tool_number_%d.L", i))
	}
	among200 := compiled(b, "rec L.?{"+strings.Join(wide, ",")+",done}")
	write := Fields{"path": StringValue("/srv/app.py"), "mode": StringValue("w")}
	// Payloads are made outside the loop, as an interface value.
	var payload Payload = write
	for _, bm := range []struct {
		name  string
		a     *Automaton
		label string
		p     Payload
	}{
		{"plain", loop, "list", nil},
		{"guards", loop, "write", payload},
		{"binding_the_same", loop, "read", payload},
		{"among_200", among200, "tool_number_117", nil},
		{"unrecognized", among200, UnrecognizedLabel, nil},
	} {
		m := bm.a.NewMonitor()
		m.Receive("read", payload)
		if m.Halted() {
			m = bm.a.NewMonitor()
		}
		symbol := bm.a.Symbol(Receive, bm.label)
		b.Run(bm.name+"/by_symbol", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.StepSymbol(symbol, bm.p)
			}
		})
		b.Run(bm.name+"/by_name", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.Step(Receive, bm.label, bm.p)
			}
		})
		if m.Halted() {
			b.Fatal("the benchmark measures refusals")
		}
	}
}

// BenchmarkMonitors reports the bytes that a monitor takes, alone and among a
// million, idle and with two registers bound.
func BenchmarkMonitors(b *testing.B) {
	a := compiled(b, "rec L.?{read(path as p, owner as o).L, write(path == p).L, done}")
	payload := Fields{"path": StringValue("/srv/app.py"), "owner": StringValue("root")}
	for _, n := range []int{1, 1_000_000} {
		for name, prepare := range map[string]func(*Monitor){
			"idle":  func(*Monitor) {},
			"bound": func(m *Monitor) { m.Receive("read", payload) },
		} {
			b.Run(fmt.Sprintf("%d/%s", n, name), func(b *testing.B) {
				var used uint64
				rounds := uint64(0)
				for b.Loop() {
					monitors := make([]*Monitor, n)
					before := heap()
					for i := range monitors {
						monitors[i] = a.NewMonitor()
						prepare(monitors[i])
					}
					used += heap() - before
					rounds++
					runtime.KeepAlive(monitors)
				}
				b.ReportMetric(float64(used)/float64(rounds)/float64(n), "B/monitor")
			})
		}
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkCompile(b *testing.B) {
	var steps, choices []string
	for i := range 10_000 {
		steps = append(steps, fmt.Sprintf("!step%d", i))
	}
	for i := range 64 {
		choices = append(choices, fmt.Sprintf("!{a%d,b%d}", i, i))
	}
	for name, source := range map[string]string{
		"booking":       "!Search.?Results.!Present.?Approval.!Book.?Confirmation.end",
		"10,000_steps":  strings.Join(steps, "."),
		"64_choices":    strings.Join(choices, "."),
		"200_tool_loop": "rec L.!{" + strings.ReplaceAll(strings.Join(steps[:200], ".L,"), "!", "") + "}",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p, err := Parse(source)
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := Compile(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkExplains explains a long run of which a third was not seen.
func BenchmarkExplains(b *testing.B) {
	a := compiled(b, "rec L.!{read.?got.!next.L, write.?done.!next.L, stop}")
	var events []Event
	for i := range 1000 {
		events = append(events, Event{Label: []string{"read", "write"}[i%2]}, Event{Direction: Receive, Label: []string{"got", "done"}[i%2]})
	}
	missing := func(_ Direction, label string) bool { return label == "next" }
	b.ReportAllocs()
	for b.Loop() {
		if !a.Explains(events, missing) {
			b.Fatal("not explained")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(events)), "ns/event")
}
