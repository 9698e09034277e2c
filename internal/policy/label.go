// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"unicode"
)

// Unrecognized is the label of an event that means nothing to the protocol.
const Unrecognized = "Unrecognized"

// DefaultLabel returns the label of a call or result of the tool where the
// protocol gives no rules, and of what a label's template renders: every
// character that a label cannot hold is replaced by an underscore.
func DefaultLabel(toolName string) string {
	if validLabel(toolName) {
		return toolName
	}
	if toolName == "" {
		return "_"
	}
	var b strings.Builder
	last := len(toolName) - 1
	for i, r := range toolName {
		if labelRune(r) || r == ':' && i > 0 && i < last {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	return b.String()
}

// validLabel reports whether the protocol language can spell s as a label.
func validLabel(s string) bool {
	last := len(s) - 1
	for i, r := range s {
		if !labelRune(r) && (r != ':' || i == 0 || i == last) {
			return false
		}
	}
	return s != ""
}

// labelRune reports whether r may stand anywhere in a label.
func labelRune(r rune) bool {
	return r == '_' || r == '-' || unicode.In(r, unicode.L, unicode.N)
}
