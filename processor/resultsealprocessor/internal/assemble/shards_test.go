// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/goleak"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
)

// Ids are spread evenly, also those that are counted up, and the same in every
// process.
func TestShardsAreEvenAndFixed(t *testing.T) {
	for _, n := range []int{1, 2, 3, 16} {
		counted := make([]int, n)
		for i := range 10_000 {
			var id pcommon.TraceID
			binary.BigEndian.PutUint64(id[8:], uint64(i))
			counted[ShardOf(id, n)]++
		}
		for i := range n {
			require.InDelta(t, 10_000/n, counted[i], 300)
		}
	}
	require.Equal(t, 6, ShardOf(pcommon.TraceID{1, 2, 3}, 7))
}

// A limit that is divided is not smaller than it was.
func TestShare(t *testing.T) {
	require.Equal(t, 4, share(10, 3))
	require.Equal(t, 1, share(1, 8))
	require.Equal(t, 0, share(0, 8))
	require.Equal(t, int64(5), share(int64(10), 2))
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// handled is a handler that keeps what it was given.
type handled struct {
	completed chan *Trace
	untraced  chan *Part
	early     func(p *Part, before *Early)
}

func (h *handled) Complete(t *Trace)            { h.completed <- t }
func (h *handled) Untraced(p *Part)             { h.untraced <- p }
func (h *handled) Early(p *Part, before *Early) { h.early(p, before) }

// counts is a recorder.
type counts struct{ traces, late atomic.Int64 }

func (c *counts) Holding(more int) { c.traces.Add(int64(more)) }
func (c *counts) Late(spans int)   { c.late.Add(int64(spans)) }

// testShards are shards with one handler.
type testShards struct {
	*Shards
	*handled
	accounting *Accounting
	counts     *counts
	policies   *revision.Set
}

func newTestShards(stream bool) *testShards {
	s := &testShards{
		handled:    &handled{completed: make(chan *Trace, 10), untraced: make(chan *Part, 10)},
		accounting: NewAccounting(1 << 30), counts: &counts{}, policies: revision.NewSet(&policy.Policy{}, nil),
	}
	s.Shards = NewShards(Settings{
		Shards: 1, Stream: stream, Recorder: s.counts,
		Limits: Limits{RootDelay: 2 * time.Second, IdleTimeout: 10 * time.Second, MaxAge: 5 * time.Minute, MaxTraces: 100, MaxBytes: 1 << 30, DecidedCache: 100, MaxSpans: 100},
	}, s.accounting, func() Handler { return s.handled })
	return s
}

func (s *testShards) consume(td ptrace.Traces) {
	under := s.policies.Enter()
	defer under.Leave()
	s.Dispatch(Split(td), nil, under)
	synctest.Wait()
}

func (s *testShards) stop() {
	s.Close()
	s.Wait()
}

// take returns the next completed trace as a line, or nothing.
func (s *testShards) take() string {
	synctest.Wait()
	select {
	case t := <-s.completed:
		s.accounting.ReleaseTrace(t, nil, false)
		return line(t.ID, t.Cause, t.Late, true, t.Count)
	default:
		return ""
	}
}

// A shard's timer completes a trace when it is due, without an arriving batch.
func TestTracesAreCompletedWhenDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestShards(false)
		s.Start()
		t1, t2, t3 := spantest.TraceID("t1"), spantest.TraceID("t2"), spantest.TraceID("t3")
		s.consume(spantest.Batch(t, []string{"t1/child", "t2/child"}))
		require.Equal(t, int64(2), s.counts.traces.Load())
		time.Sleep(time.Second)
		s.consume(spantest.Batch(t, []string{"t1/root root"}))
		time.Sleep(2*time.Second - 1)
		require.Empty(t, s.take())
		time.Sleep(time.Nanosecond)
		require.Equal(t, line(t1, ByRoot, false, true, 2), s.take())
		time.Sleep(7*time.Second - 1)
		require.Empty(t, s.take())
		time.Sleep(time.Nanosecond)
		require.Equal(t, line(t2, ByIdle, false, true, 1), s.take())
		require.Zero(t, s.counts.traces.Load())

		// A late span does not wait.
		s.consume(spantest.Batch(t, []string{"t1/late"}))
		require.Equal(t, line(t1, ByRoot, true, true, 1), s.take())

		// Nor does one without a trace id.
		s.consume(spantest.Batch(t, []string{"-/x", "t3/open"}))
		part := <-s.untraced
		require.Equal(t, 1, part.Count)
		s.accounting.ReleasePart(part, false)
		s.stop()
		require.Equal(t, line(t3, ByShutdown, false, true, 1), s.take())
		require.Zero(t, s.accounting.Total())
	})
}

// In mode stream, children are forwarded when they arrive, and their facts are kept for
// the trace. Late spans and those without a trace id are not handed over early.
func TestEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTestShards(true)
		var early []string
		s.early = func(p *Part, before *Early) {
			for span := range canonical.Spans(p.Spans) {
				p.Facts = append(p.Facts, Fact{Hash: uint64(len(before.Facts)), Root: IsRoot(span)})
			}
			children := p.CutChildren()
			for span := range canonical.Spans(children.Spans) {
				early = append(early, fmt.Sprintf("%s after %d", span.Name(), len(before.Facts)))
			}
			require.Equal(t, children.Count, children.Spans.SpanCount())
			if children.Count > 0 {
				s.accounting.HoldEarly(children)
				s.accounting.ReleasePart(children, false)
			}
		}
		s.Start()
		s.consume(spantest.Batch(t, []string{"t1/a", "t1/b"}))
		s.consume(spantest.Batch(t, []string{"t1/c", "t1/root root", "-/x"}))
		s.accounting.ReleasePart(<-s.untraced, false)
		time.Sleep(2 * time.Second)
		synctest.Wait()
		trace := <-s.completed
		require.Equal(t, []string{"a after 0", "b after 0", "c after 2"}, early)
		require.Len(t, trace.Early.Facts, 4)
		require.Equal(t, 1, trace.Spans.SpanCount(), "the root")
		s.accounting.ReleaseTrace(trace, nil, false)
		s.consume(spantest.Batch(t, []string{"t1/late"}))
		late := <-s.completed
		require.True(t, late.Late)
		require.Equal(t, 1, late.Spans.SpanCount())
		s.accounting.ReleaseTrace(late, nil, false)
		require.Len(t, early, 3)
		s.stop()
		require.Zero(t, s.accounting.Total())
	})
}

// A shard does not keep the batches that it has added until others arrive.
func TestShardsLetGoOfBatches(t *testing.T) {
	s := newTestShards(false)
	s.Start()
	defer s.stop()
	part := Split(spantest.Plain(1, 1))[0]
	w := weak.Make(part)
	under := s.policies.Enter()
	s.Dispatch([]*Part{part}, nil, under)
	under.Leave()
	part = nil
	require.Eventually(t, func() bool {
		runtime.GC()
		return w.Value() == nil
	}, 10*time.Second, time.Millisecond)
}
