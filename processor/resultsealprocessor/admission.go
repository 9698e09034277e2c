// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// errBusy is what a sender gets while more is held than max_bytes and not enough
// of it leaves. It is retryable: receivers hand it on as such, and
// the spans stay with the sender.
var errBusy = errors.New("resultseal: more spans are held than max_bytes allows and they do not leave as fast as others come; try again later")

// admissionPatience is how long a sender waits for room. It bridges the moments
// in which finished traces are on their way.
const admissionPatience = time.Second

// admission bounds the bytes that are in the processor: of spans, from the batch that
// comes in to the trace that the next component has taken, and of what conversations
// keep. The lock is taken only where somebody waits or has to.
type admission struct {
	max  int64
	held atomic.Int64 // of spans
	kept atomic.Int64 // of conversations
	// pressed is called when what is kept has grown and spans have less room than they
	// take: those that wait for their trace have to go, or nothing would come in.
	pressed func()

	mu      sync.Mutex
	waiting atomic.Bool   // room is not nil
	room    chan struct{} // closed when there is room again; nil if nobody waits
}

// forSpans is what conversations leave to spans, an eighth at least: the hashes of
// evicted conversations are kept even where max_bytes is tiny.
func (a *admission) forSpans() int64 { return max(a.max-a.kept.Load(), a.max/8) }

// total is everything that counts against max_bytes.
func (a *admission) total() int64 { return a.held.Load() + a.kept.Load() }

// full reports whether spans take more than there is for them.
func (a *admission) full() bool { return a.held.Load() > a.forSpans() }

// enter waits until there is room. A batch that is larger than the bound enters
// when there is any.
func (a *admission) enter(ctx context.Context, stopped <-chan struct{}) error {
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
			return errStopped
		case <-patience.C:
			return errBusy
		}
	}
}

// wait returns what is closed when there is room, or nil if there is.
func (a *admission) wait() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting.Store(true) // before looking, so that whoever makes room sees it
	if !a.full() {
		a.wake()
		return nil
	}
	if a.room == nil {
		a.room = make(chan struct{})
	}
	return a.room
}

// hold counts what came in. A negative number is a correction downwards.
func (a *admission) hold(bytes int64) {
	if bytes < 0 {
		a.release(-bytes)
		return
	}
	a.held.Add(bytes)
}

// keep counts what conversations keep now, more than before or less.
func (a *admission) keep(bytes int64) {
	a.kept.Add(bytes)
	switch {
	case bytes < 0:
		a.open()
	case a.full():
		a.pressed()
	}
}

// release counts what has left.
func (a *admission) release(bytes int64) {
	a.held.Add(-bytes)
	a.open()
}

// open lets in those who wait if there is room.
func (a *admission) open() {
	if !a.waiting.Load() || a.full() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wake()
}

// wake lets in those who wait. The lock is held.
func (a *admission) wake() {
	a.waiting.Store(false)
	if a.room != nil {
		close(a.room)
		a.room = nil
	}
}
