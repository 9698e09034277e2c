// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadata"
)

// recordings are files of OTLP JSON lines with the policy for each: the one
// of the quickstart, and where they can be had those of many instrumentations.
func recordings(t testing.TB) map[string]string {
	t.Helper()
	files := map[string]string{"../../testdata/quickstart/support.jsonl": "../../examples/quickstart/policy.yaml"}
	shared := os.Getenv("RESULTSEAL_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	more, err := filepath.Glob(filepath.Join(shared, "traces/sdk/*.jsonl"))
	require.NoError(t, err)
	for _, file := range more {
		if !strings.HasSuffix(file, ".logs.jsonl") {
			files[file] = filepath.Join(shared, "traces/sdk/policy.yaml")
		}
	}
	if len(more) == 0 {
		t.Log("only the quickstart's recording is here: RESULTSEAL_SHARED names no folder with more")
	}
	return files
}

func readRecording(t testing.TB, file string) []ptrace.Traces {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var batches []ptrace.Traces
	for _, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		td, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(line)
		require.NoError(t, err)
		batches = append(batches, td)
	}
	return batches
}

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
	for file, policyFile := range recordings(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			want := spanTexts(readRecording(t, file))
			out := process(t, policyFile, readRecording(t, file))
			annotated := canonicalTexts(out)

			random := rand.New(rand.NewPCG(1, 2))
			for range 3 {
				again := process(t, policyFile, shuffled(random, readRecording(t, file)))
				if diff := cmp.Diff(annotated, canonicalTexts(again)); diff != "" {
					t.Fatal("another order of arrival gives other spans:\n" + diff)
				}
			}

			added := 0
			for _, td := range out {
				for span := range spansOf(td) {
					added += stripAdded(span)
				}
			}
			require.Positive(t, added, "nothing was written")
			if diff := cmp.Diff(want, spanTexts(out)); diff != "" {
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

// spanTexts are all spans, each with its resource and scope, sorted.
func spanTexts(batches []ptrace.Traces) (texts []string) {
	for _, td := range batches {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					texts = append(texts, string(marshal(alone(rs, ss, span))))
				}
			}
		}
	}
	sort.Strings(texts)
	return texts
}

func canonicalTexts(traces []ptrace.Traces) map[pcommon.TraceID]string {
	texts := map[pcommon.TraceID]string{}
	for _, td := range traces {
		texts[traceIDOf(td)] += string(marshal(td))
	}
	return texts
}

// alone copies one span with its resource and scope.
func alone(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) ptrace.Traces {
	td := ptrace.NewTraces()
	resource := td.ResourceSpans().AppendEmpty()
	rs.Resource().CopyTo(resource.Resource())
	resource.SetSchemaUrl(rs.SchemaUrl())
	to := resource.ScopeSpans().AppendEmpty()
	ss.Scope().CopyTo(to.Scope())
	to.SetSchemaUrl(ss.SchemaUrl())
	span.CopyTo(to.Spans().AppendEmpty())
	return td
}

// shuffled lays the spans of all batches out anew, in random order and
// batches of random size.
func shuffled(random *rand.Rand, batches []ptrace.Traces) (out []ptrace.Traces) {
	var spans []ptrace.Traces
	for _, td := range batches {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					spans = append(spans, alone(rs, ss, span))
				}
			}
		}
	}
	random.Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
	for len(spans) > 0 {
		td := ptrace.NewTraces()
		n := min(len(spans), 1+random.IntN(10))
		for _, one := range spans[:n] {
			one.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
		}
		out, spans = append(out, td), spans[n:]
	}
	return out
}
