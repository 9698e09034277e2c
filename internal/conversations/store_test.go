// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package conversations

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// counts is an observer that adds up.
type counts struct {
	mu        sync.Mutex
	sessions  int
	bytes     int64
	forgotten map[Cause]int
}

func (c *counts) HoldingSessions(more int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions += more
}

func (c *counts) HoldingBytes(more int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += more
}

func (c *counts) Forgot(sessions int, cause Cause) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgotten[cause] += sessions
}

func newCounts() *counts { return &counts{forgotten: map[Cause]int{}} }

func revisionOf(number int) *Revision {
	return &Revision{Scorer: score.New(&policy.Policy{}), Number: number}
}

// kept returns the ids of the states of a partition, the last use last.
func (p *partition) keptIDs() (ids []string) {
	for at := p.kept.oldest; at >= 0; at = p.kept.entries[at].newer {
		ids = append(ids, p.kept.entries[at].id)
	}
	return ids
}

// Ids are spread evenly, also those that are counted up, and the same in every process.
func TestPartitionsAreEvenAndFixed(t *testing.T) {
	for _, n := range []int{1, 2, 3, 16} {
		counted := make([]int, n)
		for i := range 10_000 {
			counted[Partition(fmt.Sprint("conversation ", i), n)]++
		}
		for i := range n {
			require.InDelta(t, 10_000/n, counted[i], 300)
		}
	}
	require.Equal(t, 3, Partition("conversation", 7))
}

// A limit that is divided is not smaller than it was.
func TestDividedLimits(t *testing.T) {
	require.Equal(t, Limits{Sessions: 4, Bytes: 34, StateBytes: 5, TTL: 6}, Limits{Sessions: 10, Bytes: 100, StateBytes: 5, TTL: 6}.divided(3))
	require.Equal(t, Limits{Sessions: 1, Bytes: 1}, Limits{Sessions: 1, Bytes: 1}.divided(8))
	require.Equal(t, Limits{}, Limits{}.divided(8))
}

// Traces of several conversations neither deadlock nor lose a state.
func TestTakeByManyGoroutines(t *testing.T) {
	o := newCounts()
	s := New(Limits{Sessions: 100, Bytes: 1 << 20, StateBytes: 1 << 10, TTL: time.Hour}, 4, o)
	var all sync.WaitGroup
	now := time.Unix(1000, 0)
	for g := range 8 {
		all.Go(func() {
			for n := range 500 {
				ids := []string{fmt.Sprint("c", n%7), fmt.Sprint("c", (n*g)%7), fmt.Sprint("c", (n+g)%7)}
				turn := s.Take(ids, revisionOf(1), now)
				for _, id := range ids {
					turn.Conversation(id)
				}
				if n%3 > 0 {
					turn.Keep(now)
				}
				turn.Release()
			}
		})
	}
	all.Wait()
	require.Equal(t, 7, o.sessions)
	require.Empty(t, o.forgotten)
	for n := range 4 {
		changes, _, _ := s.Tidy(n, now.Add(2*time.Hour))
		require.Empty(t, changes, "nobody asked for records")
	}
	require.Zero(t, o.sessions)
	require.Equal(t, map[Cause]int{CauseTTL: 7}, o.forgotten)
	require.Equal(t, int64(7*evictedBytes), o.bytes, "they are remembered as evicted")
}

// A store that is restored from its records is as it was. With other limits, or another
// number of partitions, the states that were used last are kept, and the others are
// known to be evicted.
func TestRestore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{Sessions: rapid.IntRange(1, 20).Draw(t, "sessions"), Bytes: 1 << 20, StateBytes: 1 << 10, TTL: time.Hour}
		partitions := rapid.IntRange(1, 3).Draw(t, "partitions")
		s := New(limits, partitions, newCounts())
		s.Restore(&Stored{})
		type slot struct {
			evicted   bool
			partition int
			slot      int32
		}
		records := map[slot]Record{}
		slots := make([]int32, partitions)
		write := func(changes []Record) {
			for _, r := range changes {
				at := slot{r.Evicted, r.Partition, r.Slot}
				if r.Payload == nil {
					delete(records, at)
					continue
				}
				records[at] = r
				if !r.Evicted {
					slots[r.Partition] = max(slots[r.Partition], r.Slot+1)
				}
			}
		}
		now := time.Unix(1000, 0)
		for range rapid.IntRange(0, 40).Draw(t, "traces") {
			now = now.Add(time.Second)
			id := fmt.Sprint("c", rapid.IntRange(0, 30).Draw(t, "id"))
			turn := s.Take([]string{id}, revisionOf(1), now)
			turn.Conversation(id)
			write(turn.Keep(now))
			turn.Release()
		}
		read := func() *Stored {
			stored := &Stored{}
			for _, r := range records {
				if err := stored.Add(r); err != nil {
					t.Fatal(err)
				}
			}
			return stored
		}
		again := New(limits, partitions, newCounts())
		stored := read()
		if !again.Fits(slots, stored) {
			t.Fatal("it does not fit into its own limits")
		}
		again.Restore(stored)
		var kept []string
		for n := range partitions {
			want := s.partitions[n].keptIDs()
			if got := again.partitions[n].keptIDs(); !slices.Equal(got, want) {
				t.Fatalf("partition %d has %v, want %v", n, got, want)
			}
			kept = append(kept, want...)
			for i := range 31 {
				hash := Hash(fmt.Sprint("c", i))
				if got, want := again.partitions[n].kept.evicted.has(hash), s.partitions[n].kept.evicted.has(hash); got != want {
					t.Fatalf("c%d was evicted: %v, want %v", i, got, want)
				}
			}
		}

		other := limits // that remember all evicted conversations
		other.Sessions = rapid.IntRange(5, 20).Draw(t, "other sessions")
		n := rapid.IntRange(1, 3).Draw(t, "other partitions")
		resharded := New(other, n, newCounts())
		stored = read()
		if n == partitions && resharded.Fits(slots, stored) {
			return
		}
		clear(records)
		slots = make([]int32, n)
		write(resharded.Reshard(stored))
		if !resharded.Fits(slots, stored) {
			t.Fatal("what was resharded does not fit")
		}
		resharded.Restore(read())
		for _, id := range kept {
			p := resharded.partitions[resharded.Partition(id)].kept
			if _, ok := p.index[id]; !ok && !p.evicted.has(Hash(id)) {
				t.Fatalf("%s is forgotten", id)
			}
		}
	})
}

// A payload that is damaged is an error.
func TestDamagedRecords(t *testing.T) {
	state := encodeState("id", time.Unix(1, 0), []byte("state"))
	require.NoError(t, new(Stored).Add(Record{Payload: state}))
	for _, payload := range [][]byte{nil, state[:8], state[:9]} {
		require.ErrorIs(t, new(Stored).Add(Record{Payload: payload}), errDamaged)
	}
	require.ErrorIs(t, new(Stored).Add(Record{Evicted: true, Payload: []byte{9, 9}}), errDamaged)
}
