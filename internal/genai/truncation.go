// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "strings"

// maxCutMarker bounds the length of a marker in brackets.
const maxCutMarker = 64

// trimCut removes cut markers from the end of s and reports whether there were
// any. "… [truncated]", "...[truncated, original 5000 chars]", "(truncated)",
// "…" and "..." are markers.
func trimCut(s string) (string, bool) {
	t, cut := trimSpace(s), false
	for {
		n := bracketMarker(t)
		switch {
		case n > 0:
		case strings.HasSuffix(t, "…"):
			n = len("…")
		case strings.HasSuffix(t, "..."):
			n = len("...")
		default:
			return t, cut
		}
		t, cut = trimSpace(t[:len(t)-n]), true
	}
}

func trimSpace(s string) string { return strings.TrimRight(s, " \t\r\n") }

// bracketMarker returns the length of a marker in brackets at the end of s, 0 if
// there is none.
func bracketMarker(s string) int {
	if s == "" {
		return 0
	}
	var open byte
	switch s[len(s)-1] {
	case ']':
		open = '['
	case ')':
		open = '('
	case '>':
		open = '<'
	default:
		return 0
	}
	from := max(0, len(s)-maxCutMarker)
	i := strings.LastIndexByte(s[from:], open)
	if i < 0 {
		return 0
	}
	inside := strings.ToLower(s[from+i+1 : len(s)-1])
	if strings.Contains(inside, "truncated") && !strings.ContainsAny(inside, `"{}`) {
		return len(s) - from - i
	}
	return 0
}

// MayBeJSON reports whether text is JSON, or the beginning of JSON that ends too early.
func MayBeJSON(text string) bool { return jsonPrefix(text) != jsonWrong || brokenOff(text) }

// brokenOff reports whether text is the beginning of a JSON text that ends too
// early: at the text's end or before a cut marker. A text that is a marker and
// nothing else is the beginning of anything.
func brokenOff(text string) bool {
	t := strings.TrimLeft(text, " \t\r\n")
	if t == "" {
		return false
	}
	switch t[0] {
	case '{', '[', '"':
	default:
		return onlyMarker(t)
	}
	if jsonPrefix(t) == jsonUnfinished {
		return true
	}
	rest, cut := trimCut(t)
	if !cut {
		return false
	}
	// A quotation that goes on in dots is prose.
	extent := jsonPrefix(rest)
	return extent == jsonUnfinished || extent == jsonWhole && t[0] != '"'
}

func onlyMarker(t string) bool {
	if len(t) > maxCutMarker {
		return false
	}
	rest, cut := trimCut(t)
	return cut && rest == "" && strings.Contains(strings.ToLower(t), "truncated")
}

// CutCopy reports whether copied is the beginning of text, cut off with a marker
// or at a length, or its beginning and its end with a marker between them.
func CutCopy(text, copied string) bool {
	t, cut := trimCut(copied)
	if strings.HasPrefix(text, t) {
		return cut || len(t) >= minCut
	}
	for _, marker := range [...]string{"[truncated", "<truncated", "(truncated", "…", "..."} {
		before, after, ok := strings.Cut(copied, marker)
		if !ok || before == "" {
			continue
		}
		if end := strings.IndexAny(after, "])>"); marker[0] != '.' && marker != "…" && end >= 0 {
			after = after[end+1:]
		}
		before, _ = trimCut(before)
		after = strings.TrimLeft(after, " \t\r\n.…")
		if strings.HasPrefix(text, before) && strings.HasSuffix(text, after) {
			return true
		}
	}
	return false
}

// minCut is the length from which on the beginning of a text is taken for a copy
// that was cut without a marker.
const minCut = 32
