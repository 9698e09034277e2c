// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"math/bits"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/mailbox"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// Handler takes over the spans that a shard does not buffer any more. Each shard has one
// and calls it from its goroutine. Whoever forwards the spans ends their accounting.
type Handler interface {
	// Complete takes a completed trace.
	Complete(t *Trace)
	// Untraced takes spans without a trace id.
	Untraced(p *Part)
	// Early is called in mode stream, before a part is buffered. It may move spans out of
	// the part with CutChildren, and sets the Facts of all. before is what was kept of
	// earlier spans of the trace.
	Early(p *Part, before *Early)
}

// Recorder counts what the shards do.
type Recorder interface {
	// Holding counts buffered traces, more than before or fewer.
	Holding(more int)
	// Late counts spans without GenAI content that arrived after their trace was
	// completed.
	Late(spans int)
}

// Settings are those of all shards together.
type Settings struct {
	Shards int
	Limits Limits
	// Stream calls Handler.Early.
	Stream   bool
	Recorder Recorder
}

// Shards assemble traces, each those whose ids belong to it. All spans of a trace meet in
// one shard, whatever batches they are in. Dispatch may be called by any number of
// goroutines between Start and Close.
type Shards struct {
	shards     []*shard
	accounting *Accounting
	decisions  int // slots of each shard
	running    sync.WaitGroup
}

// NewShards returns shards that have not started. newHandler is called once for each.
func NewShards(s Settings, a *Accounting, newHandler func() Handler) *Shards {
	a.shards = s.Shards
	limits := s.Limits.divided(s.Shards)
	all := &Shards{accounting: a, decisions: limits.DecidedCache}
	for range s.Shards {
		all.shards = append(all.shards, &shard{
			in: mailbox.New[arrival](), assembler: NewAssembler(limits), accounting: a,
			handler: newHandler(), recorder: s.Recorder, stream: s.Stream,
		})
	}
	a.pressed = all.wake
	return all
}

// Len returns the number of shards.
func (s *Shards) Len() int { return len(s.shards) }

// Restore makes the shards continue a log and the decisions that it holds. It is called
// before Start. Traces that are buffered at Close stay in the log.
func (s *Shards) Restore(log *wal.Log, decisions []Decision) {
	s.accounting.log = log
	sortDecisions(decisions)
	byShard := make([][]Decision, len(s.shards))
	for _, d := range decisions {
		byShard[d.shard] = append(byShard[d.shard], d)
	}
	for i, shard := range s.shards {
		shard.assembler.decided.restore(byShard[i])
		shard.durable = true
	}
}

// Start starts the shards.
func (s *Shards) Start() {
	for _, shard := range s.shards {
		s.running.Go(shard.run)
	}
}

// Close ends the calls of Dispatch. The shards complete all traces, unless they are in a
// log.
func (s *Shards) Close() {
	for _, shard := range s.shards {
		shard.in.Close()
	}
}

// Wait waits until the shards have ended.
func (s *Shards) Wait() { s.running.Wait() }

// wake makes the shards complete traces until what they buffer is within their limits.
func (s *Shards) wake() {
	for _, shard := range s.shards {
		shard.in.Wake()
	}
}

// Dispatch hands the spans of a batch to the shards of their traces. forwarded are the
// spans without GenAI content that were forwarded early, by shard, or nil. The batch was
// received under the policies in force then.
func (s *Shards) Dispatch(parts []*Part, forwarded []*ForwardedSpans, under *revision.InForce) {
	byShard := make([]arrival, len(s.shards))
	bytes := int64(0)
	for _, part := range parts {
		part.Revision = under.Revision
		n := ShardOf(part.ID, len(s.shards))
		byShard[n].parts = append(byShard[n].parts, part)
		bytes += part.bytes
	}
	for n, f := range forwarded {
		if f != nil {
			byShard[n].forwarded = f
			bytes += int64(len(*f)) * plainBytes
		}
	}
	s.accounting.Hold(bytes)
	for n, arrived := range byShard {
		if len(arrived.parts) > 0 || arrived.forwarded != nil {
			arrived.under = under
			under.Join()
			s.shards[n].in.Put(arrived)
		}
	}
}

