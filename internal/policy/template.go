// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
)

// Root is where a template's path starts.
type Root uint8

const (
	RootArguments      Root = iota // arguments: a value
	RootResult                     // result, after observation.payload: a value
	RootAttributes                 // attributes["name"] of the span: a value by name
	RootResource                   // resource["name"]: a value by name
	RootToolName                   // tool.name: a text, as all that follow
	RootToolCallID                 // tool.call_id
	RootAgentName                  // agent.name
	RootConversationID             // conversation.id
	RootSpanName                   // span.name
	RootSpanID                     // span.id
	RootTraceID                    // trace.id
)

var rootNames = []string{
	"arguments", "result", "attributes", "resource",
	"tool.name", "tool.call_id", "agent.name", "conversation.id", "span.name", "span.id", "trace.id",
}

// String returns the root as a template spells it.
func (r Root) String() string { return name(rootNames, r) }

// Roots is a set of roots.
type Roots uint16

// Has reports whether r is in the set.
func (rs Roots) Has(r Root) bool { return rs&(1<<r) != 0 }

// Scope is what templates read.
type Scope interface {
	// Text returns the text of RootToolName and those after it; false if it is
	// not known.
	Text(root Root) (string, bool)
	// Value returns the value of RootArguments or RootResult; false if it is
	// not known.
	Value(root Root) (engine.Value, bool)
	// Attribute returns one attribute of RootAttributes or RootResource.
	Attribute(root Root, name string) (engine.Value, bool)
}

// step goes from a value to one of its parts: a member, or an element where
// index is not negative.
type step struct {
	name  string
	index int
}

// Template is a text with {path} placeholders.
type Template struct {
	text    string
	literal string // the whole of it where parts is empty
	parts   []part
	roots   Roots
}

// part is a literal text or, where literal is empty, a placeholder.
type part struct {
	literal string
	root    Root
	steps   []step
}

// ParseTemplate compiles a template.
func ParseTemplate(text string) (*Template, error) {
	if strings.ContainsAny(text, "{}") {
		return nil, errors.New("templates are not compiled yet")
	}
	return &Template{text: text, literal: text}, nil
}

// String returns the template as it was written.
func (t *Template) String() string { return t.text }

// Literal returns the text that the template always renders; false if it reads
// anything.
func (t *Template) Literal() (string, bool) { return t.literal, len(t.parts) == 0 }

// Roots returns what the template reads.
func (t *Template) Roots() Roots { return t.roots }

// Render returns the text; false if a path found nothing, or found what is no
// string, number or boolean.
func (t *Template) Render(Scope) (string, bool) { return t.literal, len(t.parts) == 0 }
