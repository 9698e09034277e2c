// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// Root is where a template's path starts.
type Root uint8

const (
	RootArguments      Root = iota // arguments: a value
	RootResult                     // result, after observation.payload: a value
	RootAttributes                 // attributes of the span: a value by name
	RootResource                   // attributes of the resource: a value by name
	RootToolName                   // tool.name: a text, as all that follow
	RootToolCallID                 // tool.call_id
	RootAgentName                  // agent.name
	RootConversationID             // conversation.id
	RootSpanName                   // span.name
	RootSpanID                     // span.id
	RootTraceID                    // trace.id
)

// rootNames lists the roots by value, as a template spells them.
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

// content are the roots that hold arguments, results or, among the attributes of a
// span, anything.
var content = rootSet(RootArguments, RootResult, RootAttributes)

// rootSet returns the set of the roots given.
func rootSet(roots ...Root) Roots {
	var rs Roots
	for _, r := range roots {
		rs |= 1 << r
	}
	return rs
}

// Scope is what templates read.
type Scope interface {
	// Text returns the text of RootToolName and those after it; false if it is
	// not known.
	Text(root Root) (string, bool)
	// Value returns the value of RootArguments or RootResult; false if it is
	// not known.
	Value(root Root) (jsonvalue.Value, bool)
	// Attribute returns the attribute of that name, of RootAttributes or
	// RootResource; false if there is none.
	Attribute(root Root, name string) (jsonvalue.Value, bool)
}

// Template is a text with {path} placeholders. It is immutable.
type Template struct {
	text    string
	literal string // the whole of it where parts is empty
	parts   []part
	roots   Roots
}

// part is a literal text followed by the value of a placeholder. The last part
// of a template may have no placeholder.
type part struct {
	literal string
	bare    bool // no placeholder
	path    string
	root    Root
	steps   []step

	// keys are the names under which an attribute may stand, longest first:
	// attributes.a.b.c reads the attribute "a.b.c", else member c of "a.b",
	// else member b.c of "a". Key i stands for the first len(keys)-i steps.
	keys []string
}

// ParseTemplate compiles a template. Its error says what is wrong, not where.
func ParseTemplate(text string) (*Template, error) {
	if len(text) > maxPatternLength {
		return nil, &syntaxError{maxPatternLength, "template is longer than 4,096 bytes"}
	}
	t := &Template{text: text}
	var lit strings.Builder
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c != '{' && c != '}':
			lit.WriteByte(c)
			i++
		case i+1 < len(text) && text[i+1] == c: // {{ or }}
			lit.WriteByte(c)
			i += 2
		case c == '}':
			return nil, &syntaxError{i, `"}" closes nothing; write "}}" for a brace`}
		default:
			p := part{literal: lit.String()}
			lit.Reset()
			end, err := p.parse(text, i+1)
			if err != nil {
				return nil, err
			}
			t.parts = append(t.parts, p)
			t.roots |= 1 << p.root
			i = end
		}
	}
	switch {
	case len(t.parts) == 0:
		t.literal = lit.String()
	case lit.Len() > 0:
		t.parts = append(t.parts, part{literal: lit.String(), bare: true})
	}
	return t, nil
}

// parse reads a placeholder that starts after its opening brace, and returns
// the place after its closing one.
func (p *part) parse(text string, start int) (end int, err error) {
	i := start
	for i < len(text) && nameByte(text[i]) {
		i++
	}
	word := text[start:i]
	// tool.name and its kind are one word with a dot in it, not a root and a step.
	if i < len(text) && text[i] == '.' && textRootGroup(word) {
		i++
		for i < len(text) && nameByte(text[i]) {
			i++
		}
		word = text[start:i]
	}
	root, ok := lookup(rootNames, word)
	if !ok {
		if word == "" {
			return 0, &syntaxError{start, fmt.Sprintf(`expected a path such as arguments.id, found %s; write "{{" for a brace`, found(text, start))}
		}
		return 0, &syntaxError{start, fmt.Sprintf("unknown root %q; %s", word, expectOneOf(rootNames, word))}
	}
	p.root = Root(root)
	dotted := 0
	p.steps, dotted, i, err = parseSteps(text, i)
	if err != nil {
		return 0, err
	}
	if i >= len(text) || text[i] != '}' {
		return 0, &syntaxError{i, fmt.Sprintf(`expected ".", "[" or "}", found %s`, found(text, i))}
	}
	switch {
	case p.root > RootResource && len(p.steps) > 0:
		return 0, &syntaxError{start + len(word), fmt.Sprintf("%s is a text and has no parts", word)}
	case p.root == RootAttributes || p.root == RootResource:
		if len(p.steps) == 0 || p.steps[0].isIndex {
			return 0, &syntaxError{start + len(word), fmt.Sprintf(`%s needs a name: %s["service.name"]`, word, word)}
		}
		p.keys = attributeKeys(p.steps, dotted)
	}
	p.path = text[start:i]
	return i + 1, nil
}

