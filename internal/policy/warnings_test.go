// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// The table of kinds has every constant once, and sentences about it.
func TestWarningKinds(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "warnings.go", nil, 0)
	require.NoError(t, err)
	declared := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && len(spec.Values) == 1 && strings.HasPrefix(spec.Names[0].Name, "Warn") {
			kind, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			declared[kind] = spec.Names[0].Name
		}
		return true
	})
	for i, k := range WarningKinds() {
		require.NotEmpty(t, declared[string(k.Kind)], "%s is no constant", k.Kind)
		delete(declared, string(k.Kind))
		require.Regexp(t, `^[a-z]+(-[a-z]+)*$`, k.Kind)
		require.NotEmpty(t, k.Places)
		require.Regexp(t, `^[A-Z`+"`"+`].*\.$`, k.Meaning)
		require.Regexp(t, `^[A-Z].*\.$`, k.Fix)
		_, rank, ok := infoOf(k.Kind)
		require.True(t, ok)
		require.Equal(t, i, rank, "%s is listed twice", k.Kind)
	}
	require.Empty(t, declared, "constants without a row in the table")
}

// Every warning of the protocol language has a kind.
func TestProtocolLanguageKinds(t *testing.T) {
	source, err := os.ReadFile("../session/errors.go")
	require.NoError(t, err)
	codes := 0
	for _, line := range strings.Split(string(source), "\n") {
		if _, value, ok := strings.Cut(line, " WarningCode = "); ok {
			code, err := strconv.Unquote(value)
			require.NoError(t, err)
			require.NotEmpty(t, ofProtocolLanguage[session.WarningCode(code)], code)
			codes++
		}
	}
	require.Len(t, ofProtocolLanguage, codes)
}

// docs/warnings.md lists the kinds as the code has them; -update writes the
// table.
func TestWarningsDocument(t *testing.T) {
	const file = "../../docs/warnings.md"
	const begin, end = "<!-- kinds -->\n", "<!-- end of kinds -->\n"
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)
	_, after, ok := strings.Cut(rest, end)
	require.True(t, ok)
	var table strings.Builder
	table.WriteString("| kind | belongs to | found by | meaning | what to do |\n|---|---|---|---|---|\n")
	for _, k := range WarningKinds() {
		var places []string
		for _, p := range k.Places {
			places = append(places, string(p))
		}
		by := "loading"
		if k.Traces {
			by = "traces"
		}
		fmt.Fprintf(&table, "| <a id=\"%s\"></a>`%[1]s` | %s | %s | %s | %s |\n", k.Kind, strings.Join(places, ", "), by, k.Meaning, k.Fix)
	}
	want := before + begin + table.String() + end + after
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	require.Equal(t, want, string(text), "go test ./internal/policy -run TestWarningsDocument -update")
}

// A day is over at midnight in UTC.
func TestAcknowledgementExpires(t *testing.T) {
	p, err := Load("policy.yaml", []byte(`
protocols:
  - name: p
    protocol: "!a"
    events: [{label: a, event: tool_call}, {label: b, event: tool_call}]
    acknowledge:
      - {kind: unknown-label, reason: r, expires: 2027-01-31}
      - {kind: unreachable-rule, reason: r}
`))
	require.NoError(t, err)
	zone := time.FixedZone("", 5*60*60)
	for _, tt := range []struct {
		now     time.Time
		expired bool
	}{
		{time.Time{}, false},
		{time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC), false},
		{time.Date(2027, 1, 31, 23, 59, 59, 999999999, time.UTC), false},
		{time.Date(2027, 2, 1, 4, 59, 59, 0, zone), false},
		{time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC), true},
		{time.Date(2027, 2, 1, 5, 0, 0, 0, zone), true},
	} {
		r := p.Review(tt.now)
		if !tt.expired {
			require.Equal(t, Review{Acknowledged: 2}, r, tt.now)
			continue
		}
		require.Equal(t, 1, r.Acknowledged)
		require.Len(t, r.Warnings, 1)
		require.Equal(t, WarnUnknownLabel, r.Warnings[0].Kind)
		require.Contains(t, r.Warnings[0].Message, "; its acknowledgement expired after 2027-01-31")
	}
}

