// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// scope is a Scope of fixed values.
type scope struct {
	arguments, result    jsonvalue.Value
	attributes, resource map[string]jsonvalue.Value
	texts                map[Root]string
}

func (s *scope) Text(root Root) (string, bool) {
	text, ok := s.texts[root]
	return text, ok
}

func (s *scope) Value(root Root) (jsonvalue.Value, bool) {
	v := s.result
	if root == RootArguments {
		v = s.arguments
	}
	return v, !v.IsNull()
}

func (s *scope) Attribute(root Root, name string) (jsonvalue.Value, bool) {
	m := s.attributes
	if root == RootResource {
		m = s.resource
	}
	v, ok := m[name]
	return v, ok
}

func testScope(t require.TestingT) *scope {
	return &scope{
		arguments: mustJSON(t, `{"id": 12345678901234567890123, "ok": true, "f": 1.0, "e": 1e100, "s": "x", "nil": null, "o": {}, "a": [[1, 2], "z"], "": "empty", "a.b": "dot", "a\"]b": "quoted", "é": "é", "😀": "face", "x-y": "hyphen", "blank": ""}`),
		result:    jsonvalue.String("plain text"),
		attributes: map[string]jsonvalue.Value{
			"gen_ai.tool.name": jsonvalue.String("search"), "n": jsonvalue.Int(-7),
			"map":   mustJSON(t, `{"k.x": {"y": "deep"}, "k": {"x": "shallow"}}`),
			"map.k": mustJSON(t, `{"x": "longest first"}`),
		},
		resource: map[string]jsonvalue.Value{"service.name": jsonvalue.String("svc")},
		texts:    map[Root]string{RootToolName: "search", RootSpanID: "0102", RootTraceID: "0a0b"},
	}
}

func mustJSON(t require.TestingT, text string) jsonvalue.Value {
	v, err := jsonvalue.Parse(text)
	require.NoError(t, err, text)
	return v
}

func TestTemplate(t *testing.T) {
	s := testScope(t)
	const nothing = "\x00"
	for _, c := range []struct{ template, want string }{
		{``, ``},
		{`crm://customers`, `crm://customers`},
		{`{{literal}}`, `{literal}`},
		{`{{{{}}}}`, `{{}}`},
		{`order:{arguments.s}`, `order:x`},
		{`{arguments.s}`, `x`},
		{`{{{arguments.s}}}`, `{x}`},
		{`{arguments.s}{arguments.s}`, `xx`},
		{`a{arguments.s}b{tool.name}c`, `axbsearchc`},
		{`{arguments.id}`, `12345678901234567890123`},
		{`#{arguments.id}`, `#12345678901234567890123`},
		{`{arguments.ok}`, `true`},
		{`v{arguments.ok}`, `vtrue`},
		{`{arguments.f}`, `1.0`},
		{`v{arguments.f}`, `v1.0`},
		{`{arguments.e}`, `1e+100`},
		{`{arguments.blank}`, ``},
		{`<{arguments.blank}>`, `<>`},
		{`{arguments.nil}`, nothing},
		{`x{arguments.nil}`, nothing},
		{`{arguments.o}`, nothing},
		{`x{arguments.o}`, nothing},
		{`{arguments.a}`, nothing},
		{`{arguments}`, nothing},
		{`{arguments.missing}`, nothing},
		{`x{arguments.missing}`, nothing},
		{`{arguments.s.t}`, nothing},
		{`{arguments.s[0]}`, nothing},
		{`{arguments.a[0][1]}`, `2`},
		{`{arguments.a[1]}`, `z`},
		{`{arguments.a[2]}`, nothing},
		{`{arguments[0]}`, nothing},
		{`{arguments.a.b}`, nothing},
		{`{arguments["a.b"]}`, `dot`},
		{`{arguments['a.b']}`, `dot`},
		{`{arguments[""]}`, `empty`},
		{`{arguments["a\"]b"]}`, `quoted`},
		{`{arguments['a"]b']}`, `quoted`},
		{`{arguments["\u00e9"]}`, `é`},
		{`{arguments.é}`, `é`},
		{`{arguments["\ud83d\ude00"]}`, `face`},
		{`{arguments.x-y}`, `hyphen`},
		{`{result}`, `plain text`},
		{`r={result}`, `r=plain text`},
		{`{result.x}`, nothing},
		{`{attributes["gen_ai.tool.name"]}`, `search`},
		{`{attributes.gen_ai.tool.name}`, `search`},
		{`{attributes.gen_ai.tool.name.x}`, nothing},
		{`{attributes.n}`, `-7`},
		{`{attributes.map.k.x}`, `longest first`},
		{`{attributes["map"].k.x}`, `shallow`},
		{`{attributes.map["k.x"].y}`, `deep`},
		{`{attributes.missing}`, nothing},
		{`{resource.service.name}`, `svc`},
		{`{resource["service.name"]}`, `svc`},
		{`{resource["service"].name}`, nothing},
		{`{tool.name}`, `search`},
		{`{span.id}/{trace.id}`, `0102/0a0b`},
		{`{agent.name}`, nothing},
		{`x{agent.name}`, nothing},
	} {
		tpl, err := ParseTemplate(c.template)
		require.NoError(t, err, c.template)
		require.Equal(t, c.template, tpl.String())
		got, ok := tpl.Render(s)
		if !ok {
			got = nothing
		}
		require.Equal(t, c.want, got, c.template)
	}
}

