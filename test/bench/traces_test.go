// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// Traces are whole, none is another's, and those of several spans come in two batches.
func TestWorkload(t *testing.T) {
	for _, s := range []shape{plainShape, belowShape, sparseShape, toolShape, mixedShape} {
		for _, spans := range []int{1, 10, 20} {
			if s.name == mixedShape.name && spans < mixedSpans {
				continue
			}
			const traces = 120
			w, err := newWorkload(s, traces, spans)
			require.NoError(t, err)
			require.Equal(t, traces*spans, w.spans)
			again, err := newWorkloadFrom(s, traces, traces, spans)
			require.NoError(t, err)

			ids, roots, batchesOf := map[pcommon.SpanID]bool{}, map[pcommon.TraceID]int{}, map[pcommon.TraceID]map[int]bool{}
			kinds := map[genai.Kind]int{}
			d := genai.NewDecoder(genai.Options{})
			for _, each := range []*workload{w, again} {
				batches, err := each.batches()
				require.NoError(t, err)
				for i, td := range batches {
					require.LessOrEqual(t, td.SpanCount(), batchSpans)
					facts, sources := d.Traces(td)
					for n, span := range sources {
						require.False(t, ids[span.SpanID()])
						ids[span.SpanID()] = true
						if batchesOf[span.TraceID()] == nil {
							batchesOf[span.TraceID()] = map[int]bool{}
						}
						batchesOf[span.TraceID()][i] = true
						if span.ParentSpanID().IsEmpty() {
							roots[span.TraceID()]++
						}
						kinds[facts[n].Kind]++
					}
				}
			}
			if s.name == belowShape.name {
				require.Empty(t, roots)
			} else {
				require.Len(t, roots, 2*traces)
			}
			for id, n := range roots {
				require.Equal(t, 1, n)
				if spans > 1 && traces*spans > waveSpans {
					require.LessOrEqual(t, len(batchesOf[id]), 2)
				}
			}
			all := 2 * traces * spans
			switch s.name {
			case plainShape.name, belowShape.name:
				require.Equal(t, map[genai.Kind]int{genai.Other: all}, kinds)
			case sparseShape.name:
				if spans%10 == 0 {
					require.Equal(t, map[genai.Kind]int{genai.Tool: all / 10, genai.Other: all * 9 / 10}, kinds)
				}
			case toolShape.name:
				require.Equal(t, map[genai.Kind]int{genai.Tool: all}, kinds)
			case mixedShape.name:
				require.Equal(t, map[genai.Kind]int{genai.Tool: all / 10, genai.Model: all / 5, genai.Agent: all / 10, genai.Other: all * 6 / 10}, kinds)
			}
		}
	}
}

// A result is as large as it is said to be.
func TestResultSizes(t *testing.T) {
	for _, size := range []int{512, 4 << 10, 64 << 10} {
		rs, err := resultsOf(size)
		require.NoError(t, err)
		for _, r := range rs {
			require.InEpsilon(t, size, len(r.text), 0.25, "%s of %d bytes", r.shape, size)
		}
	}
}
