// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/conversations"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// counts is a recorder.
type counts struct {
	unscored, refused, duplicates, late, traces atomic.Int64

	durations []time.Duration // of one shard
}

func (*counts) Observation(string, *policy.Contract, string, string, []engine.ReasonCode) {}
func (*counts) Uncontracted(int)                                                          {}
func (*counts) Unfollowed(int)                                                            {}
func (*counts) Session(string, string)                                                    {}
func (*counts) Gaps(score.Gaps)                                                           {}
func (*counts) ProtocolVerdict(*policy.Protocol, string)                                  {}
func (*counts) HoldingSessions(int)                                                       {}
func (*counts) Forgot(int, conversations.Cause)                                           {}
func (*counts) Retried()                                                                  {}
func (c *counts) Holding(more int)                                                        { c.traces.Add(int64(more)) }

func (c *counts) Late(spans int) { c.late.Add(int64(spans)) }

func (c *counts) Duplicates(spans int) { c.duplicates.Add(int64(spans)) }

func (c *counts) Refused(spans int) { c.refused.Add(int64(spans)) }

func (c *counts) Unscored() { c.unscored.Add(1) }

func (c *counts) ScoreDuration(took time.Duration) { c.durations = append(c.durations, took) }

// pipeline is a Scoring behind shards.
type pipeline struct {
	*Scoring
	shards    *assemble.Shards
	revisions *revision.Set
	counts    *counts
	logs      *observer.ObservedLogs
}

func newPipeline(t testing.TB, next consumer.Traces, change ...func(*Settings)) *pipeline {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	p := &pipeline{counts: &counts{}, logs: logs}
	accounting := assemble.NewAccounting(1 << 30)
	settings := Settings{
		Shards: 1, Annotations: annotate.Options{Prefix: "resultseal."}, MaxAge: time.Hour, MaxClockSkew: 100 * 365 * 24 * time.Hour,
		Conversations: conversations.Limits{Sessions: 1000, Bytes: 1 << 20, StateBytes: 1 << 16, TTL: time.Hour},
		Retry:         configretry.BackOffConfig{},
		Next:          next, Accounting: accounting, Recorder: p.counts, Logger: zap.New(core), Stopped: make(chan struct{}),
	}
	for _, c := range change {
		c(&settings)
	}
	p.revisions = revision.NewSet(spantest.LoadPolicy(t, spantest.StreamPolicy), nil)
	p.Scoring = New(context.Background(), settings)
	p.shards = assemble.NewShards(assemble.Settings{
		Shards: settings.Shards, Stream: settings.Stream, Recorder: p.counts,
		Limits: assemble.Limits{IdleTimeout: 10 * time.Second, MaxAge: time.Hour, MaxTraces: 1000, MaxBytes: 1 << 30, DecidedCache: 1000},
	}, accounting, p.NewHandler)
	return p
}

func (p *pipeline) start() {
	p.shards.Start()
	p.Scoring.Start()
}

func (p *pipeline) consume(td ptrace.Traces) {
	under := p.revisions.Enter()
	defer under.Leave()
	p.shards.Dispatch(assemble.Split(td), nil, under)
}

func (p *pipeline) stop() {
	p.shards.Close()
	p.shards.Wait()
	p.Close()
}

// A trace is evaluated in canonical form, and forwarded with what evaluating it wrote.
// Spans without a trace id are forwarded without.
func TestTraceIsEvaluatedInCanonicalForm(t *testing.T) {
	sink := new(consumertest.TracesSink)
	p := newPipeline(t, sink)
	evaluated := 0
	p.evaluate = func(trace *trace) {
		evaluated++
		require.Equal(t, 2, trace.Spans.SpanCount())
		require.Equal(t, 1, trace.Spans.ResourceSpans().Len())
		spans := trace.Spans.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
		require.Equal(t, "a", spans.At(0).Name())
		spans.At(0).Attributes().PutStr("resultseal.decision", "sealed")
	}
	p.start()
	p.consume(spantest.AgentBatch(t, []string{"t1/b start=2s call=order", "-/x call=order", "t1/a start=1s"}))
	p.stop()
	require.Equal(t, 1, evaluated)
	all := sink.AllTraces()
	require.Len(t, all, 2)
	first := func(td ptrace.Traces) pcommon.Map {
		return td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes()
	}
	_, ok := first(all[0]).Get("resultseal.decision")
	require.False(t, ok)
	decision, ok := first(all[1]).Get("resultseal.decision")
	require.True(t, ok)
	require.Equal(t, "sealed", decision.Str())
}

