// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package display

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"get_order":                     "get_order",
		"größe 大小 🙂":                    "größe 大小 🙂",
		"a\x1b[31mb":                    "a?[31mb",
		"a\nb\tc\r":                     "a?b?c?",
		"a\u009bb":                      "a?b",
		"bad\xff\xfename":               "bad\uFFFDname",
		"a\u2028b":                      "a?b",
		"a\u202eb":                      "a?b",  // right-to-left override
		"a\u2066b\u2069":                "a?b?", // isolates
		"\ufeffa":                       "?a",
		"שלום":                          "שלום",
		"half a surrogate \xed\xa0\x80": "half a surrogate \uFFFD",
	} {
		require.Equal(t, want, Line(in), "%q", in)
	}
	require.Equal(t, "a\n\tb?", Lines("a\n\tb\x1b"))
	require.Equal(t, "\x1b[31ma?\x1b[0m", Painted("\x1b[31ma\n\x1b[0m"))
}

func TestClip(t *testing.T) {
	require.Equal(t, strings.Repeat("a", 128), Label(strings.Repeat("a", 128)))
	require.Equal(t, strings.Repeat("a", 32)+"…c12cb024a2e5551c", Label(strings.Repeat("a", 129)))
	require.Equal(t, strings.Repeat("大", 32)+"…", strings.TrimRight(Field(strings.Repeat("大", 300)), "0123456789abcdef"))
	require.NotEqual(t, Label(strings.Repeat("a", 200)), Label(strings.Repeat("a", 201)))
	require.Equal(t, "a?b", Label("a\nb"))
	require.Equal(t, "bad\uFFFD", Field("bad\xff"))
	require.Zero(t, testing.AllocsPerRun(100, func() { Label("get_order") }))
}

// Whatever comes in, what goes out is short, valid and on one line, and showing it
// again changes nothing.
func FuzzDisplay(f *testing.F) {
	for _, seed := range []string{"", "get_order", "bad\xff\x00\x1b[31mname", "\u202eabc\u2066", strings.Repeat("é", 300), strings.Repeat("\xf0\x9f", 200)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, show := range map[string]struct {
			of    func(string) string
			limit int
		}{"line": {Line, len(s) + 1}, "label": {Label, MaxLabel}, "field": {Field, MaxField}} {
			got := show.of(s)
			if !utf8.ValidString(got) || strings.ContainsFunc(got, unprintable) {
				t.Fatalf("%s: %q becomes %q", name, s, got)
			}
			if n := utf8.RuneCountInString(got); n > show.limit {
				t.Fatalf("%s: %d characters", name, n)
			}
			if again := show.of(got); again != got {
				t.Fatalf("%s: %q becomes %q, and that %q", name, s, got, again)
			}
		}
	})
}
