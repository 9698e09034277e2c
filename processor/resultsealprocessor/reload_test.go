// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
)

// statusHost keeps the component status that is reported to it.
type statusHost struct {
	component.Host
	mu     sync.Mutex
	events []*componentstatus.Event
}

func newStatusHost() *statusHost { return &statusHost{Host: componenttest.NewNopHost()} }

// Report implements componentstatus.Reporter.
func (h *statusHost) Report(e *componentstatus.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, e)
}

// take returns the events since it was called last.
func (h *statusHost) take() []*componentstatus.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	events := h.events
	h.events = nil
	return events
}

// reloading is a processor whose policy_file can be changed.
type reloading struct {
	*testProcessor
	host  *statusHost
	ticks chan time.Time
	logs  *observer.ObservedLogs
	last  map[reloadOutcome]int64
}

func newReloading(t *testing.T, next *consumertest.TracesSink, policyText string, change ...func(*Config)) *reloading {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile, cfg.NumShards = spantest.PolicyFile(t, policyText), 1
	for _, c := range change {
		c(cfg)
	}
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	core, logs := observer.New(zapcore.InfoLevel)
	set := metadatatest.NewSettings(telemetry)
	set.Logger = zap.New(core)
	p, err := newTracesProcessor(set, cfg, next)
	require.NoError(t, err)
	r := &reloading{
		testProcessor: &testProcessor{tracesProcessor: p, telemetry: telemetry, cfg: cfg},
		host:          newStatusHost(), ticks: make(chan time.Time), logs: logs, last: map[reloadOutcome]int64{},
	}
	p.reloader.ticks = r.ticks
	require.NoError(t, p.Start(context.Background(), r.host))
	return r
}

// write changes the file, and tick lets it be read.
func (r *reloading) write(t *testing.T, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(r.cfg.PolicyFile, []byte(text), 0o600))
	r.tick()
}

func (r *reloading) tick() {
	r.ticks <- time.Now()
	time.Sleep(2 * settleTime)
	synctest.Wait()
}

func (r *reloading) hash() string { return r.revisions.Current().Revision.Scorer.Policy().Hash }

// outcome returns what was counted since it was called last, and the component
// status that was reported since.
func (r *reloading) outcome(t *testing.T) string {
	t.Helper()
	got, err := r.telemetry.GetMetric("otelcol_processor_resultseal_policy_reloads")
	require.NoError(t, err)
	counts := map[string]int64{}
	for _, point := range got.Data.(metricdata.Sum[int64]).DataPoints {
		outcome, _ := point.Attributes.Value("outcome")
		counts[outcome.AsString()] = point.Value
	}
	var words []string
	for _, outcome := range reloadOutcomes {
		n, ok := counts[string(outcome)]
		require.True(t, ok, "every outcome is there with 0")
		if n > r.last[outcome] {
			words = append(words, string(outcome))
		}
		require.LessOrEqual(t, n, r.last[outcome]+1, "counted twice")
		r.last[outcome] = n
	}
	for _, e := range r.host.take() {
		words = append(words, e.Status().String())
	}
	return strings.Join(words, " ")
}

// requiring is a policy whose only contract asks for some fields of an order.
func requiring(fields string) string {
	return `
contracts:
  - name: order
    match: {tools: [order]}
    claim_type: found
    required_fields: [` + fields + `]
    freshness: {mode: not_required}
    source_ref: shop
    target_ref: "order:{arguments.id}"
`
}

