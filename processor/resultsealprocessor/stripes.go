// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"slices"
	"sync"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// A stripe keeps the conversations that leave by one outlet. Only that outlet
// uses it, except where one trace holds several conversations: it leaves by the
// outlet of the first and borrows the others'. So the lock is taken at once
// nearly always, and by the same goroutine.
type stripe struct {
	n    int
	mu   sync.Mutex
	kept *conversations
	// As counted in metrics, and against max_bytes.
	held  int
	bytes int64
}

// tidy forgets what is too old and says when there will be something to forget.
func (s *stripe) tidy(all *scoring, now time.Time) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.expire(now)
	s.count(all)
	if all.log != nil {
		all.log.Acknowledge(nil, s.records())
	}
	return s.kept.next()
}

// records are what the log is to know.
func (s *stripe) records() (records []wal.Record) {
	for _, c := range s.kept.changes() {
		r := wal.Record{Table: wal.Conversations, Shard: s.n, Slot: c.slot, Version: c.rev}
		if c.state != nil {
			r.Payload = encodeConversation(c.id, c.used, c.state)
		}
		records = append(records, r)
	}
	for _, chunk := range s.kept.evicted.changes() {
		s.kept.rev++
		records = append(records, wal.Record{Table: wal.Evicted, Shard: s.n, Slot: chunk.slot, Version: s.kept.rev, Payload: encodeEvicted(&chunk)})
	}
	return records
}

// count counts what is kept.
func (s *stripe) count(all *scoring) {
	if n := s.kept.Len(); n != s.held {
		all.rec.HoldingSessions(n - s.held)
		s.held = n
	}
	if n := s.kept.Bytes(); n != s.bytes {
		all.keep(n - s.bytes)
		s.bytes = n
	}
}

// takenStripes are the stripes of one trace's conversations while it is judged.
type takenStripes struct {
	all      *scoring
	revision *revision.Revision // evaluates the trace
	taken    []int
}

// take locks the stripes of some conversations, always in the same order, so
// that two traces never wait for each other.
func (s *scoring) take(ids []string, r *revision.Revision, now time.Time) *takenStripes {
	t := &takenStripes{all: s, revision: r}
	for _, id := range ids {
		if n := shardOfConversation(id, len(s.stripes)); !slices.Contains(t.taken, n) {
			t.taken = append(t.taken, n)
		}
	}
	slices.Sort(t.taken)
	for _, n := range t.taken {
		s.stripes[n].mu.Lock()
		s.stripes[n].kept.expire(now)
	}
	return t
}

// Conversation implements score.Conversations.
func (t *takenStripes) Conversation(id string) *score.Conversation {
	return t.all.stripes[shardOfConversation(id, len(t.all.stripes))].kept.Conversation(id, t.revision)
}

// Skip implements score.Conversations.
func (t *takenStripes) Skip(id string) {
	t.all.stripes[shardOfConversation(id, len(t.all.stripes))].kept.Skip(id)
}

// keep makes the trace part of its conversations' past, and returns what the
// log is to know of it.
func (t *takenStripes) keep(now time.Time) (records []wal.Record) {
	for _, n := range t.taken {
		s := t.all.stripes[n]
		s.kept.keep(t.revision, now)
		records = append(records, s.records()...)
	}
	return records
}

// giveBack counts what is kept and unlocks the stripes.
func (t *takenStripes) giveBack() {
	for _, n := range t.taken {
		s := t.all.stripes[n]
		s.kept.drop()
		s.count(t.all)
		s.mu.Unlock()
	}
}
