// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package conversations

import (
	"cmp"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"time"
)

// Record is the content of a slot of a store: the state of a conversation, or hashes of
// evicted conversations.
type Record struct {
	Evicted   bool // hashes instead of a state
	Partition int
	Slot      int32
	// Payload is nil for a slot that becomes empty.
	Payload []byte
	// Version grows with each change of a partition. Of two records of a slot the later
	// one counts, in whatever order they are stored: a trace of several conversations may
	// leave after a later trace of one of them.
	Version uint64
}

var errDamaged = errors.New("the record is damaged")

// storedState is the state of a conversation as a record holds it.
type storedState struct {
	partition int
	slot      int32
	id        string
	used      time.Time
	state     []byte
}

func encodeState(id string, used time.Time, state []byte) []byte {
	text := binary.LittleEndian.AppendUint64(nil, uint64(used.UnixNano())) //nolint:gosec // comes back the same
	text = append(binary.AppendUvarint(text, uint64(len(id))), id...)      //nolint:gosec // a length
	return append(text, state...)
}

func decodeState(slot int32, payload []byte) (s storedState, err error) {
	if len(payload) < 9 {
		return s, errDamaged
	}
	s = storedState{slot: slot, used: time.Unix(0, int64(binary.LittleEndian.Uint64(payload)))} //nolint:gosec // as above
	n, size := binary.Uvarint(payload[8:])
	if rest := payload[8+max(size, 0):]; size > 0 && n <= uint64(len(rest)) {
		s.id, s.state = string(rest[:n]), slices.Clone(rest[n:])
		return s, nil
	}
	return s, errDamaged
}

// Stored collects the records of a store, to restore it.
type Stored struct {
	states  []storedState
	evicted []storedEvicted
}

// Add adds a record, or returns an error if it cannot be read.
func (s *Stored) Add(r Record) error {
	if r.Evicted {
		chunk, err := decodeEvicted(r.Slot, r.Payload)
		if err != nil {
			return err
		}
		chunk.partition = r.Partition
		s.evicted = append(s.evicted, chunk)
		return nil
	}
	state, err := decodeState(r.Slot, r.Payload)
	if err != nil {
		return err
	}
	state.partition = r.Partition
	s.states = append(s.states, state)
	return nil
}

// sort puts the last use last.
func (s *Stored) sort() {
	slices.SortStableFunc(s.states, func(a, b storedState) int { return a.used.Compare(b.used) })
}

// evictedByPartition returns the chunks of each partition.
func (s *Stored) evictedByPartition() map[int][]storedEvicted {
	all := map[int][]storedEvicted{}
	for _, chunk := range s.evicted {
		all[chunk.partition] = append(all[chunk.partition], chunk)
	}
	return all
}

// Fits reports whether the records are in slots that this store would give them. slots
// are the numbers of slots of states in use, by partition.
func (s *Store) Fits(slots []int32, stored *Stored) bool {
	if len(slots) != len(s.partitions) {
		return false
	}
	for _, n := range slots {
		if int(n) > s.limits.Sessions {
			return false
		}
	}
	for _, chunks := range stored.evictedByPartition() {
		if _, whole := lastRun(chunks, s.limits.maxEvicted()); !whole {
			return false
		}
	}
	return true
}

// Restore fills an empty store. From then on its changes are recorded; the first ones
// are what does not fit into its limits.
func (s *Store) Restore(stored *Stored) {
	stored.sort()
	states := make([][]storedState, len(s.partitions))
	for _, state := range stored.states {
		states[state.partition] = append(states[state.partition], state)
	}
	evicted := stored.evictedByPartition()
	for i, p := range s.partitions {
		p.kept.restore(states[i])
		run, _ := lastRun(evicted[i], p.kept.evicted.limit)
		p.kept.evicted.restore(run)
		p.kept.recording, p.kept.evicted.recording = true, true
		p.kept.fit()
		p.count(s.observer)
	}
}

// Reshard gives stored records the slots that they have in this store, after the number
// of partitions or a limit has changed, and returns them. Where there is room for fewer,
// the states that were used last stay.
func (s *Store) Reshard(stored *Stored) (records []Record) {
	stored.sort()
	n := len(s.partitions)
	room := make([]int32, n)
	var states []storedState
	var evicted []uint64 // the last used first
	for _, state := range slices.Backward(stored.states) {
		state.partition = Partition(state.id, n)
		if state.slot = room[state.partition]; int(state.slot) >= s.limits.Sessions {
			evicted = append(evicted, Hash(state.id))
			continue
		}
		room[state.partition]++
		records = append(records, Record{Partition: state.partition, Slot: state.slot, Payload: encodeState(state.id, state.used, state.state)})
		states = append(states, state)
	}
	slices.Reverse(states)
	sets := s.divideEvicted(stored)
	stored.states, stored.evicted = states, nil
	for i, set := range sets {
		for _, hash := range slices.Backward(evicted) {
			if partitionOf(hash, n) == i {
				set.add(hash)
			}
		}
		for _, chunk := range set.changes() {
			chunk.partition = i
			records = append(records, Record{Evicted: true, Partition: i, Slot: chunk.slot, Payload: encodeEvicted(&chunk)})
			stored.evicted = append(stored.evicted, chunk)
		}
	}
	return records
}

// divideEvicted puts evicted conversations into the sets of their hashes' partitions,
// those of each former partition in their order.
func (s *Store) divideEvicted(stored *Stored) []*evictedSet {
	sets := make([]*evictedSet, len(s.partitions))
	for i := range sets {
		sets[i] = newEvictedSet(s.limits.maxEvicted())
		sets[i].recording = true
	}
	// From the oldest, counted from the last of each partition, on.
	type numbered struct {
		age  uint64
		hash uint64
	}
	var all []numbered
	former := stored.evictedByPartition()
	for _, partition := range slices.Sorted(maps.Keys(former)) {
		chunks := former[partition]
		slices.SortFunc(chunks, func(a, b storedEvicted) int { return cmp.Compare(a.first, b.first) })
		end := chunks[len(chunks)-1].end()
		for i := range chunks {
			for k, hash := range chunks[i].hashes {
				all = append(all, numbered{end - chunks[i].first - uint64(k), hash}) //nolint:gosec // an index
			}
		}
	}
	slices.SortStableFunc(all, func(a, b numbered) int { return cmp.Compare(b.age, a.age) })
	for _, e := range all {
		sets[partitionOf(e.hash, len(sets))].add(e.hash)
	}
	return sets
}
