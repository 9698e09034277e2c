// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadata"
)

const wholePolicy = `
contracts:
  - name: a
    match: {tools: [a]}
    claim_type: found
    required_fields: [x]
    freshness: {mode: not_required}
    source_ref: s
    target_ref: "t:{arguments.id}"
protocols:
  - {name: trace, protocol: "rec X.!{a.?a.X, b.?b.end}", after_end: violation}
  - {name: talk, session: conversation, protocol: "rec X.!{a(id as id).?a.X, b(id == id).?b.X}"}
`

// agentlike gives spans what the scoring looks at: which of it depends on the
// span's name, so that a redelivered span is the same.
func agentlike(td ptrace.Traces) {
	for span := range canonical.Spans(td) {
		h := fnv.New32a()
		h.Write([]byte(span.Name()))
		n := h.Sum32()
		a := span.Attributes()
		switch n % 4 {
		case 0, 1:
			a.PutStr("gen_ai.operation.name", "execute_tool")
			a.PutStr("gen_ai.tool.name", []string{"a", "b", "c"}[n/4%3])
			a.PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"id":%d}`, n/16%2))
			a.PutStr("gen_ai.tool.call.result", []string{`{"x":1}`, `{}`, `{"x":`, "text"}[n/32%4])
		case 2:
			a.PutStr("gen_ai.operation.name", "chat")
			a.PutStr("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"hi"}]}]`)
		}
		if n/128%2 == 0 {
			a.PutStr("gen_ai.conversation.id", []string{"c", "d"}[n/256%2])
		}
	}
}

