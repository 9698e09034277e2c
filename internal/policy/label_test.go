// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/session"
)

func TestDefaultLabel(t *testing.T) {
	for tool, want := range map[string]string{
		"search":          "search",
		"search-flights2": "search-flights2",
		"ToolUse:search":  "ToolUse:search",
		"crm.search":      "crm_search",
		"mcp/search all":  "mcp_search_all",
		"":                "_",
		":":               "_",
		"::":              "__",
		":a":              "_a",
		"a:":              "a_",
		"a::b":            "a:_b",
		"a:.b":            "a:_b",
		"préparer":        "préparer",
		"e\u0301":         "e_",
		"搜索":              "搜索",
		"a\xffb":          "a_b",
		"!a":              "_a",
		"end":             "end",
		"rec":             "rec",
	} {
		require.Equal(t, want, DefaultLabel(tool), tool)
	}
}

// Whatever a tool is called, the protocol language has its label; and what is a
// label to the language is one here.
func TestLabelsAreTheLanguages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("a:_-.é²ⅷ ̈ !?{},()")))).Draw(t, "name")
		require.True(t, languageHas(DefaultLabel(s)), "%q of %q", DefaultLabel(s), s)
		require.Equal(t, languageHas(s), validLabel(s), "%q", s)
	})
}

// languageHas reports whether a protocol of that one event has it.
func languageHas(label string) bool {
	p, err := session.Parse("!" + label)
	if err != nil {
		return false
	}
	a, _, err := session.Compile(p)
	return err == nil && len(a.Events()) == 1 && a.Events()[0].Label == label
}
