// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"errors"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/mailbox"
)

// emission is what an emitter forwards: a trace, or a part without a verdict on its trace.
type emission struct {
	trace *trace
	part  *assemble.Part
}

// emitter scores traces that their handler has not scored, counts the verdicts, and
// forwards the traces to the next consumer, one at a time. One goroutine owns it. All
// traces of a conversation have the same emitter, in the order in which they were
// completed.
type emitter struct {
	*Scoring
	n      int
	in     *mailbox.Mailbox[emission]
	score  func(*trace)
	redact redactFunc
	next   *delivery
	// keeping is set once spans were kept in the storage: all that follow are, so that
	// conversations continue in order.
	keeping bool
}

// emit gives a trace to the emitter of its conversation, or of its id.
func (s *Scoring) emit(t *trace) {
	n := assemble.ShardOf(t.ID, len(s.emitters))
	if len(t.conversations) > 0 {
		n = s.store.Partition(t.conversations[0])
	}
	s.emitters[n].in.Put(emission{trace: t})
}

// emitPart gives a part to the emitter of its trace id.
func (s *Scoring) emitPart(p *assemble.Part) {
	s.emitters[assemble.ShardOf(p.ID, len(s.emitters))].in.Put(emission{part: p})
}

// run forwards until the mailbox is closed and empty.
func (e *emitter) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	due := timer.C
	var all []emission
	for {
		select {
		case <-e.in.Ready():
			var more bool
			all, more = e.in.Take(all)
			for i, emitted := range all {
				all[i] = emission{} // there may be many
				if emitted.trace != nil {
					e.forwardTrace(emitted.trace)
				} else {
					e.forwardPart(emitted.part)
				}
			}
			if !more {
				return
			}
		case <-due:
		}
		due = nil
		if at, ok := e.tidy(e.n, time.Now()); ok {
			timer.Reset(time.Until(at))
			due = timer.C
		}
	}
}

func (e *emitter) forwardTrace(t *trace) {
	if e.keeping {
		e.Accounting.ReleaseTrace(t.Trace, t.records, true)
		return
	}
	begin := time.Now()
	e.score(t)
	e.Recorder.ScoreDuration(time.Since(begin) + t.reading)
	e.Recorder.Duplicates(t.duplicates)
	if t.Late {
		e.Recorder.Late(t.Count)
	}
	e.forward(t.Spans, t.Count)
	e.Accounting.ReleaseTrace(t.Trace, t.records, e.keeping)
}

func (e *emitter) forwardPart(p *assemble.Part) {
	if !e.keeping {
		e.forward(p.Spans, p.Count)
	}
	e.Accounting.ReleasePart(p, e.keeping)
}

// forward gives spans to the next consumer.
func (e *emitter) forward(td ptrace.Traces, count int) {
	e.redact(td)
	if count == 0 { // all were forwarded early
		return
	}
	left, err := e.next.deliver(e.ctx, td)
	if errors.Is(err, errKept) {
		e.keeping = true
	} else if err != nil {
		e.Recorder.Refused(left)
		e.Logger.Error("the next component refused spans of a finished trace; they are lost",
			zap.Int("spans", left), zap.Error(err))
	}
}
