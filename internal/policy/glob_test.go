// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct{ glob, yes, no string }{
		// yes and no are separated by spaces; "" stands for the empty text.
		{`search`, `search`, `"" Search search_ xsearch`},
		{``, `""`, `a`},
		{`*`, `"" a a.b/c:d`, ``},
		{`**`, `"" a`, ``},
		{`crm_*`, `crm_ crm_get crm_a.b`, `crm xcrm_`},
		{`*_crm`, `_crm a_crm`, `crm _crm_`},
		{`*crm*`, `crm xcrm crmx xcrmx`, `cr`},
		{`c*c`, `cc cxc ccc`, `c cx`},
		{`a*b*c`, `abc aXbYc abbc`, `ab ac acb`},
		{`?`, `a é 日`, `"" ab`},
		{`get_?rder`, `get_order get_Order`, `get_rder get_ooorder`},
		{`[abc]x`, `ax bx cx`, `x dx abx`},
		{`[!abc]x`, `dx éx`, `ax x`},
		{`[a-cx-z0]`, `a b c x z 0`, `d w 1 -`},
		{`[a-]`, `a -`, `b`},
		{`[-a]`, `a -`, `b`},
		{`[\]\-\\]`, `] - \`, `a`},
		{`[^a]`, `^ a`, `b`},
		{`[[:alpha:]]`, `[] :] a]`, `b c]x`},
		{`{get,list}_*`, `get_ list_x`, `put_ get`},
		{`{a*,b}c`, `ac axc bc`, `c b`},
		{`{,un}known`, `known unknown`, `ununknown`},
		{`{a,{b,c}d}`, `a bd cd`, `b ad`},
		{`{}x`, `x`, `{}x`},
		{`a,b`, `a,b`, `a b`},
		{`a]`, `a]`, `a`},
		{`\*\?\[\{\\`, `*?[{\`, `a`},
		{`\a`, `a`, `\a`},
		{`mcp:*.v1/+(x)|$^`, `mcp:a.v1/+(x)|$^`, `mcp:av1`},
	} {
		g, err := ParseGlob(c.glob)
		require.NoError(t, err, c.glob)
		require.Equal(t, c.glob, g.String())
		for _, s := range strings.Fields(c.yes) {
			require.True(t, g.Match(strings.Trim(s, `"`)), "%s should match %s", c.glob, s)
		}
		for _, s := range strings.Fields(c.no) {
			require.False(t, g.Match(strings.Trim(s, `"`)), "%s should not match %s", c.glob, s)
		}
	}
	g, err := ParseGlob("a*")
	require.NoError(t, err)
	require.True(t, g.Match("a\n\r\n\x00"), "a star goes over line ends")
	require.True(t, Glob{}.Match(""))
	require.False(t, Glob{}.Match("a"))
}

func TestGlobs(t *testing.T) {
	require.True(t, Globs{}.Match("anything"), "no list matches everything")
	gs := Globs{mustGlob(t, "a"), mustGlob(t, "b*")}
	require.True(t, gs.Match("a"))
	require.True(t, gs.Match("bc"))
	require.False(t, gs.Match("c"))
	literal, ok := gs[0].Literal()
	require.Equal(t, "a", literal)
	require.True(t, ok)
	_, ok = gs[1].Literal()
	require.False(t, ok)
}

func mustGlob(t require.TestingT, text string) Glob {
	g, err := ParseGlob(text)
	require.NoError(t, err)
	return g
}

// A glob matches what a matcher by trial and error does.
func TestGlobAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := drawGlob(t, 2)
		g, err := ParseGlob(text)
		require.NoError(t, err, text)
		for range 20 {
			s := rapid.StringOfN(rapid.SampledFrom([]rune("abcé.")), 0, 7, -1).Draw(t, "text")
			require.Equal(t, naiveMatch(text, s), g.Match(s), "glob %q, text %q", text, s)
		}
	})
}

