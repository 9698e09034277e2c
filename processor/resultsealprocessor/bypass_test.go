// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// Each silent span keeps its service, as far as there are numbers for them, in a
// time that does not grow with their number, and services count as memory.
func TestSilentSpansOfManyServices(t *testing.T) {
	const services = 70_000
	var s silentSpans
	name := func(i int) string { return fmt.Sprintf("service-%05d", i) }
	bytes := int64(0)
	for range 2 {
		for i := range services {
			bytes += s.add(silentSpan{}, name(i))
		}
	}
	last := math.MaxUint16
	for i := range 2 * services {
		require.Equal(t, name(min(i%services, last)), s.fact(pcommon.TraceID{1}, i).Service)
	}
	require.Equal(t, 2*services*int64(silentBytes)+int64(last+1)*int64(serviceBytes+2*textBytes(name(0))), bytes)
}

// Copies of a silent span are told apart by all that stays of them, and not by
// which service was seen first.
func TestHashesOfSilentSpans(t *testing.T) {
	span := silentSpan{id: pcommon.SpanID{1}, parent: pcommon.SpanID{2}, start: 3, end: 4, attributes: 5}
	remote := span
	remote.remote = true
	hashes := func(services ...string) (all []uint64) {
		var s silentSpans
		for _, service := range services {
			s.add(span, service)
			s.add(remote, service)
		}
		for i := range s.spans {
			all = append(all, s.hash(i))
		}
		slices.Sort(all)
		return all
	}
	require.Equal(t, hashes("shop", "cart"), hashes("cart", "shop"))
	require.Len(t, slices.Compact(hashes("shop", "cart")), 4)
}

// A batch is added as a whole before limits are applied, silent spans and others
// together: a trace that goes at once by a limit has its verdict on all of them.
func TestLimitsDoNotCutBatches(t *testing.T) {
	batch := func() ptrace.Traces {
		td := ptrace.NewTraces()
		for n := range 3 {
			silent := spantest.Plain(1, 3)
			for span := range canonical.Spans(silent) {
				span.SetTraceID(spantest.TraceID(fmt.Sprint("t", n)))
			}
			silent.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
		}
		for n := range 3 {
			trace := fmt.Sprint("t", n)
			spantest.Call(trace, "a", "order", 1, 2).ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
			spantest.Root(trace).ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
		}
		return td
	}
	for name, limit := range map[string]func(*Config){
		"max_spans_per_trace": func(c *Config) { c.MaxSpansPerTrace = 1 },
		"max_traces":          func(c *Config) { c.MaxTraces = 1 },
		"max_bytes":           func(c *Config) { c.MaxBytes = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sessions := func(m Mode) map[pcommon.TraceID]map[string]any {
					sink := new(consumertest.TracesSink)
					p := newScoringProcessor(t, sink, spantest.StreamPolicy, func(c *Config) { c.Mode, c.NumShards = m, 1 }, limit)
					p.start(t)
					require.NoError(t, p.ConsumeTraces(context.Background(), batch()))
					synctest.Wait()
					p.shutdown(t)
					require.Equal(t, 15, sink.SpanCount())
					require.Zero(t, p.admission.held.Load())
					metadatatest.AssertEqualProcessorResultsealLateSpans(t, p.telemetry, points(point(0)), ignoreTime)
					return sessionsOf(sink.AllTraces())
				}
				want := sessions(ModeTrace)
				require.Len(t, want, 3)
				require.Equal(t, want, sessions(ModeStream))
			})
		})
	}
}

// What a sender brings again has its content hashed once.
func TestSilentSpansAreHashedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		batch := func() ptrace.Traces {
			td := spantest.Plain(1, 1)
			for span := range canonical.Spans(td) {
				span.Attributes().PutStr("chain.messages", `[{"role":"tool","tool_call_id":"k","content":"a secret"}]`)
			}
			return td
		}
		out := func(refusals int) string {
			sink := new(consumertest.TracesSink)
			next := consumerFunc(func(ctx context.Context, td ptrace.Traces) error {
				if refusals--; refusals >= 0 {
					return errors.New("later")
				}
				return sink.ConsumeTraces(ctx, td)
			})
			p := newScoringProcessor(t, next, spantest.StreamPolicy, func(c *Config) { c.Mode, c.Content = ModeStream, ContentHash })
			p.start(t)
			td := batch()
			for p.ConsumeTraces(context.Background(), td) != nil {
			}
			p.shutdown(t)
			require.Equal(t, 1, sink.SpanCount())
			for span := range canonical.Spans(sink.AllTraces()[0]) {
				v, _ := span.Attributes().Get("chain.messages")
				return v.Str()
			}
			return ""
		}
		once := out(0)
		require.NotContains(t, once, "secret")
		require.Contains(t, once, "role")
		require.Equal(t, once, out(2))
	})
}

// When the time for the shutdown is up, silent spans that the next consumer has
// not taken go back to their sender, and what is held goes on. Others who bring
// something meanwhile are refused at once.
func TestShutdownDuringBypass(t *testing.T) {
	sink := new(consumertest.TracesSink)
	asked := make(chan struct{})
	next := consumerFunc(func(ctx context.Context, td ptrace.Traces) error {
		if td.SpanCount() == 3 {
			close(asked)
			<-ctx.Done()
			return ctx.Err()
		}
		return sink.ConsumeTraces(ctx, td)
	})
	p := newScoringProcessor(t, next, spantest.StreamPolicy, func(c *Config) { c.Mode = ModeStream })
	p.start(t)
	require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Root("t")))
	td := spantest.Plain(1, 3)
	refused := make(chan error)
	go func() { refused <- p.ConsumeTraces(context.Background(), td) }()
	<-asked
	over, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- p.Shutdown(over) }()
	<-p.stopped
	require.ErrorIs(t, p.ConsumeTraces(context.Background(), spantest.Root("late")), errStopped)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.ErrorIs(t, <-refused, context.Canceled)
	<-p.done
	require.Equal(t, 3, td.SpanCount())
	require.Equal(t, 1, sink.SpanCount())
	require.Zero(t, p.admission.held.Load())
}

// A shard does not keep the batches that it has worked off until others come.
func TestShardsLetGoOfBatches(t *testing.T) {
	p := streaming(t, func(c *Config) { c.Mode, c.NumShards = ModeTrace, 1 })
	part := splitByTrace(spantest.Plain(1, 1))[0]
	w := weak.Make(part)
	p.dispatch([]*tracePart{part}, nil, p.revisions.Enter())
	part = nil
	require.Eventually(t, func() bool {
		runtime.GC()
		return w.Value() == nil
	}, 10*time.Second, time.Millisecond)
}

// Nor does its reader keep the spans of the trace that it has read last.
func TestReadersLetGoOfTraces(t *testing.T) {
	p := streaming(t)
	s := p.scoring.(*scoring)
	r := &reader{scoring: s, cleaner: s.cleaner(), decoder: genai.NewDecoder(s.options), settle: (&judge{s}).settle}
	r.read(&finished{spans: spantest.Call("t", "a", "order", 1, 2), revision: p.revisions.Current().Revision, judge: true})
	require.NotEmpty(t, r.facts)
	for i := range r.facts {
		require.Zero(t, r.facts[i])
		require.Zero(t, r.sources[i])
	}
}
