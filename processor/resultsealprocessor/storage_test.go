// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// disk is a storage in memory that outlives processors. A processor is killed by
// unplugging it: nothing that it writes afterwards arrives.
type disk struct {
	component.StartFunc
	component.ShutdownFunc
	mu     sync.Mutex
	values map[string][]byte
	plug   *plug
	full   bool
	stuck  bool // it cannot be closed
	writes int
}

func newDisk() *disk { return &disk{values: map[string][]byte{}} }

type plug struct {
	d   *disk
	out bool
}

func (d *disk) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plug = &plug{d: d}
	return d.plug, nil
}

// kill unplugs the processor that uses the disk.
func (d *disk) kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.plug.out = true
}

func (d *disk) keys(prefix string) (keys []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for key := range d.values {
		if strings.Contains(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

var (
	errUnplugged = errors.New("unplugged")
	errFull      = fmt.Errorf("no room: %w", storage.ErrStorageFull)
)

func (p *plug) Batch(_ context.Context, ops ...*storage.Operation) error {
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	if p.out {
		return errUnplugged
	}
	for _, op := range ops {
		if op.Type == storage.Set && p.d.full && strings.Contains(op.Key, "/e/") {
			return errFull
		}
	}
	p.d.writes++
	for _, op := range ops {
		switch op.Type {
		case storage.Get:
			op.Value = p.d.values[op.Key]
		case storage.Set:
			p.d.values[op.Key] = slices.Clone(op.Value)
		case storage.Delete:
			delete(p.d.values, op.Key)
		}
	}
	return nil
}

func (p *plug) Get(ctx context.Context, key string) ([]byte, error) {
	op := storage.GetOperation(key)
	err := p.Batch(ctx, op)
	return op.Value, err
}

func (p *plug) Set(ctx context.Context, key string, value []byte) error {
	return p.Batch(ctx, storage.SetOperation(key, value))
}

func (p *plug) Delete(ctx context.Context, key string) error {
	return p.Batch(ctx, storage.DeleteOperation(key))
}

func (p *plug) Close(context.Context) error {
	if p.d.stuck {
		return errUnplugged
	}
	return nil
}

// storageFailures asserts what the processor counts of a storage.
func storageFailures(t *testing.T, p *testProcessor, read, appended, acknowledged, closed int64) {
	t.Helper()
	metadatatest.AssertEqualProcessorResultsealStorageFailures(t, p.telemetry, points(
		point(read, "operation", "read"), point(appended, "operation", "append"),
		point(acknowledged, "operation", "acknowledge"), point(closed, "operation", "close"),
	), ignoreTime)
}

type diskHost struct{ d *disk }

var diskID = component.MustNewID("file_storage")

func (h diskHost) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{diskID: h.d, component.MustNewID("other"): componentOnly{}}
}

type componentOnly struct {
	component.StartFunc
	component.ShutdownFunc
}

// startOn starts a processor on a disk.
func startOn(t *testing.T, d *disk, next *consumertest.TracesSink, policy string, change ...func(*Config)) (*testProcessor, *observer.ObservedLogs) {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile, cfg.Storage, cfg.NumShards = spantest.PolicyFile(t, policy), &diskID, 2
	for _, c := range change {
		c(cfg)
	}
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	core, logs := observer.New(zapcore.WarnLevel)
	set := metadatatest.NewSettings(telemetry)
	set.Logger = zap.New(core)
	p, err := newTracesProcessor(set, cfg, next)
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), diskHost{d}))
	return &testProcessor{tracesProcessor: p, telemetry: telemetry, cfg: cfg}, logs
}

// killed ends a processor as a kill does: what it still does has no effect on
// the disk. What it passes on afterwards is not looked at.
func killed(t *testing.T, d *disk, p *testProcessor) {
	t.Helper()
	d.kill()
	require.NoError(t, p.Shutdown(context.Background()))
}

