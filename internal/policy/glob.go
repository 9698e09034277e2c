// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"

	"github.com/gobwas/glob"
)

// Glob is a compiled pattern over a whole text. `*` is any run of characters,
// dots, slashes and line ends included, `?` is one character, `[abc]`, `[a-z]`
// and `[!a]` are one character of a class, `{a,b}` is either of the patterns in
// it, and `\` takes the next character as it is. Upper and lower case differ.
// The zero Glob matches the empty text only.
type Glob struct {
	text string
	// pattern is nil where text holds no special character: most globs are
	// names, and comparing is all that they need.
	pattern glob.Glob
}

// ParseGlob compiles a pattern.
func ParseGlob(text string) (Glob, error) {
	if len(text) > maxPatternLength {
		return Glob{}, &syntaxError{maxPatternLength, "glob is longer than 4,096 bytes"}
	}
	if !strings.ContainsAny(text, `*?[]{}\`) {
		return Glob{text: text}, nil
	}
	p, err := glob.Compile(text)
	if err != nil {
		// The version that the collector's confmap builds with does not tell
		// where the error is.
		return Glob{}, &syntaxError{0, "bad glob: " + err.Error()}
	}
	return Glob{text: text, pattern: p}, nil
}

// Match reports whether the pattern matches the whole of s.
func (g Glob) Match(s string) bool {
	if g.pattern == nil {
		return g.text == s
	}
	return g.pattern.Match(s)
}

// String returns the pattern as it was written.
func (g Glob) String() string { return g.text }

// Literal returns the only text that the glob matches; false if it is a
// pattern.
func (g Glob) Literal() (string, bool) { return g.text, g.pattern == nil }

// Globs is a list of which one must match. The empty list matches everything.
type Globs []Glob

// Match reports whether the list is empty or one of its globs matches s.
func (gs Globs) Match(s string) bool {
	for i := range gs {
		if gs[i].Match(s) {
			return true
		}
	}
	return len(gs) == 0
}