func drawGlob(t *rapid.T, depth int) string {
	var b strings.Builder
	for range rapid.IntRange(0, 4).Draw(t, "terms") {
		switch term := rapid.SampledFrom([]string{"a", "b", "é", ".", "*", "?", "[ab]", "[!a-b]", `\a`, "{"}).Draw(t, "term"); {
		case term != "{":
			b.WriteString(term)
		case depth > 0:
			b.WriteString("{" + drawGlob(t, depth-1) + "," + drawGlob(t, depth-1) + "}")
		}
	}
	return b.String()
}

// naiveMatch tries every alternative and every length.
func naiveMatch(glob, s string) bool {
	if glob == "" {
		return s == ""
	}
	runes := []rune(s)
	switch glob[0] {
	case '*':
		for i := range len(runes) + 1 {
			if naiveMatch(glob[1:], string(runes[i:])) {
				return true
			}
		}
		return false
	case '{':
		alternatives, rest := splitBraces(glob)
		for _, a := range alternatives {
			if naiveMatch(a+rest, s) {
				return true
			}
		}
		return false
	}
	if len(runes) == 0 {
		return false
	}
	rest := string(runes[1:])
	switch {
	case glob[0] == '?':
		return naiveMatch(glob[1:], rest)
	case strings.HasPrefix(glob, "[ab]"):
		return strings.ContainsRune("ab", runes[0]) && naiveMatch(glob[4:], rest)
	case strings.HasPrefix(glob, "[!a-b]"):
		return !strings.ContainsRune("ab", runes[0]) && naiveMatch(glob[6:], rest)
	case glob[0] == '\\':
		glob = glob[1:]
	}
	g := []rune(glob)
	return g[0] == runes[0] && naiveMatch(string(g[1:]), rest)
}

func splitBraces(glob string) (alternatives []string, rest string) {
	depth, start := 0, 1
	for i := 0; i < len(glob); i++ {
		switch glob[i] {
		case '{':
			depth++
		case ',', '}':
			if depth == 1 {
				alternatives = append(alternatives, glob[start:i])
				start = i + 1
			}
			if glob[i] == '}' {
				if depth--; depth == 0 {
					return alternatives, glob[i+1:]
				}
			}
		}
	}
	panic("not closed: " + glob)
}

// The tables of the manual name every form, each of which does what it says. A
// row that begins with a star, if it is the first, is a list to gofmt and to
// go doc, which rewrite it: so the tables are read as go doc reads them.
func TestManualOfGlobs(t *testing.T) {
	forms := map[string]struct{ matches, others []string }{
		"?":      {[]string{"a", "\u00e9", "/"}, []string{"", "ab"}},
		"*":      {[]string{"", "a", "a.b/c\nd"}, nil},
		"[abc]":  {[]string{"a", "c"}, []string{"", "d", "ab"}},
		"{a,b*}": {[]string{"a", "b", "bc"}, []string{"", "ab", "c"}},
		`\c`:     {[]string{"c"}, []string{"", `\c`}},
		"c":      {[]string{"c"}, []string{"", "C"}},
	}
	for file, doc := range map[string]func(*ast.File) string{
		"doc.go": func(f *ast.File) string { return f.Doc.Text() },
		"glob.go": func(f *ast.File) string {
			for _, decl := range f.Decls {
				if d, ok := decl.(*ast.GenDecl); ok && strings.HasPrefix(d.Doc.Text(), "Glob ") {
					return d.Doc.Text()
				}
			}
			return ""
		},
	} {
		t.Run(file, func(t *testing.T) {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			require.NoError(t, err)
			var table string
			for _, block := range new(comment.Parser).Parse(doc(parsed)).Content {
				if code, ok := block.(*comment.Code); ok && strings.Contains(code.Text, "any run of characters") {
					table = code.Text
				}
			}
			found := map[string]bool{}
			for row := range strings.Lines(table) {
				form := strings.Fields(row)[0]
				require.Contains(t, forms, form)
				found[form] = true
				g, err := ParseGlob(form)
				require.NoError(t, err)
				for _, text := range forms[form].matches {
					require.True(t, g.Match(text), "%s on %q", form, text)
				}
				for _, text := range forms[form].others {
					require.False(t, g.Match(text), "%s on %q", form, text)
				}
			}
			for _, form := range []string{"?", "*", "[abc]", "{a,b*}", `\c`} {
				require.True(t, found[form], form)
			}
		})
	}
}
