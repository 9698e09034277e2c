// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package mailbox

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// The items of each sender are taken in order, each once, until the mailbox is closed and
// empty, and no sender waits for the receiver.
func TestItemsAreTakenOnce(t *testing.T) {
	const senders, each = 4, 3000
	m := New[[2]int]()
	var sending sync.WaitGroup
	for s := range senders {
		sending.Go(func() {
			for n := range each {
				m.Put([2]int{s, n})
			}
		})
	}
	sending.Wait() // nothing was taken yet
	m.Close()
	var next [senders]int
	var items [][2]int
	for more := true; more; {
		<-m.Ready()
		items, more = m.Take(items)
		for _, item := range items {
			require.Equal(t, next[item[0]], item[1])
			next[item[0]]++
		}
	}
	for _, n := range next {
		require.Equal(t, each, n)
	}
}

// The memory of items that were taken is reused, without what they reference, unless it
// is large.
func TestItemsAreReleased(t *testing.T) {
	m := New[*int]()
	m.Put(new(int))
	before, more := m.Take(nil)
	require.True(t, more)
	require.Len(t, before, 1)
	items, _ := m.Take(before)
	require.Empty(t, items)
	require.Nil(t, before[0])
	m.Put(new(int))
	again, _ := m.Take(nil)
	require.Same(t, &before[0], &again[0], "the slice is reused")
	m.Take(make([]*int, maxSpare+1))
	m.Put(nil)
	items, _ = m.Take(nil)
	require.LessOrEqual(t, cap(items), maxSpare)
}

// Wake makes the receiver look without an item, and does not wait.
func TestWake(t *testing.T) {
	m := New[int]()
	m.Wake()
	m.Wake()
	<-m.Ready()
	items, more := m.Take(nil)
	require.Empty(t, items)
	require.True(t, more)
	select {
	case <-m.Ready():
		t.Fatal("ready without an item")
	default:
	}
}
