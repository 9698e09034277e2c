// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package canonical

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
)

// Whatever is changed of a span, its scope or its resource, the hash is another,
// and a copy has the same.
func TestHashIsOfEverything(t *testing.T) {
	values := func(m pcommon.Map) {
		m.PutStr("text", "a")
		m.PutInt("int", 1)
		m.PutDouble("double", 1)
		m.PutBool("bool", true)
		m.PutEmptyBytes("bytes").FromRaw([]byte{1, 2})
		m.PutEmptyMap("map").PutStr("a", "b")
		m.PutEmptySlice("list").AppendEmpty().SetStr("a")
		m.PutEmpty("nothing")
	}
	base := func() ptrace.Traces {
		td := ptrace.NewTraces()
		rs := td.ResourceSpans().AppendEmpty()
		values(rs.Resource().Attributes())
		ss := rs.ScopeSpans().AppendEmpty()
		values(ss.Scope().Attributes())
		span := ss.Spans().AppendEmpty()
		values(span.Attributes())
		values(span.Events().AppendEmpty().Attributes())
		values(span.Links().AppendEmpty().Attributes())
		return td
	}
	hash := func(td ptrace.Traces) uint64 {
		return Hash(firstOf(td.ResourceSpans().At(0)))
	}
	seen := map[uint64]string{hash(base()): "nothing"}
	copied := ptrace.NewTraces()
	base().CopyTo(copied)
	require.Contains(t, seen, hash(copied))

	check := func(what string, change func(Placed)) {
		t.Helper()
		td := base()
		change(firstOf(td.ResourceSpans().At(0)))
		h := hash(td)
		require.NotContains(t, seen, h, "%s and %s", what, seen[h])
		seen[h] = what
	}
	for where, attributes := range map[string]func(Placed) pcommon.Map{
		"resource": func(p Placed) pcommon.Map { return p.Resource.Resource().Attributes() },
		"scope":    func(p Placed) pcommon.Map { return p.Scope.Scope().Attributes() },
		"span":     func(p Placed) pcommon.Map { return p.Span.Attributes() },
		"event":    func(p Placed) pcommon.Map { return p.Span.Events().At(0).Attributes() },
		"link":     func(p Placed) pcommon.Map { return p.Span.Links().At(0).Attributes() },
	} {
		for what, change := range map[string]func(pcommon.Map){
			"another name":   func(m pcommon.Map) { m.PutStr("more", "") },
			"text":           func(m pcommon.Map) { m.PutStr("text", "b") },
			"int":            func(m pcommon.Map) { m.PutInt("int", 2) },
			"int for double": func(m pcommon.Map) { m.PutInt("double", 1) },
			"double":         func(m pcommon.Map) { m.PutDouble("double", 2) },
			"bool":           func(m pcommon.Map) { m.PutBool("bool", false) },
			"bytes":          func(m pcommon.Map) { m.PutEmptyBytes("bytes").FromRaw([]byte{2, 1}) },
			"map":            func(m pcommon.Map) { m.PutEmptyMap("map").PutStr("a", "c") },
			"a longer list": func(m pcommon.Map) {
				m.PutEmptySlice("list").AppendEmpty().SetStr("a")
				v, _ := m.Get("list")
				v.Slice().AppendEmpty()
			},
			"text for bytes":  func(m pcommon.Map) { m.PutStr("bytes", "\x01\x02") },
			"less":            func(m pcommon.Map) { m.Remove("nothing") },
			"another order":   func(m pcommon.Map) { m.Remove("text"); m.PutStr("text", "a") },
			"text for a list": func(m pcommon.Map) { m.PutStr("list", "a") },
		} {
			check(where+" "+what, func(p Placed) { change(attributes(p)) })
		}
	}
	for what, change := range map[string]func(Placed){
		"resource schema":  func(p Placed) { p.Resource.SetSchemaUrl("x") },
		"resource dropped": func(p Placed) { p.Resource.Resource().SetDroppedAttributesCount(1) },
		"scope schema":     func(p Placed) { p.Scope.SetSchemaUrl("x") },
		"scope name":       func(p Placed) { p.Scope.Scope().SetName("x") },
		"scope version":    func(p Placed) { p.Scope.Scope().SetVersion("x") },
		"scope dropped":    func(p Placed) { p.Scope.Scope().SetDroppedAttributesCount(1) },
		"trace":            func(p Placed) { p.Span.SetTraceID(pcommon.TraceID{1}) },
		"id":               func(p Placed) { p.Span.SetSpanID(pcommon.SpanID{1}) },
		"parent":           func(p Placed) { p.Span.SetParentSpanID(pcommon.SpanID{1}) },
		"state":            func(p Placed) { p.Span.TraceState().FromRaw("x") },
		"name":             func(p Placed) { p.Span.SetName("x") },
		"kind":             func(p Placed) { p.Span.SetKind(ptrace.SpanKindClient) },
		"flags":            func(p Placed) { p.Span.SetFlags(1) },
		"start":            func(p Placed) { p.Span.SetStartTimestamp(1) },
		"end":              func(p Placed) { p.Span.SetEndTimestamp(1) },
		"dropped":          func(p Placed) { p.Span.SetDroppedAttributesCount(1) },
		"dropped events":   func(p Placed) { p.Span.SetDroppedEventsCount(1) },
		"dropped links":    func(p Placed) { p.Span.SetDroppedLinksCount(1) },
		"status":           func(p Placed) { p.Span.Status().SetCode(ptrace.StatusCodeError) },
		"message":          func(p Placed) { p.Span.Status().SetMessage("x") },
		"event":            func(p Placed) { p.Span.Events().AppendEmpty() },
		"event name":       func(p Placed) { p.Span.Events().At(0).SetName("x") },
		"event time":       func(p Placed) { p.Span.Events().At(0).SetTimestamp(1) },
		"event dropped":    func(p Placed) { p.Span.Events().At(0).SetDroppedAttributesCount(1) },
		"link":             func(p Placed) { p.Span.Links().AppendEmpty() },
		"link trace":       func(p Placed) { p.Span.Links().At(0).SetTraceID(pcommon.TraceID{1}) },
		"link span":        func(p Placed) { p.Span.Links().At(0).SetSpanID(pcommon.SpanID{1}) },
		"link state":       func(p Placed) { p.Span.Links().At(0).TraceState().FromRaw("x") },
		"link flags":       func(p Placed) { p.Span.Links().At(0).SetFlags(1) },
		"link dropped":     func(p Placed) { p.Span.Links().At(0).SetDroppedAttributesCount(1) },
	} {
		check(what, change)
	}
}

