// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
)

// What is counted is twice what is held in memory, and rather too much than too
// little, whatever the spans look like.
func TestFootprintIsWhatTheHeapHolds(t *testing.T) {
	for name, fill := range map[string]func(ptrace.Span){
		"nothing": func(ptrace.Span) {},
		"texts": func(span ptrace.Span) {
			span.SetName("GET /items")
			for i := range 8 {
				span.Attributes().PutStr(fmt.Sprintf("http.attribute.%d", i), "some value")
			}
		},
		"numbers": func(span ptrace.Span) {
			for i := range 20 {
				span.Attributes().PutInt(fmt.Sprintf("a.%d", i), int64(i)*1000)
			}
		},
		"a result": func(span ptrace.Span) {
			span.Attributes().PutStr("gen_ai.tool.call.result", strings.Repeat("x", 2000))
		},
		"bytes": func(span ptrace.Span) {
			span.Attributes().PutEmptyBytes("b").FromRaw(make([]byte, 3000))
		},
		"events and links": func(span ptrace.Span) {
			for i := range 10 {
				event := span.Events().AppendEmpty()
				event.SetName("event")
				event.Attributes().PutStr("a", fmt.Sprint(i))
			}
			for range 5 {
				span.Links().AppendEmpty().TraceState().FromRaw("vendor=1")
			}
		},
		"a list of numbers": func(span ptrace.Span) {
			list := span.Attributes().PutEmptySlice("list")
			for i := range 100 {
				list.AppendEmpty().SetInt(int64(i))
			}
		},
		"a list of texts": func(span ptrace.Span) {
			list := span.Attributes().PutEmptySlice("list")
			for i := range 100 {
				list.AppendEmpty().SetStr(fmt.Sprintf("v %d", i))
			}
		},
		"a list of nothings": func(span ptrace.Span) {
			list := span.Attributes().PutEmptySlice("list")
			for range 1000 {
				list.AppendEmpty()
			}
		},
		"a list of maps": func(span ptrace.Span) {
			list := span.Attributes().PutEmptySlice("list")
			for range 100 {
				list.AppendEmpty().SetEmptyMap().PutBool("a", true)
			}
		},
	} {
		for _, spans := range []int{1, 2, 20} {
			t.Run(fmt.Sprintf("%s, %d spans", name, spans), func(t *testing.T) {
				requireFootprint(t, func(add func(ptrace.Traces)) {
					for i := range 1000 / spans {
						td := ptrace.NewTraces()
						rs := td.ResourceSpans().AppendEmpty()
						rs.Resource().Attributes().PutStr("service.name", "shop")
						ss := rs.ScopeSpans().AppendEmpty()
						for j := range spans {
							span := ss.Spans().AppendEmpty()
							span.SetTraceID(pcommon.TraceID{1, byte(i), byte(i >> 8)})
							span.SetSpanID(pcommon.SpanID{1, byte(j)})
							fill(span)
						}
						add(td)
					}
				})
			})
		}
	}
}

// Entity references are part of a resource.
func TestFootprintOfEntities(t *testing.T) {
	for name, size := range map[string]int{"long keys": 1000, "short keys": 4} {
		t.Run(name, func(t *testing.T) {
			requireFootprint(t, func(add func(ptrace.Traces)) {
				for i := range 100 {
					td := ptrace.NewTraces()
					rs := td.ResourceSpans().AppendEmpty()
					for range 20 {
						ref := entity.ResourceEntityRefs(rs.Resource()).AppendEmpty()
						ref.SetType("host")
						for k := range 8 {
							ref.IdKeys().Append(fmt.Sprint(k, strings.Repeat("k", size)))
						}
					}
					span := rs.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
					span.SetTraceID(pcommon.TraceID{1, byte(i)})
					span.SetSpanID(pcommon.SpanID{1})
					add(td)
				}
			})
		})
	}
}

func TestFootprintOfRecordings(t *testing.T) {
	for file := range spantest.Recordings(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			recorded := spantest.ReadRecording(t, file)
			requireFootprint(t, func(add func(ptrace.Traces)) {
				for _, td := range spantest.Copies(recorded, 20) {
					add(td)
				}
			})
		})
	}
}

// requireFootprint compares what is counted with the heap, for traces that come
// from the wire.
func requireFootprint(t *testing.T, traces func(add func(ptrace.Traces))) {
	t.Helper()
	if spantest.RaceEnabled {
		t.Skip("the race detector changes what is allocated")
	}
	var a *Assembler
	heap := spantest.HeapOf(func() any {
		a = NewAssembler(Limits{time.Hour, time.Hour, time.Hour, 1 << 30, 1 << 40, 100_000, 0})
		traces(func(td ptrace.Traces) {
			var unmarshal ptrace.ProtoUnmarshaler
			td, err := unmarshal.UnmarshalTraces(spantest.Marshal(td))
			require.NoError(t, err)
			a.Add(Split(td), spantest.Epoch)
		})
		return a
	})
	ratio := float64(a.Bytes()) / float64(heap)
	t.Logf("%d bytes on the heap, %d counted: %.2f", heap, a.Bytes(), ratio)
	require.Greater(t, ratio, 1.9)
	require.Less(t, ratio, 3.0)
}
