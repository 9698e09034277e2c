// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
	"go.opentelemetry.io/collector/processor/processortest"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadata"
)

// forger writes verdicts where a sender can: always, or by chance.
type forger struct {
	prefix string
	random *rand.Rand // nil for always
}

func (f forger) does() bool { return f.random == nil || f.random.IntN(3) == 0 }

func (f forger) attributes(m pcommon.Map) {
	if !f.does() {
		return
	}
	for _, name := range []string{"decision", "protocol.verdict", "session.compliance", "late"} {
		m.PutStr(f.prefix+name, "forged")
	}
}

func (f forger) traces(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		f.attributes(rs.Resource().Attributes())
		if f.does() {
			entity.ResourceEntityRefs(rs.Resource()).AppendEmpty().IdKeys().Append(f.prefix + "forged")
		}
		for _, ss := range rs.ScopeSpans().All() {
			f.attributes(ss.Scope().Attributes())
			for _, span := range ss.Spans().All() {
				f.attributes(span.Attributes())
				for _, event := range span.Events().All() {
					f.attributes(event.Attributes())
				}
				for _, link := range span.Links().All() {
					f.attributes(link.Attributes())
				}
				if f.does() {
					span.Events().AppendEmpty().SetName(f.prefix + "forged")
				}
				if f.does() {
					event := span.Events().AppendEmpty()
					event.SetName("gen_ai.evaluation.result")
					event.Attributes().PutStr("gen_ai.evaluation.name", f.prefix+"forged")
				}
			}
		}
	}
}

// evented gives some spans events and links, which others write.
func evented(td ptrace.Traces) {
	for span := range canonical.Spans(td) {
		if len(span.Name())%2 == 0 {
			event := span.Events().AppendEmpty()
			event.SetName("gen_ai.evaluation.result")
			event.Attributes().PutStr("gen_ai.evaluation.name", "helpfulness")
			span.Links().AppendEmpty().Attributes().PutStr("follows", "resultseal.decision")
		}
	}
}

// step is something that happens to a processor.
type step struct {
	batch   ptrace.Traces // or none
	wait    time.Duration
	restart bool
}

// play lets steps happen to a processor and returns what comes out.
func play(t *rapid.T, cfg *Config, steps []step, forge func(ptrace.Traces)) []string {
	sink := new(consumertest.TracesSink)
	var host component.Host = componenttest.NewNopHost()
	if cfg.Storage != nil {
		host = diskHost{newDisk()}
	}
	var p *tracesProcessor
	start := func() {
		var err error
		if p, err = newTracesProcessor(processortest.NewNopSettings(metadata.Type), cfg, sink); err == nil {
			err = p.Start(context.Background(), host)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	stop := func() {
		if err := p.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	start()
	for _, s := range steps {
		switch {
		case s.restart:
			stop()
			start()
		case s.wait > 0:
			time.Sleep(s.wait)
		default:
			td := ptrace.NewTraces()
			s.batch.CopyTo(td)
			forge(td)
			if err := p.ConsumeTraces(context.Background(), td); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
	}
	time.Sleep(time.Minute) // a storage keeps what is not finished
	synctest.Wait()
	stop()
	return spantest.Texts(sink.AllTraces())
}

// Whatever a sender forges, and wherever, the processor gives what it gives
// without it, to the byte.
func TestNothingForgedLeaves(t *testing.T) {
	policyFile := spantest.PolicyFile(t, wholePolicy)
	spans := 0
	rapid.Check(t, inBubble(t, func(t *rapid.T) {
		cfg := createDefaultConfig().(*Config)
		cfg.PolicyFile = policyFile
		cfg.Mode = rapid.SampledFrom([]Mode{ModeTrace, ModeStream}).Draw(t, "mode")
		cfg.Prefix = rapid.SampledFrom([]string{"resultseal.", "acme.verdicts."}).Draw(t, "prefix")
		cfg.NumShards = 1 // traces of a conversation that end together have no order otherwise
		cfg.Content = rapid.SampledFrom([]ContentMode{ContentKeep, ContentHash, ContentDrop}).Draw(t, "content")
		cfg.Annotations.EvaluationEvents = rapid.Bool().Draw(t, "evaluation_events")
		cfg.MaxSpansPerTrace = rapid.SampledFrom([]int{0, 4}).Draw(t, "max_spans_per_trace")
		if rapid.Bool().Draw(t, "storage") {
			cfg.Storage = &diskID
		}
		var steps []step
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"batch", "batch", "wait", "restart"}).Draw(t, "step") {
			case "batch":
				td := spantest.BatchOf(t, spantest.Draw("t1", "t2", "t3", "").Draw(t, "batch"))
				agentlike(td)
				evented(td)
				steps = append(steps, step{batch: td})
			case "wait":
				steps = append(steps, step{wait: time.Duration(rapid.IntRange(1, 20).Draw(t, "seconds")) * time.Second})
			case "restart":
				steps = append(steps, step{restart: true})
			}
		}
		f := forger{cfg.Prefix, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))}
		want := play(t, cfg, steps, func(ptrace.Traces) {})
		got := play(t, cfg, steps, f.traces)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		spans += len(want)
	}))
	require.Positive(t, spans)
}

