// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// ledger is the next consumer of a soak: it knows which spans were accepted and
// have not come yet, so that it stays small, and is slow or refuses now and then.
type ledger struct {
	mu       sync.Mutex
	owed     map[string]struct{}
	came     atomic.Int64
	unknown  atomic.Int64 // spans that came again, or before their sender was told
	troubled atomic.Int64
}

func (l *ledger) ConsumeTraces(_ context.Context, td ptrace.Traces) error {
	switch n := rand.IntN(1000); {
	case n < 20:
		l.troubled.Add(1)
		return errors.New("not now")
	case n < 25:
		time.Sleep(20 * time.Millisecond)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for span := range canonical.Spans(td) {
		l.came.Add(1)
		if _, ok := l.owed[span.Name()]; ok {
			delete(l.owed, span.Name())
		} else {
			l.unknown.Add(1)
		}
	}
	return nil
}

func (l *ledger) owe(names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		l.owed[name] = struct{}{}
	}
}

// A soak keeps a processor under load for RESULTSEAL_SOAK, a duration such as
// 5m, within a memory limit, while the next component is slow or refuses now and
// then and the processor is stopped or killed every few seconds. Whatever it
// accepted comes out, memory stays where it is, and no goroutine is left.
// `make soak` runs it.
func TestSoak(t *testing.T) {
	duration, err := time.ParseDuration(os.Getenv("RESULTSEAL_SOAK"))
	if err != nil {
		t.Skip("RESULTSEAL_SOAK names no duration")
	}
	const limit = 512 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(limit))
	for _, mode := range []Mode{ModeTrace, ModeStream} {
		t.Run(string(mode), func(t *testing.T) { soak(t, mode, duration/2, limit) })
	}
}

func soak(t *testing.T, mode Mode, duration time.Duration, limit uint64) {
	goroutines := runtime.NumGoroutine()
	d := newDisk()
	next := &ledger{owed: map[string]struct{}{}}
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile, cfg.Storage, cfg.Mode = spantest.PolicyFile(t, spantest.ConversationPolicy), &diskID, mode
	cfg.RootDelay, cfg.IdleTimeout, cfg.MaxAge = 50*time.Millisecond, time.Second, 3*time.Second
	cfg.MaxBytes, cfg.MaxSessions, cfg.DecidedCache = 32<<20, 10_000, 10_000
	cfg.Retry.InitialInterval, cfg.Retry.MaxElapsedTime = 5*time.Millisecond, 0
	cfg.Content = ContentHash

	var (
		current  atomic.Pointer[tracesProcessor]
		accepted atomic.Int64
		refused  atomic.Int64
		peak     uint64
		ended    = make(chan struct{})
		senders  sync.WaitGroup
	)
	start := func() {
		telemetry := componenttest.NewTelemetry()
		t.Cleanup(func() { _ = telemetry.Shutdown(context.Background()) })
		p, err := newTracesProcessor(metadatatest.NewSettings(telemetry), cfg, next)
		require.NoError(t, err)
		require.NoError(t, p.Start(context.Background(), diskHost{d}))
		current.Store(p)
	}
	start()
	for s := range 4 {
		senders.Go(func() {
			random := rand.New(rand.NewPCG(uint64(s), 1))
			for n := 0; ; n++ {
				td := spantest.Turn(n, fmt.Sprintf("c%d-%d", s, random.IntN(3000)), []string{"order", "cancel"}[random.IntN(2)], fmt.Sprint(random.IntN(3)))
				var names []string
				i := 0
				for span := range canonical.Spans(td) {
					name := fmt.Sprintf("%d/%d/%d", s, n, i)
					i++
					span.SetName(name)
					if random.IntN(50) == 0 {
						span.Attributes().PutStr("large", string(make([]byte, random.IntN(1<<20))))
					}
					names = append(names, name)
				}
				if random.IntN(20) == 0 { // no root comes
					td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(func(span ptrace.Span) bool { return assemble.IsRoot(span) })
					names = names[1:]
				}
				for {
					select {
					case <-ended:
						return
					default:
					}
					next.owe(names) // before it may come
					err := current.Load().ConsumeTraces(context.Background(), td)
					if err == nil {
						accepted.Add(int64(len(names)))
						break
					}
					refused.Add(1)
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	deadline := time.Now().Add(duration)
	restarts := 0
	for time.Now().Before(deadline) {
		time.Sleep(min(2*time.Second, time.Until(deadline)))
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapInuse)
		if restarts%2 == 1 {
			d.kill()
		}
		require.NoError(t, current.Load().Shutdown(context.Background()))
		start()
		restarts++
	}
	close(ended)
	senders.Wait()
	// The last batch of each sender may have been refused for good.
	require.Eventually(t, func() bool {
		next.mu.Lock()
		defer next.mu.Unlock()
		return len(next.owed) <= 2*4 && len(d.keys("/e/")) == 0
	}, time.Minute, 50*time.Millisecond, "not everything came out")
	require.NoError(t, current.Load().Shutdown(context.Background()))
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+2 }, 10*time.Second, 10*time.Millisecond, "goroutines are left")
	t.Logf("%d spans accepted, %d batches sent again, %d came, %d of them again, %d refusals, %d restarts, %d MiB of heap at most",
		accepted.Load(), refused.Load(), next.came.Load(), next.unknown.Load(), next.troubled.Load(), restarts, peak>>20)
	require.Less(t, peak, limit)
}

func (l *ledger) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }
