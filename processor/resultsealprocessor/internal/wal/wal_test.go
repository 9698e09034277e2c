// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a storage in memory. fail decides which writes fail.
type memory struct {
	mu     sync.Mutex
	values map[string][]byte
	fail   func(ops []*storage.Operation) error
}

func (m *memory) failIf(fail func(ops []*storage.Operation) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = fail
}

func (m *memory) Batch(_ context.Context, ops ...*storage.Operation) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		if err := m.fail(ops); err != nil {
			return err
		}
	}
	for _, op := range ops {
		switch op.Type {
		case storage.Get:
			op.Value = m.values[op.Key]
		case storage.Set:
			m.values[op.Key] = bytes.Clone(op.Value)
		case storage.Delete:
			delete(m.values, op.Key)
		}
	}
	return nil
}

func (m *memory) Get(ctx context.Context, key string) ([]byte, error) {
	op := storage.GetOperation(key)
	err := m.Batch(ctx, op)
	return op.Value, err
}

func (m *memory) Set(ctx context.Context, key string, value []byte) error {
	return m.Batch(ctx, storage.SetOperation(key, value))
}

func (m *memory) Delete(ctx context.Context, key string) error {
	return m.Batch(ctx, storage.DeleteOperation(key))
}

func (m *memory) Close(context.Context) error { return nil }

// content is what a log holds, as it is read.
type content struct {
	entries []string
	refs    []Ref
	records map[place]string
}

func (c *content) ReadEntry(ref Ref, payload []byte) error {
	if string(payload) == "unreadable" {
		return errors.New("unreadable")
	}
	c.entries, c.refs = append(c.entries, string(payload)), append(c.refs, ref)
	return nil
}

func (c *content) ReadRecord(r Record) error {
	c.records[r.place()] = string(r.Payload)
	return nil
}

type tester interface {
	Helper()
	Fatal(args ...any)
}

func open(t tester, m *memory, shards int) (*Log, *content) {
	t.Helper()
	c := &content{records: map[place]string{}}
	l, err := Open(context.Background(), m, Settings{Shards: shards, Now: time.Unix(1, 0), Logger: zap.NewNop(), Failed: func(Operation, int) {}}, c)
	if err != nil {
		t.Fatal(err)
	}
	return l, c
}

