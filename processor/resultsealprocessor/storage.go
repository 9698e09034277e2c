// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
)

// What lies in the storage, under one client:
//
//	layout         where everything is: a JSON object with the format's version
//	layout/copy    the same once more
//	G/b/N          how many entries batch N was written with
//	G/e/N/I        entry I of batch N: spans of one trace, as OTLP protobuf
//	G/L/d/S/K      in slot K of shard S: the id of a trace that was decided
//	G/L/c/S/K      in slot K of stripe S: the state of a conversation
//	G/L/v/S/K      in slot K of stripe S: hashes of evicted conversations
//	aside/…        what could not be read
//
// G is the generation: content that is not understood is left under its own and
// a new one is begun. L numbers the divisions into shards. Every value begins with
// its checksum.

// storageFormat is the version of all this. Format 1 has no checksum of the layout,
// one copy of it, and no number of entries. Earlier formats are read, and testdata
// holds a storage of each.
const storageFormat = 2

// unknownEntries is the number of entries of a storage whose layout has none.
const unknownEntries = -1

// The layout is written twice, so that a damaged one loses nothing.
const (
	layoutKey     = "layout"
	layoutCopyKey = "layout/copy"
)

// layout says which keys there are. Storages need not be able to list them.
type layout struct {
	generation  string
	entries     int    // that are there, so that one that is missing is noticed
	first, next uint64 // batches
	division    int
	shards      int
	slots       [tableCount][]int32 // by shard: one more than the last slot in use
}

// tableID is one of the tables beside the entries.
type tableID uint8

const (
	decidedTable tableID = iota
	conversationTable
	evictedTable
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
	// Evicted is absent where the layout was written before there was such a table.
	Evicted []int32 `json:"evicted"`
}

func (l *layout) batchKey(n uint64) string { return fmt.Sprintf("%s/b/%d", l.generation, n) }
func (l *layout) entryKey(r entryRef) string {
	return fmt.Sprintf("%s/e/%d/%d", l.generation, r.batch, r.part)
}

func (l *layout) noteKey(table tableID, shard int, slot int32) string {
	return fmt.Sprintf("%s/%d/%c/%d/%d", l.generation, l.division, "dcv"[table], shard, slot)
}

// reach notes that a slot is in use.
func (l *layout) reach(table tableID, shard int, slot int32) {
	if slots := l.slots[table]; slot >= slots[shard] {
		slots = slices.Clone(slots) // layouts are copied by value
		slots[shard] = slot + 1
		l.slots[table] = slots
	}
}

// save returns the operations that write the layout.
func (l *layout) save() []*storage.Operation {
	text, _ := json.Marshal(layoutJSON{
		storageFormat, l.entries, l.generation, l.first, l.next, l.division, l.shards, l.slots[decidedTable], l.slots[conversationTable], l.slots[evictedTable],
	}) // it holds numbers and a name
	framed := frame(text)
	return []*storage.Operation{storage.SetOperation(layoutKey, framed), storage.SetOperation(layoutCopyKey, framed)}
}

func newLayout(generation string, shards int) *layout {
	return &layout{
		generation: generation, shards: shards,
		slots: [tableCount][]int32{make([]int32, shards), make([]int32, shards), make([]int32, shards)},
	}
}

var errForeign = errors.New("it is damaged, or no storage of this processor")

// errNewerFormat is a storage that a later release wrote. It is never set aside.
type errNewerFormat int

// Error implements error.
func (e errNewerFormat) Error() string {
	return fmt.Sprintf("it has format %d, and this release reads formats up to %d: start the release that wrote it, or set another directory", int(e), storageFormat)
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
	if read.Format > storageFormat {
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
		entries: read.Entries, generation: read.Generation, first: read.First, next: read.Next, division: read.Division, shards: read.Shards,
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

// frame puts a checksum before a value.
func frame(payload []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(payload)), crc32.Checksum(payload, castagnoli)), payload...)
}