// What is in the file, what comes of it, and what is reported.
func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReloading(t, new(consumertest.TracesSink), requiring("ok"))
		defer r.shutdown(t)
		first := r.hash()
		require.Equal(t, spantest.LoadPolicy(t, requiring("ok")).Hash, first)
		require.Empty(t, r.outcome(t))
		r.tick()
		require.Empty(t, r.outcome(t), "nothing has changed")

		r.write(t, requiring("ok, id"))
		second := r.hash()
		require.Equal(t, spantest.LoadPolicy(t, requiring("ok, id")).Hash, second)
		require.Equal(t, "applied", r.outcome(t))
		require.Equal(t, second, r.logs.FilterMessage("policy_file was read again").All()[0].ContextMap()["policy_hash"])

		// An invalid policy is logged once, with its place, and stays an error of the
		// component until the file is right.
		r.write(t, strings.Replace(requiring("ok"), "found", "fond", 1))
		require.Equal(t, "invalid StatusRecoverableError", r.outcome(t))
		require.Equal(t, second, r.hash())
		failures := r.logs.FilterMessageSnippet("policy_file is not valid").All()
		require.Len(t, failures, 1)
		require.Contains(t, failures[0].ContextMap()["error"], `policy.yaml:5:17: contracts[0].claim_type: "fond" is not known; did you mean "found"?`)
		r.tick()
		require.Empty(t, r.outcome(t))
		require.Len(t, r.logs.FilterMessageSnippet("policy_file is not valid").All(), 1)
		r.write(t, "contracts: [")
		require.Equal(t, "invalid StatusRecoverableError", r.outcome(t))
		require.Equal(t, second, r.hash())

		// The policy in force, in other words.
		r.write(t, "# another layout\n"+requiring("ok,id"))
		require.Equal(t, "unchanged StatusOK", r.outcome(t))
		require.Equal(t, second, r.hash())
		r.write(t, "# and another\n"+requiring("ok,id"))
		require.Equal(t, "unchanged", r.outcome(t))

		// Gone, and back as it was.
		require.NoError(t, os.Remove(r.cfg.PolicyFile))
		r.tick()
		require.Equal(t, "unreadable StatusRecoverableError", r.outcome(t))
		r.tick()
		require.Empty(t, r.outcome(t))
		require.Len(t, r.logs.FilterMessageSnippet("policy_file cannot be read").All(), 1)
		require.Equal(t, second, r.hash())
		r.write(t, "# and another\n"+requiring("ok,id"))
		require.Equal(t, "StatusOK", r.outcome(t))

		// Gone, and back with a mistake, and gone, and back with it.
		require.NoError(t, os.Remove(r.cfg.PolicyFile))
		r.tick()
		require.Equal(t, "unreadable StatusRecoverableError", r.outcome(t))
		r.write(t, "contract: []")
		require.Equal(t, "invalid StatusRecoverableError", r.outcome(t))
		require.NoError(t, os.Remove(r.cfg.PolicyFile))
		r.tick()
		require.Equal(t, "unreadable StatusRecoverableError", r.outcome(t))
		r.write(t, "contract: []")
		require.Empty(t, r.outcome(t), "it is no policy yet")

		// Too large, not a policy, and not a file.
		r.write(t, requiring("ok")+strings.Repeat("# again\n", policy.MaxSize/8))
		require.Equal(t, "invalid StatusRecoverableError", r.outcome(t))
		require.Contains(t, fmt.Sprint(r.logs.FilterMessageSnippet("not valid").All()), "the policy is larger than 4 MiB")
		r.write(t, "schema_version: 2\n"+requiring("ok"))
		require.Equal(t, "invalid StatusRecoverableError", r.outcome(t))
		r.write(t, strings.Replace(requiring("ok"), "arguments.id", "attributes.resultseal.contract", 1))
		require.Equal(t, "invalid StatusRecoverableError", r.outcome(t), "it reads what is removed")
		require.NoError(t, os.Remove(r.cfg.PolicyFile))
		require.NoError(t, os.Mkdir(r.cfg.PolicyFile, 0o700))
		r.tick()
		require.Equal(t, "unreadable StatusRecoverableError", r.outcome(t))
		require.Equal(t, second, r.hash())

		require.NoError(t, os.Remove(r.cfg.PolicyFile))
		r.write(t, requiring("ok"))
		require.Equal(t, "applied StatusOK", r.outcome(t))
		require.Equal(t, first, r.hash())
		r.tick()
		require.Empty(t, r.outcome(t))
	})
}

