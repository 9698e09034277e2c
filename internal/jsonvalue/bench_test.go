// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue/jsonvaluetest"
)

// canonicalResult returns [jsonvaluetest.Result] in canonical form.
func canonicalResult(size int) string {
	v, err := Parse(jsonvaluetest.Result(size))
	if err != nil {
		panic(err)
	}
	text, err := v.AppendCanonical(nil)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// BenchmarkSteps measures parsing a text and writing the canonical form of its value.
func BenchmarkSteps(b *testing.B) {
	const size = 64 << 10
	for name, text := range map[string]string{
		"json": jsonvaluetest.Result(size), "canonical": canonicalResult(size), "untidy": jsonvaluetest.UntidyResult(size),
	} {
		v, err := Parse(text)
		require.NoError(b, err)
		b.Run("parse/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("canonical/"+name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			room := make([]byte, 0, 2*len(text))
			for b.Loop() {
				if _, err := v.AppendCanonical(room); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
