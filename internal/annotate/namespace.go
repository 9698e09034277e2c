// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package annotate

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"
)

// Namespace is a prefix of attribute and event names under which only verdicts
// are written, such as [DefaultPrefix]. It must not be empty.
//
// Callers clean the spans that they receive before they decode them. Senders then
// cannot forge verdicts, and verdicts of an earlier run neither remain nor make
// two copies of a span differ.
type Namespace string

// Has reports whether a name is under the namespace. It is called for every
// attribute, and most names differ in the first byte.
func (n Namespace) Has(name string) bool {
	return name != "" && name[0] == n[0] && strings.HasPrefix(name, string(n))
}

// Clean removes everything under the namespace from td and keeps the rest as it
// is:
//
//   - attributes of resources, scopes, spans, span events and links;
//   - span events named under it, and gen_ai.evaluation.result events whose
//     gen_ai.evaluation.name is under it;
//   - the names of such attributes in the entity references of resources, and a
//     reference that is left without an id.
//
// Keys of maps inside attribute values are part of the value and stay.
func (n Namespace) Clean(td ptrace.Traces) {
	n.CleanResources(td)
	n.CleanSpans(td)
}

// CleanSpans cleans the spans of td, and no resource or scope.
func (n Namespace) CleanSpans(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				n.CleanAttributes(span.Attributes())
				n.CleanEventsAndLinks(span)
			}
		}
	}
}

// CleanResources cleans the resources and scopes of td, and no span.
func (n Namespace) CleanResources(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		n.CleanAttributes(rs.Resource().Attributes())
		if refs := entity.ResourceEntityRefs(rs.Resource()); refs.Len() > 0 {
			n.entities(refs)
		}
		for _, ss := range rs.ScopeSpans().All() {
			n.CleanAttributes(ss.Scope().Attributes())
		}
	}
}

func (n Namespace) entities(refs entity.EntityRefSlice) {
	refs.RemoveIf(func(ref entity.EntityRef) bool {
		ids := ref.IdKeys().Len()
		ref.IdKeys().RemoveIf(n.Has)
		ref.DescriptionKeys().RemoveIf(n.Has)
		return ids > 0 && ref.IdKeys().Len() == 0
	})
}

// CleanEventsAndLinks cleans a span except for its own attributes.
func (n Namespace) CleanEventsAndLinks(span ptrace.Span) {
	if events := span.Events(); events.Len() > 0 {
		events.RemoveIf(n.event)
		for _, event := range events.All() {
			n.CleanAttributes(event.Attributes())
		}
	}
	if links := span.Links(); links.Len() > 0 {
		for _, link := range links.All() {
			n.CleanAttributes(link.Attributes())
		}
	}
}

// event reports whether a span event is a verdict under the namespace, in either
// of the forms in which a [Writer] writes one.
func (n Namespace) event(event ptrace.SpanEvent) bool {
	if event.Name() != evaluationEvent {
		return n.Has(event.Name())
	}
	for name, value := range event.Attributes().All() { // a name may be there twice
		if name == evaluationName && n.Has(value.AsString()) {
			return true
		}
	}
	return false
}

// CleanAttributes cleans one map and reports whether it removed something.
func (n Namespace) CleanAttributes(m pcommon.Map) bool {
	for name := range m.All() {
		if n.Has(name) {
			m.RemoveIf(func(name string, _ pcommon.Value) bool { return n.Has(name) })
			return true
		}
	}
	return false
}
