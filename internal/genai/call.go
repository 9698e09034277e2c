// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// call adds what one dialect says of a tool call and no earlier one said.
func (d *Decoder) call(s *Span, r *row, dialect *Dialect, span ptrace.Span) {
	c := &s.Call
	if c.Tool == "" {
		if name := d.firstText(r.toolName); !slices.Contains(dialect.HiddenNames, name) {
			c.Tool = name
		}
	}
	if c.ID == "" {
		for i := range r.callID {
			if c.ID = UsableID(d.textAt(&r.callID[i])); c.ID != "" {
				break
			}
		}
	}
	if !c.Arguments.Captured() {
		c.Arguments = d.content(r.arguments, r.EventArguments, dialect, span)
	}
	if !c.Arguments.Captured() && len(r.ArgumentsEach) > 0 {
		c.Arguments = d.each(r.ArgumentsEach, dialect)
	}
	if !c.Result.Captured() {
		c.Result = d.content(r.result, r.EventResult, dialect, span)
	}
}

// finishCall adds what no dialect has an attribute for.
func (d *Decoder) finishCall(s *Span, dialect *Dialect) {
	c := &s.Call
	c.Carrier = dialect.Carrier
	if c.Tool == "" {
		c.Tool = d.toolFromSpanName(s, dialect)
	}
	if s.Agent == c.Tool {
		s.Agent = "" // a normalizer takes the name of any entity for an agent's
	}
	if s.Dropped {
		c.Arguments.Dropped = !c.Arguments.Captured()
		c.Result.Dropped = !c.Result.Captured()
	}
	for i := s.rows.next(0); i >= 0; i = s.rows.next(i + 1) {
		c.ResultOnly = c.ResultOnly || d.marked(d.rows[i].toolResult, s)
	}
	if d.have[d.httpStatus] {
		c.HTTPStatus = statusCode(d.value[d.httpStatus])
	}
}

// statusCode reads an HTTP status code, which some instrumentations write as a
// string. It answers 0 if there is none.
func statusCode(v pcommon.Value) int64 {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		return v.Int()
	case pcommon.ValueTypeStr:
		if code, err := strconv.ParseInt(v.Str(), 10, 64); err == nil && code >= 100 && code <= 599 {
			return code
		}
	}
	return 0
}

// content reads the first captured value among attributes, then among events.
func (d *Decoder) content(list []source, events []EventAttribute, dialect *Dialect, span ptrace.Span) Content {
	cut := false
	for i := range list {
		c := d.contentAt(&list[i], dialect)
		if c.Captured() {
			return c
		}
		cut = cut || c.Dropped
	}
	for _, e := range events {
		for _, event := range span.Events().All() {
			if event.Name() != e.Event {
				continue
			}
			if v, ok := event.Attributes().Get(e.Key); ok {
				if c := ContentOf(v, dialect); c.Captured() {
					return c
				}
			}
		}
	}
	return Content{Dropped: cut}
}

// each collects arguments that have an attribute of their own.
func (d *Decoder) each(patterns []string, dialect *Dialect) Content {
	var members []jsonvalue.Member
	for i := range d.flat {
		f := &d.flat[i]
		for _, p := range patterns {
			if name, ok := fits(p, f.prefix+f.rest); ok && name != "" {
				members = append(members, jsonvalue.Member{Key: name, Value: ValueOf(f.value)})
				break
			}
		}
	}
	if len(members) == 0 {
		return Content{}
	}
	return Content{Form: Structured, Value: jsonvalue.Object(members...), Dialect: dialect}
}

func (d *Decoder) toolFromSpanName(s *Span, dialect *Dialect) string {
	for i := s.rows.next(0); i >= 0; i = s.rows.next(i + 1) {
		r := &d.rows[i]
		if !d.marked(r.tool, s) && !d.marked(r.toolResult, s) {
			continue
		}
		for _, pattern := range r.SpanName {
			if name, ok := fits(pattern, s.Name); ok && name != "" && !slices.Contains(dialect.HiddenNames, name) {
				return name
			}
		}
	}
	return ""
}
