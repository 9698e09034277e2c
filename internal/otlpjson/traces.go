// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package otlpjson reads export requests of traces in OTLP's JSON encoding, in a
// fraction of the time of pdata's own decoder, which spends most of it copying
// strings.
//
// It reads only requests as exporters write them. An unknown field, null, an enum by
// its name, bytes or anything that is not strict JSON makes [Traces] report false, and
// the caller uses pdata's decoder. If it reports true, both decoders return the same.
package otlpjson

import (
	"encoding/hex"
	"math"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/xpdata"
)

// Traces decodes a request. It reports false if the text has anything that it does not
// know; the text may be valid all the same.
func Traces(text []byte) (ptrace.Traces, bool) {
	r := readers.Get().(*reader)
	defer readers.Put(r)
	return r.traces(text)
}

// readers keep their buffers from request to request.
var readers = sync.Pool{New: func() any { return &reader{} }}

// reader decodes the messages of OTLP. As in the general decoder, a field that
// comes again counts again.
type reader struct {
	jsonText
	pairs   []pair            // the attributes so far of the maps that are being read
	used    int               // how many that are; the values of the others are empty
	builder xpdata.MapBuilder // empty
	depth   int               // how many values the one being read is inside of
	names   [256]string       // of attributes, each in a place that it comes to by its bytes
}

// pair is an attribute that has no place in its map yet.
type pair struct {
	name  string
	value pcommon.Value
}

// maxDepth is how deep values are nested at most.
const maxDepth = 100

func (r *reader) traces(text []byte) (ptrace.Traces, bool) {
	r.read(text)
	defer r.read(nil)
	td := ptrace.NewTraces()
	for more := r.open('{', '}'); more; more = r.more('}') {
		switch string(r.key()) {
		case "resourceSpans", "resource_spans":
			for more := r.open('[', ']'); more; more = r.more(']') {
				r.resourceSpans(td.ResourceSpans().AppendEmpty())
			}
		default:
			r.doubted()
		}
	}
	if !r.ends() {
		r.pairs, r.used, r.depth = nil, 0, 0 // there may be maps that were not read to the end
		return ptrace.Traces{}, false
	}
	return td, true
}

func (r *reader) resourceSpans(rs ptrace.ResourceSpans) {
	for more := r.open('{', '}'); more; more = r.more('}') {
		switch string(r.key()) {
		case "resource":
			r.resource(rs.Resource())
		case "scopeSpans", "scope_spans":
			for more := r.open('[', ']'); more; more = r.more(']') {
				r.scopeSpans(rs.ScopeSpans().AppendEmpty())
			}
		case "schemaUrl", "schema_url":
			rs.SetSchemaUrl(r.str())
		default:
			r.doubted()
		}
	}
}

func (r *reader) resource(resource pcommon.Resource) {
	for more := r.open('{', '}'); more; more = r.more('}') {
		switch string(r.key()) {
		case "attributes":
			r.attributes(resource.Attributes())
		case "droppedAttributesCount", "dropped_attributes_count":
			resource.SetDroppedAttributesCount(r.uint32())
		default:
			r.doubted()
		}
	}
}

func (r *reader) scopeSpans(ss ptrace.ScopeSpans) {
	for more := r.open('{', '}'); more; more = r.more('}') {
		switch string(r.key()) {
		case "scope":
			r.scope(ss.Scope())
		case "spans":
			for more := r.open('[', ']'); more; more = r.more(']') {
				r.span(ss.Spans().AppendEmpty())
			}
		case "schemaUrl", "schema_url":
			ss.SetSchemaUrl(r.str())
		default:
			r.doubted()
		}
	}
}

func (r *reader) scope(scope pcommon.InstrumentationScope) {
	for more := r.open('{', '}'); more; more = r.more('}') {
		switch string(r.key()) {
		case "name":
			scope.SetName(r.str())
		case "version":
			scope.SetVersion(r.str())
		case "attributes":
			r.attributes(scope.Attributes())
		case "droppedAttributesCount", "dropped_attributes_count":
			scope.SetDroppedAttributesCount(r.uint32())
		default:
			r.doubted()
		}
	}
}

func (r *reader) span(span ptrace.Span) {
	for more := r.open('{', '}'); more; more = r.more('}') {
		switch string(r.key()) {
		case "traceId", "trace_id":
			span.SetTraceID(r.traceID())
		case "spanId", "span_id":
			span.SetSpanID(r.spanID())
		case "traceState", "trace_state":
			span.TraceState().FromRaw(r.str())
		case "parentSpanId", "parent_span_id":
			span.SetParentSpanID(r.spanID())
		case "flags":
			span.SetFlags(r.uint32())
		case "name":
			span.SetName(r.str())
		case "kind":
			span.SetKind(ptrace.SpanKind(r.enum()))
		case "startTimeUnixNano", "start_time_unix_nano":
			span.SetStartTimestamp(r.timestamp())
		case "endTimeUnixNano", "end_time_unix_nano":
			span.SetEndTimestamp(r.timestamp())
		case "attributes":
			r.attributes(span.Attributes())
		case "droppedAttributesCount", "dropped_attributes_count":
			span.SetDroppedAttributesCount(r.uint32())
		case "events":
			for more := r.open('[', ']'); more; more = r.more(']') {
				r.event(span.Events().AppendEmpty())
			}
		case "droppedEventsCount", "dropped_events_count":
			span.SetDroppedEventsCount(r.uint32())
		case "links":
			for more := r.open('[', ']'); more; more = r.more(']') {
				r.link(span.Links().AppendEmpty())
			}
		case "droppedLinksCount", "dropped_links_count":
			span.SetDroppedLinksCount(r.uint32())
		case "status":
			r.status(span.Status())
		default:
			r.doubted()
		}
	}
}

