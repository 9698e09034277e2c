// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// openStorage finds the storage extension and opens the processor's part of it.
func openStorage(ctx context.Context, host component.Host, id, of component.ID) (storage.Client, error) {
	extension, ok := host.GetExtensions()[id]
	if !ok {
		return nil, fmt.Errorf("resultseal: there is no storage extension %q", id)
	}
	extended, ok := extension.(storage.Extension)
	if !ok {
		return nil, fmt.Errorf("resultseal: the extension %q is no storage", id)
	}
	client, err := extended.GetClient(ctx, component.KindProcessor, of, "traces")
	if err != nil {
		return nil, fmt.Errorf("resultseal: the storage cannot be opened: %w", err)
	}
	return client, nil
}

// errDamaged is a value of the storage that cannot be read. The log sets it aside.
var errDamaged = errors.New("it is damaged")

// A completed trace as it is stored: its id, how it was completed, and a number
// that grows, to tell which were used last.
func encodeDecided(id pcommon.TraceID, by finishedBy, seq uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(id[:], byte(by)), seq)
}

type storedDecided struct {
	slot int32
	id   pcommon.TraceID
	by   finishedBy
	seq  uint64
}

func decodeDecided(slot int32, payload []byte) (d storedDecided, err error) {
	if len(payload) != 25 {
		return d, errDamaged
	}
	d = storedDecided{slot: slot, by: finishedBy(payload[16]), seq: binary.LittleEndian.Uint64(payload[17:])}
	copy(d.id[:], payload)
	return d, nil
}

type storedConversation struct {
	slot  int32
	id    string
	used  time.Time
	state []byte
}

func encodeConversation(id string, used time.Time, state []byte) []byte {
	text := binary.LittleEndian.AppendUint64(nil, uint64(used.UnixNano())) //nolint:gosec // comes back the same
	text = append(binary.AppendUvarint(text, uint64(len(id))), id...)      //nolint:gosec // a length
	return append(text, state...)
}

func decodeConversation(slot int32, payload []byte) (c storedConversation, err error) {
	if len(payload) < 9 {
		return c, errDamaged
	}
	c = storedConversation{slot: slot, used: time.Unix(0, int64(binary.LittleEndian.Uint64(payload)))} //nolint:gosec // as above
	n, size := binary.Uvarint(payload[8:])
	if rest := payload[8+max(size, 0):]; size > 0 && n <= uint64(len(rest)) {
		c.id, c.state = string(rest[:n]), slices.Clone(rest[n:])
		return c, nil
	}
	return c, errDamaged
}

// decodeEntry reads an entry of the log: spans of one trace. An earlier release may
// have written it, or a processor with another prefix, so it is cleaned like a batch
// that comes in.
func decodeEntry(payload []byte, own annotate.Namespace) (*tracePart, error) {
	td, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(payload)
	if err != nil {
		return nil, err
	}
	own.CleanResources(td)
	parts := splitByTrace(td)
	if len(parts) != 1 {
		return nil, errDamaged
	}
	return parts[0], nil
}

// stored is what the log held when the processor started.
type stored struct {
	own           annotate.Namespace
	parts         []*tracePart
	decided       []storedDecidedIn
	conversations []storedConversationIn
	evicted       []storedEvictedIn
}

type storedDecidedIn struct {
	shard int
	storedDecided
}

type storedConversationIn struct {
	stripe int
	storedConversation
}

type storedEvictedIn struct {
	stripe int
	storedEvicted
}

// ReadEntry implements wal.Reader.
func (s *stored) ReadEntry(ref wal.Ref, payload []byte) error {
	part, err := decodeEntry(payload, s.own)
	if err != nil {
		return err
	}
	part.entry = []wal.Ref{ref}
	s.parts = append(s.parts, part)
	return nil
}

// ReadRecord implements wal.Reader.
func (s *stored) ReadRecord(r wal.Record) error {
	switch r.Table {
	case wal.Decisions:
		d, err := decodeDecided(r.Slot, r.Payload)
		if err != nil {
			return err
		}
		s.decided = append(s.decided, storedDecidedIn{r.Shard, d})
	case wal.Conversations:
		c, err := decodeConversation(r.Slot, r.Payload)
		if err != nil {
			return err
		}
		s.conversations = append(s.conversations, storedConversationIn{r.Shard, c})
	case wal.Evicted:
		e, err := decodeEvicted(r.Slot, r.Payload)
		if err != nil {
			return err
		}
		s.evicted = append(s.evicted, storedEvictedIn{r.Shard, e})
	}
	return nil
}

