// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// yamlTable says what YAML texts are read as: their canonical form, or the code
// that they are refused with. A text that is read and cannot be hashed is
// SCHEMA_INVALID.
var yamlTable = []struct{ text, want string }{
	// Plain scalars.
	{"yes", "true"},
	{"Off", "false"},
	{"y", `"y"`},
	{"yEs", `"yEs"`},
	{"tRUE", `"tRUE"`},
	{"~", "null"},
	{"", "null"},
	{"NULL", "null"},
	{"nUll", `"nUll"`},
	{"12", "12"},
	{"+12", "12"},
	{"-0", "0"},
	{"1_000", "1000"},
	{"017", "15"},
	{"08", `"08"`},
	{"0o17", `"0o17"`},
	{"0x1F", "31"},
	{"0b101", "5"},
	{"-0b_1", "-1"},
	{"0b_", "PARSE_FAILED"},
	{"0x_", "PARSE_FAILED"},
	{"1:30", "90"},
	{"-1:30:01", "-5401"},
	{"1:60", `"1:60"`},
	{"123456789012345678901234567890", "123456789012345678901234567890"},
	{"1.", "1.0"},
	{".5", "0.5"},
	{"-.5", `"-.5"`},
	{"1e3", `"1e3"`},
	{"1.0e3", `"1.0e3"`},
	{"1.0e+3", "1000.0"},
	{"1.5E-7", "1.5e-07"},
	{"1:30.5", "90.5"},
	{"-190:20:30.15", "-685230.15"},
	{".inf", "SCHEMA_INVALID"},
	{"-.INF", "SCHEMA_INVALID"},
	{".nan", "SCHEMA_INVALID"},
	{"1.0e+400", "SCHEMA_INVALID"},
	{"2026-08-21", "LIMIT_EXCEEDED"},
	{"2026-8-1 1:02:03", "LIMIT_EXCEEDED"},
	{"[2026-8-1 1:02:03]", "SCHEMA_INVALID"},
	{"2026-8-1", `"2026-8-1"`},
	{"2:" + strings.Repeat("2:", 172) + "2.25", "8.481946928930904e+307"},
	{"0:" + strings.Repeat("0:", 173) + "0.0", "PARSE_FAILED"},
	{"2026-8-1", `"2026-8-1"`},
	{"2026-02-30", "PARSE_FAILED"},
	{"2026-08-21T10:00:00+23:59", "LIMIT_EXCEEDED"},
	{"2026-08-21T10:00:00+24:00", "PARSE_FAILED"},
	{"0000-01-01", "PARSE_FAILED"},
	{"a b", `"a b"`},
	{"a\n b\n\n c", `"a b\nc"`},
	{"a:b", `"a:b"`},
	{"a#b", `"a#b"`},
	{"a #b", `"a"`},
	{"-a", `"-a"`},
	{"--", `"--"`},
	{"?a", `"?a"`},
	{"a\tb", "PARSE_FAILED"},
	{"@a", "PARSE_FAILED"},
	{"`a", "PARSE_FAILED"},
	{"%a", "PARSE_FAILED"},
	{"\ta", "PARSE_FAILED"},
	{"=", "UNSAFE_INPUT"},
	{"<<", "UNSAFE_INPUT"},
	{"a: =", "UNSAFE_INPUT"},
	{"=: 1", `{"=":1}`},
	{`"<<": 1`, `{"<<":1}`},

	// Quoted scalars.
	{"'it''s'", `"it's"`},
	{`'a\n'`, `"a\\n"`},
	{`"a\tb\x41\u00e9\U0001F600\e\_"`, `"a\tbAé😀\u001b` + "\u00a0" + `"`},
	{"\"a \n  b\"", `"a b"`},
	{"\"a\\\n  b\"", `"ab"`},
	{"'a\n\n\n b'", `"a\n\nb"`},
	{`"\q"`, "PARSE_FAILED"},
	{`"\x4"`, "PARSE_FAILED"},
	{`"\U00110000"`, "PARSE_FAILED"},
	{`"\ud83d\ude00"`, "SCHEMA_INVALID"},
	{`"a`, "PARSE_FAILED"},
	{"'a\n---\n'", "PARSE_FAILED"},
	{`"1"`, `"1"`},
	{`"a" b`, "PARSE_FAILED"},

	// Blocks.
	{"|\n a\n b\n", `"a\nb\n"`},
	{">\n a\n b\n\n c\n", `"a b\nc\n"`},
	{"|-\n a\n\n", `"a"`},
	{"|+\n a\n\n", `"a\n\n"`},
	{"|2\n   a\n", `" a\n"`},
	{"|+1\n  a\n", `" a\n"`},
	{"|0\n a", "PARSE_FAILED"},
	{"|#x\n a", "PARSE_FAILED"},
	{"| # x\n a", `"a"`},
	{"|x\n a", "PARSE_FAILED"},
	{">\n a\n   b\n c\n", `"a\n  b\nc\n"`},
	{"a: |\nb: 1", `{"a":"","b":1}`},

	// Collections.
	{"- a\n- - b\n  - c\n-\n", `["a",["b","c"],null]`},
	{"a:\n- 1\n- 2\nb: 3", `{"a":[1,2],"b":3}`},
	{"a: 1\na: 2", `{"a":2}`},
	{"a: 1\n b: 2", "PARSE_FAILED"},
	{"a\nb: 1", "PARSE_FAILED"},
	{"a: b: c", "PARSE_FAILED"},
	{"- a\nb: 1", "PARSE_FAILED"},
	{"-\ta", "PARSE_FAILED"},
	{"? a\n: 1\n? b", `{"a":1,"b":null}`},
	{"? |\n  a\n: 1", `{"a\n":1}`},
	{"? [a]\n: 1", "UNSAFE_INPUT"},
	{"{a: b}: 1", "UNSAFE_INPUT"},
	{"1: a", "SCHEMA_INVALID"},
	{"[a, b: c, {d: e}, ]", `["a",{"b":"c"},{"d":"e"}]`},
	{"[a, [b]]", `["a",["b"]]`},
	{"[]", "[]"},
	{"{}", "{}"},
	{"{a, b: 1, c: }", `{"a":null,"b":1,"c":null}`},
	{"{a:1}", `{"a:1":null}`},
	{`{"a":1}`, `{"a":1}`},
	{`"a":1`, "PARSE_FAILED"},
	{"[a b]", `["a b"]`},
	{"[a\n b]", `["a b"]`},
	{"[,]", "PARSE_FAILED"},
	{"[a,,b]", "PARSE_FAILED"},
	{"[a", "PARSE_FAILED"},
	{"[a}", "PARSE_FAILED"},
	{"]", "PARSE_FAILED"},
	{"{a]: 1", "PARSE_FAILED"},
	{"[a]: 1", "UNSAFE_INPUT"},
	{"[a?b]", "PARSE_FAILED"},
	{"[\n'a'\n: b]", "PARSE_FAILED"},
	{strings.Repeat("k", 1024) + ": 1", `{"` + strings.Repeat("k", 1024) + `":1}`},
	{strings.Repeat("k", 1025) + ": 1", "PARSE_FAILED"},

	// Merging.
	{"<<: {a: 1, b: 2}\nb: 3", `{"a":1,"b":3}`},
	{"<<: [{a: 1}, {a: 2, b: 2}]", `{"a":1,"b":2}`},
	{"<<: [1]", "UNSAFE_INPUT"},
	{"<<: 1", "UNSAFE_INPUT"},
	{"<<: {<<: {a: 1}}", `{"a":1}`},

	// Documents.
	{"--- a", `"a"`},
	{"---\n...\n", "null"},
	{"a\n...\n", `"a"`},
	{"a\n---\nb", "PARSE_FAILED"},
	{"a: 1\n...\nb: 2", "PARSE_FAILED"},
	{"---\n---\n", "PARSE_FAILED"},
	{"%YAML 1.1\n--- a", `"a"`},
	{"%YAML 1.9\n--- a", `"a"`},
	{"%YAML 2.0\n--- a", "PARSE_FAILED"},
	{"%YAML 1." + strings.Repeat("0", 4300) + "\n--- a", `"a"`},
	{"%YAML 1." + strings.Repeat("0", 4301) + "\n--- a", "LIMIT_EXCEEDED"},
	{"%YAML 1.1\n%YAML 1.1\n--- a", "PARSE_FAILED"},
	{"%FOO x\n--- a", `"a"`},
	{"%YAML 1.1\na", "PARSE_FAILED"},
	{"# c\na: 1 # d", `{"a":1}`},
	{"\ufeffa: 1", `{"a":1}`},
	{"a\x00", "PARSE_FAILED"},
	{"a\x7f", "PARSE_FAILED"},
	{"a\ufffe", "PARSE_FAILED"},
	{"a\r\nb", `"a b"`},
	{"a\u2028b", `"a` + "\u2028" + `b"`},

	// Tags, anchors and aliases.
	{"!!str 1", `"1"`},
	{"!!int '5'", "5"},
	{"!!int ' 0x1F'", "PARSE_FAILED"},
	{"!!int 0o17", "15"},
	{"!!int x", "PARSE_FAILED"},
	{"!!int", "PARSE_FAILED"},
	{"!!int \"٣\"", "3"},
	{"!!float 1e3", "1000.0"},
	{"!!float inf", "SCHEMA_INVALID"},
	{"!!float 0x1p3", "PARSE_FAILED"},
	{"!!bool On", "true"},
	{"!!bool 1", "PARSE_FAILED"},
	{"!!null x", "null"},
	{"!!timestamp x", "PARSE_FAILED"},
	{"!!timestamp '2026-08-21'", "LIMIT_EXCEEDED"},
	{"[!!timestamp 2026-8-1]", "SCHEMA_INVALID"},
	{"!!timestamp 2026-8-32", "PARSE_FAILED"},
	{"!!timestamp 2026-8-1 1:2:3", "PARSE_FAILED"},
	{"!!int \"\\x1c5\"", "PARSE_FAILED"},
	{"!!seq [a]", `["a"]`},
	{"!!map {a: 1}", `{"a":1}`},
	{"!!seq {a: 1}", "UNSAFE_INPUT"},
	{"!!map [a]", "UNSAFE_INPUT"},
	{"!!str [a]", "UNSAFE_INPUT"},
	{"!!str {=: a}", `"a"`},
	{"!!map x: 1", "UNSAFE_INPUT"},
	{"!<tag:yaml.org,2002:str> 1", `"1"`},
	{"%TAG !y! tag:yaml.org,2002:\n--- !y!str 1", `"1"`},
	{"!y!str 1", "PARSE_FAILED"},
	{"!!%73tr 1", `"1"`},
	{"! 1", "UNSAFE_INPUT"},
	{"!x 1", "UNSAFE_INPUT"},
	{"!!binary eA==", "UNSAFE_INPUT"},
	{"!!set {a}", "UNSAFE_INPUT"},
	{"!!omap [a: 1]", "UNSAFE_INPUT"},
	{"!!python/object/apply:os.system [x]", "UNSAFE_INPUT"},
	{"!!merge x", "UNSAFE_INPUT"},
	{"!!python/name:x [", "PARSE_FAILED"},
	{"&a 1", "UNSAFE_INPUT"},
	{"*a", "UNSAFE_INPUT"},
	{"[&a 1, *a]", "UNSAFE_INPUT"},
	{"a: *x\nb: [", "PARSE_FAILED"},
	{"&a &b 1", "PARSE_FAILED"},
	{"& 1", "PARSE_FAILED"},
	{"&a 1\n---\n2", "UNSAFE_INPUT"},
}

