// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// assembler holds spans until their trace is finished. It is a data structure
// only: the caller tells it the time, calls it from one goroutine, and passes
// on what it returns. Every span that is added is returned exactly once.
type assembler struct {
	limits limits

	now    time.Duration // since the first time that it was told
	epoch  time.Time
	traces map[pcommon.TraceID]*heldTrace
	late   map[pcommon.TraceID]*heldTrace
	queues [queueCount]queue
	bytes  int64 // of the spans in traces
	// oversized are traces that a batch has made too large, until all of it is
	// added. One may stand here twice, or be gone by then.
	oversized []*heldTrace

	decided *decidedCache
}

// limits are the settings that decide when a trace is finished; the
// configuration documents them.
type limits struct {
	rootDelay, idleTimeout, maxAge time.Duration
	maxTraces                      int
	maxBytes                       int64
	decidedCache                   int
	maxSpans                       int // of one trace; 0 is no limit
}

// heldTrace is what has come of one trace so far. When the wait for more is over
// it is given away as it stands.
type heldTrace struct {
	finished
	since  [queueCount]time.Duration // when it was put into each queue
	links  [queueCount]links
	queued [queueCount]bool

	// lateBy is set for late spans only: how their trace was finished.
	lateBy finishedBy
}

// finished is a trace, or late spans of one, for which the wait is over.
// Spans without a trace id come back as one with judge false: they belong to
// no trace, so there is nothing to wait for and nothing to say about them.
type finished struct {
	id       pcommon.TraceID
	revision *revision.Revision // evaluates the trace
	spans    ptrace.Traces      // in the order of arrival, and in canonical form once they are read
	count    int
	bytes    int64
	fin      finish
	judge    bool

	// What reading found: see reader.
	facts         []genai.Span
	sources       []ptrace.Span
	conversations []string
	duplicates    int
	silent        silentSpans  // in mode stream, what passed and says nothing
	streamed      []streamFact // in mode stream, of all spans, of which only the roots are held; until they are read
	reading       time.Duration

	// What judging found: see judge. settled is set once it has been tried.
	settled bool
	verdict *score.Session

	// For the log: the entries that the spans came with, the place among the
	// decided traces plus one, and what else is to be noted.
	entries    []wal.Ref
	decidedAt  int32
	passage    *passage
	decidedSeq uint64
	records    []wal.Record
	unreadable bool
}

func newAssembler(l limits) *assembler {
	a := &assembler{
		limits:  l,
		traces:  map[pcommon.TraceID]*heldTrace{},
		late:    map[pcommon.TraceID]*heldTrace{},
		decided: newDecidedCache(l.decidedCache),
	}
	for id := range queueCount {
		a.queues[id].id = id
	}
	return a
}

// Len is how many traces are held. Late spans are not counted: they are due
// at once.
func (a *assembler) Len() int { return len(a.traces) }

// Bytes is how much memory these traces take, see footprint.
func (a *assembler) Bytes() int64 { return a.bytes }

