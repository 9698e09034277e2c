// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package yaml11

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// texts are YAML texts and their values: the canonical form, "no form" for a value that
// has none, or the kind of the error.
var texts = []struct{ text, want string }{
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
	{"0b_", "malformed"},
	{"0x_", "malformed"},
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
	{".inf", "no form"},
	{"-.INF", "no form"},
	{".nan", "no form"},
	{"1.0e+400", "no form"},
	{"2026-08-21", "no form"},
	{"2026-8-1 1:02:03", "no form"},
	{"[2026-8-1 1:02:03]", "no form"},
	{"2026-8-1", `"2026-8-1"`},
	{"2:" + strings.Repeat("2:", 172) + "2.25", "8.481946928930904e+307"},
	{"0:" + strings.Repeat("0:", 173) + "0.0", "malformed"},
	{"2026-8-1", `"2026-8-1"`},
	{"2026-02-30", "malformed"},
	{"2026-08-21T10:00:00+23:59", "no form"},
	{"2026-08-21T10:00:00+24:00", "malformed"},
	{"0000-01-01", "malformed"},
	{"a b", `"a b"`},
	{"a\n b\n\n c", `"a b\nc"`},
	{"a:b", `"a:b"`},
	{"a#b", `"a#b"`},
	{"a #b", `"a"`},
	{"-a", `"-a"`},
	{"--", `"--"`},
	{"?a", `"?a"`},
	{"a\tb", "malformed"},
	{"@a", "malformed"},
	{"`a", "malformed"},
	{"%a", "malformed"},
	{"\ta", "malformed"},
	{"=", "unsafe"},
	{"<<", "unsafe"},
	{"a: =", "unsafe"},
	{"=: 1", `{"=":1}`},
	{`"<<": 1`, `{"<<":1}`},

	{"a\u00a0b", "\"a\u00a0b\""},
	{"a \ufeffb", "\"a \ufeffb\""},
	{"a\n\ufeffb: 1", "malformed"},

	// Quoted scalars.
	{"'it''s'", `"it's"`},
	{`'a\n'`, `"a\\n"`},
	{`"a\tb\x41\u00e9\U0001F600\e\_"`, `"a\tbAé😀\u001b` + "\u00a0" + `"`},
	{"\"a \n  b\"", `"a b"`},
	{"\"a\\\n  b\"", `"ab"`},
	{"'a\n\n\n b'", `"a\n\nb"`},
	{`"a\/b\\/c"`, `"a/b\\/c"`},
	{`'a\/b'`, `"a\\/b"`},
	{`a\/b\'`, `"a\\/b\\'"`},
	{`'\'`, `"\\"`},
	{`"\'"`, "malformed"},
	{`"\q"`, "malformed"},
	{`"\x4"`, "malformed"},
	{`"\U00110000"`, "malformed"},
	{`"\ud83d\ude00"`, "half"},
	{`"\uD8xx"`, "malformed"},
	{`'\ud83d'`, `"\\ud83d"`},
	{`["\ue000\U000F0000\/", "\ue001", '']`, "[\"\ue000\U000F0000/\",\"\ue001\",\"\ue002\"]"},
	{`"a`, "malformed"},
	{"'a\n---\n'", "malformed"},
	{`"1"`, `"1"`},
	{`"a" b`, "malformed"},

	// Tabs.
	{"'a\tb'", `"a\tb"`},
	{"'a\t\n \tb'", `"a b"`},
	{"'a\n---\tb'", "malformed"},
	{"'a\n ---\tb'", `"a ---\tb"`},
	{"---\ta", "malformed"},
	{"\"a\\\t\n b\"", `"a\t b"`},
	{"[\"\\t\", \"\\x09\"]\t", "malformed"},
	{"# \ta\na: 1 #\t", `{"a":1}`},
	{"a:\t1", "malformed"},
	{"a: 1\t# c", "malformed"},
	{"a: 1\n\t\nb: 2", "malformed"},
	{"[a,\tb]", "malformed"},
	{"|\n a\tb\n \tc", `"a\tb\n\tc"`},
	{"|\n \ta\n b", `"\ta\nb"`},
	{">\n a\n \tb\n c", `"a\n\tb\nc"`},
	{"|\t\n a", "malformed"},
	{"!!str\ta", "malformed"},
	{"%FOO\ta\n--- 1", "malformed"},

	// Blocks.
	{"|\n a\n b\n", `"a\nb\n"`},
	{">\n a\n b\n\n c\n", `"a b\nc\n"`},
	{"|-\n a\n\n", `"a"`},
	{"|+\n a\n\n", `"a\n\n"`},
	{"|2\n   a\n", `" a\n"`},
	{"|+1\n  a\n", `" a\n"`},
	{"|0\n a", "malformed"},
	{"|#x\n a", "malformed"},
	{"| # x\n a", `"a"`},
	{"|x\n a", "malformed"},
	{">\n a\n   b\n c\n", `"a\n  b\nc\n"`},
	{"a: |\nb: 1", `{"a":"","b":1}`},

	// Collections.
	{"- a\n- - b\n  - c\n-\n", `["a",["b","c"],null]`},
	{"a:\n- 1\n- 2\nb: 3", `{"a":[1,2],"b":3}`},
	{"a: 1\na: 2", `{"a":2}`},
	{"a: 1\n b: 2", "malformed"},
	{"a\nb: 1", "malformed"},
	{"a: b: c", "malformed"},
	{"- a\nb: 1", "malformed"},
	{"-\ta", "malformed"},
	{"? a\n: 1\n? b", `{"a":1,"b":null}`},
	{"? |\n  a\n: 1", `{"a\n":1}`},
	{"? [a]\n: 1", "unsafe"},
	{"{a: b}: 1", "unsafe"},
	{"{}: 1", "unsafe"},
	{"1: a", "no form"},
	{"[a, b: c, {d: e}, ]", `["a",{"b":"c"},{"d":"e"}]`},
	{"[a, [b]]", `["a",["b"]]`},
	{"[]", "[]"},
	{"{}", "{}"},
	{"{a, b: 1, c: }", `{"a":null,"b":1,"c":null}`},
	{"{a:1}", `{"a:1":null}`},
	{`{"a":1}`, `{"a":1}`},
	{`"a":1`, "malformed"},
	{"[a b]", `["a b"]`},
	{"{a:[1],b:{c:}}", `{"a":[1],"b":{"c":null}}`},
	{"[a:,b:]", `[{"a":null},{"b":null}]`},
	{`[":\t[", ":[", a:]`, `[":\t[",":[",{"a":null}]`},
	{`{a:[b:{}], "c:[\u00e9": "d:,e"}`, `{"a":[{"b":{}}],"c:[é":"d:,e"}`},
	{"{a:[b], 'c:]': d}", `{"a":["b"],"c:]":"d"}`},
	{"a:[b", `"a:[b"`},
	{"- a:[b]\n- 'c:{'", `["a:[b]","c:{"]`},
	{"? [a]:[b]", "malformed"},
	{"[? a : b, ? c]", `[{"a":"b"},{"c":null}]`},
	{"{? , a}", "no form"},
	{"[?]", "no form"},
	{"[?]]", "malformed"},
	{"[a?]", "malformed"},
	{"[? , : a]", "malformed"},
	{"[!!str ?]", "malformed"},
	{"[? !!str : a]", `[{"":"a"}]`},
	{"[a\n b]", `["a b"]`},
	{"[,]", "malformed"},
	{"[a,,b]", "malformed"},
	{"[a", "malformed"},
	{"[a}", "malformed"},
	{"]", "malformed"},
	{"{a]: 1", "malformed"},
	{"[a]: 1", "unsafe"},
	{"[a?b]", "malformed"},
	{"[\n'a'\n: b]", "malformed"},
	{strings.Repeat("k", 1024) + ": 1", `{"` + strings.Repeat("k", 1024) + `":1}`},
	{strings.Repeat("k", 1025) + ": 1", "malformed"},

	// Merging.
	{"<<: {a: 1, b: 2}\nb: 3", `{"a":1,"b":3}`},
	{"<<: [{a: 1}, {a: 2, b: 2}]", `{"a":1,"b":2}`},
	{"<<: [1]", "unsafe"},
	{"<<: 1", "unsafe"},
	{"<<: {<<: {a: 1}}", `{"a":1}`},

	// Documents.
	{"--- a", `"a"`},
	{"---\n...\n", "null"},
	{"a\n...\n", `"a"`},
	{"a\n---\nb", "malformed"},
	{"a: 1\n...\nb: 2", "malformed"},
	{"---\n---\n", "malformed"},
	{"%YAML 1.1\n--- a", `"a"`},
	{"%YAML 1.9\n--- a", `"a"`},
	{"%YAML 2.0\n--- a", "malformed"},
	{"%YAML 1." + strings.Repeat("0", 4300) + "\n--- a", `"a"`},
	{"%YAML 1." + strings.Repeat("0", 4301) + "\n--- a", "limit"},
	{"%YAML 1.1\n%YAML 1.1\n--- a", "malformed"},
	{"%FOO x\n--- a", `"a"`},
	{"# c\n\n%YAML 1.2 # d\n%FOO\n# e\n---\na", `"a"`},
	{"%YAML 1.1", "malformed"},
	{"%YAML 1.1\n---a", "malformed"},
	{"%YAML 1.1#c\n--- a", "malformed"},
	{"%YAML\n--- a", "malformed"},
	{"%\n--- a", "malformed"},
	{"%YAML 1.1\na", "malformed"},
	{"# c\na: 1 # d", `{"a":1}`},
	{"\ufeffa: 1", `{"a":1}`},
	{"a\x00", "malformed"},
	{"a\x7f", "malformed"},
	{"a\ufffe", "malformed"},
	{"a\r\nb", `"a b"`},
	{"a\u2028b", `"a` + "\u2028" + `b"`},

	// Tags, anchors and aliases.
	{"!!str 1", `"1"`},
	{"!!int '5'", "5"},
	{"!!int ' 0x1F'", "malformed"},
	{"!!int 0o17", "15"},
	{"!!int x", "malformed"},
	{"!!int", "malformed"},
	{"!!float 1e3", "1000.0"},
	{"!!float inf", "no form"},
	{"!!float 0x1p3", "malformed"},
	{"!!bool On", "true"},
	{"!!bool 1", "malformed"},
	{"!!null x", "null"},
	{"!!timestamp x", "malformed"},
	{"!!timestamp '2026-08-21'", "no form"},
	{"[!!timestamp 2026-8-1]", "no form"},
	{"!!timestamp 2026-8-32", "malformed"},
	{"!!timestamp 2026-8-1 1:2:3", "malformed"},
	{"!!int \"\\x1c5\"", "malformed"},
	{"!!seq [a]", `["a"]`},
	{"!!map {a: 1}", `{"a":1}`},
	{"!!seq {a: 1}", "unsafe"},
	{"!!map [a]", "unsafe"},
	{"!!str [a]", "unsafe"},
	{"!!str {=: a}", `"a"`},
	{"!!map x: 1", "unsafe"},
	{"!<tag:yaml.org,2002:str> 1", `"1"`},
	{"%TAG !y! tag:yaml.org,2002:\n--- !y!str 1", `"1"`},
	{"!y!str 1", "malformed"},
	{"!!%73tr 1", `"1"`},
	{"! 1", "unsafe"},
	{"a: !", "unsafe"},
	{"[!<!> a]", "unsafe"},
	{"a! b: c! d", `{"a! b":"c! d"}`},
	{"? a\n!!str b: 1", `{"a":null,"b":1}`},
	{"!x 1", "unsafe"},
	{"!!binary eA==", "unsafe"},
	{"!!set {a}", "unsafe"},
	{"!!omap [a: 1]", "unsafe"},
	{"!!python/object/apply:os.system [x]", "unsafe"},
	{"!!merge x", "unsafe"},
	{"!!python/name:x [", "malformed"},
	{"&a 1", "unsafe"},
	{"*a", "unsafe"},
	{"[&a 1, *a]", "unsafe"},
	{"[&a : 1]", "unsafe"},
	{"a: *x\nb: [", "malformed"},
	{"--- *x\n---\nb: [", "malformed"},
	{"%TAG !e! !\n--- [*x, *y]", "unsafe"},
	{"{*a", "malformed"},
	{"&a &b 1", "malformed"},
	{"& 1", "malformed"},
	{"&a 1\n---\n2", "unsafe"},
}

