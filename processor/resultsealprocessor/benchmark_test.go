// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// copies are n copies of the recorded traces under trace ids of their own.
func copies(recorded []ptrace.Traces, n int) []ptrace.Traces {
	var out []ptrace.Traces
	for i := range n {
		for _, from := range recorded {
			td := ptrace.NewTraces()
			from.CopyTo(td)
			for span := range spansOf(td) {
				id := span.TraceID()
				copy(id[:8], fmt.Sprintf("%08d", i))
				span.SetTraceID(id)
			}
			out = append(out, td)
		}
	}
	return out
}

// mixed puts the spans of all batches into batches of 500, one of each in
// turn: the worst case for taking them apart.
func mixed(batches []ptrace.Traces) (out []ptrace.Traces) {
	var traces [][]ptrace.Traces
	for _, td := range batches {
		var spans []ptrace.Traces
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					spans = append(spans, alone(rs, ss, span))
				}
			}
		}
		traces = append(traces, spans)
	}
	td, n := ptrace.NewTraces(), 0
	for i, left := 0, true; left; i++ {
		left = false
		for _, spans := range traces {
			if i >= len(spans) {
				continue
			}
			left = true
			spans[i].ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
			if n++; n%500 == 0 {
				out, td = append(out, td), ptrace.NewTraces()
			}
		}
	}
	return append(out, td)
}

// What the assembler and the canonical form cost, without the judge.
func BenchmarkAssembler(b *testing.B) {
	recorded := readRecording(b, "../../testdata/quickstart/support.jsonl")
	for name, batches := range map[string]func() []ptrace.Traces{
		"whole": func() []ptrace.Traces { return copies(recorded, 50) },
		"mixed": func() []ptrace.Traces { return mixed(copies(recorded, 50)) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			spans := 0
			for b.Loop() {
				b.StopTimer()
				in := batches()
				a := newAssembler(limits{time.Second, time.Second, time.Second, 1 << 30, 1 << 40, 100_000, 0})
				b.StartTimer()
				for _, td := range in {
					a.Add(splitByTrace(td), scriptEpoch)
				}
				for _, f := range a.Tick(scriptEpoch.Add(time.Minute)) {
					canonicalize(f.spans)
					spans += f.count
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(spans), "ns/span")
		})
	}
}

// The cost of spans without GenAI content: all that is done with one between the
// sender and the next component, in one goroutine.
func BenchmarkPlainSpans(b *testing.B) {
	for _, mode := range []Mode{ModeTrace, ModeStream} {
		b.Run(string(mode), func(b *testing.B) {
			p := streaming(b, func(c *Config) { c.Mode, c.NumShards = mode, 1 })
			read := p.scoring.reader()
			a := newAssembler(limits{idleTimeout: time.Hour, maxAge: time.Hour, maxTraces: 1000, maxBytes: 1 << 40, decidedCache: 100_000})
			under := p.revisions.enter()
			defer under.leave()
			batch := func(n int) ptrace.Traces { // of traces of its own; in mode trace with their roots
				td, i := silentBatch(25, 20), 0
				for span := range spansOf(td) {
					id := span.TraceID()
					binary.BigEndian.PutUint32(id[:], uint32(n)) //nolint:gosec // any number
					span.SetTraceID(id)
					if i++; mode == ModeTrace && i > 475 {
						span.SetParentSpanID(pcommon.SpanID{})
					}
				}
				return td
			}
			b.ReportAllocs()
			spans := 0
			for b.Loop() {
				b.StopTimer()
				td := batch(spans)
				spans += 500
				b.StartTimer()
				p.own.CleanResources(td)
				var parts []*tracePart
				if mode == ModeTrace {
					parts = splitByTrace(td)
				} else {
					_, passed, err := p.bypass.pass(context.Background(), td, under)
					if err != nil {
						b.Fatal(err)
					}
					for _, of := range passed {
						a.AddSilent(*of, under.revision, scriptEpoch)
						p.bypass.release(of)
					}
				}
				for _, part := range parts {
					part.revision = under.revision
				}
				for _, f := range append(a.Add(parts, scriptEpoch), a.Tick(scriptEpoch)...) {
					if f.revision = under.revision; mode == ModeTrace {
						read(f)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(spans), "ns/span")
		})
	}
}
