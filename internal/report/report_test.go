// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestJSON(t *testing.T) {
	golden(t, "traces.json", written(t, func(w *bytes.Buffer) error { return reportOf(t, false, sampleInputs, samples()...).JSON(w) }))
	golden(t, "conversations.json", written(t, func(w *bytes.Buffer) error { return reportOf(t, true, sampleInputs, samples()...).JSON(w) }))
	golden(t, "nothing.json", written(t, func(w *bytes.Buffer) error { return reportOf(t, false, Inputs{Files: 1}).JSON(w) }))
}

// A line a session holds what the document's list holds.
func TestJSONL(t *testing.T) {
	r := reportOf(t, false, sampleInputs, samples()...)
	var document struct{ Sessions []json.RawMessage }
	require.NoError(t, json.Unmarshal(written(t, func(w *bytes.Buffer) error { return r.JSON(w) }), &document))
	lines := strings.Split(strings.TrimSuffix(string(written(t, func(w *bytes.Buffer) error { return r.JSONL(w) })), "\n"), "\n")
	require.Len(t, lines, len(document.Sessions))
	for i := range lines {
		require.JSONEq(t, string(document.Sessions[i]), lines[i])
	}
	require.Empty(t, written(t, func(w *bytes.Buffer) error { return reportOf(t, false, Inputs{}).JSONL(w) }))
}

func TestTable(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	golden(t, "table.txt", written(t, func(w *bytes.Buffer) error { return reportOf(t, false, sampleInputs, samples()...).Table(w, false) }))
	golden(t, "nothing.txt", written(t, func(w *bytes.Buffer) error { return reportOf(t, false, Inputs{Files: 1, Spans: 1}).Table(w, false) }))
	golden(t, "scattered.txt", written(t, func(w *bytes.Buffer) error {
		return reportOf(t, false, Inputs{Files: 1, Spans: 9, Scattered: 2}, samples()[0]).Table(w, false)
	}))
	plain := string(written(t, func(w *bytes.Buffer) error { return reportOf(t, false, sampleInputs, samples()...).Table(w, false) }))
	require.NotContains(t, plain, "\x1b", "a name of a tool must not colour the terminal")
}

// The order in which verdicts come, and where they are put aside, change nothing.
func TestDeterministic(t *testing.T) {
	for _, conversational := range []bool{false, true} {
		want := written(t, func(w *bytes.Buffer) error { return reportOf(t, conversational, sampleInputs, samples()...).JSON(w) })
		rapid.Check(t, func(rt *rapid.T) {
			traces := samples()
			if !conversational { // traces of a conversation are judged in order
				traces = rapid.Permutation(traces).Draw(rt, "traces")
			}
			b := NewBuilder(conversational)
			b.report.bodies.Limit = rapid.SampledFrom([]int{0, 1, 1000}).Draw(rt, "limit")
			for _, s := range traces {
				require.NoError(rt, b.Add(s.trace()))
			}
			r, err := b.Report(sampleInputs)
			require.NoError(rt, err)
			var got bytes.Buffer
			require.NoError(rt, r.JSON(&got))
			require.NoError(rt, r.Close())
			require.Equal(rt, string(want), got.String())
		})
	}
}

// What is taken back is as if it had never been there.
func TestRemove(t *testing.T) {
	all := samples()
	for _, conversational := range []bool{false, true} {
		b := NewBuilder(conversational)
		for _, s := range all {
			require.NoError(t, b.Add(s.trace()))
		}
		rest := all
		for _, n := range []int{1, 2} {
			require.NoError(t, b.Remove(all[n].verdict.TraceID.String()))
		}
		require.NoError(t, b.Remove("none"))
		rest = append(rest[:1:1], rest[3:]...)
		r, err := b.Report(sampleInputs)
		require.NoError(t, err)
		want := written(t, func(w *bytes.Buffer) error { return reportOf(t, conversational, sampleInputs, rest...).JSON(w) })
		require.Equal(t, string(want), string(written(t, func(w *bytes.Buffer) error { return r.JSON(w) })))
		require.NoError(t, r.Close())
	}
}
