// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// Arguments returns a call's arguments as data: JSON text is parsed (and JSON in
// a JSON string once more), a dialect's wrapper is taken off. It answers false
// if the telemetry holds none, or only the beginning of them.
func (c Content) Arguments() (jsonvalue.Value, bool) {
	if c.Form == Absent {
		return jsonvalue.Null(), false
	}
	v, ok := ParseArguments(c.Value, 2)
	if !ok || v.Kind() != jsonvalue.ObjectKind {
		return v, ok
	}
	if c.Dialect != nil {
		if inner, found := c.Dialect.eachArgument(v); found {
			return inner, true
		}
		v, ok = c.Dialect.unwrapArguments(v)
	}
	return ofRun(v), ok
}

// Masked returns the arguments without the values in whose place there are
// placeholders, and whether there are any.
func Masked(arguments jsonvalue.Value) (jsonvalue.Value, bool) { return unmasked(arguments, 0) }

// eachArgument takes the arguments out of an object with a member for each, and
// others that describe them.
func (d *Dialect) eachArgument(v jsonvalue.Value) (jsonvalue.Value, bool) {
	if len(d.ArgumentsEach) == 0 {
		return v, false
	}
	var members []jsonvalue.Member
	for i := range v.Len() {
		key, inner := v.Member(i)
		for _, pattern := range d.ArgumentsEach {
			if name, ok := fits(pattern, key); ok && name != "" {
				members = append(members, jsonvalue.Member{Key: name, Value: inner})
				break
			}
		}
	}
	return jsonvalue.Object(members...), len(members) > 0
}

// ofRun takes off what LangChain's tracers put around a tool's arguments: one
// text under the key input. It counts as that only if the text holds an object.
func ofRun(v jsonvalue.Value) jsonvalue.Value {
	if v.Kind() != jsonvalue.ObjectKind || v.Len() != 1 {
		return v
	}
	if key, text := v.Member(0); key == "input" && text.Kind() == jsonvalue.StringKind {
		if inner, ok := ParseArguments(text, 1); ok && inner.Kind() == jsonvalue.ObjectKind {
			return inner
		}
	}
	return v
}

// unwrapArguments takes off the wrapper of a call that was recorded as a
// function's: keyword arguments, or a single positional one.
func (d *Dialect) unwrapArguments(v jsonvalue.Value) (jsonvalue.Value, bool) {
	var empty jsonvalue.Value
	wrapped := false
	for _, key := range d.ArgumentsKeys {
		inner, ok := v.Get(key)
		if !ok {
			continue
		}
		if !wrapped || inner.Kind() == jsonvalue.ObjectKind {
			empty = inner
		}
		wrapped = true
		if inner.IsNull() || inner.Len() == 0 && inner.Kind() != jsonvalue.StringKind {
			continue
		}
		if inner.Kind() == jsonvalue.ArrayKind && inner.Len() == 1 {
			inner = inner.Index(0)
		}
		return ParseArguments(inner, 1)
	}
	if wrapped && d.onlyArguments(v) {
		return empty, true // a call without arguments
	}
	return v, true
}

// onlyArguments reports whether an object has no keys but those of the wrapper.
func (d *Dialect) onlyArguments(v jsonvalue.Value) bool {
	for i := 0; i < v.Len(); i++ {
		if key, _ := v.Member(i); !slices.Contains(d.ArgumentsKeys, key) && key != "tool_name" {
			return false
		}
	}
	return true
}

// ParseArguments parses a text that holds arguments, up to a number of layers.
func ParseArguments(v jsonvalue.Value, layers int) (jsonvalue.Value, bool) {
	for layer := 0; layer < layers && v.Kind() == jsonvalue.StringKind; layer++ {
		text := v.Text()
		if !jsonStart(text, layer > 0) {
			break
		}
		parsed, err := jsonvalue.Parse(text)
		if err != nil {
			if converted, ok := pythonLiteral(text); ok {
				parsed, err = jsonvalue.Parse(converted)
			}
		}
		if err != nil {
			if brokenOff(text) {
				return jsonvalue.Null(), false
			}
			break
		}
		v = parsed
	}
	return v, true
}