// deviations are texts whose answers are not those of the reference. The package comment
// lists their kinds.
var deviations = []struct{ text, want, reference string }{
	{"[?\n]", "malformed", "[{null:null}]"},
	{"[? # c\n: b]", "malformed", "[{null:\"b\"}]"},
	{"[?:b]", "malformed", "[{null:\"b\"}]"},
	{"- a? : b\n- [?]", "malformed", `[{"a?":"b"},[{null:null}]]`},
	{"- a:[b\n- [c:[d]]", "malformed", `["a:[b",[{"c":["d"]}]]`},
	{">\n \ta\n b", "malformed", `"\ta\nb"`},
	{"[a:[b], 'c\t\n d']", "malformed", `[{"a":["b"]},"c d"]`},
	{"!!int '٣'", "malformed", "3"},
	{"&a b\n...\n%YAML 1.2\n--- c", "malformed", "unsafe"},
	{"[? a]: b", "malformed", "unsafe"},
	{"!%73tr!a b", "unsafe", "malformed"},
	{strings.Repeat("[", 10_001), "limit", "malformed"},
}

var codes = map[ErrorCode]string{CodeMalformed: "malformed", CodeUnsafe: "unsafe", CodeLimitExceeded: "limit", CodeUnencodable: "half"}

// answer returns the value of a text as the tables have it.
func answer(t require.TestingT, text string) string {
	v, err := Parse(text)
	if err != nil {
		e := (*Error)(nil)
		require.True(t, errors.As(err, &e), "%q: %v", text, err)
		require.Less(t, e.Offset, len(text)+1, "%q: %v", text, err)
		return codes[e.Code]
	}
	form, err := v.AppendCanonical(nil)
	if err != nil {
		return "no form"
	}
	return string(form)
}