// A log that is closed or killed at any time, and whose writes fail now and then,
// holds what a naive one does: the entries that were appended and not acknowledged,
// and the last record of each slot.
func TestLogAgainstMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &memory{values: map[string][]byte{}}
		l, _ := open(t, m, 2)
		if l.Complete() {
			t.Fatal("a new log held everything")
		}
		l.Start()
		entries := map[string]Ref{} // by payload
		records := map[place]string{}
		versions := map[place]uint64{}
		n, shards := 0, 2
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"append", "append", "acknowledge", "records", "full", "reopen", "reshard"}).Draw(t, "step") {
			case "append":
				var payloads [][]byte
				for range rapid.IntRange(1, 3).Draw(t, "entries") {
					n++
					payloads = append(payloads, fmt.Append(nil, "entry ", n))
				}
				refs, err := l.Append(payloads)
				if err != nil {
					t.Fatal(err)
				}
				for i, payload := range payloads {
					entries[string(payload)] = refs[i]
				}
			case "acknowledge":
				var refs []Ref
				for _, payload := range slices.Sorted(maps.Keys(entries)) {
					if rapid.Bool().Draw(t, "acknowledged") {
						refs = append(refs, entries[payload])
						delete(entries, payload)
					}
				}
				l.Acknowledge(refs, nil)
			case "records":
				r := Record{
					Table: rapid.SampledFrom([]Table{Decisions, Conversations, Evicted}).Draw(t, "table"),
					Shard: rapid.IntRange(0, shards-1).Draw(t, "shard"), Slot: int32(rapid.IntRange(0, 3).Draw(t, "slot")),
				}
				if n++; r.Table != Decisions {
					r.Version = uint64(rapid.IntRange(max(1, n-3), n).Draw(t, "version"))
				}
				if rapid.IntRange(0, 3).Draw(t, "delete") > 0 {
					r.Payload = fmt.Append(nil, "record ", n)
				}
				l.Acknowledge(nil, []Record{r})
				if r.Version < versions[r.place()] {
					continue
				}
				versions[r.place()] = r.Version
				if records[r.place()] = string(r.Payload); r.Payload == nil {
					delete(records, r.place())
				}
			case "full": // the next batch is rejected, and what is acknowledged with it is not
				m.failIf(func(ops []*storage.Operation) error {
					for _, op := range ops {
						if op.Type == storage.Set && strings.Contains(op.Key, "/e/") {
							return storage.ErrStorageFull
						}
					}
					return nil
				})
				if _, err := l.Append([][]byte{[]byte("rejected")}); !errors.Is(err, storage.ErrStorageFull) {
					t.Fatalf("got %v", err)
				}
				m.failIf(nil)
			case "reopen", "reshard":
				if err := l.Close(context.Background()); err != nil {
					t.Fatal(err)
				}
				var c *content
				written := len(m.values) > 0
				l, c = open(t, m, 2)
				if l.Complete() != written {
					t.Fatalf("complete: %v, after a write: %v", l.Complete(), written)
				}
				want := slices.Sorted(maps.Keys(entries))
				for i, payload := range c.entries {
					entries[payload] = c.refs[i]
				}
				if diff := cmp.Diff(want, slices.Sorted(slices.Values(c.entries))); diff != "" {
					t.Fatal("entries:\n" + diff)
				}
				if diff := cmp.Diff(records, c.records, cmp.AllowUnexported(place{})); diff != "" {
					t.Fatal("records:\n" + diff)
				}
				clear(versions) // they are those of a process
				if rapid.Bool().Draw(t, "reshard") {
					shards = 3
					records = map[place]string{{Conversations, 2, 1}: "moved"}
					if err := l.Reshard(context.Background(), 3, []Record{{Table: Conversations, Shard: 2, Slot: 1, Payload: []byte("moved")}}); err != nil {
						t.Fatal(err)
					}
				}
				l.Start()
			}
		}
		if err := l.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		// No key is left that the log does not need.
		batches := map[uint64]bool{}
		for _, ref := range entries {
			batches[ref.batch] = true
		}
		if want := len(entries) + len(batches) + len(records) + 2; len(m.values) > 0 && len(m.values) != want {
			t.Fatalf("%d values in the storage, want %d: %v", len(m.values), want, slices.Sorted(maps.Keys(m.values)))
		}
	})
}

// An acknowledgement whose write failed is retried with the next write.
func TestAcknowledgementIsRetried(t *testing.T) {
	m := &memory{values: map[string][]byte{}}
	failed := map[Operation]int{}
	l, err := Open(context.Background(), m, Settings{Shards: 1, Logger: zap.NewNop(), Failed: func(o Operation, n int) { failed[o] += n }}, &content{})
	require.NoError(t, err)
	l.Start()
	refs, err := l.Append([][]byte{[]byte("a"), []byte("b")})
	require.NoError(t, err)
	broken := errors.New("broken")
	acknowledged := make(chan struct{})
	m.fail = func([]*storage.Operation) error {
		close(acknowledged)
		m.fail = nil
		return broken
	}
	l.Acknowledge(refs, []Record{{Payload: []byte("record")}})
	<-acknowledged
	_, err = l.Append([][]byte{[]byte("c")})
	require.NoError(t, err)
	require.NoError(t, l.Close(context.Background()))
	require.Equal(t, map[Operation]int{Acknowledge: 1}, failed)
	_, c := open(t, m, 1)
	require.Equal(t, []string{"c"}, c.entries)
}