// The status says what is wrong.
func TestReloadStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReloading(t, new(consumertest.TracesSink), requiring("ok"))
		r.write(t, "contracts: 1")
		events := r.host.take()
		require.Len(t, events, 1)
		require.ErrorContains(t, events[0].Err(), "policy_file is not valid, the policy in force is an earlier one:\n")
		require.ErrorContains(t, events[0].Err(), "policy.yaml:1:12: contracts: expected a list of contracts, found a number")
		r.shutdown(t)
		require.Empty(t, r.host.take())
	})
}

// Kubernetes mounts a ConfigMap as a link to a link, and replaces the second.
func TestReloadOfMountedConfigMap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		version := func(name, text string) {
			require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name, "policy.yaml"), []byte(text), 0o600))
			require.NoError(t, os.Symlink(name, filepath.Join(dir, "..data_tmp")))
			require.NoError(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
		}
		version("..1", requiring("ok"))
		require.NoError(t, os.Symlink(filepath.Join("..data", "policy.yaml"), filepath.Join(dir, "policy.yaml")))
		r := newReloading(t, new(consumertest.TracesSink), "", func(c *Config) { c.PolicyFile = filepath.Join(dir, "policy.yaml") })
		defer r.shutdown(t)
		version("..2", requiring("ok, id"))
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "..1")))
		r.tick()
		require.Equal(t, "applied", r.outcome(t))
		require.Equal(t, spantest.LoadPolicy(t, requiring("ok, id")).Hash, r.hash())
	})
}

// A file that is being written is not read as a policy, though its beginning may be
// one.
func TestReloadWaitsForTheRestOfAFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReloading(t, new(consumertest.TracesSink), requiring("ok"))
		defer r.shutdown(t)
		first := r.hash()
		require.NoError(t, os.WriteFile(r.cfg.PolicyFile, []byte("contracts: []\n"), 0o600))
		r.ticks <- time.Now()
		time.Sleep(settleTime / 2)
		require.NoError(t, os.WriteFile(r.cfg.PolicyFile, []byte("contracts: []\nprotocols: [{name: p, protocol: '!a'}]\n"), 0o600))
		time.Sleep(2 * settleTime)
		synctest.Wait()
		require.Empty(t, r.outcome(t))
		require.Equal(t, first, r.hash())
		r.tick()
		require.Equal(t, "applied", r.outcome(t))
	})
}

// The interval is the configured one, and a policy that does not come from a file
// that can be read again is not read again.
func TestReloadInterval(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(c *Config)
		reloads bool
	}{
		"default": {func(*Config) {}, true},
		"never":   {func(c *Config) { c.PolicyReloadInterval = 0 }, false},
		"in place": {func(c *Config) {
			c.Policy, c.PolicyFile = map[string]any{"contracts": []any{}}, ""
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var cfg *Config
				p := newScoringProcessor(t, consumertest.NewNop(), requiring("ok"), func(c *Config) { test.change(c); cfg = c })
				p.start(t)
				require.Equal(t, test.reloads, p.reloader != nil)
				if test.reloads {
					first := p.revisions.Current()
					require.NoError(t, os.WriteFile(cfg.PolicyFile, []byte(requiring("id")), 0o600))
					time.Sleep(30*time.Second - 1)
					synctest.Wait()
					require.Same(t, first, p.revisions.Current())
					time.Sleep(time.Second)
					synctest.Wait()
					require.NotSame(t, first.Revision, p.revisions.Current().Revision)
				}
				p.shutdown(t)
			})
		})
	}
}