func TestYAML(t *testing.T) {
	for _, tc := range yamlTable {
		v, err := parseYAML(tc.text)
		var got []byte
		if err == nil {
			if got, err = v.AppendCanonical(nil); err != nil {
				err = refusal(err)
			}
		}
		answer := string(got)
		var coded *Error
		if errors.As(err, &coded) {
			answer = string(coded.Code)
		}
		if answer != tc.want {
			t.Errorf("%q is read as %s (%v), want %s", tc.text, answer, err, tc.want)
		}
	}
}

// TestYAMLKeys: of keys that are equal, the last counts. Keys that are no strings are
// compared by value.
func TestYAMLKeys(t *testing.T) {
	for text, want := range map[string]int{
		"{1: a, true: b, 1.0: c, 0x1: d, '1': e}":                           2,
		"{0: a, no: b, -0.0: c}":                                            1,
		"{~: a, null: b, '': c}":                                            2,
		"{1.5: a, 15.0e-1: b, 1.5e+1: c}":                                   2,
		"{9007199254740993: a, 9007199254740992.0: b}":                      2,
		"{.inf: a, .INF: b, -.inf: c, 1.0e+400: d}":                         2,
		"{.nan: a, .NaN: b, !!float nan: c, !!float nan: d}":                3,
		"{2026-08-21: a, !!timestamp 2026-8-21: b, 2026-08-21 00:00:00: c}": 2,
		"{2026-08-21 12:00:00Z: a, 2026-08-21T14:00:00+02:00: b}":           1,
		"{2026-08-21 12:00:00Z: a, 2026-08-21 12:00:00: b}":                 2,
		"{2026-08-21 0:00:00.5Z: a, 2026-08-20 19:30:00.5000009 -4:30: b}":  1,
		"{2026-08-21 0:00:00.5Z: a, 2026-08-20 19:30:00.50001 -4:30: b}":    2,
	} {
		v, err := parseYAML(text)
		require.NoError(t, err, text)
		require.Equal(t, want, v.Len(), text)
		_, err = v.AppendCanonical(nil)
		requireCoded(t, refusal(err), CodeSchemaInvalid)
	}
	v, err := parseYAML("{1: a, x: b, true: c}")
	require.NoError(t, err)
	_, first := v.Member(0)
	require.Equal(t, "c", first.Text(), "the last value, in the place of the first key")
}

