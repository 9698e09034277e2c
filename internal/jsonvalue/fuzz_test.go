// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue/jsonvaluetest"
)

// eachLine calls f with every line of the measured answers of the reference.
func eachLine(t testing.TB, f func(line string)) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "engine", "testdata", "conformance", "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			f(line)
		}
	}
}

// seeds adds texts that the reference was asked about.
func seeds(f *testing.F) {
	f.Helper()
	n := 0
	eachLine(f, func(line string) {
		var row struct {
			InputText    string `json:"input_text"`
			ContractText string `json:"contract_text"`
			JSONText     string `json:"json_text"`
		}
		if n++; n%3 != 0 || json.Unmarshal([]byte(line), &row) != nil {
			return
		}
		for _, text := range []string{row.InputText, row.ContractText, row.JSONText} {
			if text != "" {
				f.Add(text)
			}
		}
	})
}

// requireFixedPoint wants the canonical form of a value, if it has one, to be the
// canonical form of what it is parsed as.
func requireFixedPoint(t *testing.T, v Value) {
	t.Helper()
	text, err := v.AppendCanonical(nil)
	if err != nil {
		requireCoded(t, err, CodeUnencodable, CodeLimitExceeded)
		return
	}
	require.True(t, utf8.Valid(text))
	require.True(t, json.Valid(text), "%s", text)
	again, err := Parse(string(text))
	require.NoError(t, err)
	require.Equal(t, string(text), canonicalOf(t, again))
	require.True(t, Equal(v, again))
}

// FuzzParse: any text is parsed or an error with a code. The canonical form of a value is
// a fixed point, and that of the same value made of its parts.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Add(`{"b":1,"a":2,"b":{"\ud83d\ude00":-0.0}}`)
	f.Add(jsonvaluetest.Result(512))
	f.Add(jsonvaluetest.UntidyResult(512))
	f.Add(canonicalResult(512))
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse(text)
		if err != nil {
			requireCoded(t, err, CodeMalformed, CodeLimitExceeded, CodeUnencodable)
			return
		}
		requireFixedPoint(t, v)
		made := rebuild(v)
		require.Equal(t, v.Usable(), made.Usable())
		want, wantErr := made.AppendCanonical(nil)
		got, err := v.AppendCanonical(nil)
		require.Equal(t, wantErr == nil, err == nil)
		if err == nil {
			require.Equal(t, string(want), string(got))
		}
	})
}
