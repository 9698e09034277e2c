// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
)

// The journal writes down what is held, so that it is there after the process
// has ended in whatever way. A batch is written before its sender is told that
// it was accepted, one entry for each trace that has spans in it. When a trace
// has left, one write takes its entries away and notes that it was decided and
// what its conversations have come to. Between the two, a process that is killed
// has the trace again when it starts, and passes it on once more, with the same
// verdict.
//
// One goroutine writes. What came while it wrote goes into the next write
// together, so that many senders share the cost of one.
type journal struct {
	client storage.Client
	logger *zap.Logger
	layout *layout
	// failed counts operations that failed.
	failed func(storageOperation, int)

	requests *mailbox[*entryRequest]
	done     sync.WaitGroup

	// live counts the entries of each batch that are still there.
	live map[uint64]int
	// revs are the last changes that were written, by table, shard and slot.
	revs map[[3]int]uint64

	// pending are writes of what has left that failed and are tried again.
	pending []*entryRequest
}

// entryRef names an entry: the part of a batch that belongs to one trace.
type entryRef struct {
	batch uint64
	part  int
}

// entryRequest asks for one write: of a batch that came, or of what has left.
type entryRequest struct {
	parts []*tracePart // a batch; its parts are given their names
	texts [][]byte
	reply chan error

	gone  []entryRef
	notes []note
}

// note is a value of one of the tables that stand beside the entries: what was
// decided, and the states of conversations. A nil value takes it away.
type note struct {
	table  tableID
	shard  int
	slot   int32
	framed []byte
	// rev grows with each change of a conversation's place: a trace that holds
	// several conversations may leave after a later trace of one of them.
	rev uint64
}

func newJournal(client storage.Client, l *layout, logger *zap.Logger, failed func(storageOperation, int)) *journal {
	return &journal{client: client, layout: l, logger: logger, failed: failed, requests: newMailbox[*entryRequest](), live: map[uint64]int{}, revs: map[[3]int]uint64{}}
}

// start begins to write.
func (j *journal) start() { j.done.Go(j.run) }

// append writes a batch and waits until that is done. The parts are named in
// it.
func (j *journal) append(parts []*tracePart) error {
	r := &entryRequest{parts: parts, reply: make(chan error, 1)}
	for _, part := range parts {
		r.texts = append(r.texts, frame(marshal(part.spans)))
	}
	j.requests.put(r)
	return <-r.reply
}

// leave notes that a trace has left. It does not wait.
func (j *journal) leave(gone []entryRef, notes []note) {
	if len(gone)+len(notes) > 0 {
		j.requests.put(&entryRequest{gone: gone, notes: notes})
	}
}

// close writes what was asked for before and gives the storage back.
func (j *journal) close(ctx context.Context) error {
	j.requests.close()
	j.done.Wait()
	err := j.client.Close(ctx)
	if err != nil {
		j.failed(storageClose, 1)
	}
	return err
}

func (j *journal) run() {
	var requests []*entryRequest
	for range j.requests.ready {
		var more bool
		requests, more = j.requests.take(requests)
		j.write(requests)
		if !more {
			j.write(nil) // what is pending, a last time
			return
		}
	}
}

// write makes one write of many requests. If it fails, the batches are refused
// and the rest is tried again: a storage that is full takes deletions.
func (j *journal) write(requests []*entryRequest) {
	var batches []*entryRequest
	leaving := j.pending
	j.pending = nil
	for _, r := range requests {
		if r.reply != nil {
			batches = append(batches, r)
		} else {
			leaving = append(leaving, r)
		}
	}
	if len(batches)+len(leaving) == 0 {
		return
	}
	l := *j.layout
	ops := j.leaving(&l, leaving)
	first := l.next
	for _, r := range batches {
		for i, text := range r.texts {
			ops = append(ops, storage.SetOperation(l.entryKey(entryRef{l.next, i}), text))
			l.entries++
		}
		ops = append(ops, storage.SetOperation(l.batchKey(l.next), frame(appendCount(nil, len(r.texts)))))
		l.next++
	}
	err := j.client.Batch(context.Background(), append(ops, l.save()...)...)
	if err == nil {
		*j.layout = l
		j.forget(leaving)
		for _, r := range batches {
			for i, part := range r.parts {
				part.entry = []entryRef{{first, i}}
			}
			j.live[first] = len(r.parts)
			first++
			r.reply <- nil
		}
		return
	}
	if len(batches) > 0 {
		j.failed(storageAppend, len(batches))
	}
	for _, r := range batches {
		r.reply <- err
	}
	if len(batches) > 0 && len(leaving) > 0 {
		l = *j.layout
		ops = j.leaving(&l, leaving)
		if again := j.client.Batch(context.Background(), append(ops, l.save()...)...); again == nil {
			*j.layout = l
			j.forget(leaving)
			return
		}
	}
	if len(leaving) > 0 {
		j.pending = leaving
		j.failed(storageAcknowledge, 1)
		j.logger.Error("the storage does not take what was passed on; after a restart it would be passed on again", zap.Error(err))
	}
}

// leaving are the operations for what has left.
func (j *journal) leaving(l *layout, requests []*entryRequest) (ops []*storage.Operation) {
	left := map[uint64]int{}
	for _, r := range requests {
		for _, ref := range r.gone {
			ops = append(ops, storage.DeleteOperation(l.entryKey(ref)))
			l.entries--
			if left[ref.batch]++; left[ref.batch] == j.live[ref.batch] {
				ops = append(ops, storage.DeleteOperation(l.batchKey(ref.batch)))
			}
		}
		for _, n := range r.notes {
			if place := [3]int{int(n.table), n.shard, int(n.slot)}; n.table != decidedTable {
				if n.rev < j.revs[place] {
					continue
				}
				j.revs[place] = n.rev
			}
			if n.framed == nil {
				ops = append(ops, storage.DeleteOperation(l.noteKey(n.table, n.shard, n.slot)))
				continue
			}
			l.reach(n.table, n.shard, n.slot)
			ops = append(ops, storage.SetOperation(l.noteKey(n.table, n.shard, n.slot), n.framed))
		}
	}
	l.first = j.oldest(l, left)
	return ops
}

// oldest is the first batch that has entries besides those that left.
func (j *journal) oldest(l *layout, left map[uint64]int) uint64 {
	first := l.first
	for first < l.next && j.live[first] == left[first] {
		first++
	}
	return first
}

func (j *journal) forget(requests []*entryRequest) {
	for _, r := range requests {
		for _, ref := range r.gone {
			if j.live[ref.batch]--; j.live[ref.batch] == 0 {
				delete(j.live, ref.batch)
			}
		}
	}
}

// decodeEntry reads an entry. An earlier release may have written it, or a
// processor with another prefix, so it is cleaned like a batch that comes in.
func decodeEntry(text []byte, own annotate.Namespace) ([]*tracePart, error) {
	payload, err := unframe(text)
	if err != nil {
		return nil, err
	}
	td, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(payload)
	if err != nil {
		return nil, err
	}
	own.CleanResources(td)
	return splitByTrace(td), nil
}
