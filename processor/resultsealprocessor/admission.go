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

// admission bounds the bytes that are in the processor, from the batch that
// comes in to the trace that the next component has taken. The lock is taken
// only where the bound is crossed.
type admission struct {
	max  int64
	held atomic.Int64

	mu   sync.Mutex
	room chan struct{} // closed when there is room again; nil if nobody waits
}

// enter waits until there is room. A batch that is larger than the bound enters
// when there is any.
func (a *admission) enter(ctx context.Context, stopped <-chan struct{}) error {
	if a.held.Load() <= a.max {
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
	if a.held.Load() <= a.max {
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

// release counts what has left.
func (a *admission) release(bytes int64) {
	after := a.held.Add(-bytes)
	if after > a.max || after+bytes <= a.max {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.room != nil {
		close(a.room)
		a.room = nil
	}
}