// TestYAMLOffsets: a text that is no YAML is told where it stops being so.
func TestYAMLOffsets(t *testing.T) {
	for text, want := range map[string]int{
		"a: [é, }":    8,
		"a: 'b":       5,
		"ab\x01":      2,
		"a: 1\nb: @":  8,
		"a: b\n- c\n": 5,
	} {
		_, err := parseYAML(text)
		var coded *Error
		require.True(t, errors.As(err, &coded), text)
		require.Equal(t, want, coded.Offset, "%q: %v", text, err)
	}
}

// TestHostileTexts: texts that are built to take time or depth are refused, or
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
		"[", "{", "]", "- ", "? ", "a: ", "-\n", "a:\n", "---\n", "...\n", "!!str ", "!a!", "&a ", "*a ", "\"", "'", "|\n", ">\n ", "\n", " ", "\t", "#\n",
		"\"\\u0041", "[a,", "{a: ", "{? ", "[[a]: ", "<<: {", "%TAG ! x\n", "a\n", "1:", "9", "0x", "_", "\r", "\u2028", "\ufeff", "{\"a\":", "[{", "[1,", "\\", "-",
	} {
		for _, format := range []Format{FormatYAML, FormatJSON} {
			for _, head := range []string{"", "a: ", `{"a":`} {
				requireFast(t, fill(head, unit), format)
			}
		}
	}
	for _, pair := range [][2]string{{"[", "]"}, {"{", "}"}, {"{a: ", "}"}, {`{"a":`, "}"}, {"[[", "],a]"}, {"<<: {", "}"}, {"{<<: ", "}"}} {
		for _, format := range []Format{FormatYAML, FormatJSON} {
			requireFast(t, half(pair[0], pair[1]), format)
		}
	}
}

func requireFast(t *testing.T, text string, format Format) {
	t.Helper()
	start := time.Now()
	v, err := ParseDocument([]byte(text), format)
	if err == nil {
		if _, err = v.AppendCanonical(nil); err != nil {
			err = refusal(err)
		}
	}
	if err != nil {
		requireCoded(t, err, CodeParseFailed, CodeLimitExceeded, CodeSchemaInvalid, CodeUnsafeInput)
	}
	// Generous: a text that is read in quadratic time takes many times as long.
	// Each takes milliseconds; what is not linear would take hours. The bound
	// leaves room for a busy machine.
	require.Less(t, time.Since(start), time.Minute, "%.20q", text)
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return data
}
