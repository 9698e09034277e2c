// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// verdicts returns the path of a case of testdata/verdicts.
func verdicts(path ...string) string {
	return filepath.Join(append([]string{"testdata", "verdicts"}, path...)...)
}

// byCompliance returns the counts of a report that are not 0.
func byCompliance(t *testing.T, stdout string) map[string]int {
	t.Helper()
	counts := readScored(t, stdout).Summary.ByCompliance
	require.Len(t, counts, 6, "every compliance is counted")
	for name, n := range counts {
		if n == 0 {
			delete(counts, name)
		}
	}
	return counts
}

// Under a policy of contracts only, no session is judged as a whole. Its
// observations speak for themselves.
func TestUnjudgedContractsOnly(t *testing.T) {
	args := func(more ...string) []string {
		return append([]string{
			"score", "--policy", verdicts("contracts-only", "policy.yaml"), "--dialects", verdicts("contracts-only", "dialects.yaml"),
			verdicts("contracts-only", "trace.jsonl"),
		}, more...)
	}
	got := execute("", args()...)
	require.Zero(t, got.code, got.stderr)
	require.Equal(t, map[string]int{"unjudged": 1}, byCompliance(t, got.stdout))
	s := readScored(t, got.stdout)
	require.Equal(t, "unjudged", s.Sessions[0].Compliance)
	require.Equal(t, 1, s.Summary.Observations["total"])
	require.Equal(t, 1, s.Summary.Observations["blocked"])

	for on, code := range map[string]int{"unjudged": 1, "blocked": 1, "violation": 0, "uncaptured": 0} {
		got := execute("", args("--fail-on", on)...)
		require.Equal(t, code, got.code, on)
		require.Empty(t, got.stderr)
	}

	// The session is a skipped test, or a failed one where that is asked for.
	for on, want := range map[string]string{"violation": "<skipped ", "unjudged": "<failure "} {
		var suites struct {
			Cases []struct {
				Name  string `xml:"name,attr"`
				Inner string `xml:",innerxml"`
			} `xml:"testsuite>testcase"`
		}
		require.NoError(t, xml.Unmarshal([]byte(execute("", args("--format", "junit", "--fail-on", on)...).stdout), &suites))
		require.Equal(t, "session "+s.Sessions[0].ID, suites.Cases[0].Name)
		require.Contains(t, suites.Cases[0].Inner, want)
	}

	text := execute("", args("--explain", s.Sessions[0].ID)...).stdout
	require.True(t, strings.HasPrefix(text, "Trace "+s.Sessions[0].ID+": unjudged\n"), text)
	require.Contains(t, execute("", args("--format", "table")...).stdout, "\nunjudged           1\n")
	require.Contains(t, execute("", args("--format", "html")...).stdout, "1 of 1 session unjudged: no event of a protocol occurred.")
}

// What the processor would write says the same.
func TestUnjudgedAnnotated(t *testing.T) {
	file := filepath.Join(t.TempDir(), "annotated.jsonl")
	got := execute("", "score", "--policy", verdicts("contracts-only", "policy.yaml"), "--dialects", verdicts("contracts-only", "dialects.yaml"),
		"--annotated", file, verdicts("contracts-only", "trace.jsonl"))
	require.Zero(t, got.code, got.stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), `{"key":"resultseal.session.compliance","value":{"stringValue":"unjudged"}}`)
	require.Contains(t, string(text), `{"key":"resultseal.session.score","value":{"doubleValue":0}}`, "the blocked observation is all that counts")
}

// A policy with spelling mistakes matches nothing: nothing is judged, and both
// gates say so.
func TestUnjudgedPolicyMatchesNothing(t *testing.T) {
	misspelled := strings.NewReplacer("[get_order]", "[get_orders]", "[refund]", "[refunds]")
	text, err := os.ReadFile(examplePolicy)
	require.NoError(t, err)
	example := write(t, "policy.yaml", misspelled.Replace(string(text)))
	require.NotEqual(t, string(text), misspelled.Replace(string(text)))

	for _, tt := range []struct {
		name     string
		traces   func(*testing.T) string
		policy   string
		sessions int
	}{
		{"example", func(*testing.T) string { return exampleTraces }, example, 5},
		{"booking", func(t *testing.T) string { return shared(t, "traces", "booking", "traces.jsonl.gz") }, verdicts("policy-matches-nothing", "policy.yaml"), 60},
	} {
		t.Run(tt.name, func(t *testing.T) {
			traces := tt.traces(t)
			got := execute("", "score", "--policy", tt.policy, traces)
			require.Zero(t, got.code, got.stderr)
			require.Equal(t, map[string]int{"unjudged": tt.sessions}, byCompliance(t, got.stdout))
			for _, s := range readSessions(t, got.stdout) {
				require.Nil(t, s.Score, "there was no check")
				for _, p := range s.Protocols {
					require.Equal(t, "unjudged", p.Verdict)
				}
			}
			require.Equal(t, 1, execute("", "score", "--policy", tt.policy, "--fail-on", "unjudged", traces).code)
			require.Equal(t, 1, execute("", "score", "--policy", tt.policy, "--fail-on", "uncontracted", traces).code)
			require.Zero(t, execute("", "score", "--policy", tt.policy, "--fail-on", "violation,blocked", traces).code)

			got = execute("", "validate", tt.policy, "--against", traces)
			require.Zero(t, got.code)
			require.Contains(t, got.stderr, "warning [unmatched-contract]: ")
			require.Contains(t, got.stderr, "warning [unmatched-rule]: ")
			failed := execute("", "validate", tt.policy, "--against", traces, "--fail-on-warnings")
			require.Equal(t, 1, failed.code)
			got.code = 1
			require.Equal(t, got, failed, "the flag changes the exit status only")
		})
	}
}

