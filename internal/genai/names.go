// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

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
