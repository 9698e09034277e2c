// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/testkit"
)

// shared returns a path in the folder of recordings that are not part of the
// repository, and skips the test where it is absent.
func shared(t *testing.T, path ...string) string {
	t.Helper()
	root := os.Getenv("RESULTSEAL_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	full := filepath.Join(append([]string{root}, path...)...)
	if _, err := os.Stat(full); err != nil {
		t.Skipf("recordings are not here: %v (set RESULTSEAL_SHARED)", err)
	}
	return full
}

// An example of the repository with good runs and bad ones.
var (
	examplePolicy = filepath.Join("..", "..", "examples", "protocols", "no-action-on-an-unsealed-fact", "policy.yaml")
	exampleTraces = filepath.Join("..", "..", "examples", "protocols", "no-action-on-an-unsealed-fact", "traces.jsonl")
)

func exampleText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(exampleTraces)
	require.NoError(t, err)
	return string(text)
}

// scored is what the tests read of the JSON form.
type scored struct {
	Sessions []struct {
		ID         string
		Compliance string
	}
	Summary struct {
		Sessions     int
		ByCompliance map[string]int `json:"by_compliance"`
		Observations map[string]int
	}
	Inputs struct{ Files, Spans, Broken, Scattered int }
}

func readScored(t *testing.T, text string) scored {
	t.Helper()
	var s scored
	require.NoError(t, json.Unmarshal([]byte(text), &s))
	return s
}

// The published study, by the command.
func TestScoreBookingStudy(t *testing.T) {
	policyFile, traces := shared(t, "traces", "booking", "policy.yaml"), shared(t, "traces", "booking", "traces.jsonl.gz")
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			got := execute("", "score", "--policy", policyFile, "--format", format, traces)
			require.Zero(t, got.code, got.stderr)
			require.Empty(t, got.stderr)
			require.Equal(t, map[string]int{"compliant": 31, "unrecognized": 24, "violation": 5}, compliances(t, format, got.stdout))
		})
	}
}

// compliances reads from each form how many sessions came to what.
func compliances(t *testing.T, format, text string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	switch format {
	case "json":
		for _, s := range readScored(t, text).Sessions {
			counts[s.Compliance]++
		}
	case "jsonl":
		for line := range strings.Lines(text) {
			var s struct{ Compliance string }
			require.NoError(t, json.Unmarshal([]byte(line), &s))
			counts[s.Compliance]++
		}
	case "table":
		for line := range strings.Lines(text) {
			var name string
			var n int
			if _, err := fmt.Sscanf(line, "%s %d\n", &name, &n); err == nil && len(strings.Fields(line)) == 2 {
				counts[name] = n
			}
		}
	case "junit":
		// A test for each session: failed, skipped, or neither.
		tests, failed, skipped := strings.Count(text, "<testcase "), strings.Count(text, "<failure "), strings.Count(text, "<skipped ")
		counts["violation"], counts["unrecognized"], counts["compliant"] = failed, skipped, tests-failed-skipped
	case "sarif":
		var log struct {
			Runs []struct {
				Results    []struct{ RuleID string }
				Properties scored
			}
		}
		require.NoError(t, json.Unmarshal([]byte(text), &log))
		for _, result := range log.Runs[0].Results {
			counts[strings.TrimPrefix(result.RuleID, "protocol-")]++
		}
		counts["compliant"] = log.Runs[0].Properties.Summary.Sessions - len(log.Runs[0].Results)
	case "html":
		_, index, ok := strings.Cut(text, `<script type="application/json" id="index">`)
		require.True(t, ok)
		index, _, _ = strings.Cut(index, "</script>")
		var rows []struct{ Compliance string }
		require.NoError(t, json.Unmarshal([]byte(index), &rows))
		for _, row := range rows {
			counts[row.Compliance]++
		}
	default:
		t.Fatalf("nobody reads %s", format)
	}
	return counts
}

