// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/conversations"
	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// judgeFunc scores a finished trace that was read and writes the verdicts onto
// its spans in place. It adds attributes and span events at the end of what is
// there, and neither adds, removes nor reorders spans. It is called from one
// goroutine.
type judgeFunc func(*finished)

// scoring is the one place where the processor meets the packages that score and
// annotate. Its parts are shared by all shards and outlets.
type scoring struct {
	cfg     *Config
	options genai.Options
	writer  *annotate.Writer
	store   *conversations.Store
	rec     *recorder
	logger  *zap.Logger
	warned  *warnings
	stream  bool
	log     *wal.Log // nil without a storage
	// keep counts the memory of what conversations keep, more than before or less.
	keep func(bytes int64)
	// started is when the processor began to accept spans without knowing those
	// before; 0 if it knows all.
	started genai.Timestamp
}

func newScoring(logger *zap.Logger, cfg *Config, o genai.Options, rec *recorder) *scoring {
	s := &scoring{
		cfg:     cfg,
		options: o,
		writer: annotate.New(annotate.Options{
			Prefix:           cfg.Prefix,
			ContentHash:      cfg.Annotations.ContentHash,
			HashKey:          string(cfg.Annotations.HashKey),
			Record:           cfg.Annotations.Record,
			EvaluationEvents: cfg.Annotations.EvaluationEvents,
		}),
		rec:    rec,
		stream: cfg.Mode == ModeStream,
		logger: logger,
		warned: newWarnings(logger),
	}
	s.store = conversations.New(cfg.conversationLimits(), cfg.shards(), s)
	return s
}

// account implements scoringSteps.
func (s *scoring) account(keep func(bytes int64)) { s.keep = keep }

// useLog implements scoringSteps.
func (s *scoring) useLog(log *wal.Log, stored *conversations.Stored) {
	s.log = log
	s.store.Restore(stored)
}

// fits implements scoringSteps.
func (s *scoring) fits(slots []int32, stored *conversations.Stored) bool {
	return s.store.Fits(slots, stored)
}

// reshard implements scoringSteps.
func (s *scoring) reshard(stored *conversations.Stored) []wal.Record {
	return walRecords(s.store.Reshard(stored))
}

// walRecords returns records of conversations as the log holds them.
func walRecords(changes []conversations.Record) []wal.Record {
	var records []wal.Record
	for _, c := range changes {
		r := wal.Record{Table: wal.Conversations, Shard: c.Partition, Slot: c.Slot, Payload: c.Payload, Version: c.Version}
		if c.Evicted {
			r.Table = wal.Evicted
		}
		records = append(records, r)
	}
	return records
}

// HoldingSessions implements conversations.Observer.
func (s *scoring) HoldingSessions(more int) { s.rec.HoldingSessions(more) }

// HoldingBytes implements conversations.Observer.
func (s *scoring) HoldingBytes(more int64) { s.keep(more) }

// Forgot implements conversations.Observer.
func (s *scoring) Forgot(sessions int, cause conversations.Cause) { s.rec.Forgot(sessions, cause) }

// tidy gives up the conversations of a partition that are too old, and returns when
// the next one will be.
func (s *scoring) tidy(n int, now time.Time) (time.Time, bool) {
	changes, next, some := s.store.Tidy(n, now)
	if s.log != nil {
		s.log.Acknowledge(nil, walRecords(changes))
	}
	return next, some
}

// begin implements scoringSteps.
func (s *scoring) begin(started time.Time) { s.started = timestamp(started) }

// live is what is known of a trace besides its spans.
func (s *scoring) live(f *finished, now time.Time) score.Live {
	l := score.Live{Gaps: f.fin.By.gap(), Started: s.started, MaxAge: s.cfg.MaxAge, Latest: timestamp(now.Add(s.cfg.MaxClockSkew))}
	if f.fin.Late && f.fin.By == byIdle {
		l.Gaps.Add(score.GapRootMissing) // the spans before may have named no conversation
	}
	return l
}