// A trace whose evaluation panics is forwarded as it arrived, and no content is logged.
func TestPanicLosesNothing(t *testing.T) {
	const secret = "the customer's card number"
	for name, failure := range map[string]func(){
		"text":    func() { panic(secret) },
		"error":   func() { panic(errors.New(secret)) },
		"runtime": func() { _ = make([]int, 0)[len(secret)] },
	} {
		t.Run(name, func(t *testing.T) {
			sink := new(consumertest.TracesSink)
			p := newPipeline(t, sink)
			p.evaluate = func(trace *trace) {
				for span := range canonical.Spans(trace.Spans) {
					span.Attributes().PutStr("resultseal.decision", "sealed")
					span.Events().AppendEmpty().SetName("resultseal.protocol.violation")
				}
				failure()
			}
			p.start()
			in := spantest.AgentBatch(t, []string{"t1/a pad=10 call=order", "t1/b root agent"})
			in.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Events().AppendEmpty().SetName("its own")
			want := spantest.Texts([]ptrace.Traces{in})
			p.consume(in)
			p.consume(spantest.AgentBatch(t, []string{"t2/a call=order"}))
			p.stop()

			require.Equal(t, 2, len(sink.AllTraces()))
			require.Equal(t, want, spantest.Texts(sink.AllTraces()[:1]))
			require.Equal(t, int64(2), p.counts.unscored.Load())
			require.Equal(t, 2, p.logs.Len())
			for _, entry := range p.logs.All() {
				require.NotContains(t, fmt.Sprint(entry.Message, entry.ContextMap()), secret)
				require.Contains(t, entry.ContextMap(), "trace_id")
				require.Contains(t, fmt.Sprint(entry.ContextMap()["stack"]), "TestPanicLosesNothing")
			}
			require.Zero(t, p.Accounting.Spans())
		})
	}
}

// The duration of scoring is that of one trace, in whichever goroutine it is scored.
func TestScoreDuration(t *testing.T) {
	for name, talk := range map[string]bool{"by the shard": false, "by the emitter": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPipeline(t, consumertest.NewNop())
				if talk {
					p.revisions = revision.NewSet(spantest.LoadPolicy(t, spantest.ConversationPolicy), nil)
				}
				p.evaluate = func(*trace) { time.Sleep(3 * time.Millisecond) }
				p.start()
				for n := range 3 {
					p.consume(spantest.Turn(n, "c", "order", "1"))
				}
				p.stop()
				require.Equal(t, []time.Duration{3 * time.Millisecond, 3 * time.Millisecond, 3 * time.Millisecond}, p.counts.durations)
			})
		})
	}
}

// A reader does not keep the spans of the last trace.
func TestReadersLetGoOfTraces(t *testing.T) {
	p := newPipeline(t, consumertest.NewNop())
	r := p.newReader()
	r.read(&trace{Trace: &assemble.Trace{Spans: spantest.Call("t", "a", "order", 1, 2), Revision: p.revisions.Current().Revision}})
	require.NotEmpty(t, r.facts)
	for i := range r.facts {
		require.Zero(t, r.facts[i])
		require.Zero(t, r.sources[i])
	}
}

// A trace may name any number of conversations. Each is listed once, in order.
func TestConversationsOfATrace(t *testing.T) {
	const n = 100_000
	facts := make([]genai.Span, 0, 2*n+1)
	var want []string
	for i := range n {
		id := strconv.Itoa(i)
		want = append(want, id)
		facts = append(facts, genai.Span{Conversation: id}, genai.Span{Conversation: strconv.Itoa(i / 2)})
	}
	facts = append(facts, genai.Span{})
	begin := time.Now()
	require.Equal(t, want, conversationsOf(facts))
	require.Less(t, time.Since(begin), 5*time.Second)
	require.Empty(t, conversationsOf(facts[len(facts)-1:]))
}

// The cost of spans without GenAI content: all that is done with one between the
// sender and the next component, in one goroutine.
func BenchmarkPlainSpans(b *testing.B) {
	for _, mode := range []string{"trace", "stream"} {
		stream := mode == "stream"
		b.Run(mode, func(b *testing.B) {
			p := newPipeline(b, consumertest.NewNop(), func(s *Settings) { s.Stream = stream })
			reader, passThrough := p.newReader(), p.NewPassThrough()
			a := assemble.NewAssembler(assemble.Limits{IdleTimeout: time.Hour, MaxAge: time.Hour, MaxTraces: 1000, MaxBytes: 1 << 40, DecidedCache: 100_000})
			under := p.revisions.Enter()
			defer under.Leave()
			batch := func(n int) ptrace.Traces { // of traces of its own; in mode trace with their roots
				td, i := spantest.Plain(25, 20), 0
				for span := range canonical.Spans(td) {
					id := span.TraceID()
					binary.BigEndian.PutUint32(id[:], uint32(n)) //nolint:gosec // any number
					span.SetTraceID(id)
					if i++; !stream && i > 475 {
						span.SetParentSpanID(pcommon.SpanID{})
					}
				}
				return td
			}
			b.ReportAllocs()
			spans := 0
			for b.Loop() {
				b.StopTimer()
				td := batch(spans)
				spans += 500
				b.StartTimer()
				p.own.CleanResources(td)
				var parts []*assemble.Part
				if stream {
					_, forwarded, err := passThrough.Forward(context.Background(), td, under)
					if err != nil {
						b.Fatal(err)
					}
					for _, of := range forwarded {
						a.AddPlain(*of, under.Revision, spantest.Epoch)
						of.Recycle()
					}
				} else {
					parts = assemble.Split(td)
				}
				for _, part := range parts {
					part.Revision = under.Revision
				}
				_, completed := a.Add(parts, spantest.Epoch)
				for _, t := range append(completed, a.Tick(spantest.Epoch)...) {
					if t.Revision = under.Revision; !stream {
						reader.read(&trace{Trace: t})
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(spans), "ns/span")
		})
	}
}