// A policy by the configuration has the hash of the same policy in a file, however
// the configuration holds it.
func TestPolicyHashOfEveryWay(t *testing.T) {
	file := spantest.PolicyFile(t, requiring("ok"))
	want := spantest.LoadPolicy(t, requiring("ok")).Hash
	indented := strings.ReplaceAll(requiring("ok"), "\n", "\n  ")
	for name, text := range map[string]string{
		"policy_file": "policy_file: " + file,
		"file":        "policy: ${file:" + file + "}",
		"in place":    "policy:" + indented,
	} {
		cfg, err := resolve(t, text)
		require.NoError(t, err, name)
		p, _, err := cfg.loadPolicy()
		require.NoError(t, err, name)
		require.Equal(t, want, p.Hash, name)
	}
}

// Policies are given up when no trace needs them.
func TestRevisionsAreCollected(t *testing.T) {
	for _, mode := range []Mode{ModeTrace, ModeStream} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newReloading(t, new(consumertest.TracesSink), requiring("a"), func(c *Config) { c.Mode = mode })
				defer r.shutdown(t)
				inUse := func() (numbers []int) {
					for _, v := range r.revisions.Current().All {
						numbers = append(numbers, v.Number)
					}
					return numbers
				}
				require.NoError(t, r.ConsumeTraces(context.Background(), spantest.Call("t1", "a", "order", 1, 2)))
				synctest.Wait()
				r.write(t, requiring("b"))
				require.Equal(t, []int{1, 2}, inUse())
				r.write(t, requiring("c"))
				require.NoError(t, r.ConsumeTraces(context.Background(), spantest.Plain(2, 3)))
				r.tick()
				require.Equal(t, []int{1, 3}, inUse(), "nothing began under the second")
				r.write(t, requiring("d"))
				require.Equal(t, []int{1, 3, 4}, inUse())
				time.Sleep(11 * time.Second) // the traces are completed
				synctest.Wait()
				r.tick()
				require.Equal(t, []int{4}, inUse())
			})
		})
	}
}

const checkedFirst = `
protocols:
  - name: checked
    protocol: "!check.!order.?order.end"
    events:
      - {label: check, event: span, name: check}
      - {label: order, event: tool_call, tools: [order]}
      - {label: order, event: tool_result, tools: [order]}
`

func namedSpan(trace, id string, from, to int) ptrace.Traces {
	td := spantest.Call(trace, id, "none", from, to)
	for span := range canonical.Spans(td) {
		span.Attributes().Clear()
	}
	return td
}

// In mode stream, a span that only the policy of a buffered trace names is no span
// to forward unseen; when that trace is gone it is.
func TestStreamBuffersWhatAnEarlierPolicyNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		r := newReloading(t, sink, checkedFirst, func(c *Config) { c.Mode = ModeStream })
		defer r.shutdown(t)
		require.NoError(t, r.ConsumeTraces(context.Background(), spantest.Call("t1", "order", "order", 3, 4)))
		synctest.Wait()
		r.write(t, requiring("ok"))
		require.Equal(t, "applied", r.outcome(t))
		require.NoError(t, r.ConsumeTraces(context.Background(), namedSpan("t1", "check", 1, 2)))
		require.NoError(t, r.ConsumeTraces(context.Background(), spantest.Root("t1")))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.Contains(t, saidAll(sink), "agent: compliant")
		r.tick()
		require.False(t, r.revisions.Current().Names("check"))
	})
}

func saidAll(sink *consumertest.TracesSink) (lines []string) {
	for _, td := range sink.AllTraces() {
		for span := range canonical.Spans(td) {
			lines = append(lines, said(span))
		}
	}
	return lines
}

