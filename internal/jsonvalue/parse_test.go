// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

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
		{"", CodeMalformed, 0},
		{" ", CodeMalformed, 1},
		{"[", CodeMalformed, 1},
		{"[1", CodeMalformed, 2},
		{"[1,]", CodeMalformed, 3},
		{"[,1]", CodeMalformed, 1},
		{"[1 2]", CodeMalformed, 3},
		{"[1}", CodeMalformed, 2},
		{"{", CodeMalformed, 1},
		{`{"a"}`, CodeMalformed, 4},
		{`{"a":}`, CodeMalformed, 5},
		{`{"a":1,}`, CodeMalformed, 7},
		{`{a:1}`, CodeMalformed, 1},
		{`{"a":1 "b":2}`, CodeMalformed, 7},
		{`{"a":1]`, CodeMalformed, 6},
		{"1 1", CodeMalformed, 2},
		{"01", CodeMalformed, 1},
		{"-", CodeMalformed, 0},
		{"1.", CodeMalformed, 1},
		{"1e", CodeMalformed, 1},
		{"-Inf", CodeMalformed, 0},
		{"tru", CodeMalformed, 0},
		{"\"a", CodeMalformed, 2},
		{"\"\n\"", CodeMalformed, 1},
		{`"\x"`, CodeMalformed, 1},
		{`"\u12"`, CodeMalformed, 1},
		{"\ufeff1", CodeMalformed, 0},
		{"\xff", CodeMalformed, 0},
		{"[\"\xff\"]", CodeMalformed, 2},
		{"\v1", CodeMalformed, 0},
		{`"\ud800"`, CodeUnencodable, -1},
		{`"\ud800\u0041"`, CodeUnencodable, -1},
		{`"\udc00\ud800"`, CodeUnencodable, -1},
		{"\"\xed\xa0\x80\"", CodeUnencodable, -1},
		{`["\ud800",`, CodeMalformed, 10},
		{strings.Repeat("9", MaxIntDigits+1), CodeLimitExceeded, -1},
	} {
		_, err := Parse(tc.text)
		var coded *Error
		require.True(t, errors.As(err, &coded), "%q", tc.text)
		require.Equal(t, tc.code, coded.Code, "%q", tc.text)
		require.Equal(t, tc.offset, coded.Offset, "%q: %v", tc.text, err)
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestParseJSONValues(t *testing.T) {
	v, err := Parse(`{"b": 1, "a": [true, null, -0, 1.50, "x\u00e9\ud83d\ude00"], "b": {"c": 12345678901234567890}}`)
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
		v, err := Parse(text)
		require.NoError(t, err)
		require.True(t, v.Usable())
		_, err = v.AppendCanonical(nil)
		requireCoded(t, err, CodeUnencodable)
		require.True(t, Equal(v, v))
	}
	_, ok := Float(math.NaN()).Scalar()
	require.False(t, ok)
}

func TestEqual(t *testing.T) {
	parse := func(text string) Value {
		v, err := Parse(text)
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

func requireCoded(t *testing.T, err error, codes ...ErrorCode) {
	t.Helper()
	var coded *Error
	require.True(t, errors.As(err, &coded), "%v", err)
	require.Contains(t, codes, coded.Code)
}

// TestLimits: a text may be as large, as deep and have as many digits as the limits say.
func TestLimits(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, texts := range map[string][2]string{
		"bytes":  {"1" + strings.Repeat(" ", MaxBytes-1), "1" + strings.Repeat(" ", MaxBytes)},
		"depth":  {nested(MaxDepth), nested(MaxDepth + 1)},
		"digits": {"-" + strings.Repeat("9", MaxIntDigits), "-" + strings.Repeat("9", MaxIntDigits+1)},
	} {
		v, err := Parse(texts[0])
		require.NoError(t, err, name)
		requireFixedPoint(t, v)
		_, err = Parse(texts[1])
		requireCoded(t, err, CodeLimitExceeded)
	}
	_, err := Parse(strings.Repeat("[", MaxDepth+1))
	requireCoded(t, err, CodeLimitExceeded)
}

// TestMapping: keys that are no strings replace each other by their identity, are not
// found as strings, and have no canonical form.
func TestMapping(t *testing.T) {
	v := Mapping([]Member{{"1", Int(1)}, {"1", Int(2)}, {"1", Int(3)}, {"a", Int(4)}}, []bool{true, false, true, false})
	require.Equal(t, 3, v.Len())
	require.False(t, v.StringKey(0))
	require.True(t, v.StringKey(1))
	_, first := v.Member(0)
	require.True(t, Equal(first, Int(3)), "the last of equal keys counts")
	named, ok := v.Get("1")
	require.True(t, ok)
	require.True(t, Equal(named, Int(2)))
	_, err := v.AppendCanonical(nil)
	requireCoded(t, err, CodeUnencodable)

	_, err = Array(Timestamp("2026-08-21")).AppendCanonical(nil)
	requireCoded(t, err, CodeUnencodable)
	require.Equal(t, "2026-08-21", Timestamp("2026-08-21").Timestamp())
	require.Empty(t, String("2026-08-21").Timestamp())
}

func TestCheckUTF8(t *testing.T) {
	require.NoError(t, CheckUTF8("é😀"))
	requireCoded(t, CheckUTF8("a\xed\xa0\x80b"), CodeUnencodable)
	requireCoded(t, CheckUTF8("a\xed\xa0\x80b\xff"), CodeMalformed)
	requireCoded(t, CheckUTF8("a\xed\xa0"), CodeMalformed)
}
