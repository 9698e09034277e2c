// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// DefaultLabel returns the label of a call or result of the tool where the
// protocol gives no rules, and of what a label's template renders: every
// character that a label cannot hold is replaced by an underscore, and so is
// no name at all. A colon stays where it stands between two names.
func DefaultLabel(toolName string) string {
	if validLabel(toolName) {
		return toolName
	}
	if toolName == "" {
		return "_"
	}
	var b strings.Builder
	b.Grow(len(toolName))
	before := ':'
	for i, r := range toolName {
		if !labelRune(r) && (r != ':' || before == ':' || i == len(toolName)-1) {
			r = '_'
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}

// validLabel reports whether the protocol language can spell s as a label:
// names joined by colons.
func validLabel(s string) bool {
	before := ':'
	for _, r := range s {
		if !labelRune(r) && (r != ':' || before == ':') {
			return false
		}
		before = r
	}
	return before != ':'
}

// labelRune reports whether r may stand in a name of a label.
func labelRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-'
	}
	return unicode.In(r, unicode.L, unicode.N)
}
