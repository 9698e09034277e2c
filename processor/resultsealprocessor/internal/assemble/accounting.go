// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"sync"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// Accounting accounts for spans from their acceptance until they left: for their memory,
// against max_bytes, and for their entries in the write-ahead log. Any number of
// goroutines may use it.
type Accounting struct {
	Admission
	log    *wal.Log // nil without a storage
	shards int
}

// NewAccounting returns the accounting of an empty processor.
func NewAccounting(maxBytes int64) *Accounting {
	return &Accounting{Admission: Admission{max: maxBytes}}
}

// receipt is the accounting of a trace.
type receipt struct {
	bytes    int64     // of memory
	refs     []wal.Ref // the entries that its spans came with
	inFlight *inFlight // in mode stream
	// slot is the slot of the decision plus one; 0 if there is no new one.
	slot int32
	seq  uint64
}

// Append writes the parts of a batch to the log. If that fails, nothing was accepted.
func (a *Accounting) Append(parts []*Part) error {
	payloads := make([][]byte, len(parts))
	for i, part := range parts {
		payloads[i] = part.marshal()
	}
	refs, err := a.log.Append(payloads)
	if err != nil {
		return err
	}
	for i, part := range parts {
		part.refs = refs[i : i+1 : i+1]
	}
	return nil
}

// HoldEarly accounts for spans that CutChildren moved out of a part.
func (a *Accounting) HoldEarly(p *Part) {
	a.Hold(p.bytes)
	p.inFlight.begin()
}

// ReleasePart ends the accounting of spans that left without their trace. If kept is
// set, they were not forwarded and stay in the storage.
func (a *Accounting) ReleasePart(p *Part, kept bool) {
	a.Release(p.bytes)
	switch {
	case a.log == nil:
	case p.inFlight != nil:
		p.inFlight.end(kept, a.log)
	case !kept:
		a.log.Acknowledge(p.refs, nil)
	}
}

// ReleaseTrace ends the accounting of a trace that left, and writes the records that it
// changed. If kept is set, its spans were not forwarded and stay in the storage.
func (a *Accounting) ReleaseTrace(t *Trace, records []wal.Record, kept bool) {
	r := &t.receipt
	a.Release(r.bytes)
	if a.log == nil {
		return
	}
	if r.slot > 0 {
		d := Decision{shard: ShardOf(t.ID, a.shards), slot: r.slot - 1, id: t.ID, cause: t.Cause, seq: r.seq}
		records = append(records, d.record())
	}
	switch {
	case r.inFlight != nil:
		r.inFlight.complete(r.refs, records, kept, a.log)
	case !kept:
		a.log.Acknowledge(r.refs, records)
	}
}

// inFlight counts the spans of a trace that are forwarded early and have not left yet.
// The trace's entries in the log stay as long as one of them has not: they may leave by
// another emitter than the trace's verdict.
type inFlight struct {
	mu        sync.Mutex
	parts     int  // that have not left
	kept      bool // one stays in the storage
	completed bool
	refs      []wal.Ref
	records   []wal.Record
}

// begin counts a part.
func (f *inFlight) begin() {
	f.mu.Lock()
	f.parts++
	f.mu.Unlock()
}

// end uncounts a part that left, or was kept.
func (f *inFlight) end(kept bool, log *wal.Log) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parts--
	f.kept = f.kept || kept
	f.acknowledge(log)
}

// complete is called when the trace itself left, or was kept.
func (f *inFlight) complete(refs []wal.Ref, records []wal.Record, kept bool, log *wal.Log) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.completed, f.refs, f.records = true, refs, records
	f.kept = f.kept || kept
	f.acknowledge(log)
}

func (f *inFlight) acknowledge(log *wal.Log) {
	if f.completed && f.parts == 0 && !f.kept {
		log.Acknowledge(f.refs, f.records)
	}
}
