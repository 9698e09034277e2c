// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// restore opens the storage and brings back what it holds: which traces were
// decided, what conversations have come to, and the spans of traces that had not
// left, which it returns.
func (p *tracesProcessor) restore(ctx context.Context, host component.Host) ([]*tracePart, error) {
	client, err := openStorage(ctx, host, *p.storage, p.id)
	if err != nil {
		return nil, err
	}
	r := &restorer{client: client, logger: p.logger, own: p.own, failed: p.recorder.StorageFailed}
	s, err := r.read(ctx, len(p.shards), time.Now())
	if err == nil && !p.fits(s) {
		s, err = p.divide(ctx, client, s)
	}
	if err != nil {
		_ = client.Close(ctx) // the first error says more
		return nil, err
	}
	decided := make([][]storedDecided, len(p.shards))
	for _, d := range s.decided {
		decided[d.shard] = append(decided[d.shard], d.storedDecided)
	}
	conversations := make([][]storedConversation, len(p.outlets))
	for _, c := range s.conversations {
		conversations[c.stripe] = append(conversations[c.stripe], c.storedConversation)
	}
	p.journal = newJournal(client, s.layout, p.logger, p.recorder.StorageFailed)
	p.journal.live = s.live
	for i, shard := range p.shards {
		shard.assembler.decided.restore(decided[i])
		shard.durable = true
	}
	for _, o := range p.outlets {
		o.next.durable = true
	}
	evicted := make([][]storedEvicted, len(p.outlets))
	for _, e := range s.evicted {
		evicted[e.stripe] = append(evicted[e.stripe], e.storedEvicted)
	}
	p.scoring.useJournal(p.journal, conversations, evicted)
	p.continued = !s.fresh
	if len(s.parts) > 0 {
		p.logger.Info("spans of traces that had not left before the restart are held again", zap.Int("parts", len(s.parts)))
	}
	return s.parts, nil
}

// fits reports whether the tables of a storage have the places that they would
// be given here.
func (p *tracesProcessor) fits(s *stored) bool {
	if s.layout.shards != len(p.shards) {
		return false
	}
	for table, limit := range map[tableID]int{decidedTable: p.maxDecided(), conversationTable: p.maxSessions} {
		for _, slots := range s.layout.slots[table] {
			if int(slots) > limit {
				return false
			}
		}
	}
	evicted := map[int][]storedEvicted{}
	for _, e := range s.evicted {
		evicted[e.stripe] = append(evicted[e.stripe], e.storedEvicted)
	}
	for _, chunks := range evicted {
		if _, whole := lastRun(chunks, p.maxEvicted()); !whole {
			return false
		}
	}
	return true
}

// maxEvicted is how many evicted conversations each outlet remembers.
func (p *tracesProcessor) maxEvicted() int { return evictedFactor * p.maxSessions }

func (p *tracesProcessor) maxDecided() int { return p.shards[0].assembler.limits.decidedCache }

// divide gives everything in the tables a new place, after the number of shards
// or a limit has changed. The old places count until the last write of the new.
func (p *tracesProcessor) divide(ctx context.Context, client storage.Client, s *stored) (*stored, error) {
	n := len(p.shards)
	l := newLayout(s.layout.generation, n)
	l.entries, l.first, l.next, l.division = s.layout.entries, s.layout.first, s.layout.next, s.layout.division+1
	divided := &stored{layout: l, parts: s.parts, live: s.live, fresh: s.fresh}
	var writes, deletions []*storage.Operation
	// The last used come last in both; where there is room for fewer, they are
	// the ones that stay.
	room := make([]int32, n)
	for _, d := range slices.Backward(s.decided) {
		deletions = append(deletions, storage.DeleteOperation(s.layout.noteKey(decidedTable, d.shard, d.slot)))
		d.shard = shardOfTrace(d.id, n)
		if d.slot = room[d.shard]; int(d.slot) >= p.maxDecided() {
			continue
		}
		room[d.shard]++
		l.reach(decidedTable, d.shard, d.slot)
		writes = append(writes, storage.SetOperation(l.noteKey(decidedTable, d.shard, d.slot), encodeDecided(d.id, d.by, d.seq)))
		divided.decided = append(divided.decided, d)
	}
	clear(room)
	var evicted []uint64 // the last used first
	for _, c := range slices.Backward(s.conversations) {
		deletions = append(deletions, storage.DeleteOperation(s.layout.noteKey(conversationTable, c.stripe, c.slot)))
		c.stripe = shardOfConversation(c.id, n)
		if c.slot = room[c.stripe]; int(c.slot) >= p.maxSessions {
			evicted = append(evicted, hashConversation(c.id))
			continue
		}
		room[c.stripe]++
		l.reach(conversationTable, c.stripe, c.slot)
		writes = append(writes, storage.SetOperation(l.noteKey(conversationTable, c.stripe, c.slot), encodeConversation(c.id, c.used, c.state)))
		divided.conversations = append(divided.conversations, c)
	}
	slices.Reverse(divided.decided)
	slices.Reverse(divided.conversations)
	for _, e := range s.evicted {
		deletions = append(deletions, storage.DeleteOperation(s.layout.noteKey(evictedTable, e.stripe, e.slot)))
	}
	for stripe, set := range p.divideEvicted(s.evicted) {
		for _, hash := range slices.Backward(evicted) {
			if spread(hash, n) == stripe {
				set.add(hash)
			}
		}
		for _, chunk := range set.changes() {
			l.reach(evictedTable, stripe, chunk.slot)
			writes = append(writes, storage.SetOperation(l.noteKey(evictedTable, stripe, chunk.slot), encodeEvicted(&chunk)))
			divided.evicted = append(divided.evicted, storedEvictedIn{stripe, chunk})
		}
	}
	for _, ops := range [][]*storage.Operation{writes, l.save(), deletions} {
		for some := range slices.Chunk(ops, 1000) {
			if err := client.Batch(ctx, some...); err != nil {
				return nil, fmt.Errorf("resultseal: the storage cannot be written: %w", err)
			}
		}
	}
	return divided, nil
}

// divideEvicted deals evicted conversations out to the stripes of their hashes,
// those of each old stripe in their order.
func (p *tracesProcessor) divideEvicted(old []storedEvictedIn) []*evictedSet {
	byStripe := map[int][]storedEvicted{}
	for _, e := range old {
		byStripe[e.stripe] = append(byStripe[e.stripe], e.storedEvicted)
	}
	sets := make([]*evictedSet, len(p.shards))
	for i := range sets {
		sets[i] = newEvictedSet(p.maxEvicted())
		sets[i].noting = true
	}
	// From the oldest, counted from the last of each stripe, on.
	type numbered struct {
		age  uint64
		hash uint64
	}
	var all []numbered
	for _, stripe := range slices.Sorted(maps.Keys(byStripe)) {
		chunks := byStripe[stripe]
		slices.SortFunc(chunks, func(a, b storedEvicted) int { return cmp.Compare(a.first, b.first) })
		end := chunks[len(chunks)-1].end()
		for i := range chunks {
			for k, hash := range chunks[i].hashes {
				all = append(all, numbered{end - chunks[i].first - uint64(k), hash}) //nolint:gosec // an index
			}
		}
	}
	slices.SortStableFunc(all, func(a, b numbered) int { return cmp.Compare(b.age, a.age) })
	for _, e := range all {
		sets[spread(e.hash, len(sets))].add(e.hash)
	}
	return sets
}
