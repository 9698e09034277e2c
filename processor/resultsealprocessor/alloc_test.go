// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// What a span may cost in allocations on its way through the whole processor. A
// change that needs more has to say why.
func TestAllocationBudgets(t *testing.T) {
	if spantest.RaceEnabled {
		t.Skip("the race detector changes what is allocated")
	}
	plain := func(span ptrace.Span, _ int) {
		span.SetName("GET /orders/{id}")
		span.Attributes().PutStr("http.route", "/orders/{id}")
		span.Attributes().PutInt("http.response.status_code", 200)
	}
	tool := func(span ptrace.Span, n int) {
		span.SetName("execute_tool order")
		a := span.Attributes()
		a.PutStr("gen_ai.operation.name", "execute_tool")
		a.PutStr("gen_ai.tool.name", "order")
		a.PutStr("gen_ai.tool.call.id", fmt.Sprint("call-", n))
		a.PutStr("gen_ai.tool.call.result", `{"ok":true,"note":"`+strings.Repeat("x", 400)+`"}`)
	}
	for _, test := range []struct {
		name     string
		mode     Mode
		perTrace int
		fill     func(ptrace.Span, int)
		budget   float64 // for a span
	}{
		{"plain spans in traces of one, mode trace", ModeTrace, 1, plain, 15},
		{"plain spans in traces of 20, mode trace", ModeTrace, 20, plain, 3},
		{"plain spans in traces of 20, mode stream", ModeStream, 20, plain, 2.5},
		{"tool spans in traces of 10, mode trace", ModeTrace, 10, tool, 75},
		{"tool spans in traces of 10, mode stream", ModeStream, 10, tool, 190},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := allocationsPerSpan(t, test.mode, test.perTrace, test.fill)
			t.Logf("%.1f allocations a span", got)
			require.LessOrEqual(t, got, test.budget)
			require.Greater(t, got, test.budget/3, "a budget that is never reached is none")
		})
	}
}

// allocationsPerSpan sends batches, each with the spans of some traces, through a
// processor that finishes traces with their root.
func allocationsPerSpan(t *testing.T, mode Mode, perTrace int, fill func(ptrace.Span, int)) float64 {
	t.Helper()
	const batches, batch = 40, 200
	var in []ptrace.Traces
	for b := range batches {
		td := ptrace.NewTraces()
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", "shop")
		spans := rs.ScopeSpans().AppendEmpty().Spans()
		for n := range batch {
			span := spans.AppendEmpty()
			trace := b*batch + n%(batch/perTrace)
			span.SetTraceID(pcommon.TraceID{1, byte(trace), byte(trace >> 8)})
			span.SetSpanID(pcommon.SpanID{1, byte(n)})
			if n < batch-batch/perTrace {
				span.SetParentSpanID(pcommon.SpanID{2})
			}
			span.SetStartTimestamp(pcommon.Timestamp(n))
			fill(span, n)
		}
		in = append(in, td)
	}
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile = spantest.PolicyFile(t, spantest.StreamPolicy)
	cfg.Mode, cfg.NumShards, cfg.RootDelay = mode, 1, 0
	var out atomic.Int64
	next, err := consumer.NewTraces(func(_ context.Context, td ptrace.Traces) error {
		out.Add(int64(td.SpanCount()))
		return nil
	})
	require.NoError(t, err)
	telemetry := componenttest.NewTelemetry()
	p, err := newTracesProcessor(metadatatest.NewSettings(telemetry), cfg, next)
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	at := 0
	allocations := testing.AllocsPerRun(batches-1, func() {
		if err := p.ConsumeTraces(context.Background(), in[at]); err != nil {
			t.Fatal(err)
		}
		for at++; out.Load() < int64(at*batch); {
			runtime.Gosched()
		}
	})
	require.NoError(t, p.Shutdown(context.Background()))
	require.NoError(t, telemetry.Shutdown(context.Background()))
	return allocations / batch
}
