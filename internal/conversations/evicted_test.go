// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package conversations

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The set remembers what a list would that is cut at its front, also after it was
// stored, whenever that was and with whatever limit it is read again.
func TestEvictedAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{0, 1, 8, 63, 64, 65, 200}).Draw(t, "limit")
		set := newEvictedSet(limit)
		set.recording = true
		slots := map[int32][]byte{}
		var list []uint64
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			for range rapid.IntRange(0, 90).Draw(t, "evictions") {
				hash := rapid.Uint64Range(0, 150).Draw(t, "hash")
				set.add(hash)
				if list = append(list, hash); len(list) > limit {
					list = list[1:]
				}
			}
			for hash := range uint64(150) {
				if got, want := set.has(hash), slices.Contains(list, hash); got != want {
					t.Fatalf("%d was evicted: %v, want %v", hash, got, want)
				}
			}
			if len(set.ring) > limit || len(set.at) > limit {
				t.Fatalf("%d and %d hashes, limit %d", len(set.ring), len(set.at), limit)
			}
			for _, chunk := range set.changes() {
				if int(chunk.slot) >= evictedSlots(limit) {
					t.Fatalf("slot %d, of %d", chunk.slot, evictedSlots(limit))
				}
				slots[chunk.slot] = encodeEvicted(&chunk)
			}
			if rapid.IntRange(0, 2).Draw(t, "restart") > 0 {
				continue
			}
			var chunks []storedEvicted
			for slot, text := range slots {
				chunk, err := decodeEvicted(slot, text)
				if err != nil {
					t.Fatal(err)
				}
				chunks = append(chunks, chunk)
			}
			run, whole := lastRun(chunks, limit)
			if !whole && len(chunks) > 0 {
				t.Fatalf("%d chunks do not fit into %d slots", len(chunks), evictedSlots(limit))
			}
			set = newEvictedSet(limit)
			set.recording = true
			set.restore(run)
		}
	})
}

// Whatever a storage holds is read as a chunk or is an error, and a chunk is
// written as it was read.
func FuzzDecodeEvicted(f *testing.F) {
	f.Add(encodeEvicted(&storedEvicted{first: 64, hashes: []uint64{1, 2, 3}}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		chunk, err := decodeEvicted(3, payload)
		if err != nil {
			require.ErrorIs(t, err, errDamaged)
			return
		}
		again, err := decodeEvicted(3, encodeEvicted(&chunk))
		require.NoError(t, err)
		require.Equal(t, chunk, again)
	})
}