func unframe(text []byte) ([]byte, error) {
	if len(text) < 4 || crc32.Checksum(text[4:], castagnoli) != binary.LittleEndian.Uint32(text) {
		return nil, errors.New("the checksum does not fit")
	}
	return text[4:], nil
}

func appendCount(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)) } //nolint:gosec // a length

// A decided trace as it is stored: its id, how it was finished, and a number
// that grows, to tell which were used last.
func encodeDecided(id pcommon.TraceID, by finishedBy, seq uint64) []byte {
	return frame(binary.LittleEndian.AppendUint64(append(id[:], byte(by)), seq))
}

type storedDecided struct {
	slot int32
	id   pcommon.TraceID
	by   finishedBy
	seq  uint64
}

func decodeDecided(slot int32, text []byte) (d storedDecided, err error) {
	payload, err := unframe(text)
	if err != nil || len(payload) != 25 {
		return d, errors.Join(errForeign, err)
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
	text = append(appendCount(text, len(id)), id...)
	return frame(append(text, state...))
}

func decodeConversation(slot int32, text []byte) (c storedConversation, err error) {
	payload, err := unframe(text)
	if err != nil || len(payload) < 9 {
		return c, errors.Join(errForeign, err)
	}
	c = storedConversation{slot: slot, used: time.Unix(0, int64(binary.LittleEndian.Uint64(payload)))} //nolint:gosec // as above
	n, size := binary.Uvarint(payload[8:])
	if rest := payload[8+max(size, 0):]; size > 0 && n <= uint64(len(rest)) {
		c.id, c.state = string(rest[:n]), slices.Clone(rest[n:])
		return c, nil
	}
	return c, errForeign
}

// stored is what a storage held when the processor started.
type stored struct {
	layout        *layout
	parts         []*tracePart
	live          map[uint64]int
	decided       []storedDecidedIn
	conversations []storedConversationIn
	evicted       []storedEvictedIn
	// fresh is set if the storage was new or empty, or if what was in it, or some of
	// it, could not be read: then spans that were accepted before may be missing.
	fresh bool
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

// restorer reads a storage when the processor starts.
type restorer struct {
	client storage.Client
	logger *zap.Logger
	own    annotate.Namespace
	failed func(storageOperation, int) // counts values that cannot be read
	aside  []*storage.Operation
	where  string // of what is set aside

	entriesAside int // of the values that are set aside
	lost         int // entries that are missing
}

// read returns what the storage holds. What cannot be read is set aside: it is
// never a reason not to start, and never overwritten.
func (r *restorer) read(ctx context.Context, shards int, now time.Time) (*stored, error) {
	text, l, err := r.layout(ctx)
	var newer errNewerFormat
	if errors.As(err, &newer) {
		return nil, fmt.Errorf("resultseal: the storage cannot be used: %w", newer)
	}
	if text == nil && err != nil {
		return nil, fmt.Errorf("resultseal: the storage cannot be read: %w", err)
	}
	// A name that nothing there has, also where clocks are set back.
	generation := fmt.Sprintf("%x-%x", now.Unix(), rand.Uint32()) //nolint:gosec // no secret
	r.where = "aside/" + generation + "/"
	s := &stored{layout: newLayout(generation, shards), live: map[uint64]int{}, fresh: true}
	if text == nil {
		return s, nil
	}
	if err != nil {
		r.failed(storageRead, 1)
		r.logger.Warn("what is in the storage was set aside", zap.String("key", r.where+layoutKey), zap.Error(err))
		return s, r.client.Set(ctx, r.where+layoutKey, text)
	}
	s.layout, s.fresh = l, false
	for n := l.first; n < l.next; n++ {
		if err := r.batch(ctx, s, n); err != nil {
			return nil, err
		}
	}
	for shard := range l.shards {
		for slot := range l.slots[decidedTable][shard] {
			key := l.noteKey(decidedTable, shard, slot)
			err := r.value(ctx, key, func(text []byte) error {
				d, err := decodeDecided(slot, text)
				if err == nil {
					s.decided = append(s.decided, storedDecidedIn{shard, d})
				}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		for slot := range l.slots[conversationTable][shard] {
			key := l.noteKey(conversationTable, shard, slot)
			err := r.value(ctx, key, func(text []byte) error {
				c, err := decodeConversation(slot, text)
				if err == nil {
					s.conversations = append(s.conversations, storedConversationIn{shard, c})
				}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		for slot := range l.slots[evictedTable][shard] {
			key := l.noteKey(evictedTable, shard, slot)
			err := r.value(ctx, key, func(text []byte) error {
				e, err := decodeEvicted(slot, text)
				if err == nil {
					s.evicted = append(s.evicted, storedEvictedIn{shard, e})
				}
				return err
			})
			if err != nil {
				return nil, err
			}
		}
	}
	if missing := l.entries - len(s.parts) - r.entriesAside; l.entries != unknownEntries && missing > 0 {
		r.failed(storageRead, missing)
		r.lost = missing
		r.logger.Error("entries of the storage are missing, so spans that were accepted may be lost", zap.Int("entries", missing))
	}
	l.entries = len(s.parts)
	s.fresh = len(r.aside) > 0 || r.lost > 0
	slices.SortStableFunc(s.decided, func(a, b storedDecidedIn) int { return int(int64(a.seq) - int64(b.seq)) }) //nolint:gosec // counters
	slices.SortStableFunc(s.conversations, func(a, b storedConversationIn) int { return a.used.Compare(b.used) })
	if len(r.aside) > 0 {
		r.failed(storageRead, len(r.aside)/2)
		r.logger.Warn("some of what is in the storage cannot be read and was set aside",
			zap.Int("values", len(r.aside)/2), zap.String("under", r.where))
		if err := r.client.Batch(ctx, r.aside...); err != nil {
			return nil, fmt.Errorf("resultseal: the storage cannot be written: %w", err)
		}
	}
	return s, nil
}

// layout reads the layout, or its copy where it is damaged. Without any, text is
// nil; with an error and a text, both are damaged.
func (r *restorer) layout(ctx context.Context) (text []byte, l *layout, err error) {
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
			r.failed(storageRead, 1)
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

func (r *restorer) batch(ctx context.Context, s *stored, n uint64) error {
	count := 0
	err := r.value(ctx, s.layout.batchKey(n), func(text []byte) error {
		count = 1 << 12 // what there may be if nobody knows
		payload, err := unframe(text)
		if err != nil {
			return err
		}
		c, size := binary.Uvarint(payload)
		if size <= 0 || c > 1<<24 {
			return errForeign
		}
		count = int(c) //nolint:gosec // just compared
		return nil
	})
	for i := 0; err == nil && i < count; i++ {
		ref := entryRef{n, i}
		aside := len(r.aside)
		err = r.value(ctx, s.layout.entryKey(ref), func(text []byte) error {
			parts, err := decodeEntry(text, r.own)
			if err != nil || len(parts) != 1 {
				return errors.Join(errForeign, err)
			}
			parts[0].entry = []entryRef{ref}
			s.parts = append(s.parts, parts[0])
			s.live[n]++
			return nil
		})
		if len(r.aside) > aside {
			r.entriesAside++
		}
	}
	return err
}

// value reads one value, if it is there, and sets it aside if use cannot.
func (r *restorer) value(ctx context.Context, key string, use func([]byte) error) error {
	text, err := r.client.Get(ctx, key)
	if err != nil {
		return fmt.Errorf("resultseal: the storage cannot be read: %w", err)
	}
	if text != nil && use(text) != nil {
		r.aside = append(r.aside, storage.SetOperation(r.where+key, slices.Clone(text)), storage.DeleteOperation(key))
	}
	return nil
}
