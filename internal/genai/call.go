// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// call adds what one dialect says of a tool call and no earlier one said.
func (d *Decoder) call(s *Span, r *row, dialect *Dialect, span ptrace.Span) {
	c := &s.Call
	if c.Tool == "" {
		if name := d.first(r.toolName); !slices.Contains(dialect.HiddenNames, name) {
			c.Tool = name
		}
	}
	if c.ID == "" {
		for _, a := range r.callID {
			if c.ID = UsableID(d.text(a)); c.ID != "" {
				break
			}
		}
	}
	if !c.Arguments.Captured() {
		c.Arguments = d.content(r.arguments, r.EventArguments, dialect, span)
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
	if s.Dropped {
		c.Arguments.Dropped = !c.Arguments.Captured()
		c.Result.Dropped = !c.Result.Captured()
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
func (d *Decoder) content(attrs []attr, events []EventAttribute, dialect *Dialect, span ptrace.Span) Content {
	for _, a := range attrs {
		if d.have[a] {
			if c := ContentOf(d.value[a], dialect); c.Captured() {
				return c
			}
		}
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
	return Content{}
}

func (d *Decoder) toolFromSpanName(s *Span, dialect *Dialect) string {
	for i := range d.rows {
		r := &d.rows[i]
		if !d.marked(r.tool, s) {
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
