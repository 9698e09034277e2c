// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadata"
)

// process runs batches through a whole processor.
func process(t testing.TB, policyFile string, batches []ptrace.Traces, change ...func(*Config)) []ptrace.Traces {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile = policyFile
	cfg.RootDelay, cfg.IdleTimeout, cfg.MaxAge = time.Hour, time.Hour, time.Hour
	cfg.Annotations = AnnotationsConfig{Record: true, ContentHash: true, EvaluationEvents: true}
	for _, c := range change {
		c(cfg)
	}
	sink := new(consumertest.TracesSink)
	p, err := newTracesProcessor(processortest.NewNopSettings(metadata.Type), cfg, sink)
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), nil))
	for _, td := range batches {
		require.NoError(t, p.ConsumeTraces(context.Background(), td))
	}
	require.NoError(t, p.Shutdown(context.Background()))
	return sink.AllTraces()
}

// Recorded spans come out as they went in, less what the processor adds, and
// what it adds does not depend on how they came in.
func TestRecordedSpans(t *testing.T) {
	for file, policyFile := range spantest.Recordings(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want := spantest.Texts(spantest.ReadRecording(t, file))
			out := process(t, policyFile, spantest.ReadRecording(t, file))
			annotated := spantest.TraceTexts(out)

			random := rand.New(rand.NewPCG(1, 2))
			for range 3 {
				again := process(t, policyFile, spantest.Shuffled(random, spantest.ReadRecording(t, file)))
				if diff := cmp.Diff(annotated, spantest.TraceTexts(again)); diff != "" {
					t.Fatal("another order of arrival gives other spans:\n" + diff)
				}
			}

			added := 0
			for _, td := range out {
				for span := range canonical.Spans(td) {
					added += stripAdded(span)
				}
			}
			require.Positive(t, added, "nothing was written")
			if diff := cmp.Diff(want, spantest.Texts(out)); diff != "" {
				t.Fatal("spans were changed:\n" + diff)
			}
		})
	}
}

// stripAdded takes away what the processor wrote and counts it.
func stripAdded(span ptrace.Span) (n int) {
	span.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool {
		if strings.HasPrefix(key, "resultseal.") {
			n++
			return true
		}
		return false
	})
	span.Events().RemoveIf(func(e ptrace.SpanEvent) bool {
		if strings.HasPrefix(e.Name(), "resultseal.") || e.Name() == "gen_ai.evaluation.result" {
			n++
			return true
		}
		return false
	})
	return n
}
