// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package testkit has what the tests of several packages share.
package testkit

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// RequireSchema fails the test unless a JSON document is valid by the JSON Schema in
// a file.
func RequireSchema(t testing.TB, file string, document []byte) {
	t.Helper()
	file, err := filepath.Abs(file)
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile(file)
	require.NoError(t, err)
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(value))
}