// A policy does not come into force while a batch is on its way whose spans were
// looked at without its names: the batch's spans may belong to a trace that begins
// under it.
func TestReloadWaitsForBatchesOfBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := new(consumertest.TracesSink)
		first, release := make(chan struct{}), make(chan struct{})
		var once sync.Once
		next := consumerFunc(func(ctx context.Context, td ptrace.Traces) error {
			once.Do(func() { close(first); <-release })
			return sink.ConsumeTraces(ctx, td)
		})
		p := newScoringProcessor(t, next, requiring("ok"), func(c *Config) { c.Mode, c.NumShards = ModeStream, 1 })
		p.start(t)
		taken := make(chan error)
		go func() { taken <- p.ConsumeTraces(context.Background(), namedSpan("t1", "check", 1, 2)) }()
		<-first
		replaced := make(chan bool)
		go func() { replaced <- p.revisions.Replace(spantest.LoadPolicy(t, checkedFirst), p.stopped) }()
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, 1, p.revisions.Current().Revision.Number)
		require.True(t, p.revisions.Current().Names("check"), "those that come from now on are buffered")
		require.NoError(t, p.ConsumeTraces(context.Background(), namedSpan("t2", "check", 1, 2)))
		close(release)
		require.NoError(t, <-taken)
		require.True(t, <-replaced)
		require.Equal(t, 2, p.revisions.Current().Revision.Number)
		p.shutdown(t)
	})
}

// The processor stops though its next component never takes a batch for which a new
// policy waits.
func TestShutdownWhileAReloadWaits(t *testing.T) {
	asked := make(chan struct{})
	next := consumerFunc(func(ctx context.Context, _ ptrace.Traces) error {
		close(asked)
		<-ctx.Done()
		return ctx.Err()
	})
	p := newScoringProcessor(t, next, requiring("ok"), func(c *Config) { c.Mode, c.NumShards = ModeStream, 1 })
	ticks := make(chan time.Time)
	p.reloader.ticks = ticks
	p.start(t)
	refused := make(chan error)
	go func() { refused <- p.ConsumeTraces(context.Background(), spantest.Plain(1, 1)) }()
	<-asked
	require.NoError(t, os.WriteFile(p.cfg.PolicyFile, []byte(checkedFirst), 0o600))
	ticks <- time.Now()
	require.Eventually(t, func() bool { return p.revisions.Current().Names("check") }, 10*time.Second, time.Millisecond)
	time.Sleep(5 * revision.DrainInterval)
	require.Equal(t, 1, p.revisions.Current().Revision.Number)
	over, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, p.Shutdown(over), context.DeadlineExceeded)
	require.ErrorIs(t, <-refused, context.Canceled)
	<-p.done // the reloader has ended, too
}

// After a restart with a storage, what was buffered is evaluated by the policy in
// force then.
func TestReloadAfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, sink := newDisk(), new(consumertest.TracesSink)
		p, _ := startOn(t, d, sink, requiring("ok"), func(c *Config) { c.RootDelay = 0 })
		require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Call("t1", "order", "order", 1, 2)))
		synctest.Wait()
		p.shutdown(t)
		require.Zero(t, sink.SpanCount())
		p, _ = startOn(t, d, sink, requiring("ok, other"), func(c *Config) { c.RootDelay = 0 })
		require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Root("t1")))
		synctest.Wait()
		p.shutdown(t)
		require.Contains(t, saidAll(sink), "order: blocked")
		for span := range canonical.Spans(sink.AllTraces()[0]) {
			if hash, ok := span.Attributes().Get("resultseal.policy.hash"); ok {
				require.Equal(t, spantest.LoadPolicy(t, requiring("ok, other")).Hash, hash.Str())
			}
		}
	})
}

