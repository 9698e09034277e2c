// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
)

// result is what a command line came to.
type result struct {
	code           int
	stdout, stderr string
}

// execute runs a command line in this process.
func execute(stdin string, args ...string) result {
	var stdout, stderr bytes.Buffer
	code := run(args, strings.NewReader(stdin), &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// write writes a file into a folder of the test's own.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const (
	contractYAML = `schema_version: "1"
claim_type: found
required_fields: [customer_id]
freshness: {mode: max_age_seconds, max_age_seconds: 60}
source_ref: crm://customers
target_ref: "customer:42"
`
	responseJSON = `{"kind":"json","source_ref":"crm://customers","target_ref":"customer:42","observed_at":"2026-08-21T12:00:00Z","observation_id":"obs|1","body":{"customer_id":"42"}}`
	fixtureYAML  = `fixture_version: 1
name: zero-hits
claim_type: found
contract:
  schema_version: "1"
  claim_type: found
  required_fields: [title]
  freshness: {mode: not_required}
  source_ref: search://reports
  target_ref: report:1
input: {source_ref: "search://reports", target_ref: "report:1", body: {hits: []}}
expected: {truth_state: partial, decision: blocked, reason_codes: [MISSING_REQUIRED_FIELD]}
`
)

func TestVersion(t *testing.T) {
	require.Equal(t, result{stdout: "0.1.0 (ResultSeal semantics 0.1.3)\n"}, execute("", "version"))
}

func TestCheck(t *testing.T) {
	contract, response := write(t, "contract.yaml", contractYAML), write(t, "response.json", responseJSON)

	sealed := execute("", "check", response, "--contract", contract, "--now", "2026-08-21T12:01:00Z")
	require.Equal(t, 0, sealed.code, sealed.stderr)
	require.Empty(t, sealed.stderr)
	require.True(t, strings.HasPrefix(sealed.stdout, `{"claim_type":"found","decision":"sealed","deterministic_fingerprint":"sha256:`), sealed.stdout)
	require.True(t, json.Valid([]byte(sealed.stdout)))
	require.True(t, strings.HasSuffix(sealed.stdout, "}\n"))

	require.Equal(t, sealed, execute(responseJSON, "check", "-", "--contract", contract, "--now", "2026-08-21T12:01:00Z"), "from standard input")
	require.Equal(t, sealed, execute("", "check", response, "--contract", contract, "--now", "2026-08-21T12:01:00"), "without a zone the clock is UTC")
	require.Equal(t, sealed, execute("", "check", response, "--contract", contract, "--now", "2026-08-21T14:01:00+02:00"))

	blocked := execute("", "check", response, "--contract", contract, "--now", "2026-08-21T12:01:01Z")
	require.Equal(t, 1, blocked.code)
	require.Contains(t, blocked.stdout, `"reason_codes":["STALE_OBSERVATION"]`)
	require.Empty(t, blocked.stderr)

	redacted := execute("", "check", response, "--contract", contract, "--now", "2026-08-21T12:01:00Z", "--redact", "source_ref", "--redact", "evidence_refs")
	require.Equal(t, 0, redacted.code)
	require.Contains(t, redacted.stdout, `"source_ref":"[REDACTED]"`)
	require.Contains(t, redacted.stdout, `"evidence_refs":"[REDACTED]"`)
	require.NotContains(t, redacted.stdout, fingerprint(t, sealed.stdout), "the fingerprint is taken after redacting")

	md := execute("", "check", response, "--contract", contract, "--now", "2026-08-21T12:01:00Z", "--format", "md")
	require.Equal(t, 0, md.code)
	require.True(t, strings.HasPrefix(md.stdout, "# sealed\n\n| field | value |\n|---|---|\n| resultseal_version | 0.1.3 |\n"), md.stdout)
	require.Contains(t, md.stdout, `| observation_id | obs\|1 |`)
	require.Contains(t, md.stdout, "| reason_codes | SEALED_WITH_REQUIRED_EVIDENCE |\n")
	require.NotContains(t, md.stdout, "\x1b", "colours are for terminals")
}

func fingerprint(t *testing.T, record string) string {
	t.Helper()
	var r struct {
		Fingerprint string `json:"deterministic_fingerprint"`
	}
	require.NoError(t, json.Unmarshal([]byte(record), &r))
	return r.Fingerprint
}

// TestCheckErrors: the first thing that is wrong is told, with its code and class.
func TestCheckErrors(t *testing.T) {
	contract, response := write(t, "contract.yaml", contractYAML), write(t, "response.json", responseJSON)
	broken := write(t, "broken.json", "{")
	for name, tc := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no contract":          {[]string{"check", response}, 2, "resultseal: INVALID_ARGUMENT: --contract is required\n"},
		"no response":          {[]string{"check", "--contract", contract}, 2, "resultseal: INVALID_ARGUMENT: accepts 1 arg(s), received 0\n"},
		"unknown flag":         {[]string{"check", "--nope"}, 2, "resultseal: INVALID_ARGUMENT: unknown flag: --nope\n"},
		"unknown command":      {[]string{"nope"}, 2, "resultseal: INVALID_ARGUMENT: unknown command \"nope\" for \"resultseal\"\n"},
		"unknown format":       {[]string{"check", response, "--contract", contract, "--format", "xml"}, 2, "resultseal: INVALID_ARGUMENT: --format \"xml\" is unknown; use json or md\n"},
		"no such file":         {[]string{"check", "/nowhere.json", "--contract", contract}, 2, "resultseal: INVALID_ARGUMENT: open /nowhere.json: no such file or directory\n"},
		"bad clock":            {[]string{"check", response, "--contract", contract, "--now", "soon"}, 2, "resultseal: INVALID_ARGUMENT: the clock must be an ISO 8601 time\n"},
		"empty clock":          {[]string{"check", response, "--contract", contract, "--now", ""}, 2, "resultseal: INVALID_ARGUMENT: --now is empty; use an ISO 8601 time such as 2026-08-21T12:00:00Z, or leave it out for the current time\n"},
		"blank clock":          {[]string{"replay", response, "--now", " "}, 2, "resultseal: INVALID_ARGUMENT: --now is empty; use an ISO 8601 time such as 2026-08-21T12:00:00Z, or leave it out for the current time\n"},
		"clock of validate":    {[]string{"validate", contract, "--now="}, 2, "resultseal: INVALID_ARGUMENT: --now is empty; use an ISO 8601 time such as 2026-08-21T12:00:00Z, or leave it out for the current time\n"},
		"redact nothing":       {[]string{"check", response, "--contract", contract, "--redact", "target_ref"}, 2, "resultseal: INVALID_ARGUMENT: --redact \"target_ref\" is no field of a record that can be redacted; use " + strings.Join(engine.RedactableFields, ", ") + "\n"},
		"redact the hash":      {[]string{"replay", response, "--redact", "deterministic_fingerprint"}, 2, "resultseal: INVALID_ARGUMENT: --redact \"deterministic_fingerprint\" is no field of a record that can be redacted; use " + strings.Join(engine.RedactableFields, ", ") + "\n"},
		"response before rest": {[]string{"check", broken, "--contract", broken, "--now", "soon"}, 2, "resultseal: PARSE_FAILED: JSON: expected a key at byte 1\n"},
		"contract before now":  {[]string{"check", response, "--contract", write(t, "c.json", "[]"), "--now", "soon"}, 2, "resultseal: CONTRACT_INVALID: a contract must be an object, not array\n"},
		"root":                 {[]string{"check", write(t, "r.json", "[]"), "--contract", contract}, 2, "resultseal: SCHEMA_INVALID: the document must be an object, not array\n"},
		"unsafe":               {[]string{"check", write(t, "r.yaml", "a: *b"), "--contract", contract}, 3, "resultseal: UNSAFE_INPUT: YAML: anchors, aliases and tags of other types are refused\n"},
		"too large":            {[]string{"check", write(t, "r.yml", strings.Repeat("\n", 131_073)), "--contract", contract}, 3, "resultseal: LIMIT_EXCEEDED: document of more than 131072 bytes\n"},
		"much too large":       {[]string{"check", write(t, "r.json", strings.Repeat("\n", 3<<20)), "--contract", contract}, 3, "resultseal: LIMIT_EXCEEDED: document of more than 131072 bytes\n"},
	} {
		require.Equal(t, result{code: tc.code, stderr: tc.want}, execute("", tc.args...), name)
	}
}

