// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/spantest"
)

// The state of a conversation is small, whatever its telemetry holds; one that is
// larger than max_session_bytes is evicted, and the next trace says so.
func TestStatesOfConversationsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	call := func(td ptrace.Traces, n int, tool, id string) {
		spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
		span := spans.AppendEmpty()
		spans.At(1).CopyTo(span)
		span.SetSpanID(pcommon.SpanID{9, byte(n >> 8), byte(n)})
		span.Attributes().PutStr("gen_ai.tool.name", tool)
		span.Attributes().PutStr("gen_ai.tool.call.id", id)
	}
	for name, c := range map[string]struct {
		fill    func(td ptrace.Traces)
		evicted bool
	}{
		"long tool names and ids": {func(td ptrace.Traces) {
			for n := range 300 {
				call(td, n, fmt.Sprint("tool", n, long), fmt.Sprint(long, n))
			}
		}, false},
		"a register bound to a long value": {func(td ptrace.Traces) {
			span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1)
			span.Attributes().PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"id": "1", "who": %q}`, long))
		}, false},
		"more calls than fit": {func(td ptrace.Traces) {
			for n := range 300 {
				call(td, n, fmt.Sprint("a tool with quite a long name, number ", n), fmt.Sprint("call-", strings.Repeat("y", 200), n))
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, sink := newDisk(), new(consumertest.TracesSink)
				time.Sleep(time.Minute)
				p, _ := startOn(t, d, sink, spantest.ConversationPolicy, func(c *Config) { c.RootDelay, c.NumShards, c.MaxSessionBytes = 0, 1, 64<<10 })
				td := spantest.Turn(1, "a", "order", "1")
				c.fill(td)
				require.NoError(t, p.ConsumeTraces(context.Background(), td))
				synctest.Wait()
				for _, key := range d.keys("/c/") {
					require.Less(t, len(d.values[key]), 40<<10)
				}
				require.Len(t, d.keys("/c/"), map[bool]int{false: 1, true: 0}[c.evicted])
				sink.Reset()
				require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(2, "a", "cancel", "1")))
				synctest.Wait()
				for span := range canonical.Spans(sink.AllTraces()[0]) {
					if isRoot(span) {
						gaps, _ := span.Attributes().Get("resultseal.session.gaps")
						require.Equal(t, c.evicted, strings.Contains(gaps.AsString(), "evicted"), gaps.AsString())
					}
				}
				p.shutdown(t)
			})
		})
	}
}
