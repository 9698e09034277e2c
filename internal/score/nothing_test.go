// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// sealed evaluates the contracts of a policy on one call of the tool lookup, and
// returns the observation.
func sealed(t *testing.T, policyText, arguments, result string) *score.Observation {
	t.Helper()
	p, err := policy.Load("policy.yaml", []byte(policyText))
	require.NoError(t, err)
	td := manySpans(1, func(_ int, span ptrace.Span) {
		tool(span, "k1")
		span.Attributes().Remove("gen_ai.tool.call.arguments")
		if arguments != "" {
			span.Attributes().PutStr("gen_ai.tool.call.arguments", arguments)
		}
		span.Attributes().PutStr("gen_ai.tool.call.result", result)
	})
	facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
	v := score.New(p).Trace(facts, nil)
	require.Len(t, v.Observations, 1)
	return &v.Observations[0]
}

// outcome writes an observation in a word: its truth state, or the first reason
// where the state says less.
func outcome(o *score.Observation) string {
	got := string(o.Evaluation.TruthState)
	if got == "unknown" || got == "parse_error" {
		got = string(o.Evaluation.ReasonCodes[0])
	}
	return got
}

// What tools write where they have nothing to return, under each kind.
func TestNothing(t *testing.T) {
	for _, tc := range []struct {
		kind, sentinel, payload, result, want string
	}{
		// A text, alone.
		{"auto", "", "", "", "empty"},
		{"auto", "", "", "  \n", "empty"},
		{"auto", "", "", "None", "empty"},
		{"auto", "", "", "None\n", "empty"},
		{"auto", "", "", "null", "empty"},
		{"auto", "", "", "undefined", "empty"},
		{"auto", "", "", "nil", "empty"},
		{"auto", "", "", `"None"`, "empty"},
		{"auto", "", "", `"  "`, "empty"},
		{"auto", "", "", "none", "sealed"},
		{"auto", "", "", "None found", "sealed"},
		{"auto", "", "", "No results found", "sealed"},
		{"auto", "", "", `{"stdout":"\n","exit_code":0}`, "empty"},
		{"text", "", "", "None", "empty"},
		{"text", "", "", "null", "empty"},
		{"text", "", "", " ", "empty"},
		{"text", "", "", "[]", "sealed"},
		{"mcp", "", "", "undefined", "empty"},
		{"mcp", "", "", `{"content":[{"type":"text","text":"nil"}]}`, "empty"},
		{"mcp", "", "", `{"content":[{"type":"text","text":" "}],"isError":false}`, "empty"},
		{"mcp", "", "", `{"content":[],"structuredContent":{"result":"None"}}`, "empty"},

		// Kinds with a syntax of their own.
		{"json", "", "", "None", "PARSE_FAILED"},
		{"json", "", "", "null", "empty"},
		{"yaml", "", "", "None", "sealed"},
		{"yaml", "", "", "null", "empty"},
		{"stdio", "", "", "None", "sealed"},

		// Unless it stands for "not found".
		{"auto", "None", "", "None", "sealed"},
		{"auto", "null", "", "null", "sealed"},
		{"auto", "null", "", "None", "empty"},
		{"auto", "None", "", "None\n", "empty"},
		{"auto", " ", "", " ", "sealed"},
		{"text", "null", "", "null", "sealed"},
		{"mcp", "nil", "", "nil", "sealed"},
		{"mcp", "null", "", `{"content":[{"type":"text","text":"null"}]}`, "sealed"},
		{"auto", "None", "", `{"status":"None"}`, "sealed"},

		// What payload selects.
		{"auto", "", "$.answer", `{"answer":"None"}`, "empty"},
		{"auto", "", "$.answer", `{"answer":" "}`, "empty"},
		{"auto", "None", "$.answer", `{"answer":"None"}`, "sealed"},
		{"auto", "null", "$.answer", `{"answer":null}`, "empty"},
		{"json", "", "$.answer", `{"answer":"None"}`, "sealed"},

		// MCP structures: the only member result.
		{"auto", "", "", `{"content":[],"structuredContent":{"result":[]},"isError":false}`, "empty"},
		{"auto", "", "", `{"content":[{"type":"text","text":"[]"}],"structuredContent":{"result":[]},"isError":false}`, "empty"},
		{"auto", "", "", `{"content":[],"structuredContent":{"result":null}}`, "empty"},
		{"auto", "", "", `{"content":[],"structuredContent":{"result":[1]}}`, "sealed"},
		{"mcp", "", "", `{"result":[]}`, "empty"},
		{"mcp", "", "", `{"content":[],"structuredContent":{"result":{"result":[]}}}`, "sealed"},
		{"auto", "", "", `{"result":[]}`, "sealed"},

		// Objects whose only lists are empty are as usable as published.
		{"auto", "", "", `{"chunks":[]}`, "sealed"},
		{"auto", "", "", `[[]]`, "sealed"},
		{"auto", "", "", `{"hits":{"total":{"value":0},"hits":[]}}`, "sealed"},
		{"auto", "", "$.hits.hits", `{"hits":{"total":{"value":0},"hits":[]}}`, "empty"},
	} {
		t.Run(fmt.Sprint(tc.kind, tc.sentinel, tc.payload, tc.result), func(t *testing.T) {
			text := func(s string) string {
				if s == "" {
					return "null"
				}
				b, err := json.Marshal(s)
				require.NoError(t, err)
				return string(b)
			}
			o := sealed(t, `contracts:
  - name: answer
    match: {tools: [lookup]}
    claim_type: found
    required_fields: []
    freshness: {mode: not_required}
    source_ref: a
    target_ref: b
    not_found_sentinel: `+text(tc.sentinel)+`
    observation: {kind: `+tc.kind+`, payload: `+text(tc.payload)+`}
`, "", tc.result)
			require.Equal(t, tc.want, outcome(o))
		})
	}
}