// The same input gives the same bytes, in every form, however many goroutines
// work and in however many files it lies.
func TestScoreDeterministic(t *testing.T) {
	text := exampleText(t)
	lines := strings.SplitAfter(text, "\n")
	dir := t.TempDir()
	for i, line := range lines {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.json", len(lines)-i)), []byte(line), 0o600))
	}
	for _, format := range formats {
		want := execute("", "score", "--policy", examplePolicy, "--format", format, exampleTraces)
		require.Zero(t, want.code, want.stderr)
		for _, args := range [][]string{
			{"--jobs", "1", exampleTraces},
			{"--jobs", "7", exampleTraces},
			{"--jobs", "0", exampleTraces, "./" + exampleTraces}, // a file that is named twice is read once
		} {
			got := execute("", append([]string{"score", "--policy", examplePolicy, "--format", format}, args...)...)
			require.Equal(t, want, got, "%s %s", format, args)
		}
		if format == "table" || format == "jsonl" { // the others name or count files
			require.Equal(t, want, execute("", "score", "--policy", examplePolicy, "--format", format, dir), format)
			require.Equal(t, want, execute(text, "score", "--policy", examplePolicy, "--format", format, "-"), format)
		}
	}
}

func TestScoreExit(t *testing.T) {
	text := exampleText(t)
	broken := strings.Replace(text, "\n", "\n{\"resourceSpans\":[\n", 1)
	tests := []struct {
		name, in, args string
		code           int
		stderr         string
	}{
		{"violations without --fail-on", text, "", 0, ""},
		{"violations", text, "--fail-on violation", 1, ""},
		{"one of several", text, "--fail-on inconclusive,violation", 1, ""},
		{"flags add up", text, "--fail-on inconclusive --fail-on violation", 1, ""},
		{"none of that kind", text, "--fail-on inconclusive,incomplete,unrecognized", 0, ""},
		{"blocked observations", text, "--fail-on blocked", 1, ""},
		{"broken", broken, "", 2, "resultseal: standard input:2: broken JSON: it ends too early\n"},
		{"broken goes before a failure", broken, "--fail-on violation", 2, "resultseal: standard input:2: broken JSON: it ends too early\n"},
		{"strict", broken, "--strict", 2, "resultseal: PARSE_FAILED: standard input:2: broken JSON: it ends too early\n"},
		{"nothing", "", "", 0, ""},
		{"no session", "", "--fail-on violation", 1, "resultseal: no session in 0 spans, so --fail-on fails; --allow-empty accepts that\n"},
		{"no session, allowed", "", "--fail-on violation --allow-empty", 0, ""},
		{"no session, in vain", text, "--fail-on violation --allow-empty", 1, ""},
		{"spans that are no agent's", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"01010101010101010101010101010101","spanId":"0101010101010101","name":"GET"}]}]}]}`, "--fail-on incomplete", 1, "resultseal: no session in 1 span, so --fail-on fails; --allow-empty accepts that\n"},
		{"broken goes before no session", "oops\n", "--fail-on violation", 2, "resultseal: standard input:1: neither JSON nor any other form of traces\n"},
		{"uncontracted calls", text, "--fail-on uncontracted", 1, ""},
		{"all was captured", text, "--fail-on uncaptured", 0, ""},
		{"all was judged", text, "--fail-on unjudged", 0, ""},
		{"unknown failure", text, "--fail-on oops", 2, `resultseal: INVALID_ARGUMENT: --fail-on "oops" is unknown; use violation, inconclusive, unrecognized, incomplete, unjudged, blocked, uncaptured, uncontracted` + "\n"},
		{"unknown format", text, "--format xml", 2, `resultseal: INVALID_ARGUMENT: --format "xml" is unknown; use ` + strings.Join(formats, ", ") + "\n"},
		{"unknown flag", text, "--oops", 2, "resultseal: INVALID_ARGUMENT: unknown flag: --oops\n"},
		{"a file that is not there", text, "nowhere.json", 2, "resultseal: nowhere.json: no such file or directory\n"},
		{"a glob that matches nothing", text, "nowhere*.json", 2, "resultseal: INVALID_ARGUMENT: nowhere*.json: no file matches\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := append([]string{"score", "--policy", examplePolicy, "-"}, strings.Fields(tt.args)...)
			got := execute(tt.in, args...)
			require.Equal(t, tt.stderr, got.stderr)
			require.Equal(t, tt.code, got.code)
		})
	}
	for _, args := range [][]string{{"score"}, {"score", "-"}, {"score", "--policy", "nowhere.yaml", "-"}} {
		require.Equal(t, 2, execute(text, args...).code, args)
	}
}

// What can be read is scored, whatever cannot.
func TestScoreBroken(t *testing.T) {
	text := exampleText(t)
	whole := execute(text, "score", "--policy", examplePolicy, "-")
	require.Zero(t, whole.code, whole.stderr)
	broken := execute(text+"hello\n"+text[:200], "score", "--policy", examplePolicy, "-")
	require.Equal(t, 2, broken.code)
	want, got := readScored(t, whole.stdout), readScored(t, broken.stdout)
	require.Equal(t, want.Sessions, got.Sessions)
	require.Equal(t, want.Summary, got.Summary)
	require.Equal(t, 2, got.Inputs.Broken)
	require.Empty(t, execute("hello\n"+text, "score", "--strict", "--policy", examplePolicy, "-").stdout, "--strict stops at once")
}

// Logs beside traces are told to be none; a policy that is wrong is shown.
func TestScoreWrongFiles(t *testing.T) {
	got := execute("", "score", "--policy", write(t, "policy.yaml", "contracts:\n  - name: a\n    claim_typ: found\n"), exampleTraces)
	require.Equal(t, 2, got.code)
	require.Contains(t, got.stderr, "resultseal: SCHEMA_INVALID: ")
	require.Contains(t, got.stderr, "policy.yaml:3:5: contracts[0].claim_typ")
	require.Contains(t, got.stderr, "\n      claim_typ: found\n      ^")
	require.Empty(t, got.stdout)

	got = execute(`{"resourceLogs":[]}`, "score", "--policy", examplePolicy, "-")
	require.Equal(t, 2, got.code)
	require.Equal(t, "resultseal: standard input:1: these are OTLP logs, not traces\n", got.stderr)
}

// The page holds content only if it is asked for.
func TestScorePageContent(t *testing.T) {
	base := []string{"score", "--policy", examplePolicy, "--format", "html", exampleTraces}
	require.NotContains(t, execute("", base...).stdout, "B-2")
	require.Contains(t, execute("", append(base, "--show-content")...).stdout, "B-2")
}

func TestScoreOut(t *testing.T) {
	out := filepath.Join(t.TempDir(), "report.json")
	want := execute("", "score", "--policy", examplePolicy, exampleTraces)
	got := execute("", "score", "--policy", examplePolicy, "--out", out, exampleTraces, "--fail-on", "violation")
	require.Equal(t, 1, got.code)
	require.Empty(t, got.stdout)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, want.stdout, string(text))

	// The name tells the format, unless it is said.
	for name, begins := range map[string]string{"r.html": "<!DOCTYPE html>", "r.SARIF": "{\n  \"$schema\"", "r.xml": "<?xml", "r.jsonl": `{"id":`, "r.txt": "{\n  \"sessions\""} {
		file := filepath.Join(filepath.Dir(out), name)
		require.Zero(t, execute("", "score", "--policy", examplePolicy, "--out", file, exampleTraces).code)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), begins), name)
	}
	require.Zero(t, execute("", "score", "--policy", examplePolicy, "--out", out+".html", "--format", "jsonl", exampleTraces).code)

	got = execute("", "score", "--policy", examplePolicy, "--out", out, "--annotated", out, exampleTraces)
	require.Equal(t, 2, got.code)
	require.Regexp(t, `^resultseal: INVALID_ARGUMENT: --annotated \S+report.json and --out \S+report.json are one file\n$`, got.stderr)

	got = execute("", "score", "--policy", examplePolicy, "--out", filepath.Join(out, "no", "folder"), exampleTraces)
	require.Equal(t, 2, got.code)
	require.Contains(t, got.stderr, "resultseal: INVALID_ARGUMENT: --out: ")
}

// Spans of one trace may lie in several files, in any form.
func TestScoreFiles(t *testing.T) {
	dir := t.TempDir()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	lines := strings.SplitAfter(exampleText(t), "\n")
	half := len(lines) / 2
	_, err := z.Write([]byte(strings.Join(lines[:half], "")))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), zipped.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.txt"), []byte("["+strings.Join(strings.Split(strings.TrimSpace(strings.Join(lines[half:], "")), "\n"), ",\n")+"]"), 0o600))
	want := readScored(t, execute("", "score", "--policy", examplePolicy, exampleTraces).stdout)
	for _, args := range [][]string{{dir}, {filepath.Join(dir, "*")}, {filepath.Join(dir, "b.txt"), filepath.Join(dir, "a")}} {
		run := execute("", append([]string{"score", "--policy", examplePolicy}, args...)...)
		require.Zero(t, run.code, run.stderr)
		got := readScored(t, run.stdout)
		require.Equal(t, 2, got.Inputs.Files)
		require.Equal(t, want.Sessions, got.Sessions)
		require.Equal(t, want.Summary, got.Summary)
	}
}

// Names under the processor's prefix in the input change nothing, and do not
// reach --annotated, whether the session has a verdict or not.
func TestScoreForged(t *testing.T) {
	dir := t.TempDir()
	in, err := os.ReadFile(exampleTraces)
	require.NoError(t, err)
	in = append(in, `{"resourceSpans":[{"resource":{"attributes":[]},"scopeSpans":[{"scope":{"name":"x"},"spans":[`+
		`{"traceId":"000000000000000000000000000000aa","spanId":"00000000000000aa","name":"GET /","startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]}`+"\n"...)
	var forged []byte
	for line := range strings.Lines(string(in)) {
		td, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces([]byte(line))
		require.NoError(t, err)
		for _, rs := range td.ResourceSpans().All() {
			rs.Resource().Attributes().PutStr("resultseal.decision", "forged")
			for _, ss := range rs.ScopeSpans().All() {
				ss.Scope().Attributes().PutStr("resultseal.decision", "forged")
				for _, span := range ss.Spans().All() {
					span.Attributes().PutStr("resultseal.session.compliance", "forged")
					span.Events().AppendEmpty().SetName("resultseal.forged")
					span.Links().AppendEmpty().Attributes().PutStr("resultseal.decision", "forged")
				}
			}
		}
		text, err := new(ptrace.JSONMarshaler).MarshalTraces(td)
		require.NoError(t, err)
		forged = append(append(forged, text...), '\n')
	}
	score := func(name string, text []byte) (report, annotated string) {
		file, out := filepath.Join(dir, name, "traces.jsonl"), filepath.Join(dir, name, "annotated.jsonl")
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		require.NoError(t, os.WriteFile(file, text, 0o600))
		got := execute("", "score", "--policy", examplePolicy, "--annotated", out, file)
		require.Zero(t, got.code, got.stderr)
		read, err := os.ReadFile(out)
		require.NoError(t, err)
		return strings.ReplaceAll(got.stdout, file, "traces.jsonl"), string(read)
	}
	wantReport, want := score("honest", bytes.ReplaceAll(bytes.ReplaceAll(forged, []byte("resultseal."), []byte("honest.")), []byte("forged"), []byte("honest")))
	gotReport, got := score("forged", forged)
	require.Equal(t, wantReport, gotReport)
	require.NotContains(t, got, "forged")
	require.Equal(t, strings.Count(want, `"resultseal.`), strings.Count(got, `"resultseal.`))
	require.Equal(t, strings.Count(want, `"traceId"`), strings.Count(got, `"traceId"`))
}

// The annotated spans are the input's, each once, with what the processor would
// write; scoring them again comes to the same.
func TestScoreAnnotated(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "annotated.jsonl")
	first := execute("", "score", "--policy", examplePolicy, "--annotated", out, exampleTraces)
	require.Zero(t, first.code, first.stderr)
	text, err := os.ReadFile(out)
	require.NoError(t, err)

	again := filepath.Join(dir, "again.jsonl")
	require.Zero(t, execute("", "score", "--policy", examplePolicy, "--annotated", again, "--jobs", "7", exampleTraces).code)
	textAgain, err := os.ReadFile(again)
	require.NoError(t, err)
	require.Equal(t, string(text), string(textAgain))
	require.Equal(t, first.stdout, strings.Replace(execute("", "score", "--policy", examplePolicy, out).stdout, "annotated.jsonl", "traces.jsonl", 1))

	want := readScored(t, first.stdout)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	require.Len(t, lines, len(want.Sessions))
	spans, roots, decisions := 0, map[string]string{}, 0
	for i, line := range lines {
		var u ptrace.JSONUnmarshaler
		td, err := u.UnmarshalTraces([]byte(line))
		require.NoError(t, err)
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					spans++
					require.Equal(t, want.Sessions[i].ID, span.TraceID().String(), "a trace a line, in order")
					if v, ok := span.Attributes().Get("resultseal.session.compliance"); ok {
						require.True(t, span.ParentSpanID().IsEmpty())
						roots[span.TraceID().String()] = v.Str()
					}
					if _, ok := span.Attributes().Get("resultseal.decision"); ok {
						decisions++
					}
					span.Attributes().RemoveIf(func(key string, _ pcommon.Value) bool { return strings.HasPrefix(key, "resultseal.") })
					span.Events().RemoveIf(func(e ptrace.SpanEvent) bool { return strings.HasPrefix(e.Name(), "resultseal.") })
				}
			}
		}
		lines[i] = string(asJSON(t, td))
	}
	require.Equal(t, want.Inputs.Spans, spans)
	require.Equal(t, want.Summary.Observations["total"], decisions)
	for _, s := range want.Sessions {
		require.Equal(t, s.Compliance, roots[s.ID])
	}
	// Without what was written, they are what they were.
	var original []string
	for _, line := range strings.Split(strings.TrimSpace(exampleText(t)), "\n") {
		var u ptrace.JSONUnmarshaler
		td, err := u.UnmarshalTraces([]byte(line))
		require.NoError(t, err)
		original = append(original, string(asJSON(t, td)))
	}
	require.ElementsMatch(t, original, lines)
}

func asJSON(t *testing.T, td ptrace.Traces) []byte {
	t.Helper()
	var m ptrace.JSONMarshaler
	text, err := m.MarshalTraces(td)
	require.NoError(t, err)
	return text
}

// Real runs in the machine's forms are what their schemas say.
func TestScoreSchemas(t *testing.T) {
	policyFile := shared(t, "traces", "sdk", "policy.yaml")
	files, err := filepath.Glob(shared(t, "traces", "sdk") + "/*[0-9c].jsonl")
	require.NoError(t, err)
	for format, file := range map[string]string{
		"json":  filepath.Join("..", "..", "docs", "score.schema.json"),
		"sarif": filepath.Join("..", "..", "internal", "report", "testdata", "sarif-2.1.0.schema.json"),
	} {
		got := execute("", append([]string{"score", "--policy", policyFile, "--format", format}, files...)...)
		require.Zero(t, got.code, got.stderr)
		testkit.RequireSchema(t, file, []byte(got.stdout))
	}
}

// A bar is shown on a terminal only, when the work is long, and is gone
// afterwards; what is broken is told above it.
func TestProgressBar(t *testing.T) {
	var none *bar
	require.Nil(t, newBar(&bytes.Buffer{}, false, 0, nil))
	none.read(1)
	none.judge(1)
	none.judged()
	none.end()

	var quick bytes.Buffer
	b := newBar(&quick, true, time.Hour, []string{exampleTraces})
	b.read(10)
	b.say(&quick, "hello")
	b.end()
	require.Equal(t, "hello\n", quick.String())

	var long lockedBuffer
	b = newBar(&long, true, 0, []string{exampleTraces})
	require.Eventually(t, func() bool { return strings.Contains(long.String(), "reading 1 file") }, 5*time.Second, 10*time.Millisecond)
	b.read(1000)
	b.say(&long, "it is broken")
	require.Eventually(t, func() bool { return strings.Contains(long.String(), "it is broken") }, 5*time.Second, 10*time.Millisecond)
	b.judge(1000)
	b.judged()
	require.Eventually(t, func() bool {
		return strings.Contains(long.String(), "[1]") && strings.Contains(long.String(), "judging")
	}, 5*time.Second, 10*time.Millisecond)
	b.end()
	require.Contains(t, long.String(), "KB")
}
