// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"
)

// spans makes a request with spans of the traces given, one each.
func spans(service string, traces ...byte) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", service)
	list := rs.ScopeSpans().AppendEmpty().Spans()
	for i, id := range traces {
		span := list.AppendEmpty()
		span.SetTraceID(pcommon.TraceID{15: id})
		span.SetSpanID(pcommon.SpanID{6: id, 7: byte(i + 1)})
		span.SetName("span")
		span.SetStartTimestamp(pcommon.Timestamp(200 - uint64(id)))
	}
	return td
}

// ids lists traces as trace:number of spans.
func ids(traces ...ptrace.Traces) (out [][2]int) {
	for _, td := range traces {
		id := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).TraceID()
		out = append(out, [2]int{int(id[15]), td.SpanCount()})
	}
	return out
}

// Traces come ordered by their first span's start, whatever the order of spans.
func TestCollectionOrder(t *testing.T) {
	var c Collection
	c.Add(spans("a", 1, 2, 1))
	c.Add(spans("b", 3))
	c.Add(spans("b", 3, 3))
	c.Add(spans("a", 2, 3))
	c.Add(ptrace.NewTraces())
	require.Equal(t, 8, c.Spans)
	require.Equal(t, [][2]int{{3, 4}, {2, 2}, {1, 2}}, ids(c.Traces()...))
	require.Zero(t, c.Released())
}

// A trace is where its first span was read.
func TestCollectionPlace(t *testing.T) {
	var c Collection
	c.AddFrom(spans("a", 1, 2), Place{"x", 1})
	c.AddFrom(spans("a", 2), Place{"x", 2})
	c.AddFrom(spans("a", 3), Place{"y", 0})
	var places []string
	for _, trace := range c.Held() {
		places = append(places, trace.Place.String())
	}
	require.Equal(t, []string{"y", "x:1", "x:1"}, places)
}

// Beyond its budget the collection releases what was not touched for the longest
// time, and tells of spans that come after that.
func TestCollectionBudget(t *testing.T) {
	var released []ptrace.Traces
	scattered := map[byte]int{}
	var sizer ptrace.ProtoMarshaler
	one := int64(sizer.TracesSize(spans("a", 1)))
	c := Collection{
		Budget:    3 * (one + spanHeader),
		Release:   func(t Trace) { released = append(released, t.Traces) },
		Scattered: func(id pcommon.TraceID, spans int) { scattered[id[15]] += spans },
	}
	for _, id := range []byte{1, 2, 3} {
		c.Add(spans("a", id))
	}
	require.Empty(t, released)
	c.Add(spans("a", 1)) // touches the oldest
	require.Equal(t, [][2]int{{2, 1}}, ids(released...))
	c.Add(spans("a", 4))
	require.Equal(t, [][2]int{{2, 1}, {3, 1}}, ids(released...))
	require.Empty(t, scattered)
	c.Add(spans("a", 2))
	c.Add(spans("a", 2, 4, 2))
	require.Equal(t, map[byte]int{2: 3}, scattered)
	require.Equal(t, 9, c.Spans)
	require.Equal(t, 3, c.Released())

	// The last trace may take twice the budget.
	c.Add(spans("a", 9, 9, 9, 9, 9, 9))
	require.Equal(t, [][2]int{{9, 6}}, ids(c.Traces()...))
	c.Add(spans("a", 9))
	require.Empty(t, c.Traces())
	require.Equal(t, [2]int{9, 7}, ids(released...)[len(released)-1])
}

// Whatever the budget, no span is lost or doubled: it is held, released or told
// to be scattered; and of input that is grouped by trace none is scattered.
func TestCollectionProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		requests := rapid.SliceOf(rapid.SliceOfN(rapid.ByteRange(1, 6), 0, 5)).Draw(t, "requests")
		if grouped := rapid.Bool().Draw(t, "grouped"); grouped {
			var all []byte
			for _, r := range requests {
				all = append(all, r...)
			}
			slices.Sort(all)
			for i, r := range requests {
				requests[i], all = all[:len(r)], all[len(r):]
			}
		}
		out, scattered := map[byte]int{}, map[byte]int{}
		count := func(td ptrace.Traces) {
			for _, id := range ids(td) {
				out[byte(id[0])] += id[1]
			}
		}
		c := Collection{
			Budget:    rapid.Int64Range(0, 600).Draw(t, "budget"),
			Release:   func(t Trace) { count(t.Traces) },
			Scattered: func(id pcommon.TraceID, spans int) { scattered[id[15]] += spans },
		}
		want := map[byte]int{}
		for _, r := range requests {
			for _, id := range r {
				want[id]++
			}
			c.Add(spans("a", r...))
		}
		for _, td := range c.Traces() {
			count(td)
		}
		for id, n := range scattered {
			out[id] += n
		}
		require.Equal(t, want, out)
	})
}