// What refs come to whose parts are split elsewhere, or are not there.
func TestRefs(t *testing.T) {
	for _, tc := range []struct {
		name, own, observed, arguments, result, want string
		missing                                      []string
	}{
		{"the same parts", "repo:{arguments.owner}/{arguments.name}", "repo:{result.owner}/{result.name}", `{"owner":"a","name":"b/c"}`, `{"owner":"a","name":"b/c"}`, "sealed", nil},
		{"parts split elsewhere", "repo:{arguments.owner}/{arguments.name}", "repo:{result.owner}/{result.name}", `{"owner":"a","name":"b/c"}`, `{"owner":"a/b","name":"c"}`, "source_mismatch", nil},
		{"parts with nothing between them", "{arguments.owner}{arguments.name}", "{result.owner}{result.name}", `{"owner":"a","name":"bc"}`, `{"owner":"ab","name":"c"}`, "source_mismatch", nil},
		{"an empty part", "{arguments.owner}{arguments.name}", "{result.owner}{result.name}", `{"owner":"ab","name":""}`, `{"owner":"a","name":"b"}`, "source_mismatch", nil},
		{"a number that is a text", "{arguments.n}-{arguments.m}", "{result.n}-{result.m}", `{"n":1,"m":2}`, `{"n":"1","m":2}`, "sealed", nil},
		{"other literals", "{arguments.owner}/{arguments.name}", "{result.path}", `{"owner":"a","name":"b/c"}`, `{"path":"a/b/c"}`, "sealed", nil},
		{"one value with quotation marks", "order:{arguments.id}", "order:{result.id}", `{"id":"\"a\""}`, `{"id":"\"a\""}`, "sealed", nil},

		{"a text instead of an object", "order:{arguments.id}", "order:{result.id}", `{"id":"A"}`, `Order A is shipped.`, "PARSE_FAILED", nil},
		{"a text as a whole", "order:{arguments.id}", "order:{result}", `{"id":"A"}`, `A`, "sealed", nil},
		{"another text", "order:{arguments.id}", "order:{result}", `{"id":"A"}`, `B`, "source_mismatch", nil},
		{"nothing", "order:{arguments.id}", "order:{result.id}", `{"id":"A"}`, `None`, "empty", nil},
		{"a number", "order:{arguments.id}", "order:{result.id}", `{"id":"A"}`, `7`, "source_mismatch", nil},
		{"an object without the member", "order:{arguments.id}", "order:{result.id}", `{"id":"A"}`, `{"n":1}`, "source_mismatch", nil},
		{"a text that failed", "order:{arguments.id}", "order:{result.id}", `{"id":"A"}`, `{"content":[{"type":"text","text":"no"}],"isError":true}`, "PROTOCOL_CONFLICT", nil},

		{"an argument that is not there", "tank:{arguments.tank}", "tank:{result.tank}", `{"id":"A"}`, `{"tank":"7"}`, "SCHEMA_INVALID", []string{"arguments.tank"}},
		{"several, one of them twice", "{arguments.tank}/{arguments[\"a b\"].c[0]}/{arguments.tank}/{arguments.id}", "x", `{"id":"A"}`, `{"tank":"7"}`, "SCHEMA_INVALID", []string{"arguments.tank", `arguments["a b"].c[0]`}},
		{"an argument that is no scalar", "tank:{arguments.tank}", "tank:{result.tank}", `{"tank":{"id":1}}`, `{"tank":"7"}`, "SCHEMA_INVALID", []string{"arguments.tank"}},
		{"arguments that are a text", "tank:{arguments.tank}", "tank:{result.tank}", `seven`, `{"tank":"7"}`, "SCHEMA_INVALID", []string{"arguments.tank"}},
		{"no arguments", "tank:{arguments.tank}", "tank:{result.tank}", "", `{"tank":"7"}`, "ARGUMENTS_NOT_CAPTURED", nil},
		{"a text instead of an object, and an argument that is not there", "tank:{arguments.tank}", "tank:{result.tank}", `{"id":"A"}`, `seven`, "SCHEMA_INVALID", []string{"arguments.tank"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			contract := fmt.Sprintf(`contracts:
  - name: answer
    match: {tools: [lookup]}
    claim_type: found
    required_fields: []
    freshness: {mode: not_required}
    source_ref: a
    target_ref: '%s'
    observation: {target_ref: '%s'}
`, tc.own, tc.observed)
			o := sealed(t, contract, tc.arguments, tc.result)
			require.Equal(t, tc.want, outcome(o))
			require.Equal(t, tc.missing, o.Evaluation.MissingFields)
			if tc.want == "source_mismatch" {
				require.Equal(t, []string{"TARGET_MISMATCH"}, codes(o))
			}
		})
	}
}

func codes(o *score.Observation) []string {
	var out []string
	for _, code := range o.Evaluation.ReasonCodes {
		out = append(out, string(code))
	}
	return out
}

// Both refs name what they lack.
func TestMissingFieldsOfBothRefs(t *testing.T) {
	o := sealed(t, `contracts:
  - name: answer
    match: {tools: [lookup]}
    claim_type: found
    required_fields: []
    freshness: {mode: not_required}
    source_ref: 'shop:{resource["app.shop"]}'
    target_ref: 'tank:{arguments.tank}'
`, `{"id":"A"}`, `{"tank":"7"}`)
	require.Equal(t, "SCHEMA_INVALID", outcome(o))
	require.Equal(t, []string{`resource["app.shop"]`, "arguments.tank"}, o.Evaluation.MissingFields)
}
