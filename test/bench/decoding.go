// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// decoding measures what it takes to read the facts of a span: of one without GenAI
// content, and of a tool call as each instrumentation records it. An instrumentation
// that records no tool calls stands with the last model call that it recorded, which
// holds them as messages.
func decoding(budget) ([]*contest, error) {
	all, err := recordings()
	if err != nil {
		return nil, err
	}
	c := &contest{name: "decode"}
	add := func(what, name string, td ptrace.Traces, kind genai.Kind) {
		rs := td.ResourceSpans().At(0)
		ss := rs.ScopeSpans().At(0)
		span := ss.Spans().At(0)
		d := genai.NewDecoder(genai.Options{})
		var facts genai.Span
		c.lines = append(c.lines, line{what: what, of: len(c.contestants), against: alone})
		c.contestants = append(c.contestants, repeated(name, func() error {
			d.Decode(&facts, rs.Resource(), ss.Scope(), span)
			if facts.Kind != kind {
				return fmt.Errorf("the span is a %v, not a %v", facts.Kind, kind)
			}
			return nil
		}))
	}
	add("decode a span without GenAI content", "plain", oneTrace(plainShape, 0, 1), genai.Other)
	for _, r := range all {
		td, kind, err := r.toolSpan()
		if err != nil {
			return nil, err
		}
		what := "decode a tool span, "
		if kind == genai.Model {
			what = "decode a model span, "
		}
		add(what+r.name, r.name, td, kind)
	}
	return []*contest{c}, nil
}

// toolSpan is the first span of a recording that holds the result of a tool call, alone,
// or else its last model span.
func (r *recording) toolSpan() (ptrace.Traces, genai.Kind, error) {
	batches, err := r.traces()
	if err != nil {
		return ptrace.Traces{}, 0, err
	}
	found, kind := ptrace.NewTraces(), genai.Other
	d := genai.NewDecoder(genai.Options{})
	for _, td := range batches {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					var facts genai.Span
					d.Decode(&facts, rs.Resource(), ss.Scope(), span)
					switch {
					case facts.Kind == genai.Tool && facts.Call.Result.Captured():
						return spanAlone(rs.Resource(), ss.Scope(), span), genai.Tool, nil
					case facts.Kind == genai.Model:
						found, kind = spanAlone(rs.Resource(), ss.Scope(), span), genai.Model
					}
				}
			}
		}
	}
	if kind == genai.Other {
		return found, kind, fmt.Errorf("%s: no span is of a tool or a model call", r.name)
	}
	return found, kind, nil
}

func spanAlone(resource pcommon.Resource, scope pcommon.InstrumentationScope, span ptrace.Span) ptrace.Traces {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	resource.CopyTo(rs.Resource())
	ss := rs.ScopeSpans().AppendEmpty()
	scope.CopyTo(ss.Scope())
	span.CopyTo(ss.Spans().AppendEmpty())
	return td
}
