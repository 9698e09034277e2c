// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// dial returns what sends spans to a collector.
func dial(t *testing.T, c *collector) func(ptrace.Traces) error {
	t.Helper()
	conn, err := grpc.NewClient(address(c.grpc), grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(), grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	client := ptraceotlp.NewGRPCClient(conn)
	return func(td ptrace.Traces) error {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		response, err := client.Export(ctx, ptraceotlp.NewExportRequestFromTraces(td))
		if err == nil && response.PartialSuccess().RejectedSpans() != 0 {
			err = fmt.Errorf("%d spans were rejected", response.PartialSuccess().RejectedSpans())
		}
		return err
	}
}

// made is a trace that a test makes up: an agent's run and the calls that it
// made.
type made struct {
	traces ptrace.Traces
	spans  ptrace.SpanSlice
	id     pcommon.TraceID
	root   pcommon.SpanID
}

func newMade(service string) *made {
	m := &made{traces: ptrace.NewTraces()}
	_, _ = rand.Read(m.id[:]) // never fails
	_, _ = rand.Read(m.root[:])
	rs := m.traces.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", service)
	m.spans = rs.ScopeSpans().AppendEmpty().Spans()
	root := m.span("invoke_agent "+service, "invoke_agent")
	root.SetSpanID(m.root)
	root.SetParentSpanID(pcommon.SpanID{})
	return m
}

func (m *made) span(name, operation string) ptrace.Span {
	span := m.spans.AppendEmpty()
	span.SetTraceID(m.id)
	var id pcommon.SpanID
	_, _ = rand.Read(id[:])
	span.SetSpanID(id)
	span.SetParentSpanID(m.root)
	span.SetName(name)
	now := time.Now()
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(now.Add(-40 * time.Millisecond)))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(now))
	span.Attributes().PutStr("gen_ai.operation.name", operation)
	return span
}

// call adds a tool call; a result of "" is none.
func (m *made) call(tool, arguments, result string) *made {
	span := m.span("execute_tool "+tool, "execute_tool")
	span.Attributes().PutStr("gen_ai.tool.name", tool)
	span.Attributes().PutStr("gen_ai.tool.call.arguments", arguments)
	if result != "" {
		span.Attributes().PutStr("gen_ai.tool.call.result", result)
	}
	return m
}
