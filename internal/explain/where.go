// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// place is where something stands in a span.
type place struct{ text, dialect string }

// dialects are the tables by which spans were read, those first whose names a
// span's own dialect is made of.
func (e *explanation) dialects(spoken *genai.Dialect) []*genai.Dialect {
	all := e.Dialects
	if all == nil {
		all = genai.Builtin
	}
	if spoken == nil {
		return all
	}
	names := strings.Split(spoken.Name, "+")
	first := func(d *genai.Dialect) bool { return slices.Contains(names, d.Name) }
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b *genai.Dialect) int {
		switch x, y := first(a), first(b); {
		case x == y:
			return 0
		case x:
			return -1
		default:
			return 1
		}
	})
	return out
}

// valueAt finds the attribute or event of a span that holds a value which was
// read from it.
func (e *explanation) valueAt(span int, c *genai.Content, sources func(*genai.Dialect) ([]genai.Source, []genai.EventAttribute)) (place, bool) {
	if !c.Captured() {
		return place{}, false
	}
	for _, d := range e.dialects(c.Dialect) {
		list, events := sources(d)
		for _, s := range list {
			if v, ok := e.Spans[span].Attributes().Get(s.Attribute); ok && s.Holds(v, c) {
				return place{"the attribute " + s.Attribute, d.Name}, true
			}
		}
		for _, at := range events {
			for _, event := range e.Spans[span].Events().All() {
				if event.Name() != at.Event {
					continue
				}
				if v, ok := event.Attributes().Get(at.Key); ok && (genai.Source{}).Holds(v, c) {
					return place{"the event " + at.Event, d.Name}, true
				}
			}
		}
	}
	return place{"the span", ""}, true
}

func argumentNames(d *genai.Dialect) ([]genai.Source, []genai.EventAttribute) {
	return d.Arguments, d.EventArguments
}

func resultNames(d *genai.Dialect) ([]genai.Source, []genai.EventAttribute) {
	return d.Result, d.EventResult
}

// messagesAt finds where a model's span holds its messages.
func (e *explanation) messagesAt(span int, output bool) place {
	s := e.Spans[span]
	for _, d := range e.dialects(nil) {
		prefixes, list, events := d.InputPrefix, slices.Clone(d.Input), d.InputEvents
		if output {
			prefixes, list, events = d.OutputPrefix, append(slices.Clone(d.Output), d.OutputCalls...), d.OutputEvents
		}
		names := make([]string, 0, len(list)+len(d.Exchange))
		for _, s := range list {
			names = append(names, s.Attribute)
		}
		names = append(names, d.Exchange...)
		for _, t := range d.Transcript {
			if !output {
				names = append(names, t.Attribute)
			}
		}
		for _, prefix := range prefixes {
			for key := range s.Attributes().All() {
				if strings.HasPrefix(key, prefix+".") {
					return place{"the attributes " + prefix + ".*", d.Name}
				}
			}
		}
		for _, name := range names {
			if _, ok := s.Attributes().Get(name); ok {
				return place{"the attribute " + name, d.Name}
			}
		}
		for _, at := range events {
			if hasEvent(s, at.Event) {
				return place{"the event " + at.Event, d.Name}
			}
		}
	}
	return place{"the messages", ""}
}

func hasEvent(s ptrace.Span, name string) bool {
	for _, event := range s.Events().All() {
		if event.Name() == name {
			return true
		}
	}
	return false
}

// String writes the place with its dialect.
func (p place) String() string {
	if p.dialect == "" {
		return p.text
	}
	return p.text + " (" + p.dialect + ")"
}
