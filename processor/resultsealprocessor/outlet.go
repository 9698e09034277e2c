// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/mailbox"
)

// An outlet judges finished traces that their shard has not judged, counts the
// verdicts, and gives the traces to the next consumer, one at a time. One goroutine
// owns it. Traces of one conversation all leave by one outlet, in the order in which
// they were finished.
type outlet struct {
	in    *mailbox.Mailbox[*finished]
	judge judgeFunc
	// redact is what becomes of the content of spans that leave.
	redact redactFunc
	next   *delivery
	// tidy is called when its time has come, and says when that is next.
	tidy func(now time.Time) (time.Time, bool)

	ctx      context.Context // what the next consumer is called with
	rec      *recorder
	logger   *zap.Logger
	released func(f *finished, kept bool)
	// keeping is set once a trace was left in the storage: all that follow are,
	// so that conversations go on in order.
	keeping bool
}

// run passes on until the mailbox is closed and empty.
func (o *outlet) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	due := timer.C
	var traces []*finished
	for {
		select {
		case <-o.in.Ready():
			var more bool
			traces, more = o.in.Take(traces)
			for i, f := range traces {
				o.pass(f)
				traces[i] = nil // there may be many
			}
			if !more {
				return
			}
		case <-due:
		}
		due = nil
		if at, ok := o.tidy(time.Now()); ok {
			timer.Reset(time.Until(at))
			due = timer.C
		}
	}
}

func (o *outlet) pass(f *finished) {
	if o.keeping {
		o.released(f, true)
		return
	}
	if f.judge {
		begin := time.Now()
		o.judge(f)
		o.rec.ScoreDuration(time.Since(begin) + f.reading)
		o.rec.Duplicates(f.duplicates)
		if f.fin.Late {
			o.rec.Late(f.count)
		}
	}
	defer func() { o.released(f, o.keeping) }()
	o.redact(f.spans)
	if f.count == 0 { // all of the trace has passed before
		return
	}
	left, err := o.next.deliver(o.ctx, f.spans)
	if errors.Is(err, errKept) {
		o.keeping = true
	} else if err != nil {
		o.rec.Refused(left)
		o.logger.Error("the next component refused spans of a finished trace; they are lost",
			zap.Int("spans", left), zap.Error(err))
	}
}
