// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"crypto/sha256"
	"errors"
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
	"github.com/resultseal/otelcol-resultseal/internal/conversations"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/mailbox"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// errStopped is what a sender gets after Shutdown began. The spans stay with
// the sender.
var errStopped = errors.New("resultseal: the processor is stopped")

// tracesProcessor gives every span that it accepts to the next consumer
// exactly once, when its trace is finished.
//
// Shards assemble traces, each its own ids, and judge those of which no protocol
// follows the conversation; outlets judge the others, each its own conversations,
// and pass everything on. There are as many of the one as of the other, and each
// has a goroutine and nobody else's state. Work goes from the sender over a shard
// to an outlet, never back.
type tracesProcessor struct {
	shards    []*shard
	outlets   []*outlet
	bypass    *bypass  // in mode stream
	lookout   *lookout // nil looks at nothing
	admission *admission
	recorder  *recorder
	scoring   scoringSteps
	revisions *revision.Set
	reloader  *reloader // nil if the policy is never read again
	logger    *zap.Logger

	// own is the namespace of everything that the processor writes.
	own annotate.Namespace

	// log is nil without a storage.
	log     *wal.Log
	storage *component.ID
	id      component.ID
	// continued is set if the storage holds all that was accepted before.
	continued bool

	// senders is locked for reading by those who bring a batch, and for writing
	// to stop.
	senders sync.RWMutex
	stopped chan struct{} // closed when Shutdown begins
	done    chan struct{} // closed when nothing is held any more
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
	p := newWithScoring(set.Logger, cfg, next, rec, pol, newScoring(set.Logger, cfg, options, rec))
	p.id = set.ID
	p.lookout = newLookout(set.Logger, options)
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

// scoringSteps makes the two steps of scoring, each for one goroutine.
type scoringSteps interface {
	// reader makes what prepares finished traces for their verdict.
	reader() func(*finished)
	// useLog is called before anything is judged: the conversations that the log held,
	// and the log of their changes.
	useLog(log *wal.Log, stored *conversations.Stored)
	// fits reports whether stored conversations are in the slots that they would be given
	// here. slots are the numbers of slots in use, by outlet.
	fits(slots []int32, stored *conversations.Stored) bool
	// reshard gives stored conversations other slots.
	reshard(stored *conversations.Stored) []wal.Record
	// account is called before everything else: what counts the memory of what
	// conversations keep, more than before or less.
	account(keep func(bytes int64))
	// begin is called before anything is judged if spans that were sent before may
	// be missing.
	begin(started time.Time)
	// streamer makes what lets spans pass before their trace is finished; nil if
	// none may.
	streamer() *streamer
	// bypass makes what lets silent spans pass to the next consumer, until ctx is
	// over; nil if none may.
	bypass(ctx context.Context, next consumer.Traces) *bypass
	// judge makes what judges them, for the n-th outlet, and what tidies up.
	judge(n int) (judgeFunc, func(time.Time) (time.Time, bool))
}

func newWithScoring(logger *zap.Logger, cfg *Config, next consumer.Traces, rec *recorder, pol *policy.Policy, scoring scoringSteps) *tracesProcessor {
	n := cfg.shards()
	ctx, cancel := context.WithCancel(context.Background())
	p := &tracesProcessor{
		admission: &admission{max: cfg.MaxBytes},
		recorder:  rec,
		scoring:   scoring,
		revisions: revision.NewSet(pol, ctx.Done()),
		logger:    logger,
		own:       annotate.Namespace(cfg.Prefix),
		storage:   cfg.Storage,
		stopped:   make(chan struct{}),
		done:      make(chan struct{}),
		cancel:    cancel,
	}
	rec.bytes = p.admission.total
	p.admission.pressed = p.makeRoom
	scoring.account(p.admission.keep)
	for i := range n {
		judge, tidy := scoring.judge(i)
		p.outlets = append(p.outlets, &outlet{
			in:       mailbox.New[*finished](),
			judge:    judge,
			tidy:     tidy,
			redact:   newRedact(cfg),
			next:     &delivery{next: next, retry: cfg.Retry, retried: rec.Retried, stopped: p.stopped},
			ctx:      ctx,
			rec:      rec,
			logger:   logger,
			released: p.release,
		})
	}
	p.bypass = scoring.bypass(ctx, next)
	for range n {
		p.shards = append(p.shards, &shard{
			in: mailbox.New[arrival](),
			assembler: newAssembler(limits{
				rootDelay:    cfg.RootDelay,
				idleTimeout:  cfg.IdleTimeout,
				maxAge:       cfg.MaxAge,
				maxTraces:    share(cfg.MaxTraces, n),
				maxBytes:     share(cfg.MaxBytes, n),
				decidedCache: share(cfg.DecidedCache, n),
				maxSpans:     cfg.MaxSpansPerTrace,
			}),
			own:     p.own,
			read:    scoring.reader(),
			give:    p.give,
			forget:  p.forget,
			stream:  scoring.streamer(),
			hold:    p.admission.hold,
			room:    func() int64 { return share(p.admission.forSpans(), n) },
			noted:   p.bypass.release,
			late:    rec.Late,
			holding: rec.Holding,
		})
	}
	return p
}

// Capabilities says that spans are changed: they get annotations.
func (p *tracesProcessor) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: true}
}

