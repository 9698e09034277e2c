// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package conversations

import (
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// states keeps the states of conversations between their traces, at most Sessions of
// them, in at most Bytes of memory, and each for TTL after its last trace. It remembers
// the ones that it evicted. States are kept as bytes, without pointers; those of a trace
// that is evaluated are unpacked for that long. The list by age is linked by index
// through one slice.
//
// It is used in turns: Conversation for each conversation of a trace, then keep, or drop
// if scoring failed.
type states struct {
	limits Limits // of this partition

	index          map[string]int32
	entries        []entry
	newest, oldest int32 // -1 if no entry is used
	free           int32 // the first unused entry, linked by older; -1 if all are used

	content int64 // bytes of the ids and states of entries, as counted

	open    map[string]*score.Conversation
	evicted *evictedSet

	// changed are the slots that were written or emptied, in order, if recording is set.
	recording bool
	changed   []change
	version   uint64
	// forgot counts states that were given up.
	forgot func(n int, cause Cause)
}

type entry struct {
	id           string
	state        []byte
	used         time.Time
	newer, older int32
	// revision is the number of the latest revision that evaluated one of its traces
	// since the processor started, 0 for none.
	revision int
}

// change is a slot with its content. state is nil if the slot is empty.
type change struct {
	slot    int32
	id      string
	used    time.Time
	state   []byte
	version uint64
}

// changes returns the changes since the last call.
func (c *states) changes() []change {
	changed := c.changed
	c.changed = nil
	return changed
}

func (c *states) note(at int32) {
	if c.recording {
		e := &c.entries[at]
		c.version++
		c.changed = append(c.changed, change{at, e.id, e.used, e.state, c.version})
	}
}

// restore fills empty states, the last use last, each in its slot. Slots are below the
// limit.
func (c *states) restore(all []storedState) {
	for _, s := range all {
		for int(s.slot) >= len(c.entries) {
			c.entries = append(c.entries, entry{})
		}
		if _, known := c.index[s.id]; known {
			continue
		}
		c.entries[s.slot] = entry{id: s.id, state: s.state, used: s.used}
		c.link(s.slot)
		c.index[s.id] = s.slot
	}
	for at := range c.entries {
		if held, ok := c.index[c.entries[at].id]; !ok || int(held) != at {
			c.entries[at] = entry{older: c.free}
			c.free = int32(at) //nolint:gosec // below limit
			continue
		}
		c.content += c.entries[at].bytes()
	}
}

// Cause is why the state of a conversation was given up.
type Cause string

// The causes, each with the name of the limit.
const (
	CauseTTL        Cause = "session_ttl"
	CauseSessions   Cause = "max_sessions"
	CauseUnreadable Cause = "unreadable"
	CausePerTrace   Cause = "conversations_per_trace"
	CauseStateBytes Cause = "max_session_bytes"
	CauseBytes      Cause = "max_bytes"
)

func newStates(l Limits, forgot func(int, Cause)) *states {
	return &states{
		limits: l, forgot: forgot,
		index: map[string]int32{}, newest: -1, oldest: -1, free: -1,
		open: map[string]*score.Conversation{}, evicted: newEvictedSet(l.maxEvicted()),
	}
}

// entryBytes is the memory that a slot for a state takes, with its part of the
// index and what growing adds: twice, see Limits.
const entryBytes = 2 * 160

// bytes is the memory that the id and the state take.
func (e *entry) bytes() int64 {
	return int64(2 * (stringBytes(e.id) + roundUp(len(e.state))))
}

// Bytes is the memory that all states and the hashes of evicted conversations take,
// counted as in footprint.
func (c *states) Bytes() int64 { return c.stateBytes() + c.evicted.bytes() }

func (c *states) stateBytes() int64 { return c.content + int64(len(c.entries))*entryBytes }

// fit evicts the states that were used longest ago until the rest is within
// the limit.
func (c *states) fit() {
	n := 0
	for c.oldest >= 0 && c.stateBytes() > c.limits.Bytes {
		c.evict(c.oldest)
		n++
	}
	if n > 0 {
		c.forgot(n, CauseBytes)
	}
}

// Conversation returns the state of a conversation for a trace that the revision
// evaluates.
func (c *states) Conversation(id string, r *Revision) *score.Conversation {
	if conversation, ok := c.open[id]; ok {
		return conversation
	}
	conversation := c.find(id, r)
	c.open[id] = conversation
	return conversation
}

// open unpacks the state for a trace that the revision evaluates.
func (e *entry) open(r *Revision) (*score.Conversation, error) {
	if e.revision > r.Number {
		return r.Scorer.RestoreLaterConversation(e.state)
	}
	conversation, err := r.Scorer.RestoreConversation(e.state)
	if err == nil && e.revision > 0 && e.revision < r.Unfollowed {
		conversation.PolicyChanged() // meanwhile nobody followed it
	}
	return conversation, err
}

// find returns the state of a conversation, or a new one. Where no states are
// kept, each may have been evicted.
func (c *states) find(id string, r *Revision) *score.Conversation {
	if at, ok := c.index[id]; ok {
		conversation, err := c.entries[at].open(r)
		if err == nil {
			return conversation
		}
		c.forgot(1, CauseUnreadable)
		return score.EvictedConversation()
	}
	if c.limits.Sessions == 0 || c.evicted.has(Hash(id)) {
		return score.EvictedConversation()
	}
	return &score.Conversation{}
}

// Skip evicts the state of a conversation whose trace is not followed.
func (c *states) Skip(id string) {
	if at, ok := c.index[id]; ok {
		c.evict(at)
		c.forgot(1, CausePerTrace)
		return
	}
	c.evicted.add(Hash(id))
}

// evict forgets a conversation's state and remembers that it did.
func (c *states) evict(at int32) {
	c.evicted.add(Hash(c.entries[at].id))
	c.remove(at)
}

// keep puts away the conversations that the last trace was evaluated with.
func (c *states) keep(r *Revision, now time.Time) {
	for id, conversation := range c.open {
		state := r.Scorer.AppendConversation(nil, conversation)
		if len(state) > c.limits.StateBytes && c.limits.Sessions > 0 {
			c.refuse(id)
			continue
		}
		c.put(id, state, now)
		if at, ok := c.index[id]; ok {
			c.entries[at].revision = max(c.entries[at].revision, r.Number)
		}
	}
	clear(c.open)
	c.fit()
}

// refuse forgets a conversation whose state is too large.
func (c *states) refuse(id string) {
	if at, ok := c.index[id]; ok {
		c.evict(at)
	} else {
		c.evicted.add(Hash(id))
	}
	c.forgot(1, CauseStateBytes)
}

// drop forgets what a trace did to its conversations.
func (c *states) drop() { clear(c.open) }

// put stores the state of a conversation as the one used last. If there is no
// room, the one that was used longest ago is forgotten.
func (c *states) put(id string, state []byte, now time.Time) {
	if c.limits.Sessions == 0 {
		return
	}
	state = append(make([]byte, 0, len(state)), state...) // no spare room
	at, known := c.index[id]
	switch {
	case known:
		c.unlink(at)
		c.content -= c.entries[at].bytes()
	case len(c.index) >= c.limits.Sessions:
		c.evict(c.oldest)
		c.forgot(1, CauseSessions)
		fallthrough
	default:
		at = c.unused()
		c.index[id] = at
		c.entries[at].id = id
	}
	c.entries[at].state, c.entries[at].used = state, now
	c.content += c.entries[at].bytes()
	c.link(at)
	c.note(at)
}

// expire forgets the conversations that no trace came of for ttl.
func (c *states) expire(now time.Time) {
	n := 0
	for c.oldest >= 0 && now.Sub(c.entries[c.oldest].used) >= c.limits.TTL {
		c.evict(c.oldest)
		n++
	}
	if n > 0 {
		c.forgot(n, CauseTTL)
	}
}

// next is when expire will have something to do.
func (c *states) next() (time.Time, bool) {
	if c.oldest < 0 {
		return time.Time{}, false
	}
	return c.entries[c.oldest].used.Add(c.limits.TTL), true
}

// Len is how many conversations are kept.
func (c *states) Len() int { return len(c.index) }

func (c *states) unused() int32 {
	if at := c.free; at >= 0 {
		c.free = c.entries[at].older
		return at
	}
	c.entries = append(c.entries, entry{})
	return int32(len(c.entries) - 1) //nolint:gosec // at most limit
}

func (c *states) remove(at int32) {
	c.unlink(at)
	delete(c.index, c.entries[at].id)
	c.content -= c.entries[at].bytes()
	c.entries[at] = entry{older: c.free}
	c.free = at
	c.note(at)
	if len(c.index) == 0 { // the places are memory, too
		c.entries, c.free, c.index = nil, -1, map[string]int32{}
	}
}

func (c *states) unlink(at int32) {
	e := &c.entries[at]
	if e.newer < 0 {
		c.newest = e.older
	} else {
		c.entries[e.newer].older = e.older
	}
	if e.older < 0 {
		c.oldest = e.newer
	} else {
		c.entries[e.older].newer = e.newer
	}
}

func (c *states) link(at int32) {
	e := &c.entries[at]
	e.newer, e.older = -1, c.newest
	if c.newest < 0 {
		c.oldest = at
	} else {
		c.entries[c.newest].newer = at
	}
	c.newest = at
}

func stringBytes(s string) int { return roundUp(len(s)) }

// roundUp returns what the allocator makes of n bytes, about.
func roundUp(n int) int { return (n + n/16 + 15) &^ 15 }
