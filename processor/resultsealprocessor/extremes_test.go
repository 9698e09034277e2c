// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// counting is a next consumer that keeps numbers only, so that what a test
// measures is what the processor holds.
type counting struct {
	spans, bytes atomic.Int64
	finalized    atomic.Pointer[string]
	// heap is the most that was in use when a trace came.
	heap atomic.Uint64
}

func (c *counting) ConsumeTraces(_ context.Context, td ptrace.Traces) error {
	c.spans.Add(int64(td.SpanCount()))
	var m ptrace.ProtoMarshaler
	c.bytes.Add(int64(m.TracesSize(td)))
	for span := range canonical.Spans(td) {
		if by, ok := span.Attributes().Get("resultseal.session.finalized_by"); ok {
			text := strings.Clone(by.Str())
			c.finalized.Store(&text)
		}
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	c.heap.Store(max(c.heap.Load(), stats.HeapAlloc))
	return nil
}

func (c *counting) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

// extreme is a whole processor with a policy that every tool falls under.
func extreme(t *testing.T, next consumer.Traces, change ...func(*Config)) (*tracesProcessor, *componenttest.Telemetry) {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile = spantest.PolicyFile(t, `
contracts:
  - name: any
    claim_type: found
    required_fields: [ok]
    freshness: {mode: not_required}
    source_ref: shop
    target_ref: "tool:{tool.name}"
protocols:
  - name: serving
    protocol: "rec X.!{call.X, Unrecognized.X}"
    events: [{label: call, event: tool_call}]
`)
	for _, c := range change {
		c(cfg)
	}
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	p, err := newTracesProcessor(metadatatest.NewSettings(telemetry), cfg, next)
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	return p, telemetry
}

// toolSpans is a batch of tool calls of one trace, numbered from first.
func toolSpans(trace pcommon.TraceID, first, n int, tool func(int) string) ptrace.Traces {
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	spans.EnsureCapacity(n)
	for i := first; i < first+n; i++ {
		span := spans.AppendEmpty()
		span.SetTraceID(trace)
		var id pcommon.SpanID
		binary.BigEndian.PutUint64(id[:], uint64(i+1))
		span.SetSpanID(id)
		span.SetParentSpanID(pcommon.SpanID{9, 9, 9})
		span.SetName("execute_tool " + tool(i))
		span.SetStartTimestamp(pcommon.NewTimestampFromTime(spantest.Epoch.Add(time.Duration(i) * time.Microsecond)))
		span.SetEndTimestamp(pcommon.NewTimestampFromTime(spantest.Epoch.Add(time.Duration(i+1) * time.Microsecond)))
		span.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
		span.Attributes().PutStr("gen_ai.tool.name", tool(i))
		span.Attributes().PutStr("gen_ai.tool.call.id", fmt.Sprint("call_", i))
		span.Attributes().PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"n":%d}`, i))
		span.Attributes().PutStr("gen_ai.tool.call.result", `{"ok":true}`)
	}
	return td
}

func oneTool(int) string { return "search" }

// insist sends a batch again as long as the processor is busy, as receivers tell
// their clients to.
func insist(t *testing.T, p *tracesProcessor, td ptrace.Traces) {
	t.Helper()
	err := p.ConsumeTraces(context.Background(), td)
	for errors.Is(err, assemble.ErrBusy) {
		err = p.ConsumeTraces(context.Background(), td)
	}
	require.NoError(t, err)
}

// One trace id on every span that comes: the trace is finished at its limit,
// the rest is late, and nothing piles up.
func TestOneTraceForEverything(t *testing.T) {
	total := spantest.Scaled(100_000, 20_000)
	limit := total / 10
	next := &counting{}
	p, telemetry := extreme(t, next, func(c *Config) { c.MaxSpansPerTrace, c.MaxBytes = limit, int64(limit)<<13 })
	for at := 0; at < total; at += 1000 {
		insist(t, p, toolSpans(spantest.TraceID("all"), at, 1000, oneTool))
	}
	require.NoError(t, p.Shutdown(context.Background()))
	require.Equal(t, int64(total), next.spans.Load())
	require.Equal(t, "oversize", *next.finalized.Load())
	metadatatest.AssertEqualProcessorResultsealLateSpans(t, telemetry, points(point(int64(total-limit-1000))), ignoreTime)
	t.Logf("%d MiB of heap at most", next.heap.Load()>>20)
	if total <= 100_000 {
		require.Less(t, next.heap.Load(), uint64(500<<20))
	}
}

// A batch that holds a larger trace than is allowed goes through in one piece.
func TestManySpansAtOnce(t *testing.T) {
	total := spantest.Scaled(40_000, 5000)
	next := &counting{}
	p, telemetry := extreme(t, next, func(c *Config) { c.MaxSpansPerTrace = total / 2 })
	begin := time.Now()
	require.NoError(t, p.ConsumeTraces(context.Background(), toolSpans(spantest.TraceID("one"), 0, total, oneTool)))
	require.NoError(t, p.Shutdown(context.Background()))
	t.Logf("%d spans took %v", total, time.Since(begin))
	require.Equal(t, int64(total), next.spans.Load())
	require.Equal(t, "oversize", *next.finalized.Load())
	metadatatest.AssertEqualProcessorResultsealSessions(t, telemetry,
		points(point(1, "compliance", "compliant", "finalized_by", "oversize")), ignoreTime)
}

// A span that is larger than all that may be held is passed on, and so are the
// others, which it does not push out.
func TestSpanLargerThanEverything(t *testing.T) {
	size := spantest.Scaled(100<<20, 4<<20)
	next := &counting{}
	p, telemetry := extreme(t, next, func(c *Config) { c.MaxBytes = int64(size / 2) })
	require.NoError(t, p.ConsumeTraces(context.Background(), toolSpans(spantest.TraceID("small"), 0, 3, oneTool)))
	td := toolSpans(spantest.TraceID("large"), 0, 1, oneTool)
	td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().PutStr("gen_ai.tool.call.result", strings.Repeat("x", size))
	require.NoError(t, p.ConsumeTraces(context.Background(), td))
	require.Eventually(t, func() bool { return next.spans.Load() == 1 && next.bytes.Load() > int64(size) }, time.Minute, time.Millisecond)
	require.NoError(t, p.Shutdown(context.Background()))
	require.Equal(t, int64(4), next.spans.Load())
	metadatatest.AssertEqualProcessorResultsealSessions(t, telemetry, points(
		point(1, "compliance", "compliant", "finalized_by", "oversize"),
		point(1, "compliance", "compliant", "finalized_by", "shutdown"),
	), ignoreTime)
}

// Ten thousand tools are ten thousand verdicts and 201 series.
func TestTenThousandTools(t *testing.T) {
	next := &counting{}
	p, telemetry := extreme(t, next)
	for i := range 10 {
		require.NoError(t, p.ConsumeTraces(context.Background(),
			toolSpans(spantest.TraceID(fmt.Sprint(i)), 1000*i, 1000, func(n int) string { return fmt.Sprint("tool_", n) })))
	}
	require.NoError(t, p.Shutdown(context.Background()))
	m, err := telemetry.GetMetric("otelcol_processor_resultseal_observations")
	require.NoError(t, err)
	series, sum := 0, int64(0)
	for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
		series++
		sum += p.Value
	}
	require.Equal(t, int64(10_000), sum)
	require.Equal(t, 200+1+2, series, "200 tools, _other, and the two zeros of the contract")
}
