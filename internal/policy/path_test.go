// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/theory/jsonpath"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

const pathDocument = `{
	"data": {"customer": {"id": 12345678901234567890123, "name": "Ada", "tags": ["a", "b", "c"]}, "b": 2, "a": 1},
	"list": [{"id": 1, "ok": true}, {"id": 2.0, "ok": false}, {"id": "3"}, {"id": null}],
	"empty": {}, "none": null, "": "empty name", "odd.name": 1.50
}`

func TestPathSelect(t *testing.T) {
	doc := mustJSON(t, pathDocument)
	for _, c := range []struct{ path, want string }{
		{`$`, ""},
		{`$.data.customer.id`, `12345678901234567890123`},
		{`$["data"]['customer'].name`, `"Ada"`},
		{`$.data.customer.tags[0]`, `"a"`},
		{`$.data.customer.tags[-1]`, `"c"`},
		{`$.data.customer.tags[3]`, `null`},
		{`$.data.customer.tags[-4]`, `null`},
		{`$.missing.deeper`, `null`},
		{`$.data[0]`, `null`},
		{`$.list.id`, `null`},
		{`$.none`, `null`},
		{`$[""]`, `"empty name"`},
		{`$['odd.name']`, `1.5`},
		// Several nodes are a list, in the order of the document; one is itself.
		{`$.data.customer.tags[*]`, `["a","b","c"]`},
		{`$.data.customer.tags[1:]`, `["b","c"]`},
		{`$.data.customer.tags[::-1]`, `["c","b","a"]`},
		{`$.data.customer.tags[::2]`, `["a","c"]`},
		{`$.data.customer.tags[5:]`, `null`},
		{`$.data.customer.tags[1:2]`, `"b"`},
		{`$.data.customer.tags[0,0]`, `["a","a"]`},
		{`$.data["b","a"]`, `[2,1]`},
		{`$.data[*]`, `[{"id":12345678901234567890123,"name":"Ada","tags":["a","b","c"]},2,1]`},
		{`$.data.customer.tags.*`, `["a","b","c"]`},
		{`$.empty.*`, `null`},
		{`$..id`, `[12345678901234567890123,1,2.0,"3",null]`},
		{`$..tags[0]`, `"a"`},
		{`$.list[?@.ok].id`, `[1,2.0]`},
		{`$.list[?@.ok == true].id`, `1`},
		{`$.list[?@.id == 2].ok`, `false`},
		{`$.list[?@.id > 1].ok`, `false`},
		{`$.list[?@.id == '3'].id`, `"3"`},
		{`$.list[?@.id == null].id`, `null`},
		{`$.list[?@.id == $.data.a].ok`, `true`},
		{`$.list[?length(@.id) == 1].id`, `"3"`},
		{`$.list[?match(@.id, "[0-9]")].id`, `"3"`},
		{`$.data.customer[?@ == 'Ada']`, `"Ada"`},
	} {
		p, err := ParsePath(c.path)
		require.NoError(t, err, c.path)
		require.Equal(t, c.path, p.String())
		want := doc
		if c.want != "" {
			want = mustJSON(t, c.want)
		}
		got := p.Select(doc)
		wantText, _ := want.AppendCanonical(nil)
		gotText, err := got.AppendCanonical(nil)
		require.NoError(t, err)
		require.Equal(t, wantText, gotText, "%s: got %s", c.path, gotText)
	}
	var none *Path
	require.True(t, jsonvalue.Equal(doc, none.Select(doc)), "no path is the whole")
}

func TestPathErrors(t *testing.T) {
	for _, c := range []struct {
		path   string
		offset int
	}{
		{``, 0},
		{`a`, 0},
		{`$.`, 2},
		{`$[`, 2},
		{`$[?@.a = 1]`, 7},
		{`$.é-x`, 4},
		{`$[01]`, 2},
		{`$[9007199254740992]`, 2},
		{`$[?nope(@)]`, 3},
		{`$..`, 3},
		{"$" + strings.Repeat(".a", maxPatternLength/2), maxPatternLength},
	} {
		_, err := ParsePath(c.path)
		var bad *syntaxError
		require.ErrorAs(t, err, &bad, c.path)
		require.Equal(t, c.offset, bad.offset, "%s: %s", c.path, bad.message)
	}
	// As deep as a path may be long.
	for _, open := range []string{"(", "!(", "@[?", "length("} {
		_, err := ParsePath("$[?" + strings.Repeat(open, (maxPatternLength-3)/len(open)))
		require.Error(t, err)
	}
}

func TestFieldGlob(t *testing.T) {
	doc := mustJSON(t, pathDocument)
	for _, c := range []struct {
		path, glob string
		want       bool
	}{
		{`data.customer.name`, `A*`, true},
		{`$.data.customer.name`, `A*`, true},
		{`data.customer.name`, `B*`, false},
		{`data.customer.id`, `12345678901234567890123`, true},
		{`list[0].ok`, `true`, true},
		{`list[1].id`, `2.0`, true},
		{`list[3].id`, `*`, false},
		{`none`, `*`, false},
		{`missing`, `*`, false},
		{`empty`, `*`, false},
		{`data.customer.tags`, `*`, false},
		{`["odd.name"]`, `1.5`, true},
		{`[""]`, `empty*`, true},
		{`$`, `*`, false},
		{`$.data.customer.tags[*]`, `b`, true},
		{`$.data.customer.tags[*]`, `d`, false},
		{`$..id`, `3`, true},
		{`$.list[?@.ok == false].id`, `2.0`, true},
	} {
		p, err := parseFieldPath(c.path)
		require.NoError(t, err, c.path)
		require.Equal(t, c.want, FieldGlob{Path: p, Glob: mustGlob(t, c.glob)}.Matches(doc), "%s ~ %s", c.path, c.glob)
	}
	require.True(t, AttributeGlob{Glob: mustGlob(t, "1*")}.Matches(jsonvalue.Int(12)))
	require.False(t, AttributeGlob{Glob: mustGlob(t, "*")}.Matches(jsonvalue.Null()))
}

