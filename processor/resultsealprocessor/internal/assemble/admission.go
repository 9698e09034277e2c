// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrStopped is returned to a sender after Shutdown began. The spans stay with the
// sender.
var ErrStopped = errors.New("resultseal: the processor is stopped")

// ErrBusy is returned to a sender while max_bytes is exceeded and not enough spans
// leave. It is retryable, and the spans stay with the sender.
var ErrBusy = errors.New("resultseal: more spans are held than max_bytes allows and they do not leave as fast as others come; try again later")

// admissionPatience is how long a sender waits for room. It bridges the moments in which
// completed traces are being forwarded.
const admissionPatience = time.Second

// Admission bounds the memory of the processor: of spans, from the batch that arrives to
// the trace that the next consumer accepted, and of the states of conversations. The
// lock is taken only where a sender waits or has to.
type Admission struct {
	max  int64
	held atomic.Int64 // of spans
	kept atomic.Int64 // of conversations
	// pressed is called when the states of conversations grow and spans exceed what is
	// left: buffered traces have to be completed, or no span would be admitted.
	pressed func()

	mu      sync.Mutex
	waiting atomic.Bool   // room is not nil
	room    chan struct{} // closed when there is room again; nil if nobody waits
}

// forSpans returns what conversations leave to spans, an eighth at least: the hashes of
// evicted conversations are kept even where max_bytes is tiny.
func (a *Admission) forSpans() int64 { return max(a.max-a.kept.Load(), a.max/8) }

// Spans returns the memory of spans.
func (a *Admission) Spans() int64 { return a.held.Load() }

// Conversations returns the memory of the states of conversations.
func (a *Admission) Conversations() int64 { return a.kept.Load() }

// Total returns everything that counts against max_bytes.
func (a *Admission) Total() int64 { return a.held.Load() + a.kept.Load() }

// full reports whether spans take more than there is for them.
func (a *Admission) full() bool { return a.held.Load() > a.forSpans() }

// Enter waits until there is room, for a second at most, until ctx is done or stopped is
// closed. A batch that is larger than the bound enters when there is any room.
func (a *Admission) Enter(ctx context.Context, stopped <-chan struct{}) error {
	if !a.full() {
		return nil
	}
	patience := time.NewTimer(admissionPatience)
	defer patience.Stop()
	for {
		room := a.wait()
		if room == nil {
			return nil
		}
		select {
		case <-room:
		case <-ctx.Done():
			return ctx.Err()
		case <-stopped:
			return ErrStopped
		case <-patience.C:
			return ErrBusy
		}
	}
}

// wait returns a channel that is closed when there is room, or nil if there is.
func (a *Admission) wait() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting.Store(true) // before the check, so that a release sees it
	if !a.full() {
		a.wake()
		return nil
	}
	if a.room == nil {
		a.room = make(chan struct{})
	}
	return a.room
}

// Hold counts spans that arrived. A negative number is a correction downwards.
func (a *Admission) Hold(bytes int64) {
	if bytes < 0 {
		a.Release(-bytes)
		return
	}
	a.held.Add(bytes)
}

// Keep counts states of conversations, more than before or less.
func (a *Admission) Keep(bytes int64) {
	a.kept.Add(bytes)
	switch {
	case bytes < 0:
		a.open()
	case a.full():
		a.pressed()
	}
}

// Release uncounts spans that left.
func (a *Admission) Release(bytes int64) {
	a.held.Add(-bytes)
	a.open()
}

// open admits the senders that wait if there is room.
func (a *Admission) open() {
	if !a.waiting.Load() || a.full() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wake()
}

// wake admits the senders that wait. The lock is held.
func (a *Admission) wake() {
	a.waiting.Store(false)
	if a.room != nil {
		close(a.room)
		a.room = nil
	}
}
