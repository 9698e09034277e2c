// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"encoding/binary"
	"errors"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// decisionCache remembers the traces that were completed last and why, so that a late
// span is not taken for the start of a new trace. It holds at most limit ids; the least
// recently used one is evicted. The entries are in one slice and linked by index, so that
// 100,000 of them are one allocation for the garbage collector, without pointers.
type decisionCache struct {
	limit   int
	index   map[pcommon.TraceID]int32
	entries []decisionEntry
	// newest and oldest are the ends of the list, -1 when it is empty.
	newest, oldest int32
	free           []int32 // slots that a restored cache left open
	seq            uint64  // counts the decisions
}

type decisionEntry struct {
	id           pcommon.TraceID
	newer, older int32
	cause        Cause
}

func newDecisionCache(limit int) *decisionCache {
	return &decisionCache{limit: limit, index: map[pcommon.TraceID]int32{}, newest: -1, oldest: -1}
}

// put remembers that a trace was completed, and returns its slot. A trace that is known
// already, as after late spans, keeps its first cause, and -1 is returned.
func (c *decisionCache) put(id pcommon.TraceID, cause Cause) int32 {
	if c.limit == 0 {
		return -1
	}
	if _, known := c.get(id); known {
		return -1
	}
	var at int32
	if n := len(c.free); n > 0 {
		at = c.free[n-1]
		c.free = c.free[:n-1]
	} else if len(c.entries) < c.limit {
		at = int32(len(c.entries))
		c.entries = append(c.entries, decisionEntry{})
	} else {
		at = c.oldest
		c.unlink(at)
		delete(c.index, c.entries[at].id)
	}
	c.entries[at] = decisionEntry{id: id, cause: cause}
	c.linkNewest(at)
	c.index[id] = at
	c.seq++
	return at
}

// restore fills an empty cache, the newest use last, each decision in its slot. Slots are
// below the limit.
func (c *decisionCache) restore(all []Decision) {
	for _, d := range all {
		for int(d.slot) >= len(c.entries) {
			c.free = append(c.free, int32(len(c.entries))) //nolint:gosec // below limit
			c.entries = append(c.entries, decisionEntry{})
		}
		if _, known := c.index[d.id]; known {
			continue
		}
		c.entries[d.slot] = decisionEntry{id: d.id, cause: d.cause}
		c.linkNewest(d.slot)
		c.index[d.id] = d.slot
		c.seq = max(c.seq, d.seq+1)
	}
	c.free = slices.DeleteFunc(c.free, func(at int32) bool {
		held, ok := c.index[c.entries[at].id]
		return ok && held == at
	})
}

// get returns why the trace was completed, if it is remembered, and counts as a use of
// it.
func (c *decisionCache) get(id pcommon.TraceID) (Cause, bool) {
	at, known := c.index[id]
	if !known {
		return 0, false
	}
	if c.newest != at {
		c.unlink(at)
		c.linkNewest(at)
	}
	return c.entries[at].cause, true
}

func (c *decisionCache) unlink(at int32) {
	e := &c.entries[at]
	if e.newer == -1 {
		c.newest = e.older
	} else {
		c.entries[e.newer].older = e.older
	}
	if e.older == -1 {
		c.oldest = e.newer
	} else {
		c.entries[e.older].newer = e.newer
	}
}

func (c *decisionCache) linkNewest(at int32) {
	e := &c.entries[at]
	e.newer, e.older = -1, c.newest
	if c.newest == -1 {
		c.oldest = at
	} else {
		c.entries[c.newest].newer = at
	}
	c.newest = at
}

// Decision is a completed trace, as the log holds it.
type Decision struct {
	shard int
	slot  int32
	id    pcommon.TraceID
	cause Cause
	seq   uint64 // grows with each decision, so that the last ones are known
}

var errDamaged = errors.New("the record is damaged")

// record returns the decision as the log holds it.
func (d *Decision) record() wal.Record {
	payload := append(d.id[:len(d.id):len(d.id)], byte(d.cause))
	return wal.Record{Table: wal.Decisions, Shard: d.shard, Slot: d.slot, Payload: binary.LittleEndian.AppendUint64(payload, d.seq)}
}

// ReadDecision reads a record of the log.
func ReadDecision(r wal.Record) (d Decision, err error) {
	if len(r.Payload) != 25 {
		return d, errDamaged
	}
	d = Decision{shard: r.Shard, slot: r.Slot, cause: Cause(r.Payload[16]), seq: binary.LittleEndian.Uint64(r.Payload[17:])}
	copy(d.id[:], r.Payload)
	return d, nil
}

// sortDecisions puts the last ones last.
func sortDecisions(all []Decision) {
	slices.SortStableFunc(all, func(a, b Decision) int { return int(int64(a.seq) - int64(b.seq)) }) //nolint:gosec // counters
}

// Fits reports whether decisions of a log are in slots that these shards would give them.
// slots are the numbers of slots in use, by shard.
func (s *Shards) Fits(slots []int32) bool {
	if len(slots) != len(s.shards) {
		return false
	}
	for _, n := range slots {
		if int(n) > s.decisions {
			return false
		}
	}
	return true
}

// Reshard gives decisions the slots that they have in these shards, after the number of
// shards or a limit has changed, and returns their records. Where there is room for
// fewer, the last ones stay.
func (s *Shards) Reshard(all []Decision) (kept []Decision, records []wal.Record) {
	sortDecisions(all)
	room := make([]int32, len(s.shards))
	for _, d := range slices.Backward(all) {
		d.shard = ShardOf(d.id, len(s.shards))
		if d.slot = room[d.shard]; int(d.slot) >= s.decisions {
			continue
		}
		room[d.shard]++
		records = append(records, d.record())
		kept = append(kept, d)
	}
	slices.Reverse(kept)
	return kept, records
}
