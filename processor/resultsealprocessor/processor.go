// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/pref"
	"go.opentelemetry.io/collector/processor"
	"go.uber.org/zap"
)

// errStopped is what a sender gets after Shutdown began. The spans stay with
// the sender.
var errStopped = errors.New("resultseal: the processor is stopped")

// tracesProcessor gives every span that it accepts to the next consumer
// exactly once, when its trace is finished.
//
// One goroutine, the loop, owns the assembler, the judge and the calls to the
// next consumer, so none of them needs a lock. Senders hand their batch to it
// over a channel without a buffer: a batch is either with its sender or with
// the loop, and while the next consumer blocks, senders wait.
type tracesProcessor struct {
	logger    *zap.Logger
	next      consumer.Traces
	assembler *assembler
	judge     judgeFunc
	recorder  *recorder

	in      chan ptrace.Traces
	stopped chan struct{} // closed when Shutdown begins
	done    chan struct{} // closed when the loop holds nothing any more
	stop    sync.Once
	started bool

	// ctx is what the next consumer is called with: the sender's context is
	// over by then. It is cancelled when Shutdown's time is up.
	ctx    context.Context
	cancel context.CancelFunc
}

var _ processor.Traces = (*tracesProcessor)(nil)

func newTracesProcessor(set processor.Settings, cfg *Config, next consumer.Traces) (*tracesProcessor, error) {
	pol, err := cfg.loadPolicy()
	if err != nil {
		return nil, err
	}
	for _, warning := range pol.Warnings {
		set.Logger.Warn("the policy is valid but probably not what was meant", zap.String("warning", warning.String()))
	}
	rec, err := newRecorder(set.TelemetrySettings, cfg.Telemetry.MaxTools)
	if err != nil {
		return nil, err
	}
	rec.Announce(pol)
	return newWithJudge(set.Logger, cfg, next, rec, newJudge(set.TelemetrySettings, cfg, pol, rec)), nil
}

func newWithJudge(logger *zap.Logger, cfg *Config, next consumer.Traces, rec *recorder, judge judgeFunc) *tracesProcessor {
	p := &tracesProcessor{
		logger: logger,
		next:   next,
		assembler: newAssembler(limits{
			rootDelay:    cfg.RootDelay,
			idleTimeout:  cfg.IdleTimeout,
			maxAge:       cfg.MaxAge,
			maxTraces:    cfg.MaxTraces,
			maxBytes:     cfg.MaxBytes,
			decidedCache: cfg.DecidedCache,
			maxSpans:     cfg.MaxSpansPerTrace,
		}),
		judge:    guard(judge, logger, rec),
		recorder: rec,
		in:       make(chan ptrace.Traces),
		stopped:  make(chan struct{}),
		done:     make(chan struct{}),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// Capabilities says that spans are changed: they get annotations.
func (p *tracesProcessor) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

// Start begins to accept spans.
func (p *tracesProcessor) Start(context.Context, component.Host) error {
	p.started = true
	go p.loop()
	return nil
}

// ConsumeTraces hands the batch to the loop. When it returns nil the spans
// are held or passed on, and what then becomes of them is not reported here.
// It waits while the loop is busy, as long as ctx allows.
func (p *tracesProcessor) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	select {
	case <-p.stopped:
		return errStopped
	default:
	}
	pref.RefTraces(td)
	var err error
	select {
	case p.in <- td:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-p.done:
		err = errStopped
	}
	pref.UnrefTraces(td)
	return err
}

// Shutdown refuses further batches, finishes every trace that is held and
// passes it on. When ctx ends before that, the calls that are under way are
// cancelled and an error is returned; the loop still offers the rest to the
// next consumer.
func (p *tracesProcessor) Shutdown(ctx context.Context) error {
	p.stop.Do(func() {
		close(p.stopped)
		if !p.started {
			close(p.done)
		}
	})
	defer p.recorder.Shutdown()
	defer context.AfterFunc(ctx, p.cancel)()
	select {
	case <-p.done:
		p.cancel()
		return nil
	case <-ctx.Done():
		return fmt.Errorf("resultseal: not everything was passed on before the shutdown had to end: %w", ctx.Err())
	}
}

// loop owns the assembler until everything has left it.
func (p *tracesProcessor) loop() {
	defer close(p.done)
	timer := time.NewTimer(0)
	defer timer.Stop()
	due := timer.C // nil while nothing is held: a nil channel is never ready
	for {
		select {
		case td := <-p.in:
			p.add(td)
		case <-due:
		case <-p.stopped:
			p.drain()
			return
		}
		// Also after a batch: late spans are due at once.
		p.passOn(p.assembler.Tick(time.Now()))
		due = nil
		if at, ok := p.assembler.Next(); ok {
			timer.Reset(time.Until(at))
			due = timer.C
		}
	}
}

// drain takes the batches of the senders that still wait, then finishes
// everything.
func (p *tracesProcessor) drain() {
	for {
		select {
		case td := <-p.in:
			p.add(td)
			continue
		default:
		}
		p.passOn(p.assembler.Flush())
		return
	}
}

func (p *tracesProcessor) add(td ptrace.Traces) {
	out := p.assembler.Add(td, time.Now())
	pref.UnrefTraces(td) // all spans have been moved out of it
	p.passOn(out)
}

// passOn judges what is finished and gives it to the next consumer, one trace
// at a time.
func (p *tracesProcessor) passOn(out []finished) {
	for i := range out {
		f := &out[i]
		td := f.spans
		if f.judge {
			begin := time.Now()
			var duplicates int
			td, duplicates = canonicalize(f.spans)
			p.judge(td, f.fin)
			p.recorder.ScoreDuration(time.Since(begin))
			p.recorder.Duplicates(duplicates)
			if f.fin.Late {
				p.recorder.Late(f.count)
			}
		}
		f.spans = ptrace.Traces{} // not needed any more; there may be many
		if err := p.next.ConsumeTraces(p.ctx, td); err != nil {
			p.recorder.Refused(f.count)
			p.logger.Error("the next component refused spans of a finished trace; they are lost",
				zap.Int("spans", f.count), zap.Error(err))
		}
	}
	p.recorder.Holding(p.assembler.Len(), p.assembler.Bytes())
}
