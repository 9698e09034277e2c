// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// A contract at a limit is valid, and one past it is not.
func TestContractLimits(t *testing.T) {
	contract := func(fields []jsonvalue.Value) error {
		doc, err := ParseDocument([]byte(`{"schema_version":"1","claim_type":"found","freshness":{"mode":"not_required"},"source_ref":"s","target_ref":"t","required_fields":[]}`), FormatJSON)
		require.NoError(t, err)
		var members []jsonvalue.Member
		for i := range doc.Len() {
			key, v := doc.Member(i)
			if key == "required_fields" {
				v = jsonvalue.Array(fields...)
			}
			members = append(members, jsonvalue.Member{Key: key, Value: v})
		}
		_, err = DecodeContract(jsonvalue.Object(members...))
		return err
	}
	fields := func(n int) (list []jsonvalue.Value) {
		for i := range n {
			list = append(list, jsonvalue.String(fmt.Sprint("f", i)))
		}
		return list
	}
	require.NoError(t, contract(fields(maxRequiredFields)))
	requireCoded(t, contract(fields(maxRequiredFields+1)), CodeContractInvalid)
	for _, character := range []string{"x", "é", "😀"} {
		require.NoError(t, contract([]jsonvalue.Value{jsonvalue.String(strings.Repeat(character, maxFieldName))}))
		requireCoded(t, contract([]jsonvalue.Value{jsonvalue.String(strings.Repeat(character, maxFieldName+1))}), CodeContractInvalid)
	}
}
