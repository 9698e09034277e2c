// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// offline scores and annotates without a collector, in any number of tests at a
// time.
type offline struct {
	scorer *score.Scorer
	writer *annotate.Writer
}

func newOffline(t *testing.T, policyPath string) *offline {
	t.Helper()
	text, err := os.ReadFile(policyPath)
	require.NoError(t, err)
	p, err := policy.Load(policyPath, text)
	require.NoError(t, err)
	return &offline{score.New(p), annotate.New(annotate.Options{})}
}

// annotated is what should come out for records. finalizedBy says for each
// trace why it was judged when it was.
func (o *offline) annotated(records []record, finalizedBy func(pcommon.TraceID) string) []record {
	var out []record
	decoder := genai.NewDecoder(genai.Options{})
	for id, trace := range byTrace(records) {
		// Scoring does not ask for an order, except that of two spans with one
		// id the first counts, by time and then by what they hold.
		slices.SortFunc(trace, func(a, b record) int {
			return cmp.Or(
				cmp.Compare(a.span().StartTimestamp(), b.span().StartTimestamp()),
				bytes.Compare(a.encoded(), b.encoded()),
			)
		})
		td := putTogether(trace)
		facts, spans := decoder.Traces(td)
		if v := o.scorer.Trace(facts, nil); v != nil {
			o.writer.Session(spans, v, finalizedBy(id))
		}
		out = append(out, takeApart(td)...)
	}
	return out
}

// requireAsOffline requires that what came out is to the byte what scoring
// without a collector makes of what was sent.
func (o *offline) requireAsOffline(t *testing.T, sent, got []record) {
	t.Helper()
	finalizedBy := map[pcommon.TraceID]string{}
	for _, r := range got {
		if by := r.attribute(prefix + "session.finalized_by"); by != "" {
			finalizedBy[r.id().trace] = by
		}
	}
	want := o.annotated(sent, func(id pcommon.TraceID) string { return finalizedBy[id] })
	requireSame(t, want, got, "spans with annotations, expected as without a collector")
}

// shared returns a path in the folder of recordings that are not part of the
// repository, and skips the test where it is absent.
func shared(t *testing.T, path ...string) string {
	t.Helper()
	folder := os.Getenv("RESULTSEAL_SHARED")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared")
	}
	full, err := filepath.Abs(filepath.Join(append([]string{folder}, path...)...))
	require.NoError(t, err)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("the recordings are not here: %v (set RESULTSEAL_SHARED)", err)
	}
	return full
}

// readLines reads a recording: a line for each request that an exporter sent,
// its body. It may be compressed.
func readLines(t *testing.T, path string) [][]byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if strings.HasSuffix(path, ".gz") {
		packed, err := gzip.NewReader(bytes.NewReader(text))
		require.NoError(t, err)
		text, err = io.ReadAll(packed)
		require.NoError(t, err)
	}
	return slices.Collect(bytes.Lines(text))
}

// readRecords reads the spans of a recording.
func readRecords(t *testing.T, path string) []record {
	t.Helper()
	var out []record
	for _, line := range readLines(t, path) {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
		require.NoError(t, err)
		out = append(out, takeApart(td)...)
	}
	require.NotEmpty(t, out, path)
	return out
}
