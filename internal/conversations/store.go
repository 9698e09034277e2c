// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package conversations keeps the states of conversations between their traces, in
// bounded memory.
//
// A [Store] is divided into partitions, by a hash of the conversation's id, each with a
// lock of its own. [Store.Take] locks the partitions of a trace's conversations for as
// long as the trace is evaluated. A state that is evicted is remembered as a hash, so
// that the conversation's next trace is not taken for its beginning.
//
// A store that records its changes returns them as [Record] values: bytes in numbered
// slots, which a storage keeps. [Stored] reads them again.
package conversations

import (
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// Revision is a policy that evaluates traces.
type Revision struct {
	Scorer *score.Scorer
	// Number is 1 for the first policy, and one more for each that replaces another.
	Number int
	// Unfollowed is the number of the latest revision, up to this one, that follows no
	// conversations; 0 if there is none.
	Unfollowed int
}

// Limits bound a store. Memory is counted twice, as much again for what Go's garbage
// collector leaves unused before it runs.
type Limits struct {
	Sessions   int           // states
	Bytes      int64         // memory of all states, about
	StateBytes int           // size of a state
	TTL        time.Duration // of a state after its last use
}

// evictedFactor is how many evicted conversations are remembered for each state.
const evictedFactor = 8

// divided returns the limits of one partition of n. Together they are not less.
func (l Limits) divided(n int) Limits {
	l.Sessions = (l.Sessions + n - 1) / n
	l.Bytes = (l.Bytes + int64(n) - 1) / int64(n)
	return l
}

// maxEvicted returns how many evicted conversations are remembered: evictedFactor for
// each state that may be kept, in at most three quarters of the memory of states, but
// one chunk.
func (l *Limits) maxEvicted() int {
	wanted := evictedFactor * l.Sessions
	return min(wanted, max(evictedChunk, int(min(l.Bytes*3/4/evictedBytes, int64(wanted)))))
}

// Observer counts what a store keeps. Its methods are called by any goroutine that uses
// the store, with a partition locked.
type Observer interface {
	// HoldingSessions counts states that are kept, more than before or fewer.
	HoldingSessions(more int)
	// HoldingBytes counts the memory of states and of evicted conversations, more than
	// before or less.
	HoldingBytes(more int64)
	// Forgot counts states that were given up.
	Forgot(sessions int, cause Cause)
}

// Store keeps the states of conversations. Any number of goroutines may use it.
type Store struct {
	limits     Limits // of a partition
	partitions []*partition
	observer   Observer
}

// New returns an empty store of n partitions.
func New(l Limits, n int, o Observer) *Store {
	s := &Store{limits: l.divided(n), observer: o}
	for i := range n {
		s.partitions = append(s.partitions, &partition{n: i, kept: newStates(s.limits, o.Forgot)})
	}
	return s
}

// Partition returns the partition of a conversation.
func (s *Store) Partition(id string) int { return Partition(id, len(s.partitions)) }

// Partition returns the partition of a conversation among n. It is the same in every
// process, and even for ids that are counted up or share a prefix.
func Partition(id string, n int) int { return partitionOf(Hash(id), n) }

func partitionOf(hash uint64, n int) int {
	index, _ := bits.Mul64(hash, uint64(n)) //nolint:gosec // n is positive
	return int(index)                       //nolint:gosec // less than n
}

// partition is a part of the store. Mostly one goroutine uses it, so the lock is nearly
// always free; a trace with several conversations takes those of the others.
type partition struct {
	n    int
	mu   sync.Mutex
	kept *states
	// sessions and bytes are what the observer has counted.
	sessions int
	bytes    int64
}

// Tidy gives up the states of a partition that are older than TTL. It returns the
// changes since the last call, and when the next state will be too old; false if there
// is none.
func (s *Store) Tidy(n int, now time.Time) (changes []Record, next time.Time, some bool) {
	p := s.partitions[n]
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept.expire(now)
	p.count(s.observer)
	next, some = p.kept.next()
	return p.changes(), next, some
}

// changes returns the records that were changed since the last call.
func (p *partition) changes() (records []Record) {
	for _, c := range p.kept.changes() {
		r := Record{Partition: p.n, Slot: c.slot, Version: c.version}
		if c.state != nil {
			r.Payload = encodeState(c.id, c.used, c.state)
		}
		records = append(records, r)
	}
	for _, chunk := range p.kept.evicted.changes() {
		p.kept.version++
		records = append(records, Record{Evicted: true, Partition: p.n, Slot: chunk.slot, Version: p.kept.version, Payload: encodeEvicted(&chunk)})
	}
	return records
}

// count reports changes of what is kept to the observer.
func (p *partition) count(o Observer) {
	if n := p.kept.Len(); n != p.sessions {
		o.HoldingSessions(n - p.sessions)
		p.sessions = n
	}
	if n := p.kept.Bytes(); n != p.bytes {
		o.HoldingBytes(n - p.bytes)
		p.bytes = n
	}
}

// Turn is the evaluation of one trace of some conversations. It implements
// score.Conversations for one goroutine.
type Turn struct {
	store    *Store
	revision *Revision
	taken    []int // the partitions that are locked
}

// Take locks the partitions of conversations, always in the same order, so that two
// traces never wait for each other. Release must be called.
func (s *Store) Take(ids []string, r *Revision, now time.Time) *Turn {
	t := &Turn{store: s, revision: r}
	for _, id := range ids {
		if n := s.Partition(id); !slices.Contains(t.taken, n) {
			t.taken = append(t.taken, n)
		}
	}
	slices.Sort(t.taken)
	for _, n := range t.taken {
		s.partitions[n].mu.Lock()
		s.partitions[n].kept.expire(now)
	}
	return t
}

func (t *Turn) states(id string) *states { return t.store.partitions[t.store.Partition(id)].kept }

// Conversation returns the state of a conversation.
func (t *Turn) Conversation(id string) *score.Conversation {
	return t.states(id).Conversation(id, t.revision)
}

// Skip evicts the state of a conversation, because the trace is not followed.
func (t *Turn) Skip(id string) { t.states(id).Skip(id) }

// Keep stores the states as the trace left them, and returns the records that it
// changed.
func (t *Turn) Keep(now time.Time) (records []Record) {
	for _, n := range t.taken {
		p := t.store.partitions[n]
		p.kept.keep(t.revision, now)
		records = append(records, p.changes()...)
	}
	return records
}

// Release drops the states that were not kept, and unlocks the partitions.
func (t *Turn) Release() {
	for _, n := range t.taken {
		p := t.store.partitions[n]
		p.kept.drop()
		p.count(t.store.observer)
		p.mu.Unlock()
	}
}

// Unbounded is a store without limits, for one goroutine. It implements
// score.Conversations.
type Unbounded map[string]*score.Conversation

// Conversation returns the state of a conversation.
func (u Unbounded) Conversation(id string) *score.Conversation {
	if u[id] == nil {
		u[id] = &score.Conversation{}
	}
	return u[id]
}

// Skip evicts the state of a conversation.
func (u Unbounded) Skip(id string) { u[id] = score.EvictedConversation() }
