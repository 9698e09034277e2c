// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// samePolicy compares what two policies do; the warnings' places may differ.
var samePolicy = cmp.Options{
	cmp.Comparer(func(a, b *Template) bool { return (a == nil) == (b == nil) && (a == nil || a.text == b.text) }),
	cmp.Comparer(func(a, b *Path) bool { return (a == nil) == (b == nil) && (a == nil || a.text == b.text) }),
	cmp.Comparer(func(a, b Glob) bool { return a.text == b.text }),
	cmp.Comparer(func(a, b *regexp.Regexp) bool { return fmt.Sprint(a) == fmt.Sprint(b) }),
	cmp.Comparer(func(a, b *session.Automaton) bool { return a.Hash() == b.Hash() }),
	cmpopts.IgnoreUnexported(engine.Freshness{}),
	cmp.AllowUnexported(Policy{}, warning{}, Acknowledgement{}),
	cmp.Transformer("message", func(d Diagnostic) string {
		// A folded text has no places of its own in the file, a quoted one has.
		message, _, _ := strings.Cut(insideText.ReplaceAllString(d.Message, ""), "\n")
		return d.Path + ": " + message
	}),
	cmpopts.SortSlices(func(a, b Diagnostic) bool { return a.Path+a.Message < b.Path+b.Message }),
	cmp.Transformer("warnings", func(ws []warning) []string {
		// What aliases repeat in a file is reported once, with every owner.
		var all []string
		for _, w := range ws {
			message, _, _ := strings.Cut(insideText.ReplaceAllString(w.Message, ""), "\n")
			for _, owner := range w.owners {
				all = append(all, fmt.Sprintf("%s %s: %s", owner, w.Kind, message))
			}
		}
		slices.Sort(all)
		return slices.Compact(all)
	}),
}

var insideText = regexp.MustCompile(`^at \d+:\d+ of the text: `)

// requireSameFromMap loads a policy's text again from the map that a YAML
// decoder makes of it, and compares.
func requireSameFromMap(t require.TestingT, p *Policy, text []byte) {
	var m map[string]any
	require.NoError(t, yaml.Unmarshal(text, &m))
	again, err := LoadMap("map", m)
	require.NoError(t, err)
	if diff := cmp.Diff(p, again, samePolicy); diff != "" {
		require.FailNow(t, "the map's policy differs", diff)
	}
}

// policies returns the policy files that must load: this package's and, where
// they are there, the shared recordings'.
func policies(t testing.TB) []string {
	shared := os.Getenv("RESULTSEAL_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	files, err := filepath.Glob("testdata/policies/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	more, err := filepath.Glob(filepath.Join(shared, "traces", "*", "policy.yaml"))
	require.NoError(t, err)
	if len(more) == 0 {
		t.Logf("no recorded policies in %s; RESULTSEAL_SHARED names their folder", shared)
	}
	return append(files, more...)
}

func TestLoadFiles(t *testing.T) {
	for _, file := range policies(t) {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			p, err := Load(file, text)
			require.NoError(t, err)
			require.NotEmpty(t, len(p.Contracts)+len(p.Protocols))
			requireSameFromMap(t, p, text)

			crlf, err := Load(file, []byte("\ufeff"+strings.ReplaceAll(string(text), "\n", "\r\n")))
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(p, crlf, samePolicy))
		})
	}
}

