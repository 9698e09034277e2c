// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// What a result comes to under each kind that a policy may ask for.
func TestKinds(t *testing.T) {
	for _, tc := range []struct {
		kind, result string
		status       int64 // http.response.status_code of the span, 0 for none
		want         string
	}{
		{"auto", `{"status":"shipped"}`, 0, "sealed"},
		{"auto", `shipped`, 0, "partial"},
		{"auto", `{"content":[{"type":"text","text":"{\"status\":\"shipped\"}"}]}`, 0, "sealed"},
		{"auto", `{"structuredContent":{"status":"shipped"},"content":[{"type":"text","text":"no"}]}`, 0, "sealed"},
		{"auto", `{"status":"shipped"}`, 201, "sealed"},
		{"auto", `{"status":"shipped"}`, 500, "TRANSPORT_FAILED"},
		{"auto", `shipped`, 500, "TRANSPORT_FAILED"},
		{"auto", `{"stdout":"shipped","exit_code":1}`, 0, "TRANSPORT_FAILED"},
		{"auto", `{"stdout":"shipped","exitCode":0,"output_format":"text"}`, 0, "partial"},
		{"auto", `{"stdout":"{\"status\":\"shipped\"}","return_code":0,"output_format":"json"}`, 0, "sealed"},

		{"json", `{"status":"shipped"}`, 0, "sealed"},
		{"json", `shipped`, 0, "PARSE_FAILED"},
		{"json", `"shipped"`, 0, "PARSE_FAILED"}, // a text in quotation marks is a text
		{"json", ``, 0, "empty"},
		{"json", `{"status":"shi`, 0, "RESULT_TRUNCATED"},
		{"json", `{"status":"shipped"}`, 500, "sealed"},

		{"text", `{"status":"shipped"}`, 0, "partial"},
		{"text", `shipped`, 0, "partial"},
		{"text", ``, 0, "empty"},

		{"http_json", `{"status":"shipped"}`, 200, "sealed"},
		{"http_json", `{"status":"shipped"}`, 404, "TRANSPORT_FAILED"},
		{"http_json", `{"status_code":404,"body":{"status":"shipped"}}`, 0, "TRANSPORT_FAILED"},
		{"http_json", `{"status_code":200,"body":{"status":"shipped"}}`, 0, "sealed"},
		{"http_json", `{"status":"shipped"}`, 0, "sealed"},
		{"http_json", `shipped`, 200, "PARSE_FAILED"},

		{"mcp", `{"content":[{"type":"text","text":"{\"status\":\"shipped\"}"}]}`, 0, "sealed"},
		{"mcp", `{"content":[],"structuredContent":{"status":"shipped"}}`, 0, "sealed"},
		{"mcp", `{"content":[{"type":"text","text":"no"}],"isError":true}`, 0, "PROTOCOL_CONFLICT"},
		{"mcp", `{"content":[]}`, 0, "empty"},

		{"stdio", `{"stdout":"shipped","exit_code":2}`, 0, "TRANSPORT_FAILED"},
		{"stdio", `shipped`, 0, "partial"},

		{"yaml", "status: shipped\nitems: [1, 2]\n", 0, "sealed"},
		{"yaml", `{"status":"shipped"}`, 0, "sealed"},
		{"yaml", "status: [shipped", 0, "PARSE_FAILED"},
		{"yaml", "status: !!python/object:os.system x", 0, "SCHEMA_INVALID"},
	} {
		t.Run(fmt.Sprintf("%s %s %d", tc.kind, tc.result, tc.status), func(t *testing.T) {
			p, err := policy.Load("kinds.yaml", []byte(`contracts:
  - name: order
    match: {tools: [lookup]}
    claim_type: read_complete
    required_fields: [status]
    freshness: {mode: not_required}
    source_ref: shop://orders
    target_ref: orders
    observation: {kind: `+tc.kind+`}
`))
			require.NoError(t, err)
			td := manySpans(1, func(_ int, span ptrace.Span) {
				tool(span, "k1")
				span.Attributes().PutStr("gen_ai.tool.call.result", tc.result)
				if tc.status != 0 {
					span.Attributes().PutInt("http.response.status_code", tc.status)
				}
			})
			facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
			v := score.New(p).Trace(facts, nil)
			require.Len(t, v.Observations, 1)
			ev := v.Observations[0].Evaluation
			got := string(ev.TruthState)
			if got == "unknown" || got == "parse_error" {
				got = string(ev.ReasonCodes[0])
			}
			require.Equal(t, tc.want, got)
		})
	}
}
