// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// outcomes judges traces and returns what each session came to, by id.
func outcomes(t *testing.T, policyFile string, traces ...string) map[string]string {
	t.Helper()
	got := execute("", append([]string{"score", "--policy", policyFile, "--format", "json"}, traces...)...)
	require.Zero(t, got.code, got.stderr)
	out := map[string]string{}
	for _, s := range readScored(t, got.stdout).Sessions {
		out[s.ID] = s.Compliance
	}
	return out
}

// sessionsWith writes the lines of a file whose session came to an outcome.
func sessionsWith(t *testing.T, file string, outcomes map[string]string, want string) string {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		r, err = gzip.NewReader(f)
		require.NoError(t, err)
	}
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	var lines strings.Builder
	for line := range strings.Lines(string(text)) {
		for id, outcome := range outcomes {
			if outcome == want && strings.Contains(line, id) {
				lines.WriteString(line)
				break
			}
		}
	}
	return write(t, "good.jsonl", lines.String())
}

// A list that was empty now and then is the payload, so that what is learned blocks
// the answers that it was learned from and that prove nothing.
func TestInitChoosesTheList(t *testing.T) {
	traces := filepath.Join("..", "..", "internal", "coverage", "testdata", "empty-lists.jsonl")
	learned := filepath.Join(t.TempDir(), "policy.yaml")
	got := execute("", "init", traces, "--out", learned)
	require.Zero(t, got.code, got.stderr)
	require.Contains(t, got.stderr, "8 of 12 contracted calls are sealed\n")
	text, err := os.ReadFile(learned)
	require.NoError(t, err)
	require.Contains(t, string(text), `payload: "$.results"`)
	require.NotContains(t, execute("", "validate", learned, "--against", traces).stderr, "without an entry")
}

// What is learned from the study's compliant runs calls these compliant, and the
// runs that booked without asking violations.
func TestInitBookingStudy(t *testing.T) {
	traces := shared(t, "traces", "booking", "traces.jsonl.gz")
	studied := outcomes(t, shared(t, "traces", "booking", "policy.yaml"), traces)
	good := sessionsWith(t, traces, studied, "compliant")
	learned := filepath.Join(t.TempDir(), "policy.yaml")
	got := execute("", "init", good, "--out", learned)
	require.Zero(t, got.code, got.stderr)
	require.Empty(t, got.stdout)
	require.Equal(t, "resultseal: learned from 31 sessions with 62 tool calls: 2 contracts and 1 protocol with 6 states\n"+
		"resultseal: by it, 31 of 31 sessions are compliant, and 62 of 62 contracted calls are sealed\n", got.stderr)
	require.Zero(t, execute("", "validate", learned).code)
	for id, outcome := range outcomes(t, learned, traces) {
		switch studied[id] {
		case "compliant":
			require.Equal(t, "compliant", outcome, id)
		case "violation":
			require.Equal(t, "violation", outcome, id)
		}
	}
}

// From recordings of one scenario through many instrumentations: an argument that
// comes back is bound by its value, and one that has the name of a field by that.
func TestInitInstrumentations(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "traces", "sdk"), "*.jsonl"))
	require.NoError(t, err)
	files = slices.DeleteFunc(files, func(name string) bool { return strings.Contains(name, ".logs.") })
	require.NotEmpty(t, files)
	got := execute("", append([]string{"init"}, files...)...)
	require.Zero(t, got.code, got.stderr)
	p, err := policy.Load("policy.yaml", []byte(got.stdout))
	require.NoError(t, err)
	targets := map[string]string{}
	for _, c := range p.Contracts {
		if c.Observation.TargetRef != nil {
			targets[c.Name] = c.TargetRef.String() + " " + c.Observation.TargetRef.String()
		}
	}
	require.Equal(t, "customer:{arguments.id} customer:{result.customer_id}", targets["search_customer"])
	require.Equal(t, "order:{arguments.order_id} order:{result.order_id}", targets["get_order"])
	require.Equal(t, "stock:{arguments.sku} stock:{result.sku}", targets["lookup_stock"])
	require.NotContains(t, targets, "send_email")

	// Each file by itself gives a policy by which its runs are compliant. One without
	// an agent's name has no protocol.
	for _, file := range files {
		one := execute("", "init", file)
		if strings.Contains(one.stderr, "there is nothing to make a policy of") {
			continue // its content is in log records
		}
		require.Zero(t, one.code, "%s: %s", file, one.stderr)
		for id, outcome := range outcomes(t, write(t, "policy.yaml", one.stdout), file) {
			require.Contains(t, []string{"compliant", "inconclusive", "unjudged"}, outcome, "%s: %s", file, id)
		}
		requireNoWarning(t, write(t, "policy.yaml", one.stdout), file)
	}
}

// requireNoWarning requires that a policy that was made from traces gives no
// warning, neither by itself nor against these traces.
func requireNoWarning(t *testing.T, policy, traces string) {
	t.Helper()
	for _, args := range [][]string{{}, {"--against", traces}} {
		got := execute("", append([]string{"validate", "--fail-on-warnings", policy}, args...)...)
		require.Zero(t, got.code, got.stderr)
		require.Empty(t, got.stderr)
	}
}