// Every field that can be redacted is, and is named by the record.
func TestRedactEveryField(t *testing.T) {
	contract, response := write(t, "contract.yaml", contractYAML), write(t, "response.json", responseJSON)
	for _, field := range engine.RedactableFields {
		got := execute("", "check", response, "--contract", contract, "--now", "2026-08-21T12:01:00Z", "--redact", field)
		require.Zero(t, got.code, got.stderr)
		require.Contains(t, got.stdout, `"`+field+`":"[REDACTED]"`)
	}
}

func TestNegativeJobs(t *testing.T) {
	traces := write(t, "traces.json", acmeTrace)
	for _, command := range [][]string{
		{"score", "--policy", write(t, "policy.yaml", acmePolicy)}, {"init"}, {"validate", write(t, "policy.yaml", acmePolicy), "--against"},
	} {
		got := execute("", append(command, traces, "--jobs", "-1")...)
		require.Equal(t, 2, got.code)
		require.True(t, strings.HasSuffix(got.stderr, "resultseal: INVALID_ARGUMENT: --jobs must be between 0 and 1024, got -1; leave it out for as many as there are processors\n"), got.stderr)
	}
}

func TestReplay(t *testing.T) {
	match := write(t, "match.yaml", fixtureYAML)
	mismatch := write(t, "mismatch.yaml", strings.Replace(fixtureYAML, "truth_state: partial", "truth_state: empty", 1))
	rejected := write(t, "rejected.yaml", "fixture_version: 1\nname: alias\nclaim_type: found\ninput: {kind: yaml, value: '*a'}\nexpected: {decision: rejected, reason_codes: [UNSAFE_INPUT]}\n")
	otherReason := write(t, "other.yaml", "fixture_version: 1\nname: alias\ninput: {kind: yaml, value: '*a'}\nexpected: {decision: rejected, reason_codes: [PARSE_FAILED, it's]}\n")
	accepted := write(t, "accepted.yaml", "fixture_version: 1\nname: alias\ninput: {source_ref: a, target_ref: b}\nexpected: {decision: rejected}\n")
	unbound := write(t, "unbound.yaml", "fixture_version: 1\nname: alias\ninput: {source_ref: a, target_ref: b}\nexpected: {decision: sealed}\n")
	decided := write(t, "decided.yaml", strings.Replace(fixtureYAML, "truth_state: partial, decision: blocked, reason_codes: [MISSING_REQUIRED_FIELD]", "decision: rejected", 1))
	refused := write(t, "refused.yaml", strings.Replace(fixtureYAML, `target_ref: "report:1", `, "", 1))
	invalid := write(t, "invalid.yaml", "fixture_version: 2\n")
	unsafe := write(t, "unsafe.yaml", "a: &b c\n")

	require.Equal(t, result{stdout: "MATCH: zero-hits -> partial/blocked\n"}, execute("", "replay", match))
	require.Equal(t, result{stdout: "MATCH: alias -> rejected (UNSAFE_INPUT)\n"}, execute("", "replay", rejected))
	require.Equal(t, result{code: 1, stdout: "MISMATCH: zero-hits -> partial/blocked\n  expected: empty/blocked codes=['MISSING_REQUIRED_FIELD']\n  actual:   partial/blocked codes=['MISSING_REQUIRED_FIELD']\n"},
		execute("", "replay", mismatch))
	require.Equal(t, result{code: 1, stdout: "MISMATCH: alias -> rejected (UNSAFE_INPUT)\n  expected: rejected codes=['PARSE_FAILED', \"it's\"]\n  actual:   rejected codes=['UNSAFE_INPUT']\n"},
		execute("", "replay", otherReason))
	require.Equal(t, result{code: 1, stdout: "MISMATCH: zero-hits -> partial/blocked\n  expected: rejected codes=[]\n  actual:   partial/blocked codes=['MISSING_REQUIRED_FIELD']\n"},
		execute("", "replay", decided))
	require.Equal(t, result{code: 2, stderr: "resultseal: SCHEMA_INVALID: target_ref must be a non-empty string\n"}, execute("", "replay", refused))
	require.Equal(t, result{code: 2, stderr: "resultseal: SCHEMA_INVALID: the fixture has no contract and cannot be replayed\n"}, execute("", "replay", unbound))
	require.Equal(t, result{code: 2, stderr: "resultseal: SCHEMA_INVALID: the fixture expects a rejection, and its input is accepted\n"}, execute("", "replay", accepted))
	require.Equal(t, result{code: 2, stderr: "resultseal: CONTRACT_INVALID: fixture lacks name\n"}, execute("", "replay", invalid))
	require.Equal(t, result{code: 3, stderr: "resultseal: UNSAFE_INPUT: YAML: anchors, aliases and tags of other types are refused\n"}, execute("", "replay", unsafe))

	// One bad fixture does not keep the others from being replayed.
	all := execute("", "replay", unsafe, match, mismatch)
	require.Equal(t, 3, all.code)
	require.Contains(t, all.stdout, "MATCH: zero-hits -> partial/blocked\nMISMATCH: zero-hits -> partial/blocked\n")
	require.Equal(t, "resultseal: in "+unsafe+":\nresultseal: UNSAFE_INPUT: YAML: anchors, aliases and tags of other types are refused\n", all.stderr)

	lines := execute("", "replay", match, mismatch, rejected, "--format", "json", "--redact", "source_ref")
	require.Equal(t, 1, lines.code)
	var rows []map[string]any
	for line := range strings.Lines(lines.stdout) {
		var row map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		rows = append(rows, row)
	}
	require.Len(t, rows, 3)
	require.Equal(t, rows[0], rows[1], "a record does not depend on what is expected")
	require.Equal(t, "[REDACTED]", rows[0]["source_ref"])
	require.Equal(t, "partial", rows[0]["truth_state"])
	require.Equal(t, map[string]any{"decision": "rejected", "fixture": "alias", "reason_codes": []any{"UNSAFE_INPUT"}}, rows[2])

	// The clock is the same for all of them.
	aged := write(t, "aged.yaml", strings.NewReplacer("{mode: not_required}", "{mode: max_age_seconds, max_age_seconds: 1}",
		"body: {hits: []}", `observed_at: "2026-08-21T12:00:00Z", body: {title: x}`, "partial, decision: blocked", "sealed, decision: sealed",
		"MISSING_REQUIRED_FIELD", "SEALED_WITH_REQUIRED_EVIDENCE").Replace(fixtureYAML))
	require.Equal(t, 0, execute("", "replay", aged, "--now", "2026-08-21T12:00:01Z").code)
	require.Equal(t, 1, execute("", "replay", aged, "--now", "2026-08-21T12:00:02Z").code)
	require.Equal(t, result{code: 2, stderr: "resultseal: INVALID_ARGUMENT: the clock must be an ISO 8601 time\n"}, execute("", "replay", aged, "--now", "now"))
}

