// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// decidedCache remembers the traces that were finished last and how, so that
// a late span is told from the start of a new trace. It holds at most limit
// ids; the one that was asked for longest ago makes room. The entries lie in
// one slice and are linked by index, so that 100,000 of them are one
// allocation for the collector of garbage to look at, without pointers.
type decidedCache struct {
	limit   int
	index   map[pcommon.TraceID]int32
	entries []decidedEntry
	// newest and oldest are the ends of the list, -1 when it is empty.
	newest, oldest int32
	free           []int32 // places that a restored cache left open
	seq            uint64  // counts what was put
}

type decidedEntry struct {
	id           pcommon.TraceID
	newer, older int32
	by           finishedBy
}

func newDecidedCache(limit int) *decidedCache {
	return &decidedCache{limit: limit, index: map[pcommon.TraceID]int32{}, newest: -1, oldest: -1}
}

// put remembers that the trace was finished. A trace that is known already,
// as after late spans, keeps how it was finished first. The place where it
// stands is returned, -1 for none that is new.
func (c *decidedCache) put(id pcommon.TraceID, by finishedBy) int32 {
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
		c.entries = append(c.entries, decidedEntry{})
	} else {
		at = c.oldest
		c.unlink(at)
		delete(c.index, c.entries[at].id)
	}
	c.entries[at] = decidedEntry{id: id, by: by}
	c.linkNewest(at)
	c.index[id] = at
	c.seq++
	return at
}

// restore fills an empty cache with what another one remembered, the newest use
// last, each at its place. Places are below limit.
func (c *decidedCache) restore(all []storedDecided) {
	for _, d := range all {
		for int(d.slot) >= len(c.entries) {
			c.free = append(c.free, int32(len(c.entries))) //nolint:gosec // below limit
			c.entries = append(c.entries, decidedEntry{})
		}
		if _, known := c.index[d.id]; known {
			continue
		}
		c.entries[d.slot] = decidedEntry{id: d.id, by: d.by}
		c.linkNewest(d.slot)
		c.index[d.id] = d.slot
		c.seq = max(c.seq, d.seq+1)
	}
	c.free = slices.DeleteFunc(c.free, func(at int32) bool {
		held, ok := c.index[c.entries[at].id]
		return ok && held == at
	})
}

// get reports how the trace was finished, if it is remembered, and counts as
// a use of it.
func (c *decidedCache) get(id pcommon.TraceID) (finishedBy, bool) {
	at, known := c.index[id]
	if !known {
		return 0, false
	}
	if c.newest != at {
		c.unlink(at)
		c.linkNewest(at)
	}
	return c.entries[at].by, true
}

func (c *decidedCache) unlink(at int32) {
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

func (c *decidedCache) linkNewest(at int32) {
	e := &c.entries[at]
	e.newer, e.older = -1, c.newest
	if c.newest == -1 {
		c.oldest = at
	} else {
		c.entries[c.newest].newer = at
	}
	c.newest = at
}
