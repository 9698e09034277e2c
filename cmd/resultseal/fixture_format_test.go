// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fixtureFormat holds fixtures and the reference's answers to replay and validate.
const fixtureFormat = "../../internal/engine/testdata/conformance/fixture_format"

// TestFixtureFormat replays and validates fixtures as the reference does: the same
// output and exit status, and the same error code.
func TestFixtureFormat(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fixtureFormat, "expected.json"))
	require.NoError(t, err)
	var rows []struct {
		Args   []string `json:"args"`
		Kind   string   `json:"kind"`
		Exit   int      `json:"exit"`
		Stdout string   `json:"stdout"`
		Error  *string  `json:"error"`
	}
	require.NoError(t, json.Unmarshal(text, &rows))
	require.NotEmpty(t, rows)
	t.Chdir(fixtureFormat)
	for _, row := range rows {
		got := execute("", row.Args...)
		require.Equal(t, row.Exit, got.code, "%v: %s%s", row.Args, row.Kind, got.stderr)
		require.Equal(t, row.Stdout, got.stdout, "%v: %s", row.Args, row.Kind)
		if row.Error != nil {
			require.Contains(t, got.stderr, *row.Error+": ", "%v: %s", row.Args, row.Kind)
		}
	}
}

// TestFixtureFaults: each fault of a fixture is reported with its code and its place,
// and no other key, type or value is accepted.
func TestFixtureFaults(t *testing.T) {
	const fixture = `{
 "fixture_version": 1,
 "name": "😀",
 "claim_type": "found",
 "contract": {"schema_version": "1", "claim_type": "found", "required_fields": [], "freshness": {"mode": "not_required"}, "source_ref": "s", "target_ref": "t"},
 "input": {"source_ref": "s", "target_ref": "t", "body": 1},
 "expected": {"decision": "sealed", "truth_state": "sealed", "reason_codes": ["SEALED_WITH_REQUIRED_EVIDENCE"]}
}`
	for _, tc := range []struct{ from, to, want string }{
		{`"fixture_version": 1,`, `"fixture_version": "1",`, ":2:21: CONTRACT_INVALID: fixture_version: "},
		{`"fixture_version": 1,`, `"fixture_version": 1.5,`, ":2:21: CONTRACT_INVALID: fixture_version: "},
		{`"fixture_version": 1,`, `"fixture_version": 1.0,`, ""},
		{`"name": "😀",`, ``, ":1:1: CONTRACT_INVALID: fixture lacks name"},
		{`"name": "😀",`, `"name": "",`, ":3:10: CONTRACT_INVALID: name: "},
		{`"name": "😀",`, `"name": 1,`, ":3:10: CONTRACT_INVALID: name: "},
		{`"name": "😀",`, `"name": "` + strings.Repeat("😀", 256) + `",`, ""},
		{`"name": "😀",`, `"name": "` + strings.Repeat("😀", 257) + `",`, ":3:10: CONTRACT_INVALID: name: "},
		{`"claim_type": "found",
`, ``, ""},
		{`"claim_type": "found",
`, `"claim_type": "lost",`, ":4:16: CONTRACT_INVALID: claim_type: "},
		{`"claim_type": "found",
`, `"claim_type": ["found"],`, ":4:16: CONTRACT_INVALID: claim_type: "},
		{`"contract": {`, `"contract": null, "input": {`, ""},
		{`"contract": {`, `"contract": [], "input": {`, ":5:14: CONTRACT_INVALID: contract: "},
		{`"target_ref": "t"},
 "input"`, `"target_ref": "t", "x": 1},
 "input"`, ":5:166: CONTRACT_INVALID: contract.x: "},
		{`"source_ref": "s", "target_ref": "t"},
`, `"source_ref": 1, "target_ref": "t"},
`, ":5:137: SCHEMA_INVALID: contract.source_ref: "},
		{`"input": {`, `"input": {}, "input": 1, "contract": null, "input": [], "input": {`, ""},
		{`"input": {"source_ref": "s", "target_ref": "t", "body": 1}`, `"input": {}, "input": []`, ":6:24: CONTRACT_INVALID: input: "},
		{`"expected": {`, `"expected": [{`, ""},
		{`"decision": "sealed"`, `"decision": "maybe"`, ":7:27: CONTRACT_INVALID: expected.decision: "},
		{`"decision": "sealed"`, `"decision": ["sealed"]`, ":7:27: CONTRACT_INVALID: expected.decision: "},
		{`"truth_state": "sealed"`, `"truth_state": "gone"`, ":7:52: CONTRACT_INVALID: expected.truth_state: "},
		{`"truth_state": "sealed"`, `"truth_state": ""`, ":7:52: CONTRACT_INVALID: expected.truth_state: "},
		{`"truth_state": "sealed"`, `"truth_state": null`, ""},
		{`"reason_codes": [`, `"reason_codes": [1, `, ":7:78: CONTRACT_INVALID: expected.reason_codes: "},
		{`"reason_codes": ["SEALED_WITH_REQUIRED_EVIDENCE"]`, `"reason_codes": {}`, ":7:78: CONTRACT_INVALID: expected.reason_codes: "},
		{`"reason_codes": ["SEALED_WITH_REQUIRED_EVIDENCE"]`, `"reason_codes": null`, ""},
		{`"decision"`, `"why": 1, "decision"`, ":7:22: CONTRACT_INVALID: expected.why: "},
		{`"fixture_version"`, `"why": 1, "fixture_version"`, ":2:9: CONTRACT_INVALID: why: "},
	} {
		require.Contains(t, fixture, tc.from)
		text := strings.Replace(fixture, tc.from, tc.to, 1)
		if !json.Valid([]byte(text)) {
			tc.want = ":8:1: PARSE_FAILED: "
		}
		path := write(t, "fixture.json", text)
		got := execute("", "validate", path)
		if tc.want == "" {
			require.Equal(t, result{stdout: path + ": valid (fixture)\n", stderr: got.stderr}, got, text)
			continue
		}
		require.Equal(t, 2, got.code, text)
		require.True(t, strings.HasPrefix(got.stderr, path+tc.want), "%s\n%s", text, got.stderr)
	}
}