// timestamp is a time as spans have it; the earliest for times before 1970.
func timestamp(t time.Time) genai.Timestamp { return genai.Timestamp(max(1, t.UnixNano())) } //nolint:gosec // not negative

// cleaner implements scoringSteps.
func (s *scoring) cleaner() cleaner { return newCleaner(s.cfg.Prefix, s.options) }

// reader implements scoringSteps. A decoder is for one goroutine.
func (s *scoring) reader() func(*finished) {
	r := &reader{scoring: s, cleaner: s.cleaner(), decoder: genai.NewDecoder(s.options)}
	r.settle = guard((&judge{s}).settle, s.logger, s.rec)
	return r.read
}

// streamer implements scoringSteps.
func (s *scoring) streamer() *streamer {
	if !s.stream {
		return nil
	}
	return &streamer{options: s.options, decoder: genai.NewDecoder(s.options), writer: s.writer, rec: s.rec, logger: s.logger}
}

// bypass implements scoringSteps.
func (s *scoring) bypass(ctx context.Context, next consumer.Traces) *bypass {
	if !s.stream {
		return nil
	}
	return newBypass(ctx, s.cfg, s.cleaner(), next)
}

// judge implements scoringSteps.
func (s *scoring) judge(n int) (judgeFunc, func(time.Time) (time.Time, bool)) {
	j := &judge{scoring: s}
	return guard(j.judge, s.logger, s.rec), func(now time.Time) (time.Time, bool) { return s.tidy(n, now) }
}

// reader puts a finished trace into canonical form and decodes it, and judges it
// if no conversation's earlier traces have to be judged before.
type reader struct {
	*scoring
	cleaner cleaner
	decoder *genai.Decoder
	settle  judgeFunc

	// The facts of the last trace that was settled, to be written over.
	facts   []genai.Span
	sources []ptrace.Span
}

func (r *reader) read(f *finished) {
	begin := time.Now()
	if f.streamed != nil || f.silent.spans != nil || f.unreadable {
		r.readStream(f)
	} else {
		tells := r.mayTell(f)
		f.spans, f.duplicates = canonical.Form(f.spans)
		if tells {
			r.decode(f)
		}
	}
	if f.revision.Scorer.Conversational() {
		f.conversations = conversationsOf(f.facts)
	}
	switch {
	case len(f.facts) == 0:
		f.settled = true
	case len(f.conversations) == 0:
		facts, sources := f.facts, f.sources
		r.settle(f)
		if f.facts = nil; len(facts) <= maxSpareFacts {
			clear(facts) // they hold on to the spans, and it may be long until the next trace
			clear(sources)
			r.facts, r.sources = facts, sources
		}
	}
	f.reading = time.Since(begin)
}

// maxSpareFacts bounds the memory that is kept for the next trace: facts are of
// some hundred bytes each.
const maxSpareFacts = 1000

// decode finds the facts of a trace's spans.
func (r *reader) decode(f *finished) {
	defer r.giveUp(f)
	f.facts, f.sources = r.decoder.TracesInto(r.facts, r.sources, f.spans)
	r.facts, r.sources = nil, nil // they are the trace's until it is settled
}

// mayTell cleans the spans of a trace and reports whether there may be anything to
// say of it. Most traces that come are not an agent's, and this is all that is done
// for them.
func (r *reader) mayTell(f *finished) (tells bool) {
	defer r.giveUp(f)
	for span := range canonical.Spans(f.spans) {
		if !r.cleaner.silent(span) || f.revision.Scorer.Names(span.Name()) {
			tells = true
		}
	}
	return tells
}

// giveUp recovers from a trace that cannot be read: it has no verdict, and not that
// of a sender either.
func (r *reader) giveUp(f *finished) {
	if failure := recover(); failure != nil {
		f.facts, f.sources, f.unreadable = nil, nil, true
		unscored(r.logger, r.rec, f, failure)
		r.cleaner.own.CleanSpans(f.spans)
		r.decoder = genai.NewDecoder(r.options) // its scratch memory is not what it should be
	}
}

