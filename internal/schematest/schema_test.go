// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package schematest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSchema(t *testing.T) {
	s, err := Parse([]byte(`{
		"type": "object", "required": ["a"], "additionalProperties": false,
		"properties": {
			"a": {"$ref": "#/$defs/id"},
			"b": {"type": ["integer", "null"], "minimum": 1, "maximum": 9},
			"c": {"type": "array", "items": {"enum": ["x", "y"]}, "uniqueItems": true, "minItems": 1, "maxItems": 2},
			"d": {"type": "object", "additionalProperties": {"type": "boolean"}, "propertyNames": {"pattern": "^k"}},
			"e": {"anyOf": [{"const": 1}, {"type": "string"}]}
		},
		"$defs": {"id": {"type": "string", "pattern": "^[0-9a-f]+$"}}
	}`))
	require.NoError(t, err)
	for document, want := range map[string][]string{
		`{"a":"0f","b":3,"c":["x","y"],"d":{"k":true},"e":"z"}`: nil,
		`{"a":"0f","b":null,"e":1}`:                             nil,
		`[]`:                                                    {"$: is no object"},
		`{}`:                                                    {"$: lacks a"},
		`{"a":"x"}`:                                             {"$.a: does not match ^[0-9a-f]+$"},
		`{"a":1}`:                                               {"$.a: is no string"},
		`{"a":"0","b":0.5,"f":1}`:                               {"$.b: is no [integer null]", "$: has an unknown key f"},
		`{"a":"0","b":0}`:                                       {"$.b: is less than 1"},
		`{"a":"0","b":10}`:                                      {"$.b: is more than 9"},
		`{"a":"0","c":[]}`:                                      {"$.c: has less than 1 entries"},
		`{"a":"0","c":["x","x"]}`:                               {"$.c: has an entry twice"},
		`{"a":"0","c":["x","y","z"]}`:                           {"$.c: has more than 2 entries", "$.c[2]: is none of [x y]"},
		`{"a":"0","d":{"x":1}}`:                                 {"$.d.x: does not match ^k", "$.d.x: is no boolean"},
		`{"a":"0","e":2}`:                                       {"$.e: fits none of the alternatives"},
	} {
		got, err := s.Validate([]byte(document))
		require.NoError(t, err)
		require.Equal(t, want, got, document)
	}
	_, err = Parse([]byte(`{"properties":{"a":{"minLength":1}}}`))
	require.EqualError(t, err, "#/properties: the keyword minLength is not checked")
	_, err = s.Validate([]byte(`{`))
	require.Error(t, err)
}
