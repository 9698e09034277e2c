// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/scoring"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// tracesProcessor forwards every span that it accepts to the next consumer exactly once,
// when its trace is completed and scored.
//
// Shards assemble traces, each its own ids, and score those that no protocol follows
// across traces. Emitters score the others, each its own conversations, and forward all.
// Each has a goroutine and its own state. Work moves from the sender over a shard to an
// emitter, never back.
type tracesProcessor struct {
	shards      *assemble.Shards
	scoring     *scoring.Scoring
	passThrough *scoring.PassThrough // in mode stream
	accounting  *assemble.Accounting
	lookout     *lookout // nil looks at nothing
	recorder    *recorder
	revisions   *revision.Set
	reloader    *reloader // nil if the policy is never read again
	logger      *zap.Logger

	// own is the namespace of everything that the processor writes.
	own annotate.Namespace

	log     *wal.Log // nil without a storage
	storage *component.ID
	id      component.ID

	// senders is locked for reading by those who bring a batch, and for writing
	// to stop.
	senders sync.RWMutex
	stopped chan struct{} // closed when Shutdown begins
	done    chan struct{} // closed when nothing is buffered any more
	stop    sync.Once
	started bool

	// cancel ends the context that the next consumer is called with, which is
	// not the sender's: that is over by then. It is called when Shutdown's time
	// is up.
	cancel context.CancelFunc
}

var _ processor.Traces = (*tracesProcessor)(nil)

func newTracesProcessor(set processor.Settings, cfg *Config, next consumer.Traces) (*tracesProcessor, error) {
	pol, content, err := cfg.loadPolicy()
	if err != nil {
		return nil, err
	}
	logWarnings(set.Logger, pol, time.Now())
	options, err := cfg.decoding()
	if err != nil {
		return nil, err
	}
	rec, err := newRecorder(set.TelemetrySettings, cfg.Telemetry.MaxTools)
	if err != nil {
		return nil, err
	}
	rec.Announce(pol)
	p := newProcessor(set.Logger, cfg, options, pol, next, rec)
	p.id = set.ID
	if cfg.PolicyFile != "" && cfg.PolicyReloadInterval > 0 {
		if regular, err := isRegular(cfg.PolicyFile); err == nil && !regular {
			set.Logger.Warn("policy_file is not a regular file and is not read again", zap.String("policy_file", cfg.PolicyFile))
			return p, nil
		}
		p.reloader = &reloader{
			path: cfg.PolicyFile, load: cfg.loadPolicyFile, interval: cfg.PolicyReloadInterval, content: sha256.Sum256(content),
			revisions: p.revisions, rec: rec, logger: set.Logger,
		}
		rec.AnnounceReloads()
	}
	return p, nil
}

// newProcessor returns a processor with a policy that is not read again.
func newProcessor(logger *zap.Logger, cfg *Config, options genai.Options, pol *policy.Policy, next consumer.Traces, rec *recorder) *tracesProcessor {
	ctx, cancel := context.WithCancel(context.Background())
	p := &tracesProcessor{
		accounting: assemble.NewAccounting(cfg.MaxBytes),
		lookout:    newLookout(logger, options),
		recorder:   rec,
		revisions:  revision.NewSet(pol, ctx.Done()),
		logger:     logger,
		own:        annotate.Namespace(cfg.Prefix),
		storage:    cfg.Storage,
		stopped:    make(chan struct{}),
		done:       make(chan struct{}),
		cancel:     cancel,
	}
	p.scoring = scoring.New(ctx, cfg.scoring(options, scoring.Settings{
		Next: next, Accounting: p.accounting, Recorder: rec, Logger: logger, Stopped: p.stopped,
	}))
	p.passThrough = p.scoring.NewPassThrough()
	p.shards = assemble.NewShards(cfg.assembling(rec), p.accounting, p.scoring.NewHandler)
	rec.bytes = p.accounting.Total
	return p
}

