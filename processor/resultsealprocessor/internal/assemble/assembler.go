// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
)

// Assembler buffers spans until their trace is completed. It is a data structure
// without a clock: the caller passes the time, calls it from one goroutine, and forwards
// what it returns. Every span that is added is returned exactly once.
type Assembler struct {
	limits Limits

	now    time.Duration // since the first time that was passed
	epoch  time.Time
	traces map[pcommon.TraceID]*bufferedTrace
	late   map[pcommon.TraceID]*bufferedTrace
	queues [queueCount]queue
	bytes  int64 // of the spans in traces
	// oversized are traces that a batch has made too large, until all of it is
	// added. One may be listed twice, or be completed by then.
	oversized []*bufferedTrace

	decided *decisionCache
}

// Limits are the settings that decide when a trace is completed. The configuration
// documents them.
type Limits struct {
	RootDelay, IdleTimeout, MaxAge time.Duration
	MaxTraces                      int
	MaxBytes                       int64
	DecidedCache                   int
	MaxSpans                       int // of one trace; 0 is no limit
}

// divided returns the limits of one shard of n. Together they are not less.
func (l Limits) divided(n int) Limits {
	l.MaxTraces = share(l.MaxTraces, n)
	l.MaxBytes = share(l.MaxBytes, n)
	l.DecidedCache = share(l.DecidedCache, n)
	return l
}

// share returns one shard's part of a limit.
func share[N int | int64](limit N, shards int) N {
	return (limit + N(shards) - 1) / N(shards)
}

// bufferedTrace is what has arrived of a trace. It is returned as it is when the trace
// is completed.
type bufferedTrace struct {
	Trace
	since  [queueCount]time.Duration // when it was put into each queue
	links  [queueCount]links
	queued [queueCount]bool
}

// NewAssembler returns an empty assembler.
func NewAssembler(l Limits) *Assembler {
	a := &Assembler{
		limits:  l,
		traces:  map[pcommon.TraceID]*bufferedTrace{},
		late:    map[pcommon.TraceID]*bufferedTrace{},
		decided: newDecisionCache(l.DecidedCache),
	}
	for id := range queueCount {
		a.queues[id].id = id
	}
	return a
}

// Len returns the number of buffered traces. Late spans are not counted: they are due
// at once.
func (a *Assembler) Len() int { return len(a.traces) }

// Bytes returns the memory of these traces, see Footprint.
func (a *Assembler) Bytes() int64 { return a.bytes }

// Add adds the parts of a batch. It returns the parts without a trace id, which are not
// buffered, and the traces that are completed early because a limit is exceeded. Call
// Tick next: late spans are due at once, and so is a trace without root_delay.
//
// The limits are applied after all of the batch was added, so that no batch is cut through
// its traces.
func (a *Assembler) Add(parts []*Part, now time.Time) (untraced []*Part, completed []*Trace) {
	a.advance(now)
	for _, part := range parts {
		if part.ID.IsEmpty() {
			untraced = append(untraced, part)
			continue
		}
		t := a.find(part.ID, part.Revision)
		t.add(part)
		if t.Late {
			continue
		}
		a.bytes += part.bytes
		a.requeue(queueIdle, t)
		if part.root && !t.queued[queueRoot] {
			a.requeue(queueRoot, t)
		}
		if a.isOversize(t) {
			a.oversized = append(a.oversized, t)
		}
	}
	// A trace that is too large by itself is completed first, so that it does not
	// push out all the others.
	for _, t := range a.oversized {
		if t.queued[queueFirst] {
			completed = append(completed, a.complete(t, ByOversize))
		}
	}
	clear(a.oversized)
	a.oversized = a.oversized[:0]
	return untraced, a.overflow(completed)
}

func (a *Assembler) isOversize(t *bufferedTrace) bool {
	return t.receipt.bytes > a.limits.MaxBytes || a.limits.MaxSpans > 0 && t.Count > a.limits.MaxSpans
}

// overflow completes the oldest traces until the rest is within the limits.
func (a *Assembler) overflow(out []*Trace) []*Trace {
	for len(a.traces) > a.limits.MaxTraces || (a.bytes > a.limits.MaxBytes && len(a.traces) > 0) {
		out = append(out, a.complete(a.queues[queueFirst].front, ByOverflow))
	}
	return out
}

// add adds a part to its trace.
func (t *bufferedTrace) add(part *Part) {
	if t.Spans == (ptrace.Traces{}) {
		t.Spans = part.Spans
	} else {
		part.Spans.ResourceSpans().MoveAndAppendTo(t.Spans.ResourceSpans())
	}
	t.Count += part.Count
	t.receipt.bytes += part.bytes
	t.receipt.refs = append(t.receipt.refs, part.refs...)
	if part.inFlight != nil {
		t.receipt.inFlight = part.inFlight
	}
	t.Early.Facts = append(t.Early.Facts, part.Facts...)
	t.Early.Unreadable = t.Early.Unreadable || part.Unreadable
}