func TestTemplateErrors(t *testing.T) {
	for _, c := range []struct {
		template string
		offset   int
	}{
		{`{`, 1},
		{`}`, 0},
		{`{}`, 1},
		{`{{}`, 2},
		{`{}}`, 1},
		{`a{ arguments.x}`, 2},
		{`{arguments.x }`, 12},
		{`{arguments.}`, 11},
		{`{arguments.1}`, 11},
		{`{arguments.x`, 12},
		{`{arguments[x]}`, 11},
		{`{arguments["x]}`, 11},
		{`{arguments["x"}`, 14},
		{`{arguments[1}`, 12},
		{`{arguments[`, 11},
		{`{arguments[-1]}`, 11},
		{`{arguments[00]}`, 11},
		{`{arguments[99999999999999999999]}`, 11},
		{`{arguments["\ud83d"]}`, 12},
		{`{arguments["\u12"]}`, 12},
		{`{arguments["\x"]}`, 12},
		{`{argument.x}`, 1},
		{`{tool}`, 1},
		{`{tool.nam}`, 1},
		{`{tool.name.x}`, 10},
		{`{tool.name[0]}`, 10},
		{`{attributes}`, 11},
		{`{resource[1]}`, 9},
		{`{result..x}`, 8},
		{`{result$}`, 7},
		{strings.Repeat("x", maxPatternLength+1), maxPatternLength},
	} {
		_, err := ParseTemplate(c.template)
		var bad *syntaxError
		require.ErrorAs(t, err, &bad, c.template)
		require.Equal(t, c.offset, bad.offset, "%s: %s", c.template, bad.message)
		require.NotEmpty(t, bad.message)
	}
}

func TestTemplateRoots(t *testing.T) {
	tpl, err := ParseTemplate("{arguments.a}{span.id}{resource.a}")
	require.NoError(t, err)
	require.Equal(t, rootSet(RootArguments, RootSpanID, RootResource), tpl.Roots())
	_, ok := tpl.Literal()
	require.False(t, ok)
	tpl, err = ParseTemplate("{{a}}")
	require.NoError(t, err)
	literal, ok := tpl.Literal()
	require.True(t, ok)
	require.Equal(t, "{a}", literal)
	require.Zero(t, tpl.Roots())
}

// Any text, its braces doubled, renders itself; any name, quoted, is found.
func TestTemplateRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune(`{}a "'\.[]é`))).Draw(t, "text")
		name := rapid.StringOf(rapid.SampledFrom([]rune("a.]}'\"\\\n\té😀"))).Draw(t, "name")
		escaped := strings.NewReplacer("{", "{{", "}", "}}").Replace(text)
		quoted := jsonvalue.String(name)
		key, err := quoted.AppendCanonical(nil)
		require.NoError(t, err)
		tpl, err := ParseTemplate(escaped + "{result[" + string(key) + "]}" + escaped)
		require.NoError(t, err)
		got, ok := tpl.Render(&scope{result: jsonvalue.Object(jsonvalue.Member{Key: name, Value: jsonvalue.String(text)})})
		require.True(t, ok)
		require.Equal(t, text+text+text, got)
	})
}