// ShardOf returns the shard of a trace among n. It is the same in every process, and even
// for ids that are counted up or share a prefix.
func ShardOf(id pcommon.TraceID, n int) int {
	index, _ := bits.Mul64(xxhash.Sum64(id[:]), uint64(n)) //nolint:gosec // n is positive
	return int(index)                                      //nolint:gosec // less than n
}

// arrival is what a batch has for a shard.
type arrival struct {
	parts     []*Part
	forwarded *ForwardedSpans   // or nil
	under     *revision.InForce // left when the shard has taken the arrival
}

// shard assembles the traces whose ids belong to it. One goroutine owns it.
type shard struct {
	in         *mailbox.Mailbox[arrival]
	assembler  *Assembler
	accounting *Accounting
	handler    Handler
	recorder   Recorder
	stream     bool
	holding    int // traces, as counted by the recorder
	// durable is set if buffered traces are in a log and need not be completed at the
	// end.
	durable bool
}

// run assembles until the mailbox is closed and empty, and then completes all traces,
// unless they are there again after the next start.
func (s *shard) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	due := timer.C // nil while nothing is buffered: a nil channel is never ready
	var arrivals []arrival
	for {
		select {
		case <-s.in.Ready():
			var more bool
			arrivals, more = s.in.Take(arrivals)
			s.assembler.limits.MaxBytes = share(s.accounting.forSpans(), s.accounting.shards)
			s.complete(s.assembler.overflow(nil))
			for i, arrived := range arrivals {
				arrivals[i] = arrival{} // it may be long until the next
				s.take(arrived)
			}
			if !more {
				if !s.durable {
					s.complete(s.assembler.Flush())
				}
				return
			}
		case <-due:
		}
		s.complete(s.assembler.Tick(time.Now()))
		due = nil
		if at, ok := s.assembler.Next(); ok {
			timer.Reset(time.Until(at))
			due = timer.C
		}
	}
}

// take adds what a batch has for the shard.
func (s *shard) take(arrived arrival) {
	s.addPlain(arrived.forwarded, arrived.under.Revision)
	if s.stream {
		s.early(arrived.parts)
	}
	untraced, completed := s.assembler.Add(arrived.parts, time.Now())
	for _, part := range untraced {
		s.handler.Untraced(part)
	}
	s.complete(completed)
	arrived.under.Leave()
	// Late spans are due at once.
	s.complete(s.assembler.Tick(time.Now()))
}

// addPlain adds spans that were forwarded. They were counted when they arrived; from here
// on only what is kept of them counts.
func (s *shard) addPlain(forwarded *ForwardedSpans, r *revision.Revision) {
	if forwarded == nil {
		return
	}
	before := s.assembler.Bytes() + int64(len(*forwarded))*plainBytes
	late := s.assembler.AddPlain(*forwarded, r, time.Now())
	forwarded.Recycle()
	s.accounting.Hold(s.assembler.Bytes() - before)
	s.recorder.Late(late)
}

var nothingEarly Early

// early hands over parts for their spans to be forwarded early. Late spans and those
// without a trace id are not buffered in any mode.
func (s *shard) early(parts []*Part) {
	for _, part := range parts {
		if part.ID.IsEmpty() || s.assembler.isLate(part.ID) {
			continue
		}
		part.inFlight = &inFlight{}
		before := &nothingEarly
		if t, ok := s.assembler.traces[part.ID]; ok {
			before = &t.Early
			part.Revision = t.Revision
			if t.receipt.inFlight != nil {
				part.inFlight = t.receipt.inFlight
			}
		}
		s.handler.Early(part, before)
	}
}

// complete hands over completed traces.
func (s *shard) complete(completed []*Trace) {
	for i, t := range completed {
		s.handler.Complete(t)
		completed[i] = nil // there may be many
	}
	if n := s.assembler.Len(); n != s.holding {
		s.recorder.Holding(n - s.holding)
		s.holding = n
	}
}
