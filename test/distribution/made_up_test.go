// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// madeUp is a trace of an agent that a test makes up: a root span and its
// children, a second apart.
type madeUp struct {
	id      pcommon.TraceID
	records []record // the root comes last, as an SDK exports it
	next    uint64
}

var madeUpStart = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

// newTrace begins a trace whose id repeats two hexadecimal digits.
func newTrace(digits string) *madeUp {
	m := &madeUp{}
	if _, err := hex.Decode(m.id[:], []byte(strings.Repeat(digits, len(m.id)))); err != nil {
		panic(err)
	}
	r, span := m.span("invoke_agent tester")
	span.SetParentSpanID(pcommon.SpanID{})
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(madeUpStart.Add(time.Hour)))
	span.Attributes().PutStr("gen_ai.operation.name", "invoke_agent")
	span.Attributes().PutStr("gen_ai.agent.name", "tester")
	m.records = []record{r}
	return m
}

// span makes a span that is not yet part of the trace.
func (m *madeUp) span(name string) (record, ptrace.Span) {
	r := record{ptrace.NewTraces()}
	rs := r.traces.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "made-up")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("test")
	span := ss.Spans().AppendEmpty()
	span.SetName(name)
	span.SetTraceID(m.id)
	span.SetSpanID(number(m.next + 1))
	span.SetParentSpanID(number(1))
	begin := madeUpStart.Add(time.Duration(m.next) * time.Second)
	span.SetStartTimestamp(pcommon.NewTimestampFromTime(begin))
	span.SetEndTimestamp(pcommon.NewTimestampFromTime(begin.Add(time.Second / 2)))
	m.next++
	return r, span
}

func number(n uint64) (id pcommon.SpanID) {
	binary.BigEndian.PutUint64(id[:], n)
	return id
}

// add puts a span before the root.
func (m *madeUp) add(r record) {
	last := len(m.records) - 1
	m.records = append(m.records[:last:last], r, m.records[last])
}

// tool adds the span of a tool call.
func (m *madeUp) tool(name string, result func(ptrace.Span)) {
	r, span := m.span("execute_tool " + name)
	span.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
	span.Attributes().PutStr("gen_ai.tool.name", name)
	span.Attributes().PutStr("gen_ai.tool.call.id", "call-"+name)
	span.Attributes().PutStr("gen_ai.tool.call.arguments", `{"id":"42"}`)
	result(span)
	m.add(r)
}

// model adds the span of a model call.
func (m *madeUp) model(name string, input func(pcommon.Value)) {
	r, span := m.span("chat " + name)
	span.Attributes().PutStr("gen_ai.operation.name", "chat")
	input(span.Attributes().PutEmpty("gen_ai.input.messages"))
	m.add(r)
}

// other adds a span that has nothing to do with agents.
func (m *madeUp) other(name string, fill func(ptrace.Span)) {
	r, span := m.span(name)
	fill(span)
	m.add(r)
}
