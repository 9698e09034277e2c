// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
)

// conversations keeps the state of conversations between their traces, at most
// limit of them, in at most maxBytes of memory, and each for ttl after its last
// trace. It remembers those that it had to evict. Those that wait lie as
// bytes, without pointers; one that a trace is judged by is unpacked for that
// long. The list by age is linked by index through one slice.
//
// It is used in turns: Conversation as often as a trace has conversations, then
// keep, or drop if judging failed.
type conversations struct {
	conversationLimits

	index          map[string]int32
	entries        []conversationEntry
	newest, oldest int32 // -1 if there are none
	free           int32 // the first unused entry, linked by older; -1 if there is none

	content int64 // bytes of the ids and states of entries, as counted

	open    map[string]*score.Conversation
	evicted *evictedSet

	// changed are the places that were written or taken away, in order, if
	// somebody wants to know: a write-ahead log.
	noting  bool
	changed []conversationChange
	rev     uint64
	// forgot is told how many were forgotten, and why.
	forgot func(n int, cause forgottenFor)
}

// conversationLimits are one shard's part of the settings that bound the states of
// conversations.
type conversationLimits struct {
	limit         int
	maxBytes      int64 // of all states, counted as in footprint
	maxStateBytes int   // of one state
	ttl           time.Duration
}

// conversationLimits returns the limits of each of n shards. All states take at most
// half of max_bytes, so that spans are buffered however many there are, and spans
// evict no state.
func (c *Config) conversationLimits() conversationLimits {
	n := c.shards()
	return conversationLimits{share(c.MaxSessions, n), share(c.MaxBytes/2, n), c.MaxSessionBytes, c.SessionTTL}
}

// maxEvicted is how many evicted conversations are remembered: evictedFactor for
// each state that may be kept, in at most three eighths of max_bytes, but one chunk.
func (l *conversationLimits) maxEvicted() int {
	wanted := evictedFactor * l.limit
	return min(wanted, max(evictedChunk, int(min(l.maxBytes*3/4/evictedBytes, int64(wanted)))))
}

type conversationEntry struct {
	id           string
	state        []byte
	used         time.Time
	newer, older int32
	// revision is the number of the latest revision that evaluated one of its traces
	// since the processor started, 0 for none.
	revision int
}

// conversationChange is a place and what stands there now; state is nil if that
// is nothing.
type conversationChange struct {
	slot  int32
	id    string
	used  time.Time
	state []byte
	rev   uint64
}

// changes returns the changes since it was called last.
func (c *conversations) changes() []conversationChange {
	changed := c.changed
	c.changed = nil
	return changed
}

func (c *conversations) note(at int32) {
	if c.noting {
		e := &c.entries[at]
		c.rev++
		c.changed = append(c.changed, conversationChange{at, e.id, e.used, e.state, c.rev})
	}
}

// restore fills an empty store with what another one kept, the last use last,
// each at its place. Places are below limit.
func (c *conversations) restore(all []storedConversation) {
	for _, s := range all {
		for int(s.slot) >= len(c.entries) {
			c.entries = append(c.entries, conversationEntry{})
		}
		if _, known := c.index[s.id]; known {
			continue
		}
		c.entries[s.slot] = conversationEntry{id: s.id, state: s.state, used: s.used}
		c.link(s.slot)
		c.index[s.id] = s.slot
	}
	for at := range c.entries {
		if held, ok := c.index[c.entries[at].id]; !ok || int(held) != at {
			c.entries[at] = conversationEntry{older: c.free}
			c.free = int32(at) //nolint:gosec // below limit
			continue
		}
		c.content += c.entries[at].bytes()
	}
}

// forgottenFor is why a conversation's state was given up.
type forgottenFor string

const (
	forgottenTTL      forgottenFor = "session_ttl"
	forgottenLimit    forgottenFor = "max_sessions"
	forgottenUnusable forgottenFor = "unreadable"
	forgottenSkipped  forgottenFor = "conversations_per_trace"
	forgottenBytes    forgottenFor = "max_session_bytes"
	forgottenBudget   forgottenFor = "max_bytes"
)

func newConversations(l conversationLimits, forgot func(int, forgottenFor)) *conversations {
	return &conversations{
		conversationLimits: l, forgot: forgot,
		index: map[string]int32{}, newest: -1, oldest: -1, free: -1,
		open: map[string]*score.Conversation{}, evicted: newEvictedSet(l.maxEvicted()),
	}
}

// entryBytes is the memory that a place for a state takes, with its part of the
// index and what growing adds: twice, as in footprint.
const entryBytes = 2 * 160

// bytes is the memory that the id and the state take, counted as in footprint.
func (e *conversationEntry) bytes() int64 {
	return int64(2 * (textBytes(e.id) + roundUp(len(e.state))))
}

