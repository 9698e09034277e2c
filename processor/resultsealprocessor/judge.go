// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"fmt"
	"iter"
	"runtime"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// judgeFunc decodes and scores the spans of a finished trace, which are in
// canonical form, and writes the verdicts onto them in place. It adds
// attributes and span events at the end of what is there, and neither adds,
// removes nor reorders spans. It is called from one goroutine.
type judgeFunc func(td ptrace.Traces, fin finish)

// newJudge makes the judge of a policy. It is the one place where the
// processor meets the packages that score and annotate.
func newJudge(set component.TelemetrySettings, cfg *Config, p *policy.Policy, rec *recorder) judgeFunc {
	scorer := score.New(p)
	j := &judge{
		decoder: genai.NewDecoder(genai.Options{}),
		scorer:  scorer,
		store:   newConversations(scorer, cfg.MaxSessions, cfg.SessionTTL, rec.Forgot),
		writer: annotate.New(annotate.Options{
			Prefix:           cfg.Prefix,
			ContentHash:      cfg.Annotations.ContentHash,
			HashKey:          string(cfg.Annotations.HashKey),
			Record:           cfg.Annotations.Record,
			EvaluationEvents: cfg.Annotations.EvaluationEvents,
		}),
		rec:    rec,
		logger: set.Logger,
		warned: map[string]bool{},
	}
	return j.judge
}

// judge scores traces by one policy.
type judge struct {
	decoder *genai.Decoder
	scorer  *score.Scorer
	store   *conversations
	writer  *annotate.Writer
	rec     *recorder
	logger  *zap.Logger
	warned  map[string]bool // tools that were met without content
}

func (j *judge) judge(td ptrace.Traces, fin finish) {
	facts, spans := j.decoder.Traces(td)
	if fin.Late {
		if v := j.scorer.Late(facts); v != nil {
			j.writer.Late(spans, v)
			j.count(v)
		}
		return
	}
	now := time.Now()
	j.store.expire(now)
	defer j.store.drop() // what is not kept below
	v := j.scorer.Trace(facts, j.store)
	if v == nil {
		return
	}
	j.writer.Session(spans, v, fin.By.String())
	j.store.keep(now)
	j.rec.HoldingSessions(j.store.Len())
	j.count(v)
	j.rec.Session(v.Compliance.String(), fin.By)
	for i := range v.Protocols {
		j.rec.ProtocolVerdict(v.Protocols[i].Protocol.Name, v.Protocols[i].Verdict.String())
	}
}

// count notes what a verdict says of single calls.
func (j *judge) count(v *score.Session) {
	for i := range v.Observations {
		o := &v.Observations[i]
		reasons := make([]string, len(o.Evaluation.ReasonCodes))
		for k, r := range o.Evaluation.ReasonCodes {
			reasons[k] = string(r)
		}
		j.rec.Observation(o.Tool, o.Contract.Name, string(o.Evaluation.Decision), string(o.Evaluation.TruthState), reasons)
		if o.Uncaptured {
			j.warn(o)
		}
	}
	j.rec.Uncontracted(len(v.Uncontracted))
}

// maxWarned bounds how many tools are remembered as warned about; names come
// from telemetry.
const maxWarned = 1000

// warn says once for a tool that its content was not recorded, and how it can
// be.
func (j *judge) warn(o *score.Observation) {
	if j.warned[o.Tool] || len(j.warned) >= maxWarned {
		return
	}
	j.warned[o.Tool] = true
	j.logger.Warn("a tool call came without usable content, so nothing can be said of its result",
		zap.String("tool", o.Tool),
		zap.String("contract", o.Contract.Name),
		zap.String("reason", string(o.Evaluation.ReasonCodes[0])),
		zap.String("switch", o.ContentSwitch))
}

// guard makes of a judge one that does not panic: a trace whose scoring fails
// is left as it was before.
func guard(judge judgeFunc, logger *zap.Logger, rec *recorder) judgeFunc {
	return func(td ptrace.Traces, fin finish) {
		before := measureSpans(td)
		defer func() {
			if failure := recover(); failure != nil {
				before.restore(td)
				rec.Unscored()
				logger.Error("scoring a trace failed; the trace is passed on without a verdict",
					zap.Stringer("trace_id", traceIDOf(td)),
					zap.String("panic", describePanic(failure)),
					zap.StackSkip("stack", 1))
			}
		}()
		judge(td, fin)
	}
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
	for span := range spansOf(td) {
		sizes = append(sizes, struct{ attributes, events int }{span.Attributes().Len(), span.Events().Len()})
	}
	return sizes
}

// restore takes away what was added since the sizes were taken.
func (sizes spanSizes) restore(td ptrace.Traces) {
	at := 0
	for span := range spansOf(td) {
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

// spansOf walks all spans.
func spansOf(td ptrace.Traces) iter.Seq[ptrace.Span] {
	return func(yield func(ptrace.Span) bool) {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					if !yield(span) {
						return
					}
				}
			}
		}
	}
}

// traceIDOf is the trace id of the first span; finished spans are of one
// trace.
func traceIDOf(td ptrace.Traces) pcommon.TraceID {
	for span := range spansOf(td) {
		return span.TraceID()
	}
	return pcommon.TraceID{}
}
