// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// The scripts in testdata are commands, each a line with indented
// arguments below it, and after `----` what the assembler answered:
//
//	limits root_delay=2s …         begins anew
//	batch 1s                       spans that arrive at this time, as in spantest.Batch
//	tick 3s                        what is due at this time
//	flush                          what is still buffered
//
// An answer is one line for each completed trace and each group of spans in
// it, and the state that is left.
func TestAssemblerScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			got := runScript(t, string(text))
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got)
		})
	}
}

// runScript returns the script with the answers that it really gets.
func runScript(t *testing.T, text string) string {
	var (
		got strings.Builder
		a   *Assembler
	)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		line := lines[i]
		got.WriteString(line + "\n")
		i++
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		command := strings.Fields(line)
		var args []string
		for ; i < len(lines) && strings.HasPrefix(lines[i], "  "); i++ {
			got.WriteString(lines[i] + "\n")
			args = append(args, lines[i])
		}
		if i < len(lines) && lines[i] == "----" {
			for ; i < len(lines) && lines[i] != ""; i++ { // the answers of before
			}
		}

		var untraced []*Part
		var out []*Trace
		switch command[0] {
		case "limits":
			a = NewAssembler(scriptLimits(t, command[1:]))
			continue
		case "batch":
			untraced, out = a.Add(Split(spantest.Batch(t, args)), spantest.Time(t, command[1]))
		case "tick":
			out = a.Tick(spantest.Time(t, command[1]))
		case "flush":
			out = a.Flush()
		default:
			t.Fatalf("unknown command %q", line)
		}
		got.WriteString("----\n")
		for _, part := range untraced {
			fmt.Fprintf(&got, "passed through: %d spans\n", part.Count)
		}
		for _, trace := range out {
			describe(&got, trace)
		}
		next := "nothing due"
		if at, ok := a.Next(); ok {
			next = "next due at " + at.Sub(spantest.Epoch).String()
		}
		fmt.Fprintf(&got, "%d held, %s\n", a.Len(), next)
	}
	return got.String()
}

func scriptLimits(t *testing.T, args []string) Limits {
	l := Limits{2 * time.Second, 10 * time.Second, 5 * time.Minute, 50_000, 256 << 20, 100_000, 100_000}
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		number, _ := strconv.Atoi(value)
		duration, _ := time.ParseDuration(value)
		switch key {
		case "root_delay":
			l.RootDelay = duration
		case "idle_timeout":
			l.IdleTimeout = duration
		case "max_age":
			l.MaxAge = duration
		case "max_traces":
			l.MaxTraces = number
		case "max_bytes":
			l.MaxBytes = int64(number)
		case "max_spans_per_trace":
			l.MaxSpans = number
		case "decided_cache":
			l.DecidedCache = number
		default:
			t.Fatalf("unknown limit %q", arg)
		}
	}
	return l
}

func describe(out *strings.Builder, trace *Trace) {
	td, duplicates := canonical.Form(trace.Spans)
	id := canonical.TraceID(td)
	fmt.Fprintf(out, "%s by %s", strings.TrimRight(string(id[:]), "\x00"), trace.Cause)
	if trace.Late {
		out.WriteString(", late")
	}
	if duplicates > 0 {
		fmt.Fprintf(out, ", %d duplicates", duplicates)
	}
	out.WriteString("\n")
	count := 0
	for _, rs := range td.ResourceSpans().All() {
		service, _ := rs.Resource().Attributes().Get("service.name")
		for _, ss := range rs.ScopeSpans().All() {
			var names []string
			for _, span := range ss.Spans().All() {
				names = append(names, span.Name())
				count++
			}
			fmt.Fprintf(out, "  %s %s: %s\n", service.Str(), ss.Scope().Name(), strings.Join(names, " "))
		}
	}
	if count != trace.Count {
		fmt.Fprintf(out, "  counted as %d spans\n", trace.Count)
	}
}

// A script line must not be lost by the parser of this test.
func TestScriptsAreRunWhole(t *testing.T) {
	got := runScript(t, "limits\n\n# note\ntick 1s\n----\nstale\n\nflush\n")
	require.True(t, slices.Contains(strings.Split(got, "\n"), "flush"))
	require.NotContains(t, got, "stale")
	require.Equal(t, 2, strings.Count(got, "0 held, nothing due"))
}