// Under many senders and many reloads, every span comes out once, and every session
// has the verdict of the policy whose hash it carries, on all of its spans.
func TestReloadsUnderLoad(t *testing.T) {
	const senders = 4
	traces := spantest.Scaled(300, 60)
	texts := []string{requiring("ok"), requiring("ok, other"), checkedFirst, requiring("ok, other") + checkedFirst}
	in := func(trace string) []ptrace.Traces {
		plain := spantest.Plain(1, 1)
		for span := range canonical.Spans(plain) {
			span.SetTraceID(spantest.TraceID(trace))
		}
		return []ptrace.Traces{namedSpan(trace, "check", 1, 2), spantest.Call(trace, "order", "order", 3, 4), plain, spantest.Root(trace)}
	}
	// verdictsOf are the decision on the call and the verdict on the session.
	type verdicts struct{ decision, protocols, hash string }
	verdictsOf := func(out []ptrace.Traces) (all map[string]verdicts, spans int) {
		all = map[string]verdicts{}
		for _, td := range out {
			for span := range canonical.Spans(td) {
				spans++
				id := span.TraceID()
				trace := strings.TrimRight(string(id[:]), "\x00")
				v := all[trace]
				for key, to := range map[string]*string{"decision": &v.decision, "session.protocols": &v.protocols, "policy.hash": &v.hash} {
					if value, ok := span.Attributes().Get("resultseal." + key); ok {
						*to = value.AsString()
					}
				}
				all[trace] = v
			}
		}
		return all, spans
	}
	want := map[string]verdicts{} // by hash
	policies := make([]*policy.Policy, len(texts))
	for i, text := range texts {
		policies[i] = spantest.LoadPolicy(t, text)
		all, _ := verdictsOf(process(t, spantest.PolicyFile(t, text), in("t")))
		require.Equal(t, policies[i].Hash, all["t"].hash)
		want[policies[i].Hash] = all["t"]
	}
	require.Len(t, want, len(texts))
	for _, mode := range []Mode{ModeTrace, ModeStream} {
		t.Run(string(mode), func(t *testing.T) {
			sink := new(consumertest.TracesSink)
			p := newScoringProcessor(t, sink, texts[0], func(c *Config) {
				c.Mode, c.NumShards, c.RootDelay, c.PolicyReloadInterval = mode, 2, time.Millisecond, 0
			})
			p.start(t)
			// The first trace comes before the first reload, and the second half of each
			// sender's traces after it.
			begun, replaced, sent := make(chan struct{}), make(chan struct{}), make(chan struct{})
			begin, reload := sync.OnceFunc(func() { close(begun) }), sync.OnceFunc(func() { close(replaced) })
			var replacing, sending sync.WaitGroup
			replacing.Go(func() {
				random := rand.New(rand.NewPCG(1, 2))
				<-begun
				for n := 1; ; n++ {
					p.revisions.Replace(policies[n%len(policies)], p.stopped)
					p.revisions.Collect()
					reload()
					select {
					case <-sent:
						return
					case <-time.After(time.Duration(random.IntN(1000)) * time.Microsecond):
					}
				}
			})
			for s := range uint64(senders) {
				sending.Go(func() {
					random := rand.New(rand.NewPCG(s, 3))
					for n := range traces {
						if n == traces/2 {
							<-replaced
						}
						batches := in(fmt.Sprintf("%d/%d", s, n))
						random.Shuffle(len(batches)-1, func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
						for _, td := range batches {
							if err := p.ConsumeTraces(context.Background(), td); err != nil {
								panic(err)
							}
							time.Sleep(time.Duration(random.IntN(300)) * time.Microsecond)
						}
						begin()
					}
				})
			}
			sending.Wait()
			close(sent)
			replacing.Wait()
			p.shutdown(t)

			all, spans := verdictsOf(sink.AllTraces())
			require.Equal(t, senders*traces*4, spans)
			require.Len(t, all, senders*traces)
			counts := map[string]int{}
			for trace, got := range all {
				require.Equal(t, want[got.hash], got, trace)
				counts[got.hash]++
			}
			t.Logf("%d revisions, sessions by policy: %v", p.revisions.Current().Revision.Number, counts)
			require.Greater(t, len(counts), 1, "no reload came into force")
			p.revisions.Collect()
			require.Len(t, p.revisions.Current().All, 1)
		})
	}
}
