// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const silentPolicy = `contracts:
  - name: order
    match: {tools: [get_ordr]}
    claim_type: read_complete
    required_fields: [order_id]
    freshness: {mode: not_required}
    source_ref: shop://orders
    target_ref: "order:{arguments.order_id}"
    observation:
      source_ref: "shop://{result.source}"
      target_ref: "order:{result.order_id}"
`

// What of a policy no trace touches is told with its place, and is no error.
func TestValidateAgainst(t *testing.T) {
	file := write(t, "policy.yaml", silentPolicy)
	got := execute("", "validate", file, "--against", exampleTraces)
	require.Zero(t, got.code)
	require.Equal(t, file+": valid (policy)\n"+file+": held against 5 sessions with 9 tool calls, 0 of 1 contract matched\n", got.stdout)
	require.Equal(t, file+":3:20: warning [unmatched-contract]: contracts[0].match.tools: order is for none of the 9 calls; the tools called are get_order, refund\n"+
		"      match: {tools: [get_ordr]}\n"+"  "+strings.Repeat(" ", 19)+"^\n"+
		file+": warning [unjudged-tool]: no contract is for the tool get_order (5 calls)\n"+
		"  and 1 more: refund (4 calls)\n", got.stderr)

	// Traces in several files, as a shell writes them out; from standard input.
	dir := t.TempDir()
	for i, line := range strings.SplitAfter(strings.TrimSpace(exampleText(t)), "\n") {
		require.NoError(t, os.WriteFile(filepath.Join(dir, string(rune('a'+i))), []byte(line), 0o600))
	}
	for _, args := range [][]string{
		{file, "--against", filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c"), filepath.Join(dir, "d"), filepath.Join(dir, "e")},
		{"--against", dir, file},
		{"--against", filepath.Join(dir, "*"), "--jobs", "1", file},
		{"--against=-", file},
	} {
		require.Equal(t, got, execute(exampleText(t), append([]string{"validate"}, args...)...), args)
	}

	// An example uses its whole policy.
	whole := execute("", "validate", examplePolicy, "--against", exampleTraces)
	require.Zero(t, whole.code)
	require.Contains(t, whole.stdout, "1 of 1 contract matched, 4 of 4 event rules matched")
	require.Empty(t, whole.stderr)
}

func TestValidateAgainstErrors(t *testing.T) {
	bad := write(t, "policy.yaml", "contracts:\n  - name: [x\n")
	got := execute("", "validate", bad, "--against", exampleTraces)
	require.Equal(t, 2, got.code)
	require.NotContains(t, got.stdout, "held against")

	contract := write(t, "contract.yaml", contractYAML)
	got = execute("", "validate", contract, "--against", exampleTraces)
	require.Equal(t, 2, got.code)
	require.Contains(t, got.stderr, "contract.yaml is no policy; with --against the first PATH is one, and what follows are traces")

	file := write(t, "policy.yaml", silentPolicy)
	got = execute("hello\n"+exampleText(t), "validate", file, "--against", "-")
	require.Equal(t, 2, got.code, "a broken line")
	require.Contains(t, got.stderr, "resultseal: standard input:1: ")
	require.Contains(t, got.stdout, "held against 5 sessions")

	got = execute("hello\n"+exampleText(t), "validate", file, "--strict", "--against", "-")
	require.Equal(t, 2, got.code)
	require.NotContains(t, got.stdout, "held against")

	got = execute("", "validate", file, "--against", "nowhere*.json")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.stderr, "no file matches")

	got = execute("{}", "validate", file, "--against", "-")
	require.Zero(t, got.code)
	require.Contains(t, got.stderr, "nothing in the traces tells of an agent, so nothing can be said")
}

// An acknowledged warning is counted and fails nothing, until it expires.
func TestValidateAcknowledged(t *testing.T) {
	file := write(t, "policy.yaml", `contracts:
  - name: order
    match: {tools: [get_order]}
    claim_type: read_complete
    required_fields: [order_id]
    freshness: {mode: not_required}
    source_ref: shop://orders
    target_ref: "order:{arguments.order_id}"
    observation: {target_ref: "order:{result.order_id}"}
    acknowledge: [{kind: unchecked-source, reason: one shop, expires: 2027-01-31}]
acknowledge: [{kind: unjudged-tool, tools: [refund], reason: it is only called}]
`)
	for _, tt := range []struct {
		now     string
		against bool
		code    int
		stdout  string
		stderr  string
	}{
		{"2027-01-31T23:59:59Z", false, 0, ": valid (policy), 1 warning acknowledged\n", ""},
		{"2027-01-31T23:59:59Z", true, 0, ": valid (policy), 2 warnings acknowledged\n", ""},
		{"2027-02-01T00:00:00Z", false, 1, ": valid (policy)\n", ":2:5: warning [unchecked-source]: contracts[0].name: nothing checks the source of the result: observation has no source_ref; its acknowledgement expired after 2027-01-31\n"},
		{"2027-02-01T00:00:00Z", true, 1, ": valid (policy), 1 warning acknowledged\n", ":2:5: warning [unchecked-source]: "},
	} {
		args := []string{"validate", file, "--fail-on-warnings", "--now", tt.now}
		if tt.against {
			args = append(args, "--against", exampleTraces)
		}
		got := execute("", args...)
		require.Equal(t, tt.code, got.code, args)
		require.True(t, strings.HasPrefix(got.stdout, file+tt.stdout), got.stdout)
		if tt.stderr == "" {
			require.Empty(t, got.stderr)
		} else {
			require.True(t, strings.HasPrefix(got.stderr, file+tt.stderr), got.stderr)
		}
	}
	require.Equal(t, 2, execute("", "validate", file, "--now", "tomorrow").code)

	// Those that traces would show say nothing without traces, and are reported if
	// traces do not show them.
	other := write(t, "policy.yaml", strings.Replace(silentPolicy, "get_ordr", "get_order", 1)+"acknowledge: [{kind: unjudged-tool, tools: [other], reason: r}]\n")
	require.Empty(t, execute("", "validate", other).stderr)
	got := execute("", "validate", other, "--against", exampleTraces)
	require.Contains(t, got.stderr, "warning [unjudged-tool]: no contract is for the tool refund (4 calls)\n")
	require.Contains(t, got.stderr, "warning [unused-acknowledgement]: acknowledge[0].kind: ")
}
