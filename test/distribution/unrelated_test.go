// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// everyValue puts attributes of every type there is, and odd ones of each.
func everyValue(m pcommon.Map) {
	m.PutStr("http.request.method", "GET")
	m.PutStr("text", "é漢字\x00\"\\\u2028")
	m.PutStr("no text", "\xff\xfe")
	m.PutStr("", "")
	m.PutStr("long", strings.Repeat("x", 70_000))
	m.PutEmpty("nothing")
	m.PutBool("false", false)
	m.PutBool("true", true)
	m.PutInt("int", math.MinInt64)
	m.PutInt("zero", 0)
	m.PutDouble("double", 0.1)
	m.PutDouble("negative zero", math.Copysign(0, -1))
	m.PutDouble("nan", math.NaN())
	m.PutDouble("infinity", math.Inf(1))
	m.PutEmptyBytes("bytes").FromRaw([]byte{0, 0xff})
	m.PutEmptyBytes("no bytes")
	m.PutEmptySlice("empty slice")
	s := m.PutEmptySlice("slice")
	s.AppendEmpty().SetStr("a")
	s.AppendEmpty().SetEmptySlice().AppendEmpty().SetEmptyMap().PutEmpty("nothing")
	s.AppendEmpty()
	m.PutEmptyMap("empty map")
	m.PutEmptyMap("map").PutEmptyMap("in").PutInt("it", 1)
	m.PutStr("z", "order")
	m.PutStr("a", "counts")
}

// everyField fills a span with all that it can hold.
func everyField(span ptrace.Span) {
	span.SetKind(ptrace.SpanKindClient)
	span.SetFlags(0x301)
	span.TraceState().FromRaw("vendor=1,other=2")
	span.SetDroppedAttributesCount(3)
	span.SetDroppedEventsCount(4)
	span.SetDroppedLinksCount(5)
	span.Status().SetCode(ptrace.StatusCodeError)
	span.Status().SetMessage("refused\xff")
	everyValue(span.Attributes())
	for range 2 {
		e := span.Events().AppendEmpty()
		e.SetName("exception")
		e.SetTimestamp(1)
		e.SetDroppedAttributesCount(6)
		everyValue(e.Attributes())
	}
	l := span.Links().AppendEmpty()
	l.SetTraceID(pcommon.TraceID{9})
	l.SetSpanID(pcommon.SpanID{9})
	l.SetFlags(1)
	l.TraceState().FromRaw("link=1")
	l.SetDroppedAttributesCount(7)
	everyValue(l.Attributes())
}

// Spans that have nothing to do with agents come out to the byte as they went
// in, with everything that they lie under, whether their trace has none of an
// agent, or they are part of an agent's.
func TestUnrelatedSpans(t *testing.T) {
	distribution(t)
	policyPath := writePolicy(t, goodPolicy)

	web := newTrace("1e")
	web.records = web.records[:0]
	add := func(name string, fill func(ptrace.Span)) record {
		r, span := web.span(name)
		fill(span)
		web.records = append(web.records, r)
		return r
	}
	add("SELECT orders", everyField)
	add("", func(ptrace.Span) {})
	add("no times", func(span ptrace.Span) { span.SetStartTimestamp(0); span.SetEndTimestamp(0) })
	add("ends before it starts", func(span ptrace.Span) { span.SetEndTimestamp(1) })
	add("no id", func(span ptrace.Span) { span.SetSpanID(pcommon.SpanID{}) })
	add("its own parent", func(span ptrace.Span) { span.SetParentSpanID(span.SpanID()) })
	odd := add("odd resource", everyField)
	odd.resourceSpans().SetSchemaUrl("https://example.com/resource")
	everyValue(odd.resourceSpans().Resource().Attributes())
	odd.resourceSpans().Resource().SetDroppedAttributesCount(8)
	odd.scopeSpans().SetSchemaUrl("https://example.com/scope")
	odd.scopeSpans().Scope().SetVersion("2")
	odd.scopeSpans().Scope().SetDroppedAttributesCount(9)
	everyValue(odd.scopeSpans().Scope().Attributes())
	bare := add("no resource", func(ptrace.Span) {})
	bare.resourceSpans().Resource().Attributes().Clear()
	bare.scopeSpans().Scope().SetName("")
	add("GET /orders", func(span ptrace.Span) { span.SetParentSpanID(pcommon.SpanID{}) })

	// A span without a trace id belongs to no trace.
	lost := newTrace("00").records
	lost[0].span().SetName("GET /lost")
	lost[0].span().Attributes().Clear()

	agent := newTrace("a9")
	agent.tool("search_customer", text(`{"data":{"customer_id":"42"}}`))
	related := agent.records
	agent.other("SELECT customers", everyField)
	agent.other("GET /customers", func(span ptrace.Span) { span.Attributes().PutStr("http.route", "/customers") })

	for _, transport := range transports[:2] { // JSON cannot hold texts that are not UTF-8
		t.Run(transport.name, func(t *testing.T) {
			t.Parallel()
			all := slices.Concat(web.records, lost, agent.records)
			d := delivery{records: all, senders: 1, requests: through(transport.dial, batches(shuffled(all, 1), 4))}
			c, _ := deliver(t, settings{Processor: []string{policyFile(policyPath)}, Format: "proto"}, []delivery{d})
			c.stop(t)
			traces := byTrace(c.output.read(t))

			requireSame(t, web.records, traces[web.id], "spans of a web request")
			requireSame(t, lost, traces[lost[0].id().trace], "spans without a trace id")
			got := traces[agent.id]
			requireUntouched(t, agent.records, got)
			annotated := map[spanID]bool{}
			for _, r := range related {
				annotated[r.id()] = true
			}
			for _, r := range got {
				require.Equal(t, annotated[r.id()], !bytes.Equal(r.bare().encoded(), r.encoded()), "annotations on %q", r.span().Name())
			}
		})
	}
}
