// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/featuregate"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/pref"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

// testProcessor is a processor with what its tests look at.
type testProcessor struct {
	*tracesProcessor
	telemetry *componenttest.Telemetry
	logs      *observer.ObservedLogs
	cfg       *Config
}

// newTestProcessor returns a processor with a policy of nothing, and one shard so that the
// order of its output is known.
func newTestProcessor(t *testing.T, next consumer.Traces, change ...func(*Config)) *testProcessor {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.NumShards = 1
	for _, c := range change {
		c(cfg)
	}
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	core, logs := observer.New(zapcore.DebugLevel)
	rec, err := newRecorder(telemetry.NewTelemetrySettings(), cfg.Telemetry.MaxTools)
	require.NoError(t, err)
	options, err := cfg.decoding()
	require.NoError(t, err)
	return &testProcessor{
		tracesProcessor: newProcessor(zap.New(core), cfg, options, &policy.Policy{}, next, rec),
		telemetry:       telemetry,
		logs:            logs,
		cfg:             cfg,
	}
}

func (p *testProcessor) start(t *testing.T) {
	t.Helper()
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
}

func (p *testProcessor) consume(t *testing.T, lines ...string) {
	t.Helper()
	require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Batch(t, lines)))
}

func (p *testProcessor) shutdown(t *testing.T) {
	t.Helper()
	require.NoError(t, p.Shutdown(context.Background()))
}

// Traces are forwarded when they are due, without anything coming in.
func TestTracesAreForwardedWhenDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		p := newTestProcessor(t, sink)
		p.start(t)

		p.consume(t, "t1/child", "t2/child")
		time.Sleep(time.Second)
		p.consume(t, "t1/root root")
		time.Sleep(2*time.Second - 1)
		synctest.Wait()
		require.Zero(t, sink.SpanCount())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, 2, sink.SpanCount())

		time.Sleep(7 * time.Second)
		synctest.Wait()
		require.Equal(t, 3, sink.SpanCount())

		// A late span does not wait for anything.
		p.consume(t, "t1/late")
		synctest.Wait()
		require.Equal(t, 4, sink.SpanCount())

		p.consume(t, "t3/open")
		p.shutdown(t)
		require.Equal(t, 5, sink.SpanCount())
		require.Equal(t, 4, len(sink.AllTraces()), "one call for each trace")
	})
}

// While the next consumer blocks and max_bytes is exceeded, senders wait for a
// second at most and no longer than they want to, and what they could not hand
// over stays theirs.
func TestSendersWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		sink := new(consumertest.TracesSink)
		next := consumerFunc(func(ctx context.Context, td ptrace.Traces) error {
			<-release
			return sink.ConsumeTraces(ctx, td)
		})
		p := newTestProcessor(t, next, func(c *Config) { c.RootDelay, c.MaxBytes, c.NumShards = 0, 14_000, 1 })
		p.start(t)
		p.consume(t, "t1/root root pad=4000") // goes to the next consumer
		synctest.Wait()
		p.consume(t, "t2/a pad=4000") // there is still some room

		refused := func(ctx context.Context, want error, after time.Duration) {
			begin := time.Now()
			td := spantest.Batch(t, []string{"t3/a"})
			require.ErrorIs(t, p.ConsumeTraces(ctx, td), want)
			require.Equal(t, 1, td.SpanCount())
			require.Equal(t, after, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second/2)
		defer cancel()
		refused(ctx, context.DeadlineExceeded, time.Second/2)
		refused(context.Background(), assemble.ErrBusy, time.Second)
		require.False(t, consumererror.IsPermanent(assemble.ErrBusy))

		waiting := make(chan error)
		go func() { waiting <- p.ConsumeTraces(context.Background(), spantest.Batch(t, []string{"t3/a"})) }()
		synctest.Wait()
		close(release)
		require.NoError(t, <-waiting)
		p.shutdown(t)
		require.Equal(t, 3, sink.SpanCount())
		require.Zero(t, p.accounting.Spans())
	})
}

