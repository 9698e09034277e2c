// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package conversations

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"
)

// evictedSet remembers the conversations that were evicted last, by a 64-bit hash
// of their ids, so that a trace of one is not taken for its beginning. At the
// limit the oldest is forgotten.
//
// Evictions are numbered. Records hold them in chunks of so many numbers, each
// in a slot of its own, and a chunk is written anew when one of its numbers is
// added.
type evictedSet struct {
	limit int
	n     uint64         // the number of the next eviction
	base  uint64         // the number of the first that was added
	ring  []uint64       // hashes by number after base, modulo limit
	at    map[uint64]int // the place of a hash in the ring: that of its last eviction
	dirty []uint64       // chunks that were changed, in order
	// recording is set if changes is called.
	recording bool
}

// evictedBytes is the memory that a hash takes, about 56 bytes with its part of the
// index and what growing adds: twice, see Limits.
const evictedBytes = 2 * 56

// bytes is the memory that the set takes.
func (e *evictedSet) bytes() int64 { return int64(len(e.ring)) * evictedBytes }

// evictedChunk is how many numbers a chunk has.
const evictedChunk = 64

// evictedSlots is how many slots the storage needs for so many hashes: those that
// are remembered lie in one chunk more than they fill, and one is being replaced.
func evictedSlots(limit int) int {
	if limit == 0 {
		return 0
	}
	return limit/evictedChunk + 2
}

func newEvictedSet(limit int) *evictedSet { return &evictedSet{limit: limit, at: map[uint64]int{}} }

// Hash returns the hash by which an evicted conversation is remembered. It also chooses
// the conversation's partition, so that a hash finds its partition without the id.
func Hash(id string) uint64 { return xxhash.Sum64String(id) }

// add remembers an evicted conversation.
func (e *evictedSet) add(hash uint64) {
	if e.limit == 0 {
		return
	}
	at := e.place(e.n)
	if at == len(e.ring) {
		e.ring = append(e.ring, hash)
	} else {
		if e.at[e.ring[at]] == at {
			delete(e.at, e.ring[at])
		}
		e.ring[at] = hash
	}
	e.at[hash] = at
	if chunk := e.n / evictedChunk; e.recording && (len(e.dirty) == 0 || e.dirty[len(e.dirty)-1] != chunk) {
		e.dirty = append(e.dirty, chunk)
	}
	e.n++
}

// place returns the index of a number in the ring.
func (e *evictedSet) place(n uint64) int { return int((n - e.base) % uint64(e.limit)) } //nolint:gosec // limits are positive

// has reports whether a conversation was evicted, as far as that is remembered.
func (e *evictedSet) has(hash uint64) bool {
	_, ok := e.at[hash]
	return ok
}

// changes returns the chunks that were changed since the last call.
func (e *evictedSet) changes() []storedEvicted {
	if len(e.dirty) == 0 {
		return nil
	}
	chunks := make([]storedEvicted, 0, len(e.dirty))
	for _, chunk := range e.dirty {
		if s := e.chunk(chunk); len(s.hashes) > 0 {
			chunks = append(chunks, s)
		}
	}
	e.dirty = nil
	return chunks
}

// chunk returns what is remembered of a chunk.
func (e *evictedSet) chunk(chunk uint64) storedEvicted {
	oldest := e.n - uint64(len(e.ring))
	first, end := max(chunk*evictedChunk, oldest), min((chunk+1)*evictedChunk, e.n)
	s := storedEvicted{slot: evictedSlot(chunk, e.limit), first: first}
	for n := first; n < end; n++ {
		s.hashes = append(s.hashes, e.ring[e.place(n)])
	}
	return s
}

// restore fills an empty set with what another one remembered, one number after
// the other.
func (e *evictedSet) restore(run []storedEvicted) {
	if len(run) == 0 || e.limit == 0 {
		return
	}
	recording := e.recording
	e.recording = false
	e.n, e.base = run[0].first, run[0].first
	for i := range run {
		for _, hash := range run[i].hashes {
			e.add(hash)
		}
	}
	e.recording = recording
}

// lastRun returns the chunks of one set whose numbers follow on one another up to
// the last: older ones may not have been replaced yet. whole is false if a set of
// this limit would not hold them in these slots, or if some are missing.
func lastRun(chunks []storedEvicted, limit int) (run []storedEvicted, whole bool) {
	slices.SortFunc(chunks, func(a, b storedEvicted) int { return cmp.Compare(a.first, b.first) })
	begin, count := len(chunks), 0
	for begin > 0 && (begin == len(chunks) || chunks[begin-1].end() == chunks[begin].first) {
		begin--
		count += len(chunks[begin].hashes)
	}
	run = chunks[begin:]
	whole = begin == 0 || count >= limit
	for i := range run {
		whole = whole && limit > 0 && run[i].slot == evictedSlot(run[i].first/evictedChunk, limit)
	}
	return run, whole
}

// end is the number after the last.
func (s *storedEvicted) end() uint64 { return s.first + uint64(len(s.hashes)) }

func evictedSlot(chunk uint64, limit int) int32 {
	return int32(chunk % uint64(evictedSlots(limit))) //nolint:gosec // far below the range
}

// storedEvicted is a chunk of evicted conversations as a record holds it: the number of
// the first, and the hashes of all.
type storedEvicted struct {
	partition int
	slot      int32
	first     uint64
	hashes    []uint64
}

// evictedVersion begins the payload of a chunk.
const evictedVersion = 1

func encodeEvicted(s *storedEvicted) []byte {
	text := binary.AppendUvarint([]byte{evictedVersion}, s.first)
	for _, hash := range s.hashes {
		text = binary.LittleEndian.AppendUint64(text, hash)
	}
	return text
}

func decodeEvicted(slot int32, payload []byte) (s storedEvicted, err error) {
	if len(payload) < 2 || payload[0] != evictedVersion {
		return s, errDamaged
	}
	first, size := binary.Uvarint(payload[1:])
	if size <= 0 || first > 1<<62 {
		return s, errDamaged
	}
	rest := payload[1+size:]
	if len(rest)%8 != 0 || len(rest) == 0 || len(rest)/8 > evictedChunk {
		return s, errDamaged
	}
	s = storedEvicted{slot: slot, first: first}
	for ; len(rest) > 0; rest = rest[8:] {
		s.hashes = append(s.hashes, binary.LittleEndian.Uint64(rest))
	}
	return s, nil
}
