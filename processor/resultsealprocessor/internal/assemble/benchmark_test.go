// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

// The cost of the assembler and the canonical form.
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
				a := NewAssembler(Limits{time.Second, time.Second, time.Second, 1 << 30, 1 << 40, 100_000, 0})
				b.StartTimer()
				for _, td := range in {
					a.Add(Split(td), spantest.Epoch)
				}
				for _, f := range a.Tick(spantest.Epoch.Add(time.Minute)) {
					canonical.Form(f.Spans)
					spans += f.Count
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(spans), "ns/span")
		})
	}
}
