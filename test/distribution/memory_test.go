// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/child"
)

// memory skips a test where the memory of a process cannot be read.
func memory(t *testing.T, c *collector) child.Memory {
	t.Helper()
	m, err := c.Memory()
	if err != nil {
		t.Skip(err)
	}
	return m
}

// Many small traces that none ends: what the process takes besides what it takes
// when nothing is held stays within twice max_bytes, from the first batch on.
func TestMemoryIsBounded(t *testing.T) {
	const maxBytes, traces, batch = 64 << 20, 100_000, 500
	policyPath := writePolicy(t, goodPolicy)
	for _, transport := range transports {
		t.Run(transport.name, func(t *testing.T) {
			c := start(t, settings{Processor: append(holding(10*time.Minute, 10*time.Minute),
				policyFile(policyPath), "max_age: 10m", "max_traces: 200000", fmt.Sprint("max_bytes: ", maxBytes))})
			send := transport.dial(t, c)
			require.NoError(t, send(context.Background(), openTraces(1<<40, 1)))
			idle := memory(t, c).Resident
			for first := 0; first < traces; first += batch {
				require.NoError(t, send(context.Background(), openTraces(first, batch)))
			}
			peak := memory(t, c).Peak
			held := c.metric(t, "otelcol_processor_resultseal_traces_active")
			t.Logf("%.0f traces held, %d MiB of memory when idle, %d MiB at most", held, idle>>20, peak>>20)
			require.LessOrEqual(t, peak-idle, int64(2*maxBytes))
			require.Greater(t, held, traces/10.0)
			c.stop(t)
		})
	}
}

// openTraces are traces of a tool call each, and without a root.
func openTraces(first, n int) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "support")
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	for i := range n {
		span := spans.AppendEmpty()
		var id pcommon.TraceID
		binary.BigEndian.PutUint64(id[:], uint64(first+i)+1)
		span.SetTraceID(id)
		span.SetSpanID(pcommon.SpanID{1})
		span.SetParentSpanID(pcommon.SpanID{2})
		span.SetName("execute_tool search_customer")
		span.SetStartTimestamp(1_800_000_000_000_000_000)
		span.SetEndTimestamp(1_800_000_001_000_000_000)
		a := span.Attributes()
		a.PutStr("gen_ai.operation.name", "execute_tool")
		a.PutStr("gen_ai.tool.name", "search_customer")
		a.PutStr("gen_ai.tool.call.id", fmt.Sprint("call-", first+i))
		a.PutStr("gen_ai.tool.call.arguments", `{"customer_id":"42"}`)
		a.PutStr("gen_ai.tool.call.result", fmt.Sprintf(`{"data":{"customer_id":"%d","name":"A name of some length"},"notes":"a text that says something of the customer"}`, first+i))
	}
	return td
}