// TestValidateReadsJSON: the kind of a file is detected from its keys, and a fault has
// its place, also in JSON that the YAML library does not read.
func TestValidateReadsJSON(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		code int
		want string
	}{
		"surrogate pair":         {"{\"fixture_version\": 1, \"name\": \"\\ud83d\\ude00\"}", 2, ":1:1: CONTRACT_INVALID: fixture lacks input"},
		"colon on the next line": {"{\"fixture_version\"\n: 2, \"name\": \"x\", \"input\": {}, \"expected\": {}}", 2, ":2:3: CONTRACT_INVALID: fixture_version: "},
		"contract":               {"{\"claim_type\"\n: \"\\ud83d\\ude00\", \"schema_version\": \"1\", \"required_fields\": [], \"freshness\": {\"mode\": \"not_required\"}, \"source_ref\": \"\", \"target_ref\": \"\"}", 2, ":2:3: CONTRACT_INVALID: claim_type: "},
		"UTF-16":                 {"\xff\xfe{\x00\"\x00e\x00x\x00p\x00e\x00c\x00t\x00e\x00d\x00\"\x00:\x001\x00}\x00", 2, ":1:1: CONTRACT_INVALID: fixture lacks fixture_version"},
		"not a number":           {"{\"expected\": NaN}", 2, ":1:1: CONTRACT_INVALID: fixture lacks fixture_version"},
		"no known key":           {"{\"a\": 1}", 2, ":1:1: SCHEMA_INVALID: the document is neither a contract, nor a fixture, nor a policy"},
		"no object":              {"[1]", 2, ":1:1: SCHEMA_INVALID: the document is neither a contract, nor a fixture, nor a policy"},
		"nested too deep":        {strings.Repeat("[", 60_000) + strings.Repeat("]", 60_000), 3, ": LIMIT_EXCEEDED: "},
		"text behind":            {"{\"expected\": 1} 2", 2, ":1:17: PARSE_FAILED: "},
		"lone closing brace":     {"}", 2, ":1:1: PARSE_FAILED: "},
		"half":                   {"{\"expected\": [1,", 2, ":1:17: PARSE_FAILED: "},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, "document.json", tc.text)
			got := execute("", "validate", path)
			require.Equal(t, tc.code, got.code)
			require.Empty(t, got.stdout)
			require.True(t, strings.HasPrefix(got.stderr, path+tc.want), got.stderr)
		})
	}
}