// wholeProcessor draws a processor and what happens to it. One span in is
// exactly one span out; the bytes that are held are bounded and come to nothing;
// and since all this is in a bubble, no goroutine is left.
func wholeProcessor(t *rapid.T, policyFile string) {
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile = policyFile
	seconds := func(label string, from, to int) time.Duration {
		return time.Duration(rapid.IntRange(from, to).Draw(t, label)) * time.Second
	}
	cfg.Mode = rapid.SampledFrom([]Mode{ModeTrace, ModeStream}).Draw(t, "mode")
	cfg.NumShards = rapid.IntRange(1, 3).Draw(t, "num_shards")
	cfg.RootDelay, cfg.IdleTimeout, cfg.MaxAge = seconds("root_delay", 0, 3), seconds("idle_timeout", 1, 6), seconds("max_age", 1, 12)
	cfg.MaxTraces = rapid.IntRange(1, 5).Draw(t, "max_traces")
	cfg.MaxBytes = rapid.SampledFrom([]int64{1, 3000, 20000, 1 << 30}).Draw(t, "max_bytes")
	cfg.MaxSpansPerTrace = rapid.SampledFrom([]int{0, 1, 4}).Draw(t, "max_spans_per_trace")
	cfg.DecidedCache = rapid.SampledFrom([]int{0, 1, 100}).Draw(t, "decided_cache")
	cfg.MaxSessions = rapid.SampledFrom([]int{0, 1, 100}).Draw(t, "max_sessions")
	cfg.SessionTTL = seconds("session_ttl", 1, 20)
	cfg.Content = rapid.SampledFrom([]ContentMode{ContentKeep, ContentHash, ContentDrop}).Draw(t, "content")
	cfg.Retry.InitialInterval, cfg.Retry.RandomizationFactor, cfg.Retry.MaxElapsedTime = 100*time.Millisecond, 0, 0
	durable := rapid.Bool().Draw(t, "storage")
	d := newDisk()
	if durable {
		cfg.Storage = &diskID
	}

	sink := new(consumertest.TracesSink)
	var refusals atomic.Int64
	notNow := errors.New("not now")
	next := consumerFunc(func(ctx context.Context, td ptrace.Traces) error {
		if refusals.Add(-1) >= 0 {
			return notNow
		}
		return sink.ConsumeTraces(ctx, td)
	})
	start := func() *tracesProcessor {
		p, err := newTracesProcessor(processortest.NewNopSettings(metadata.Type), cfg, next)
		if err != nil {
			t.Fatal(err)
		}
		if durable {
			err = p.Start(context.Background(), diskHost{d})
		} else {
			err = p.Start(context.Background(), componenttest.NewNopHost())
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	stop := func(p *tracesProcessor) {
		if err := p.Shutdown(context.Background()); err != nil {
			t.Fatal(err)
		}
		if held := p.accounting.Spans(); held != 0 && !durable {
			t.Fatalf("%d bytes are still counted", held)
		}
	}

	in := map[string]int{}
	p := start()
	defer func() { _ = p.Shutdown(context.Background()) }() // where the check fails
	restarts := 0
	for range rapid.IntRange(1, 10).Draw(t, "steps") {
		switch rapid.SampledFrom([]string{"batch", "batch", "batch", "wait", "refuse", "restart"}).Draw(t, "step") {
		case "batch":
			spans := spantest.Draw("t1", "t2", "t3", "t4", "").Draw(t, "batch")
			td := spantest.BatchOf(t, spans)
			agentlike(td)
			size := assemble.Footprint(td)
			for {
				err := p.ConsumeTraces(context.Background(), td)
				if err == nil {
					break
				}
				refused := errors.Is(err, notNow) && cfg.Mode == ModeStream && !durable
				if !errors.Is(err, assemble.ErrBusy) && !refused || td.SpanCount() != len(spans) {
					t.Fatalf("%v, and %d of %d spans are left", err, td.SpanCount(), len(spans))
				}
			}
			for _, s := range spans {
				in[s.Name]++
			}
			// A batch may exceed the limit; resources are counted for each trace,
			// and in mode stream for what stays and for what goes.
			if held := p.accounting.Spans(); held > cfg.MaxBytes+10*size {
				t.Fatalf("%d bytes are held", held)
			}
		case "wait":
			time.Sleep(time.Duration(rapid.IntRange(1, 80).Draw(t, "tenths")) * time.Second / 10)
			synctest.Wait()
		case "refuse":
			synctest.Wait()
			refusals.Store(int64(rapid.IntRange(1, 5).Draw(t, "refusals")))
		case "restart":
			stop(p)
			p = start()
			restarts++
		}
	}
	if durable { // what is held stays in the storage otherwise
		time.Sleep(20 * time.Second)
		synctest.Wait()
	}
	stop(p)
	out := map[string]int{}
	for _, td := range sink.AllTraces() {
		for span := range canonical.Spans(td) {
			out[span.Name()]++
		}
	}
	if durable && restarts > 0 && cfg.Mode == ModeStream {
		for name, n := range in { // they may come again
			if out[name] < n {
				t.Fatalf("%s came %d times of %d", name, out[name], n)
			}
		}
	} else if diff := cmp.Diff(in, out); diff != "" {
		t.Fatalf("spans in against spans out:\n%s", diff)
	}
	if durable {
		if keys := d.keys("/e/"); len(keys) > 0 {
			t.Fatalf("still in the storage: %v", keys)
		}
	}
}

// inBubble runs what draws in a bubble, and lets what rapid panics with out of
// it.
func inBubble(t *testing.T, check func(*rapid.T)) func(*rapid.T) {
	return func(rt *rapid.T) {
		var failure any
		synctest.Test(t, func(*testing.T) {
			defer func() { failure = recover() }()
			check(rt)
		})
		if failure != nil {
			panic(failure)
		}
	}
}

func TestWholeProcessor(t *testing.T) {
	policyFile := spantest.PolicyFile(t, wholePolicy)
	rapid.Check(t, inBubble(t, func(rt *rapid.T) { wholeProcessor(rt, policyFile) }))
}

func FuzzWholeProcessor(f *testing.F) {
	policyFile := spantest.PolicyFile(f, wholePolicy)
	f.Fuzz(func(t *testing.T, data []byte) {
		rapid.MakeFuzz(inBubble(t, func(rt *rapid.T) { wholeProcessor(rt, policyFile) }))(t, data)
	})
}