// conversationsOf lists the conversations that the spans of a trace name, each
// once, in their order.
func conversationsOf(facts []genai.Span) (ids []string) {
	var known map[string]struct{} // once there are many
	for i := range facts {
		id := facts[i].Conversation
		if id == "" || known == nil && slices.Contains(ids, id) {
			continue
		}
		if known == nil && len(ids) >= score.MaxConversations {
			known = make(map[string]struct{}, 2*len(ids))
			for _, id := range ids {
				known[id] = struct{}{}
			}
		}
		if known != nil {
			if _, again := known[id]; again {
				continue
			}
			known[id] = struct{}{}
		}
		ids = append(ids, id)
	}
	return ids
}

// judge scores traces, each by its own policy.
type judge struct {
	*scoring
}

// judge settles what is not settled yet and counts it.
func (j *judge) judge(f *finished) {
	j.settle(f)
	v := f.verdict
	if v == nil {
		return
	}
	j.count(v)
	j.warned.gaps(v, f.fin.Late)
	if f.fin.Late {
		return
	}
	j.rec.Session(v.Compliance.String(), f.fin.By)
	j.rec.Gaps(v.Gaps)
	for i := range v.Protocols {
		j.rec.ProtocolVerdict(v.Protocols[i].Protocol, v.Protocols[i].Verdict.String())
	}
}

// settle finds the verdict and writes it onto the spans, once.
func (j *judge) settle(f *finished) {
	if f.settled {
		return
	}
	f.settled = true
	now := time.Now()
	store := j.store.Take(f.conversations, &f.revision.Revision, now)
	defer store.Release() // without what is not kept below
	if f.fin.Late {
		v, joined := f.revision.Scorer.LateTurn(f.facts, store, j.live(f, now))
		if v == nil {
			return
		}
		if joined {
			j.writer.Joined(f.sources, v)
		} else {
			j.writer.Late(f.sources, v)
		}
		f.verdict = v
	} else {
		v := f.revision.Scorer.LiveTrace(f.facts, store, j.live(f, now))
		if v == nil {
			return
		}
		j.writer.Session(f.sources, v, f.fin.By.String())
		f.verdict = v
	}
	f.facts, f.sources = nil, nil
	f.records = walRecords(store.Keep(now))
}

// count notes what a verdict says of single calls.
func (j *judge) count(v *score.Session) {
	for i := range v.Observations {
		o := &v.Observations[i]
		reasons := make([]string, len(o.Evaluation.ReasonCodes))
		for k, r := range o.Evaluation.ReasonCodes {
			reasons[k] = string(r)
		}
		j.rec.Observation(o.Tool, o.Contract, string(o.Evaluation.Decision), string(o.Evaluation.TruthState), reasons)
		if o.Uncaptured {
			j.warned.warn(o)
		}
	}
	j.rec.Uncontracted(len(v.Uncontracted))
	j.rec.Unfollowed(v.Unfollowed)
}

// maxWarned bounds how many tools are remembered as warned about; names come
// from telemetry.
const maxWarned = 1000

// warnings logs once for a tool that its content was not recorded, and how it
// can be, and once for a gap that the processor made, which setting closes it.
type warnings struct {
	logger *zap.Logger
	tools  once[string]
	ahead  once[string] // services
	gap    once[score.Gap]
}

// once remembers what was warned of, up to a number.
type once[K comparable] struct {
	known sync.Map
	count atomic.Int64
}

// first reports whether a key is new.
func (o *once[K]) first(key K) bool {
	if o.count.Load() >= maxWarned {
		return false
	}
	if _, again := o.known.LoadOrStore(key, struct{}{}); again {
		return false
	}
	o.count.Add(1)
	return true
}

func newWarnings(logger *zap.Logger) *warnings { return &warnings{logger: logger} }

