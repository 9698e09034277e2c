// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

func parse(t require.TestingT, text string) jsonvalue.Value {
	v, err := jsonvalue.Parse(text)
	require.NoError(t, err, text)
	return v
}

// textBlocks makes MCP text blocks.
func textBlocks(texts ...string) jsonvalue.Value {
	var list []jsonvalue.Value
	for _, text := range texts {
		list = append(list, jsonvalue.Object(
			jsonvalue.Member{Key: "type", Value: jsonvalue.String("text")},
			jsonvalue.Member{Key: "text", Value: jsonvalue.String(text)},
		))
	}
	return jsonvalue.Array(list...)
}

// Which content blocks are a rendering of the structure beside them.
func TestRenders(t *testing.T) {
	for _, tc := range []struct {
		structure string
		blocks    []string
		want      bool
	}{
		// The structure, however it is written.
		{`{"id":"A","n":1}`, []string{`{ "n": 1.0, "id": "A" }`}, true},
		{`{"id":"A","n":1}`, []string{`{"id":"B","n":1}`}, false},
		{`{"id":"A","n":1}`, []string{`{"id":"A"}`}, false},
		{`{"id":"A","n":1}`, []string{`{"id":"A","n":1}`, `{"id":"A","n":1}`}, true},
		{`{"id":"A","n":1}`, []string{`{"id":"A","n":1}`, `{"id":"B","n":1}`}, false},
		{`{"id":"A"}`, []string{`"{\"id\":\"A\"}"`}, true},
		{`{"note":"a very long note about something"}`, []string{`{"note":"a very long…"}`}, true},

		// No JSON, and no blocks: a rendering.
		{`{"id":"A"}`, nil, true},
		{`{"id":"A"}`, []string{"Order A"}, true},
		{`{"id":"A"}`, []string{"{'id': 'B'}"}, true},
		{`{"id":"A"}`, []string{`{"id":"B"… [truncated]`}, true},
		{`{"id":"A"}`, []string{"Order A:", `{"id":"A"}`}, true},
		{`{"id":"A"}`, []string{"Order A:", `{"id":"B"}`}, false},

		// Its only member result.
		{`{"result":{"id":"A"}}`, []string{`{"id":"A"}`}, true},
		{`{"result":{"id":"A"}}`, []string{`{"result":{"id":"A"}}`}, true},
		{`{"result":{"id":"A"}}`, []string{`{"id":"B"}`}, false},
		{`{"result":5}`, []string{"5"}, true},
		{`{"result":5}`, []string{"6"}, false},
		{`{"result":"5"}`, []string{"5"}, true},
		{`{"result":"5"}`, []string{"6"}, false},
		{`{"result":"null"}`, []string{"null"}, true},
		{`{"result":null}`, []string{"null"}, true},
		{`{"result":"{\"a\":1}"}`, []string{`{"a":1}`}, true},
		{`{"result":"sent"}`, []string{`"sent"`}, true},
		{`{"result":[],"more":1}`, []string{"[1]"}, false},

		// One block for each element of a list.
		{`{"result":[]}`, nil, true},
		{`{"result":[]}`, []string{"[]"}, true},
		{`{"result":[]}`, []string{`{"id":"A"}`}, false},
		{`{"result":[{"id":"A"},{"id":"B"}]}`, []string{`{"id":"A"}`, `{"id":"B"}`}, true},
		{`{"result":[{"id":"A"},{"id":"B"}]}`, []string{`{"id":"B"}`, `{"id":"A"}`}, false},
		{`{"result":[{"id":"A"},{"id":"B"}]}`, []string{`{"id":"A"}`}, false},
		{`{"result":[{"id":"A"},{"id":"B"}]}`, []string{`{"id":"A"}`, `{"id":"B"}`, `{"id":"C"}`}, false},
		{`{"result":[{"id":"A"},{"id":"B"}]}`, []string{"Found 2:", `{"id":"A"}`, `{"id":"B"}`}, true},
		{`{"result":[{"id":"A"},{"id":"B"}]}`, []string{`[{"id":"A"},{"id":"B"}]`}, true},
		{`{"result":["a","7","b"]}`, []string{"a", "7", "b"}, true},
		{`{"result":["a","7","b"]}`, []string{"a", "8", "b"}, false},
		{`{"result":[1,2]}`, []string{"1", "2"}, true},
		{`{"result":[1,2]}`, []string{"2", "1"}, false},
		{`{"result":[[1,2],[null,3]]}`, []string{"1", "2", "3"}, true},
		{`{"result":[null,{"id":"A"}]}`, []string{`{"id":"A"}`}, true},
		{`{"orders":[{"id":"A"}],"total":1}`, []string{`{"id":"A"}`}, true},
		{`{"orders":[{"id":"A"}],"total":1}`, []string{`{"id":"B"}`}, false},
		{`{"orders":[],"total":0}`, []string{"[]"}, true},
		{`{"page":{"orders":[{"id":"A"}]}}`, []string{`{"id":"A"}`}, true},
		{`{"orders":[{"id":"A"}],"tags":["x"]}`, []string{`{"id":"A"}`}, false},

		// The one value that matters.
		{`{"temperature":22.5,"unit":"C"}`, []string{"22.5"}, true},
		{`{"temperature":22.5,"unit":"C"}`, []string{"23"}, false},
		{`{"temperature":22.5,"unit":"C"}`, []string{"22.5", "23"}, false},
		{`{"found":null,"id":7}`, []string{"null"}, true},
	} {
		t.Run(tc.structure+" "+strings.Join(tc.blocks, " "), func(t *testing.T) {
			require.Equal(t, tc.want, renders(parse(t, tc.structure), textBlocks(tc.blocks...)))
		})
	}
	require.True(t, renders(parse(t, `{"a":1}`), parse(t, `[{"json":{"a":1}}]`)))
	require.False(t, renders(parse(t, `{"a":1}`), parse(t, `[{"json":{"a":2}}]`)))
	require.True(t, renders(parse(t, `{"a":1}`), parse(t, `[{"type":"image","data":"{}"},"{}",7]`)))
}

