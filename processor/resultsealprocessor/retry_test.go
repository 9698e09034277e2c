// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// flaky refuses the first so many offers and takes the others.
type flaky struct {
	*consumertest.TracesSink
	refusals int
	err      error
	offers   []time.Time
}

func (f *flaky) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	f.offers = append(f.offers, time.Now())
	if len(f.offers) <= f.refusals {
		return f.err
	}
	return f.TracesSink.ConsumeTraces(ctx, td)
}

func steadyRetry(c *Config) {
	c.RootDelay = 0
	c.Retry.InitialInterval, c.Retry.Multiplier, c.Retry.RandomizationFactor = time.Second, 2, 0
	c.Retry.MaxInterval, c.Retry.MaxElapsedTime = 4*time.Second, 20*time.Second
}

// What was refused for the moment is offered again with growing pauses, and
// nothing overtakes it.
func TestRetryableErrorIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &flaky{TracesSink: new(consumertest.TracesSink), refusals: 4, err: errors.New("not now")}
		p := newTestProcessor(t, next, steadyRetry)
		p.start(t)
		begin := time.Now()
		p.consume(t, "t1/a root")
		p.consume(t, "t2/a root")
		synctest.Wait()
		require.Positive(t, p.accounting.Spans())
		time.Sleep(30 * time.Second)
		synctest.Wait()
		var pauses []time.Duration
		for _, at := range next.offers {
			pauses = append(pauses, at.Sub(begin))
		}
		require.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second, 11 * time.Second, 11 * time.Second}, pauses)
		require.Equal(t, 2, next.SpanCount())
		id := canonical.TraceID(next.AllTraces()[0])
		require.Equal(t, "t1", string(id[:2]))
		require.Zero(t, p.accounting.Spans())
		require.Zero(t, p.logs.Len())
		metadatatest.AssertEqualProcessorResultsealRetries(t, p.telemetry, points(point(4)), ignoreTime)
		p.shutdown(t)
	})
}

// Whatever is lost is logged and counted, and its bytes are free again.
func TestLostSpansAreCounted(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		offers int
		retry  bool
	}{
		"permanent":       {consumererror.NewPermanent(errors.New("never")), 1, true},
		"wrapped":         {fmt.Errorf("somewhere: %w", consumererror.NewPermanent(errors.New("never"))), 1, true},
		"given up":        {errors.New("not now"), 7, true},
		"retry disabled":  {errors.New("not now"), 1, false},
		"retryable typed": {consumererror.NewRetryableError(errors.New("not now")), 7, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				next := &flaky{TracesSink: new(consumertest.TracesSink), refusals: 1000, err: c.err}
				p := newTestProcessor(t, next, steadyRetry, func(cfg *Config) { cfg.Retry.Enabled = c.retry })
				p.start(t)
				p.consume(t, "t1/a root", "t1/b")
				time.Sleep(time.Minute)
				synctest.Wait()
				require.Len(t, next.offers, c.offers)
				require.Zero(t, p.accounting.Spans())
				metadatatest.AssertEqualProcessorResultsealRefusedSpans(t, p.telemetry, points(point(2)), ignoreTime)
				require.Equal(t, 1, p.logs.FilterMessageSnippet("they are lost").Len())
				p.shutdown(t)
			})
		})
	}
}

// An error that names the spans it is about has only those offered again.
func TestOnlyRefusedSpansAreRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		offers := 0
		next := consumerFunc(func(ctx context.Context, td ptrace.Traces) error {
			if offers++; offers > 1 {
				return sink.ConsumeTraces(ctx, td)
			}
			failed, taken := ptrace.NewTraces(), ptrace.NewTraces()
			td.CopyTo(failed)
			td.CopyTo(taken)
			first := true
			half := func(keep bool) func(ptrace.Span) bool {
				first = keep
				return func(ptrace.Span) bool { first = !first; return first }
			}
			failed.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(half(true))
			taken.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(half(false))
			require.NoError(t, sink.ConsumeTraces(ctx, taken))
			return consumererror.NewTraces(errors.New("half of it"), failed)
		})
		p := newTestProcessor(t, next, steadyRetry)
		p.start(t)
		p.consume(t, "t1/a root", "t1/b", "t1/c", "t1/d")
		time.Sleep(2 * time.Second)
		p.shutdown(t)
		names := map[string]int{}
		for _, td := range sink.AllTraces() {
			for span := range canonical.Spans(td) {
				names[span.Name()]++
			}
		}
		require.Equal(t, map[string]int{"a": 1, "b": 1, "c": 1, "d": 1}, names)
		require.Equal(t, 2, offers)
	})
}

// While the next consumer takes nothing and max_bytes is exceeded, senders are
// told to come again; when it takes spans again, so does the processor, and
// nothing was lost.
func TestPressureReachesSenders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &flaky{TracesSink: new(consumertest.TracesSink), refusals: 5, err: errors.New("not now")}
		p := newTestProcessor(t, next, steadyRetry, func(c *Config) { c.MaxBytes = 14_000 })
		p.start(t)
		refused, sent := 0, 0
		for i := range 30 {
			for {
				td := spantest.Batch(t, []string{fmt.Sprintf("t%d/a root pad=3000", i)})
				err := p.ConsumeTraces(context.Background(), td)
				if err == nil {
					sent++
					break
				}
				require.ErrorIs(t, err, assemble.ErrBusy)
				require.False(t, consumererror.IsPermanent(err))
				require.Equal(t, 1, td.SpanCount())
				refused++
			}
			require.LessOrEqual(t, p.accounting.Spans(), int64(14_000+10_000))
		}
		p.shutdown(t)
		require.Positive(t, refused)
		require.Equal(t, sent, next.SpanCount())
		require.Zero(t, p.accounting.Spans())
	})
}

// On shutdown what is left is offered once more, and then for max_elapsed_time
// together, however many traces there are.
func TestShutdownWhileRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		next := &flaky{TracesSink: new(consumertest.TracesSink), refusals: 1000, err: errors.New("not now")}
		p := newTestProcessor(t, next, steadyRetry)
		p.start(t)
		for i := range 50 {
			p.consume(t, fmt.Sprintf("t%d/a root", i))
		}
		time.Sleep(5 * time.Second)
		begin := time.Now()
		p.shutdown(t)
		require.LessOrEqual(t, time.Since(begin), 20*time.Second)
		require.Greater(t, len(next.offers), 50)
		metadatatest.AssertEqualProcessorResultsealRefusedSpans(t, p.telemetry, points(point(50)), ignoreTime)
	})
}
