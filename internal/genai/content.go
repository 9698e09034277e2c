// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// Form says in which form a value stood in the telemetry.
type Form uint8

const (
	// Absent: the telemetry has no such value, or a placeholder in its place.
	Absent Form = iota
	// Text: a string, which may or may not be JSON.
	Text
	// Structured: a map, a slice, a number or a boolean; or a value that was
	// already parsed as part of a larger JSON text.
	Structured
)

// Content is a value of a tool call where the instrumentation put it. Text is
// not parsed yet.
type Content struct {
	Form Form
	// Value is a string value for Text and the value itself for Structured.
	Value jsonvalue.Value
	// Dropped is set when the value is absent and the SDK reported dropped
	// attributes or events at the place where it should stand.
	Dropped bool
	// Dialect is what the span speaks: several rows of the table are one here.
	Dialect *Dialect
}

// Captured reports whether there is a value.
func (c Content) Captured() bool { return c.Form != Absent }

// maxValueDepth bounds the nesting of structured attribute values. OTLP's own
// protobuf decoders stop at 100 levels; what is nested deeper than this is
// taken as null rather than followed.
const maxValueDepth = 128

// ContentOf reads an attribute value.
func ContentOf(v pcommon.Value, d *Dialect) Content {
	switch v.Type() {
	case pcommon.ValueTypeEmpty:
		return Content{}
	case pcommon.ValueTypeStr:
		return contentOfText(v.Str(), d)
	case pcommon.ValueTypeBytes:
		return contentOfText(string(v.Bytes().AsRaw()), d)
	default:
		return Content{Form: Structured, Value: ValueOf(v), Dialect: d}
	}
}

func contentOfText(s string, d *Dialect) Content {
	if placeholder(s, d) {
		return Content{}
	}
	return Content{Form: Text, Value: jsonvalue.String(s), Dialect: d}
}

// contentOfValue reads a value that is part of an already parsed message list.
func contentOfValue(v jsonvalue.Value, d *Dialect) Content {
	switch v.Kind() {
	case jsonvalue.StringKind:
		if text := v.Text(); placeholder(text, d) || d.placeholder(text) {
			return Content{}
		}
		return Content{Form: Text, Value: v, Dialect: d}
	case jsonvalue.ObjectKind:
		if v.Len() == 0 && d != nil && d.EmptyObject {
			return Content{}
		}
	}
	return Content{Form: Structured, Value: v, Dialect: d}
}

// ValueOf converts an attribute value to a JSON value. Bytes become a string of
// the same bytes; an empty value is null.
func ValueOf(v pcommon.Value) jsonvalue.Value { return valueOf(v, 0) }

func valueOf(v pcommon.Value, depth int) jsonvalue.Value {
	if depth >= maxValueDepth {
		return jsonvalue.Null()
	}
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return jsonvalue.String(v.Str())
	case pcommon.ValueTypeInt:
		return jsonvalue.Int(v.Int())
	case pcommon.ValueTypeDouble:
		return jsonvalue.Float(v.Double())
	case pcommon.ValueTypeBool:
		return jsonvalue.Bool(v.Bool())
	case pcommon.ValueTypeBytes:
		return jsonvalue.String(string(v.Bytes().AsRaw()))
	case pcommon.ValueTypeSlice:
		s := v.Slice()
		elems := make([]jsonvalue.Value, s.Len())
		for i := range elems {
			elems[i] = valueOf(s.At(i), depth+1)
		}
		return jsonvalue.Array(elems...)
	case pcommon.ValueTypeMap:
		return mapValue(v.Map(), depth)
	default:
		return jsonvalue.Null()
	}
}

// MapValue converts an attribute map to a JSON object.
func MapValue(m pcommon.Map) jsonvalue.Value { return mapValue(m, 0) }

func mapValue(m pcommon.Map, depth int) jsonvalue.Value {
	members := make([]jsonvalue.Member, 0, m.Len())
	for k, v := range m.All() {
		members = append(members, jsonvalue.Member{Key: k, Value: valueOf(v, depth+1)})
	}
	return jsonvalue.Object(members...)
}