// Start begins to accept spans, after what a storage holds.
func (p *tracesProcessor) Start(ctx context.Context, host component.Host) error {
	var before []*tracePart
	if p.storage != nil {
		var err error
		if before, err = p.restore(ctx, host); err != nil {
			return err
		}
		p.log.Start()
	}
	if !p.continued {
		p.scoring.begin(time.Now())
	}
	p.started = true
	var shards, outlets, reloads sync.WaitGroup
	if p.reloader != nil {
		p.reloader.report = func(e *componentstatus.Event) { componentstatus.ReportStatus(host, e) }
		reloads.Go(func() { p.reloader.run(p.stopped) })
	}
	for _, s := range p.shards {
		shards.Go(s.run)
	}
	for _, o := range p.outlets {
		outlets.Go(o.run)
	}
	go func() {
		defer close(p.done)
		<-p.stopped
		p.senders.Lock() // those who bring a batch have brought it
		for _, s := range p.shards {
			s.in.Close()
		}
		p.senders.Unlock()
		shards.Wait()
		for _, o := range p.outlets {
			o.in.Close()
		}
		outlets.Wait()
		if p.log != nil {
			if err := p.log.Close(context.Background()); err != nil {
				p.logger.Error("the storage was not closed", zap.Error(err))
			}
		}
		reloads.Wait()
	}()
	under := p.revisions.Enter()
	defer under.Leave()
	p.dispatch(before, nil, under)
	return nil
}

// ConsumeTraces hands the batch over to the shards. When it returns nil the
// spans are held or passed on, and what then becomes of them is not reported
// here. It waits only while max_bytes is exceeded, for a second at most and no
// longer than ctx allows.
func (p *tracesProcessor) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	if err := p.admission.enter(ctx, p.stopped); err != nil {
		return err
	}
	if p.isStopped() { // without waiting for those who still bring a batch
		return errStopped
	}
	p.senders.RLock()
	defer p.senders.RUnlock()
	if p.isStopped() {
		return errStopped
	}
	under := p.revisions.Enter()
	defer under.Leave()
	p.own.CleanResources(td)
	p.lookout.look(td)
	if p.log != nil { // everything has to be written down
		parts := splitByTrace(td)
		if err := p.append(parts); err != nil {
			giveBack(parts, td) // they stay with the sender
			return fmt.Errorf("resultseal: the storage does not take the batch: %w", err)
		}
		p.dispatch(parts, nil, under)
		return nil
	}
	if p.bypass == nil {
		p.dispatch(splitByTrace(td), nil, under)
		return nil
	}
	parts, passed, err := p.bypass.pass(ctx, td, under)
	p.dispatch(parts, passed, under)
	return err
}

// append writes a batch to the log. Its parts are named in it.
func (p *tracesProcessor) append(parts []*tracePart) error {
	payloads := make([][]byte, len(parts))
	for i, part := range parts {
		payloads[i] = part.marshal()
	}
	refs, err := p.log.Append(payloads)
	if err != nil {
		return err
	}
	for i, part := range parts {
		part.entry = refs[i : i+1 : i+1]
	}
	return nil
}

func (p *tracesProcessor) isStopped() bool {
	select {
	case <-p.stopped:
		return true
	default:
		return false
	}
}

// dispatch brings what a batch holds to the shards of its traces. It was received
// under what was in force then.
func (p *tracesProcessor) dispatch(parts []*tracePart, passed []*passedSpans, under *revision.InForce) {
	byShard := make([]arrival, len(p.shards))
	bytes := int64(0)
	for _, part := range parts {
		part.revision = under.Revision
		n := shardOfTrace(part.id, len(p.shards))
		byShard[n].parts = append(byShard[n].parts, part)
		bytes += part.bytes
	}
	for n, passed := range passed {
		if passed != nil {
			byShard[n].silent = passed
			bytes += int64(len(*passed)) * silentBytes
		}
	}
	p.admission.hold(bytes)
	for n, arrived := range byShard {
		if len(arrived.parts) > 0 || arrived.silent != nil {
			arrived.under = under
			under.Join()
			p.shards[n].in.Put(arrived)
		}
	}
}

// give brings a finished trace to the outlet of its conversation, or of its id.
func (p *tracesProcessor) give(f *finished) {
	n := shardOfTrace(f.id, len(p.outlets))
	if len(f.conversations) > 0 {
		n = conversations.Partition(f.conversations[0], len(p.outlets))
	}
	p.outlets[n].in.Put(f)
}

// makeRoom lets the shards complete traces until what they hold is within what
// conversations leave of max_bytes.
func (p *tracesProcessor) makeRoom() {
	for _, s := range p.shards {
		s.in.Wake()
	}
}

// forget ends the account of a trace all of which has passed already.
func (p *tracesProcessor) forget(f *finished) {
	p.recorder.Duplicates(f.duplicates)
	p.release(f, false)
}

// release ends the account of a trace that has left, or that was kept in the
// storage.
func (p *tracesProcessor) release(f *finished, kept bool) {
	p.admission.release(f.bytes)
	if p.log == nil {
		return
	}
	if f.passage != nil && !f.judge {
		f.passage.end(kept, p.log.Acknowledge)
		return
	}
	records := f.records
	if f.decidedAt > 0 {
		records = append(records, wal.Record{
			Table: wal.Decisions, Shard: shardOfTrace(f.id, len(p.shards)), Slot: f.decidedAt - 1,
			Payload: encodeDecided(f.id, f.fin.By, f.decidedSeq),
		})
	}
	switch {
	case f.passage != nil:
		f.passage.finish(f.entries, records, kept, p.log.Acknowledge)
	case !kept:
		p.log.Acknowledge(f.entries, records)
	}
}

// Shutdown refuses further batches, finishes every trace that is held and
// passes it on. With a storage, what is held stays there for the next start. When ctx ends before that, the calls that are under way are
// cancelled and an error is returned; the rest is still offered to the next
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