// TestReplayOwnFixtures replays the project's fixtures as its documentation says.
func TestReplayOwnFixtures(t *testing.T) {
	r := execute("", "replay", "../../fixtures")
	require.Equal(t, 0, r.code, r.stdout+r.stderr)
	require.NotContains(t, r.stdout, "MISMATCH")
	require.Greater(t, strings.Count(r.stdout, "MATCH: "), 100)

	empty := t.TempDir()
	require.Equal(t, result{code: 2, stderr: "resultseal: INVALID_ARGUMENT: " + empty + ": no .yaml, .yml or .json file in this directory\n"}, execute("", "replay", empty))
}

// caret points to a column of the line above.
func caret(column int) string { return "  " + strings.Repeat(" ", column-1) + "^\n" }

func TestValidate(t *testing.T) {
	contract := write(t, "contract.yaml", contractYAML)
	require.Equal(t, result{stdout: contract + ": valid (contract)\n"}, execute("", "validate", contract))
	fixture := write(t, "fixture.yaml", fixtureYAML)
	require.Equal(t, result{stdout: fixture + ": valid (fixture)\n"}, execute("", "validate", fixture))

	for name, tc := range map[string]struct {
		file, text string
		code       int
		want       string // after the file's name
	}{
		"syntax in YAML": {
			"c.yaml", "schema_version: \"1\"\nclaim_type: [found\n", 2,
			":2:1: PARSE_FAILED: YAML: did not find expected ',' or ']'\n  claim_type: [found\n  ^\n",
		},
		"syntax in JSON": {
			"c.json", "{\"schema_version\": \"1\",\n\t\"claim_type\" \"found\"}", 2,
			":2:15: PARSE_FAILED: JSON: expected ':'\n  \t\"claim_type\" \"found\"}\n  \t             ^\n",
		},
		"claim": {
			"c.yaml", strings.Replace(contractYAML, "claim_type: found", "claim_type: there", 1), 2,
			":2:13: CONTRACT_INVALID: claim_type: claim_type must be one of found, not_found, read_complete, effect_observed, task_complete\n  claim_type: there\n              ^\n",
		},
		"nested": {
			"c.yaml", strings.Replace(contractYAML, "max_age_seconds: 60", "max_age_seconds: -1", 1), 2,
			":4:53: CONTRACT_INVALID: freshness.max_age_seconds: max_age_seconds must be between 0 and 31536000\n  freshness: {mode: max_age_seconds, max_age_seconds: -1}\n" + caret(53),
		},
		"element": {
			"c.yaml", strings.Replace(contractYAML, "[customer_id]", "[customer_id, 1]", 1), 2,
			":3:32: CONTRACT_INVALID: required_fields[1]: required_fields must be strings\n  required_fields: [customer_id, 1]\n" + caret(32),
		},
		"missing": {
			"c.yaml", strings.Replace(contractYAML, "claim_type: found\n", "", 1), 2,
			":1:1: CONTRACT_INVALID: contract lacks claim_type\n  schema_version: \"1\"\n  ^\n",
		},
		"unsafe": {
			"c.yaml", "schema_version: !!binary MQ==\n", 3,
			":1:1: UNSAFE_INPUT: YAML: anchors, aliases and tags of other types are refused\n  schema_version: !!binary MQ==\n  ^\n",
		},
		"fixture": {
			"f.yaml", strings.Replace(fixtureYAML, "decision: blocked", "decision: perhaps", 1), 2,
			":12:44: CONTRACT_INVALID: expected.decision: decision must be one of sealed, blocked, rejected\n  expected: {truth_state: partial, decision: perhaps, reason_codes: [MISSING_REQUIRED_FIELD]}\n" +
				caret(44),
		},
		"a fixture's contract": {
			"f.yaml", strings.Replace(fixtureYAML, "target_ref: report:1\n", "target_ref: 1\n", 1), 2,
			":10:15: SCHEMA_INVALID: contract.target_ref: target_ref must be a string\n    target_ref: 1\n" + caret(15),
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, tc.file, tc.text)
			require.Equal(t, result{code: tc.code, stderr: path + tc.want}, execute("", "validate", path))
		})
	}
}