// Bytes is the memory that all states and the hashes of evicted conversations take,
// counted as in footprint.
func (c *conversations) Bytes() int64 { return c.stateBytes() + c.evicted.bytes() }

func (c *conversations) stateBytes() int64 { return c.content + int64(len(c.entries))*entryBytes }

// fit evicts the states that were used longest ago until the rest is within
// maxBytes.
func (c *conversations) fit() {
	n := 0
	for c.oldest >= 0 && c.stateBytes() > c.maxBytes {
		c.evict(c.oldest)
		n++
	}
	if n > 0 {
		c.forgot(n, forgottenBudget)
	}
}

// Conversation returns the state of a conversation for a trace that the revision
// evaluates.
func (c *conversations) Conversation(id string, r *revision.Revision) *score.Conversation {
	if conversation, ok := c.open[id]; ok {
		return conversation
	}
	conversation := c.find(id, r)
	c.open[id] = conversation
	return conversation
}

// open unpacks the state for a trace that the revision evaluates.
func (e *conversationEntry) open(r *revision.Revision) (*score.Conversation, error) {
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
func (c *conversations) find(id string, r *revision.Revision) *score.Conversation {
	if at, ok := c.index[id]; ok {
		conversation, err := c.entries[at].open(r)
		if err == nil {
			return conversation
		}
		c.forgot(1, forgottenUnusable)
		return score.EvictedConversation()
	}
	if c.limit == 0 || c.evicted.has(hashConversation(id)) {
		return score.EvictedConversation()
	}
	return &score.Conversation{}
}

// Skip implements score.Conversations.
func (c *conversations) Skip(id string) {
	if at, ok := c.index[id]; ok {
		c.evict(at)
		c.forgot(1, forgottenSkipped)
		return
	}
	c.evicted.add(hashConversation(id))
}

// evict forgets a conversation's state and remembers that it did.
func (c *conversations) evict(at int32) {
	c.evicted.add(hashConversation(c.entries[at].id))
	c.remove(at)
}

// keep puts away the conversations that the last trace was judged by.
func (c *conversations) keep(r *revision.Revision, now time.Time) {
	for id, conversation := range c.open {
		state := r.Scorer.AppendConversation(nil, conversation)
		if len(state) > c.maxStateBytes && c.limit > 0 {
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
func (c *conversations) refuse(id string) {
	if at, ok := c.index[id]; ok {
		c.evict(at)
	} else {
		c.evicted.add(hashConversation(id))
	}
	c.forgot(1, forgottenBytes)
}

// drop forgets what a trace did to its conversations.
func (c *conversations) drop() { clear(c.open) }

// put stores the state of a conversation as the one used last. If there is no
// room, the one that was used longest ago is forgotten.
func (c *conversations) put(id string, state []byte, now time.Time) {
	if c.limit == 0 {
		return
	}
	state = append(make([]byte, 0, len(state)), state...) // no spare room
	at, known := c.index[id]
	switch {
	case known:
		c.unlink(at)
		c.content -= c.entries[at].bytes()
	case len(c.index) >= c.limit:
		c.evict(c.oldest)
		c.forgot(1, forgottenLimit)
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
func (c *conversations) expire(now time.Time) {
	n := 0
	for c.oldest >= 0 && now.Sub(c.entries[c.oldest].used) >= c.ttl {
		c.evict(c.oldest)
		n++
	}
	if n > 0 {
		c.forgot(n, forgottenTTL)
	}
}

// next is when expire will have something to do.
func (c *conversations) next() (time.Time, bool) {
	if c.oldest < 0 {
		return time.Time{}, false
	}
	return c.entries[c.oldest].used.Add(c.ttl), true
}

// Len is how many conversations are kept.
func (c *conversations) Len() int { return len(c.index) }

func (c *conversations) unused() int32 {
	if at := c.free; at >= 0 {
		c.free = c.entries[at].older
		return at
	}
	c.entries = append(c.entries, conversationEntry{})
	return int32(len(c.entries) - 1) //nolint:gosec // at most limit
}

func (c *conversations) remove(at int32) {
	c.unlink(at)
	delete(c.index, c.entries[at].id)
	c.content -= c.entries[at].bytes()
	c.entries[at] = conversationEntry{older: c.free}
	c.free = at
	c.note(at)
	if len(c.index) == 0 { // the places are memory, too
		c.entries, c.free, c.index = nil, -1, map[string]int32{}
	}
}

func (c *conversations) unlink(at int32) {
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

func (c *conversations) link(at int32) {
	e := &c.entries[at]
	e.newer, e.older = -1, c.newest
	if c.newest < 0 {
		c.oldest = at
	} else {
		c.entries[c.newest].newer = at
	}
	c.newest = at
}
