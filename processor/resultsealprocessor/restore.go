// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/conversations"
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
	conversations conversations.Stored
}

type storedDecidedIn struct {
	shard int
	storedDecided
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
	default:
		return s.conversations.Add(conversations.Record{
			Evicted: r.Table == wal.Evicted, Partition: r.Shard, Slot: r.Slot, Payload: r.Payload,
		})
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
		if !p.fits(log, s) {
			err = log.Reshard(ctx, len(p.shards), append(p.divide(s), p.scoring.reshard(&s.conversations)...))
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
	p.log = log
	for i, shard := range p.shards {
		shard.assembler.decided.restore(decided[i])
		shard.durable = true
	}
	for _, o := range p.outlets {
		o.next.durable = true
	}
	p.scoring.useLog(log, &s.conversations)
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
	for _, slots := range log.Slots(wal.Decisions) {
		if int(slots) > p.maxDecided() {
			return false
		}
	}
	return p.scoring.fits(log.Slots(wal.Conversations), &s.conversations)
}

func (p *tracesProcessor) maxDecided() int { return p.shards[0].assembler.limits.decidedCache }

// divide gives completed traces other slots, after the number of shards or a limit has
// changed, and returns their records. Where there is room for fewer, those that were
// used last stay.
func (p *tracesProcessor) divide(s *stored) (records []wal.Record) {
	n := len(p.shards)
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
	slices.Reverse(decided)
	s.decided = decided
	return records
}