// TestValidateWarns: warnings have a kind, and are no errors.
func TestValidateWarns(t *testing.T) {
	base := strings.Replace(contractYAML, "freshness: {mode: max_age_seconds, max_age_seconds: 60}", "freshness: {mode: not_required}", 1)
	for text, want := range map[string]string{
		strings.Replace(base, "[customer_id]", "[]", 1):                              ":3:18: warning [no-required-fields]: required_fields: a positive claim without required fields is sealed by any answer, an apology too\n",
		strings.Replace(base, "claim_type: found", "claim_type: not_found", 1):       ":2:13: warning [always-blocked]: claim_type: a not_found claim without a not_found_sentinel is always blocked\n",
		strings.Replace(base, "claim_type: found", "claim_type: effect_observed", 1): ":2:13: warning [no-evidence]: claim_type: an effect without effect_evidence_required is sealed on the word of the answer that claims it\n",
		base + "effect_evidence_required: true\n":                                    ":7:27: warning [unused-setting]: effect_evidence_required: evidence matters only to the claims effect_observed and task_complete\n",
		base + "min_source_version: v1\n":                                            ":7:21: warning [unused-setting]: min_source_version: a version matters only to the freshness mode source_version\n",
	} {
		path := write(t, "contract.yaml", text)
		r := execute("", "validate", path)
		require.Equal(t, 0, r.code)
		require.Equal(t, path+": valid (contract)\n", r.stdout)
		require.True(t, strings.HasPrefix(r.stderr, path+want), r.stderr)
	}
}