// Add takes over the parts of a batch. It returns what need not or cannot wait: spans without a trace id, and the oldest traces
// where a limit is exceeded. Call Tick next: late spans are due at once, and
// so is a trace without root_delay.
//
// The limits are applied after the whole of the batch was added, so that a batch is
// never cut through the middle of its traces.
func (a *assembler) Add(parts []*tracePart, now time.Time) []*finished {
	a.advance(now)
	var out []*finished
	for _, part := range parts {
		if part.id.IsEmpty() {
			out = append(out, &finished{spans: part.spans, count: part.count, bytes: part.bytes, entries: part.entry})
			continue
		}
		t := a.holder(part.id, part.revision)
		t.take(part)
		if t.queued[queueLate] {
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
	// A trace that is too large by itself goes first, so that it does not
	// push out all the others.
	for _, t := range a.oversized {
		if t.queued[queueFirst] {
			out = append(out, a.take(t, byOversize))
		}
	}
	clear(a.oversized)
	a.oversized = a.oversized[:0]
	return a.overflow(out)
}

func (a *assembler) isOversize(t *heldTrace) bool {
	return t.bytes > a.limits.maxBytes || a.limits.maxSpans > 0 && t.count > a.limits.maxSpans
}

// overflow takes the oldest traces until the rest is within the limits.
func (a *assembler) overflow(out []*finished) []*finished {
	for len(a.traces) > a.limits.maxTraces || (a.bytes > a.limits.maxBytes && len(a.traces) > 0) {
		out = append(out, a.take(a.queues[queueFirst].front, byOverflow))
	}
	return out
}

// take adds what a batch holds of the trace.
func (t *heldTrace) take(part *tracePart) {
	if t.spans == (ptrace.Traces{}) {
		t.spans = part.spans
	} else {
		part.spans.ResourceSpans().MoveAndAppendTo(t.spans.ResourceSpans())
	}
	t.count += part.count
	t.bytes += part.bytes
	t.entries = append(t.entries, part.entry...)
	if part.passage != nil {
		t.passage = part.passage
	}
	t.streamed = append(t.streamed, part.facts...)
	t.unreadable = t.unreadable || part.unreadable
}

// Tick returns everything that is due at now, what was due first first.
func (a *assembler) Tick(now time.Time) []*finished {
	a.advance(now)
	var out []*finished
	for {
		id, due, ok := a.next()
		if !ok || due > a.now {
			return out
		}
		out = append(out, a.take(a.queues[id].front, causeOf[id]))
	}
}

// Flush returns everything that is held, the oldest first.
func (a *assembler) Flush() []*finished {
	out := make([]*finished, 0, len(a.late)+len(a.traces))
	for _, id := range []queueID{queueLate, queueFirst} {
		for a.queues[id].front != nil {
			out = append(out, a.take(a.queues[id].front, byShutdown))
		}
	}
	return out
}

// Next is when Tick will have something to return; false if nothing is held.
func (a *assembler) Next() (time.Time, bool) {
	_, due, ok := a.next()
	return a.epoch.Add(due), ok
}

// causeOf is what a trace at the front of a queue is finished by.
var causeOf = [queueCount]finishedBy{queueRoot: byRoot, queueIdle: byIdle, queueFirst: byMaxAge}

// next finds the queue whose front is due first. Where several are due at the
// same time the root counts before idleness and that before age, which is the
// order of the queues.
func (a *assembler) next() (id queueID, due time.Duration, ok bool) {
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

// wait is how long after the event of a queue its traces are due.
func (a *assembler) wait(id queueID) time.Duration {
	switch id {
	case queueRoot:
		return a.limits.rootDelay
	case queueIdle:
		return a.limits.idleTimeout
	case queueFirst:
		return a.limits.maxAge
	}
	return 0
}

// advance moves the assembler's clock. It never goes back: the queues are
// sorted because times only grow.
func (a *assembler) advance(now time.Time) {
	if a.epoch.IsZero() {
		a.epoch = now
	}
	a.now = max(a.now, now.Sub(a.epoch))
}

// holder finds or begins the trace that a span with this id belongs to. A trace that
// begins is evaluated by the revision.
func (a *assembler) holder(id pcommon.TraceID, r *revision.Revision) *heldTrace {
	if t, ok := a.traces[id]; ok {
		return t
	}
	if t, ok := a.late[id]; ok {
		return t
	}
	if by, ok := a.decided.get(id); ok {
		t := &heldTrace{finished: finished{id: id, revision: r, judge: true}, lateBy: by}
		r.Hold()
		a.late[id] = t
		a.requeue(queueLate, t)
		return t
	}
	return a.begin(id, r)
}

// begin holds a trace that is not known.
func (a *assembler) begin(id pcommon.TraceID, r *revision.Revision) *heldTrace {
	t := &heldTrace{finished: finished{id: id, revision: r, judge: true}}
	r.Hold()
	a.traces[id] = t
	a.requeue(queueFirst, t)
	return t
}

// requeue puts a trace at the back of a queue, now.
func (a *assembler) requeue(id queueID, t *heldTrace) {
	a.queues[id].remove(t)
	t.since[id] = a.now
	a.queues[id].push(t)
}

// take ends the wait for a trace. Late spans keep what finished their trace.
func (a *assembler) take(t *heldTrace, by finishedBy) *finished {
	if t.queued[queueLate] {
		t.fin = finish{By: t.lateBy, Late: true}
		delete(a.late, t.id)
	} else {
		t.fin = finish{By: by}
		t.decidedAt = a.decided.put(t.id, by) + 1
		t.decidedSeq = a.decided.seq
		delete(a.traces, t.id)
		a.bytes -= t.bytes
	}
	for id := range a.queues {
		a.queues[id].remove(t)
	}
	t.revision.Release()
	return &t.finished
}
