// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"errors"
	"sync"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// pool parses texts on several goroutines and delivers them in the order in
// which they were read. It holds no more texts than it has goroutines, twice.
type pool struct {
	longLine int // see longLine
	maxValue int // see Handler
	h        Handler
	work     chan *job
	ordered  chan *job
	stopped  chan struct{}
	workers  sync.WaitGroup
	buffers  sync.Pool // of *[]byte, see buffer
}

var errStopped = errors.New("stopped")

// job is one text, or what was wrong with one.
type job struct {
	place Place
	text  []byte
	parse func([]byte) (ptrace.Traces, error)
	td    ptrace.Traces
	err   error
	done  chan struct{}
}

func newPool(jobs int, h Handler) *pool {
	jobs = max(jobs, 1)
	p := &pool{
		longLine: min(longLine, h.maxValue()),
		maxValue: h.maxValue(),
		h:        h,
		work:     make(chan *job),
		ordered:  make(chan *job, 2*jobs),
		stopped:  make(chan struct{}),
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

// parse hands a text to a worker. It answers false if reading is to stop.
func (p *pool) parse(at Place, text []byte, parse func([]byte) (ptrace.Traces, error)) bool {
	j := &job{place: at, text: text, parse: parse, done: make(chan struct{})}
	select {
	case p.ordered <- j:
	case <-p.stopped:
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
			continue // the reader may still be on its way out
		}
		if j.err != nil {
			failed = p.h.Broken(&Error{j.place, j.err})
		}
		if failed == nil && j.td != (ptrace.Traces{}) {
			failed = p.h.Traces(j.td, j.place)
		}
		if failed != nil {
			close(p.stopped)
		}
	}
	return failed
}
