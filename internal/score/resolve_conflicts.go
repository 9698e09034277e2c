// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// differs reports whether what a model was shown is not, as data, what the tool
// returned. A copy that was cut, and a text made from a structured result, is
// no difference.
func differs(returned, shown genai.Result) bool {
	if returned.State != genai.Captured || shown.State != genai.Captured || returned.Masked || shown.Masked || shown.Rendering {
		return false
	}
	if sameResult(returned.Value, shown.Value) {
		return false
	}
	return !(returned.MCP || shown.MCP) || !genai.SameAnswer(returned.Value, shown.Value)
}

// maxDataDepth bounds how deep a text is looked for in a structure.
const maxDataDepth = 64

func sameResult(returned, shown jsonvalue.Value) bool {
	a, b := returned, shown
	aText, bText := a.Kind() == jsonvalue.StringKind, b.Kind() == jsonvalue.StringKind
	switch {
	case aText && bText:
		x, y := strings.TrimSpace(a.Text()), strings.TrimSpace(b.Text())
		return x == y || x != "" && strings.Contains(y, x) || genai.CutCopy(x, y)
	case bText:
		return true // a rendering
	case aText:
		return holds(b, strings.TrimSpace(a.Text()), 0)
	default:
		return genai.SameData(a, b)
	}
}

// holds reports whether a structure holds a text: a wrapper that no dialect
// knows. A number or a boolean is what its text says.
func holds(v jsonvalue.Value, text string, depth int) bool {
	if depth > maxDataDepth {
		return false
	}
	switch v.Kind() {
	case jsonvalue.ArrayKind:
		for i := 0; i < v.Len(); i++ {
			if holds(v.Index(i), text, depth+1) {
				return true
			}
		}
		return false
	case jsonvalue.ObjectKind:
		for i := 0; i < v.Len(); i++ {
			if _, inner := v.Member(i); holds(inner, text, depth+1) {
				return true
			}
		}
		return false
	default:
		scalar, ok := v.Scalar()
		return ok && strings.TrimSpace(scalar) == text || !ok && v.IsNull() && text == "null"
	}
}