// readSessions reads the protocols and scores of the JSON form.
func readSessions(t *testing.T, stdout string) []struct {
	Score     *float64
	Protocols []struct{ Verdict string }
} {
	t.Helper()
	var s struct {
		Sessions []struct {
			Score     *float64
			Protocols []struct{ Verdict string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &s))
	return s.Sessions
}

// Recordings under a policy of contracts only.
func TestUnjudgedInstrumentations(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(shared(t, "traces", "sdk"), "*.jsonl"))
	require.NoError(t, err)
	var traces []string
	for _, file := range files {
		if !strings.Contains(file, ".logs.") {
			traces = append(traces, file)
		}
	}
	got := execute("", append([]string{"score", "--policy", shared(t, "traces", "sdk", "policy.yaml")}, traces...)...)
	require.Zero(t, got.code, got.stderr)
	require.Equal(t, map[string]int{"unjudged": 66}, byCompliance(t, got.stdout))
}

// Each session of a public benchmark keeps its verdict, although most of its
// protocols are not about most sessions.
func TestUnjudgedProtocolsHideNothing(t *testing.T) {
	got := execute("", "score", "--policy", shared(t, "traces", "agentrx-retail", "policy.yaml"), shared(t, "traces", "agentrx-retail", "traces.jsonl.gz"))
	require.Zero(t, got.code, got.stderr)
	require.Equal(t, map[string]int{"compliant": 29, "violation": 20}, byCompliance(t, got.stdout))
	unjudged := 0
	for _, s := range readSessions(t, got.stdout) {
		for _, p := range s.Protocols {
			if p.Verdict == "unjudged" {
				unjudged++
			}
		}
	}
	require.Equal(t, 257, unjudged)
}

// Warnings fail where that is asked for, and never hide what is worse.
func TestValidateFailOnWarnings(t *testing.T) {
	const good = "protocols:\n  - {name: p, protocol: \"!a\"}\n"
	const warned = "protocols:\n  - {name: p, protocol: \"!a.?a\", events: [{label: a, event: tool_call}]}\n"
	const bad = "protocols:\n  - {name: p}\n"
	for _, tt := range []struct {
		name  string
		files []string
		code  int
	}{
		{"no warning", []string{good}, 0},
		{"a warning", []string{warned}, 1},
		{"a warning in one of two", []string{good, warned}, 1},
		{"an error", []string{bad}, 2},
		{"an error and a warning", []string{bad, warned}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			args := []string{"validate", "--fail-on-warnings"}
			for _, text := range tt.files {
				args = append(args, write(t, "policy.yaml", text))
			}
			got := execute("", args...)
			require.Equal(t, tt.code, got.code, got.stderr)
		})
	}
	require.Zero(t, execute("", "validate", write(t, "policy.yaml", warned)).code, "a warning by itself fails nothing")

	contract := write(t, "contract.yaml", strings.Replace(contractYAML, "required_fields: [", "required_fields: [] #[", 1))
	require.Zero(t, execute("", "validate", contract).code)
	require.Equal(t, 1, execute("", "validate", contract, "--fail-on-warnings").code, "a contract has warnings too")
}

// Traces without any agent never touch a policy, and unreadable ones go before
// warnings.
func TestValidateAgainstFailOnWarnings(t *testing.T) {
	file := write(t, "policy.yaml", "protocols:\n  - {name: p, protocol: \"!get_order\"}\n")
	got := execute("", "validate", file, "--against=-", "--fail-on-warnings")
	require.Equal(t, 1, got.code)
	require.Contains(t, got.stderr, "nothing in the traces tells of an agent")
	require.Equal(t, 2, execute("hello\n", "validate", file, "--against=-", "--fail-on-warnings").code)

	whole := write(t, "policy.yaml", `protocols:
  - name: p
    states: {initial: s, terminal: [s], transitions: [{from: s, event: "!Call", to: s}]}
    events: [{label: Call, event: tool_call, tools: ["*"]}]
`)
	got = execute("", "validate", whole, "--against", exampleTraces, "--fail-on-warnings")
	require.Zero(t, got.code, got.stderr)
	require.Empty(t, got.stderr)

	// An acknowledged warning fails nothing, until it expires.
	acknowledged := write(t, "policy.yaml", `protocols:
  - name: p
    protocol: "!a"
    events: [{label: a, event: tool_call, tools: [never]}]
    acknowledge:
      - {kind: unmatched-rule, reason: it must not happen, expires: 2030-01-01}
acknowledge:
  - {kind: unjudged-tool, reason: others judge them, expires: 2030-01-01}
`)
	for now, code := range map[string]int{"2029-12-31": 0, "2030-01-02": 1} {
		got := execute("", "validate", acknowledged, "--against", exampleTraces, "--fail-on-warnings", "--now", now)
		require.Equal(t, code, got.code, "%s: %s", now, got.stderr)
	}
}
