// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"math/bits"
	"time"

	"github.com/cespare/xxhash/v2"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/mailbox"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
)

// arrival is what one batch has for a shard.
type arrival struct {
	parts  []*tracePart
	silent *passedSpans      // or nil
	under  *revision.InForce // it is left when the shard has taken the arrival
}

// A shard assembles the traces whose ids belong to it. One goroutine owns it.
// All spans of a trace meet in one shard, whatever batches they come in.
type shard struct {
	in        *mailbox.Mailbox[arrival]
	assembler *assembler
	// own is the namespace of everything that the processor writes.
	own annotate.Namespace
	// stream takes out of a part what need not wait; nil in mode trace.
	stream *streamer
	// read prepares a finished trace for its verdict: canonical form, facts, and the
	// verdict itself where nothing else has to be judged before.
	read func(*finished)
	// give hands on what is finished, in order.
	give func(*finished)
	// forget ends the account of a trace that has passed.
	forget func(*finished)
	// hold counts bytes that are given on besides what came in.
	hold func(bytes int64)
	// room is how many bytes of spans may be buffered now.
	room func() int64
	// noted gives back a list of silent spans.
	noted func(*passedSpans)
	// late is told how many spans came after their trace, and were not held.
	late func(spans int)
	// holding is told how many traces are held now more than before.
	holding func(more int)
	held    int
	// durable is set if what is held is in a storage and need not be finished at
	// the end.
	durable bool
}

// run assembles until the mailbox is closed and empty, and then finishes
// everything, unless it is there again after the next start.
func (s *shard) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	due := timer.C // nil while nothing is held: a nil channel is never ready
	var batches []arrival
	for {
		select {
		case <-s.in.Ready():
			var more bool
			batches, more = s.in.Take(batches)
			s.assembler.limits.maxBytes = s.room()
			s.passOn(s.assembler.overflow(nil))
			for i, batch := range batches {
				batches[i] = arrival{} // it may be long until the next
				s.note(batch.silent, batch.under.Revision)
				s.pass(batch.parts)
				s.passOn(s.assembler.Add(batch.parts, time.Now()))
				batch.under.Leave()
				// Late spans are due at once.
				s.passOn(s.assembler.Tick(time.Now()))
			}
			if !more {
				if !s.durable {
					s.passOn(s.assembler.Flush())
				}
				return
			}
		case <-due:
		}
		s.passOn(s.assembler.Tick(time.Now()))
		due = nil
		if at, ok := s.assembler.Next(); ok {
			timer.Reset(time.Until(at))
			due = timer.C
		}
	}
}

// note takes note of spans that were passed on. They were counted when they came;
// what is kept of them counts from here on.
func (s *shard) note(silent *passedSpans, r *revision.Revision) {
	if silent == nil {
		return
	}
	before := s.assembler.Bytes() + int64(len(*silent))*silentBytes
	late := s.assembler.AddSilent(*silent, r, time.Now())
	s.noted(silent)
	s.hold(s.assembler.Bytes() - before)
	s.late(late)
}

// pass gives on the spans that need not wait for their trace, in mode stream.
// Late spans and those without a trace id do not wait in any mode.
func (s *shard) pass(parts []*tracePart) {
	if s.stream == nil {
		return
	}
	for _, part := range parts {
		if part.id.IsEmpty() || s.assembler.isLate(part.id) {
			continue
		}
		s.own.CleanSpans(part.spans)
		var before passedBefore
		part.passage = &passage{}
		if t, ok := s.assembler.traces[part.id]; ok {
			before = passedBefore{t.id, t.streamed, t.silent}
			part.revision = t.revision
			if t.passage != nil {
				part.passage = t.passage
			}
		}
		passing := s.stream.split(part, before)
		if passing.count > 0 {
			s.hold(passing.bytes)
			part.passage.begin()
			s.give(&finished{id: part.id, spans: passing.spans, count: passing.count, bytes: passing.bytes, passage: part.passage})
		}
	}
}

func (s *shard) passOn(out []*finished) {
	for i, f := range out {
		if f.judge {
			s.read(f)
		} else {
			s.own.CleanSpans(f.spans)
		}
		if f.passed() {
			s.forget(f)
		} else {
			s.give(f)
		}
		out[i] = nil // there may be many
	}
	if n := s.assembler.Len(); n != s.held {
		s.holding(n - s.held)
		s.held = n
	}
}

// shardOfTrace spreads ids evenly over n shards, and the same in every process: ids
// that a sender counts up, or that share a prefix, must not all meet in one.
func shardOfTrace(id pcommon.TraceID, n int) int {
	index, _ := bits.Mul64(xxhash.Sum64(id[:]), uint64(n)) //nolint:gosec // n is positive
	return int(index)                                      //nolint:gosec // less than n
}

// share is one shard's part of a limit on all.
func share[N int | int64](limit N, shards int) N {
	return (limit + N(shards) - 1) / N(shards)
}
