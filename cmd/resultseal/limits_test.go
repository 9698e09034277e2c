// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// callsOf writes traces of one tool call each: the n-th of them calls the tool that
// tool returns, with a result of one string.
func callsOf(t *testing.T, traces int, tool func(n int) string, result string) string {
	t.Helper()
	var b strings.Builder
	for n := range traces {
		quoted, err := json.Marshal(result)
		require.NoError(t, err)
		text, err := json.Marshal(string(quoted))
		require.NoError(t, err)
		fmt.Fprintf(&b, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%032x","spanId":"%016x","name":"execute_tool","startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[`+
			`{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":%q}},`+
			`{"key":"gen_ai.tool.call.arguments","value":{"stringValue":"{}"}},{"key":"gen_ai.tool.call.result","value":{"stringValue":%s}}]}]}]}]}`+"\n",
			n+1, 1, 1000*(n+1), 1000*(n+1)+1, tool(n), text)
	}
	return write(t, "traces.jsonl", b.String())
}

// A content is shown up to a length, and its size is said.
func TestShownContentIsBounded(t *testing.T) {
	policy := write(t, "policy.yaml", fmt.Sprintf(readPolicy, "trace"))
	for result, whole := range map[string]bool{strings.Repeat("x", 3000): true, strings.Repeat("x", 100_000): false} {
		traces := callsOf(t, 1, func(int) string { return "get_order" }, result)
		page := filepath.Join(t.TempDir(), "report.html")
		require.Zero(t, execute("", "score", "--policy", policy, "--show-content", "--out", page, traces).code)
		html, err := os.ReadFile(page)
		require.NoError(t, err)
		explained := execute("", "score", "--policy", policy, "--show-content", "--explain", strings.Repeat("0", 31)+"1", traces).stdout
		for of, text := range map[string]string{"page": string(html), "explanation": explained} {
			require.Equal(t, whole, !strings.Contains(text, "bytes in all)"), of)
			require.Equal(t, whole, strings.Contains(text, result), of)
			require.Contains(t, text, strings.Repeat("x", 3000), of)
		}
	}
}

// A table has so many findings, with so many places of each, and says how many more
// there are. JSON has all.
func TestFindingsAreBounded(t *testing.T) {
	policy := write(t, "policy.yaml", "protocols:\n  - {name: p, protocol: \"!a\", unmatched: violation, events: [{label: \"{tool.name}\", event: tool_call}]}\n")
	const kinds = 25
	traces := callsOf(t, 5*kinds, func(n int) string { return fmt.Sprint("tool", n%kinds) }, "")
	table := execute("", "score", "--policy", policy, "--format", "table", traces).stdout
	require.Equal(t, 20, strings.Count(table, "violation p: got !tool"))
	require.Equal(t, 3*20, strings.Count(table, "\n  trace "))
	require.Contains(t, table, "(5 sessions)")
	require.Contains(t, table, "and 5 more kinds of findings; --format json has them all")
	require.Equal(t, 5*kinds, strings.Count(execute("", "score", "--policy", policy, "--format", "jsonl", traces).stdout, "\n"))
}

// A protocol with many states is not drawn.
func TestLargeProtocolsAreNotDrawn(t *testing.T) {
	for states, drawn := range map[int]bool{100: true, 200: false} {
		protocol := strings.Repeat("!get_order.", states) + "end"
		policy := write(t, "policy.yaml", "protocols:\n  - {name: p, protocol: \""+protocol+"\", events: [{label: \"{tool.name}\", event: tool_call}]}\n")
		page := filepath.Join(t.TempDir(), "report.html")
		require.Zero(t, execute("", "score", "--policy", policy, "--out", page, callsOf(t, 1, func(int) string { return "get_order" }, "")).code)
		html, err := os.ReadFile(page)
		require.NoError(t, err)
		require.Equal(t, !drawn, strings.Contains(string(html), "which are too many to draw"))
		require.Equal(t, drawn, strings.Contains(string(html), "<svg"))
	}
}

// However many scopes and attributes the spans have, the report of what dialects read
// is short.
func TestDialectsCommandIsBounded(t *testing.T) {
	var scopes, attributes strings.Builder
	for n := range 1010 {
		fmt.Fprintf(&scopes, `,{"scope":{"name":"s%d"},"spans":[{"traceId":"%032x","spanId":"%016x","name":"x"}]}`, n, 1, n+2)
		fmt.Fprintf(&attributes, `,{"key":"a%d","value":{"stringValue":"x"}}`, n)
	}
	traces := write(t, "traces.jsonl", `{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"a"},"spans":[{"traceId":"00000000000000000000000000000001","spanId":"0000000000000001","name":"x",`+
		`"attributes":[{"key":"tool_call_id","value":{"stringValue":"x"}}`+attributes.String()+`]}]}`+scopes.String()+`]}]}`+"\n")
	got := execute("", "dialects", "explain", traces)
	require.Zero(t, got.code, got.stderr)
	require.Contains(t, got.stdout, "There are more than 1000 scopes.")
	require.Contains(t, got.stdout, "    and 980 more\n")
	require.Equal(t, 1000, strings.Count(got.stdout, "scope "))
	require.Equal(t, 20, strings.Count(got.stdout, " (1)\n"))
}
