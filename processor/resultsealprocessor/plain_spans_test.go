// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// streaming is a processor in mode stream with limits that are never reached.
func streaming(tb testing.TB, change ...func(*Config)) *tracesProcessor {
	tb.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile = spantest.PolicyFile(tb, spantest.StreamPolicy)
	cfg.Mode = ModeStream
	for _, c := range change {
		c(cfg)
	}
	telemetry := componenttest.NewTelemetry()
	p, err := newTracesProcessor(metadatatest.NewSettings(telemetry), cfg, consumertest.NewNop())
	require.NoError(tb, err)
	require.NoError(tb, p.Start(context.Background(), componenttest.NewNopHost()))
	tb.Cleanup(func() {
		require.NoError(tb, p.Shutdown(context.Background()))
		require.NoError(tb, telemetry.Shutdown(context.Background()))
	})
	return p
}

// What a batch costs in memory does not depend on how many plain spans it has,
// but for what is kept of them.
func TestPlainSpansAllocateNothing(t *testing.T) {
	if spantest.RaceEnabled {
		t.Skip("the race detector changes what is allocated")
	}
	p := streaming(t, func(c *Config) { c.NumShards = 2 })
	td := spantest.Plain(25, 20)
	consume := func() { require.NoError(t, p.ConsumeTraces(context.Background(), td)) }
	for range 100 { // until the traces are there
		consume()
	}
	require.Less(t, testing.AllocsPerRun(200, consume), 50.0, "for 500 spans")
	require.Equal(t, 500, td.SpanCount())
}

func BenchmarkPassThrough(b *testing.B) {
	p := streaming(b, func(c *Config) { c.MaxTraces = 1000 })
	td := spantest.Plain(25, 20)
	b.ReportAllocs()
	spans := 0
	for b.Loop() {
		for span := range canonical.Spans(td) { // other traces each time; the oldest go by max_traces
			id := span.TraceID()
			binary.BigEndian.PutUint32(id[:], uint32(spans)) //nolint:gosec // any number
			span.SetTraceID(id)
		}
		if p.ConsumeTraces(context.Background(), td) != nil {
			b.Fatal("refused")
		}
		spans += 500
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(spans), "ns/span")
}

// The sender of plain spans gets the answer of the next consumer, and keeps all spans
// unless it would not retry the rest.
func TestPlainSpansAreTheSendersUntilTheyAreAccepted(t *testing.T) {
	batch := func() ptrace.Traces {
		td := spantest.Plain(1, 3)
		spantest.Call("t", "a", "order", 1, 2).ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
		spantest.Root("t").ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
		return td
	}
	later := errors.New("later")
	for name, test := range map[string]struct {
		answer func(ptrace.Traces) error
		left   int // of the five spans, in the batch
		out    int // of the rest, in the end
	}{
		"later":     {func(ptrace.Traces) error { return later }, 5, 0},
		"never":     {func(ptrace.Traces) error { return consumererror.NewPermanent(later) }, 3, 2},
		"in part":   {func(td ptrace.Traces) error { return consumererror.NewTraces(later, td) }, 3, 2},
		"thank you": {func(ptrace.Traces) error { return nil }, 3, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := new(consumertest.TracesSink)
				first := true
				next := consumerFunc(func(ctx context.Context, td ptrace.Traces) error {
					if first {
						first = false
						require.Equal(t, 3, td.SpanCount())
						return test.answer(td)
					}
					return sink.ConsumeTraces(ctx, td)
				})
				p := newScoringProcessor(t, next, spantest.StreamPolicy, func(c *Config) { c.Mode = ModeStream })
				p.start(t)
				td := batch()
				want := test.answer(ptrace.NewTraces())
				err := p.ConsumeTraces(context.Background(), td)
				if want == nil {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, later)
					require.Equal(t, consumererror.IsPermanent(want), consumererror.IsPermanent(err))
				}
				require.Equal(t, test.left, td.SpanCount())
				p.shutdown(t)
				require.Equal(t, test.out, sink.SpanCount())
				require.Zero(t, p.accounting.Spans())
			})
		})
	}
}

// Plain spans keep their trace open, count against the limits on it, and are late
// once it is decided.
func TestPlainSpansBelongToTheirTrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newScoringProcessor(t, consumertest.NewNop(), spantest.StreamPolicy, func(c *Config) {
			c.Mode, c.IdleTimeout, c.MaxSpansPerTrace = ModeStream, 10*time.Second, 100
		})
		p.start(t)
		send := func(spans int) {
			require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Plain(1, spans)))
			synctest.Wait()
		}
		active := func(n int64) {
			metadatatest.AssertEqualProcessorResultsealTracesActive(t, p.telemetry, points(point(n)), ignoreTime)
		}
		send(3)
		require.Positive(t, p.accounting.Spans())
		for range 3 {
			time.Sleep(9 * time.Second)
			send(1)
			active(1)
		}
		metadatatest.AssertEqualProcessorResultsealDuplicateSpans(t, p.telemetry, points(point(0)), ignoreTime)
		time.Sleep(11 * time.Second)
		synctest.Wait()
		active(0)
		require.Zero(t, p.accounting.Spans())
		metadatatest.AssertEqualProcessorResultsealDuplicateSpans(t, p.telemetry, points(point(3)), ignoreTime)
		send(2)
		active(0)
		metadatatest.AssertEqualProcessorResultsealLateSpans(t, p.telemetry, points(point(2)), ignoreTime)

		td := spantest.Plain(2, 60)
		for span := range canonical.Spans(td) {
			id := span.TraceID()
			id[15] ^= 1
			span.SetTraceID(id)
		}
		require.NoError(t, p.ConsumeTraces(context.Background(), td))
		require.NoError(t, p.ConsumeTraces(context.Background(), td))
		synctest.Wait()
		active(0)
		metadatatest.AssertEqualProcessorResultsealLateSpans(t, p.telemetry, points(point(2)), ignoreTime)
		p.shutdown(t)
		require.Zero(t, p.accounting.Spans())
	})
}
