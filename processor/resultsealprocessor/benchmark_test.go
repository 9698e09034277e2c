// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"encoding/binary"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

// What the assembler and the canonical form cost, without the judge.
func BenchmarkAssembler(b *testing.B) {
	recorded := spantest.Quickstart(b)
	for name, batches := range map[string]func() []ptrace.Traces{
		"whole": func() []ptrace.Traces { return spantest.Copies(recorded, 50) },
		"mixed": func() []ptrace.Traces { return spantest.Mixed(spantest.Copies(recorded, 50)) },
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
					a.Add(splitByTrace(td), spantest.Epoch)
				}
				for _, f := range a.Tick(spantest.Epoch.Add(time.Minute)) {
					canonical.Form(f.spans)
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
			under := p.revisions.Enter()
			defer under.Leave()
			batch := func(n int) ptrace.Traces { // of traces of its own; in mode trace with their roots
				td, i := spantest.Plain(25, 20), 0
				for span := range canonical.Spans(td) {
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
						a.AddSilent(*of, under.Revision, spantest.Epoch)
						p.bypass.release(of)
					}
				}
				for _, part := range parts {
					part.revision = under.Revision
				}
				for _, f := range append(a.Add(parts, spantest.Epoch), a.Tick(spantest.Epoch)...) {
					if f.revision = under.Revision; mode == ModeTrace {
						read(f)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(spans), "ns/span")
		})
	}
}
