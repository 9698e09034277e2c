// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package conversations

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
)

// The store keeps what a list would that is cut at its end, by number and by bytes,
// and counts the bytes of that.
func TestConversationsAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 4).Draw(t, "limit")
		budget := rapid.SampledFrom([]int64{0, 500, 1000, 1700, 1 << 20}).Draw(t, "budget")
		in := &Revision{Scorer: score.New(&policy.Policy{}), Number: 1}
		forgotten := map[Cause]int{}
		c := newStates(Limits{limit, budget, 1 << 20, time.Minute}, func(n int, cause Cause) { forgotten[cause] += n })
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
				n += 2 * (stringBytes(k.id) + roundUp(k.state))
			}
			return int64(n)
		}
		want := map[Cause]int{}
		now := spantest.Epoch
		ids := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", strings.Repeat("k", 100), strings.Repeat("l", 300)}
		for range rapid.IntRange(0, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 40).Draw(t, "seconds")) * time.Second)
			c.expire(now)
			for len(list) > 0 && now.Sub(list[0].used) >= time.Minute {
				evict(0)
				want[CauseTTL]++
			}
			id := rapid.SampledFrom(ids).Draw(t, "id")
			if rapid.IntRange(0, 5).Draw(t, "skipped") == 0 {
				c.Skip(id)
				if at := find(id); at >= 0 {
					evict(at)
					want[CausePerTrace]++
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
				if got, want := c.evicted.has(Hash(id)), slices.Contains(evicted, id); got != want {
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
					want[CauseSessions]++
				}
				if limit > 0 {
					list = append(list, kept{id, now, len(state)})
					places = max(places, len(list))
				}
				for len(list) > 0 && size() > budget {
					evict(0)
					want[CauseBytes]++
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
		want[CauseTTL] += len(list)
		if want[CauseTTL] == 0 {
			delete(want, CauseTTL)
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
	in := &Revision{Scorer: score.New(spantest.LoadPolicy(t, spantest.ConversationPolicy)), Number: 1}
	c := newStates(Limits{n, 1 << 30, 1 << 20, time.Hour}, func(int, Cause) { t.Error("something was forgotten") })
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
		in.Scorer.Trace(facts, ofRevision{c, in})
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

// ofRevision are states as the traces of one revision see them.
type ofRevision struct {
	*states
	revision *Revision
}

func (c ofRevision) Conversation(id string) *score.Conversation {
	return c.states.Conversation(id, c.revision)
}

// States that a storage holds count as well: where max_bytes was lowered, those that
// were used longest ago are evicted at the start, and the storage is told.
func TestRestoredStatesFitIntoMaxBytes(t *testing.T) {
	var all []storedState
	for n := range 100 {
		all = append(all, storedState{slot: int32(n), id: fmt.Sprint("c", n), used: spantest.Epoch.Add(time.Duration(n) * time.Second), state: make([]byte, 100)})
	}
	forgotten := map[Cause]int{}
	c := newStates(Limits{1000, 100*entryBytes + 50*2*(16+112), 1 << 20, time.Hour}, func(n int, cause Cause) { forgotten[cause] += n })
	c.restore(all)
	c.recording, c.evicted.recording = true, true
	c.fit()
	require.Equal(t, 50, c.Len())
	require.Equal(t, map[Cause]int{CauseBytes: 50}, forgotten)
	changes := c.changes()
	require.Len(t, changes, 50)
	for n := range all {
		require.Equal(t, n < 50, c.evicted.has(Hash(all[n].id)))
		if n < 50 {
			require.Equal(t, int32(n), changes[n].slot)
			require.Nil(t, changes[n].state)
		}
	}
}

// What is counted for evicted conversations is twice the memory that their hashes
// take, and rather too much than too little.
func TestFootprintOfEvicted(t *testing.T) {
	if spantest.RaceEnabled {
		t.Skip("the race detector changes what is allocated")
	}
	for _, n := range []int{1000, 30_000, 100_000} {
		var set *evictedSet
		heap := spantest.HeapOf(func() any {
			set = newEvictedSet(n)
			for i := range 3 * n {
				set.add(Hash(fmt.Sprint(i)))
			}
			return set
		})
		ratio := float64(set.bytes()) / float64(heap)
		t.Logf("%d: %d bytes on the heap, %d counted: %.2f", n, heap, set.bytes(), ratio)
		require.Greater(t, ratio, 1.5)
		require.Less(t, ratio, 4.0)
	}
}
