// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "strings"

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
	switch strings.ToLower(s) {
	case "[redacted]", "<redacted>", "__redacted__", "<not specified>", "[non-text content]":
		return true
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