// restore opens the storage and brings back what it holds: which traces were
// decided, what conversations have come to, and the spans of traces that had not
// left, which it returns.
func (p *tracesProcessor) restore(ctx context.Context, host component.Host) ([]*tracePart, error) {
	client, err := openStorage(ctx, host, *p.storage, p.id)
	if err != nil {
		return nil, err
	}
	s := &stored{own: p.own}
	log, err := wal.Open(ctx, client, wal.Settings{Shards: len(p.shards), Now: time.Now(), Logger: p.logger, Failed: p.recorder.StorageFailed}, s)
	if err == nil {
		slices.SortStableFunc(s.decided, func(a, b storedDecidedIn) int { return int(int64(a.seq) - int64(b.seq)) }) //nolint:gosec // counters
		slices.SortStableFunc(s.conversations, func(a, b storedConversationIn) int { return a.used.Compare(b.used) })
		if !p.fits(log, s) {
			err = log.Reshard(ctx, len(p.shards), p.divide(s))
		}
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
	p.log = log
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
	p.scoring.useLog(log, conversations, evicted)
	p.continued = log.Complete()
	if len(s.parts) > 0 {
		p.logger.Info("spans of traces that had not left before the restart are held again", zap.Int("parts", len(s.parts)))
	}
	return s.parts, nil
}

// fits reports whether the tables of the log have the places that they would
// be given here.
func (p *tracesProcessor) fits(log *wal.Log, s *stored) bool {
	if log.Shards() != len(p.shards) {
		return false
	}
	for table, limit := range map[wal.Table]int{wal.Decisions: p.maxDecided(), wal.Conversations: p.sessions.limit} {
		for _, slots := range log.Slots(table) {
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
		if _, whole := lastRun(chunks, p.sessions.maxEvicted()); !whole {
			return false
		}
	}
	return true
}

func (p *tracesProcessor) maxDecided() int { return p.shards[0].assembler.limits.decidedCache }

// divide gives everything in the tables a new place, after the number of shards
// or a limit has changed, and returns the records of the new places.
func (p *tracesProcessor) divide(s *stored) (records []wal.Record) {
	n := len(p.shards)
	// The last used come last in both; where there is room for fewer, they are
	// the ones that stay.
	room := make([]int32, n)
	var decided []storedDecidedIn
	for _, d := range slices.Backward(s.decided) {
		d.shard = shardOfTrace(d.id, n)
		if d.slot = room[d.shard]; int(d.slot) >= p.maxDecided() {
			continue
		}
		room[d.shard]++
		records = append(records, wal.Record{Table: wal.Decisions, Shard: d.shard, Slot: d.slot, Payload: encodeDecided(d.id, d.by, d.seq)})
		decided = append(decided, d)
	}
	clear(room)
	var conversations []storedConversationIn
	var evicted []uint64 // the last used first
	for _, c := range slices.Backward(s.conversations) {
		c.stripe = shardOfConversation(c.id, n)
		if c.slot = room[c.stripe]; int(c.slot) >= p.sessions.limit {
			evicted = append(evicted, hashConversation(c.id))
			continue
		}
		room[c.stripe]++
		records = append(records, wal.Record{Table: wal.Conversations, Shard: c.stripe, Slot: c.slot, Payload: encodeConversation(c.id, c.used, c.state)})
		conversations = append(conversations, c)
	}
	sets := p.divideEvicted(s.evicted)
	s.decided, s.conversations, s.evicted = decided, conversations, nil
	slices.Reverse(s.decided)
	slices.Reverse(s.conversations)
	for stripe, set := range sets {
		for _, hash := range slices.Backward(evicted) {
			if spread(hash, n) == stripe {
				set.add(hash)
			}
		}
		for _, chunk := range set.changes() {
			records = append(records, wal.Record{Table: wal.Evicted, Shard: stripe, Slot: chunk.slot, Payload: encodeEvicted(&chunk)})
			s.evicted = append(s.evicted, storedEvictedIn{stripe, chunk})
		}
	}
	return records
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
		sets[i] = newEvictedSet(p.sessions.maxEvicted())
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
