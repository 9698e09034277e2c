// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"errors"
	"fmt"
	"sync"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// pool parses texts on several goroutines and delivers them in the order in
// which they were read. It holds no more texts than it has goroutines, twice, and
// no more than there is room for.
type pool struct {
	longLine   int // see longLine
	maxValue   int // see Handler
	maxSkipped int // see maxSkipped
	h          Handler
	work       chan *job
	ordered    chan *job
	stopped    chan struct{}
	workers    sync.WaitGroup
	buffers    sync.Pool // of *[]byte, see buffer
	room       *room
}

// room is the memory for texts that are parsed or wait for that, and what became
// of them, until it is delivered.
type room struct {
	mu    sync.Mutex
	freed *sync.Cond
	size  int64
	taken int64
}

func newRoom(size int64) *room {
	r := &room{size: size}
	r.freed = sync.NewCond(&r.mu)
	return r
}

// take waits until there is room for so many bytes.
func (r *room) take(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.taken > 0 && r.taken+bytes > r.size {
		r.freed.Wait()
	}
	r.taken += bytes
}

// free gives back what was taken.
func (r *room) free(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taken -= bytes
	r.freed.Signal()
}

var errStopped = errors.New("stopped")

// job is one text, or what was wrong with one.
type job struct {
	place Place
	text  []byte
	room  int64 // that it takes
	parse func([]byte) (ptrace.Traces, error)
	td    ptrace.Traces
	err   error
	done  chan struct{}
}

func newPool(jobs int, h Handler) *pool {
	jobs = max(jobs, 1)
	p := &pool{
		longLine:   min(longLine, h.maxValue()),
		maxValue:   h.maxValue(),
		maxSkipped: maxSkipped,
		h:          h,
		work:       make(chan *job),
		ordered:    make(chan *job, 2*jobs),
		stopped:    make(chan struct{}),
		room:       newRoom(roomShare * int64(h.maxValue())),
	}
	for range jobs {
		p.workers.Go(func() {
			for j := range p.work {
				j.td, j.err = j.parse(j.text)
				j.text = nil
				close(j.done)
			}
		})
	}
	return p
}

// buffer returns an empty buffer for a line, which may have been one before.
func (p *pool) buffer() []byte {
	if b, ok := p.buffers.Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return nil
}

// recycle takes back a buffer that nobody uses any more.
func (p *pool) recycle(b []byte) { p.buffers.Put(&b) }

// roomShare is the memory for what is read and not yet delivered, in values of the
// greatest size.
const roomShare = 4

// parse hands a text to a worker. cost is how many bytes it takes when it is
// decoded. It answers false if reading is to stop.
func (p *pool) parse(at Place, text []byte, cost int64, parse func([]byte) (ptrace.Traces, error)) bool {
	if cost > p.room.size {
		return p.broken(at, fmt.Errorf("one value takes about %d bytes when it is decoded, which is more than %d; more memory (--memory) raises this bound", cost, p.room.size))
	}
	j := &job{place: at, text: text, room: cost + int64(len(text)), parse: parse, done: make(chan struct{})}
	p.room.take(j.room)
	select {
	case p.ordered <- j:
	case <-p.stopped:
		p.room.free(j.room)
		return false
	}
	select {
	case p.work <- j:
		return true
	case <-p.stopped:
		j.err = errStopped
		close(j.done)
		return false
	}
}

// broken hands over what could not be read, in its place in the order.
func (p *pool) broken(at Place, err error) bool {
	j := &job{place: at, err: err, done: make(chan struct{})}
	close(j.done)
	select {
	case p.ordered <- j:
		return true
	case <-p.stopped:
		return false
	}
}

// close ends the input.
func (p *pool) close() {
	close(p.work)
	p.workers.Wait()
	close(p.ordered)
}

// deliver gives everything to the handler, until the input ends or the handler
// has had enough.
func (p *pool) deliver() error {
	var failed error
	for j := range p.ordered {
		<-j.done
		if failed != nil {
			p.room.free(j.room)
			continue // the reader may still be on its way out
		}
		if j.err != nil {
			failed = p.h.Broken(&Error{j.place, j.err})
		}
		if failed == nil && j.td != (ptrace.Traces{}) {
			failed = p.h.Traces(j.td, j.place)
		}
		p.room.free(j.room)
		if failed != nil {
			close(p.stopped)
		}
	}
	return failed
}
