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
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
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

// The store keeps what a list would that is cut at its end, by number and by bytes,
// and counts the bytes of that.
func TestConversationsAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 4).Draw(t, "limit")
		budget := rapid.SampledFrom([]int64{0, 500, 1000, 1700, 1 << 20}).Draw(t, "budget")
		in := revision.NewSet(&policy.Policy{}, nil).Current().Revision
		forgotten := map[forgottenFor]int{}
		c := newConversations(conversationLimits{limit, budget, 1 << 20, time.Minute}, func(n int, cause forgottenFor) { forgotten[cause] += n })
		type kept struct {
			id    string
			used  time.Time
			state int
		}
		var list []kept      // the newest use last
		var evicted []string // the last eviction last
		places := 0          // the most that were in the list since it was empty
		remember := func(id string) {
			if evicted = append(evicted, id); len(evicted) > 8*limit {
				evicted = evicted[1:]
			}
		}
		take := func(at int) {
			if list = slices.Delete(list, at, at+1); len(list) == 0 {
				places = 0
			}
		}
		evict := func(at int) {
			remember(list[at].id)
			take(at)
		}
		find := func(id string) int { return slices.IndexFunc(list, func(k kept) bool { return k.id == id }) }
		size := func() int64 {
			n := entryBytes * places
			for _, k := range list {
				n += 2 * (textBytes(k.id) + roundUp(k.state))
			}
			return int64(n)
		}
		want := map[forgottenFor]int{}
		now := spantest.Epoch
		ids := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", strings.Repeat("k", 100), strings.Repeat("l", 300)}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			c.expire(now)
			for len(list) > 0 && now.Sub(list[0].used) >= time.Minute {
				evict(0)
				want[forgottenTTL]++
			}
			id := rapid.SampledFrom(ids).Draw(t, "id")
			if rapid.IntRange(0, 5).Draw(t, "skipped") == 0 {
				c.Skip(id)
				if at := find(id); at >= 0 {
					evict(at)
					want[forgottenSkipped]++
				} else {
					remember(id)
				}
			}
			known := find(id) >= 0
			state := in.Scorer.AppendConversation(nil, c.Conversation(id, in))
			if fresh := bytes.Equal(state, in.Scorer.AppendConversation(nil, &score.Conversation{})); !known && fresh != (limit > 0 && !slices.Contains(evicted, id)) {
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
				c.keep(in, now)
				if known {
					list = slices.Delete(list, find(id), find(id)+1)
				} else if len(list) == limit && limit > 0 {
					evict(0)
					want[forgottenLimit]++
				}
				if limit > 0 {
					list = append(list, kept{id, now, len(state)})
					places = max(places, len(list))
				}
				for len(list) > 0 && size() > budget {
					evict(0)
					want[forgottenBudget]++
				}
			}
			var got []kept
			for at := c.oldest; at >= 0; at = c.entries[at].newer {
				got = append(got, kept{c.entries[at].id, c.entries[at].used, len(c.entries[at].state)})
			}
			if diff := cmp.Diff(fmt.Sprint(list), fmt.Sprint(got)); diff != "" {
				t.Fatal(diff)
			}
			if len(c.entries) > limit || c.Len() != len(list) || len(c.open) > 0 {
				t.Fatalf("%d entries, %d ids, limit %d", len(c.entries), c.Len(), limit)
			}
			if got, want := c.Bytes(), size()+int64(len(evicted)*evictedBytes); got != want || c.stateBytes() > budget {
				t.Fatalf("%d bytes, want %d; of states %d, at most %d", got, want, c.stateBytes(), budget)
			}
		}
		c.expire(now.Add(time.Hour))
		if c.stateBytes() != 0 {
			t.Fatalf("%d bytes without a state", c.stateBytes())
		}
		want[forgottenTTL] += len(list)
		if want[forgottenTTL] == 0 {
			delete(want, forgottenTTL)
		}
		if diff := cmp.Diff(want, forgotten); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A million idle conversations with a protocol of two registers fit into
// 512 MiB. It is measured with fewer, and with what an agent's trace leaves
// behind: a request, two answers, two calls. Twice as much is counted, and rather
// too much than too little.
func TestMemoryOfIdleConversations(t *testing.T) {
	n := 100_000
	if spantest.RaceEnabled || testing.Short() {
		n = 5000
	}
	in := revision.NewSet(spantest.LoadPolicy(t, spantest.ConversationPolicy), nil).Current().Revision
	c := newConversations(conversationLimits{n, 1 << 30, 1 << 20, time.Hour}, func(int, forgottenFor) { t.Error("something was forgotten") })
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
		in.Scorer.Trace(facts, conversationsOfRevision{c, in})
		c.keep(in, spantest.Epoch)
	}
	each := float64(heap()-before) / float64(n)
	t.Logf("%.0f bytes for each conversation, %.0f MiB for a million", each, each*1e6/(1<<20))
	if counted := float64(c.Bytes()) / float64(n); !spantest.RaceEnabled {
		t.Logf("counted as %.0f bytes", counted)
		require.Less(t, each*1e6, float64(512<<20))
		require.Greater(t, counted, 1.9*each)
		require.Less(t, counted, 3*each)
	}
	require.Equal(t, n, c.Len())
	runtime.KeepAlive(decoder)
}

// conversationsOfRevision are conversations as the traces of one revision see them.
type conversationsOfRevision struct {
	*conversations
	revision *revision.Revision
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