// Every key of the manual's example arrives where it belongs.
func TestLoadEveryKey(t *testing.T) {
	text, err := os.ReadFile("testdata/policies/every-key.yaml")
	require.NoError(t, err)
	p, err := Load("every-key.yaml", text)
	require.NoError(t, err)
	require.Len(t, p.Contracts, 2)
	require.Len(t, p.Protocols, 2)

	version, sentinel := "r7", "no such customer"
	c := p.Contracts[0]
	require.Equal(t, "customer-found", c.Name)
	require.Equal(t, Metadata{
		Severity: SeverityCritical, Description: "Sales promises nothing to customers\nthat the CRM does not have.",
		Owner: "team-crm", Runbook: "https://wiki.example.com/runbooks/customer-found",
	}, c.Metadata)
	require.Equal(t, []string{"search_customer", "crm_*"}, texts(c.Match.Tools))
	require.Equal(t, []string{"support-*"}, texts(c.Match.Agents))
	require.Equal(t, []string{"crm-agent"}, texts(c.Match.Services))
	require.True(t, c.Match.Matches("crm_get", "support-1", "crm-agent"))
	require.False(t, c.Match.Matches("crm_get", "support-1", ""))
	require.False(t, c.Match.Matches("crm_get", "", "crm-agent"))
	require.False(t, c.Match.Matches("get", "support-1", "crm-agent"))
	require.Empty(t, cmp.Diff(engine.Contract{
		SchemaVersion: "1", ClaimType: engine.ClaimEffectObserved, RequiredFields: []string{"customer_id", "name"},
		Freshness:        engine.Freshness{Mode: engine.FreshnessMaxAge, MaxAgeSeconds: 60},
		MinSourceVersion: &version, SourceRef: "crm://customers", TargetRef: "customer:{arguments.id}",
		NotFoundSentinel: &sentinel, EffectEvidenceRequired: true,
	}, c.Base, cmpopts.IgnoreUnexported(engine.Freshness{})))
	require.NoError(t, c.Base.Validate())
	require.Equal(t, "crm://customers", c.SourceRef.String())
	require.Equal(t, "customer:{arguments.id}", c.TargetRef.String())
	require.True(t, c.NeedsArguments)
	o := c.Observation
	require.Equal(t, KindHTTPJSON, o.Kind)
	require.Equal(t, "$.data.customer", o.Payload.String())
	require.Equal(t, "crm://{result.origin}", o.SourceRef.String())
	require.Equal(t, "customer:{result.customer_id}", o.TargetRef.String())
	require.Equal(t, "{result.revision}", o.SourceVersion.String())
	require.Equal(t, "{result.as_of}", o.ObservedAt.String())
	require.Equal(t, 2500*time.Millisecond, o.ClockSkew)
	require.Len(t, o.EvidenceRefs, 2)

	// Whatever is left out has its default.
	d := p.Contracts[1]
	require.Equal(t, 1, d.Index)
	require.Equal(t, Observation{}, d.Observation)
	require.Equal(t, Metadata{}, d.Metadata)
	require.Equal(t, "warning", d.Severity.String())
	require.Equal(t, KindAuto, d.Observation.Kind)
	require.True(t, d.Match.Matches("", "", ""))
	require.False(t, d.NeedsArguments)
	require.Nil(t, d.Base.MinSourceVersion)
	require.Nil(t, d.Base.NotFoundSentinel)

	b := p.Protocols[0]
	require.Equal(t, "booking", b.Name)
	require.Equal(t, Metadata{Severity: SeverityInfo, Description: "d", Owner: "o", Runbook: "http://localhost:8080"}, b.Metadata)
	require.True(t, b.Match.Matches("", "booking-agent", "any"))
	require.False(t, b.Match.Matches("", "other", "any"))
	require.Equal(t, SessionConversation, b.Session)
	require.Equal(t, Serialize, b.ParallelCalls)
	require.Equal(t, UnmatchedViolation, b.Unmatched)
	require.Equal(t, AfterEndViolation, b.AfterEnd)
	require.True(t, b.RequireCompletion)
	require.True(t, b.AssumeComplete)
	require.Equal(t, "!Search.?Results.!Present.?Approval.!Book.?Confirmation.!Note.end", b.Source)
	require.Len(t, b.Events, 8)

	call := b.Events[0]
	require.Equal(t, ToolCall, call.Event)
	require.Equal(t, session.Send, call.Direction)
	require.Equal(t, b.Automaton.Symbol(session.Send, "Search"), call.Symbol)
	require.NotEqual(t, session.NoSymbol, call.Symbol)
	require.True(t, call.Tools.Match("search_flights"))
	require.Equal(t, []string{"a", "b"}, append(texts(call.Agents), texts(call.Services)...))
	require.Len(t, call.Arguments, 2)
	require.Equal(t, "$.cabin", call.Arguments[0].Path.String(), "conditions are ordered by path")
	result := b.Events[1]
	require.Equal(t, session.Receive, result.Direction)
	require.Equal(t, engine.Sealed, result.Decision)
	require.Equal(t, engine.StateSealed, result.TruthState)
	require.Equal(t, "customer-found", result.Contract)
	require.Len(t, result.Result, 1)
	user := b.Events[2]
	require.Equal(t, UserMessage, user.Event)
	require.Equal(t, session.Receive, user.Direction)
	require.Equal(t, TurnLater, user.Turn)
	require.True(t, user.Text.MatchString("Yes please"))
	agent := b.Events[4]
	require.Equal(t, session.Send, agent.Direction)
	require.Equal(t, ToolCallsAny, agent.ToolCalls)
	span := b.Events[5]
	require.Equal(t, SpanEvent, span.Event)
	require.True(t, span.AtEnd)
	require.True(t, span.SpanName.Match("db.write"))
	require.False(t, span.SpanName.Match("db.read"))
	require.Equal(t, "db.system", span.Attributes[0].Name)
	require.Equal(t, session.Receive, b.Events[6].Direction, "the rule says so")
	require.Equal(t, session.NoSymbol, b.Events[7].Symbol, "a template has no symbol yet")

	drawn := p.Protocols[1]
	require.Equal(t, Protocol{
		Name: "drawn", Index: 1, Hash: drawn.Hash, Automaton: drawn.Automaton,
	}, *drawn)
	require.Equal(t, []string{"!write", "?read"}, eventNamesOf(drawn.Automaton))

	require.Len(t, p.Acknowledgements, 3)
	top, onContract, onProtocol := p.Acknowledgements[0], p.Acknowledgements[1], p.Acknowledgements[2]
	require.Equal(t, WarnUnjudgedTool, top.Kind)
	require.Equal(t, []string{"think", "plan_*"}, texts(top.Tools))
	require.Zero(t, top.Expires)
	require.Equal(t, "the tool is new", onContract.Reason)
	require.Equal(t, time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC), onContract.Expires)
	require.Equal(t, "protocols[0]", onProtocol.owner)
}