// Warnings that traces show are acknowledged like others, by tool where there is
// one, and an acknowledgement of what they do not show is reported.
func TestReviewAgainst(t *testing.T) {
	p, err := Load("policy.yaml", []byte(`contracts:
  - name: c
    claim_type: found
    required_fields: [x]
    freshness: {mode: not_required}
    source_ref: s
    target_ref: t
    observation: {source_ref: "{result.s}", target_ref: "{result.id}"}
    acknowledge: [{kind: unmatched-contract, reason: r}, {kind: empty-payload, reason: r}]
acknowledge:
  - {kind: unjudged-tool, reason: r, tools: [think]}
  - {kind: uncontracted-tool, reason: r, tools: [other]}
`))
	require.NoError(t, err)
	tool := func(kind WarningKind, name string) Diagnostic {
		return Diagnostic{Level: LevelWarning, Kind: kind, Message: "about " + name, Tool: name, Repeat: name}
	}
	found := []Diagnostic{
		{Level: LevelWarning, Kind: WarnUnmatchedContract, Path: "contracts[0].match.tools", Message: "m"},
		{Level: LevelWarning, Kind: WarnUnmatchedContract, Path: "contracts[1].match.tools", Message: "m"},
		tool(WarnUncontractedTool, "refund"), tool(WarnUncontractedTool, "send"),
		tool(WarnUnjudgedTool, "plan"), tool(WarnUnjudgedTool, "think"),
	}
	kinds := func(r Review) (all []string) {
		for _, g := range r.Groups() {
			all = append(all, fmt.Sprintf("%s %s%s +%d", g.First.Kind, g.First.Path, g.First.Tool, len(g.More)))
		}
		return all
	}
	r := p.ReviewAgainst(reviewed, found)
	require.Equal(t, 2, r.Acknowledged)
	require.Equal(t, []string{
		"unmatched-contract contracts[1].match.tools +0",
		"unjudged-tool plan +0",
		"uncontracted-tool refund +1",
		"unused-acknowledgement contracts[0].acknowledge[1].kind +0",
		"unused-acknowledgement acknowledge[1].kind +0",
	}, kinds(r))

	// Traces without a session show nothing, and without traces nothing is known.
	r = p.ReviewAgainst(reviewed, []Diagnostic{{Level: LevelWarning, Kind: WarnNoSession, Message: "m"}})
	require.Equal(t, []string{"no-session  +0"}, kinds(r))
	require.Zero(t, p.Review(reviewed))
}

// Repeated warnings are folded by kind and message, and listed up to a bound.
func TestGroups(t *testing.T) {
	at := func(line int, kind WarningKind, message string) Diagnostic {
		return Diagnostic{Level: LevelWarning, Kind: kind, File: "p", Line: line, Column: 1, Path: fmt.Sprintf("contracts[%d]", line), Message: message}
	}
	tool := func(name string) Diagnostic {
		return Diagnostic{Level: LevelWarning, Kind: WarnUnjudgedTool, File: "p", Message: "nothing is for " + name, Tool: name, Repeat: name + " (1 call)"}
	}
	many := func(n int) (ds []Diagnostic) {
		for i := range n {
			ds = append(ds, at(i+1, WarnUncheckedSource, "m"))
		}
		return ds
	}
	mapped := many(3)
	for i := range mapped {
		mapped[i].Line = 0
	}
	for _, tt := range []struct {
		name string
		in   []Diagnostic
		want string
	}{
		{"none", nil, ""},
		{"one", many(1), "p:1:1: warning [unchecked-source]: contracts[1]: m"},
		{"two", many(2), "p:1:1: warning [unchecked-source]: contracts[1]: m\n  and 1 more: line 2"},
		{"three", many(3), "p:1:1: warning [unchecked-source]: contracts[1]: m\n  and 2 more: lines 2, 3"},
		{"too many to list", many(23), "p:1:1: warning [unchecked-source]: contracts[1]: m\n  and 22 more: lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, …"},
		{"without lines", mapped, "p: warning [unchecked-source]: contracts[1]: m\n  and 2 more: contracts[2], contracts[3]"},
		{
			"other messages and kinds",
			[]Diagnostic{at(1, WarnUncheckedSource, "m"), at(2, WarnUncheckedSource, "n"), at(3, WarnUncheckedTarget, "m"), at(4, WarnUncheckedSource, "m")},
			"p:1:1: warning [unchecked-source]: contracts[1]: m\n  and 1 more: line 4\np:2:1: warning [unchecked-source]: contracts[2]: n\np:3:1: warning [unchecked-target]: contracts[3]: m",
		},
		{"tools", []Diagnostic{tool("a"), tool("b"), tool("c")}, "p: warning [unjudged-tool]: nothing is for a\n  and 2 more: b (1 call), c (1 call)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var lines []string
			r := Review{Warnings: tt.in}
			for _, g := range r.Groups() {
				lines = append(lines, g.String())
			}
			require.Equal(t, tt.want, strings.Join(lines, "\n"))
		})
	}
}

// Warnings come by kind, the most serious first, then by place.
func TestReviewOrder(t *testing.T) {
	p, err := Load("policy.yaml", []byte(`contracts:
  - {name: a, claim_type: found, required_fields: [], freshness: {mode: not_required}, min_source_version: "1", source_ref: s, target_ref: t}
  - {name: b, claim_type: not_found, required_fields: [], freshness: {mode: not_required}, source_ref: s, target_ref: t}
`))
	require.NoError(t, err)
	warnings := p.Review(reviewed).Warnings
	require.Len(t, warnings, 7)
	require.Equal(t, WarnAlwaysBlocked, warnings[0].Kind)
	require.True(t, slices.IsSortedFunc(warnings, func(a, b Diagnostic) int {
		_, i, _ := infoOf(a.Kind)
		_, j, _ := infoOf(b.Kind)
		if i != j {
			return i - j
		}
		return a.Line - b.Line
	}))
}
