// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Recordings returns files of OTLP JSON lines, each with its policy file: the one of
// the quickstart, and those of many instrumentations where RESULTSEAL_SHARED, by
// default ../shared beside the repository, has them.
func Recordings(t testing.TB) map[string]string {
	t.Helper()
	root := repository(t)
	files := map[string]string{filepath.Join(root, "testdata/quickstart/support.jsonl"): filepath.Join(root, "examples/quickstart/policy.yaml")}
	shared := os.Getenv("RESULTSEAL_SHARED")
	if shared == "" {
		shared = filepath.Join(root, "../shared")
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

// repository returns the root of the repository, above the folder of the test.
func repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		require.NotEqual(t, filepath.Dir(dir), dir, "no go.mod above the test")
		dir = filepath.Dir(dir)
	}
}

// Quickstart returns the batches of the quickstart's recording.
func Quickstart(t testing.TB) []ptrace.Traces {
	t.Helper()
	return ReadRecording(t, filepath.Join(repository(t), "testdata/quickstart/support.jsonl"))
}

// ReadRecording returns the batches of a file of OTLP JSON lines.
func ReadRecording(t testing.TB, file string) []ptrace.Traces {
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

// Texts returns all spans as protobuf, each with its resource and scope, sorted.
func Texts(batches []ptrace.Traces) (texts []string) {
	for _, td := range batches {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					texts = append(texts, string(Marshal(Alone(rs, ss, span))))
				}
			}
		}
	}
	sort.Strings(texts)
	return texts
}

// TraceTexts returns traces as protobuf, by their ids.
func TraceTexts(traces []ptrace.Traces) map[pcommon.TraceID]string {
	texts := map[pcommon.TraceID]string{}
	for _, td := range traces {
		texts[traceID(td)] += string(Marshal(td))
	}
	return texts
}

// Alone copies one span with its resource and scope.
func Alone(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) ptrace.Traces {
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

// Shuffled lays the spans of all batches out anew, in random order and
// batches of random size.
func Shuffled(random *rand.Rand, batches []ptrace.Traces) (out []ptrace.Traces) {
	var spans []ptrace.Traces
	for _, td := range batches {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					spans = append(spans, Alone(rs, ss, span))
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

// Copies returns n copies of the recorded traces under trace ids of their own.
func Copies(recorded []ptrace.Traces, n int) []ptrace.Traces {
	var out []ptrace.Traces
	for i := range n {
		for _, from := range recorded {
			td := ptrace.NewTraces()
			from.CopyTo(td)
			for span := range eachSpan(td) {
				id := span.TraceID()
				copy(id[:8], fmt.Sprintf("%08d", i))
				span.SetTraceID(id)
			}
			out = append(out, td)
		}
	}
	return out
}

// Mixed puts the spans of all batches into batches of 500, one of each in
// turn: the worst case for taking them apart.
func Mixed(batches []ptrace.Traces) (out []ptrace.Traces) {
	var traces [][]ptrace.Traces
	for _, td := range batches {
		var spans []ptrace.Traces
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					spans = append(spans, Alone(rs, ss, span))
				}
			}
		}
		traces = append(traces, spans)
	}
	td, n := ptrace.NewTraces(), 0
	for i, left := 0, true; left; i++ {
		left = false
		for _, spans := range traces {
			if i >= len(spans) {
				continue
			}
			left = true
			spans[i].ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
			if n++; n%500 == 0 {
				out, td = append(out, td), ptrace.NewTraces()
			}
		}
	}
	return append(out, td)
}

// Marshal returns spans as OTLP protobuf.
func Marshal(td ptrace.Traces) []byte {
	var m ptrace.ProtoMarshaler
	data, _ := m.MarshalTraces(td)
	return data
}

// eachSpan iterates over all spans.
func eachSpan(td ptrace.Traces) iter.Seq[ptrace.Span] {
	return func(yield func(ptrace.Span) bool) {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					if !yield(span) {
						return
					}
				}
			}
		}
	}
}

func traceID(td ptrace.Traces) pcommon.TraceID {
	for span := range eachSpan(td) {
		return span.TraceID()
	}
	return pcommon.TraceID{}
}
