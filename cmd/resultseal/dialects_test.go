// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const acmePolicy = `contracts:
  - name: order
    match: {tools: [get_order]}
    claim_type: read_complete
    required_fields: [status]
    freshness: {mode: not_required}
    source_ref: shop://orders
    target_ref: "order:{arguments.id}"
`

const acmeTrace = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"00000000000000000000000000000001","spanId":"0000000000000001",
"name":"step","startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[
{"key":"acme.kind","value":{"stringValue":"tool"}},{"key":"acme.tool","value":{"stringValue":"get_order"}},
{"key":"acme.input","value":{"stringValue":"{\"id\":\"A-1\"}"}},{"key":"acme.output","value":{"stringValue":"{\"status\":\"shipped\"}"}},
{"key":"acme.session","value":{"stringValue":"s-1"}}]}]}]}]}`

const acmeDialect = `dialects:
  custom:
    - name: acme
      tool: [{attribute: acme.kind, value: tool}]
      tool_name: [acme.tool]
      arguments: [acme.input]
      result: [acme.output]
conversation_attributes: [acme.session]
`

// What no built-in dialect knows is read by a dialect of one's own.
func TestScoreWithDialects(t *testing.T) {
	policy, trace := write(t, "policy.yaml", acmePolicy), write(t, "trace.json", acmeTrace)

	without := execute("", "score", "--policy", policy, trace)
	require.Zero(t, without.code, without.stderr)
	require.NotContains(t, without.stdout, "sealed\"}")

	with := execute("", "score", "--policy", policy, "--dialects", write(t, "dialects.yaml", acmeDialect), trace)
	require.Zero(t, with.code, with.stderr)
	var report struct {
		Sessions []struct {
			ConversationID string `json:"conversation_id"`
			Observations   []struct{ Tool, Decision string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(with.stdout), &report))
	require.Len(t, report.Sessions, 1)
	require.Equal(t, "s-1", report.Sessions[0].ConversationID)
	require.Len(t, report.Sessions[0].Observations, 1)
	require.Equal(t, "get_order", report.Sessions[0].Observations[0].Tool)
	require.Equal(t, "sealed", report.Sessions[0].Observations[0].Decision)
}

func TestScoreRefusesBadDialects(t *testing.T) {
	policy, trace := write(t, "policy.yaml", acmePolicy), write(t, "trace.json", acmeTrace)
	for text, want := range map[string]string{
		"dialects: {costum: []}":          "dialects.yaml:1:12: dialects.costum: unknown key",
		"dialects: {custom: [{name: a}]}": "dialects.yaml:1:21: dialects.custom[0].tool: nothing recognises a span",
	} {
		r := execute("", "score", "--policy", policy, "--dialects", write(t, "dialects.yaml", text), trace)
		require.Equal(t, 2, r.code)
		require.Contains(t, r.stderr, want)
	}
	r := execute("", "score", "--policy", policy, "--dialects", "not-there.yaml", trace)
	require.Equal(t, 2, r.code)
	require.Contains(t, r.stderr, "--dialects: open not-there.yaml")
}

// Spans that look like tool calls and that no dialect reads are reported, with what
// to do, by every command that reads traces. Their values are not.
func TestUnreadToolCalls(t *testing.T) {
	const want = `resultseal: 1 span looks like tool calls, and no dialect reads it:
  scope (without a name): 1 span, with the attributes acme.tool, acme.input, acme.kind
  Describe their attributes in a file for --dialects: docs/instrumentations.md#a-dialect-of-your-own
`
	policy, trace := write(t, "policy.yaml", acmePolicy), write(t, "trace.json", acmeTrace)
	for _, command := range [][]string{
		{"score", "--policy", policy}, {"score", "--policy", policy, "--format", "table"}, {"init"}, {"validate", policy, "--against"},
	} {
		got := execute("", append(command, trace)...)
		require.Contains(t, got.stderr, want, command)
		require.NotContains(t, got.stderr, "A-1")
		got = execute("", append(command, trace, "--dialects", write(t, "dialects.yaml", acmeDialect))...)
		require.NotContains(t, got.stderr, "no dialect reads", command)
	}

	// Many scopes are summed up.
	var lines []string
	for i := range 12 {
		lines = append(lines, strings.ReplaceAll(strings.ReplaceAll(acmeTrace, "\n", ""), `"scopeSpans":[{`, fmt.Sprintf(`"scopeSpans":[{"scope":{"name":"scope %02d"},`, i)))
	}
	many := execute(strings.Join(lines, "\n"), "score", "--policy", policy, "-").stderr
	require.Contains(t, many, "resultseal: 12 spans look like tool calls, and no dialect reads them:\n  scope scope 00: 1 span, ")
	require.Contains(t, many, "  and 2 scopes more\n")
	require.NotContains(t, many, "scope 10")
}

// What is read from published instrumentations leaves no such hint.
func TestNoHintForKnownInstrumentations(t *testing.T) {
	policy := write(t, "policy.yaml", acmePolicy)
	recordings, err := filepath.Glob(filepath.Join(shared(t, "traces"), "*", "*.jsonl*"))
	require.NoError(t, err)
	require.NotEmpty(t, recordings)
	for _, recording := range recordings {
		if !strings.Contains(recording, ".logs.") {
			require.NotContains(t, execute("", "score", "--policy", policy, recording).stderr, "no dialect reads", recording)
		}
	}
}

// validate detects a file of dialects from its keys and reports all that is wrong
// with it, each with its place.
func TestValidateDialects(t *testing.T) {
	r := execute("", "validate", write(t, "dialects.yaml", acmeDialect))
	require.Zero(t, r.code, r.stderr)
	require.Contains(t, r.stdout, "dialects.yaml: valid (dialects)")

	r = execute("", "validate", write(t, "dialects.yaml", `custom:
  - name: acme
    tool: [{attribute: acme.kind, valu: tool}]
    result:
      - {attribute: acme.out, path: "a..b"}
`))
	require.Equal(t, 2, r.code)
	require.Contains(t, r.stderr, ":3:35: custom[0].tool[0].valu: unknown key; did you mean \"value\"?\n      tool: [{attribute: acme.kind, valu: tool}]\n")
	r = execute("", "validate", write(t, "dialects.yaml", `custom:
  - name: acme
    tool: [{attribute: acme.kind, value: tool}]
    result:
      - {attribute: acme.out, path: "a..b"}
`))
	require.Equal(t, 2, r.code)
	require.Contains(t, r.stderr, ":5:37: custom[0].result[0].path: \"a..b\" is no path")
	require.Contains(t, r.stderr, "custom[0].tool_name: a tool needs a name")

	r = execute("", "validate", write(t, "dialects.yaml", "dialects:\n  custom: [\n"))
	require.Equal(t, 2, r.code)
	require.Contains(t, r.stderr, "dialects.yaml:2:1: did not find expected node content")
	require.NotContains(t, r.stderr, "yaml: ")
}

// dialects lists every dialect with what it reads and on what basis.
func TestDialectsCommand(t *testing.T) {
	r := execute("", "dialects")
	require.Zero(t, r.code, r.stderr)
	for _, want := range []string{"claude-code ", "◐", "✓", "MLflow, its default export", "mastra-1.71.0"} {
		require.Contains(t, r.stdout, want)
	}
}

// explain shows which dialects read spans and which attributes are not read, and no
// content.
func TestDialectsExplain(t *testing.T) {
	trace := write(t, "trace.json", acmeTrace)
	r := execute("", "dialects", "explain", trace)
	require.Zero(t, r.code, r.stderr)
	require.Equal(t, `scope (without a name): 1 span
  1 span looks like tool calls, and no dialect reads it
  attributes that are not read:
    acme.input (1)
    acme.kind (1)
    acme.output (1)
    acme.session (1)
    acme.tool (1)
`, r.stdout)
	require.NotContains(t, r.stdout, "A-1")

	r = execute("", "dialects", "explain", "--dialects", write(t, "dialects.yaml", acmeDialect), trace)
	require.Zero(t, r.code, r.stderr)
	require.Equal(t, `scope (without a name): 1 span
  1 tool span by acme
  of 1 tool span: 0 without a name, 1 without a call id, 0 without arguments, 0 without a result, 0 failed
`, r.stdout)

	r = execute("", "dialects", "explain", write(t, "plain.json", `{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"http"},"spans":[{"traceId":"00000000000000000000000000000001","spanId":"0000000000000001","name":"GET","startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]}`))
	require.Equal(t, "scope http: 1 span\n  no span is about an agent\n", r.stdout)

	require.Equal(t, 2, execute("", "dialects", "explain", "not-there.json").code)
}
