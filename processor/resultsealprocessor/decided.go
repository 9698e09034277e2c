// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import "go.opentelemetry.io/collector/pdata/pcommon"

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
// as after late spans, keeps how it was finished first.
func (c *decidedCache) put(id pcommon.TraceID, by finishedBy) {
	if c.limit == 0 {
		return
	}
	if _, known := c.get(id); known {
		return
	}
	var at int32
	if len(c.entries) < c.limit {
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
