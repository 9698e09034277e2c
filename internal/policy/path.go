// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"github.com/theory/jsonpath"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
)

// Path is a compiled JSONPath query (RFC 9535).
type Path struct {
	text  string
	query *jsonpath.Path
}

// ParsePath compiles a JSONPath query.
func ParsePath(text string) (*Path, error) {
	q, err := jsonpath.Parse(text)
	if err != nil {
		return nil, &syntaxError{0, err.Error()}
	}
	return &Path{text: text, query: q}, nil
}

// String returns the query as it was written.
func (p *Path) String() string { return p.text }

// Select returns what the query selects from v: null if no node, the value of
// one node, an array of the values of several.
func (p *Path) Select(v engine.Value) engine.Value {
	if p == nil {
		return v
	}
	return engine.Null()
}

// Matches reports whether a selected node is a scalar that the glob matches.
func (f FieldGlob) Matches(v engine.Value) bool {
	s, ok := f.Path.Select(v).Scalar()
	return ok && f.Glob.Match(s)
}
