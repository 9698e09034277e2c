// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"

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
