// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawJSON draws a value as encoding/json decodes one.
func drawJSON(t *rapid.T, depth int) any {
	most := 6
	if depth > 3 {
		most = 4
	}
	switch rapid.IntRange(0, most).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return rapid.Float64().Draw(t, "number")
	case 3, 4:
		return rapid.StringOf(rapid.RuneFrom([]rune("a\"\\{}[],: \n\u00e9"))).Draw(t, "text")
	case 5:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			list = append(list, drawJSON(t, depth+1))
		}
		return list
	default:
		object := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "members") {
			object[rapid.StringOf(rapid.RuneFrom([]rune("ab\"\\}"))).Draw(t, "key")] = drawJSON(t, depth+1)
		}
		return object
	}
}

// What is indented here looks as if json.Indent had done it.
func TestIndented(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, err := json.Marshal(drawJSON(t, 0))
		require.NoError(t, err)
		var want bytes.Buffer
		require.NoError(t, json.Indent(&want, text, "    ", "  "))
		require.Equal(t, "x"+want.String(), string(appendIndented([]byte("x"), text, "    ")))
	})
}