// Whenever a processor is stopped or killed while it works, what it accepted
// comes out, with the verdicts of one that was never stopped; and only what was
// being passed on comes twice.
func TestNothingIsLostByRestarts(t *testing.T) {
	pol := spantest.LoadPolicy(t, spantest.ConversationPolicy)
	for seed := range uint64(spantest.Scaled(20, 6)) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 9))
			in := spantest.Turns(random, 8, 120)
			want := offline(pol, in, "root")
			d, sink := newDisk(), new(consumertest.TracesSink)
			settings := func(c *Config) {
				c.RootDelay, c.NumShards = time.Duration(seed%2)*time.Second, 1+random.IntN(4)
			}
			p, _ := startOn(t, d, sink, spantest.ConversationPolicy, settings)
			killsLeft, twice := 6, 0
			var out []ptrace.Traces
			restart := func(kill bool) {
				if kill {
					synctest.Wait() // what was written was written
					out = append(out, sink.AllTraces()...)
					killed(t, d, p)
				} else {
					p.shutdown(t)
					out = append(out, sink.AllTraces()...)
				}
				sink = new(consumertest.TracesSink)
				p, _ = startOn(t, d, sink, spantest.ConversationPolicy, settings)
			}
			for _, td := range in {
				// In two batches, with a restart between them now and then.
				rest := ptrace.NewTraces()
				td.CopyTo(rest)
				first := ptrace.NewTraces()
				td.CopyTo(first)
				// The root comes last, with what finishes the trace.
				first.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(func(s ptrace.Span) bool { return assemble.IsRoot(s) })
				rest.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(func(s ptrace.Span) bool { return !assemble.IsRoot(s) })
				require.NoError(t, p.ConsumeTraces(context.Background(), first))
				if killsLeft > 0 && random.IntN(8) == 0 {
					killsLeft--
					restart(random.IntN(2) == 0)
				}
				require.NoError(t, p.ConsumeTraces(context.Background(), rest))
				if killsLeft > 0 && random.IntN(8) == 0 {
					killsLeft--
					restart(random.IntN(2) == 0)
				}
				time.Sleep(time.Second)
				synctest.Wait()
			}
			time.Sleep(11 * time.Second)
			synctest.Wait()
			p.shutdown(t)
			out = append(out, sink.AllTraces()...)
			got := map[pcommon.TraceID]string{}
			for _, td := range out {
				text := string(spantest.Marshal(td))
				if before, again := got[canonical.TraceID(td)]; again {
					twice++
					require.Equal(t, before, text, "the same trace with another verdict")
				}
				got[canonical.TraceID(td)] = text
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d: %s", seed, diff)
			}
			require.LessOrEqual(t, twice, 6)
			require.Empty(t, d.keys("/e/"), "entries of traces that have left")
			require.Empty(t, d.keys("/b/"))
		})
	}
}

// A trace that was passed on is still known after a restart: what comes of it is
// late.
func TestDecidedTracesAreKnownAfterRestart(t *testing.T) {
	for _, shards := range []int{2, 3} {
		synctest.Test(t, func(t *testing.T) {
			d := newDisk()
			p, _ := startOn(t, d, new(consumertest.TracesSink), spantest.ConversationPolicy, func(c *Config) { c.RootDelay = 0 })
			for n := range 20 {
				require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(n, "c", "order", "1")))
			}
			synctest.Wait()
			killed(t, d, p)

			sink := new(consumertest.TracesSink)
			p, _ = startOn(t, d, sink, spantest.ConversationPolicy, func(c *Config) { c.NumShards = shards })
			for n := range 20 {
				late := spantest.Turn(n, "c", "order", "1")
				late.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(func(s ptrace.Span) bool { return assemble.IsRoot(s) })
				require.NoError(t, p.ConsumeTraces(context.Background(), late))
			}
			synctest.Wait()
			require.Equal(t, 20, sink.SpanCount())
			metadatatest.AssertEqualProcessorResultsealLateSpans(t, p.telemetry, points(point(20)), ignoreTime)
			metadatatest.AssertEqualProcessorResultsealSessionsActive(t, p.telemetry, points(point(1)), ignoreTime)
			p.shutdown(t)
		})
	}
}

// A sender is told that its batch was accepted only after it was written; if it
// cannot be written, it stays with the sender, and what is held is still passed
// on.
func TestBatchThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, sink := newDisk(), new(consumertest.TracesSink)
		p, _ := startOn(t, d, sink, spantest.ConversationPolicy)
		require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(1, "a", "order", "1")))
		require.Len(t, d.keys("/e/"), 1)
		d.full = true
		td := spantest.Turn(2, "a", "order", "1")
		want := spantest.Texts([]ptrace.Traces{td})
		require.ErrorIs(t, p.ConsumeTraces(context.Background(), td), storage.ErrStorageFull)
		require.Equal(t, want, spantest.Texts([]ptrace.Traces{td}))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.Equal(t, 2, sink.SpanCount())
		require.Empty(t, d.keys("/e/"))
		storageFailures(t, p, 0, 1, 0, 0)
		d.full = false
		require.NoError(t, p.ConsumeTraces(context.Background(), td))
		p.shutdown(t)
		storageFailures(t, p, 0, 1, 0, 0)
		require.Equal(t, 2, sink.SpanCount(), "it stays in the storage")
		require.Len(t, d.keys("/e/"), 1)
	})
}