// A selection that touches too much selects nothing, rather than a part.
func TestPathLimit(t *testing.T) {
	doc := mustJSON(t, strings.Repeat("[", 60)+strings.Repeat("1,", 1999)+"1"+strings.Repeat("]", 60))
	p, err := ParsePath("$..*")
	require.NoError(t, err)
	require.Equal(t, 2059, p.Select(doc).Len())
	p, err = ParsePath("$..*..*..*..*")
	require.NoError(t, err)
	require.True(t, p.Select(doc).IsNull())
	require.False(t, FieldGlob{Path: p, Glob: mustGlob(t, "1")}.Matches(doc))
}

// Names, indexes, slices, wildcards and descendants select what the library
// selects, in the order of RFC 9535.
func TestPathAgainstLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawValue(t, 3)
		var b strings.Builder
		b.WriteByte('$')
		for range rapid.IntRange(0, 4).Draw(t, "segments") {
			b.WriteString(rapid.SampledFrom([]string{
				".a", ".b", `["c"]`, "[0]", "[-1]", "[1]", ".*", "[*]", "..a", "..*", "..[0]", "[0,'a']", "['b',*]",
				"[1:]", "[:-1]", "[::-1]", "[3:0:-2]", "[::0]", "..[::-1]", "[?@.a]", "[?@ == 1]", "[?@.a < $[0]]", "[?count(@.*) > 1]",
			}).Draw(t, "segment"))
		}
		text := b.String()
		p, err := ParsePath(text)
		require.NoError(t, err)

		var plain any
		canonical, err := doc.AppendCanonical(nil)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(canonical, &plain))
		var want []string
		for _, n := range jsonpath.MustParse(text).Select(plain) {
			j, err := json.Marshal(n)
			require.NoError(t, err)
			want = append(want, string(j))
		}
		var got []string
		if p.query == nil {
			if v, ok := follow(doc, p.steps); ok {
				got = append(got, string(mustCanonical(t, v)))
			}
		} else {
			for _, n := range p.nodes(doc) {
				got = append(got, string(mustCanonical(t, n)))
			}
		}
		if strings.Contains(string(canonical), "{") {
			slices.Sort(want) // the library has no order among the members of an object
			slices.Sort(got)
		}
		require.Equal(t, want, got, "%s on %s", text, canonical)
	})
}

func mustCanonical(t require.TestingT, v jsonvalue.Value) []byte {
	text, err := v.AppendCanonical(nil)
	require.NoError(t, err)
	return text
}

func drawValue(t *rapid.T, depth int) jsonvalue.Value {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		return jsonvalue.Null()
	case 1:
		return jsonvalue.Bool(rapid.Bool().Draw(t, "bool"))
	case 2:
		return jsonvalue.Int(rapid.Int64Range(0, 3).Draw(t, "int"))
	case 3:
		return jsonvalue.String(rapid.SampledFrom([]string{"", "a", "é"}).Draw(t, "string"))
	case 4:
		list := make([]jsonvalue.Value, rapid.IntRange(0, 4).Draw(t, "elements"))
		for i := range list {
			list[i] = drawValue(t, depth-1)
		}
		return jsonvalue.Array(list...)
	default:
		var members []jsonvalue.Member
		for _, key := range []string{"c", "a", "b"} {
			if rapid.Bool().Draw(t, key) {
				members = append(members, jsonvalue.Member{Key: key, Value: drawValue(t, depth-1)})
			}
		}
		return jsonvalue.Object(members...)
	}
}

// Filters see 1 and 1.0 as equal at any depth, and the digits of what no float
// holds.
func TestPathNumbers(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`1`, `1.0`, true},
		{`[1]`, `[1.0]`, true},
		{`{"x":1}`, `{"x":1.0}`, true},
		{`9007199254740993`, `"9007199254740993"`, false},
		{`[9007199254740993]`, `[9007199254740992]`, false},
		{`[9007199254740993]`, `[9007199254740993]`, true},
		{`[18446744073709551616]`, `[18446744073709551616.0]`, true},
		{`[-9223372036854775808]`, `[-9223372036854775808.0]`, true},
		{`[9223372036854775807]`, `[9223372036854775808]`, false},
	} {
		doc := mustJSON(t, fmt.Sprintf(`{"a": [%s], "b": %s}`, c.a, c.b))
		p, err := ParsePath("$.a[?@ == $.b]")
		require.NoError(t, err)
		require.Equal(t, c.want, !p.Select(doc).IsNull(), "%s == %s", c.a, c.b)
	}
}
