// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// Ids are spread evenly, also those that are counted up, and the same in every
// process.
func TestShardsAreEvenAndFixed(t *testing.T) {
	for _, n := range []int{1, 2, 3, 16} {
		counted := make([]int, n)
		for i := range 10_000 {
			var id pcommon.TraceID
			binary.BigEndian.PutUint64(id[8:], uint64(i))
			counted[shardOfTrace(id, n)]++
		}
		for i := range n {
			require.InDelta(t, 10_000/n, counted[i], 300)
		}
	}
	require.Equal(t, 6, shardOfTrace(pcommon.TraceID{1, 2, 3}, 7))
}

// A limit that is divided is not smaller than it was.
func TestShare(t *testing.T) {
	require.Equal(t, 4, share(10, 3))
	require.Equal(t, 1, share(1, 8))
	require.Equal(t, 0, share(0, 8))
	require.Equal(t, int64(5), share(int64(10), 2))
}

// Traces that hold several conversations, in many shards and from many senders
// at once, neither wait for each other for ever nor lose a step.
func TestTracesOfSeveralConversations(t *testing.T) {
	sink := new(consumertest.TracesSink)
	p := newScoringProcessor(t, sink, spantest.ConversationPolicy, func(c *Config) { c.RootDelay, c.NumShards = 0, 4 })
	p.start(t)
	traces := spantest.Scaled(2000, 400)
	var senders sync.WaitGroup
	for s := range 4 {
		senders.Go(func() {
			for n := s; n < traces; n += 4 {
				td := spantest.Turn(n, fmt.Sprint("c", n%5), "order", "1")
				for i := 1; i < 3; i++ {
					more := spantest.Turn(n, fmt.Sprint("c", (n+i*s)%5), "order", "1")
					for span := range canonical.Spans(more) {
						span.SetTraceID(canonical.TraceID(td))
						span.SetSpanID(spantest.SpanID(fmt.Sprint(span.Name(), i)))
					}
					more.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
				}
				require.NoError(t, p.ConsumeTraces(context.Background(), td))
			}
		})
	}
	senders.Wait()
	p.shutdown(t)
	require.Equal(t, traces*6, sink.SpanCount())
	require.Equal(t, int64(5), p.recorder.sessions.Load())
}

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
