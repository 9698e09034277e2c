// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const fixturesDir = "../../fixtures"

func ownFixtures(t *testing.T) map[string]*Fixture {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(fixturesDir, "*", "*"))
	require.NoError(t, err)
	fixtures := make(map[string]*Fixture, len(names))
	for _, name := range names {
		f, ok := readFixture(t, name)
		require.True(t, ok, "%s is no fixture", name)
		fixtures[name] = f
	}
	require.NotEmpty(t, fixtures)
	return fixtures
}

// TestFixtures replays the project's own fixtures.
func TestFixtures(t *testing.T) {
	for name, f := range ownFixtures(t) {
		if difference := replayDifference(f); difference != "" {
			t.Errorf("%s:\n%s", name, difference)
		}
		require.Equal(t, f.Name+".yaml", filepath.Base(name))
	}
}

// TestFixtureCatalogue: the catalogue lists every fixture with its claim, what it
// comes to and the reason that its file starts with, and lists nothing else.
func TestFixtureCatalogue(t *testing.T) {
	rows := map[string]string{}
	for line := range strings.SplitSeq(string(readFile(t, filepath.Join(fixturesDir, "README.md"))), "\n") {
		if m := regexp.MustCompile(`^\| \[[^]]+\]\(([^)]+)\)`).FindStringSubmatch(line); m != nil {
			require.NotContains(t, rows, m[1])
			rows[m[1]] = line
		}
	}
	for name, f := range ownFixtures(t) {
		path, err := filepath.Rel(fixturesDir, name)
		require.NoError(t, err)
		var why []string
		for line := range strings.SplitSeq(string(readFile(t, name)), "\n") {
			comment, ok := strings.CutPrefix(line, "# ")
			if !ok {
				break
			}
			why = append(why, comment)
		}
		outcome := string(Rejected)
		if f.Expected.Decision != Rejected {
			outcome = fmt.Sprintf("%s, %s", f.Expected.TruthState, f.Expected.Decision)
		}
		if f.Expected.Decision != Sealed {
			outcome += " `" + strings.Join(f.Expected.ReasonCodes, "`, `") + "`"
		}
		want := fmt.Sprintf("| [%s](%s) | %s | %s | %s |", f.Name, path, f.ClaimType, outcome, strings.Join(why, " "))
		require.Equal(t, want, rows[path])
		delete(rows, path)
	}
	require.Empty(t, rows, "the catalogue lists what is not there")
}

// TestFixturesCoverTheRules: there is a fixture for every rule, reason, claim and
// kind of input, and for every refusal that an input can meet.
func TestFixturesCoverTheRules(t *testing.T) {
	seen := map[string]bool{}
	for name, f := range ownFixtures(t) {
		if rule := regexp.MustCompile(`rule-\d\d`).FindString(name); rule != "" {
			seen[rule] = true
		}
		for _, r := range f.Expected.ReasonCodes {
			seen[r] = true
		}
		seen[string(f.Expected.TruthState)] = true
		seen[string(f.ClaimType)+" "+string(f.Expected.Decision)] = true
		kind, _ := f.Input.Get("kind")
		seen["kind "+kind.Text()] = true
	}
	var want []string
	for rule := 1; rule <= 10; rule++ {
		want = append(want, fmt.Sprintf("rule-%02d", rule))
	}
	for _, r := range []ReasonCode{
		ReasonSealed, ReasonNoDispatch, ReasonTransportFailed, ReasonParseFailed, ReasonProtocolConflict,
		ReasonEmptyWithoutSentinel, ReasonSourceMismatch, ReasonTargetMismatch, ReasonMissingRequiredField,
		ReasonStaleObservation, ReasonSchemaInvalid, ReasonUnverifiedEffect,
	} {
		want = append(want, string(r))
	}
	for _, c := range []ErrorCode{CodeSchemaInvalid, CodeParseFailed, CodeContractInvalid, CodeUnsafeInput, CodeLimitExceeded} {
		want = append(want, string(c))
	}
	for _, s := range []TruthState{
		StateObserved, StateEmpty, StateNotFound, StatePartial, StateStale, StateSourceMismatch,
		StateUnverifiedEffect, StateParseError, StateUnknown, StateSealed,
	} {
		want = append(want, string(s))
	}
	for _, c := range []ClaimType{ClaimFound, ClaimNotFound, ClaimReadComplete, ClaimEffectObserved, ClaimTaskComplete} {
		want = append(want, string(c)+" sealed", string(c)+" blocked")
	}
	for _, k := range []InputKind{KindJSON, KindHTTPJSON, KindMCP, KindStdio, KindYAML, KindClaimOnly} {
		want = append(want, "kind "+k.String())
	}
	for _, w := range want {
		require.True(t, seen[w], "no fixture shows %s", w)
	}
}

// TestOutcomeMeets: only what is expected counts, and reasons are a subset.
func TestOutcomeMeets(t *testing.T) {
	outcome := func(d Decision, s TruthState, reasons ...string) Outcome { return Outcome{d, s, reasons} }
	both := outcome(Blocked, StateSourceMismatch, "SOURCE_MISMATCH", "TARGET_MISMATCH")
	limit := outcome(Rejected, "", "LIMIT_EXCEEDED")
	syntax := outcome(Rejected, "", "PARSE_FAILED")
	for _, tc := range []struct {
		actual, expected Outcome
		want             bool
	}{
		{both, both, true},
		{both, outcome(Blocked, ""), true},
		{both, outcome(Blocked, StateSourceMismatch, "TARGET_MISMATCH"), true},
		{both, outcome(Blocked, StateSourceMismatch, "TARGET_MISMATCH", "SOURCE_MISMATCH"), true},
		{both, outcome(Blocked, StateSourceMismatch, "STALE_OBSERVATION"), false},
		{both, outcome(Blocked, StateStale), false},
		{both, outcome(Sealed, ""), false},
		{both, outcome(Rejected, ""), false},
		{limit, limit, true},
		{limit, outcome(Rejected, "", "UNSAFE_INPUT"), true},
		{limit, outcome(Rejected, "", "SCHEMA_INVALID"), false},
		{syntax, outcome(Rejected, "", "SCHEMA_INVALID"), true},
		{syntax, outcome(Rejected, "", "CONTRACT_INVALID"), false},
		{syntax, outcome(Rejected, StateUnknown), false},
		{syntax, outcome(Blocked, ""), false},
		{outcome(Blocked, StateUnknown, "PARSE_FAILED"), outcome(Blocked, "", "SCHEMA_INVALID"), false},
	} {
		require.Equal(t, tc.want, tc.actual.Meets(tc.expected), "%v as %v", tc.actual, tc.expected)
	}
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return data
}