// gapSettings are the settings that close the gaps which the processor makes.
var gapSettings = map[score.Gap]string{
	score.GapEvicted:  "raise max_sessions, session_ttl, max_session_bytes, max_bytes",
	score.GapRestart:  "set storage",
	score.GapOverflow: "raise max_traces, max_bytes",
	score.GapOversize: "raise max_spans_per_trace, max_bytes",
	score.GapMaxAge:   "raise max_age above the longest run of an agent",
	score.GapShutdown: "set storage",
}

// gaps logs the gaps of a session that a setting closes, each once, and once for
// each service that its clock is ahead.
func (w *warnings) gaps(v *score.Session, late bool) {
	service := display.Field(v.Service)
	if v.Ahead && w.ahead.first(service) {
		w.logger.Warn("Spans are dated ahead of this collector's clock by more than max_clock_skew; their traces do not join their conversations",
			zap.String("service", service))
	}
	if late {
		return // its trace was logged
	}
	for _, gap := range v.Gaps.List() {
		if setting, ok := gapSettings[gap]; ok && w.gap.first(gap) {
			w.logger.Warn("Events of a session may be missing; a violation that they could explain is inconclusive",
				zap.Stringer("gap", gap), zap.String("reason", gap.Reason()), zap.String("setting", setting))
		}
	}
}

func (w *warnings) warn(o *score.Observation) {
	tool := display.Field(o.Tool)
	if !w.tools.first(tool) {
		return
	}
	w.logger.Warn("a tool call came without usable content, so nothing can be said of its result",
		zap.String("tool", tool),
		zap.String("contract", o.Contract.Name),
		zap.String("reason", string(o.Evaluation.ReasonCodes[0])),
		zap.String("switch", o.ContentSwitch))
}

// guard makes of a judge one that does not panic: a trace whose scoring fails
// is left as it was before.
func guard(judge judgeFunc, logger *zap.Logger, rec *recorder) judgeFunc {
	return func(f *finished) {
		if f.unreadable {
			return
		}
		var before spanSizes
		if !f.settled {
			before = measureSpans(f.spans)
		}
		defer func() {
			if failure := recover(); failure != nil {
				before.restore(f.spans)
				f.unreadable, f.verdict = true, nil
				unscored(logger, rec, f, failure)
			}
		}()
		judge(f)
	}
}

// unscored reports a panic, from within the function that recovered it.
func unscored(logger *zap.Logger, rec *recorder, f *finished, failure any) {
	rec.Unscored()
	logger.Error("scoring a trace failed; the trace is passed on without a verdict",
		zap.Stringer("trace_id", canonical.TraceID(f.spans)),
		zap.String("panic", describePanic(failure)),
		zap.StackSkip("stack", 2))
}

// describePanic says what went wrong without any text that could come from a
// span. The runtime's own errors hold types and numbers only.
func describePanic(failure any) string {
	if err, ok := failure.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", failure)
}

// spanSizes are the numbers of attributes and events of each span of a trace.
// What a judge wrote comes after them, so they are all that it takes to undo
// it, and much less than a copy of the trace.
type spanSizes []struct{ attributes, events int }

func measureSpans(td ptrace.Traces) spanSizes {
	sizes := make(spanSizes, 0, td.SpanCount())
	for span := range canonical.Spans(td) {
		sizes = append(sizes, struct{ attributes, events int }{span.Attributes().Len(), span.Events().Len()})
	}
	return sizes
}

// restore takes away what was added since the sizes were taken.
func (sizes spanSizes) restore(td ptrace.Traces) {
	if sizes == nil {
		return
	}
	at := 0
	for span := range canonical.Spans(td) {
		size := sizes[at]
		at++
		n := 0
		span.Attributes().RemoveIf(func(string, pcommon.Value) bool {
			n++
			return n > size.attributes
		})
		n = 0
		span.Events().RemoveIf(func(ptrace.SpanEvent) bool {
			n++
			return n > size.events
		})
	}
}
