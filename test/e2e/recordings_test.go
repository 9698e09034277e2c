// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// recordedRun is one recorded run of an agent, and what scoring it without a collector
// says of it.
type recordedRun struct {
	trace      ptrace.Traces
	service    string
	compliance string
	blocked    int64
	protocols  []any // name=verdict
	contracts  map[string]bool
}

// kept says whether the recommended sampling must keep it.
func (r recordedRun) kept() bool {
	return r.compliance == "violation" || r.compliance == "unjudged" || r.blocked > 0
}

// recording is a file of runs and the policy that they are judged by.
type recording struct {
	name, policy string
	contracts    []string
	runs         []recordedRun
}

// recordings are those of the repository, and the shared one where it is there.
func recordings(t *testing.T) []recording {
	t.Helper()
	out := []recording{record(t, "support", absolute(t, "examples", "quickstart", "policy.yaml"), absolute(t, "testdata", "quickstart", "support.jsonl"))}
	policies, err := filepath.Glob(absolute(t, "examples", "protocols", "*", "policy.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, policies)
	for _, path := range policies {
		folder := filepath.Dir(path)
		out = append(out, record(t, filepath.Base(folder), path, filepath.Join(folder, "traces.jsonl")))
	}
	shared := os.Getenv("RESULTSEAL_SHARED")
	if shared == "" {
		shared = absolute(t, "..", "shared")
	}
	booking := filepath.Join(shared, "traces", "booking")
	if _, err := os.Stat(booking); err != nil {
		t.Logf("without the booking study: %v", err)
		return out
	}
	return append(out, record(t, "booking", filepath.Join(booking, "policy.yaml"), filepath.Join(booking, "traces.jsonl.gz")))
}

func record(t *testing.T, name, policyPath, tracesPath string) recording {
	t.Helper()
	text, err := os.ReadFile(policyPath)
	require.NoError(t, err)
	p, err := policy.Load(policyPath, text)
	require.NoError(t, err)
	scorer, writer, decoder := score.New(p), annotate.New(annotate.Options{}), genai.NewDecoder(genai.Options{})

	all := ptrace.NewTraces()
	for line := range strings.Lines(contents(t, tracesPath)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(line))
		require.NoError(t, err, tracesPath)
		td.ResourceSpans().MoveAndAppendTo(all.ResourceSpans())
	}
	out := recording{name: name, policy: policyPath}
	for _, c := range p.Contracts {
		out.contracts = append(out.contracts, c.Name)
	}
	for _, td := range byTrace(all) {
		judged := ptrace.NewTraces()
		td.CopyTo(judged)
		facts, spans := decoder.Traces(judged)
		verdict := scorer.Trace(facts, nil)
		require.NotNil(t, verdict, "%s: a recording must be of an agent", tracesPath)
		writer.Session(spans, verdict, "root")

		run := recordedRun{trace: td, contracts: map[string]bool{}}
		for span, resource := range spansOf(judged) {
			attributes := span.Attributes()
			if v, ok := attributes.Get("resultseal.session.compliance"); ok {
				run.compliance = v.Str()
				service, _ := resource.Attributes().Get("service.name")
				run.service = service.Str()
			}
			if v, ok := attributes.Get("resultseal.session.blocked"); ok {
				run.blocked = v.Int()
			}
			if v, ok := attributes.Get("resultseal.session.protocols"); ok {
				run.protocols = v.Slice().AsRaw()
			}
			if v, ok := attributes.Get("resultseal.contract"); ok {
				run.contracts[v.Str()] = true
			}
		}
		require.NotEmpty(t, run.service, tracesPath)
		out.runs = append(out.runs, run)
	}
	require.NotEmpty(t, out.runs, tracesPath)
	return out
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if strings.HasSuffix(path, ".gz") {
		reader, err := gzip.NewReader(bytes.NewReader(text))
		require.NoError(t, err)
		text, err = io.ReadAll(reader)
		require.NoError(t, err)
	}
	return string(text)
}

// spansOf are all spans, each with its resource.
func spansOf(td ptrace.Traces) func(func(ptrace.Span, pcommon.Resource) bool) {
	return func(yield func(ptrace.Span, pcommon.Resource) bool) {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					if !yield(span, rs.Resource()) {
						return
					}
				}
			}
		}
	}
}

// byTrace copies spans apart by their trace.
func byTrace(td ptrace.Traces) map[pcommon.TraceID]ptrace.Traces {
	out := map[pcommon.TraceID]ptrace.Traces{}
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			into := map[pcommon.TraceID]ptrace.SpanSlice{}
			for _, span := range ss.Spans().All() {
				id := span.TraceID()
				spans, ok := into[id]
				if !ok {
					if _, ok := out[id]; !ok {
						out[id] = ptrace.NewTraces()
					}
					copied := out[id].ResourceSpans().AppendEmpty()
					rs.Resource().CopyTo(copied.Resource())
					scope := copied.ScopeSpans().AppendEmpty()
					ss.Scope().CopyTo(scope.Scope())
					spans = scope.Spans()
					into[id] = spans
				}
				span.CopyTo(spans.AppendEmpty())
			}
		}
	}
	return out
}

// replayed is how long ago the traces of again ended: longer than max_age, so that
// none of them was under way when the collectors were started.
const replayed = 10 * time.Minute

// again is a trace as if it had been recorded a short while ago, with another trace
// id.
func again(trace ptrace.Traces) (ptrace.Traces, pcommon.TraceID) {
	out := ptrace.NewTraces()
	trace.CopyTo(out)
	var id pcommon.TraceID
	_, _ = rand.Read(id[:]) // never fails
	last := pcommon.Timestamp(0)
	for span := range spansOf(out) {
		last = max(last, span.EndTimestamp())
	}
	shift := pcommon.NewTimestampFromTime(time.Now().Add(-replayed)) - last
	for span := range spansOf(out) {
		span.SetTraceID(id)
		span.SetStartTimestamp(span.StartTimestamp() + shift)
		span.SetEndTimestamp(span.EndTimestamp() + shift)
		for _, event := range span.Events().All() {
			event.SetTimestamp(event.Timestamp() + shift)
		}
	}
	return out, id
}
