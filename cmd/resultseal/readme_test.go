// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first policy of the README gives the verdicts that the text below it claims.
func TestREADMEPolicy(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	first := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(readme)
	require.NotNil(t, first)
	dir := t.TempDir()
	policyFile := filepath.Join(dir, "policy.yaml")
	require.NoError(t, os.WriteFile(policyFile, first[1], 0o600))

	otherOrder, err := os.ReadFile(filepath.Join("testdata", "readme", "other-order.jsonl"))
	require.NoError(t, err)
	const read = `{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203332"`
	var (
		text    = string(otherOrder)
		replace = func(from, to string) string {
			require.Contains(t, text, from)
			return strings.ReplaceAll(text, from, to)
		}
		sameOrder = replace("Z-9", "A-1")
		lost      = regexp.MustCompile(regexp.QuoteMeta(read)+`.*?\]\},`).ReplaceAllString(sameOrder, "")
	)
	require.NotEqual(t, sameOrder, lost)
	for name, test := range map[string]struct{ trace, compliance, decision string }{
		"the order that was read":                             {sameOrder, "compliant", "sealed"},
		"another order than was read":                         {text, "violation", "sealed"},
		"an answer about another order":                       {strings.ReplaceAll(sameOrder, `{\"order_id\":\"A-1\",\"status\"`, `{\"order_id\":\"B-2\",\"status\"`), "violation", "blocked"},
		"an empty result":                                     {strings.ReplaceAll(sameOrder, `{\"order_id\":\"A-1\",\"status\":\"shipped\"}`, `[]`), "violation", "blocked"},
		"the span of the reading is lost":                     {lost, "violation", ""},
		"the span of the reading is lost, and so is a parent": {strings.ReplaceAll(lost, `"parentSpanId":"b7ad6b7169203331"`, `"parentSpanId":"b7ad6b7169203339"`), "inconclusive", ""},
		"no reading and no refund":                            {strings.NewReplacer("get_order", "other", "refund", "other").Replace(text), "unjudged", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "trace.jsonl")
			require.NoError(t, os.WriteFile(file, []byte(test.trace), 0o600))
			got := execute("", "score", "--policy", policyFile, "--dialects", filepath.Join("testdata", "readme", "dialects.yaml"), file)
			require.Zero(t, got.code, got.stderr)
			var report struct {
				Sessions []struct {
					Compliance   string
					Observations []struct{ Decision string }
				}
			}
			require.NoError(t, json.Unmarshal([]byte(got.stdout), &report))
			require.Len(t, report.Sessions, 1)
			require.Equal(t, test.compliance, report.Sessions[0].Compliance)
			decision := ""
			for _, o := range report.Sessions[0].Observations {
				decision = o.Decision
			}
			require.Equal(t, test.decision, decision)
		})
	}
}