// What was forwarded is counted once for each write that fails, and so is a storage
// that cannot be closed.
func TestStorageThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, sink := newDisk(), new(consumertest.TracesSink)
		p, logs := startOn(t, d, sink, spantest.ConversationPolicy)
		storageFailures(t, p, 0, 0, 0, 0)
		require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(1, "a", "order", "1")))
		d.kill()
		require.ErrorIs(t, p.ConsumeTraces(context.Background(), spantest.Turn(2, "a", "order", "1")), errUnplugged)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.Equal(t, 2, sink.SpanCount(), "spans that were accepted are forwarded")
		storageFailures(t, p, 0, 1, 1, 0)
		d.stuck = true
		p.shutdown(t)
		storageFailures(t, p, 0, 1, 3, 1) // with the last requests, and after them
		require.Equal(t, 3, logs.FilterMessageSnippet("does not take what was passed on").Len())
	})
}

// What cannot be read is set aside with a warning, and everything else is there.
func TestDamagedStorage(t *testing.T) {
	fill := func(t *testing.T, d *disk) {
		p, _ := startOn(t, d, new(consumertest.TracesSink), spantest.ConversationPolicy, func(c *Config) { c.RootDelay = 0 })
		require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(1, "gone", "order", "1")))
		synctest.Wait()
		for i := range 3 {
			require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Call(fmt.Sprint("t", i), "a", "order", 1, 2)))
		}
		synctest.Wait()
		killed(t, d, p)
	}
	flip := func(d *disk, key string) { d.values[key][len(d.values[key])-1] ^= 1 }
	for name, c := range map[string]struct {
		damage func(*disk)
		spans  int // that come back
		aside  int
		others int // failures besides
	}{
		"nothing":         {func(*disk) {}, 3, 0, 0},
		"one entry":       {func(d *disk) { flip(d, d.keys("/e/")[0]) }, 2, 1, 0},
		"a cut entry":     {func(d *disk) { d.values[d.keys("/e/")[0]] = []byte{1} }, 2, 1, 0},
		"a batch's count": {func(d *disk) { flip(d, d.keys("/b/")[0]) }, 3, 1, 0},
		"a decided trace": {func(d *disk) { flip(d, d.keys("/d/")[0]) }, 3, 1, 0},
		"a conversation":  {func(d *disk) { flip(d, d.keys("/c/")[0]) }, 3, 1, 0},
		"the layout":      {func(d *disk) { d.values["layout"] = []byte("{") }, 3, 0, 1},
		"a digit of the layout": {func(d *disk) {
			d.values["layout"] = []byte(strings.Replace(string(d.values["layout"]), `"next":4`, `"next":2`, 1))
		}, 3, 0, 1},
		"its copy": {func(d *disk) { d.values["layout/copy"] = []byte("{") }, 3, 0, 0},
		"both layouts": {func(d *disk) {
			d.values["layout"], d.values["layout/copy"] = []byte("{"), []byte("{")
		}, 0, 1, 0},
		"an entry's key": {func(d *disk) {
			key := d.keys("/e/")[0]
			d.values[key+"0"] = d.values[key]
			delete(d.values, key)
		}, 2, 0, 1},
		"something else": {func(d *disk) {
			clear(d.values)
			d.values["layout"] = []byte("of somebody else")
			d.values["key"] = []byte("value")
		}, 0, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDisk()
				fill(t, d)
				c.damage(d)
				before := maps.Clone(d.values)
				sink := new(consumertest.TracesSink)
				p, logs := startOn(t, d, sink, spantest.ConversationPolicy)
				require.Len(t, d.keys("aside/"), c.aside)
				require.Equal(t, c.aside > 0, logs.FilterMessageSnippet("set aside").Len() == 1)
				storageFailures(t, p, int64(c.aside+c.others), 0, 0, 0)
				require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(7, "new", "order", "1")))
				time.Sleep(11 * time.Second)
				synctest.Wait()
				require.Equal(t, c.spans+2, sink.SpanCount())
				p.shutdown(t)
				if c.spans == 0 {
					for key, value := range before {
						if key != "layout" && key != "layout/copy" {
							require.Equal(t, value, d.values[key], "foreign content was changed")
						}
					}
				}
				// It starts again as if nothing had been.
				p, logs = startOn(t, d, sink, spantest.ConversationPolicy)
				require.Zero(t, logs.FilterMessageSnippet("set aside").Len())
				p.shutdown(t)
			})
		})
	}
}

// A storage of a later release ends the start and stays as it is.
func TestNewerStorage(t *testing.T) {
	d := newDisk()
	for _, key := range []string{"layout", "layout/copy"} {
		layout := []byte(`{"format":99,"generation":"g","shards":1}`)
		sum := crc32.Checksum(layout, crc32.MakeTable(crc32.Castagnoli))
		d.values[key] = append(binary.LittleEndian.AppendUint32(nil, sum), layout...)
	}
	before := maps.Clone(d.values)
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile, cfg.Storage = spantest.PolicyFile(t, spantest.ConversationPolicy), &diskID
	telemetry := componenttest.NewTelemetry()
	defer func() { require.NoError(t, telemetry.Shutdown(context.Background())) }()
	p, err := newTracesProcessor(metadatatest.NewSettings(telemetry), cfg, consumertest.NewNop())
	require.NoError(t, err)
	err = p.Start(context.Background(), diskHost{d})
	require.EqualError(t, err, "resultseal: the storage cannot be used: it has format 99, and this release reads formats up to 2: start the release that wrote it, or set another directory")
	require.NoError(t, p.Shutdown(context.Background()))
	require.Equal(t, before, d.values)
}