// textRootGroup reports whether word begins a root that is two words.
func textRootGroup(word string) bool {
	for _, n := range rootNames[RootToolName:] {
		if group, _, _ := strings.Cut(n, "."); group == word {
			return true
		}
	}
	return false
}

// attributeKeys returns the names that a path may mean in a flat list of
// attributes, longest first: the first dotted steps joined by dots.
func attributeKeys(steps []step, dotted int) []string {
	keys := make([]string, max(dotted, 1))
	joined := ""
	for i := range keys {
		if i > 0 {
			joined += "."
		}
		joined += steps[i].name
		keys[len(keys)-1-i] = joined
	}
	return keys
}

// String returns the template as it was written.
func (t *Template) String() string { return t.text }

// Literal returns the text that the template always renders; false if it reads
// anything.
func (t *Template) Literal() (string, bool) { return t.literal, len(t.parts) == 0 }

// Roots returns what the template reads.
func (t *Template) Roots() Roots { return t.roots }

// ReadsContent reports whether the template reads arguments, a result or a span's
// attributes, so that what it renders must not be reported as it is.
func (t *Template) ReadsContent() bool { return t.roots&content != 0 }

// Render returns the text; false if a path found nothing, or found what is no
// string, number or boolean. It allocates the text, and not even that for a
// literal template or for one that is a single placeholder.
func (t *Template) Render(s Scope) (text string, ok bool) {
	switch len(t.parts) {
	case 0:
		return t.literal, true
	case 1:
		p := &t.parts[0]
		if p.literal != "" {
			break
		}
		if p.root > RootResource {
			return s.Text(p.root)
		}
		v, ok := p.find(s)
		if !ok {
			return "", false
		}
		return v.Scalar()
	}
	var short [128]byte // most refs fit, and then only the result is allocated
	buf := short[:0]
	for i := range t.parts {
		p := &t.parts[i]
		buf = append(buf, p.literal...)
		switch {
		case p.bare:
		case p.root > RootResource:
			text, ok := s.Text(p.root)
			if !ok {
				return "", false
			}
			buf = append(buf, text...)
		default:
			v, ok := p.find(s)
			if !ok {
				return "", false
			}
			text, ok := v.Scalar()
			if !ok {
				return "", false
			}
			buf = append(buf, text...)
		}
	}
	return string(buf), true
}

// find returns the value of a placeholder that is no text.
func (p *part) find(s Scope) (jsonvalue.Value, bool) {
	if p.keys == nil {
		v, ok := s.Value(p.root)
		if !ok {
			return v, false
		}
		return follow(v, p.steps)
	}
	for i, key := range p.keys {
		v, ok := s.Attribute(p.root, key)
		if !ok {
			continue
		}
		if v, ok = follow(v, p.steps[len(p.keys)-i:]); ok {
			return v, true
		}
	}
	return jsonvalue.Null(), false
}

// value returns what a placeholder renders; false if it found nothing, or found
// what is no string, number or boolean.
func (p *part) value(s Scope) (string, bool) {
	if p.root > RootResource {
		return s.Text(p.root)
	}
	v, ok := p.find(s)
	if !ok {
		return "", false
	}
	return v.Scalar()
}

// ReadsMember reports whether a placeholder reads a part of a root: result.id, but
// not result. A nil template reads nothing.
func (t *Template) ReadsMember(root Root) bool {
	if t == nil || !t.roots.Has(root) {
		return false
	}
	for i := range t.parts {
		if p := &t.parts[i]; !p.bare && p.root == root && len(p.steps) > 0 {
			return true
		}
	}
	return false
}

// AppendLacking appends the paths of the placeholders that find nothing to list,
// each once.
func (t *Template) AppendLacking(list []string, s Scope) []string {
	for i := range t.parts {
		p := &t.parts[i]
		if p.bare || slices.Contains(list, p.path) {
			continue
		}
		if _, ok := p.value(s); !ok {
			list = append(list, p.path)
		}
	}
	return list
}

// SameValues reports whether two templates that rendered the same text did so from
// the same values. It compares values only if both templates have several, between
// the same literals: else only the texts can be compared.
func (t *Template) SameValues(other *Template, s Scope) bool {
	if len(t.parts) < 2 || len(t.parts) != len(other.parts) {
		return true
	}
	for i := range t.parts {
		if a, b := &t.parts[i], &other.parts[i]; a.literal != b.literal || a.bare != b.bare {
			return true
		}
	}
	for i := range t.parts {
		a, b := &t.parts[i], &other.parts[i]
		if a.bare {
			continue
		}
		x, _ := a.value(s)
		if y, _ := b.value(s); x != y {
			return false
		}
	}
	return true
}

// RenderQuoted returns the text with each value in quotation marks, so that it can
// be seen where one ends and the next begins. It is longer than what Render returns.
func (t *Template) RenderQuoted(s Scope) string {
	var b strings.Builder
	for i := range t.parts {
		p := &t.parts[i]
		b.WriteString(p.literal)
		if !p.bare {
			text, _ := p.value(s)
			b.WriteString(strconv.Quote(text))
		}
	}
	return b.String()
}
