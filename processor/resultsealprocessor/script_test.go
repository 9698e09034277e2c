// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

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

	"github.com/resultseal/otelcol-resultseal/internal/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// The scripts in testdata/assembler are commands, each a line with indented
// arguments below it, and after `----` what the assembler answered:
//
//	limits root_delay=2s …         begins anew
//	batch 1s                       spans that come at this time, a line each:
//	  trace/span [root|remote|parent=…] [start=…] [name=…] [res=…] [scope=…]
//	tick 3s                        what is due at this time
//	flush                          what is still held
//
// An answer is one line for each finished trace and each group of spans in
// it, and the state that is left.
func TestAssemblerScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/assembler/*.txt")
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
		a   *assembler
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

		var out []*finished
		switch command[0] {
		case "limits":
			a = newAssembler(scriptLimits(t, command[1:]))
			continue
		case "batch":
			out = a.Add(splitByTrace(spantest.Batch(t, args)), spantest.Time(t, command[1]))
		case "tick":
			out = a.Tick(spantest.Time(t, command[1]))
		case "flush":
			out = a.Flush()
		default:
			t.Fatalf("unknown command %q", line)
		}
		got.WriteString("----\n")
		for _, f := range out {
			describeFinished(&got, f)
		}
		next := "nothing due"
		if at, ok := a.Next(); ok {
			next = "next due at " + at.Sub(spantest.Epoch).String()
		}
		fmt.Fprintf(&got, "%d held, %s\n", a.Len(), next)
	}
	return got.String()
}

func scriptLimits(t *testing.T, args []string) limits {
	cfg := createDefaultConfig().(*Config)
	l := limits{cfg.RootDelay, cfg.IdleTimeout, cfg.MaxAge, cfg.MaxTraces, cfg.MaxBytes, cfg.DecidedCache, cfg.MaxSpansPerTrace}
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		number, _ := strconv.Atoi(value)
		duration, _ := time.ParseDuration(value)
		switch key {
		case "root_delay":
			l.rootDelay = duration
		case "idle_timeout":
			l.idleTimeout = duration
		case "max_age":
			l.maxAge = duration
		case "max_traces":
			l.maxTraces = number
		case "max_bytes":
			l.maxBytes = int64(number)
		case "max_spans_per_trace":
			l.maxSpans = number
		case "decided_cache":
			l.decidedCache = number
		default:
			t.Fatalf("unknown limit %q", arg)
		}
	}
	return l
}

func describeFinished(out *strings.Builder, f *finished) {
	td := f.spans
	if !f.judge {
		fmt.Fprintf(out, "passed through: %d spans\n", f.count)
		return
	}
	td, duplicates := canonical.Form(td)
	id := canonical.TraceID(td)
	fmt.Fprintf(out, "%s by %s", strings.TrimRight(string(id[:]), "\x00"), f.fin.By)
	if f.fin.Late {
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
	if count != f.count {
		fmt.Fprintf(out, "  counted as %d spans\n", f.count)
	}
}

// A script line must not be lost by the parser of this test.
func TestScriptsAreRunWhole(t *testing.T) {
	got := runScript(t, "limits\n\n# note\ntick 1s\n----\nstale\n\nflush\n")
	require.True(t, slices.Contains(strings.Split(got, "\n"), "flush"))
	require.NotContains(t, got, "stale")
	require.Equal(t, 2, strings.Count(got, "0 held, nothing due"))
}
