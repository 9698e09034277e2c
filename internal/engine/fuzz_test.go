// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// seeds calls add with the texts of the measured answers.
func seeds(f *testing.F, add func(row *conformanceRow)) {
	f.Helper()
	var t testing.T
	n := 0
	eachRow(&t, filepath.Join("testdata", "conformance"), func(_ string, line []byte) {
		var row conformanceRow
		if n++; n%3 == 0 && json.Unmarshal(line, &row) == nil {
			add(&row)
		}
	})
}

// requireCoded wants a refusal to have one of the codes.
func requireCoded(t *testing.T, err error, codes ...ErrorCode) {
	t.Helper()
	var coded *Error
	require.True(t, errors.As(err, &coded), "%v", err)
	require.Contains(t, codes, coded.Code)
}

func canonicalOf(t require.TestingT, v jsonvalue.Value) string {
	b, err := v.AppendCanonical(nil)
	require.NoError(t, err)
	return string(b)
}

// requireFixedPoint wants the canonical form of a value, if it has one, to be the
// canonical form of what it is read as.
func requireFixedPoint(t *testing.T, v jsonvalue.Value) {
	t.Helper()
	text, err := v.AppendCanonical(nil)
	if err != nil {
		requireCoded(t, refusal(err), CodeSchemaInvalid, CodeLimitExceeded)
		return
	}
	require.True(t, utf8.Valid(text))
	require.True(t, json.Valid(text), "%s", text)
	again, err := jsonvalue.Parse(string(text))
	require.NoError(t, err)
	require.Equal(t, string(text), canonicalOf(t, again))
	require.True(t, jsonvalue.Equal(v, again))
}

// FuzzDocument: any bytes are a document or refused with a code, and what is read has a
// canonical form that is a fixed point.
func FuzzDocument(f *testing.F) {
	seeds(f, func(row *conformanceRow) {
		for _, text := range []*string{row.InputText, row.ContractText, row.JSONText} {
			if text != nil {
				f.Add([]byte(*text))
			}
		}
	})
	f.Add([]byte("\xff\xfe{\x00}\x00"))
	f.Add([]byte(`{"b":1,"a":2,"b":{"\ud83d\ude00":-0.0}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ParseDocument(data, FormatJSON)
		if err != nil {
			requireCoded(t, err, CodeParseFailed, CodeLimitExceeded, CodeSchemaInvalid)
			return
		}
		requireFixedPoint(t, v)
		if body, err := jsonvalue.Parse(string(data)); err == nil && utf8.Valid(data) {
			require.True(t, jsonvalue.Equal(v, body))
		}
	})
}

// FuzzYAML: any text is read or refused with a code, and what is read is what its
// canonical form says in JSON.
func FuzzYAML(f *testing.F) {
	seeds(f, func(row *conformanceRow) {
		if row.Format == "yaml" && row.InputText != nil {
			f.Add(*row.InputText)
		}
		if row.ContractFormat == "yaml" && row.ContractText != nil {
			f.Add(*row.ContractText)
		}
	})
	f.Fuzz(func(t *testing.T, text string) {
		v, err := ParseDocument([]byte(text), FormatYAML)
		if err != nil {
			requireCoded(t, err, CodeParseFailed, CodeLimitExceeded, CodeSchemaInvalid, CodeUnsafeInput)
			return
		}
		requireFixedPoint(t, v)
	})
}

// FuzzContract: any text is a contract or refused with a code, and a contract
// that is accepted is valid.
func FuzzContract(f *testing.F) {
	seeds(f, func(row *conformanceRow) {
		if row.ContractText != nil {
			f.Add([]byte(*row.ContractText), row.ContractFormat == "yaml")
		}
	})
	f.Fuzz(func(t *testing.T, data []byte, yaml bool) {
		format := FormatJSON
		if yaml {
			format = FormatYAML
		}
		doc, err := ParseDocument(data, format)
		if err != nil {
			return
		}
		c, err := DecodeContract(doc)
		if err != nil {
			requireCoded(t, err, CodeContractInvalid, CodeSchemaInvalid)
			return
		}
		require.NoError(t, c.Validate())
		_, err = c.Check(doc, benchmarkNow, nil) // as an input it is a strange one
		if err != nil {
			requireCoded(t, err, CodeSchemaInvalid, CodeLimitExceeded, CodeParseFailed, CodeUnsafeInput)
		}
	})
}

// FuzzFixture: any text is a fixture or refused with a code, and replaying one
// twice gives one outcome, or one code.
func FuzzFixture(f *testing.F) {
	for _, pattern := range []string{"testdata/conformance/fixtures/*.yaml", "../../fixtures/*/*.yaml"} {
		names, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, name := range names {
			f.Add(readFile(f, name))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := ParseDocument(data, FormatYAML)
		if err != nil {
			return
		}
		fixture, err := DecodeFixture(doc)
		if err != nil {
			requireCoded(t, err, CodeContractInvalid, CodeSchemaInvalid)
			return
		}
		first, report, err := fixture.Replay(benchmarkNow, nil)
		second, _, again := fixture.Replay(benchmarkNow, nil)
		require.Equal(t, first, second)
		require.Equal(t, err, again)
		if err != nil {
			requireCoded(t, err, CodeSchemaInvalid, CodeParseFailed, CodeUnsafeInput, CodeLimitExceeded)
			return
		}
		require.Equal(t, first.Decision == Rejected, report.Record.Fingerprint == "")
		require.NotEmpty(t, first.ReasonCodes)
	})
}