// Shutdown takes what senders hold out already, refuses what comes after, and
// can be called before Start and twice.
func TestShutdown(t *testing.T) {
	t.Run("takes what waits", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			sink := new(consumertest.TracesSink)
			next := consumerFunc(func(ctx context.Context, td ptrace.Traces) error {
				<-release
				return sink.ConsumeTraces(ctx, td)
			})
			p := newTestProcessor(t, next, func(c *Config) { c.RootDelay = 0 })
			p.start(t)
			p.consume(t, "t1/root root")
			for i := range 3 {
				go func() { p.consume(t, fmt.Sprintf("w%d/a", i)) }()
			}
			synctest.Wait()
			stopped := make(chan error)
			go func() { stopped <- p.Shutdown(context.Background()) }()
			synctest.Wait()
			require.ErrorIs(t, p.ConsumeTraces(context.Background(), spantest.Batch(t, []string{"t3/a"})), assemble.ErrStopped)
			close(release)
			require.NoError(t, <-stopped)
			require.Equal(t, 4, sink.SpanCount())
			require.NoError(t, p.Shutdown(context.Background()))
		})
	})
	t.Run("without start", func(t *testing.T) {
		p := newTestProcessor(t, consumertest.NewNop())
		p.shutdown(t)
		require.ErrorIs(t, p.ConsumeTraces(context.Background(), spantest.Batch(t, []string{"t3/a"})), assemble.ErrStopped)
	})
	t.Run("out of time", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			blocked := 0
			next := consumerFunc(func(ctx context.Context, _ ptrace.Traces) error {
				blocked++
				<-ctx.Done()
				return ctx.Err()
			})
			p := newTestProcessor(t, next)
			p.start(t)
			p.consume(t, "t1/a", "t2/a", "t2/b")
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			begin := time.Now()
			require.ErrorIs(t, p.Shutdown(ctx), context.DeadlineExceeded)
			require.Equal(t, 5*time.Second, time.Since(begin))
			<-p.done
			require.Equal(t, 2, blocked, "the rest is offered all the same")
		})
	})
	t.Run("while idle", func(t *testing.T) {
		p := newTestProcessor(t, consumertest.NewErr(errors.New("not to be called")))
		p.start(t)
		p.shutdown(t)
		require.Zero(t, p.logs.Len())
	})
}

// Every span whose sender was told that it is accepted comes out once, with
// many senders at once and a shutdown among them; the others are still with
// their senders.
func TestAcceptedSpansComeOutOnce(t *testing.T) {
	sink := new(consumertest.TracesSink)
	p := newTestProcessor(t, sink, func(c *Config) {
		c.RootDelay, c.IdleTimeout, c.MaxAge = time.Millisecond, 2*time.Millisecond, 5*time.Millisecond
		c.MaxTraces, c.DecidedCache = 20, 10
	})
	p.start(t)
	var (
		senders  sync.WaitGroup
		accepted sync.Map
		count    atomic.Int64
	)
	for s := range 8 {
		senders.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(s)))
			for b := range 300 {
				var lines []string
				for i := range 1 + random.IntN(6) {
					root := ""
					if random.IntN(5) == 0 {
						root = " root"
					}
					lines = append(lines, fmt.Sprintf("t%d/%d name=-%d-%d%s", random.IntN(40), i, s, b, root))
				}
				td := spantest.Batch(t, lines)
				var names []string
				for span := range canonical.Spans(td) {
					names = append(names, span.Name())
				}
				if err := p.ConsumeTraces(context.Background(), td); err != nil {
					require.ErrorIs(t, err, assemble.ErrStopped)
					require.Equal(t, len(lines), td.SpanCount())
					continue
				}
				for _, name := range names {
					accepted.Store(name, false)
				}
				if count.Add(1) == 1500 {
					go func() { _ = p.Shutdown(context.Background()) }()
				}
			}
		})
	}
	senders.Wait()
	p.shutdown(t)

	for _, td := range sink.AllTraces() {
		for span := range canonical.Spans(td) {
			seen, ok := accepted.Swap(span.Name(), true)
			require.True(t, ok, "%s was not accepted", span.Name())
			require.Equal(t, false, seen, "%s came twice", span.Name())
		}
	}
	accepted.Range(func(name, seen any) bool {
		require.Equal(t, true, seen, "%v was lost", name)
		return true
	})
}

// With pooled pdata, a batch is recycled when its pipeline is done with it.
// The spans that are held must survive that.
func TestHeldSpansSurviveRecycling(t *testing.T) {
	const gate = "pdata.useProtoPooling"
	require.NoError(t, featuregate.GlobalRegistry().Set(gate, true))
	defer func() { require.NoError(t, featuregate.GlobalRegistry().Set(gate, false)) }()

	var names []string
	p := newTestProcessor(t, consumerFunc(func(_ context.Context, td ptrace.Traces) error {
		if pref.MarkPipelineOwnedTraces(td) {
			defer pref.UnrefTraces(td)
		}
		for span := range canonical.Spans(td) {
			service, _ := td.ResourceSpans().At(0).Resource().Attributes().Get("service.name")
			names = append(names, service.Str()+span.Name())
		}
		return nil
	}))
	p.start(t)
	send := func(lines ...string) {
		td := spantest.Batch(t, lines)
		if pref.MarkPipelineOwnedTraces(td) {
			defer pref.UnrefTraces(td)
		}
		require.NoError(t, p.ConsumeTraces(context.Background(), td))
	}
	send("t1/a res=1")
	send("t2/b res=2", "t3/c res=3", "-/d res=4")
	send("t1/e res=1")
	p.shutdown(t)
	require.Equal(t, []string{"4d", "1a", "1e", "2b", "3c"}, names)
}

type consumerFunc func(context.Context, ptrace.Traces) error

func (f consumerFunc) ConsumeTraces(ctx context.Context, td ptrace.Traces) error { return f(ctx, td) }

func (f consumerFunc) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }
