// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// sessionsOf are the attributes of all sessions, by trace.
func sessionsOf(traces []ptrace.Traces) map[pcommon.TraceID]map[string]any {
	out := map[pcommon.TraceID]map[string]any{}
	for _, td := range traces {
		for span := range canonical.Spans(td) {
			if _, ok := span.Attributes().Get("resultseal.session.compliance"); !ok {
				continue
			}
			session := map[string]any{}
			for key, v := range span.Attributes().All() {
				if strings.HasPrefix(key, "resultseal.session.") {
					session[key] = v.AsRaw()
				}
			}
			out[span.TraceID()] = session
		}
	}
	return out
}

// Where a root is held, it carries in mode stream what it carries in mode trace,
// whatever the order in which the spans came.
func TestStreamGivesTheSameSessions(t *testing.T) {
	for name, change := range map[string]func([]ptrace.Traces) []ptrace.Traces{
		"as recorded":       func(in []ptrace.Traces) []ptrace.Traces { return in },
		"with plain spans":  withPlainSpans,
		"plain spans twice": func(in []ptrace.Traces) []ptrace.Traces { return twice(withPlainSpans(in)) },
	} {
		t.Run(name, func(t *testing.T) { sameSessions(t, change) })
	}
}

// withPlainSpans puts a span without GenAI content, of another service, above every
// one that has a parent.
func withPlainSpans(in []ptrace.Traces) []ptrace.Traces {
	for _, td := range in {
		between := ptrace.NewResourceSpans()
		between.Resource().Attributes().PutStr("service.name", "gateway")
		spans := between.ScopeSpans().AppendEmpty().Spans()
		for span := range canonical.Spans(td) {
			if span.ParentSpanID().IsEmpty() {
				continue
			}
			plain := spans.AppendEmpty()
			plain.SetTraceID(span.TraceID())
			id := span.SpanID()
			id[0] ^= 0xa5
			plain.SetSpanID(id)
			plain.SetParentSpanID(span.ParentSpanID())
			plain.SetName("POST /tool")
			plain.SetStartTimestamp(span.StartTimestamp())
			plain.SetEndTimestamp(span.EndTimestamp())
			plain.Attributes().PutStr("http.route", "/tool")
			span.SetParentSpanID(id)
		}
		between.CopyTo(td.ResourceSpans().AppendEmpty())
	}
	return in
}

// twice has every span a second time, as after a resend.
func twice(in []ptrace.Traces) (out []ptrace.Traces) {
	for _, td := range in {
		again := ptrace.NewTraces()
		td.CopyTo(again)
		out = append(out, td, again)
	}
	return out
}

func sameSessions(t *testing.T, change func([]ptrace.Traces) []ptrace.Traces) {
	random := rand.New(rand.NewPCG(5, 6))
	same := 0
	for file, policyFile := range spantest.Recordings(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			in := change(spantest.ReadRecording(t, file))
			rooted := map[pcommon.TraceID]bool{}
			for _, td := range in {
				for span := range canonical.Spans(td) {
					rooted[span.TraceID()] = rooted[span.TraceID()] || assemble.IsRoot(span)
				}
			}
			want := sessionsOf(process(t, policyFile, in))
			for id := range want {
				if !rooted[id] {
					delete(want, id)
				}
			}
			same += len(want)
			for range 4 {
				batches := spantest.Shuffled(random, change(spantest.ReadRecording(t, file)))
				spans := spantest.Texts(batches)
				out := process(t, policyFile, batches, func(c *Config) { c.Mode = ModeStream })
				if diff := cmp.Diff(want, sessionsOf(out)); diff != "" {
					t.Fatal(diff)
				}
				for _, td := range out {
					for span := range canonical.Spans(td) {
						stripAdded(span)
					}
				}
				if diff := cmp.Diff(spans, spantest.Texts(out)); diff != "" {
					t.Fatal("spans were changed:\n" + diff)
				}
			}
		})
	}
	require.Positive(t, same)
}

func said(span ptrace.Span) string {
	var words []string
	for _, key := range []string{"decision", "protocol.verdict", "session.compliance", "late"} {
		if v, ok := span.Attributes().Get("resultseal." + key); ok {
			words = append(words, v.AsString())
		}
	}
	return span.Name() + ": " + strings.Join(words, " ")
}

