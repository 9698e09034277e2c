// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package mailbox hands items to one goroutine without blocking its senders.
//
// A mailbox has no bound of its own: its items are bounded by what is admitted to the
// processor at all. So goroutines that hand each other work cannot block each other.
package mailbox

import "sync"

// Mailbox is an unbounded queue for one receiver. Any number of goroutines may put
// items; one goroutine waits for Ready and calls Take.
type Mailbox[T any] struct {
	mu     sync.Mutex
	items  []T
	closed bool
	ready  chan struct{} // holds a token while there is something to take, or after Close
}

// New returns an empty mailbox.
func New[T any]() *Mailbox[T] {
	return &Mailbox[T]{ready: make(chan struct{}, 1)}
}

// Ready returns a channel that is readable when there are items to take, and after
// Close.
func (m *Mailbox[T]) Ready() <-chan struct{} { return m.ready }

// Put adds an item. It must not be called after Close.
func (m *Mailbox[T]) Put(item T) {
	m.mu.Lock()
	m.items = append(m.items, item)
	m.mu.Unlock()
	m.signal()
}

// Close ends the sending of items.
func (m *Mailbox[T]) Close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.signal()
}

// Wake makes Ready readable once, also if there is no item to take.
func (m *Mailbox[T]) Wake() { m.signal() }

func (m *Mailbox[T]) signal() {
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// maxSpare is the capacity that an empty mailbox keeps.
const maxSpare = 1 << 10

// Take returns the items of the mailbox in the order of Put, and whether more may
// come. The slice that Take returned before is reused for later items.
func (m *Mailbox[T]) Take(before []T) (items []T, more bool) {
	clear(before)
	if cap(before) > maxSpare {
		before = nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	items, m.items = m.items, before[:0]
	return items, !m.closed
}
