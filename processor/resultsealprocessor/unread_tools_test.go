// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// spansUnder is a batch of n spans of one scope; attributes are those of the last.
func spansUnder(scope string, n int, attributes ...string) ptrace.Traces {
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	ss.Scope().SetName(scope)
	for i := range n {
		span := ss.Spans().AppendEmpty()
		span.SetTraceID(pcommon.TraceID{1, byte(i >> 8), byte(i)})
		span.SetSpanID(pcommon.SpanID{1})
		span.SetParentSpanID(pcommon.SpanID{2})
		span.SetName("step")
		span.Attributes().PutStr("http.route", "/x")
	}
	last := ss.Spans().At(n - 1).Attributes()
	for _, key := range attributes {
		last.PutStr(key, "execute_tool")
	}
	return td
}

func observed() (*zap.Logger, *observer.ObservedLogs) {
	core, logs := observer.New(zapcore.WarnLevel)
	return zap.New(core), logs
}

// In each mode, a scope is logged once, with names of attributes and no values.
func TestUnreadToolCallsAreLoggedOnce(t *testing.T) {
	for _, mode := range []Mode{ModeTrace, ModeStream} {
		t.Run(string(mode), func(t *testing.T) {
			cfg := createDefaultConfig().(*Config)
			cfg.PolicyFile, cfg.Mode = spantest.PolicyFile(t, spantest.ConversationPolicy), mode
			telemetry := componenttest.NewTelemetry()
			set := metadatatest.NewSettings(telemetry)
			logger, logs := observed()
			set.Logger = logger
			sink := new(consumertest.TracesSink)
			p, err := newTracesProcessor(set, cfg, sink)
			require.NoError(t, err)
			require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
			for range 3 {
				require.NoError(t, p.ConsumeTraces(context.Background(), spansUnder("acme", 2, "acme.tool", "acme.input", "a", "b")))
			}
			require.NoError(t, p.ConsumeTraces(context.Background(), spansUnder("plain", 2)))
			require.NoError(t, p.Shutdown(context.Background()))
			require.NoError(t, telemetry.Shutdown(context.Background()))
			require.Equal(t, 8, sink.SpanCount())
			hints := logs.FilterMessageSnippet("no dialect reads them").All()
			require.Len(t, hints, 1)
			require.Equal(t, map[string]any{
				"scope": "acme", "attributes": []any{"acme.tool", "a", "acme.input"}, "documentation": "docs/instrumentations.md#a-dialect-of-your-own",
			}, hints[0].ContextMap())
		})
	}
}

func TestLookout(t *testing.T) {
	read := []string{"gen_ai.operation.name", "gen_ai.tool.name"}
	for name, tt := range map[string]struct {
		batches []ptrace.Traces
		want    []string
	}{
		"nothing":                        {[]ptrace.Traces{spansUnder("s", 3)}, nil},
		"a tool call that is read":       {[]ptrace.Traces{spansUnder("s", 1, read...), spansUnder("s", 1, "x.tool")}, nil},
		"read later, too late":           {[]ptrace.Traces{spansUnder("s", 1, "x.tool"), spansUnder("s", 1, read...)}, []string{"s"}},
		"two scopes":                     {[]ptrace.Traces{spansUnder("s", 1, "x.tool"), spansUnder("", 1, "x.tool")}, []string{"s", ""}},
		"among the first thousand":       {[]ptrace.Traces{spansUnder("s", 999), spansUnder("s", 1, "x.tool")}, []string{"s"}},
		"after the first thousand":       {[]ptrace.Traces{spansUnder("s", 1000), spansUnder("s", 1, "x.tool")}, nil},
		"the thousand and first at once": {[]ptrace.Traces{spansUnder("s", 1001, "x.tool")}, nil},
		"a long name, on several lines":  {[]ptrace.Traces{spansUnder("a\nb"+strings.Repeat("x", 5000), 1, "x.tool")}, []string{display.Field("a\nb" + strings.Repeat("x", 5000))}},
	} {
		t.Run(name, func(t *testing.T) {
			logger, logs := observed()
			l := newLookout(logger, genai.Options{})
			for _, td := range tt.batches {
				l.look(td)
			}
			var got []string
			for _, entry := range logs.All() {
				got = append(got, entry.ContextMap()["scope"].(string))
			}
			require.Equal(t, tt.want, got)
		})
	}
}

// Only so many scopes are met, and none costs anything once it is done.
func TestLookoutIsBounded(t *testing.T) {
	logger, logs := observed()
	l := newLookout(logger, genai.Options{})
	for i := range 2 * maxLookedScopes {
		l.look(spansUnder(fmt.Sprint("scope ", i), 1, "x.tool"))
	}
	require.Equal(t, maxLookedScopes, logs.Len())
	require.Equal(t, maxLookedScopes, l.scopes.len())

	if spantest.RaceEnabled {
		return // it changes what is allocated
	}
	l = newLookout(logger, genai.Options{})
	td := spansUnder("s", maxLookedAt)
	l.look(td)
	require.Zero(t, testing.AllocsPerRun(100, func() { l.look(td) }))
}

// Many senders may bring spans of a scope at once; it is logged once.
func TestLookoutForManySenders(t *testing.T) {
	logger, logs := observed()
	l := newLookout(logger, genai.Options{})
	var senders sync.WaitGroup
	for range 8 {
		senders.Go(func() {
			for i := range 50 {
				l.look(spansUnder(fmt.Sprint("scope ", i), 3, "x.tool"))
			}
		})
	}
	senders.Wait()
	require.Equal(t, 50, logs.Len())
}

// BenchmarkLookout measures what a batch costs once its scopes are done: 500 spans
// under 25 scopes of one name, and under a name of its own for each.
func BenchmarkLookout(b *testing.B) {
	for name, scope := range map[string]func(int) string{
		"one scope":   func(int) string { return "go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp" },
		"many scopes": func(n int) string { return fmt.Sprint("go.opentelemetry.io/contrib/instrumentation/", n) },
	} {
		b.Run(name, func(b *testing.B) {
			td := ptrace.NewTraces()
			for n := range 25 {
				spansUnder(scope(n), 20).ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
			}
			l := newLookout(zap.NewNop(), genai.Options{})
			for range maxLookedAt {
				l.look(td)
			}
			b.ReportAllocs()
			for b.Loop() {
				l.look(td)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/500, "ns/span")
		})
	}
}