func texts(gs Globs) []string {
	var ts []string
	for _, g := range gs {
		ts = append(ts, g.String())
	}
	return ts
}

func eventNamesOf(a *session.Automaton) []string {
	var names []string
	for _, e := range a.Events() {
		names = append(names, e.String())
	}
	return names
}

// A policy that comes as a map has no places to tell, but a path and an excerpt.
func TestLoadMapDiagnostics(t *testing.T) {
	_, err := LoadMap("policy", map[string]any{
		"contracts": []any{map[string]any{"name": "a", "clam_type": "found"}},
	})
	require.EqualError(t, err, `policy: contracts[0].clam_type: unknown key "clam_type"; did you mean "claim_type"?
    - clam_type: found
      ^
policy: contracts[0]: claim_type, required_fields, freshness, source_ref and target_ref are missing
    - clam_type: found
      ^`)
	for _, d := range err.(Diagnostics) {
		require.Zero(t, d.Line)
		require.Zero(t, d.Column)
	}

	p, err := LoadMap("policy", map[string]any{"protocols": []any{map[string]any{"name": "a", "protocol": "rec X.!a.X"}}})
	require.NoError(t, err)
	require.Len(t, p.Review(reviewed).Warnings, 1)
	require.Zero(t, p.Review(reviewed).Warnings[0].Line)

	p, err = LoadMap("policy", nil)
	require.NoError(t, err)
	require.Len(t, p.Review(reviewed).Warnings, 1)
}

func TestLoadMapTypes(t *testing.T) {
	cyclic := map[string]any{}
	cyclic["contracts"] = []any{cyclic}
	for name, m := range map[string]map[string]any{
		"function":       {"contracts": func() {}},
		"channel":        {"contracts": []any{make(chan int)}},
		"struct":         {"protocols": struct{ Name string }{"a"}},
		"key":            {"protocols": []any{map[any]any{1: "a"}}},
		"endless":        cyclic,
		"invalid string": {"protocols": "\xff"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := LoadMap("policy", m)
			var ds Diagnostics
			require.ErrorAs(t, err, &ds)
			require.NotEmpty(t, ds)
		})
	}

	base := map[string]any{
		"name": "a", "claim_type": "found", "required_fields": []string{"x"},
		"freshness":  map[any]any{"mode": "max_age_seconds", "max_age_seconds": uint64(5)},
		"source_ref": "s", "target_ref": "t",
	}
	p, err := LoadMap("policy", map[string]any{"contracts": []any{base}})
	require.NoError(t, err)
	require.EqualValues(t, 5, p.Contracts[0].Base.Freshness.MaxAgeSeconds)
}

