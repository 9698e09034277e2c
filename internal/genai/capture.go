// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "strings"

// placeholders stand where an instrumentation was told not to record content.
// They are no results.
var placeholders = map[string]bool{
	"[redacted]":         true,
	"<not specified>":    true,
	"[non-text content]": true,
}

func placeholder(s string, d *Dialect) bool {
	if len(s) > 32 {
		return false
	}
	if d != nil && d.EmptyObject && s == "{}" {
		return true
	}
	return placeholders[strings.ToLower(s)]
}

// UsableID returns id, or "" if it is a placeholder that stands for no id.
func UsableID(id string) string {
	if len(id) > 16 {
		return id
	}
	switch strings.ToLower(strings.TrimSpace(id)) {
	case "", "unknown", "n/a", "none", "null", "nil", "undefined", "<not specified>":
		return ""
	}
	return id
}

// cutMarkers end a text that an instrumentation or a collector cut off.
var cutMarkers = []string{"[truncated]", "(truncated)", "<truncated>", "…", "..."}

// trimCut removes a cut marker from the end of s and reports whether there was
// one. "… [truncated]", "...[truncated, original 5000 chars]" and "…" are
// markers.
func trimCut(s string) (string, bool) {
	t := strings.TrimRight(s, " \t\r\n")
	cut := false
	if n := strings.LastIndexByte(t, '['); n >= 0 && strings.HasSuffix(t, "]") && len(t)-n <= 64 &&
		strings.HasPrefix(strings.ToLower(t[n:]), "[truncated") {
		t, cut = strings.TrimRight(t[:n], " \t\r\n"), true
	}
	for again := true; again; {
		again = false
		for _, m := range cutMarkers {
			if strings.HasSuffix(t, m) {
				t, cut, again = strings.TrimRight(t[:len(t)-len(m)], " \t\r\n"), true, true
			}
		}
	}
	return t, cut
}

// CutCopy reports whether copied is the beginning of text, cut off with a
// marker or at a length.
func CutCopy(text, copied string) bool {
	t, cut := trimCut(copied)
	return (cut || len(t) >= 32) && strings.HasPrefix(text, t)
}
