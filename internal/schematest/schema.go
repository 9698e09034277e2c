// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package schematest holds documents against JSON Schemas in tests. It knows the
// keywords that this project's schemas use, and refuses a schema with others, so
// that nothing is thought to be checked that is not.
package schematest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Schema is a JSON Schema.
type Schema struct{ root map[string]any }

// Parse reads a schema.
func Parse(text []byte) (*Schema, error) {
	var root map[string]any
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	s := &Schema{root}
	return s, s.known("#", root)
}

// about are keywords that require nothing.
var about = []string{"$schema", "$id", "$defs", "$comment", "title", "description", "examples", "format", "default"}

// rules are the keywords that require something.
var rules = []string{
	"$ref", "type", "enum", "const", "properties", "required", "additionalProperties", "propertyNames",
	"items", "minItems", "maxItems", "uniqueItems", "pattern", "minimum", "maximum", "anyOf",
}

// known refuses keywords that nothing here checks.
func (s *Schema) known(at string, schema map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(schema)) {
		if !slices.Contains(about, key) && !slices.Contains(rules, key) {
			return fmt.Errorf("%s: the keyword %s is not checked", at, key)
		}
		var children []any
		switch v := schema[key].(type) {
		case map[string]any:
			if key == "properties" || key == "$defs" {
				for _, child := range v {
					children = append(children, child)
				}
			} else if key != "const" && key != "default" {
				children = append(children, v)
			}
		case []any:
			if key == "anyOf" {
				children = v
			}
		}
		for _, child := range children {
			if m, ok := child.(map[string]any); ok {
				if err := s.known(at+"/"+key, m); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Validate returns what is wrong with a document, nothing if it is valid.
func (s *Schema) Validate(document []byte) ([]string, error) {
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		return nil, err
	}
	c := checker{s, nil}
	c.check("$", s.root, v)
	return c.wrong, nil
}

type checker struct {
	*Schema
	wrong []string
}

func (c *checker) fail(at, format string, args ...any) {
	c.wrong = append(c.wrong, at+": "+fmt.Sprintf(format, args...))
}

func (c *checker) check(at string, schema any, v any) {
	m, ok := schema.(map[string]any)
	if !ok {
		if schema == false {
			c.fail(at, "nothing may be here")
		}
		return
	}
	if ref, ok := m["$ref"].(string); ok {
		c.check(at, c.find(ref), v)
	}
	if types, ok := m["type"]; ok && !hasType(types, v) {
		c.fail(at, "is no %v", types)
		return
	}
	if list, ok := m["enum"].([]any); ok && !slices.ContainsFunc(list, func(e any) bool { return same(e, v) }) {
		c.fail(at, "is none of %v", list)
	}
	if want, ok := m["const"]; ok && !same(want, v) {
		c.fail(at, "is not %v", want)
	}
	if list, ok := m["anyOf"].([]any); ok && !slices.ContainsFunc(list, func(e any) bool {
		one := checker{c.Schema, nil}
		one.check(at, e, v)
		return len(one.wrong) == 0
	}) {
		c.fail(at, "fits none of the alternatives")
	}
	switch v := v.(type) {
	case map[string]any:
		c.object(at, m, v)
	case []any:
		c.array(at, m, v)
	case string:
		if pattern, ok := m["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(v) {
			c.fail(at, "does not match %s", pattern)
		}
	case float64:
		if least, ok := m["minimum"].(float64); ok && v < least {
			c.fail(at, "is less than %v", least)
		}
		if most, ok := m["maximum"].(float64); ok && v > most {
			c.fail(at, "is more than %v", most)
		}
	}
}

func (c *checker) object(at string, m, v map[string]any) {
	properties, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]any)
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			c.fail(at, "lacks %s", name)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if names, ok := m["propertyNames"]; ok {
			c.check(at+"."+key, names, key)
		}
		if schema, ok := properties[key]; ok {
			c.check(at+"."+key, schema, v[key])
		} else if rest, ok := m["additionalProperties"]; ok {
			if rest == false {
				c.fail(at, "has an unknown key %s", key)
				continue
			}
			c.check(at+"."+key, rest, v[key])
		}
	}
}

func (c *checker) array(at string, m map[string]any, v []any) {
	if least, ok := m["minItems"].(float64); ok && float64(len(v)) < least {
		c.fail(at, "has less than %v entries", least)
	}
	if most, ok := m["maxItems"].(float64); ok && float64(len(v)) > most {
		c.fail(at, "has more than %v entries", most)
	}
	for i, e := range v {
		if items, ok := m["items"]; ok {
			c.check(fmt.Sprintf("%s[%d]", at, i), items, e)
		}
		if m["uniqueItems"] == true && slices.ContainsFunc(v[:i], func(other any) bool { return same(other, e) }) {
			c.fail(at, "has an entry twice")
		}
	}
}

// find follows a reference within the schema.
func (c *checker) find(ref string) any {
	var at any = c.root
	for _, step := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		m, _ := at.(map[string]any)
		if at = m[step]; at == nil {
			panic("no such definition: " + ref)
		}
	}
	return at
}

func hasType(types, v any) bool {
	list, ok := types.([]any)
	if !ok {
		list = []any{types}
	}
	return slices.ContainsFunc(list, func(name any) bool {
		switch v := v.(type) {
		case nil:
			return name == "null"
		case bool:
			return name == "boolean"
		case string:
			return name == "string"
		case float64:
			return name == "number" || name == "integer" && v == math.Trunc(v)
		case []any:
			return name == "array"
		default:
			return name == "object"
		}
	})
}

func same(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}