// A record that is acknowledged after a later one of its slot does not replace it.
func TestLaterVersionStays(t *testing.T) {
	m := &memory{values: map[string][]byte{}}
	l, _ := open(t, m, 1)
	l.Start()
	of := func(payload string, slot int32, version uint64) []Record {
		return []Record{{Table: Conversations, Slot: slot, Payload: []byte(payload), Version: version}}
	}
	l.Acknowledge(nil, of("second", 0, 2))
	l.Acknowledge(nil, of("first", 0, 1))
	l.Acknowledge(nil, of("another", 1, 1))
	require.NoError(t, l.Close(context.Background()))
	_, c := open(t, m, 1)
	require.Equal(t, map[place]string{{Conversations, 0, 0}: "second", {Conversations, 0, 1}: "another"}, c.records)
}

// Values that are damaged, or that the reader rejects, are set aside, and everything
// else is read.
func TestUnreadableValuesAreSetAside(t *testing.T) {
	m := &memory{values: map[string][]byte{}}
	l, _ := open(t, m, 1)
	l.Start()
	_, err := l.Append([][]byte{[]byte("a"), []byte("unreadable"), []byte("b")})
	require.NoError(t, err)
	l.Acknowledge(nil, []Record{{Payload: []byte("damaged")}, {Slot: 1, Payload: []byte("whole")}})
	require.NoError(t, l.Close(context.Background()))
	damaged := l.layout.slotKey(Decisions, 0, 0)
	m.values[damaged][6] ^= 1
	before := maps.Clone(m.values)

	l, c := open(t, m, 1)
	require.False(t, l.Complete())
	require.Equal(t, []string{"a", "b"}, c.entries)
	require.Equal(t, map[place]string{{Decisions, 0, 1}: "whole"}, c.records)
	aside := 0
	for key, value := range m.values {
		if _, name, ok := strings.Cut(strings.TrimPrefix(key, "aside/"), "/"); ok && strings.HasPrefix(key, "aside/") {
			require.Equal(t, before[name], value, key)
			aside++
		}
	}
	require.Equal(t, 2, aside)
	require.NotContains(t, m.values, damaged)
}

// A layout that was written before there was a table of evicted conversations is
// read with all that it names.
func TestLayoutWithoutEvicted(t *testing.T) {
	l := newLayout("g", 2)
	l.reach(Decisions, 1, 4)
	var read map[string]any
	saved, err := unframe(l.save()[0].Value)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(saved, &read))
	delete(read, "evicted")
	delete(read, "entries")
	read["format"] = 1
	l.entries = unknownEntries
	text, err := json.Marshal(read)
	require.NoError(t, err)
	got, err := readLayout(text)
	require.NoError(t, err)
	require.Equal(t, l, got)

	read["evicted"] = []int{1}
	text, err = json.Marshal(read)
	require.NoError(t, err)
	_, err = readLayout(text)
	require.ErrorIs(t, err, errForeign)
}

// The log of a later release is an error and stays as it is.
func TestNewerFormat(t *testing.T) {
	m := &memory{values: map[string][]byte{}}
	for _, key := range []string{layoutKey, layoutCopyKey} {
		m.values[key] = frame([]byte(`{"format":99,"generation":"g","shards":1}`))
	}
	before := maps.Clone(m.values)
	_, err := Open(context.Background(), m, Settings{Shards: 1, Logger: zap.NewNop()}, &content{})
	require.EqualError(t, err, "resultseal: the storage cannot be used: it has format 99, and this release reads formats up to 2: start the release that wrote it, or set another directory")
	require.Equal(t, before, m.values)
}

// Any layout is read or is an error, and one that is read is written as it was read.
func FuzzReadLayout(f *testing.F) {
	f.Add([]byte(`{"format":1,"generation":"g","shards":1,"decided":[0],"conversations":[3]}`), false)
	text, _ := unframe(newLayout("g", 2).save()[0].Value)
	f.Add(text, true)
	f.Fuzz(func(t *testing.T, text []byte, checked bool) {
		if checked {
			text = frame(text)
		}
		l, err := readLayout(text)
		if err != nil {
			return
		}
		again, err := readLayout(l.save()[0].Value)
		require.NoError(t, err)
		require.Equal(t, l, again)
	})
}
