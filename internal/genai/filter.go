// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Filter tells at a glance, and without a Decoder, most of the spans that no
// dialect has anything to say about. It is immutable: any number of goroutines
// may use it.
type Filter struct {
	// telling are the attributes that make a span an agent's, or name an agent or a
	// conversation, with the values that do; none means that all do.
	telling map[string][]string
	lengths [256]uint64 // by first byte: the lengths of their names, modulo 64
	names   []string    // patterns of span names that do so alone
	begins  [256]bool   // by first byte: one of the patterns may fit

	prefix string // attributes under it tell, too; "" for none
	under  uint64 // lengths of the other names with its first byte
}

// NewFilter makes the filter of the decoders with the same options.
func NewFilter(o Options) *Filter {
	t := NewDecoder(o).table
	f := &Filter{telling: map[string][]string{}, begins: t.named}
	values := make([][]string, len(t.names))
	for _, r := range t.rows {
		for _, m := range slices.Concat(r.tool, r.model, r.agent, r.noCall) {
			f.add(m, values)
		}
	}
	for name, a := range t.names {
		switch only := t.purposes[a] == forMark; {
		case t.purposes[a] == 0, only && len(values[a]) == 0: // no mark is told by it
			continue
		case only && !slices.Contains(values[a], ""):
			f.telling[name] = values[a]
		default:
			f.telling[name] = nil
		}
		f.lengths[name[0]] |= 1 << (len(name) & 63)
	}
	return f
}

// WithPrefix returns a filter for which a span is not silent either if it has an
// attribute whose name begins with prefix.
func (f *Filter) WithPrefix(prefix string) *Filter {
	with := *f
	with.prefix, with.under = prefix, f.lengths[prefix[0]]
	with.lengths[prefix[0]] = ^uint64(0)
	return &with
}

// add notes a mark, or what it asks for besides: the values by the attribute, ""
// for any, or the span's name if it asks for no attribute. One of them is enough,
// since all have to fit.
func (f *Filter) add(m mark, values [][]string) {
	switch {
	case m.attr >= 0:
		values[m.attr] = append(values[m.attr], m.value)
	case len(m.and) > 0:
		f.add(m.and[0], values)
	default:
		f.names = append(f.names, m.spanName)
	}
}

// Silent reports whether a span certainly is of kind [Other], names neither an
// agent nor a conversation, and has lost nothing on its way. It allocates
// nothing.
func (f *Filter) Silent(span ptrace.Span) bool {
	if span.DroppedAttributesCount() > 0 || span.DroppedEventsCount() > 0 {
		return false
	}
	for name, value := range span.Attributes().All() {
		if name != "" && f.lengths[name[0]]&(1<<(len(name)&63)) != 0 && f.tells(name, value) {
			return false
		}
	}
	name := span.Name()
	if name != "" && !f.begins[name[0]] {
		return true
	}
	for _, pattern := range f.names {
		if _, ok := fits(pattern, name); ok || pattern == "" {
			return false
		}
	}
	return true
}

func (f *Filter) tells(name string, value pcommon.Value) bool {
	if f.prefix != "" && name[0] == f.prefix[0] {
		if strings.HasPrefix(name, f.prefix) {
			return true
		}
		if f.under&(1<<(len(name)&63)) == 0 {
			return false
		}
	}
	values, ok := f.telling[name]
	if !ok || len(values) == 0 {
		return ok
	}
	for _, pattern := range values {
		if markValue(pattern, value) {
			return true
		}
	}
	return false
}