func TestValidatePolicy(t *testing.T) {
	good := write(t, "policy.yaml", `contracts:
  - name: customer-found
    match: {tools: [search_customer]}
    claim_type: found
    required_fields: [customer_id]
    freshness: {mode: not_required}
    source_ref: crm://customers
    target_ref: "customer:{arguments.id}"
    observation: {source_ref: "crm://{result.origin}", target_ref: "customer:{result.customer_id}"}
`)
	require.Equal(t, result{stdout: good + ": valid (policy)\n"}, execute("", "validate", good))

	bad := write(t, "policy.yaml", "contracts:\n  - name: x\n    claim_type: there\n")
	r := execute("", "validate", bad, good)
	require.Equal(t, 2, r.code)
	require.Contains(t, r.stderr, bad+":3:17: ")
	require.Contains(t, r.stderr, "^")
	require.Equal(t, good+": valid (policy)\n", r.stdout, "the next file is checked all the same")

	broken := write(t, "policy.yaml", "contracts:\n  - name: [x\n")
	r = execute("", "validate", broken)
	require.Equal(t, 2, r.code)
	require.True(t, strings.HasPrefix(r.stderr, broken+":"), r.stderr)
}

// TestNoColor: a verdict is coloured on a terminal only, and not where NO_COLOR is set.
func TestNoColor(t *testing.T) {
	require.False(t, colours(new(bytes.Buffer)))
	f, err := os.Open(os.DevNull) // a character device, as a terminal is
	require.NoError(t, err)
	defer f.Close()
	t.Setenv("NO_COLOR", "")
	require.True(t, colours(f))
	require.Equal(t, "\x1b[32mMATCH\x1b[0m", mark(f, true, "MATCH"))
	require.Equal(t, "\x1b[31mMISMATCH\x1b[0m", mark(f, false, "MISMATCH"))
	t.Setenv("NO_COLOR", "1")
	require.Equal(t, "MATCH", mark(f, true, "MATCH"))
}
