// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

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