// A list with a block for each element agrees, and no other order of elements that
// differ does.
func TestRendersInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		elements := rapid.SliceOfN(rapid.SampledFrom([]string{`{"id":"A"}`, `{"id":"B"}`, `{"id":1}`, "1", "2.0", `"x"`, "true", `{"id":[1]}`}), 1, 6).Draw(t, "elements")
		blocks := rapid.Permutation(elements).Draw(t, "blocks")
		same := true
		for i := range elements {
			same = same && elements[i] == blocks[i]
		}
		structure := parse(t, `{"result":[`+strings.Join(elements, ",")+`]}`)
		require.True(t, renders(structure, textBlocks(elements...)))
		require.Equal(t, same, renders(structure, textBlocks(blocks...)), fmt.Sprint(elements, blocks))
		require.False(t, renders(structure, textBlocks(append(blocks, `{"id":"C"}`)...)))
	})
}

// A structure and what a text block holds of it are one answer.
func TestSameAnswer(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{`{"result":[1]}`, `[1]`, true},
		{`{"result":[1]}`, `1`, true},
		{`{"result":[1,2]}`, `1`, false},
		{`{"result":{"a":1}}`, `{"a":1}`, true},
		{`{"result":{"a":1}}`, `{"a":2}`, false},
		{`{"orders":[{"id":"A"}],"total":1}`, `{"id":"A"}`, true},
		{`{"orders":[{"id":"A"}],"total":1}`, `[{"id":"A"}]`, true},
		{`{"orders":[{"id":"A"}],"total":1}`, `{"id":"B"}`, false},
		{`{"a":1}`, `{"a":2}`, false},
		{`[]`, `{"result":[]}`, true},
	} {
		a, b := parse(t, tc.a), parse(t, tc.b)
		require.Equal(t, tc.want, SameAnswer(a, b), "%s %s", tc.a, tc.b)
		require.Equal(t, tc.want, SameAnswer(b, a), "%s %s", tc.b, tc.a)
	}
}

func TestLists(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":[],"b":{"c":[1],"d":{"e":[[2]]}},"f":1}`: "a:0 b.c:1 b.d.e:1",
		`{"a":1}`:        "",
		`[[],[]]`:        "",
		`"x"`:            "",
		`{"a":{"b":{}}}`: "",
	} {
		var got []string
		Lists(parse(t, text), func(path []string, list jsonvalue.Value) {
			got = append(got, fmt.Sprintf("%s:%d", strings.Join(path, "."), list.Len()))
		})
		require.Equal(t, want, strings.Join(got, " "), text)
	}
	deep := strings.Repeat(`{"a":`, 2*maxListDepth) + `[]` + strings.Repeat(`}`, 2*maxListDepth)
	require.False(t, OnlyEmptyLists(parse(t, deep)), "too deep to be looked at")
	for text, want := range map[string]bool{
		`{"a":[],"total":0}`: true, `{"a":[],"b":{"c":[]}}`: true, `{"a":[],"b":[1]}`: false, `{"a":[[]]}`: false, `{"a":1}`: false, `[]`: false, `{}`: false,
	} {
		require.Equal(t, want, OnlyEmptyLists(parse(t, text)), text)
	}
}

func TestNothing(t *testing.T) {
	for _, text := range []string{"", " \t\r\n", "None", "null", "undefined", "nil", " None\n"} {
		require.True(t, Nothing(text), text)
	}
	for _, text := range []string{"none", "NULL", "None.", "null null", "No results found", "[]", "0", "false", "nothing"} {
		require.False(t, Nothing(text), text)
	}
}
