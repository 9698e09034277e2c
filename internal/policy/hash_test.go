// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

const hashedPolicy = `
contracts:
  - name: order
    match: {tools: [order]}
    claim_type: found
    required_fields: [total]
    freshness: {mode: max_age_seconds, max_age_seconds: 60}
    source_ref: shop
    target_ref: "order:{arguments.id}"
protocols:
  - name: paid
    session: conversation
    protocol: "!order.?order.!pay.end"
    events:
      - {label: order, event: tool_call, tools: [order]}
      - {label: order, event: tool_result, tools: [order], decision: sealed}
      - {label: pay, event: tool_call, tools: [pay]}
  - name: calls
    session: conversation
    protocol: "rec X.!{order.?order.X, pay.?pay.X}"
`

func mustLoad(t *testing.T, text string) *Policy {
	t.Helper()
	p, err := Load("policy.yaml", []byte(text))
	require.NoError(t, err)
	return p
}

// A change of the text changes the hash of the policy and those of the protocols
// that it matters to, and nothing else does.
func TestHash(t *testing.T) {
	before := mustLoad(t, hashedPolicy)
	require.Regexp(t, "^sha256:[0-9a-f]{64}$", before.Hash)
	for name, test := range map[string]struct {
		old, new            string
		policy, paid, calls bool // whether the hash changes
	}{
		"a comment":              {"protocols:\n", "# of the shop\nprotocols:\n", false, false, false},
		"layout":                 {"{tools: [order]}\n", "\n      tools:\n        - \"order\"\n", false, false, false},
		"order of keys":          {"    source_ref: shop\n    target_ref: \"order:{arguments.id}\"\n", "    target_ref: \"order:{arguments.id}\"\n    source_ref: shop\n", false, false, false},
		"another notation":       {"max_age_seconds: 60", "max_age_seconds: 0x3c", false, false, false},
		"a null":                 {"    source_ref: shop\n", "    source_ref: shop\n    not_found_sentinel: ~\n", false, false, false},
		"the schema version":     {"\ncontracts:", "\nschema_version: 1\ncontracts:", false, false, false},
		"an anchor":              {"tools: [order]}\n    claim_type", "tools: &t [order]}\n    claim_type", false, false, false},
		"a contract":             {"[total]", "[total, id]", true, true, false},
		"a rule":                 {"tools: [pay]", "tools: [pay, refund]", true, true, false},
		"white space in it":      {"!order.?order.!pay.end", "!order . ?order . !pay . end", true, false, false},
		"what a protocol allows": {"!order.?order.!pay.end", "!order.?order.!pay", true, false, false}, // .end is the default
		"another automaton":      {"!order.?order.!pay.end", "!order.!pay.end", true, true, false},
		"a name":                 {"name: calls", "name: all-calls", true, false, true},
		"a setting":              {"name: calls\n", "name: calls\n    unmatched: violation\n", true, false, true},
		"the session":            {"name: calls\n    session: conversation", "name: calls\n    session: trace", true, false, true},
		"a default":              {"name: calls\n", "name: calls\n    unmatched: ignore\n", true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, 1, strings.Count(hashedPolicy, test.old))
			after := mustLoad(t, strings.Replace(hashedPolicy, test.old, test.new, 1))
			require.Equal(t, test.policy, before.Hash != after.Hash, "the policy's")
			require.Equal(t, test.paid, before.Protocols[0].Hash != after.Protocols[0].Hash, "paid's")
			require.Equal(t, test.calls, before.Protocols[1].Hash != after.Protocols[1].Hash, "calls's")
		})
	}

	// The order of contracts decides which of them gives the verdict.
	two := hashedPolicy + "" // the contract, and another one before it
	two = strings.Replace(two, "contracts:\n", "contracts:\n  - {name: other, match: {tools: [order]}, claim_type: not_found, required_fields: [], freshness: {mode: not_required}, source_ref: shop, target_ref: shop}\n", 1)
	require.NotEqual(t, before.Protocols[0].Hash, mustLoad(t, two).Protocols[0].Hash)
}

// The hash is written onto spans, so it has to stay the same. This one was made by
// another program: Python's json.dumps with sorted keys and sha256.
func TestHashIsStable(t *testing.T) {
	require.Equal(t, "sha256:f30057d170c1c53d122049300a38b739be30526db35e61e3542c9b7c8ddcb89f", mustLoad(t, hashedPolicy).Hash)
	require.Equal(t, mustLoad(t, "contracts: []").Hash, mustLoad(t, "schema_version: 1\ncontracts: []\nprotocols:\n").Hash)
}

// What aliases and merge keys repeat is the same as what is written out, and a
// policy that comes as a map has the hash of its text.
func TestHashOfAliasesAndMaps(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "policies", "anchors.yaml"))
	require.NoError(t, err)
	p := mustLoad(t, string(text))
	var m map[string]any
	require.NoError(t, yaml.Unmarshal(text, &m))
	writtenOut, err := yaml.Marshal(m)
	require.NoError(t, err)
	require.NotContains(t, string(writtenOut), "<<")
	require.Equal(t, p.Hash, mustLoad(t, string(writtenOut)).Hash)

	fromMap, err := LoadMap("map", m)
	require.NoError(t, err)
	require.Equal(t, p.Hash, fromMap.Hash)

	m["schema_version"] = 1
	fromMap, err = LoadMap("map", m)
	require.NoError(t, err)
	require.Equal(t, p.Hash, fromMap.Hash)
}

// Numbers and dates have one form, however they are written.
func TestScalarData(t *testing.T) {
	for text, want := range map[string]any{
		"60": 60, "0x3c": 60, "60.0": int64(60), "1.5": 1.5, ".inf": ".inf", "true": true, "yes": "yes", "~": nil,
		"'60'": "60", "2027-01-31": "2027-01-31T00:00:00Z", "2027-01-31T01:00:00+01:00": "2027-01-31T00:00:00Z",
	} {
		var doc yaml.Node
		require.NoError(t, yaml.Unmarshal([]byte(text), &doc))
		require.Equal(t, want, scalarData(doc.Content[0]), text)
	}
}