func (r *reader) event(event ptrace.SpanEvent) {
	for more := r.open('{', '}'); more; more = r.more('}') {
		switch string(r.key()) {
		case "timeUnixNano", "time_unix_nano":
			event.SetTimestamp(r.timestamp())
		case "name":
			event.SetName(r.str())
		case "attributes":
			r.attributes(event.Attributes())
		case "droppedAttributesCount", "dropped_attributes_count":
			event.SetDroppedAttributesCount(r.uint32())
		default:
			r.doubted()
		}
	}
}

func (r *reader) link(link ptrace.SpanLink) {
	for more := r.open('{', '}'); more; more = r.more('}') {
		switch string(r.key()) {
		case "traceId", "trace_id":
			link.SetTraceID(r.traceID())
		case "spanId", "span_id":
			link.SetSpanID(r.spanID())
		case "traceState", "trace_state":
			link.TraceState().FromRaw(r.str())
		case "attributes":
			r.attributes(link.Attributes())
		case "droppedAttributesCount", "dropped_attributes_count":
			link.SetDroppedAttributesCount(r.uint32())
		case "flags":
			link.SetFlags(r.uint32())
		default:
			r.doubted()
		}
	}
}

func (r *reader) status(status ptrace.Status) {
	for more := r.open('{', '}'); more; more = r.more('}') {
		switch string(r.key()) {
		case "message":
			status.SetMessage(r.str())
		case "code":
			status.SetCode(ptrace.StatusCode(r.enum()))
		default:
			r.doubted()
		}
	}
}

// attributes reads a list of keys and values. They are put into their map when it
// is known how many there are. A key may stand in it twice, as in the general
// decoder; Map's own functions would look for it each time.
func (r *reader) attributes(m pcommon.Map) {
	if m.Len() > 0 || r.depth == maxDepth {
		r.doubted()
		return
	}
	begin := r.used
	r.depth++
	for more := r.open('[', ']'); more; more = r.more(']') {
		if !r.attribute() {
			r.doubted()
		}
	}
	r.depth--
	own := r.pairs[begin:r.used]
	r.builder.EnsureCapacity(len(own))
	for i := range own {
		own[i].value.MoveTo(r.builder.AppendEmpty(own[i].name))
	}
	r.builder.UnsafeIntoMap(m)
	r.used = begin
}

// attribute reads a key and its value. It answers false unless both are there,
// the key first.
func (r *reader) attribute() bool {
	if !r.open('{', '}') || string(r.key()) != "key" {
		return false
	}
	if r.used == len(r.pairs) {
		r.pairs = append(r.pairs, pair{value: pcommon.NewValueEmpty()})
	}
	p := &r.pairs[r.used]
	r.used++
	p.name = r.name()
	v := p.value // maps inside may need more pairs
	if !r.more('}') || string(r.key()) != "value" {
		return false
	}
	r.value(v)
	return !r.more('}')
}

// name reads the name of an attribute. There are few, which come again and again.
func (r *reader) name() string {
	s := r.bytes()
	if len(s) == 0 {
		return ""
	}
	const odd = 31
	h := len(s)
	h = h*odd + int(s[0])
	h = h*odd + int(s[len(s)/2])
	h = h*odd + int(s[len(s)-1])
	known := &r.names[h%len(r.names)]
	if *known != string(s) {
		*known = string(s)
	}
	return *known
}

// value reads any value.
func (r *reader) value(v pcommon.Value) {
	for more := r.open('{', '}'); more; more = r.more('}') {
		switch string(r.key()) {
		case "stringValue", "string_value":
			v.SetStr(r.str())
		case "boolValue", "bool_value":
			v.SetBool(r.boolean())
		case "intValue", "int_value":
			v.SetInt(r.signed())
		case "doubleValue", "double_value":
			v.SetDouble(r.double())
		case "arrayValue", "array_value":
			r.array(v.SetEmptySlice())
		case "kvlistValue", "kvlist_value":
			r.kvlist(v.SetEmptyMap())
		default:
			r.doubted()
		}
	}
}

func (r *reader) array(values pcommon.Slice) {
	if r.depth++; r.depth == maxDepth {
		r.doubted()
	}
	for more := r.open('{', '}'); more; more = r.more('}') {
		if string(r.key()) != "values" {
			r.doubted()
		}
		for more := r.open('[', ']'); more; more = r.more(']') {
			r.value(values.AppendEmpty())
		}
	}
	r.depth--
}

func (r *reader) kvlist(m pcommon.Map) {
	for more := r.open('{', '}'); more; more = r.more('}') {
		if string(r.key()) != "values" {
			r.doubted()
		}
		r.attributes(m)
	}
}

func (r *reader) uint32() uint32 { return uint32(r.unsigned(math.MaxUint32)) }

func (r *reader) timestamp() pcommon.Timestamp {
	return pcommon.Timestamp(r.unsigned(math.MaxUint64))
}

// enum reads the number of an enum, which is not in quotation marks.
func (r *reader) enum() int32 {
	text, quoted := r.number()
	if quoted {
		r.doubted()
	}
	return int32(r.decimal(text, math.MaxInt32)) //nolint:gosec // not above that
}

func (r *reader) traceID() (id pcommon.TraceID) {
	r.id(id[:])
	return id
}

func (r *reader) spanID() (id pcommon.SpanID) {
	r.id(id[:])
	return id
}

// id reads hexadecimal digits, or none for no id. The general decoder takes no
// escapes there.
func (r *reader) id(into []byte) {
	begin, end := r.word()
	if begin == end {
		return
	}
	if end-begin != hex.EncodedLen(len(into)) {
		r.doubted()
	} else if _, err := hex.Decode(into, r.text[begin:end]); err != nil {
		r.doubted()
	}
}
