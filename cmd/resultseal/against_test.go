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