// Resources and scopes are the same if they are so to the byte, also where they
// cannot be compared as maps.
func TestSameResource(t *testing.T) {
	for name, fill := range map[string]func(pcommon.Map){
		"nothing": func(pcommon.Map) {},
		"text":    func(m pcommon.Map) { m.PutStr("a", "1") },
		"a name twice": func(m pcommon.Map) { // as it may come over the wire
			var b xpdata.MapBuilder
			b.AppendEmpty("a").SetInt(1)
			b.AppendEmpty("a").SetInt(2)
			b.UnsafeIntoMap(m)
		},
		"nan": func(m pcommon.Map) { m.PutDouble("nan", math.NaN()) },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := ptrace.NewResourceSpans(), ptrace.NewResourceSpans()
			x, y := ptrace.NewScopeSpans(), ptrace.NewScopeSpans()
			for _, m := range []pcommon.Map{a.Resource().Attributes(), b.Resource().Attributes(), x.Scope().Attributes(), y.Scope().Attributes()} {
				fill(m)
			}
			require.True(t, sameResource(a, b))
			require.True(t, sameScope(x, y))
			b.Resource().SetDroppedAttributesCount(1)
			y.Scope().SetVersion("2")
			require.False(t, sameResource(a, b))
			require.False(t, sameScope(x, y))
			b.Resource().SetDroppedAttributesCount(0)
			y.Scope().SetVersion("")
			b.Resource().Attributes().PutStr("more", "")
			y.Scope().Attributes().PutStr("more", "")
			require.False(t, sameResource(a, b))
			require.False(t, sameScope(x, y))
		})
	}
	t.Run("entities", func(t *testing.T) {
		a, b := ptrace.NewResourceSpans(), ptrace.NewResourceSpans()
		entity.ResourceEntityRefs(a.Resource()).AppendEmpty().SetType("service")
		require.False(t, sameResource(a, b))
		entity.ResourceEntityRefs(b.Resource()).AppendEmpty().SetType("host")
		require.False(t, sameResource(a, b))
		entity.ResourceEntityRefs(b.Resource()).At(0).SetType("service")
		require.True(t, sameResource(a, b))
	})
}
