// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/spantest"
)

// The set remembers what a list would that is cut at its front, also after it was
// stored, whenever that was and with whatever limit it is read again.
func TestEvictedAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{0, 1, 8, 63, 64, 65, 200}).Draw(t, "limit")
		set := newEvictedSet(limit)
		set.noting = true
		slots := map[int32][]byte{}
		var list []uint64
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			for range rapid.IntRange(0, 90).Draw(t, "evictions") {
				hash := rapid.Uint64Range(0, 150).Draw(t, "hash")
				set.add(hash)
				if list = append(list, hash); len(list) > limit {
					list = list[1:]
				}
			}
			for hash := range uint64(150) {
				if got, want := set.has(hash), slices.Contains(list, hash); got != want {
					t.Fatalf("%d was evicted: %v, want %v", hash, got, want)
				}
			}
			if len(set.ring) > limit || len(set.at) > limit {
				t.Fatalf("%d and %d hashes, limit %d", len(set.ring), len(set.at), limit)
			}
			for _, chunk := range set.changes() {
				if int(chunk.slot) >= evictedSlots(limit) {
					t.Fatalf("slot %d, of %d", chunk.slot, evictedSlots(limit))
				}
				slots[chunk.slot] = encodeEvicted(&chunk)
			}
			if rapid.IntRange(0, 2).Draw(t, "restart") > 0 {
				continue
			}
			var chunks []storedEvicted
			for slot, text := range slots {
				chunk, err := decodeEvicted(slot, text)
				if err != nil {
					t.Fatal(err)
				}
				chunks = append(chunks, chunk)
			}
			run, whole := lastRun(chunks, limit)
			if !whole && len(chunks) > 0 {
				t.Fatalf("%d chunks do not fit into %d slots", len(chunks), evictedSlots(limit))
			}
			set = newEvictedSet(limit)
			set.noting = true
			set.restore(run)
		}
	})
}

// Whatever a storage holds is read as a chunk or is an error, and a chunk is
// written as it was read.
func FuzzDecodeEvicted(f *testing.F) {
	f.Add(encodeEvicted(&storedEvicted{first: 64, hashes: []uint64{1, 2, 3}}))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		chunk, err := decodeEvicted(3, payload)
		if err != nil {
			require.ErrorIs(t, err, errDamaged)
			return
		}
		again, err := decodeEvicted(3, encodeEvicted(&chunk))
		require.NoError(t, err)
		require.Equal(t, chunk, again)
	})
}

const readBeforeRefund = `
protocols:
  - name: talk
    session: conversation
    states:
      initial: unread
      terminal: [unread, read]
      transitions:
        - {from: unread, event: "?Order", to: read}
        - {from: read, event: "?Order", to: read}
        - {from: read, event: "!Refund", to: read}
    events:
      - {label: Order, event: tool_result, tools: [order]}
      - {label: Refund, event: tool_call, tools: [refund]}
`

// rootsOf are the verdicts of the sessions that came out, with their gaps.
func rootsOf(sink *consumertest.TracesSink) (out []string) {
	for _, td := range sink.AllTraces() {
		for span := range canonical.Spans(td) {
			if v, ok := span.Attributes().Get("resultseal.session.compliance"); ok {
				text := v.Str()
				if gaps, ok := span.Attributes().Get("resultseal.session.gaps"); ok {
					text += " " + gaps.AsString()
				}
				out = append(out, text)
			}
		}
	}
	sink.Reset()
	return out
}

// Evicted conversations are known after a restart, also with another number of
// shards and other limits.
func TestEvictedConversationsAreKnownAfterRestart(t *testing.T) {
	for _, kill := range []bool{false, true} {
		for n, again := range []func(*Config){
			func(*Config) {},
			func(c *Config) { c.NumShards = 3 },
			func(c *Config) { c.MaxSessions = 100 },
			func(c *Config) { c.NumShards, c.MaxSessions = 1, 8 },
		} {
			synctest.Test(t, func(t *testing.T) {
				d, sink := newDisk(), new(consumertest.TracesSink)
				settings := func(c *Config) { c.RootDelay, c.NumShards, c.MaxSessions, c.MaxClockSkew = 0, 2, 10, time.Hour }
				p, _ := startOn(t, d, sink, readBeforeRefund, settings)
				for i := range 60 {
					require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(1, fmt.Sprint("c", i), "order", "1")))
				}
				synctest.Wait()
				if kill {
					killed(t, d, p)
				} else {
					p.shutdown(t)
				}
				require.NotEmpty(t, d.keys("/v/"))

				sink = new(consumertest.TracesSink)
				p, logs := startOn(t, d, sink, readBeforeRefund, settings, again)
				require.Zero(t, logs.FilterMessageSnippet("set aside").Len())
				for i := 40; i < 60; i++ {
					require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(2, fmt.Sprint("c", i), "refund", "1")))
				}
				require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(2, "new", "refund", "1")))
				synctest.Wait()
				// Those that the first processor still had may have had to go since.
				violations := 0
				for _, root := range rootsOf(sink) {
					require.Contains(t, []string{"compliant", `inconclusive ["evicted"]`, "violation"}, root)
					if root == "violation" {
						violations++
					}
				}
				require.Equal(t, 1, violations, "%d", n)
				p.shutdown(t)
			})
		}
	}
}

// A trace that was under way when the processor was started has a gap, unless a
// storage held what came before.
func TestRestartGap(t *testing.T) {
	tests := map[string]struct {
		before func(*testing.T, *disk)
		want   string
	}{
		"a storage that went on": {func(*testing.T, *disk) {}, "compliant"},
		"a new storage":          {func(_ *testing.T, d *disk) { clear(d.values) }, `inconclusive ["restart"]`},
		"a storage without a layout": {func(t *testing.T, d *disk) {
			d.values["layout"], d.values["layout/copy"] = []byte("{"), []byte("{")
		}, `inconclusive ["restart"]`},
		"a storage that lost a part": {func(t *testing.T, d *disk) {
			for key := range d.values {
				if strings.Contains(key, "/e/") {
					d.values[key][5] ^= 1
				}
			}
		}, `inconclusive ["restart"]`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, sink := newDisk(), new(consumertest.TracesSink)
				once := strings.Replace(readBeforeRefund, "session: conversation", "session: trace", 1)
				p, _ := startOn(t, d, sink, once)
				// The order is exported, the collector restarts, the rest comes.
				require.NoError(t, p.ConsumeTraces(context.Background(), spantest.AgentBatch(t, []string{
					"t1/order parent=root call=order id=1 start=1s end=2s",
				})))
				time.Sleep(3 * time.Second)
				killed(t, d, p)
				test.before(t, d)
				p, _ = startOn(t, d, sink, once)
				require.NoError(t, p.ConsumeTraces(context.Background(), spantest.AgentBatch(t, []string{
					"t1/refund parent=root call=refund id=2 start=3s end=4s", "t1/root root agent start=0s end=5s",
				})))
				time.Sleep(3 * time.Second)
				require.Equal(t, []string{test.want}, rootsOf(sink))
				p.shutdown(t)
			})
		})
	}
}
