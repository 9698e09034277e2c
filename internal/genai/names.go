// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "slices"

// Dialects returns the dialects that the decoder reads: the custom ones, then the
// built-in ones.
func (d *Decoder) Dialects() []*Dialect {
	dialects := make([]*Dialect, len(d.rows))
	for i := range d.rows {
		dialects[i] = d.rows[i].Dialect
	}
	return dialects
}

// FlatPrefix returns the prefix of an attribute that is one field of a flattened list of
// messages, with its final dot; "" for any other attribute.
func (d *Decoder) FlatPrefix(attribute string) string { return d.prefix(attribute) }

// Reads reports whether a dialect reads an attribute, on spans of some kind.
func (d *Decoder) Reads(attribute string) bool {
	if _, ok := d.lookup(attribute); ok || d.prefix(attribute) != "" {
		return true
	}
	for i := range d.rows {
		if slices.Contains(d.rows[i].Definitions, attribute) {
			return true
		}
	}
	return false
}

// Dialects returns the dialects that the span was read by.
func (s *Span) Dialects() DialectSet { return s.rows }

// HoldsArgument reports whether an attribute holds one argument of a call.
func (d *Decoder) HoldsArgument(key string) bool {
	if d.prefix(key) == "" {
		return false
	}
	for i := range d.rows {
		for _, pattern := range d.rows[i].ArgumentsEach {
			if _, ok := fits(pattern, key); ok {
				return true
			}
		}
	}
	return false
}
