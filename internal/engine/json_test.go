// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParseJSONErrors: what is no JSON is told with its place.
func TestParseJSONErrors(t *testing.T) {
	for _, tc := range []struct {
		text   string
		code   ErrorCode
		offset int
	}{
		{"", CodeParseFailed, 0},
		{" ", CodeParseFailed, 1},
		{"[", CodeParseFailed, 1},
		{"[1", CodeParseFailed, 2},
		{"[1,]", CodeParseFailed, 3},
		{"[,1]", CodeParseFailed, 1},
		{"[1 2]", CodeParseFailed, 3},
		{"[1}", CodeParseFailed, 2},
		{"{", CodeParseFailed, 1},
		{`{"a"}`, CodeParseFailed, 4},
		{`{"a":}`, CodeParseFailed, 5},
		{`{"a":1,}`, CodeParseFailed, 7},
		{`{a:1}`, CodeParseFailed, 1},
		{`{"a":1 "b":2}`, CodeParseFailed, 7},
		{`{"a":1]`, CodeParseFailed, 6},
		{"1 1", CodeParseFailed, 2},
		{"01", CodeParseFailed, 1},
		{"-", CodeParseFailed, 0},
		{"1.", CodeParseFailed, 1},
		{"1e", CodeParseFailed, 1},
		{"-Inf", CodeParseFailed, 0},
		{"tru", CodeParseFailed, 0},
		{"\"a", CodeParseFailed, 2},
		{"\"\n\"", CodeParseFailed, 1},
		{`"\x"`, CodeParseFailed, 1},
		{`"\u12"`, CodeParseFailed, 1},
		{"\ufeff1", CodeParseFailed, 0},
		{"\xff", CodeParseFailed, 0},
		{"[\"\xff\"]", CodeParseFailed, 2},
		{"\v1", CodeParseFailed, 0},
		{`"\ud800"`, CodeSchemaInvalid, -1},
		{`"\ud800\u0041"`, CodeSchemaInvalid, -1},
		{`"\udc00\ud800"`, CodeSchemaInvalid, -1},
		{"\"\xed\xa0\x80\"", CodeSchemaInvalid, -1},
		{`["\ud800",`, CodeParseFailed, 10},
		{strings.Repeat("9", maxIntDigits+1), CodeLimitExceeded, -1},
	} {
		_, err := ParseJSON(tc.text)
		var coded *Error
		require.True(t, errors.As(err, &coded), "%q", tc.text)
		require.Equal(t, tc.code, coded.Code, "%q", tc.text)
		require.Equal(t, tc.offset, coded.Offset, "%q: %v", tc.text, err)
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestParseJSONValues(t *testing.T) {
	v, err := ParseJSON(`{"b": 1, "a": [true, null, -0, 1.50, "x\u00e9\ud83d\ude00"], "b": {"c": 12345678901234567890}}`)
	require.NoError(t, err)
	require.Equal(t, ObjectKind, v.Kind())
	require.Equal(t, 2, v.Len(), "the later of equal keys counts")
	key, b := v.Member(0)
	require.Equal(t, "b", key, "in the place of the first")
	c, ok := b.Get("c")
	require.True(t, ok)
	_, fits := c.Int64()
	require.False(t, fits)
	f, ok := c.Float64()
	require.True(t, ok)
	require.Equal(t, 12345678901234567890.0, f)
	text, ok := c.Scalar()
	require.True(t, ok)
	require.Equal(t, "12345678901234567890", text)

	a, _ := v.Get("a")
	require.Equal(t, 5, a.Len())
	require.True(t, a.Index(0).Bool())
	require.True(t, a.Index(1).IsNull())
	n, ok := a.Index(2).Int64()
	require.True(t, ok)
	require.Zero(t, n)
	scalar, _ := a.Index(3).Scalar()
	require.Equal(t, "1.5", scalar)
	require.Equal(t, "xé😀", a.Index(4).Text())
	require.Equal(t, `{"a":[true,null,0,1.5,"xé😀"],"b":{"c":12345678901234567890}}`, canonicalOf(t, v))

	_, ok = v.Get("c")
	require.False(t, ok)
	_, ok = a.Get("c")
	require.False(t, ok)
	require.Panics(t, func() { a.Member(0) })
	require.Panics(t, func() { v.Index(0) })
}

func TestNotFinite(t *testing.T) {
	for _, text := range []string{"NaN", "Infinity", "-Infinity", "1e999", "[1,{\"a\":-1e999}]"} {
		v, err := ParseJSON(text)
		require.NoError(t, err)
		require.True(t, v.Usable())
		_, err = v.AppendCanonical(nil)
		requireCoded(t, err, CodeSchemaInvalid)
		require.True(t, Equal(v, v))
	}
	_, ok := Float(math.NaN()).Scalar()
	require.False(t, ok)
}

func TestEqual(t *testing.T) {
	parse := func(text string) Value {
		v, err := ParseJSON(text)
		require.NoError(t, err)
		return v
	}
	for _, same := range [][2]string{
		{"1", "1.0"},
		{"0", "-0.0"},
		{"1e2", "100"},
		{`{"a":1,"b":[2]}`, `{"b":[2.0],"a":1}`},
		{`"é"`, `"\u00e9"`},
		{"100000000000000000000", "1e20"},
		{"NaN", "NaN"},
	} {
		require.True(t, Equal(parse(same[0]), parse(same[1])), same)
	}
	for _, other := range [][2]string{
		{"1", `"1"`},
		{"1", "true"},
		{"null", "false"},
		{"[]", "{}"},
		{"[1,2]", "[2,1]"},
		{"[1]", "[1,1]"},
		{`{"a":1}`, `{"b":1}`},
		{`{"a":1}`, `{"a":2}`},
		{"9007199254740993", "9007199254740992.0"},
		{"9223372036854775807", "9223372036854775808"},
		{"1", "1.5"},
		{"100000000000000000001", "1e20"},
		{"1e999", "1"},
		{"NaN", "1"},
		{`""`, "null"},
	} {
		require.False(t, Equal(parse(other[0]), parse(other[1])), other)
		require.False(t, Equal(parse(other[1]), parse(other[0])), other)
	}
	require.True(t, Equal(Int(3), parse("3")))
	require.False(t, Equal(Int(3), parse("12345678901234567890")))
}

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
