// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// testdata/storage holds one storage for each format that was released, as a
// processor left it that was killed: traces 1 and 2 are decided, conversations "a"
// and "b" have ordered "1" and "2", and of traces 3 and 4, which cancel "1" in "a"
// and in "b", all spans but the roots are held.
func storedFormats(t *testing.T) map[string]*disk {
	files, err := filepath.Glob(filepath.Join("testdata", "storage", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	all := map[string]*disk{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		d := newDisk()
		require.NoError(t, json.Unmarshal(text, &d.values))
		all[filepath.Base(file)] = d
	}
	return all
}

// TestRecordStorageFormat writes the storage of the present format, with -update.
func TestRecordStorageFormat(t *testing.T) {
	if !*update {
		t.Skip("-update records the storage")
	}
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		p, _ := startOn(t, d, new(consumertest.TracesSink), spantest.ConversationPolicy, func(c *Config) { c.RootDelay = 0 })
		time.Sleep(time.Minute)
		require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(1, "a", "order", "1")))
		require.NoError(t, p.ConsumeTraces(context.Background(), spantest.Turn(2, "b", "order", "2")))
		synctest.Wait()
		time.Sleep(time.Second)
		for n, conversation := range map[int]string{3: "a", 4: "b"} {
			td := spantest.Turn(n, conversation, "cancel", "1")
			td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(func(s ptrace.Span) bool { return assemble.IsRoot(s) })
			require.NoError(t, p.ConsumeTraces(context.Background(), td))
		}
		synctest.Wait()
		d.kill()
		text, err := json.MarshalIndent(d.values, "", "  ")
		require.NoError(t, err)
		file := filepath.Join("testdata", "storage", fmt.Sprintf("format-%d.json", wal.Format))
		require.NoError(t, os.WriteFile(file, append(text, '\n'), 0o600))
		p.shutdown(t)
	})
}

// After an upgrade, held spans, decisions and conversations are there, with as
// many shards as before and with more.
func TestEarlierStorageFormats(t *testing.T) {
	for name, stored := range storedFormats(t) {
		for _, shards := range []int{2, 3} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(time.Minute)
					d, sink := newCopy(stored), new(consumertest.TracesSink)
					p, logs := startOn(t, d, sink, spantest.ConversationPolicy, func(c *Config) {
						// The recorded spans are dated ahead of this test's clock.
						c.RootDelay, c.NumShards, c.MaxClockSkew = 0, shards, 50*365*24*time.Hour
					})
					require.Empty(t, logs.FilterMessageSnippet("aside").All())

					late := spantest.Turn(1, "a", "order", "1")
					late.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(func(s ptrace.Span) bool { return assemble.IsRoot(s) })
					require.NoError(t, p.ConsumeTraces(context.Background(), late))
					synctest.Wait()
					require.Equal(t, 1, sink.SpanCount(), "a span of a decided trace does not wait")
					metadatatest.AssertEqualProcessorResultsealLateSpans(t, p.telemetry, points(point(1)), ignoreTime)

					for n, conversation := range map[int]string{3: "a", 4: "b"} {
						root := spantest.Turn(n, conversation, "cancel", "1")
						root.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(func(s ptrace.Span) bool { return !assemble.IsRoot(s) })
						require.NoError(t, p.ConsumeTraces(context.Background(), root))
					}
					synctest.Wait()
					verdicts := map[string]string{}
					for _, td := range sink.AllTraces() {
						for span := range canonical.Spans(td) {
							conversation, _ := span.Attributes().Get("gen_ai.conversation.id")
							if v, ok := span.Attributes().Get("resultseal.session.compliance"); ok {
								verdicts[conversation.Str()] = v.Str()
							}
						}
					}
					require.Equal(t, 5, sink.SpanCount(), "what was held leaves with its root")
					require.Equal(t, map[string]string{"a": "compliant", "b": "violation"}, verdicts)
					p.shutdown(t)
				})
			})
		}
	}
}