// The texts of a policy come back from a map as they are, whatever is in them.
func TestLoadMapKeepsTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[^\x00-\x1f\x7f]{0,10}[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]{0,10}`).Draw(t, "name")
		field := rapid.OneOf(
			rapid.StringN(1, 20, -1),
			rapid.SampledFrom([]string{"yes", "1", "1.0", "null", "~", "<<", "=", "a: b", "- a", "# a", "a #b", "\n a", "a\n", "\u2028", "\ufeff", "2026-01-01", "'", `"`, "\\", "*a", "&a", "!a", "%a", "@a", "`a", "|", ">", "? a"}),
		).Draw(t, "field")
		p, err := LoadMap("policy", map[string]any{"contracts": []any{map[string]any{
			"name": name, "claim_type": "found", "required_fields": []any{field, "x"},
			"freshness": map[string]any{"mode": "not_required"}, "source_ref": "s", "target_ref": "t",
		}}})
		require.NoError(t, err)
		require.Equal(t, name, p.Contracts[0].Name)
		require.Equal(t, []string{field, "x"}, p.Contracts[0].Base.RequiredFields)
	})
}

// What the loader reads from generated policies is the same from text and map.
func TestLoadMapEqualsLoad(t *testing.T) {
	loaded := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawPolicy(t)
		text, err := yaml.Marshal(m)
		require.NoError(t, err)
		p, err := Load("policy", text)
		fromMap, mapErr := LoadMap("policy", m)
		if err != nil {
			require.Error(t, mapErr)
			require.Empty(t, cmp.Diff(err, mapErr, samePolicy))
			return
		}
		loaded++
		require.NoError(t, mapErr)
		require.Empty(t, cmp.Diff(p, fromMap, samePolicy))
	})
	require.NotZero(t, loaded, "no generated policy was right")
}

// drawPolicy draws a policy whose values are of the right kind mostly.
func drawPolicy(t *rapid.T) map[string]any {
	maybe := func(m map[string]any, key string, values ...any) {
		if rapid.Bool().Draw(t, key+"?") {
			m[key] = rapid.SampledFrom(values).Draw(t, key)
		}
	}
	m := map[string]any{}
	var contracts, protocols []any
	for i := range rapid.IntRange(0, 3).Draw(t, "contracts") {
		c := map[string]any{
			"name":            fmt.Sprintf("c%d", i),
			"claim_type":      rapid.SampledFrom(claimNames).Draw(t, "claim"),
			"required_fields": []any{"id"},
			"freshness":       map[string]any{"mode": "not_required"},
			"source_ref":      rapid.SampledFrom([]string{"crm://a", "{resource.a}", "{{}}"}).Draw(t, "source"),
			"target_ref":      "order:{arguments.id}",
		}
		maybe(c, "match", map[string]any{"tools": []any{"a", "b*"}}, map[string]any{"agents": []any{"[ab]*"}, "services": []any{""}})
		maybe(c, "min_source_version", nil, "r1", "7", 7)
		maybe(c, "not_found_sentinel", nil, "none", "")
		maybe(c, "effect_evidence_required", true, false)
		maybe(c, "schema_version", "1")
		o := map[string]any{}
		maybe(o, "kind", "auto", "json", "text", "mcp")
		maybe(o, "payload", "$", "$.a[0]", "$..x", nil, "$[?@.a == 1]")
		maybe(o, "target_ref", "{result.a}", nil, "{result[\"a b\"][0].c}")
		maybe(o, "clock_skew", "2s", "0s", "-1s")
		maybe(o, "evidence_refs", []any{"{result.id}", "x"}, []any{})
		maybe(c, "observation", o)
		contracts = append(contracts, c)
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "protocols") {
		p := map[string]any{"name": fmt.Sprintf("p%d", i)}
		if rapid.Bool().Draw(t, "drawn") {
			p["states"] = map[string]any{"initial": "s", "terminal": []any{"t"}, "transitions": []any{
				map[string]any{"from": "s", "event": "!a", "to": "t", "when": "x == 1", "bind": "y as r"},
			}}
		} else {
			p["protocol"] = rapid.SampledFrom([]string{"!a.?b", "rec X.!{a.X,b}", "!a(x as r).!b(x == r)", "!a.!"}).Draw(t, "protocol")
		}
		maybe(p, "session", "trace", "conversation")
		maybe(p, "parallel_calls", "interleave", "serialize")
		maybe(p, "unmatched", "ignore", "unrecognized", "violation")
		maybe(p, "after_end", "ignore", "violation")
		maybe(p, "require_completion", true, false)
		maybe(p, "assume_complete", true, false)
		var events []any
		for range rapid.IntRange(0, 3).Draw(t, "events") {
			e := map[string]any{
				"label": rapid.SampledFrom([]string{"a", "b", "x:{tool.name}", "Unrecognized"}).Draw(t, "label"),
				"event": rapid.SampledFrom(eventNames[:2]).Draw(t, "event"),
			}
			maybe(e, "direction", "send", "receive")
			maybe(e, "tools", []any{"a"}, []any{"a*", "{b,c}"})
			maybe(e, "arguments", map[string]any{"$.b": "x*", "a": "y", "a.b[0]": "z"})
			events = append(events, e)
		}
		maybe(p, "events", events)
		protocols = append(protocols, p)
	}
	m["contracts"], m["protocols"] = contracts, protocols
	maybe(m, "schema_version", 1, 1, 1, 2)
	return m
}

// A repetition of repetitions is refused in time and space that the file's size
// accounts for.
func TestAliasBomb(t *testing.T) {
	var b strings.Builder
	b.WriteString("contracts:\n  - &c0 {name: a, match: {tools: [&t '" + strings.Repeat("?x", 2000) + "']}}\n")
	for range 40 {
		b.WriteString("  - {name: a, match: {tools: [" + strings.Repeat("*t, ", 2000) + "]}}\n")
	}
	_, err := Load("bomb.yaml", []byte(b.String()))
	require.ErrorContains(t, err, "aliases repeat too much of the policy")

	b.Reset()
	b.WriteString("contracts:\n  - &m0 {claim_type: found, source_ref: s}\n")
	for i := range 30 {
		fmt.Fprintf(&b, "  - &m%d {<<: [*m%d, *m%d], name: n%d}\n", i+1, i, i, i)
	}
	_, err = Load("bomb.yaml", []byte(b.String()))
	require.Error(t, err)
}

// The manual's own examples load, without a warning.
func TestManualExamples(t *testing.T) {
	manual, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	var loaded []*Policy
	for _, example := range strings.Split(string(manual), "\n\tcontracts:\n")[1:] {
		example, _, ok := strings.Cut("\tcontracts:\n"+example, "\n\n")
		require.True(t, ok)
		p, err := Load("doc.go", []byte(strings.ReplaceAll("\n"+example, "\n\t", "\n")))
		require.NoError(t, err)
		require.Empty(t, p.Review(reviewed).Warnings)
		loaded = append(loaded, p)
	}
	require.Len(t, loaded, 2)
	require.Len(t, loaded[0].Contracts, 1)
	require.Len(t, loaded[0].Protocols, 1)
	require.Len(t, loaded[0].Protocols[0].Events, 7)
	require.Equal(t, 1, loaded[1].Review(reviewed).Acknowledged)
}

// Every key that the loader knows stands in the manual.
func TestManualNamesEveryKey(t *testing.T) {
	manual, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, err = Load("x", []byte("protocols: [{name: a, protocol: '!a', events: [{zzzzzzzzzzzz: 1}], zzzzzzzzzzzz: 1}, {states: {zzzzzzzzzzzz: 1, transitions: [{zzzzzzzzzzzz: 1}]}}]\n"+
		"contracts: [{zzzzzzzzzzzz: 1, freshness: {mode: x, zzzzzzzzzzzz: 1}, match: {zzzzzzzzzzzz: 1}, observation: {zzzzzzzzzzzz: 1, kind: zzzzzzzzzzzz}, severity: x, acknowledge: [{zzzzzzzzzzzz: 1}]}]\n"))
	require.Error(t, err)
	lists := regexp.MustCompile(`expected (.*) or (.*)`).FindAllStringSubmatch(err.Error(), -1)
	require.GreaterOrEqual(t, len(lists), 11)
	for _, list := range lists {
		for _, key := range append(strings.Split(list[1], ", "), list[2]) {
			require.Regexp(t, `(?m)^\t *(.*[ ,])?`+regexp.QuoteMeta(key)+`\b`, string(manual))
		}
	}
}
