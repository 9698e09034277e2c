// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue/jsonvaluetest"
)

// FuzzFast: what is scanned in runs is what is scanned value by value, error, place and
// tape, and the canonical form that is copied from a text is the one that is made of
// the values in it.
func FuzzFast(f *testing.F) {
	seeds(f)
	for _, size := range []int{128, 512} {
		f.Add(jsonvaluetest.Result(size))
		f.Add(canonicalResult(size))
		f.Add(jsonvaluetest.UntidyResult(size))
	}
	padding := strings.Repeat(" ", runEnd)
	for _, text := range []string{
		`[{"b":1,"a":2},{"b":-1,"a":0.5},{"b":1.50,"a":12345678},{"b":1.0000000,"a":1e5},{"b":01,"a":1}]`,
		`[{"b":1,"a":2},{"b": true,"a": false}, {"b":null,"a":"x\n\"\/"},{"b":"\u00e9","a":[]},{"a":{},"b":nul}]`,
		"[{\"b\":1,\"a\":2},\n  {\n    \"b\": 1,\n    \"a\": \"twelve letters\"\n  },{\"b\":2,\"b\":3},{\"b\":\"\x01\"}]",
		`[{"a_key_of_more_than_sixteen_bytes":"é","a":1},{"a_key_of_more_than_sixteen_bytez":"é"},{"a_key_of_more_than_sixteen_bytes":1 ,"a":1}]`,
		"[{\"b\":1,\"a\":2},{\"b\":   1   ,   \"a\"   :   [   ]},{\"b\":\n  1,\n  \"a\":\n  2}]",
		`["1234567","12345678","123456789","\\",1,12,1234567,12345678,0.1,0.0,-0.0,10.10,1.2345678,truer]`,
	} {
		for i := range len(padding) {
			f.Add(text + padding[i:]) // which is where runs end
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		quick, careful := newScanner(), newScanner()
		quick.text, careful.text, careful.careful = text, text, true
		// Runs need room; what came before has left some.
		quick.pending = make([]node, 0, 8)
		want, got := careful.scan(), quick.scan()
		require.Equal(t, want, got)
		if want != nil {
			return
		}
		require.Equal(t, careful.nodes, quick.nodes)
		require.Equal(t, careful.shapes, quick.shapes)
		require.Equal(t, careful.pending, quick.pending)

		v, err := Parse(text)
		if err != nil {
			return // it is not UTF-8
		}
		made, madeErr := rebuild(v).AppendCanonical(nil)
		copied, copiedErr := v.AppendCanonical(nil)
		require.Equal(t, madeErr == nil, copiedErr == nil)
		if madeErr == nil {
			require.Equal(t, string(made), string(copied))
			room := make([]byte, 0, 2*len(text)+256) // where parts are copied as words
			copied, _ = v.AppendCanonical(room)
			require.Equal(t, string(made), string(copied))
		}
	})
}