// A span goes on when it comes, with its own seal and, if its events come in
// order, a provisional step. A root waits.
func TestStreamPassesSpansOn(t *testing.T) {
	for name, script := range map[string]struct {
		send []ptrace.Traces
		want []string
	}{
		"in order": {
			[]ptrace.Traces{spantest.Call("t", "a", "order", 1, 2), spantest.Call("t", "b", "cancel", 3, 4), spantest.Root("t")},
			[]string{"a: sealed ok", "b: ok", "agent: compliant"},
		},
		"violation": {
			[]ptrace.Traces{spantest.Call("t", "a", "order", 1, 2), spantest.Call("t", "b", "order", 3, 4), spantest.Root("t")},
			[]string{"a: sealed ok", "b: sealed violation", "agent: violation"},
		},
		"out of order": {
			[]ptrace.Traces{spantest.Call("t", "b", "cancel", 3, 4), spantest.Call("t", "a", "order", 1, 2), spantest.Root("t")},
			[]string{"b: violation", "a: sealed", "agent: compliant"},
		},
		"root first": {
			[]ptrace.Traces{spantest.Root("t"), spantest.Call("t", "a", "order", 1, 2), spantest.Call("t", "b", "cancel", 3, 4)},
			[]string{"a: sealed ok", "b: ok", "agent: compliant"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := new(consumertest.TracesSink)
				p := newScoringProcessor(t, sink, spantest.StreamPolicy, func(c *Config) { c.Mode = ModeStream })
				p.start(t)
				for i, td := range script.send {
					root := false
					for span := range canonical.Spans(td) {
						root = assemble.IsRoot(span)
					}
					before := sink.SpanCount()
					require.NoError(t, p.ConsumeTraces(context.Background(), td))
					synctest.Wait()
					require.Equal(t, !root, sink.SpanCount() > before, "batch %d", i)
				}
				metadatatest.AssertEqualProcessorResultsealTracesActive(t, p.telemetry, points(point(1)), ignoreTime)
				time.Sleep(3 * time.Second)
				require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Call("t", "late", "order", 9, 10)))
				synctest.Wait()
				require.Zero(t, p.accounting.Spans())
				var got []string
				for _, td := range sink.AllTraces() {
					for span := range canonical.Spans(td) {
						got = append(got, said(span))
					}
				}
				require.Equal(t, append(script.want, "late: sealed true"), got)
				metadatatest.AssertEqualProcessorResultsealLateSpans(t, p.telemetry, points(point(1)), ignoreTime)
				p.shutdown(t)
			})
		})
	}
}

// Without a root, the session's verdict is in the metrics.
func TestStreamWithoutRoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		p := newScoringProcessor(t, sink, spantest.StreamPolicy+"    assume_complete: true\n", func(c *Config) { c.Mode = ModeStream })
		p.start(t)
		require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Call("t", "a", "order", 1, 2)))
		require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Call("t", "b", "order", 3, 4)))
		time.Sleep(11 * time.Second)
		synctest.Wait()
		require.Len(t, sink.AllTraces(), 2)
		metadatatest.AssertEqualProcessorResultsealSessions(t, p.telemetry,
			points(point(1, "compliance", "violation", "finalized_by", "idle")), ignoreTime)
		metadatatest.AssertEqualProcessorResultsealObservations(t, p.telemetry, points(
			point(0, "tool", "", "contract", "order", "severity", "warning", "decision", "sealed", "truth_state", "sealed"),
			point(0, "tool", "", "contract", "order", "severity", "warning", "decision", "blocked", "truth_state", "unknown"),
			point(2, "tool", "order", "contract", "order", "severity", "warning", "decision", "sealed", "truth_state", "sealed"),
		), ignoreTime)
		require.Zero(t, p.accounting.Spans())
		p.shutdown(t)
	})
}

// What is kept of spans that have passed counts against max_bytes.
func TestStreamIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		p := newScoringProcessor(t, sink, spantest.StreamPolicy, func(c *Config) { c.Mode, c.MaxBytes, c.NumShards = ModeStream, 14_000, 1 })
		p.start(t)
		for i := range 20 {
			require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Call(fmt.Sprint("t", i), "a", "order", 1, 2)))
			synctest.Wait()
			require.LessOrEqual(t, p.accounting.Spans(), int64(14_000))
		}
		require.Equal(t, 20, sink.SpanCount())
		require.Positive(t, p.recorder.traces.Load())
		require.Less(t, p.recorder.traces.Load(), int64(20))
		p.shutdown(t)
		require.Zero(t, p.accounting.Spans())
	})
}
