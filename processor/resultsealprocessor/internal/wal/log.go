// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/mailbox"
)

// Log is a write-ahead log. [Open] returns one. Append and Acknowledge may be called
// by any number of goroutines between Start and Close.
type Log struct {
	client storage.Client
	logger *zap.Logger
	layout *layout
	// failed counts operations that failed.
	failed   func(Operation, int)
	complete bool

	requests *mailbox.Mailbox[*request]
	done     sync.WaitGroup

	// live counts the entries of each batch that are still there.
	live map[uint64]int
	// versions are those that were written last.
	versions map[place]uint64

	// pending are acknowledgements whose write failed and is retried.
	pending []*request
}

// Operation is an operation of the storage, as in the metric storage_failures.
type Operation string

// The operations.
const (
	Read        Operation = "read"
	Append      Operation = "append"
	Acknowledge Operation = "acknowledge"
	Close       Operation = "close"
)

// Ref names an entry.
type Ref struct {
	batch uint64
	index int
}

// Record is the content of a slot of a table.
type Record struct {
	Table Table
	Shard int
	Slot  int32
	// Payload is nil for a slot that becomes empty.
	Payload []byte
	// Version orders the records of a slot: of two the later one stays, in whatever
	// order they are acknowledged. Records with version 0 stay in the order of
	// Acknowledge.
	Version uint64
}

// place is where a record is.
type place struct {
	table Table
	shard int
	slot  int32
}

func (r *Record) place() place { return place{r.Table, r.Shard, r.Slot} }

// request asks for a write: of a batch, which has a reply, or of an acknowledgement.
type request struct {
	framed [][]byte // the entries of a batch
	reply  chan reply

	refs    []Ref
	records []Record
}

type reply struct {
	batch uint64
	err   error
}

// Start starts the goroutine that writes.
func (l *Log) Start() { l.done.Go(l.run) }

// Complete reports whether the log held all entries that were appended before it was
// opened. It is false for a storage that was new or empty, and where a value was
// missing or damaged.
func (l *Log) Complete() bool { return l.complete }

// Append writes a batch of entries and waits until they are written. It returns their
// names, or the error of the storage.
func (l *Log) Append(payloads [][]byte) ([]Ref, error) {
	r := &request{framed: make([][]byte, len(payloads)), reply: make(chan reply, 1)}
	for i, payload := range payloads {
		r.framed[i] = frame(payload)
	}
	l.requests.Put(r)
	written := <-r.reply
	if written.err != nil {
		return nil, written.err
	}
	refs := make([]Ref, len(payloads))
	for i := range refs {
		refs[i] = Ref{written.batch, i}
	}
	return refs, nil
}

// Acknowledge deletes entries and writes records. It does not wait for the write, and
// retries it if it fails.
func (l *Log) Acknowledge(refs []Ref, records []Record) {
	if len(refs)+len(records) > 0 {
		l.requests.Put(&request{refs: refs, records: records})
	}
}

// Close performs the writes that were requested and closes the storage.
func (l *Log) Close(ctx context.Context) error {
	l.requests.Close()
	l.done.Wait()
	err := l.client.Close(ctx)
	if err != nil {
		l.failed(Close, 1)
	}
	return err
}

func (l *Log) run() {
	var requests []*request
	for range l.requests.Ready() {
		var more bool
		requests, more = l.requests.Take(requests)
		l.write(requests)
		if !more {
			l.write(nil) // what is pending, a last time
			return
		}
	}
}

// write makes one write of many requests. If it fails, the batches are rejected and
// the acknowledgements are retried: a full storage takes deletions.
func (l *Log) write(requests []*request) {
	var batches []*request
	acknowledged := l.pending
	l.pending = nil
	for _, r := range requests {
		if r.reply != nil {
			batches = append(batches, r)
		} else {
			acknowledged = append(acknowledged, r)
		}
	}
	if len(batches)+len(acknowledged) == 0 {
		return
	}
	next := *l.layout
	ops := l.acknowledge(&next, acknowledged)
	first := next.next
	for _, r := range batches {
		for i, framed := range r.framed {
			ops = append(ops, storage.SetOperation(next.entryKey(Ref{next.next, i}), framed))
			next.entries++
		}
		ops = append(ops, storage.SetOperation(next.batchKey(next.next), frameCount(len(r.framed))))
		next.next++
	}
	err := l.client.Batch(context.Background(), append(ops, next.save()...)...)
	if err == nil {
		*l.layout = next
		l.forget(acknowledged)
		for _, r := range batches {
			l.live[first] = len(r.framed)
			r.reply <- reply{batch: first}
			first++
		}
		return
	}
	if len(batches) > 0 {
		l.failed(Append, len(batches))
	}
	for _, r := range batches {
		r.reply <- reply{err: err}
	}
	if len(batches) > 0 && len(acknowledged) > 0 {
		next = *l.layout
		ops = l.acknowledge(&next, acknowledged)
		if again := l.client.Batch(context.Background(), append(ops, next.save()...)...); again == nil {
			*l.layout = next
			l.forget(acknowledged)
			return
		}
	}
	if len(acknowledged) > 0 {
		l.pending = acknowledged
		l.failed(Acknowledge, 1)
		l.logger.Error("the storage does not take what was passed on; after a restart it would be passed on again", zap.Error(err))
	}
}

// acknowledge returns the operations of acknowledgements, and puts their effect into
// the layout.
func (l *Log) acknowledge(next *layout, requests []*request) (ops []*storage.Operation) {
	left := map[uint64]int{}
	for _, r := range requests {
		for _, ref := range r.refs {
			ops = append(ops, storage.DeleteOperation(next.entryKey(ref)))
			next.entries--
			if left[ref.batch]++; left[ref.batch] == l.live[ref.batch] {
				ops = append(ops, storage.DeleteOperation(next.batchKey(ref.batch)))
			}
		}
		for i := range r.records {
			record := &r.records[i]
			if record.Version > 0 {
				if record.Version < l.versions[record.place()] {
					continue
				}
				l.versions[record.place()] = record.Version
			}
			ops = append(ops, next.set(record))
		}
	}
	next.first = l.oldest(next, left)
	return ops
}

// set returns the operation that writes a record, and makes the layout reach it.
func (l *layout) set(r *Record) *storage.Operation {
	key := l.slotKey(r.Table, r.Shard, r.Slot)
	if r.Payload == nil {
		return storage.DeleteOperation(key)
	}
	l.reach(r.Table, r.Shard, r.Slot)
	return storage.SetOperation(key, frame(r.Payload))
}

// oldest returns the first batch that has entries besides those that left.
func (l *Log) oldest(next *layout, left map[uint64]int) uint64 {
	first := next.first
	for first < next.next && l.live[first] == left[first] {
		first++
	}
	return first
}

// forget removes acknowledged entries from the count of their batches.
func (l *Log) forget(requests []*request) {
	for _, r := range requests {
		for _, ref := range r.refs {
			if l.live[ref.batch]--; l.live[ref.batch] == 0 {
				delete(l.live, ref.batch)
			}
		}
	}
}
