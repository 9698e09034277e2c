// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "github.com/resultseal/otelcol-resultseal/internal/jsonvalue"

// definitionWrappers are around a tool's definition in the requests of providers.
var definitionWrappers = []string{"function", "toolSpec", "tool_spec"}

// Offered returns the names of the tools that a model was offered, by the attributes
// of its span. It answers false if they were not recorded, or not in a form that is
// known.
func (s *Span) Offered(attributes []string) (names []string, ok bool) {
	for _, attribute := range attributes {
		v, found := s.Attribute(attribute)
		if !found {
			continue
		}
		if v.Kind() == jsonvalue.StringKind {
			parsed, err := jsonvalue.Parse(v.Text())
			if err != nil {
				return nil, false
			}
			v = parsed
		}
		if v.Kind() != jsonvalue.ArrayKind || v.Len() == 0 {
			return nil, false
		}
		return definedNames(v, 0)
	}
	return nil, false
}

func definedNames(list jsonvalue.Value, depth int) (names []string, ok bool) {
	for i := range list.Len() {
		e := list.Index(i)
		if e.Kind() == jsonvalue.StringKind && LooksLikeJSON(e.Text()) {
			if parsed, err := jsonvalue.Parse(e.Text()); err == nil {
				e = parsed
			}
		}
		for _, key := range [...]string{"functionDeclarations", "function_declarations"} { // Gemini
			if inner, found := e.Get(key); found && inner.Kind() == jsonvalue.ArrayKind && depth == 0 {
				more, known := definedNames(inner, 1)
				if !known {
					return nil, false
				}
				names = append(names, more...)
				e = jsonvalue.Null()
			}
		}
		if e.IsNull() {
			continue
		}
		if inner, key := wrapped(e, definitionWrappers); key != "" {
			e = inner
		}
		name := text(e, "name")
		if name == "" {
			return nil, false // a tool of the provider, or a form that is not known
		}
		names = append(names, name)
	}
	return names, len(names) > 0
}
