// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// plainSpan is a server span as HTTP instrumentations write it: nothing in it is
// about an agent.
func plainSpan() (pcommon.Resource, pcommon.InstrumentationScope, ptrace.Span) {
	rs := ptrace.NewResourceSpans()
	rs.Resource().Attributes().PutStr("service.name", "shop")
	rs.Resource().Attributes().PutStr("service.version", "1.2.3")
	rs.Resource().Attributes().PutStr("host.name", "shop-0")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp")
	span := ss.Spans().AppendEmpty()
	span.SetTraceID([16]byte{1})
	span.SetSpanID([8]byte{2})
	span.SetName("GET /orders/{id}")
	span.SetStartTimestamp(1_000)
	span.SetEndTimestamp(2_000)
	a := span.Attributes()
	a.PutStr("http.request.method", "GET")
	a.PutStr("url.scheme", "https")
	a.PutStr("url.path", "/orders/42")
	a.PutStr("http.route", "/orders/{id}")
	a.PutInt("http.response.status_code", 200)
	a.PutStr("server.address", "shop.example")
	a.PutInt("server.port", 443)
	a.PutStr("network.protocol.version", "1.1")
	a.PutStr("user_agent.original", "curl/8")
	a.PutStr("client.address", "192.0.2.1")
	return rs.Resource(), ss.Scope(), span
}

func TestPlainSpanAllocatesNothing(t *testing.T) {
	resource, scope, span := plainSpan()
	d := genai.NewDecoder(genai.Options{})
	var s genai.Span
	require.Zero(t, testing.AllocsPerRun(100, func() { d.Decode(&s, resource, scope, span) }))
	require.Equal(t, genai.Other, s.Kind)
	require.Equal(t, "shop", s.Service)
}

func BenchmarkDecodePlainSpan(b *testing.B) {
	resource, scope, span := plainSpan()
	d := genai.NewDecoder(genai.Options{})
	var s genai.Span
	b.ReportAllocs()
	for b.Loop() {
		d.Decode(&s, resource, scope, span)
	}
}

func BenchmarkDecodeToolSpan(b *testing.B) {
	resource, scope, span := plainSpan()
	a := span.Attributes()
	a.PutStr("gen_ai.operation.name", "execute_tool")
	a.PutStr("gen_ai.tool.name", "search_customer")
	a.PutStr("gen_ai.tool.call.id", "call_1")
	a.PutStr("gen_ai.tool.call.arguments", `{"id":"42"}`)
	a.PutStr("gen_ai.tool.call.result", `{"customer_id":"42","name":"Ada","revision":"revision-17"}`)
	d := genai.NewDecoder(genai.Options{})
	var s genai.Span
	b.ReportAllocs()
	for b.Loop() {
		d.Decode(&s, resource, scope, span)
	}
}
