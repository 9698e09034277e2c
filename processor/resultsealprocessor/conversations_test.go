// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/spantest"
)

type allConversations map[string]*score.Conversation

func (a allConversations) Conversation(id string) *score.Conversation {
	if a[id] == nil {
		a[id] = &score.Conversation{}
	}
	return a[id]
}

func (a allConversations) Skip(id string) { a[id] = score.EvictedConversation() }

// offline is what the packages below the processor write onto traces, one after
// the other.
func offline(p *policy.Policy, in []ptrace.Traces, finalizedBy string) map[pcommon.TraceID]string {
	store, scorer := allConversations{}, score.New(p)
	out := map[pcommon.TraceID]string{}
	for _, trace := range in {
		td := ptrace.NewTraces()
		trace.CopyTo(td)
		td, _ = canonical.Form(td)
		facts, spans := genai.NewDecoder(genai.Options{}).Traces(td)
		if v := scorer.Trace(facts, store); v != nil {
			annotate.New(annotate.Options{}).Session(spans, v, finalizedBy)
		}
		out[canonical.TraceID(td)] = string(spantest.Marshal(td))
	}
	return out
}

// A protocol that follows conversations says through the processor what it says
// without one, whatever traces of others come in between.
func TestConversationsAsOffline(t *testing.T) {
	in := spantest.Turns(rand.New(rand.NewPCG(3, 4)), 20, 400)
	want := offline(spantest.LoadPolicy(t, spantest.ConversationPolicy), in, "root")
	asOffline := func(t *testing.T, shards int) {
		sink := new(consumertest.TracesSink)
		p := newScoringProcessor(t, sink, spantest.ConversationPolicy, func(c *Config) { c.RootDelay, c.NumShards = 0, shards })
		p.start(t)
		for _, td := range in {
			copied := ptrace.NewTraces()
			td.CopyTo(copied)
			require.NoError(t, p.ConsumeTraces(context.Background(), copied))
			synctest.Wait() // so that traces are finished in this order
		}
		metadatatest.AssertEqualProcessorResultsealSessionsActive(t, p.telemetry, points(point(20)), ignoreTime)
		p.shutdown(t)
		if diff := cmp.Diff(want, spantest.TraceTexts(sink.AllTraces())); diff != "" {
			t.Fatal(diff)
		}
	}
	for _, shards := range []int{1, 2, 7} {
		synctest.Test(t, func(t *testing.T) { asOffline(t, shards) })
	}
	verdicts := map[string]int{}
	for _, text := range want {
		for _, verdict := range []string{"orders=compliant", "orders=violation"} {
			if strings.Contains(text, verdict) {
				verdicts[verdict]++
			}
		}
	}
	require.Len(t, verdicts, 2, "the traces show one verdict only")
}

// A trace that is finished after later ones of its conversation is marked.
func TestTraceOutOfOrderIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		p := newScoringProcessor(t, sink, spantest.ConversationPolicy, func(c *Config) { c.RootDelay = 0 })
		p.start(t)
		for _, n := range []int{1, 3, 2, 4} {
			require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(n, "c", "order", "1")))
			synctest.Wait()
		}
		p.shutdown(t)
		late := []string{}
		for _, td := range sink.AllTraces() {
			for span := range canonical.Spans(td) {
				if v, ok := span.Attributes().Get("resultseal.late"); ok {
					id := span.TraceID()
					late = append(late, fmt.Sprintf("%s %s %v", id[:3], span.Name(), v.Bool()))
				}
			}
		}
		require.Equal(t, []string{"c/2 agent true"}, late)
	})
}

// What is forgotten is counted, and begins anew.
func TestForgottenConversations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		p := newScoringProcessor(t, sink, spantest.ConversationPolicy, func(c *Config) {
			c.RootDelay, c.MaxSessions, c.SessionTTL, c.NumShards = 0, 2, time.Minute, 1
		})
		p.start(t)
		send := func(n int, conversation, tool, id string) string {
			require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(n, conversation, tool, id)))
			synctest.Wait()
			all := sink.AllTraces()
			for span := range canonical.Spans(all[len(all)-1]) {
				if v, ok := span.Attributes().Get("resultseal.session.protocols"); ok {
					return v.Slice().At(0).Str()
				}
			}
			return ""
		}
		require.Equal(t, "orders=compliant", send(1, "a", "order", "1"))
		require.Equal(t, "orders=violation", send(2, "a", "cancel", "2"))
		require.Equal(t, "orders=compliant", send(1, "b", "order", "1"))
		require.Equal(t, "orders=compliant", send(1, "c", "order", "1"))
		require.Equal(t, "orders=compliant", send(3, "a", "order", "1"), "a was pushed out")
		time.Sleep(59 * time.Second)
		require.Equal(t, "orders=compliant", send(2, "c", "cancel", "1"))
		time.Sleep(59 * time.Second)
		require.Equal(t, "orders=compliant", send(3, "c", "cancel", "1"))
		forgotten := points(point(1, "cause", "session_ttl"), point(2, "cause", "max_sessions"))
		metadatatest.AssertEqualProcessorResultsealSessionsForgotten(t, p.telemetry, forgotten, ignoreTime)
		time.Sleep(61 * time.Second)
		require.Equal(t, "orders=inconclusive", send(4, "c", "cancel", "1"), "nothing is bound any more, and that is known")
		require.Equal(t, "orders=violation", send(1, "d", "cancel", "1"), "this one is new")
		p.shutdown(t)
	})
}