// The paths of spans that get no verdict, each with everything forged that can be.
func TestNothingForgedLeavesWithoutAVerdict(t *testing.T) {
	tool := func(trace string) ptrace.Traces { return spantest.Call(trace, "a", "unknown", 1, 2) }
	for name, batches := range map[string][]ptrace.Traces{
		"span without GenAI content":          {spantest.Plain(1, 1)},
		"root of a trace without an agent":    {spantest.Root("t")},
		"tool call without a contract":        {tool("t"), spantest.Root("t")},
		"late span without GenAI content":     {spantest.Root("silent0"), spantest.Plain(1, 1)},
		"late tool call without a contract":   {spantest.Root("t"), tool("t")},
		"span without a trace id":             {withoutTrace(spantest.Plain(1, 1))},
		"trace without a root":                {tool("t")},
		"mixed batch":                         {merged(spantest.Plain(2, 2), tool("t"), spantest.Root("t"), withoutTrace(spantest.Root("u")))},
		"resource and scope without any span": {empty()},
	} {
		for _, mode := range []Mode{ModeTrace, ModeStream} {
			for _, content := range []ContentMode{ContentKeep, ContentHash} {
				for _, durable := range []bool{false, true} {
					t.Run(strings.Join([]string{name, string(mode), string(content), map[bool]string{true: "storage"}[durable]}, ", "), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) {
							sink := new(consumertest.TracesSink)
							p := newScoringProcessor(t, sink, spantest.StreamPolicy, func(c *Config) {
								c.Mode, c.Content = mode, content
								if durable {
									c.Storage = &diskID
								}
							})
							require.NoError(t, p.Start(context.Background(), diskHost{newDisk()}))
							in := 0
							for _, from := range batches {
								td := ptrace.NewTraces()
								from.CopyTo(td)
								in += td.SpanCount()
								forger{prefix: "resultseal."}.traces(td)
								require.NoError(t, p.ConsumeTraces(context.Background(), td))
								time.Sleep(time.Minute)
								synctest.Wait()
							}
							p.shutdown(t)
							require.Equal(t, in, sink.SpanCount())
							for _, td := range sink.AllTraces() {
								require.NotContains(t, string(spantest.Marshal(td)), "forged")
							}
						})
					})
				}
			}
		}
	}
}

func withoutTrace(td ptrace.Traces) ptrace.Traces {
	for span := range canonical.Spans(td) {
		span.SetTraceID(pcommon.TraceID{})
	}
	return td
}

func merged(all ...ptrace.Traces) ptrace.Traces {
	td := ptrace.NewTraces()
	for _, of := range all {
		of.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
	}
	return td
}

// empty is a batch as a bypass leaves it: resources and scopes without spans
// beside one with a span.
func empty() ptrace.Traces {
	td := spantest.Plain(1, 1)
	td.ResourceSpans().At(0).ScopeSpans().AppendEmpty().Scope().SetName("no spans")
	td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	return td
}

// A storage may hold spans that were accepted under another prefix.
func TestNothingForgedLeavesAfterARestart(t *testing.T) {
	for _, mode := range []Mode{ModeTrace, ModeStream} {
		synctest.Test(t, func(t *testing.T) {
			d := newDisk()
			before := new(consumertest.TracesSink)
			p, _ := startOn(t, d, before, spantest.StreamPolicy, func(c *Config) { c.Mode, c.Prefix = mode, "acme." })
			td := spantest.Root("t")
			forger{prefix: "resultseal."}.traces(td)
			require.NoError(t, p.ConsumeTraces(context.Background(), td))
			synctest.Wait()
			killed(t, d, p)

			sink := new(consumertest.TracesSink)
			p, _ = startOn(t, d, sink, spantest.StreamPolicy, func(c *Config) { c.Mode = mode })
			time.Sleep(time.Minute)
			synctest.Wait()
			p.shutdown(t)
			require.Equal(t, 1, sink.SpanCount())
			require.NotContains(t, string(spantest.Marshal(sink.AllTraces()[0])), "forged")
		})
	}
}

