// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// What one and two shards take per span, from the batch to the next consumer.
func BenchmarkProcessor(b *testing.B) {
	for _, shards := range []int{1, 2} {
		b.Run(fmt.Sprint("shards=", shards), func(b *testing.B) {
			cfg := createDefaultConfig().(*Config)
			cfg.PolicyFile = spantest.PolicyFile(b, spantest.ConversationPolicy)
			cfg.NumShards, cfg.RootDelay = shards, 0
			spans := 0
			for b.Loop() {
				b.StopTimer()
				var in []ptrace.Traces
				for n := range 2000 {
					in = append(in, spantest.Turn(n, fmt.Sprint("c", n%200), "order", "1"))
				}
				in = spantest.Mixed(in)
				telemetry := componenttest.NewTelemetry()
				p, err := newTracesProcessor(metadatatest.NewSettings(telemetry), cfg, consumertest.NewNop())
				require.NoError(b, err)
				require.NoError(b, p.Start(context.Background(), componenttest.NewNopHost()))
				b.StartTimer()
				var senders sync.WaitGroup
				for s := range 2 {
					senders.Go(func() {
						for i := s; i < len(in); i += 2 {
							_ = p.ConsumeTraces(context.Background(), in[i])
						}
					})
				}
				senders.Wait()
				_ = p.Shutdown(context.Background())
				spans += 4000
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(spans), "ns/span")
			b.ReportMetric(float64(spans)/b.Elapsed().Seconds(), "spans/s")
		})
	}
}