// grow counts further bytes of a trace.
func (a *Assembler) grow(t *bufferedTrace, bytes int64) {
	t.receipt.bytes += bytes
	a.bytes += bytes
}

// Tick returns the traces that are due at now, in the order of their deadlines.
func (a *Assembler) Tick(now time.Time) []*Trace {
	a.advance(now)
	var out []*Trace
	for {
		id, due, ok := a.next()
		if !ok || due > a.now {
			return out
		}
		out = append(out, a.complete(a.queues[id].front, causeOf[id]))
	}
}

// Flush completes and returns all traces, the oldest first.
func (a *Assembler) Flush() []*Trace {
	out := make([]*Trace, 0, len(a.late)+len(a.traces))
	for _, id := range []queueID{queueLate, queueFirst} {
		for a.queues[id].front != nil {
			out = append(out, a.complete(a.queues[id].front, ByShutdown))
		}
	}
	return out
}

// Next returns when the next trace is due; false if none is buffered.
func (a *Assembler) Next() (time.Time, bool) {
	_, due, ok := a.next()
	return a.epoch.Add(due), ok
}

// causeOf is the cause of the deadlines of a queue.
var causeOf = [queueCount]Cause{queueRoot: ByRoot, queueIdle: ByIdle, queueFirst: ByMaxAge}

// next finds the queue whose front is due first. Where several are due at the
// same time the root counts before idleness and that before age, which is the
// order of the queues.
func (a *Assembler) next() (id queueID, due time.Duration, ok bool) {
	for candidate := range queueCount {
		t := a.queues[candidate].front
		if t == nil {
			continue
		}
		at := t.since[candidate] + a.wait(candidate)
		if !ok || at < due {
			id, due, ok = candidate, at, true
		}
	}
	return id, due, ok
}

// wait returns how long after the event of a queue its traces are due.
func (a *Assembler) wait(id queueID) time.Duration {
	switch id {
	case queueRoot:
		return a.limits.RootDelay
	case queueIdle:
		return a.limits.IdleTimeout
	case queueFirst:
		return a.limits.MaxAge
	}
	return 0
}

// advance moves the assembler's clock, never back: the queues are sorted because times
// only grow.
func (a *Assembler) advance(now time.Time) {
	if a.epoch.IsZero() {
		a.epoch = now
	}
	a.now = max(a.now, now.Sub(a.epoch))
}

// find returns the trace that a span with this id belongs to, and begins it if it is
// unknown. A trace that begins is evaluated by the revision.
func (a *Assembler) find(id pcommon.TraceID, r *revision.Revision) *bufferedTrace {
	if t, ok := a.traces[id]; ok {
		return t
	}
	if t, ok := a.late[id]; ok {
		return t
	}
	if cause, ok := a.decided.get(id); ok {
		t := &bufferedTrace{Trace: Trace{ID: id, Revision: r, Cause: cause, Late: true}}
		r.Hold()
		a.late[id] = t
		a.requeue(queueLate, t)
		return t
	}
	return a.begin(id, r)
}

// isLate reports whether spans of a trace would be late if they arrived now.
func (a *Assembler) isLate(id pcommon.TraceID) bool {
	if _, buffered := a.traces[id]; buffered {
		return false
	}
	_, late := a.decided.get(id)
	return late
}

// begin buffers a trace that is not known.
func (a *Assembler) begin(id pcommon.TraceID, r *revision.Revision) *bufferedTrace {
	t := &bufferedTrace{Trace: Trace{ID: id, Revision: r}}
	r.Hold()
	a.traces[id] = t
	a.requeue(queueFirst, t)
	return t
}

// requeue puts a trace at the back of a queue, now.
func (a *Assembler) requeue(id queueID, t *bufferedTrace) {
	a.queues[id].remove(t)
	t.since[id] = a.now
	a.queues[id].push(t)
}

// complete removes a trace. Late spans keep the cause of their trace.
func (a *Assembler) complete(t *bufferedTrace, cause Cause) *Trace {
	if t.Late {
		delete(a.late, t.ID)
	} else {
		t.Cause = cause
		t.receipt.slot = a.decided.put(t.ID, cause) + 1
		t.receipt.seq = a.decided.seq
		delete(a.traces, t.ID)
		a.bytes -= t.receipt.bytes
	}
	for id := range a.queues {
		a.queues[id].remove(t)
	}
	t.Revision.Release()
	return &t.Trace
}