// Two processors in a row, as the README configures them: each writes under its
// own prefix. With one prefix for both, the verdicts of the second are left.
func TestTwoProcessorsInARow(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	var config string
	for _, match := range yamlBlock.FindAllStringSubmatch(string(readme), -1) {
		if name, ok := strings.CutPrefix(strings.SplitN(match[1], "\n", 2)[0], "# "); ok {
			require.NoError(t, os.WriteFile(name, []byte(match[1]), 0o600))
		}
		if strings.Contains(match[1], "\n  resultseal/finance:\n") {
			config = match[1]
		}
	}
	require.NoError(t, os.WriteFile("collector.yaml", []byte(config), 0o600))
	first, err := resolveProcessor(t, "collector.yaml", "resultseal")
	require.NoError(t, err)
	second, err := resolveProcessor(t, "collector.yaml", "resultseal/finance")
	require.NoError(t, err)

	// names are those of the verdicts that a refund has behind both, and its root.
	names := func() (all []string) {
		synctest.Test(t, func(t *testing.T) {
			sink := new(consumertest.TracesSink)
			start := func(cfg *Config, next consumer.Traces) *tracesProcessor {
				require.NoError(t, cfg.Validate())
				p, err := newTracesProcessor(processortest.NewNopSettings(metadata.Type), cfg, next)
				require.NoError(t, err)
				require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
				return p
			}
			last := start(second, sink)
			p := start(first, last)
			td := merged(spantest.Call("t", "a", "refund", 1, 2), spantest.Root("t"))
			require.NoError(t, p.ConsumeTraces(context.Background(), td))
			time.Sleep(first.RootDelay + time.Millisecond)
			synctest.Wait()
			require.Equal(t, 2, sink.SpanCount(), "the second does not wait again")
			require.NoError(t, p.Shutdown(context.Background()))
			require.NoError(t, last.Shutdown(context.Background()))
			for span := range canonical.Spans(sink.AllTraces()[0]) {
				for name, v := range span.Attributes().All() {
					if strings.HasSuffix(name, "protocol.verdict") || strings.HasSuffix(name, "session.compliance") {
						all = append(all, name+"="+v.AsString())
					}
				}
			}
		})
		slices.Sort(all)
		return all
	}
	require.Equal(t, []string{
		"finance.protocol.verdict=ok", "finance.session.compliance=compliant",
		"resultseal.protocol.verdict=violation", "resultseal.session.compliance=violation",
	}, names())
	second.Prefix = first.Prefix
	require.Equal(t, []string{"resultseal.protocol.verdict=ok", "resultseal.session.compliance=compliant"}, names())
}

// The policy of a second processor reads the verdicts of the first.
func TestSecondProcessorReadsTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		second := newScoringProcessor(t, sink, `
protocols:
  - name: nothing-blocked
    protocol: "?Never.!Blocked.end"
    events: [{label: Blocked, event: span, attributes: {resultseal.decision: blocked}}]
`, func(c *Config) { c.Prefix, c.RootDelay = "second.", 0 })
		second.start(t)
		first := newScoringProcessor(t, second, `
contracts:
  - {name: order, match: {tools: [order]}, claim_type: found, required_fields: [nothing], freshness: {mode: not_required}, source_ref: s, target_ref: t}
`)
		first.start(t)
		require.NoError(t, first.ConsumeTraces(context.Background(), merged(spantest.Call("t", "a", "order", 1, 2), spantest.Root("t"))))
		first.shutdown(t)
		second.shutdown(t)
		require.Equal(t, 2, sink.SpanCount())
		verdicts := 0
		for span := range canonical.Spans(sink.AllTraces()[0]) {
			if v, ok := span.Attributes().Get("second.session.compliance"); ok {
				require.Equal(t, "violation", v.Str())
				verdicts++
			}
		}
		require.Equal(t, 1, verdicts)
	})
}