// The store keeps what a list would that is cut at its end.
func TestConversationsAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 4).Draw(t, "limit")
		revision := newRevision(&policy.Policy{}, nil, nil)
		forgotten := map[forgottenFor]int{}
		c := newConversations(limit, 1<<20, time.Minute, func(n int, cause forgottenFor) { forgotten[cause] += n })
		type kept struct {
			id   string
			used time.Time
		}
		var list []kept      // the newest use last
		var evicted []string // the last eviction last
		evict := func(id string) {
			if evicted = append(evicted, id); len(evicted) > 8*limit {
				evicted = evicted[1:]
			}
		}
		want := map[forgottenFor]int{}
		now := spantest.Epoch
		ids := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			c.expire(now)
			for len(list) > 0 && now.Sub(list[0].used) >= time.Minute {
				evict(list[0].id)
				list = list[1:]
				want[forgottenTTL]++
			}
			id := rapid.SampledFrom(ids).Draw(t, "id")
			if rapid.IntRange(0, 5).Draw(t, "skipped") == 0 {
				c.Skip(id)
				if at := slices.IndexFunc(list, func(k kept) bool { return k.id == id }); at >= 0 {
					list = slices.Delete(list, at, at+1)
					want[forgottenSkipped]++
				}
				evict(id)
			}
			known := slices.ContainsFunc(list, func(k kept) bool { return k.id == id })
			state := revision.scorer.AppendConversation(nil, c.Conversation(id, revision))
			if fresh := bytes.Equal(state, revision.scorer.AppendConversation(nil, &score.Conversation{})); !known && fresh != (limit > 0 && !slices.Contains(evicted, id)) {
				t.Fatalf("%s is fresh: %v", id, fresh)
			}
			for _, id := range ids {
				if got, want := c.evicted.has(hashConversation(id)), slices.Contains(evicted, id); got != want {
					t.Fatalf("%s was evicted: %v, want %v", id, got, want)
				}
			}
			if rapid.IntRange(0, 4).Draw(t, "fails") == 0 {
				c.drop()
			} else {
				c.keep(revision, now)
				if at := slices.IndexFunc(list, func(k kept) bool { return k.id == id }); at >= 0 {
					list = slices.Delete(list, at, at+1)
				}
				if list = append(list, kept{id, now}); len(list) > limit {
					if limit > 0 {
						want[forgottenLimit]++
						evict(list[0].id)
					}
					list = list[1:]
				}
			}
			var got []kept
			for at := c.oldest; at >= 0; at = c.entries[at].newer {
				got = append(got, kept{c.entries[at].id, c.entries[at].used})
			}
			if diff := cmp.Diff(fmt.Sprint(list), fmt.Sprint(got)); diff != "" {
				t.Fatal(diff)
			}
			if len(c.entries) > limit || c.Len() != len(list) || len(c.open) > 0 {
				t.Fatalf("%d entries, %d ids, limit %d", len(c.entries), c.Len(), limit)
			}
		}
		if diff := cmp.Diff(want, forgotten); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A million idle conversations with a protocol of two registers fit into
// 512 MiB. It is measured with fewer, and with what an agent's trace leaves
// behind: a request, two answers, two calls.
func TestMemoryOfIdleConversations(t *testing.T) {
	n := 100_000
	if spantest.RaceEnabled || testing.Short() {
		n = 5000
	}
	revision := newRevision(spantest.LoadPolicy(t, spantest.ConversationPolicy), nil, nil)
	c := newConversations(n, 1<<20, time.Hour, func(int, forgottenFor) { t.Error("something was forgotten") })
	decoder := genai.NewDecoder(genai.Options{})
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	for i := range n {
		id := fmt.Sprintf("conversation-%08d-4f2c-9e1b", i) // as long as a UUID
		td := spantest.Turn(1, id, "order", fmt.Sprint("order-", i))
		chat := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().AppendEmpty()
		td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).CopyTo(chat)
		chat.SetSpanID(spantest.SpanID("chat"))
		chat.Attributes().PutStr("gen_ai.operation.name", "chat")
		chat.Attributes().PutStr("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"an order"}]}]`)
		chat.Attributes().PutStr("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"text","content":"here it is"}]}]`)
		facts, _ := decoder.Traces(td)
		revision.scorer.Trace(facts, conversationsOfRevision{c, revision})
		c.keep(revision, spantest.Epoch)
	}
	each := float64(heap()-before) / float64(n)
	t.Logf("%.0f bytes for each conversation, %.0f MiB for a million", each, each*1e6/(1<<20))
	if !spantest.RaceEnabled {
		require.Less(t, each*1e6, float64(512<<20))
	}
	require.Equal(t, n, c.Len())
	runtime.KeepAlive(decoder)
}

// conversationsOfRevision are conversations as the traces of one revision see them.
type conversationsOfRevision struct {
	*conversations
	revision *revision
}

func (c conversationsOfRevision) Conversation(id string) *score.Conversation {
	return c.conversations.Conversation(id, c.revision)
}

func newScoringProcessor(t *testing.T, next consumer.Traces, policyText string, change ...func(*Config)) *testProcessor {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile = spantest.PolicyFile(t, policyText)
	for _, c := range change {
		c(cfg)
	}
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	p, err := newTracesProcessor(metadatatest.NewSettings(telemetry), cfg, next)
	require.NoError(t, err)
	return &testProcessor{tracesProcessor: p, telemetry: telemetry, cfg: cfg}
}
