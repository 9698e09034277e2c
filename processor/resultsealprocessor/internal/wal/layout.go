// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// Format is the version of the keys and values. Format 1 has no checksum of the
// layout, one copy of it, and no number of entries. Earlier formats are read, and
// testdata of the processor holds a storage of each.
const Format = 2

// unknownEntries is the number of entries of a storage whose layout has none.
const unknownEntries = -1

// The layout is written twice, so that a damaged one loses nothing.
const (
	layoutKey     = "layout"
	layoutCopyKey = "layout/copy"
)

// layout describes which keys there are. Storages need not be able to list them.
type layout struct {
	generation  string
	entries     int    // that are there, so that a missing one is noticed
	first, next uint64 // batches
	epoch       int
	shards      int
	slots       [tableCount][]int32 // by shard: one more than the last slot in use
}

// Table is a table of records.
type Table uint8

// The tables.
const (
	Decisions Table = iota
	Conversations
	Evicted
	tableCount
)

type layoutJSON struct {
	Format        int     `json:"format"`
	Entries       int     `json:"entries"` // since format 2
	Generation    string  `json:"generation"`
	First         uint64  `json:"first"`
	Next          uint64  `json:"next"`
	Division      int     `json:"division"`
	Shards        int     `json:"shards"`
	Decided       []int32 `json:"decided"`
	Conversations []int32 `json:"conversations"`
	// Evicted is absent in a layout that was written before there was such a table.
	Evicted []int32 `json:"evicted"`
}

func (l *layout) batchKey(n uint64) string { return fmt.Sprintf("%s/b/%d", l.generation, n) }

func (l *layout) entryKey(r Ref) string {
	return fmt.Sprintf("%s/e/%d/%d", l.generation, r.batch, r.index)
}

func (l *layout) slotKey(table Table, shard int, slot int32) string {
	return fmt.Sprintf("%s/%d/%c/%d/%d", l.generation, l.epoch, "dcv"[table], shard, slot)
}

// reach extends the slots in use by one.
func (l *layout) reach(table Table, shard int, slot int32) {
	if slots := l.slots[table]; slot >= slots[shard] {
		slots = slices.Clone(slots) // layouts are copied by value
		slots[shard] = slot + 1
		l.slots[table] = slots
	}
}

// save returns the operations that write the layout.
func (l *layout) save() []*storage.Operation {
	text, _ := json.Marshal(layoutJSON{
		Format, l.entries, l.generation, l.first, l.next, l.epoch, l.shards, l.slots[Decisions], l.slots[Conversations], l.slots[Evicted],
	}) // it holds numbers and a name
	framed := frame(text)
	return []*storage.Operation{storage.SetOperation(layoutKey, framed), storage.SetOperation(layoutCopyKey, framed)}
}

func newLayout(generation string, shards int) *layout {
	return &layout{generation: generation, shards: shards, slots: emptySlots(shards)}
}

func emptySlots(shards int) (slots [tableCount][]int32) {
	for table := range slots {
		slots[table] = make([]int32, shards)
	}
	return slots
}

var errForeign = errors.New("it is damaged, or no storage of this processor")

// errNewerFormat is a storage that a later release wrote. It is never set aside.
type errNewerFormat int

// Error implements error.
func (e errNewerFormat) Error() string {
	return fmt.Sprintf("it has format %d, and this release reads formats up to %d: start the release that wrote it, or set another directory", int(e), Format)
}

// readLayout reads a layout. In format 1 it has no checksum.
func readLayout(text []byte) (*layout, error) {
	var read layoutJSON
	payload, err := unframe(text)
	checked := err == nil
	switch {
	case checked:
		text = payload
	case len(text) == 0 || text[0] != '{': // no layout of format 1
		return nil, err
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, errForeign
	}
	if read.Format > Format {
		return nil, errNewerFormat(read.Format)
	}
	if checked == (read.Format < 2) {
		return nil, errForeign
	}
	if read.Format < 2 {
		read.Entries = unknownEntries
	}
	if read.Evicted == nil && read.Shards > 0 && read.Shards == len(read.Decided) {
		read.Evicted = make([]int32, read.Shards)
	}
	l := &layout{
		entries: read.Entries, generation: read.Generation, first: read.First, next: read.Next, epoch: read.Division, shards: read.Shards,
		slots: [tableCount][]int32{read.Decided, read.Conversations, read.Evicted},
	}
	if read.Format < 1 || l.entries < unknownEntries || l.generation == "" || l.first > l.next || l.shards < 1 ||
		len(read.Decided) != l.shards || len(read.Conversations) != l.shards || len(read.Evicted) != l.shards ||
		slices.Min(read.Decided) < 0 || slices.Min(read.Conversations) < 0 || slices.Min(read.Evicted) < 0 {
		return nil, errForeign
	}
	return l, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame puts a checksum before a payload.
func frame(payload []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(payload)), crc32.Checksum(payload, castagnoli)), payload...)
}

// unframe verifies and removes the checksum of a value.
func unframe(text []byte) ([]byte, error) {
	if len(text) < 4 || crc32.Checksum(text[4:], castagnoli) != binary.LittleEndian.Uint32(text) {
		return nil, errors.New("the checksum does not fit")
	}
	return text[4:], nil
}

// frameCount returns the value of a batch of n entries.
func frameCount(n int) []byte { return frame(binary.AppendUvarint(nil, uint64(n))) } //nolint:gosec // a length

// unframeCount returns how many entries a batch has.
func unframeCount(text []byte) (int, error) {
	payload, err := unframe(text)
	if err != nil {
		return 0, err
	}
	n, size := binary.Uvarint(payload)
	if size <= 0 || n > 1<<24 {
		return 0, errForeign
	}
	return int(n), nil //nolint:gosec // just compared
}
