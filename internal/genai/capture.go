// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "strings"

// maxPlaceholder bounds the length of a placeholder, so that long texts are not
// looked at.
const maxPlaceholder = 32

// placeholder reports whether a text stands where an instrumentation was told
// not to record content. It is no result and no message.
func placeholder(s string, d *Dialect) bool {
	if len(s) > maxPlaceholder {
		return false
	}
	if d != nil && d.EmptyObject && s == "{}" {
		return true
	}
	switch strings.ToLower(s) {
	case "[redacted]", "<redacted>", "__redacted__", "<not specified>", "[non-text content]":
		return true
	}
	return false
}

// placeholder reports whether a message's text is one that a dialect puts in
// place of a tool call or a result.
func (d *Dialect) placeholder(s string) bool {
	if d == nil {
		return false
	}
	for _, pattern := range d.Placeholders {
		if _, ok := fits(pattern, s); ok {
			return true
		}
	}
	return false
}

// UsableID returns id, or "" if it is a placeholder that stands for no id.
func UsableID(id string) string {
	if len(id) > len("<not specified>") {
		return id
	}
	switch strings.ToLower(strings.TrimSpace(id)) {
	case "", "unknown", "n/a", "none", "null", "nil", "undefined", "<not specified>", "[redacted]":
		return ""
	}
	return id
}
