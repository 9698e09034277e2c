// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/mailbox"
)

// Settings are those of a log.
type Settings struct {
	// Shards is the number of shards of a new log. The log of a storage keeps the
	// number that it was written with, until Reshard.
	Shards int
	// Now is the time from which a new generation has its name.
	Now    time.Time
	Logger *zap.Logger
	// Failed counts operations of the storage that failed, and values that cannot be
	// read.
	Failed func(Operation, int)
}

// Reader receives the content of a log when it is opened: the entries in the order in
// which they were appended, then the records by shard, table and slot. An error sets
// the value aside. Payloads are only valid until the method returns.
type Reader interface {
	ReadEntry(ref Ref, payload []byte) error
	ReadRecord(r Record) error
}

// Open reads the storage and returns the log that it holds, or a new one. A value that
// cannot be read is set aside: it never prevents the start, and is never overwritten.
// A storage that a later release wrote is an error.
func Open(ctx context.Context, client storage.Client, s Settings, to Reader) (*Log, error) {
	r := &recovery{client: client, logger: s.Logger, failed: s.Failed, to: to, live: map[uint64]int{}}
	complete, err := r.read(ctx, s.Shards, s.Now)
	if err != nil {
		return nil, err
	}
	return &Log{
		client: client, layout: r.layout, logger: s.Logger, failed: s.Failed, complete: complete,
		requests: mailbox.New[*request](), live: r.live, versions: map[place]uint64{},
	}, nil
}

// recovery reads a storage.
type recovery struct {
	client storage.Client
	logger *zap.Logger
	failed func(Operation, int)
	to     Reader

	layout *layout
	live   map[uint64]int
	aside  []*storage.Operation
	where  string // of the values that are set aside

	entries      int // that were read
	entriesAside int // of the values that are set aside
}

// read reads everything and reports whether it is complete.
func (r *recovery) read(ctx context.Context, shards int, now time.Time) (complete bool, err error) {
	text, l, err := r.findLayout(ctx)
	var newer errNewerFormat
	if errors.As(err, &newer) {
		return false, fmt.Errorf("resultseal: the storage cannot be used: %w", newer)
	}
	if text == nil && err != nil {
		return false, fmt.Errorf("resultseal: the storage cannot be read: %w", err)
	}
	// A name that the storage does not have yet, also where clocks are set back.
	generation := fmt.Sprintf("%x-%x", now.Unix(), rand.Uint32()) //nolint:gosec // no secret
	r.where = "aside/" + generation + "/"
	r.layout = newLayout(generation, shards)
	if text == nil {
		return false, nil
	}
	if err != nil {
		r.failed(Read, 1)
		r.logger.Warn("what is in the storage was set aside", zap.String("key", r.where+layoutKey), zap.Error(err))
		return false, r.client.Set(ctx, r.where+layoutKey, text)
	}
	r.layout = l
	for n := l.first; n < l.next; n++ {
		if err := r.batch(ctx, n); err != nil {
			return false, err
		}
	}
	for shard := range l.shards {
		for table := range tableCount {
			for slot := range l.slots[table][shard] {
				if err := r.record(ctx, table, shard, slot); err != nil {
					return false, err
				}
			}
		}
	}
	missing := l.entries - r.entries - r.entriesAside
	lost := l.entries != unknownEntries && missing > 0
	if lost {
		r.failed(Read, missing)
		r.logger.Error("entries of the storage are missing, so spans that were accepted may be lost", zap.Int("entries", missing))
	}
	l.entries = r.entries
	if len(r.aside) > 0 {
		r.failed(Read, len(r.aside)/2)
		r.logger.Warn("some of what is in the storage cannot be read and was set aside",
			zap.Int("values", len(r.aside)/2), zap.String("under", r.where))
		if err := r.client.Batch(ctx, r.aside...); err != nil {
			return false, fmt.Errorf("resultseal: the storage cannot be written: %w", err)
		}
	}
	return len(r.aside) == 0 && !lost, nil
}

// findLayout reads the layout, or its copy where it is damaged. Without any, text is
// nil; with an error and a text, both are damaged.
func (r *recovery) findLayout(ctx context.Context) (text []byte, l *layout, err error) {
	for _, key := range []string{layoutKey, layoutCopyKey} {
		copied, failed := r.client.Get(ctx, key)
		if failed != nil {
			return nil, nil, failed
		}
		if copied == nil {
			continue
		}
		read, failed := readLayout(copied)
		var newer errNewerFormat
		switch {
		case failed == nil && err != nil:
			r.failed(Read, 1)
			r.logger.Warn("the layout of the storage is damaged; its copy is used", zap.Error(err))
			fallthrough
		case failed == nil:
			return copied, read, nil
		case errors.As(failed, &newer):
			return copied, nil, failed
		case text == nil:
			text, err = copied, failed
		}
	}
	return text, nil, err
}

// batch reads the entries of a batch.
func (r *recovery) batch(ctx context.Context, n uint64) error {
	count := 0
	err := r.value(ctx, r.layout.batchKey(n), func(text []byte) (err error) {
		if count, err = unframeCount(text); err != nil {
			count = 1 << 12 // the entries that there may be
		}
		return err
	})
	for i := 0; err == nil && i < count; i++ {
		ref := Ref{n, i}
		aside := len(r.aside)
		err = r.value(ctx, r.layout.entryKey(ref), func(text []byte) error {
			payload, err := unframe(text)
			if err == nil {
				err = r.to.ReadEntry(ref, payload)
			}
			if err == nil {
				r.entries++
				r.live[n]++
			}
			return err
		})
		if len(r.aside) > aside {
			r.entriesAside++
		}
	}
	return err
}

// record reads a slot of a table.
func (r *recovery) record(ctx context.Context, table Table, shard int, slot int32) error {
	return r.value(ctx, r.layout.slotKey(table, shard, slot), func(text []byte) error {
		payload, err := unframe(text)
		if err != nil {
			return err
		}
		return r.to.ReadRecord(Record{Table: table, Shard: shard, Slot: slot, Payload: payload})
	})
}

// value reads a value, if it is there, and sets it aside if use returns an error.
func (r *recovery) value(ctx context.Context, key string, use func([]byte) error) error {
	text, err := r.client.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("resultseal: the storage cannot be read: %w", err)
	}
	if text != nil && use(text) != nil {
		r.aside = append(r.aside, storage.SetOperation(r.where+key, slices.Clone(text)), storage.DeleteOperation(key))
	}
	return nil
}

// Slots returns, by shard, one more than the last slot of a table that was in use. It is
// called before Start.
func (l *Log) Slots(table Table) []int32 { return l.layout.slots[table] }

// Reshard replaces all records by others, which are divided among another number of
// shards. It is called before Start. The earlier records count until the last write of
// the new ones.
func (l *Log) Reshard(ctx context.Context, shards int, records []Record) error {
	before, next := l.layout, *l.layout
	next.epoch, next.shards, next.slots = before.epoch+1, shards, emptySlots(shards)
	var writes, deletions []*storage.Operation
	for i := range records {
		writes = append(writes, next.set(&records[i]))
	}
	for table := range tableCount {
		for shard, slots := range before.slots[table] {
			for slot := range slots {
				deletions = append(deletions, storage.DeleteOperation(before.slotKey(table, shard, slot)))
			}
		}
	}
	for _, ops := range [][]*storage.Operation{writes, next.save(), deletions} {
		for some := range slices.Chunk(ops, 1000) {
			if err := l.client.Batch(ctx, some...); err != nil {
				return fmt.Errorf("resultseal: the storage cannot be written: %w", err)
			}
		}
	}
	*l.layout = next
	return nil
}
