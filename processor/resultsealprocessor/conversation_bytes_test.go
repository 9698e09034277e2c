// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

// The state of a conversation is small, whatever its telemetry holds; one that is
// larger than max_session_bytes is evicted, and the next trace says so.
func TestStatesOfConversationsAreBounded(t *testing.T) {
	long := strings.Repeat("x", 20_000)
	call := func(td ptrace.Traces, n int, tool, id string) {
		spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
		span := spans.AppendEmpty()
		spans.At(1).CopyTo(span)
		span.SetSpanID(pcommon.SpanID{9, byte(n >> 8), byte(n)})
		span.Attributes().PutStr("gen_ai.tool.name", tool)
		span.Attributes().PutStr("gen_ai.tool.call.id", id)
	}
	for name, c := range map[string]struct {
		fill    func(td ptrace.Traces)
		evicted bool
	}{
		"long tool names and ids": {func(td ptrace.Traces) {
			for n := range 300 {
				call(td, n, fmt.Sprint("tool", n, long), fmt.Sprint(long, n))
			}
		}, false},
		"a register bound to a long value": {func(td ptrace.Traces) {
			span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1)
			span.Attributes().PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"id": "1", "who": %q}`, long))
		}, false},
		"more calls than fit": {func(td ptrace.Traces) {
			for n := range 300 {
				call(td, n, fmt.Sprint("a tool with quite a long name, number ", n), fmt.Sprint("call-", strings.Repeat("y", 200), n))
			}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, sink := newDisk(), new(consumertest.TracesSink)
				time.Sleep(time.Minute)
				p, _ := startOn(t, d, sink, spantest.ConversationPolicy, func(c *Config) { c.RootDelay, c.NumShards, c.MaxSessionBytes = 0, 1, 64<<10 })
				td := spantest.Turn(1, "a", "order", "1")
				c.fill(td)
				require.NoError(t, p.ConsumeTraces(context.Background(), td))
				synctest.Wait()
				for _, key := range d.keys("/c/") {
					require.Less(t, len(d.values[key]), 40<<10)
				}
				require.Len(t, d.keys("/c/"), map[bool]int{false: 1, true: 0}[c.evicted])
				sink.Reset()
				require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(2, "a", "cancel", "1")))
				synctest.Wait()
				for span := range canonical.Spans(sink.AllTraces()[0]) {
					if assemble.IsRoot(span) {
						gaps, _ := span.Attributes().Get("resultseal.session.gaps")
						require.Equal(t, c.evicted, strings.Contains(gaps.AsString(), "evicted"), gaps.AsString())
					}
				}
				p.shutdown(t)
			})
		})
	}
}

// The states of conversations count against max_bytes, and take at most half of it:
// the ones that were used longest ago are evicted, and that is known. Spans are
// buffered all the same.
func TestStatesOfConversationsCountAgainstMaxBytes(t *testing.T) {
	long := strings.Repeat("x", 5000)
	const maxBytes = 2 << 20
	for name, fill := range map[string]func(agent, tool ptrace.Span){
		"small states": func(_, _ ptrace.Span) {},
		"long ids": func(agent, _ ptrace.Span) {
			id, _ := agent.Attributes().Get("gen_ai.conversation.id")
			id.SetStr(id.Str() + long)
		},
		"long tool names":   func(_, tool ptrace.Span) { tool.Attributes().PutStr("gen_ai.tool.name", "order"+long) },
		"long ids of calls": func(_, tool ptrace.Span) { tool.Attributes().PutStr("gen_ai.tool.call.id", long) },
		"long values of registers": func(_, tool ptrace.Span) {
			tool.Attributes().PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"id": "1", "who": %q}`, long[:1000]))
		},
	} {
		for _, shards := range []int{1, 3} {
			t.Run(fmt.Sprint(name, shards), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					sink := new(consumertest.TracesSink)
					p := newScoringProcessor(t, sink, spantest.ConversationPolicy, func(c *Config) {
						c.RootDelay, c.NumShards, c.MaxBytes, c.MaxClockSkew, c.SessionTTL = 0, shards, maxBytes, 10*time.Hour, time.Minute
					})
					p.start(t)
					send := func(n int, conversation, tool string) string {
						td := spantest.Turn(n, conversation, tool, "1")
						spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
						fill(spans.At(0), spans.At(1))
						require.NoError(t, p.ConsumeTraces(context.Background(), td))
						synctest.Wait()
						return rootsOf(sink)[0]
					}
					id := func(n int) string { return fmt.Sprint("c", n) }
					conversations := 3000
					for n := range conversations {
						require.NotContains(t, send(1, id(n), "order"), "evicted")
						require.LessOrEqual(t, p.accounting.Total(), int64(maxBytes))
						require.LessOrEqual(t, p.accounting.Conversations(), int64(maxBytes*7/8))
					}
					require.Positive(t, p.accounting.Conversations())
					require.Contains(t, send(2, id(0), "order"), "evicted")
					require.NotContains(t, send(2, id(conversations-1), "order"), "evicted")
					time.Sleep(2 * time.Minute) // session_ttl
					synctest.Wait()
					require.Zero(t, p.accounting.Spans())
					require.LessOrEqual(t, p.accounting.Conversations(), int64(conversations+2)*112)
					p.shutdown(t)
				})
			})
		}
	}
}

// What states of conversations leave of max_bytes is what spans may take.
func TestStatesOfConversationsLeaveRoomForSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		const maxBytes = 1 << 20
		p := newScoringProcessor(t, sink, spantest.ConversationPolicy, func(c *Config) {
			c.NumShards, c.MaxBytes, c.MaxClockSkew, c.SessionTTL = 1, maxBytes, 10*time.Hour, 24*time.Hour
		})
		p.start(t)
		for n := range 2000 {
			require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(1, fmt.Sprint("c", n), "order", "1")))
			if n%10 == 0 {
				time.Sleep(time.Minute) // all traces are completed
			}
		}
		time.Sleep(time.Minute)
		kept := p.accounting.Conversations()
		require.Greater(t, kept, int64(maxBytes/2))
		require.Zero(t, p.accounting.Spans())
		for n := range 1000 {
			require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(2, fmt.Sprint("c", n), "order", "1")))
			synctest.Wait()
			require.LessOrEqual(t, p.accounting.Total(), int64(maxBytes))
		}
		require.Greater(t, p.accounting.Spans(), int64(maxBytes/5), "spans have what is left")
		p.shutdown(t)
	})
}
