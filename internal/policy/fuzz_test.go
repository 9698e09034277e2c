// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// FuzzLoad: every diagnostic has a place in the file, an error comes without a
// policy, and what loads loads the same from a map.
func FuzzLoad(f *testing.F) {
	for _, file := range policies(f) {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(text))
	}
	scripts, err := filepath.Glob("testdata/diagnostics/*.txt")
	require.NoError(f, err)
	for _, file := range scripts {
		script, err := os.ReadFile(file)
		require.NoError(f, err)
		for _, part := range strings.Split(string(script), "\n=== ")[1:] {
			_, text, _ := strings.Cut(part, "\n")
			text, _, _ = strings.Cut("\n"+text, "\n>>>")
			f.Add(strings.TrimPrefix(text, "\n") + "\n")
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Load("f.yaml", []byte(text))
		lines := splitLines(strings.TrimPrefix(text, "\ufeff"))
		check := func(d Diagnostic, level Level) {
			if d.File != "f.yaml" || d.Message == "" || d.Level != level || (d.Kind == "") != (level == LevelError) {
				t.Fatalf("an odd diagnostic: %#v", d)
			}
			if d.Line < 1 || d.Line > len(lines) || d.Column < 1 || d.Column > utf8.RuneCountInString(lines[d.Line-1])+1 {
				t.Fatalf("%d:%d is outside of the file: %s", d.Line, d.Column, d)
			}
		}
		if err != nil {
			var ds Diagnostics
			if p != nil || !errors.As(err, &ds) || len(ds) == 0 || len(ds) > maxErrors+1 {
				t.Fatalf("an odd error with policy %v: %#v", p, err)
			}
			for _, d := range ds {
				check(d, LevelError)
			}
			return
		}
		for _, d := range p.Review(time.Time{}).Warnings {
			check(d, LevelWarning)
		}
		for _, pr := range p.Protocols {
			for _, r := range pr.Events {
				if label, ok := r.Label.Literal(); ok && r.Symbol != pr.Automaton.Symbol(r.Direction, label) {
					t.Fatalf("symbol of %s", label)
				}
			}
		}
		var m map[string]any
		if err := yaml.Unmarshal([]byte(text), &m); err != nil {
			return // a decoder has limits of its own on aliases
		}
		again, err := LoadMap("f.yaml", m)
		if err != nil {
			t.Fatalf("the map does not load: %v", err)
		}
		if diff := cmp.Diff(p, again, samePolicy); diff != "" {
			t.Fatalf("the map's policy differs: %s", diff)
		}
	})
}

// FuzzTemplate: a template that compiles says where it goes wrong if it does
// not, renders what it says it reads, and is the same again from its text.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"", "a", "{{}}", "{arguments.id}", `x{attributes["a b"][0]['c\u00e9']}y`, "{tool.name}{span.id}", "{result[0].a-b}", "{", "}", "{a"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tpl, err := ParseTemplate(text)
		if err != nil {
			var bad *syntaxError
			if !errors.As(err, &bad) || bad.offset < 0 || bad.offset > len(text) {
				t.Fatalf("an odd error: %#v", err)
			}
			return
		}
		literal, fixed := tpl.Literal()
		rendered, ok := tpl.Render(nowhere{})
		if fixed != (tpl.Roots() == 0) || fixed && (!ok || rendered != literal) || !fixed && ok {
			t.Fatalf("%q: literal %q %v, rendered %q %v", text, literal, fixed, rendered, ok)
		}
		if fixed && strings.NewReplacer("{{", "{", "}}", "}").Replace(text) != literal {
			t.Fatalf("%q renders %q", text, literal)
		}
		if again, err := ParseTemplate(tpl.String()); err != nil || again.String() != text {
			t.Fatalf("%q is not itself again: %v", text, err)
		}
	})
}

// nowhere is a Scope that knows nothing.
type nowhere struct{}

func (nowhere) Text(Root) (string, bool)                       { return "", false }
func (nowhere) Value(Root) (jsonvalue.Value, bool)             { return jsonvalue.Null(), false }
func (nowhere) Attribute(Root, string) (jsonvalue.Value, bool) { return jsonvalue.Null(), false }

// FuzzGlob: a glob compiles or says where it goes wrong; escaped, any text
// matches itself and nothing longer.
func FuzzGlob(f *testing.F) {
	for _, s := range []string{"a", "a*", "*a*b?", "[a-c]", "[!]]", "{a,b{c,}}", `\*`, "{", "}", "[", `\`, "é[日-本]"} {
		f.Add(s, "abc")
	}
	special := strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, "{", `\{`, "}", `\}`, `\`, `\\`)
	f.Fuzz(func(t *testing.T, text, s string) {
		if g, err := ParseGlob(text); err != nil {
			var bad *syntaxError
			if !errors.As(err, &bad) || bad.offset < 0 || bad.offset > len(text) {
				t.Fatalf("an odd error: %#v", err)
			}
		} else {
			if alternatives, err := ParseGlob("{" + text + "}"); err == nil && g.Match(s) && !alternatives.Match(s) && !strings.Contains(text, ",") {
				t.Fatalf("%q matches %q and does not in braces", text, s)
			}
			if !utf8.ValidString(text) {
				return
			}
		}
		if !utf8.ValidString(s) || len(s) > maxPatternLength/2 {
			return
		}
		g, err := ParseGlob(special.Replace(s))
		if err != nil || !g.Match(s) || g.Match(s+"x") || g.Match("x"+s) {
			t.Fatalf("%q does not match itself alone: %v", s, err)
		}
	})
}

// FuzzPath: a path compiles or says where it goes wrong, and selects from any
// document without falling over.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"$", "$.a[0]", "$..*", "$[?@.a == 1 && match(@.b, 'x')]", "$[1:2:3,'a',*]", "a.b[0]", `["a"]`, "$[", "$.a b"} {
		f.Add(s, pathDocument)
	}
	f.Fuzz(func(t *testing.T, text, document string) {
		p, err := parseFieldPath(text)
		if err != nil {
			var bad *syntaxError
			if !errors.As(err, &bad) || bad.offset < 0 || bad.offset > len(text) {
				t.Fatalf("an odd error: %#v", err)
			}
			return
		}
		v, err := jsonvalue.Parse(document)
		if err != nil {
			return
		}
		selected := p.Select(v)
		any := FieldGlob{Path: p, Glob: Glob{shape: globContains}}.Matches(v)
		if any && selected.IsNull() {
			t.Fatalf("%s selects nothing and something of it matches", text)
		}
	})
}

// FuzzLabel: see TestLabelsAreTheLanguages.
func FuzzLabel(f *testing.F) {
	for _, s := range []string{"search", "a.b", "a:b", ":", "", "é²", "end"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !languageHas(DefaultLabel(s)) || languageHas(s) != validLabel(s) {
			t.Fatalf("%q, %q", s, DefaultLabel(s))
		}
		if DefaultLabel(DefaultLabel(s)) != DefaultLabel(s) || DefaultLabel(session.UnrecognizedLabel) != session.UnrecognizedLabel {
			t.Fatalf("%q is not settled", s)
		}
	})
}
