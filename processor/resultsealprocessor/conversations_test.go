// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/conversations"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// offline is what the packages below the processor write onto traces, one after
// the other.
func offline(p *policy.Policy, in []ptrace.Traces, finalizedBy string) map[pcommon.TraceID]string {
	store, scorer := conversations.Unbounded{}, score.New(p)
	out := map[pcommon.TraceID]string{}
	for _, trace := range in {
		td := ptrace.NewTraces()
		trace.CopyTo(td)
		td, _ = canonical.Form(td)
		facts, spans := genai.NewDecoder(genai.Options{}).Traces(td)
		if v := scorer.Trace(facts, store); v != nil {
			annotate.New(annotate.Options{}).Session(spans, v, finalizedBy)
		}
		out[canonical.TraceID(td)] = string(spantest.Marshal(td))
	}
	return out
}

// A protocol that follows conversations says through the processor what it says
// without one, whatever traces of others come in between.
func TestConversationsAsOffline(t *testing.T) {
	in := spantest.Turns(rand.New(rand.NewPCG(3, 4)), 20, 400)
	want := offline(spantest.LoadPolicy(t, spantest.ConversationPolicy), in, "root")
	asOffline := func(t *testing.T, shards int) {
		sink := new(consumertest.TracesSink)
		p := newScoringProcessor(t, sink, spantest.ConversationPolicy, func(c *Config) { c.RootDelay, c.NumShards = 0, shards })
		p.start(t)
		for _, td := range in {
			copied := ptrace.NewTraces()
			td.CopyTo(copied)
			require.NoError(t, p.ConsumeTraces(context.Background(), copied))
			synctest.Wait() // so that traces are finished in this order
		}
		metadatatest.AssertEqualProcessorResultsealSessionsActive(t, p.telemetry, points(point(20)), ignoreTime)
		p.shutdown(t)
		if diff := cmp.Diff(want, spantest.TraceTexts(sink.AllTraces())); diff != "" {
			t.Fatal(diff)
		}
	}
	for _, shards := range []int{1, 2, 7} {
		synctest.Test(t, func(t *testing.T) { asOffline(t, shards) })
	}
	verdicts := map[string]int{}
	for _, text := range want {
		for _, verdict := range []string{"orders=compliant", "orders=violation"} {
			if strings.Contains(text, verdict) {
				verdicts[verdict]++
			}
		}
	}
	require.Len(t, verdicts, 2, "the traces show one verdict only")
}

// A trace that is finished after later ones of its conversation is marked.
func TestTraceOutOfOrderIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		p := newScoringProcessor(t, sink, spantest.ConversationPolicy, func(c *Config) { c.RootDelay = 0 })
		p.start(t)
		for _, n := range []int{1, 3, 2, 4} {
			require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(n, "c", "order", "1")))
			synctest.Wait()
		}
		p.shutdown(t)
		late := []string{}
		for _, td := range sink.AllTraces() {
			for span := range canonical.Spans(td) {
				if v, ok := span.Attributes().Get("resultseal.late"); ok {
					id := span.TraceID()
					late = append(late, fmt.Sprintf("%s %s %v", id[:3], span.Name(), v.Bool()))
				}
			}
		}
		require.Equal(t, []string{"c/2 agent true"}, late)
	})
}

// What is forgotten is counted, and begins anew.
func TestForgottenConversations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		p := newScoringProcessor(t, sink, spantest.ConversationPolicy, func(c *Config) {
			c.RootDelay, c.MaxSessions, c.SessionTTL, c.NumShards = 0, 2, time.Minute, 1
		})
		p.start(t)
		send := func(n int, conversation, tool, id string) string {
			require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(n, conversation, tool, id)))
			synctest.Wait()
			all := sink.AllTraces()
			for span := range canonical.Spans(all[len(all)-1]) {
				if v, ok := span.Attributes().Get("resultseal.session.protocols"); ok {
					return v.Slice().At(0).Str()
				}
			}
			return ""
		}
		require.Equal(t, "orders=compliant", send(1, "a", "order", "1"))
		require.Equal(t, "orders=violation", send(2, "a", "cancel", "2"))
		require.Equal(t, "orders=compliant", send(1, "b", "order", "1"))
		require.Equal(t, "orders=compliant", send(1, "c", "order", "1"))
		require.Equal(t, "orders=compliant", send(3, "a", "order", "1"), "a was pushed out")
		time.Sleep(59 * time.Second)
		require.Equal(t, "orders=compliant", send(2, "c", "cancel", "1"))
		time.Sleep(59 * time.Second)
		require.Equal(t, "orders=compliant", send(3, "c", "cancel", "1"))
		forgotten := points(point(1, "cause", "session_ttl"), point(2, "cause", "max_sessions"))
		metadatatest.AssertEqualProcessorResultsealSessionsForgotten(t, p.telemetry, forgotten, ignoreTime)
		time.Sleep(61 * time.Second)
		require.Equal(t, "orders=inconclusive", send(4, "c", "cancel", "1"), "nothing is bound any more, and that is known")
		require.Equal(t, "orders=violation", send(1, "d", "cancel", "1"), "this one is new")
		p.shutdown(t)
	})
}

// Traces that hold several conversations, in many shards and from many senders
// at once, neither wait for each other for ever nor lose a step.
func TestTracesOfSeveralConversations(t *testing.T) {
	sink := new(consumertest.TracesSink)
	p := newScoringProcessor(t, sink, spantest.ConversationPolicy, func(c *Config) { c.RootDelay, c.NumShards = 0, 4 })
	p.start(t)
	traces := spantest.Scaled(2000, 400)
	var senders sync.WaitGroup
	for s := range 4 {
		senders.Go(func() {
			for n := s; n < traces; n += 4 {
				td := spantest.Turn(n, fmt.Sprint("c", n%5), "order", "1")
				for i := 1; i < 3; i++ {
					more := spantest.Turn(n, fmt.Sprint("c", (n+i*s)%5), "order", "1")
					for span := range canonical.Spans(more) {
						span.SetTraceID(canonical.TraceID(td))
						span.SetSpanID(spantest.SpanID(fmt.Sprint(span.Name(), i)))
					}
					more.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
				}
				require.NoError(t, p.ConsumeTraces(context.Background(), td))
			}
		})
	}
	senders.Wait()
	p.shutdown(t)
	require.Equal(t, traces*6, sink.SpanCount())
	require.Equal(t, int64(5), p.recorder.sessions.Load())
}

func newScoringProcessor(t *testing.T, next consumer.Traces, policyText string, change ...func(*Config)) *testProcessor {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile = spantest.PolicyFile(t, policyText)
	for _, c := range change {
		c(cfg)
	}
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	p, err := newTracesProcessor(metadatatest.NewSettings(telemetry), cfg, next)
	require.NoError(t, err)
	return &testProcessor{tracesProcessor: p, telemetry: telemetry, cfg: cfg}
}
