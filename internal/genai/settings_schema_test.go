// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai_test

import (
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// The JSON Schema accepts the keys and kinds of values that the loader reads, and no
// others.
func TestSettingsSchema(t *testing.T) {
	var document any
	require.NoError(t, json.Unmarshal(genai.SettingsSchema(), &document))
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("dialects.schema.json", document))
	schema, err := compiler.Compile("dialects.schema.json")
	require.NoError(t, err)
	for text, valid := range map[string]bool{
		ownDialect: true,
		"custom: [{name: a, agent: [{attribute: a, and: [{attribute: b, path: '$', value: true}]}]}]\n":       true,
		"dialects: {custom: [{name: a, tool: [{scope: a}], tool_name: [{attribute: x, path: 'a[0]'}, y]}]}\n": true,
		"custom: [{name: a, agent: [{attribute: a}], transport: false, python: true, result_keys: null}]\n":   true,
		"conversation_attributes: [a, b]\n":                                     true,
		"custom: [{nam: a}]\n":                                                  false,
		"custom: {name: a}\n":                                                   false,
		"custom: [{name: a, tool_name: x}]\n":                                   false,
		"custom: [{name: a, tool_name: [{attribute: x, pth: y}]}]\n":            false,
		"custom: [{name: a, python: [true]}]\n":                                 false,
		"custom: [{name: a, transcript: [{attribute: x, sections: [a: b]}]}]\n": false,
		"other: 1\n": false,
	} {
		var v any
		require.NoError(t, yaml.Unmarshal([]byte(text), &v), text)
		encoded, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(encoded, &v))
		_, read := genai.ReadSettings([]byte(text))
		if valid {
			require.NoError(t, read, text)
			require.NoError(t, schema.Validate(v), text)
		} else {
			require.Error(t, read, text)
			require.Error(t, schema.Validate(v), text)
		}
	}

	// Every key is described.
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case map[string]any:
			if properties, ok := v["properties"].(map[string]any); ok {
				for key, p := range properties {
					require.NotEmpty(t, p.(map[string]any)["description"], "%s.%s", at, key)
				}
			}
			for key, inner := range v {
				walk(inner, at+"/"+key)
			}
		case []any:
			for _, inner := range v {
				walk(inner, at)
			}
		}
	}
	walk(document, "")
}
