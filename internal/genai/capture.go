// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// captureSetting is the capture setting of the GenAI conventions. The variable has
// two sets of values. Instrumentations on the shared utilities
// (opentelemetry-util-genai for Python) read SPAN_ONLY, EVENT_ONLY and
// SPAN_AND_EVENT, and take anything else, "true" included, for no content. Older
// ones read "true", and many of them then write the content to log records only.
// Log records are not read here, so EVENT_ONLY is no help.
// docs/instrumentations.md lists which is which.
const captureSetting = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY (or SPAN_AND_EVENT) " +
	"for instrumentations on opentelemetry-util-genai, which take true for no content; =true for older ones; " +
	"or the instrumentation's own capture setting (see docs/instrumentations.md#the-capture-setting)"

// elsewhere is what is said of content that a span only refers to.
const elsewhere = "the span refers to content in another storage (an attribute that ends in _ref), which is not read: " +
	"have the instrumentation record it on the span, too"

// maxPlaceholder bounds the length of a placeholder, so that long texts are not
// looked at.
const maxPlaceholder = 32

// placeholder reports whether a text stands where an instrumentation was told
// not to record content. It is no result and no message.
func placeholder(s string, d *Dialect) bool {
	if len(s) > maxPlaceholder {
		return false
	}
	if d != nil && d.EmptyObject && s == "{}" {
		return true
	}
	return masked(s)
}

// masked reports whether a text is a placeholder whatever the dialect is.
func masked(s string) bool {
	switch len(s) {
	case len("[redacted]"), len("__redacted__"), len("<not specified>"), len("[non-text content]"):
	default:
		return false
	}
	switch strings.ToLower(s) {
	case "[redacted]", "<redacted>", "__redacted__", "<not specified>", "[non-text content]":
		return true
	}
	return false
}

// maxMaskDepth bounds how deep in a value placeholders are looked for. What is
// nested deeper is kept.
const maxMaskDepth = 32

// unmasked returns a value without the members that are placeholders, and whether
// there were any. An element of a list becomes null, so that the list does not
// become shorter.
func unmasked(v jsonvalue.Value, depth int) (jsonvalue.Value, bool) {
	if depth > maxMaskDepth || !mayBeMasked(v, depth) {
		return v, false
	}
	switch v.Kind() {
	case jsonvalue.ObjectKind:
		members := make([]jsonvalue.Member, 0, v.Len())
		for i := range v.Len() {
			key, inner := v.Member(i)
			if inner.Kind() == jsonvalue.StringKind && masked(inner.Text()) {
				continue
			}
			inner, _ = unmasked(inner, depth+1)
			members = append(members, jsonvalue.Member{Key: key, Value: inner})
		}
		return jsonvalue.Object(members...), true
	case jsonvalue.ArrayKind:
		elems := make([]jsonvalue.Value, v.Len())
		for i := range elems {
			if elems[i] = v.Index(i); elems[i].Kind() == jsonvalue.StringKind && masked(elems[i].Text()) {
				elems[i] = jsonvalue.Null()
				continue
			}
			elems[i], _ = unmasked(elems[i], depth+1)
		}
		return jsonvalue.Array(elems...), true
	}
	return v, false
}

// mayBeMasked reports whether a placeholder is in an object or a list.
func mayBeMasked(v jsonvalue.Value, depth int) bool {
	if depth > maxMaskDepth {
		return false
	}
	is := func(inner jsonvalue.Value) bool {
		switch inner.Kind() {
		case jsonvalue.StringKind:
			return masked(inner.Text())
		case jsonvalue.ObjectKind, jsonvalue.ArrayKind:
			return mayBeMasked(inner, depth+1)
		}
		return false
	}
	switch v.Kind() {
	case jsonvalue.ObjectKind:
		for i := range v.Len() {
			if _, inner := v.Member(i); is(inner) {
				return true
			}
		}
	case jsonvalue.ArrayKind:
		for i := range v.Len() {
			if is(v.Index(i)) {
				return true
			}
		}
	}
	return false
}

// placeholder reports whether a message's text is one that a dialect puts in
// place of a tool call or a result.
func (d *Dialect) placeholder(s string) bool {
	if d == nil {
		return false
	}
	for _, pattern := range d.Placeholders {
		if _, ok := fits(pattern, s); ok {
			return true
		}
	}
	return false
}

// UsableID returns id, or "" if it is a placeholder that stands for no id.
func UsableID(id string) string {
	if len(id) > len("<not specified>") {
		return id
	}
	switch strings.ToLower(strings.TrimSpace(id)) {
	case "", "unknown", "n/a", "none", "null", "nil", "undefined", "<not specified>", "[redacted]":
		return ""
	}
	return id
}
