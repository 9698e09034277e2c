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

func TestScoreExplain(t *testing.T) {
	const violating = "b62e47ab569270430d61e3c65edd1df1"
	base := []string{"score", "--policy", examplePolicy, exampleTraces}
	want := execute("", append(base, "--explain", violating)...)
	require.Zero(t, want.code, want.stderr)
	require.True(t, strings.HasPrefix(want.stdout, "Trace "+violating+": violation\n"), want.stdout)
	require.Contains(t, want.stdout, "recorded in "+exampleTraces+":")
	require.Contains(t, want.stdout, "asked for order:A-1, but order:{result.order_id} gives order:B-2   <- decides")
	require.Contains(t, want.stdout, "the call of refund is !Refund (events[3]): violation")
	require.NotContains(t, want.stdout, "\x1b")

	tests := []struct {
		name, args string
		code       int
		stderr     string
	}{
		{"the beginning of the id", "--explain b62e", 0, ""},
		{"in capitals", "--explain B62E47AB", 0, ""},
		{"a conversation", "--explain 45df4bb08f9d", 0, ""},
		{"many goroutines", "--jobs 7 --explain b62e", 0, ""},
		{"a failure", "--fail-on violation --explain b62e", 1, ""},
		{"another failure", "--fail-on incomplete --explain b62e", 0, ""},
		{"too short", "--explain b62", 2, "resultseal: INVALID_ARGUMENT: --explain b62: no trace or conversation of that id tells of an agent; there are 5 traces, such as 0e82fbaf807f7a8e3a582d6a993eca0b, 4cb0e6e11f329ecf141844d492d70f1d, 6ebbddf8510ee1849307fe87955b6b7a\n"},
		{"with a format", "--explain b62e --format json", 2, "resultseal: INVALID_ARGUMENT: --explain writes text; leave --format out\n"},
		{"with annotated spans", "--explain b62e --annotated x", 2, "resultseal: INVALID_ARGUMENT: --explain and --annotated do not go together\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := execute("", append(base, strings.Fields(tt.args)...)...)
			require.Equal(t, tt.code, got.code)
			require.Equal(t, tt.stderr, got.stderr)
			if got.code < 2 {
				require.Equal(t, want.stdout, got.stdout)
			}
		})
	}
	require.Contains(t, execute("", "score", "--policy", examplePolicy, "-", "--explain", "b62e").stderr, "; there are no traces at all\n")

	out := filepath.Join(t.TempDir(), "why.txt")
	require.Zero(t, execute("", append(base, "--explain", violating, "--out", out)...).code)
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	require.Equal(t, want.stdout, string(text))

	// Content is shown if it is asked for.
	require.NotContains(t, want.stdout, `"order_id":"A-1"`)
	require.Contains(t, execute("", append(base, "--show-content", "--explain", violating)...).stdout, `| {"order_id":"A-1"}`)

	// Where it was found is told in the words of a dialect of one's own, too.
	own := execute(acmeTrace, "score", "--policy", write(t, "policy.yaml", acmePolicy), "--dialects", write(t, "dialects.yaml", acmeDialect), "-", "--explain", "0000")
	require.Contains(t, own.stdout, "result: an object of 1 field, in the attribute acme.output (acme) of span 0000000000000001")

	// A broken line does not keep the rest from being explained.
	broken := execute("hello\n"+exampleText(t), "score", "--policy", examplePolicy, "-", "--explain", violating)
	require.Equal(t, 2, broken.code)
	require.Contains(t, broken.stdout, "Trace "+violating)
}
