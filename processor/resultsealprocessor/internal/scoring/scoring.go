// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/consumer"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/conversations"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/mailbox"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// Settings are those of a Scoring, and its surroundings.
type Settings struct {
	Shards      int // and emitters
	Stream      bool
	Decoding    genai.Options
	Annotations annotate.Options
	Content     Content
	// Conversations bound the states of conversations of all emitters together.
	Conversations conversations.Limits
	// MaxAge and MaxClockSkew decide which gaps a trace may have.
	MaxAge, MaxClockSkew time.Duration
	Retry                configretry.BackOffConfig

	Next       consumer.Traces
	Accounting *assemble.Accounting
	Recorder   Recorder
	Logger     *zap.Logger
	// Stopped is closed when the processor stops. From then on everything that is left
	// has Retry.MaxElapsedTime together.
	Stopped <-chan struct{}
}

// Recorder counts what scoring does. All goroutines of the processor use it.
type Recorder interface {
	// Observation counts a tool result that a contract was evaluated for, and the reasons
	// against it.
	Observation(tool string, contract *policy.Contract, decision, truthState string, reasons []engine.ReasonCode)
	// Uncontracted counts tool calls that no contract matched.
	Uncontracted(calls int)
	// Unfollowed counts conversations that were not followed, because their trace has too
	// many.
	Unfollowed(conversations int)
	// Session counts a completed session.
	Session(compliance, finalizedBy string)
	// Gaps counts a completed session for each of its gaps.
	Gaps(gaps score.Gaps)
	// ProtocolVerdict counts the verdict of a protocol on a completed session.
	ProtocolVerdict(protocol *policy.Protocol, verdict string)
	// HoldingSessions counts states of conversations, more than before or fewer.
	HoldingSessions(more int)
	// Forgot counts states of conversations that were given up.
	Forgot(sessions int, cause conversations.Cause)
	// Late counts spans that arrived after their trace was completed.
	Late(spans int)
	// Duplicates counts redelivered spans.
	Duplicates(spans int)
	// Refused counts spans that the next consumer did not accept.
	Refused(spans int)
	// Retried counts a retry.
	Retried()
	// Unscored counts a trace whose scoring failed.
	Unscored()
	// ScoreDuration records how long one trace took.
	ScoreDuration(took time.Duration)
}

// Scoring scores completed traces and forwards them. It is the one place where the
// processor meets the packages that score and annotate.
type Scoring struct {
	Settings
	ctx      context.Context // of calls to the next consumer
	writer   *annotate.Writer
	own      annotate.Namespace
	store    *conversations.Store
	warned   *warnings
	emitters []*emitter
	running  sync.WaitGroup
	log      *wal.Log // nil without a storage
	// started is when the processor began to accept spans without knowing the earlier
	// ones; 0 if it knows all.
	started genai.Timestamp
	// evaluate scores a trace that has facts. Tests replace it.
	evaluate func(*trace)
}

// New returns a Scoring that has not started. Calls to the next consumer end with ctx.
func New(ctx context.Context, set Settings) *Scoring {
	s := &Scoring{
		Settings: set, ctx: ctx,
		writer: annotate.New(set.Annotations),
		own:    annotate.Namespace(set.Annotations.Prefix),
		warned: newWarnings(set.Logger),
	}
	s.evaluate = s.evaluateTrace
	s.store = conversations.New(set.Conversations, set.Shards, sessionObserver{set.Recorder, set.Accounting})
	for n := range set.Shards {
		s.emitters = append(s.emitters, &emitter{
			Scoring: s, n: n, in: mailbox.New[emission](),
			score:  s.guard(s.scoreAndCount),
			redact: newRedact(set.Content, set.Decoding),
			next:   &delivery{next: set.Next, retry: set.Retry, retried: set.Recorder.Retried, stopped: set.Stopped},
		})
	}
	return s
}

// sessionObserver counts the states of conversations in metrics and against max_bytes.
type sessionObserver struct {
	Recorder
	accounting *assemble.Accounting
}

// HoldingBytes implements conversations.Observer.
func (o sessionObserver) HoldingBytes(more int64) { o.accounting.Keep(more) }

// NewHandler returns the handler of a shard.
func (s *Scoring) NewHandler() assemble.Handler {
	h := &handler{Scoring: s, reader: s.newReader()}
	if s.Stream {
		h.streamer = s.newStreamer()
	}
	return h
}

// Begin is called before Start if spans that were sent before may be missing.
func (s *Scoring) Begin(started time.Time) { s.started = timestamp(started) }

// Start starts the emitters.
func (s *Scoring) Start() {
	for _, e := range s.emitters {
		s.running.Go(e.run)
	}
}

// Close ends the calls of handlers and waits until everything was forwarded, or is kept in
// the storage.
func (s *Scoring) Close() {
	for _, e := range s.emitters {
		e.in.Close()
	}
	s.running.Wait()
}

// Fits reports whether stored conversations are in slots that they would be given here.
// slots are the numbers of slots in use, by shard.
func (s *Scoring) Fits(slots []int32, stored *conversations.Stored) bool {
	return s.store.Fits(slots, stored)
}

// Reshard gives stored conversations other slots, and returns their records.
func (s *Scoring) Reshard(stored *conversations.Stored) []wal.Record {
	return walRecords(s.store.Reshard(stored))
}

// Restore makes the Scoring continue a log and the conversations that it holds. It is
// called before Start. Spans that the next consumer does not accept until the shutdown
// stay in the log.
func (s *Scoring) Restore(log *wal.Log, stored *conversations.Stored) {
	s.log = log
	s.store.Restore(stored)
	for _, e := range s.emitters {
		e.next.durable = true
	}
}

// walRecords returns records of conversations as the log holds them.
func walRecords(changes []conversations.Record) []wal.Record {
	if len(changes) == 0 {
		return nil
	}
	records := make([]wal.Record, len(changes))
	for i, c := range changes {
		records[i] = wal.Record{Table: wal.Conversations, Shard: c.Partition, Slot: c.Slot, Payload: c.Payload, Version: c.Version}
		if c.Evicted {
			records[i].Table = wal.Evicted
		}
	}
	return records
}

// tidy gives up the conversations of a partition that are too old, and returns when the
// next one will be.
func (s *Scoring) tidy(n int, now time.Time) (time.Time, bool) {
	changes, next, some := s.store.Tidy(n, now)
	if s.log != nil {
		s.log.Acknowledge(nil, walRecords(changes))
	}
	return next, some
}

// timestamp returns a time as spans have it; the earliest for times before 1970.
func timestamp(t time.Time) genai.Timestamp { return genai.Timestamp(max(1, t.UnixNano())) } //nolint:gosec // not negative
