// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMemorySizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "16777216": 16 << 20, "512MiB": 512 << 20, "512m": 512 << 20, "1.5g": 3 << 29, "2GiB": 2 << 30, "2Gi": 2 << 30, "1GB": 1_000_000_000, " 64 mib ": 64 << 20, "1T": 1 << 40,
	} {
		var m memoryFlag
		require.NoError(t, m.Set(text), text)
		require.Equal(t, want, int64(m), text)
		var again memoryFlag
		require.NoError(t, again.Set(m.String()), m.String())
	}
	for _, text := range []string{"", "much", "-1", "1MiB", "16777215", "1e9", "9999999999T", "MiB"} {
		var m memoryFlag
		require.Error(t, m.Set(text), text)
	}
	require.GreaterOrEqual(t, int64(defaultMemory()), int64(64<<20))
	m := memoryFlag(512 << 20)
	require.Equal(t, "512MiB", m.String())
}

// collector returns how garbage is collected: the growth in percent, all bits for
// none, and the limit in bytes.
func collector() (percent, limit uint64) {
	samples := []metrics.Sample{{Name: "/gc/gogc:percent"}, {Name: "/gc/gomemlimit:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64()
}

// No garbage is collected while there is room, then lazily, and as before when a
// command is done.
func TestMemoryCollector(t *testing.T) {
	t.Setenv("GOGC", "")
	percent, limit := collector()
	const memory = 1 << 40
	held, undo := memoryFlag(memory).budget()
	require.EqualValues(t, memory/heldShare, held)
	p, l := collector()
	require.Equal(t, uint64(math.MaxUint64), p)
	require.EqualValues(t, memory/untouchedShare, l)

	runtime.GC()
	require.Eventually(t, func() bool {
		p, l := collector()
		return p == lazyCollector && l == memory
	}, 10*time.Second, time.Millisecond)
	undo()
	p, l = collector()
	require.Equal(t, []uint64{percent, limit}, []uint64{p, l})

	// What is collected after a command changes nothing any more.
	c := &collecting{memory: memory, undone: true}
	c.begin()
	p, l = collector()
	require.Equal(t, []uint64{percent, limit}, []uint64{p, l})

	// A user's own setting is kept.
	t.Setenv("GOGC", "75")
	_, undo = memoryFlag(memory).budget()
	p, l = collector()
	require.Equal(t, []uint64{percent, memory}, []uint64{p, l})
	undo()
	p, l = collector()
	require.Equal(t, []uint64{percent, limit}, []uint64{p, l})
}

// manyTraces writes n traces, a line each, of which those of again get a second
// span at the end. Conversations go on over all traces.
func manyTraces(t *testing.T, n int, conversation bool, again ...int) string {
	t.Helper()
	var b strings.Builder
	padding := strings.Repeat("x", 4000)
	line := func(trace, span, at int) {
		extra := ""
		if conversation {
			extra = `,{"key":"gen_ai.conversation.id","value":{"stringValue":"c-1"}}`
		}
		fmt.Fprintf(&b, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%032x","spanId":"%016x","name":"execute_tool get_order","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[`+
			`{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"get_order"}},{"key":"padding","value":{"stringValue":"%s"}}%s]}]}]}]}`+"\n",
			trace+1, span, at, at+1, padding, extra)
	}
	for i := range n {
		line(i, 1, 1000*(i+1))
	}
	for _, i := range again {
		line(i, 2, 1000*(i+1)+500)
	}
	return b.String()
}

const readPolicy = `
protocols:
  - name: read
    session: %s
    protocol: "rec L.!get_order.?get_order.L"
`

// Input that is grouped by trace comes to the same whatever the memory.
func TestScoreMemory(t *testing.T) {
	file := write(t, "policy.yaml", fmt.Sprintf(readPolicy, "trace"))
	traces := write(t, "traces.jsonl", manyTraces(t, 3000, false))
	dir := t.TempDir()
	for _, format := range []string{"json", "jsonl", "junit"} {
		var annotated []string
		var outputs []result
		for _, memory := range []string{"0", "16MiB"} {
			out := filepath.Join(dir, memory+".jsonl")
			outputs = append(outputs, execute("", "score", "--policy", file, "--memory", memory, "--format", format, "--annotated", out, traces))
			text, err := os.ReadFile(out)
			require.NoError(t, err)
			annotated = append(annotated, string(text))
		}
		require.Zero(t, outputs[0].code, outputs[0].stderr)
		require.Equal(t, outputs[0].stderr, outputs[1].stderr)
		require.True(t, outputs[0].stdout == outputs[1].stdout, "the reports differ")
		require.True(t, annotated[0] == annotated[1], "the annotated spans differ")
	}
}

// Traces whose spans stand too far apart are named, have no verdict, and cost no
// other.
func TestScoreScattered(t *testing.T) {
	file := write(t, "policy.yaml", fmt.Sprintf(readPolicy, "trace"))
	traces := write(t, "traces.jsonl", manyTraces(t, 3000, false, 2999, 7, 3))
	got := execute("", "score", "--policy", file, "--memory", "16MiB", "--annotated", filepath.Join(t.TempDir(), "a"), traces)
	require.Equal(t, 2, got.code)
	require.Equal(t, "resultseal: 2 traces are scattered over the input: spans came after the rest was judged to stay within --memory 16MiB. No verdict is given on them:\n"+
		fmt.Sprintf("  %032x, again at %s:3002\n  %032x, again at %s:3003\n", 8, traces, 4, traces)+
		"  Give more room with --memory, or put the spans of each trace together in the file: the collector's groupbytrace processor does so before a file exporter.\n", got.stderr)
	scored := readScored(t, got.stdout)
	require.Equal(t, 2, scored.Inputs.Scattered)
	require.Equal(t, 2998, scored.Summary.Sessions)
	require.Len(t, scored.Sessions, 2998)
	for _, s := range scored.Sessions {
		require.NotContains(t, []string{fmt.Sprintf("%032x", 8), fmt.Sprintf("%032x", 4)}, s.ID)
	}

	// With room for all it is nothing.
	got = execute("", "score", "--policy", file, "--memory", "0", traces)
	require.Zero(t, got.code, got.stderr)
	require.Equal(t, 3000, readScored(t, got.stdout).Summary.Sessions)

	// Many are not all named.
	all := make([]int, 20)
	for i := range all {
		all[i] = i
	}
	got = execute(manyTraces(t, 3000, false, all...), "score", "--policy", file, "--memory", "16MiB", "-")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.stderr, "\n  and 10 more\n")
}

// A conversation whose traces do not come in order cannot be followed without
// holding all of them, and that is told.
func TestScoreConversationMemory(t *testing.T) {
	file := write(t, "policy.yaml", fmt.Sprintf(readPolicy, "conversation"))
	text := manyTraces(t, 3000, true)
	lines := strings.SplitAfter(text, "\n")
	lines[0], lines[2999] = lines[2999], lines[0]
	traces := write(t, "traces.jsonl", strings.Join(lines, ""))
	got := execute("", "score", "--policy", file, "--memory", "0", traces)
	require.Zero(t, got.code, got.stderr)
	got = execute("", "score", "--policy", file, "--memory", "16MiB", traces)
	require.Equal(t, 2, got.code)
	require.Contains(t, got.stderr, "judged after later ones of their conversations, to stay within --memory 16MiB; their events could not join\n")
}
