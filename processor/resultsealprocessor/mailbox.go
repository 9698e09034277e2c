// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import "sync"

// mailbox hands things to one goroutine without making its senders wait. What
// lies in it is bounded by what is admitted to the processor at all (see
// admission), so goroutines that hand each other work cannot block each other.
type mailbox[T any] struct {
	mu     sync.Mutex
	items  []T
	closed bool
	ready  chan struct{} // holds a token while there is something to take, or after close
}

func newMailbox[T any]() *mailbox[T] {
	return &mailbox[T]{ready: make(chan struct{}, 1)}
}

// put adds something. Nothing may be put after close.
func (m *mailbox[T]) put(item T) {
	m.mu.Lock()
	m.items = append(m.items, item)
	m.mu.Unlock()
	m.signal()
}

// close says that nothing more will be put.
func (m *mailbox[T]) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.signal()
}

func (m *mailbox[T]) signal() {
	select {
	case m.ready <- struct{}{}:
	default:
	}
}

// maxSpare is how many places an empty mailbox keeps.
const maxSpare = 1 << 10

// take returns what lies in the mailbox, in the order in which it came, and
// whether more may come. What was taken before is given back for what comes next.
func (m *mailbox[T]) take(before []T) (items []T, more bool) {
	clear(before)
	if cap(before) > maxSpare {
		before = nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	items, m.items = m.items, before[:0]
	return items, !m.closed
}
