// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestDocumentLimits: a document may have exactly what the limits say, and no more.
func TestDocumentLimits(t *testing.T) {
	nest := func(n int) string { return strings.Repeat("[", n-1) + "1" + strings.Repeat("]", n-1) }
	wide := func(n int) string { return "[" + strings.Repeat("1,", n-2) + "1]" }
	keys := func(n int) string { // 1 + 2n nodes, of which a repetition is none
		return `{"k":0,` + strings.TrimSuffix(strings.Repeat(`"k":1,`, n), ",") + "}"
	}
	for _, tc := range []struct {
		name, text string
		within     bool
	}{
		{"depth", nest(maxDepth), true},
		{"depth", nest(maxDepth + 1), false},
		{"nodes", wide(maxNodes), true},
		{"nodes", wide(maxNodes + 1), false},
		{"replaced members", keys(maxNodes), true},
		{"replaced depth", `{"a":` + nest(maxDepth) + `,"a":1}`, true},
		{"kept depth", `{"a":1,"a":` + nest(maxDepth) + `}`, false},
		{"string", `"` + strings.Repeat("é", maxStringLength) + `"`, true},
		{"string", `"` + strings.Repeat("é", maxStringLength+1) + `"`, false},
		{"key", `{"` + strings.Repeat("k", maxStringLength) + `":1}`, true},
		{"key", `{"` + strings.Repeat("k", maxStringLength+1) + `":1}`, false},
		{"size", "1" + strings.Repeat(" ", maxDocumentBytes-1), true},
		{"size", "1" + strings.Repeat(" ", maxDocumentBytes), false},
	} {
		for _, format := range []Format{FormatJSON, FormatYAML} {
			if format == FormatYAML && tc.name == "key" {
				continue // a key that long is no YAML
			}
			_, err := ParseDocument([]byte(tc.text), format)
			if tc.within {
				require.NoError(t, err, tc.name)
			} else {
				requireCoded(t, err, CodeLimitExceeded)
			}
		}
	}
}

// TestEncodings: a JSON document is read in every encoding that it may have.
func TestEncodings(t *testing.T) {
	for name, data := range map[string]string{
		"utf-8":                   `{"é":"😀"}`,
		"utf-8 with mark":         "\xef\xbb\xbf" + `{"é":"😀"}`,
		"utf-16 big":              "\x00{\x00\"\x00\xe9\x00\"\x00:\x00\"\xd8\x3d\xde\x00\x00\"\x00}",
		"utf-16 little":           "{\x00\"\x00\xe9\x00\"\x00:\x00\"\x00\x3d\xd8\x00\xde\"\x00}\x00",
		"utf-16 big with mark":    "\xfe\xff\x00{\x00\"\x00\xe9\x00\"\x00:\x00\"\xd8\x3d\xde\x00\x00\"\x00}",
		"utf-16 little with mark": "\xff\xfe{\x00\"\x00\xe9\x00\"\x00:\x00\"\x00\x3d\xd8\x00\xde\"\x00}\x00",
		"utf-32 big":              "\x00\x00\x00{\x00\x00\x00\"\x00\x00\x00\xe9\x00\x00\x00\"\x00\x00\x00:\x00\x00\x00\"\x00\x01\xf6\x00\x00\x00\x00\"\x00\x00\x00}",
		"utf-32 little with mark": "\xff\xfe\x00\x00{\x00\x00\x00\"\x00\x00\x00\xe9\x00\x00\x00\"\x00\x00\x00:\x00\x00\x00\"\x00\x00\x00\x00\xf6\x01\x00\"\x00\x00\x00}\x00\x00\x00",
	} {
		v, err := ParseDocument([]byte(data), FormatJSON)
		require.NoError(t, err, name)
		require.Equal(t, `{"é":"😀"}`, canonicalOf(t, v), name)
	}
	for name, data := range map[string]string{
		"two marks":            "\xef\xbb\xbf\xef\xbb\xbf1",
		"half a character":     "\xfe\xff\x001\x00",
		"beyond the last":      "\x00\x00\xfe\xff\x00\x11\x00\x00",
		"overlong":             "\"\xc0\x80\"",
		"utf-16 as YAML":       "1",
		"utf-8 that breaks of": "\"\xe2\x82",
	} {
		format := FormatJSON
		if name == "utf-16 as YAML" {
			data, format = "\xff\xfe1\x00", FormatYAML
		}
		_, err := ParseDocument([]byte(data), format)
		requireCoded(t, err, CodeParseFailed)
	}
	_, err := ParseDocument([]byte("\"\x00\x3d\xd8\"\x00"), FormatJSON) // half of a pair in UTF-16
	requireCoded(t, err, CodeSchemaInvalid)
}

// TestYAMLCodes: errors of YAML documents have the published codes.
func TestYAMLCodes(t *testing.T) {
	for text, want := range map[string]ErrorCode{
		"a: [":       CodeParseFailed,
		"a: !!int x": CodeParseFailed,
		"a\n---\nb":  CodeParseFailed,
		"\xff":       CodeParseFailed,
		"a: &b c":    CodeUnsafeInput,
		"a: *b":      CodeUnsafeInput,
		"!!set {a}":  CodeUnsafeInput,
		"2026-08-21": CodeLimitExceeded,
		strings.Repeat("[", 500) + strings.Repeat("]", 500): CodeLimitExceeded,
		`a: "\ud800"`: CodeSchemaInvalid,
	} {
		_, err := ParseDocument([]byte(text), FormatYAML)
		requireCoded(t, err, want)
	}
}

// TestHostileTexts: JSON texts that are built to take time or depth are refused, or
// read, as fast as others of their size.
func TestHostileTexts(t *testing.T) {
	fill := func(head, unit string) string {
		return head + strings.Repeat(unit, (maxDocumentBytes-len(head))/len(unit))
	}
	half := func(open, end string) string {
		n := maxDocumentBytes / (len(open) + len(end))
		return strings.Repeat(open, n) + strings.Repeat(end, n)
	}
	for _, unit := range []string{
		"[", "{", "]", "}", "\"", "\n", " ", "\t", "\"\\u0041", "\"\\", "1", "9.", "0x", "1e", "\r", "\u2028", "\ufeff", "{\"a\":", "[{", "[1,", "{\"a\":1,", "\\", "-",
	} {
		for _, head := range []string{"", "[", `{"a":`} {
			requireFast(t, fill(head, unit))
		}
	}
	for _, pair := range [][2]string{{"[", "]"}, {"{", "}"}, {`{"a":`, "}"}, {"[[", "],1]"}} {
		requireFast(t, half(pair[0], pair[1]))
	}
}

func requireFast(t *testing.T, text string) {
	t.Helper()
	start := time.Now()
	v, err := ParseDocument([]byte(text), FormatJSON)
	if err == nil {
		if _, err = v.AppendCanonical(nil); err != nil {
			err = refusal(err)
		}
	}
	if err != nil {
		requireCoded(t, err, CodeParseFailed, CodeLimitExceeded, CodeSchemaInvalid)
	}
	// Generous: a text that is read in quadratic time takes many times as long.
	// Each takes milliseconds; what is not linear would take hours. The bound
	// leaves room for a busy machine.
	require.Less(t, time.Since(start), time.Minute, "%.20q", text)
}
