// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
)

// Each plain span keeps its service, as far as there are numbers for them, in a
// time that does not grow with their number, and services count as memory.
func TestPlainSpansOfManyServices(t *testing.T) {
	const services = 70_000
	var s PlainSpans
	name := func(i int) string { return fmt.Sprintf("service-%05d", i) }
	bytes := int64(0)
	for range 2 {
		for i := range services {
			bytes += s.add(PlainSpan{}, name(i))
		}
	}
	last := math.MaxUint16
	for i := range 2 * services {
		require.Equal(t, name(min(i%services, last)), s.Fact(pcommon.TraceID{1}, i).Service)
	}
	require.Equal(t, 2*services*int64(plainBytes)+int64(last+1)*int64(serviceBytes+2*stringBytes(name(0))), bytes)
}

// Copies of a plain span are distinguished by everything that is kept of them, and not
// by which service was seen first.
func TestHashesOfPlainSpans(t *testing.T) {
	span := PlainSpan{ID: pcommon.SpanID{1}, Parent: pcommon.SpanID{2}, Start: 3, End: 4, Attributes: 5}
	remote := span
	remote.Remote = true
	hashes := func(services ...string) (all []uint64) {
		var s PlainSpans
		for _, service := range services {
			s.add(span, service)
			s.add(remote, service)
		}
		for i := range s.spans {
			all = append(all, s.Hash(i))
		}
		slices.Sort(all)
		return all
	}
	require.Equal(t, hashes("shop", "cart"), hashes("cart", "shop"))
	require.Len(t, slices.Compact(hashes("shop", "cart")), 4)
}

// Plain spans keep their trace open, count in max_bytes and against the limits, and are
// late once it is completed.
func TestPlainSpansBelongToTheirTrace(t *testing.T) {
	a := NewAssembler(Limits{IdleTimeout: 10 * time.Second, MaxAge: time.Hour, MaxTraces: 10, MaxBytes: 1 << 20, MaxSpans: 100, DecidedCache: 10})
	forwarded := func(spans int) (all ForwardedSpans) {
		for i := range spans {
			all = append(all, ForwardedSpan{PlainSpan: PlainSpan{ID: pcommon.SpanID{byte(i)}}, Trace: pcommon.TraceID{1}, Service: "shop"})
		}
		return all
	}
	now := spantest.Epoch
	require.Zero(t, a.AddPlain(forwarded(3), nil, now))
	require.Equal(t, int64(2*partBytes+serviceBytes+2*stringBytes("shop")+3*plainBytes), a.Bytes())
	for range 3 {
		now = now.Add(9 * time.Second)
		require.Zero(t, a.AddPlain(forwarded(1), nil, now))
		require.Empty(t, a.Tick(now))
	}
	now = now.Add(11 * time.Second)
	out := a.Tick(now)
	require.Len(t, out, 1)
	require.True(t, out[0].AllForwarded())
	require.Equal(t, 6, out[0].Early.Plain.Len())
	require.Zero(t, a.Bytes())
	require.Equal(t, 2, a.AddPlain(forwarded(2), nil, now))
	require.Zero(t, a.Len())
}