// A conversation goes on where it was, unless its protocol is another one now.
func TestConversationsAfterRestart(t *testing.T) {
	changed := strings.Replace(spantest.ConversationPolicy, "rec X.!{", "rec X.!{pay.?pay.X, ", 1)
	for name, c := range map[string]struct{ policy, want string }{
		"same policy":    {spantest.ConversationPolicy, "orders=violation"},
		"other protocol": {changed, "orders=inconclusive"}, // it begins anew
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDisk()
				p, _ := startOn(t, d, new(consumertest.TracesSink), spantest.ConversationPolicy, func(c *Config) { c.RootDelay = 0 })
				require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(1, "a", "order", "1")))
				synctest.Wait()
				p.shutdown(t)
				for n, id := range map[int]string{2: "1", 3: "2"} {
					_ = n
					sink := new(consumertest.TracesSink)
					p, _ = startOn(t, newCopy(d), sink, c.policy, func(c *Config) { c.RootDelay = 0 })
					require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(2, "a", "cancel", id)))
					synctest.Wait()
					p.shutdown(t)
					for span := range canonical.Spans(sink.AllTraces()[0]) {
						if v, ok := span.Attributes().Get("resultseal.session.protocols"); ok {
							want := c.want
							if name == "same policy" && id == "1" {
								want = "orders=compliant"
							}
							require.Equal(t, want, v.Slice().At(0).Str(), id)
						}
					}
				}
			})
		})
	}
}

func newCopy(d *disk) *disk { return &disk{values: maps.Clone(d.values)} }

// What the next component does not take is not lost at the end: it stays in the
// storage and is offered after the next start.
func TestRefusedAtShutdownStaysInStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		cfg := createDefaultConfig().(*Config)
		cfg.PolicyFile, cfg.Storage, cfg.NumShards, cfg.RootDelay = spantest.PolicyFile(t, spantest.ConversationPolicy), &diskID, 1, 0
		telemetry := componenttest.NewTelemetry()
		defer func() { require.NoError(t, telemetry.Shutdown(context.Background())) }()
		next := &flaky{TracesSink: new(consumertest.TracesSink), refusals: 1000, err: errors.New("not now")}
		p, err := newTracesProcessor(metadatatest.NewSettings(telemetry), cfg, next)
		require.NoError(t, err)
		require.NoError(t, p.Start(context.Background(), diskHost{d}))
		in := []ptrace.Traces{spantest.Turn(1, "a", "order", "1"), spantest.Turn(2, "a", "cancel", "1"), spantest.Turn(3, "a", "cancel", "2")}
		want := offline(spantest.LoadPolicy(t, spantest.ConversationPolicy), in, "root")
		for _, td := range in {
			require.NoError(t, p.ConsumeTraces(context.Background(), td))
			synctest.Wait()
		}
		begin := time.Now()
		require.NoError(t, p.Shutdown(context.Background()))
		require.Less(t, time.Since(begin), time.Second)
		metadatatest.AssertEqualProcessorResultsealRefusedSpans(t, telemetry, points(point(0)), ignoreTime)

		sink := new(consumertest.TracesSink)
		again, _ := startOn(t, d, sink, spantest.ConversationPolicy, func(c *Config) { c.RootDelay, c.NumShards = 0, 1 })
		synctest.Wait()
		again.shutdown(t)
		require.Empty(t, cmp.Diff(want, spantest.TraceTexts(sink.AllTraces())))
	})
}

func TestStorageThatIsNone(t *testing.T) {
	for name, want := range map[string]string{"nowhere": "there is no storage extension", "other": "is no storage"} {
		cfg := createDefaultConfig().(*Config)
		id := component.MustNewID(name)
		cfg.PolicyFile, cfg.Storage = spantest.PolicyFile(t, spantest.ConversationPolicy), &id
		telemetry := componenttest.NewTelemetry()
		p, err := newTracesProcessor(metadatatest.NewSettings(telemetry), cfg, consumertest.NewNop())
		require.NoError(t, err)
		require.ErrorContains(t, p.Start(context.Background(), diskHost{newDisk()}), want)
		require.NoError(t, p.Shutdown(context.Background()))
		require.NoError(t, telemetry.Shutdown(context.Background()))
	}
}
