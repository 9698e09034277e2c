// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
)

// Arguments returns a call's arguments as data: JSON text is parsed (and JSON in
// a JSON string once more), a dialect's wrapper is taken off. It answers false
// if the telemetry holds none, or only the beginning of them.
func (c Content) Arguments() (engine.Value, bool) {
	if c.Form == Absent {
		return engine.Null(), false
	}
	v, ok := argumentsOf(c.Value, 2)
	if !ok || v.Kind() != engine.ObjectKind {
		return v, ok
	}
	if c.Dialect != nil {
		v, ok = c.Dialect.unwrapArguments(v)
	}
	return ofRun(v), ok
}

// ofRun takes off what LangChain's tracers put around a tool's arguments: one
// text under the key input. It counts as that only if the text holds an object.
func ofRun(v engine.Value) engine.Value {
	if v.Kind() != engine.ObjectKind || v.Len() != 1 {
		return v
	}
	if key, text := v.Member(0); key == "input" && text.Kind() == engine.StringKind {
		if inner, ok := argumentsOf(text, 1); ok && inner.Kind() == engine.ObjectKind {
			return inner
		}
	}
	return v
}

// unwrapArguments takes off the wrapper of a call that was recorded as a
// function's: keyword arguments, or a single positional one.
func (d *Dialect) unwrapArguments(v engine.Value) (engine.Value, bool) {
	var empty engine.Value
	wrapped := false
	for _, key := range d.ArgumentsKeys {
		inner, ok := v.Get(key)
		if !ok {
			continue
		}
		if !wrapped || inner.Kind() == engine.ObjectKind {
			empty = inner
		}
		wrapped = true
		if inner.IsNull() || inner.Len() == 0 && inner.Kind() != engine.StringKind {
			continue
		}
		if inner.Kind() == engine.ArrayKind && inner.Len() == 1 {
			inner = inner.Index(0)
		}
		return argumentsOf(inner, 1)
	}
	if wrapped && d.onlyArguments(v) {
		return empty, true // a call without arguments
	}
	return v, true
}

// onlyArguments reports whether an object has no keys but those of the wrapper.
func (d *Dialect) onlyArguments(v engine.Value) bool {
	for i := 0; i < v.Len(); i++ {
		if key, _ := v.Member(i); !slices.Contains(d.ArgumentsKeys, key) && key != "tool_name" {
			return false
		}
	}
	return true
}

// argumentsOf parses a text that holds arguments, up to a number of layers.
func argumentsOf(v engine.Value, layers int) (engine.Value, bool) {
	for layer := 0; layer < layers && v.Kind() == engine.StringKind; layer++ {
		text := v.Text()
		if !jsonStart(text, layer > 0) {
			break
		}
		parsed, err := engine.ParseJSON(text)
		if err != nil {
			if converted, ok := pythonLiteral(text); ok {
				parsed, err = engine.ParseJSON(converted)
			}
		}
		if err != nil {
			if brokenOff(text) {
				return engine.Null(), false
			}
			break
		}
		v = parsed
	}
	return v, true
}