// logWarnings logs the warnings of a policy that are not acknowledged at the time
// now, a record for each kind and message, the most serious kind first.
func logWarnings(logger *zap.Logger, p *policy.Policy, now time.Time) {
	review := p.Review(now)
	for _, g := range review.Groups() {
		logger.Warn("the policy has a warning",
			zap.String("kind", string(g.First.Kind)), zap.Int("count", 1+len(g.More)), zap.String("warning", g.String()))
	}
	if review.Acknowledged > 0 {
		logger.Info("warnings of the policy are acknowledged", zap.Int("count", review.Acknowledged))
	}
}

// Capabilities says that spans are changed: they get annotations.
func (p *tracesProcessor) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

// Start begins to accept spans, after those that a storage holds.
func (p *tracesProcessor) Start(ctx context.Context, host component.Host) error {
	var before []*assemble.Part
	complete := false
	if p.storage != nil {
		var err error
		if before, err = p.restore(ctx, host); err != nil {
			return err
		}
		complete = p.log.Complete()
		p.log.Start()
	}
	if !complete {
		p.scoring.Begin(time.Now())
	}
	p.started = true
	var reloads sync.WaitGroup
	if p.reloader != nil {
		p.reloader.report = func(e *componentstatus.Event) { componentstatus.ReportStatus(host, e) }
		reloads.Go(func() { p.reloader.run(p.stopped) })
	}
	p.shards.Start()
	p.scoring.Start()
	go func() {
		defer close(p.done)
		<-p.stopped
		p.senders.Lock() // those who bring a batch have brought it
		p.shards.Close()
		p.senders.Unlock()
		p.shards.Wait()
		p.scoring.Close()
		if p.log != nil {
			if err := p.log.Close(context.Background()); err != nil {
				p.logger.Error("the storage was not closed", zap.Error(err))
			}
		}
		reloads.Wait()
	}()
	under := p.revisions.Enter()
	defer under.Leave()
	p.shards.Dispatch(before, nil, under)
	return nil
}

// ConsumeTraces hands the batch over to the shards. When it returns nil the spans are
// buffered or forwarded, and later errors are not reported here. It waits only while
// max_bytes is exceeded, for a second at most and no longer than ctx allows.
func (p *tracesProcessor) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	if err := p.accounting.Enter(ctx, p.stopped); err != nil {
		return err
	}
	if p.isStopped() { // without waiting for those who still bring a batch
		return assemble.ErrStopped
	}
	p.senders.RLock()
	defer p.senders.RUnlock()
	if p.isStopped() {
		return assemble.ErrStopped
	}
	under := p.revisions.Enter()
	defer under.Leave()
	p.own.CleanResources(td)
	p.lookout.look(td)
	if p.log != nil { // everything has to be appended
		parts := assemble.Split(td)
		if err := p.accounting.Append(parts); err != nil {
			assemble.GiveBack(parts, td) // they stay with the sender
			return fmt.Errorf("resultseal: the storage does not take the batch: %w", err)
		}
		p.shards.Dispatch(parts, nil, under)
		return nil
	}
	if p.passThrough == nil {
		p.shards.Dispatch(assemble.Split(td), nil, under)
		return nil
	}
	parts, forwarded, err := p.passThrough.Forward(ctx, td, under)
	p.shards.Dispatch(parts, forwarded, under)
	return err
}

func (p *tracesProcessor) isStopped() bool {
	select {
	case <-p.stopped:
		return true
	default:
		return false
	}
}

// Shutdown rejects further batches, completes all buffered traces and forwards them. With
// a storage, they stay there for the next start. When ctx ends before that, the calls in
// progress are canceled and an error is returned; the rest is still offered to the next
// consumer.
func (p *tracesProcessor) Shutdown(ctx context.Context) error {
	p.stop.Do(func() {
		close(p.stopped)
		if !p.started {
			close(p.done)
		}
	})
	defer p.recorder.Shutdown()
	defer p.cancel() // not by context.AfterFunc, which may be stopped before it runs
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("resultseal: not everything was passed on before the shutdown had to end: %w", ctx.Err())
	}
}
