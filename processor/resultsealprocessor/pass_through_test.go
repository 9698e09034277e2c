// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// A batch is added as a whole before limits are applied, plain spans and others
// together: a trace that goes at once by a limit has its verdict on all of them.
func TestLimitsDoNotCutBatches(t *testing.T) {
	batch := func() ptrace.Traces {
		td := ptrace.NewTraces()
		for n := range 3 {
			plain := spantest.Plain(1, 3)
			for span := range canonical.Spans(plain) {
				span.SetTraceID(spantest.TraceID(fmt.Sprint("t", n)))
			}
			plain.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
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
					require.Zero(t, p.accounting.Spans())
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
func TestPlainSpansAreHashedOnce(t *testing.T) {
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

// When the time for the shutdown is up, plain spans that the next consumer has
// not accepted go back to their sender, and what is held goes on. Others who bring
// something meanwhile are refused at once.
func TestShutdownDuringPassThrough(t *testing.T) {
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
	require.ErrorIs(t, p.ConsumeTraces(context.Background(), spantest.Root("late")), assemble.ErrStopped)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.ErrorIs(t, <-refused, context.Canceled)
	<-p.done
	require.Equal(t, 3, td.SpanCount())
	require.Equal(t, 1, sink.SpanCount())
	require.Zero(t, p.accounting.Spans())
}