// Of each example, the good runs give a policy that calls them good, and at least
// one of the bad runs bad.
func TestInitExamples(t *testing.T) {
	policies, err := filepath.Glob("../../examples/protocols/*/policy.yaml")
	require.NoError(t, err)
	for _, file := range policies {
		traces := filepath.Join(filepath.Dir(file), "traces.jsonl")
		want := outcomes(t, file, traces)
		good := sessionsWith(t, traces, want, "compliant")
		got := execute("", "init", good)
		require.Zero(t, got.code, got.stderr)
		learned := write(t, "policy.yaml", got.stdout)
		for id, outcome := range outcomes(t, learned, good) {
			require.Equal(t, "compliant", outcome, "%s: %s", file, id)
		}
		requireNoWarning(t, learned, good)
		told := 0
		scored := readScored(t, execute("", "score", "--policy", learned, traces).stdout)
		told += scored.Summary.ByCompliance["violation"] + scored.Summary.ByCompliance["incomplete"] + scored.Summary.Observations["blocked"]
		require.NotZero(t, told, file)
	}
}

func TestInit(t *testing.T) {
	out := filepath.Join(t.TempDir(), "policy.yaml")
	first := execute("", "init", exampleTraces)
	require.Zero(t, first.code, first.stderr)
	require.Equal(t, result{stderr: first.stderr}, execute("", "init", "--out", out, exampleTraces))
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, first.stdout, string(text))

	// The same traces give the same policy.
	require.Equal(t, first, execute("", "init", "--jobs", "7", exampleTraces))
	stdin := execute(exampleText(t), "init", "-")
	require.Equal(t, first.stdout, stdin.stdout)
	require.NotContains(t, stdin.stderr, "by it", "standard input cannot be read again")

	tests := []struct {
		name, in, args string
		code           int
		stderr         string
	}{
		{"a file that is there", "", "--out " + out + " " + exampleTraces, 2, "resultseal: INVALID_ARGUMENT: " + out + " is there already; --force overwrites it\n"},
		{"overwritten", "", "--force --out " + out + " " + exampleTraces, 0, first.stderr},
		{"no traces", "{}", "-", 2, "resultseal: INVALID_ARGUMENT: nothing in the traces tells of an agent: no tool calls, model calls or agent runs\n"},
		{"nothing to learn", silentTrace(t), "-", 2, "resultseal: INVALID_ARGUMENT: the traces show no call with a result and no message, so there is nothing to make a policy of\n"},
		{"too far ahead", "", "--tails 9 " + exampleTraces, 2, "resultseal: INVALID_ARGUMENT: --tails is at most 8\n"},
		{"a broken line", "hello\n" + exampleText(t), "-", 2, "resultseal: standard input:1: neither JSON nor any other form of traces\n" + stdin.stderr},
		{"a broken line, strict", "hello\n" + exampleText(t), "--strict -", 2, "resultseal: PARSE_FAILED: standard input:1: neither JSON nor any other form of traces\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := execute(tt.in, append([]string{"init"}, strings.Fields(tt.args)...)...)
			require.Equal(t, tt.stderr, got.stderr)
			require.Equal(t, tt.code, got.code)
		})
	}
}

// silentTrace is an agent's run of which nothing but the agent is recorded.
func silentTrace(t *testing.T) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"resourceSpans": []any{map[string]any{"scopeSpans": []any{map[string]any{"spans": []any{map[string]any{
		"traceId": "00000000000000000000000000000001", "spanId": "0000000000000001", "name": "invoke_agent",
		"attributes": []any{map[string]any{"key": "gen_ai.operation.name", "value": map[string]any{"stringValue": "invoke_agent"}}},
	}}}}}}})
	require.NoError(t, err)
	return string(text)
}

// Of every family of instrumentations a policy is learned that names its tools and
// seals what the family's calls returned, and not what they returned when they failed.
func TestInitOnEachFamily(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join(shared(t, "cases", "instrumentations"), "*"))
	require.NoError(t, err)
	require.NotEmpty(t, dirs)
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			trace := filepath.Join(dir, "trace.jsonl")
			text, err := os.ReadFile(filepath.Join(dir, "expected.json"))
			require.NoError(t, err)
			var want struct {
				Observations []struct {
					Tool    string
					Reasons []string
				}
			}
			require.NoError(t, json.Unmarshal(text, &want))

			learned := execute("", "init", trace)
			require.Zero(t, learned.code, learned.stderr)
			scored := execute("", "score", "--policy", write(t, "policy.yaml", learned.stdout), trace)
			require.Zero(t, scored.code, scored.stderr)
			var report struct {
				Sessions []struct {
					Observations []struct{ Tool, Decision string }
				}
			}
			require.NoError(t, json.Unmarshal([]byte(scored.stdout), &report))
			require.Len(t, report.Sessions, 1)
			got := report.Sessions[0].Observations
			require.Len(t, got, len(want.Observations))
			for i, o := range got {
				require.True(t, strings.HasSuffix(o.Tool, want.Observations[i].Tool), o.Tool)
				decision := "blocked"
				if slices.Contains(want.Observations[i].Reasons, "SEALED_WITH_REQUIRED_EVIDENCE") {
					decision = "sealed"
				}
				require.Equal(t, decision, o.Decision)
			}
		})
	}
}