func TestParse(t *testing.T) {
	for _, tc := range texts {
		require.Equal(t, tc.want, answer(t, tc.text), "%q", tc.text)
	}
}

func TestDeviations(t *testing.T) {
	for _, tc := range deviations {
		require.Equal(t, tc.want, answer(t, tc.text), "%q", tc.text)
	}
}

// TestEmptyKeys: "?" without a key is a pair with the key null.
func TestEmptyKeys(t *testing.T) {
	for text, want := range map[string]string{
		"[?]":                                `[{null: null}]`,
		"[a, ? , b]":                         `["a", {null: null}, "b"]`,
		"[ ?  : a, '?]', \"? :\", ? b]":      `[{null: "a"}, "?]", "? :", {"b": null}]`,
		"- [?,b:[c]]\n- a?]\n- b?: |\n   ?,": `[[{null: null}, {"b": ["c"]}], "a?]", {"b?": "?,"}]`,
	} {
		v, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, show(v), "%q", text)
	}
}

// show returns a value like JSON, with null keys.
func show(v jsonvalue.Value) string {
	var parts []string
	switch v.Kind() {
	case jsonvalue.ArrayKind:
		for i := range v.Len() {
			parts = append(parts, show(v.Index(i)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case jsonvalue.ObjectKind:
		for i := range v.Len() {
			key, value := v.Member(i)
			if v.StringKey(i) {
				key = strconv.Quote(key)
			}
			parts = append(parts, key+": "+show(value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case jsonvalue.StringKind:
		return strconv.Quote(v.Text())
	}
	return v.Kind().String()
}

// TestKeys: of keys that are equal, the last counts. Keys that are no strings are
// compared by value.
func TestKeys(t *testing.T) {
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
		v, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, v.Len(), text)
		_, err = v.AppendCanonical(nil)
		require.Error(t, err, text)
	}
	v, err := Parse("{1: a, x: b, true: c}")
	require.NoError(t, err)
	_, first := v.Member(0)
	require.Equal(t, "c", first.Text(), "the last value, in the place of the first key")
}

// TestOffsets: an error is at the character, or at the start of the line that the library
// names.
func TestOffsets(t *testing.T) {
	for text, want := range map[string]int{
		"ab\x01":                     2,
		"a\xff":                      1,
		"a: [é, }":                   0,
		"a: 1\nb: @":                 5,
		"\ufeffa: 1\r\nb: @":         9,
		"a: 1\u2028b: @":             7,
		"a: b\n- c\n":                5,
		"a: 1\nb:\n  c: 1\n d: 2\n":  15,
		"a: 'b\nc: d\n":              11,
		"a: 1\nb: \"c\td\"\ne: f\tg": 14,
		"a: 1\nb: \"\\'\"":           5,
		"# c\n%YAML 2.0\n---\na":     4,
		"a: 1\nb: [?\n, c]":          5,
		"a: *b\nc: @":                6,
		"a\n---\nb":                  2,
		"- !!int x":                  -1,
		strings.Repeat("\n", 9) + "a: \"b\\ud800\"": -1,
	} {
		_, err := Parse(text)
		e := (*Error)(nil)
		require.True(t, errors.As(err, &e), text)
		require.Equal(t, want, e.Offset, "%q: %v", text, err)
	}
}

// limit is the size of the largest document.
const limit = 131_072

// TestHostileTexts: texts that are built to take time or depth are rejected, or read, in
// about the time that others of their size take.
func TestHostileTexts(t *testing.T) {
	fill := func(head, unit string) string {
		return head + strings.Repeat(unit, (limit-len(head))/len(unit))
	}
	for _, unit := range []string{
		"[", "{", "]", "- ", "? ", "a: ", "-\n", "a:\n", "---\n", "...\n", "!!str ", "!a!", "! ", "&a ", "*a ", "*a\n", "\"", "'", "|\n", ">\n ", "|#",
		"\n", " ", "\t", "#\n", "# a\n #\n\n", "\"\\u0041", "[a,", "{a: ", "{? ", "[[a]: ", "<<: {", "%TAG ! x\n", "%FOO\n", "a\n", "1:", "9", "0x", "_",
		"\r", "\u2028", "\ufeff", "\ue000", "{\"a\":", "[{", "[1,", "a:[", "a:,", "\\", "\\'", "\\t", "-", "a: b # c\n",
	} {
		requireFast(t, fill("", unit))
		if testing.Short() {
			continue
		}
		for _, head := range []string{"a: ", `{"a":`, "|\n ", "'\t\n'\n"} {
			requireFast(t, fill(head, unit))
		}
	}
	for _, pair := range [][2]string{{"[", "]"}, {"{", "}"}, {"{a: ", "}"}, {`{"a":`, "}"}, {"[[", "],a]"}, {"<<: {", "}"}, {"{<<: ", "}"}} {
		n := limit / (len(pair[0]) + len(pair[1]))
		requireFast(t, strings.Repeat(pair[0], n)+strings.Repeat(pair[1], n))
	}
	// The library goes through all comments at the end of each block.
	for _, comments := range []string{"#\n", " #\n#\n", "  #\n #\n#\n"} {
		for _, block := range []string{"- ", "? "} {
			deep := strings.Repeat(block, 9000) + "a\n"
			require.Equal(t, "limit", answer(t, fill(deep, comments)))
		}
	}
}

func requireFast(t *testing.T, text string) {
	t.Helper()
	start := time.Now()
	answer(t, text)
	// Each takes some ten milliseconds. What takes quadratic time takes more than this, on
	// a machine that has time; the bound leaves room for a busy one.
	require.Less(t, time.Since(start), 10*time.Second, "%.20q", text)
}

// jsonValues are JSON values that YAML 1.1 has in the same form: it takes floats with
// an exponent, and no point, for strings.
func jsonValues(depth int) *rapid.Generator[jsonvalue.Value] {
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab0é日😀\"\\/'\n\t\u0001:,[]{}#&*!|>%@`-?=<~ \u00a0\ufeff\ue000\ue001")))
	return rapid.Custom(func(t *rapid.T) jsonvalue.Value {
		switch rapid.IntRange(0, 5+2*min(depth, 1)).Draw(t, "kind") {
		case 0:
			return jsonvalue.Null()
		case 1:
			return jsonvalue.Bool(rapid.Bool().Draw(t, "bool"))
		case 2:
			return jsonvalue.Int(rapid.Int64().Draw(t, "int"))
		case 3, 4, 5:
			return jsonvalue.String(text.Draw(t, "string"))
		case 6:
			return jsonvalue.Array(rapid.SliceOfN(jsonValues(depth-1), 0, 4).Draw(t, "array")...)
		}
		var members []jsonvalue.Member
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			members = append(members, jsonvalue.Member{Key: text.Draw(t, "key"), Value: jsonValues(depth-1).Draw(t, "value")})
		}
		return jsonvalue.Object(members...)
	})
}

// TestJSON: JSON is YAML.
func TestJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		form, err := jsonValues(3).Draw(t, "value").AppendCanonical(nil)
		require.NoError(t, err)
		var indented bytes.Buffer
		require.NoError(t, json.Indent(&indented, form, "", "  "))
		for _, text := range []string{string(form), indented.String(), strings.ReplaceAll(string(form), "/", `\/`)} {
			require.Equal(t, string(form), answer(t, text), "%q", text)
		}
	})
}

// FuzzParse: any text is parsed, or rejected with an offset in the text, and the canonical
// form of a value is JSON of the same value.
func FuzzParse(f *testing.F) {
	for _, tc := range texts {
		f.Add(tc.text)
	}
	names, err := filepath.Glob("../engine/testdata/conformance/fixtures/*.yaml")
	require.NoError(f, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		form := answer(t, text)
		v, err := Parse(text)
		if err != nil || form == "no form" {
			return
		}
		again, err := jsonvalue.Parse(form)
		require.NoError(t, err)
		require.True(t, jsonvalue.Equal(v, again))
	})
}
