// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// jaegerDownload is what Jaeger's page downloads and its API answers: traces
// with their processes. Times are in microseconds.
type jaegerDownload struct {
	Data []struct {
		Spans     []jaegerSpan             `json:"spans"`
		Processes map[string]jaegerProcess `json:"processes"`
	} `json:"data"`
}

type jaegerProcess struct {
	ServiceName string      `json:"serviceName"`
	Tags        []jaegerTag `json:"tags"`
}

type jaegerSpan struct {
	TraceID       string `json:"traceID"`
	SpanID        string `json:"spanID"`
	ParentSpanID  string `json:"parentSpanID"` // older downloads
	OperationName string `json:"operationName"`
	References    []struct {
		RefType string `json:"refType"`
		TraceID string `json:"traceID"`
		SpanID  string `json:"spanID"`
	} `json:"references"`
	StartTime uint64      `json:"startTime"`
	Duration  uint64      `json:"duration"`
	Tags      []jaegerTag `json:"tags"`
	Logs      []struct {
		Timestamp uint64      `json:"timestamp"`
		Fields    []jaegerTag `json:"fields"`
	} `json:"logs"`
	ProcessID string         `json:"processID"`
	Process   *jaegerProcess `json:"process"`
	Flags     uint32         `json:"flags"`
}

type jaegerTag struct {
	Key   string          `json:"key"`
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// jaeger turns a download into OTLP. What Jaeger made tags of becomes again what
// it was: status, kind, scope and events. Spans that cannot be told by their ids
// are left out and counted in the error.
func jaeger(text []byte) (ptrace.Traces, error) {
	var d jaegerDownload
	if err := json.Unmarshal(text, &d); err != nil {
		return ptrace.Traces{}, jsonError(err)
	}
	td := ptrace.NewTraces()
	nameless := 0
	for _, trace := range d.Data {
		scopes := map[string]ptrace.SpanSlice{}
		resources := map[string]ptrace.ResourceSpans{}
		for i := range trace.Spans {
			s := &trace.Spans[i]
			traceID, ok := jaegerID[pcommon.TraceID](s.TraceID)
			spanID, ok2 := jaegerID[pcommon.SpanID](s.SpanID)
			if !ok || !ok2 {
				nameless++
				continue
			}
			process := trace.Processes[s.ProcessID]
			if s.Process != nil {
				process = *s.Process
			}
			scope, version := "", ""
			for _, tag := range s.Tags {
				switch tag.Key {
				case "otel.scope.name", "otel.library.name":
					scope = tag.text()
				case "otel.scope.version", "otel.library.version":
					version = tag.text()
				}
			}
			id := s.ProcessID
			if s.Process != nil {
				id = fmt.Sprintf("inline %d", i) // a process of the span's own
			}
			rs, ok := resources[id]
			if !ok {
				rs = td.ResourceSpans().AppendEmpty()
				resources[id] = rs
				if process.ServiceName != "" {
					rs.Resource().Attributes().PutStr("service.name", process.ServiceName)
				}
				for _, tag := range process.Tags {
					tag.put(rs.Resource().Attributes())
				}
			}
			key := id + "\x00" + scope + "\x00" + version
			spans, ok := scopes[key]
			if !ok {
				ss := rs.ScopeSpans().AppendEmpty()
				ss.Scope().SetName(scope)
				ss.Scope().SetVersion(version)
				spans = ss.Spans()
				scopes[key] = spans
			}
			span := spans.AppendEmpty()
			span.SetTraceID(traceID)
			span.SetSpanID(spanID)
			s.convert(span)
		}
	}
	if nameless > 0 {
		return td, fmt.Errorf("%d spans have ids that are no hexadecimal numbers", nameless)
	}
	return td, nil
}

func (s *jaegerSpan) convert(to ptrace.Span) {
	to.SetName(s.OperationName)
	to.SetStartTimestamp(pcommon.Timestamp(s.StartTime * 1000))
	to.SetEndTimestamp(pcommon.Timestamp((s.StartTime + s.Duration) * 1000))
	parent := s.ParentSpanID
	for _, ref := range s.References {
		if ref.TraceID == s.TraceID && (parent == "" || ref.RefType == "CHILD_OF") {
			parent = ref.SpanID
			if ref.RefType == "CHILD_OF" {
				break
			}
		}
	}
	if id, ok := jaegerID[pcommon.SpanID](parent); ok {
		to.SetParentSpanID(id)
	}
	for _, tag := range s.Tags {
		switch tag.Key {
		case "otel.scope.name", "otel.library.name", "otel.scope.version", "otel.library.version", "internal.span.format":
		case "span.kind":
			to.SetKind(jaegerKinds[tag.text()])
		case "otel.status_code":
			switch tag.text() {
			case "ERROR":
				to.Status().SetCode(ptrace.StatusCodeError)
			case "OK":
				to.Status().SetCode(ptrace.StatusCodeOk)
			}
		case "otel.status_description":
			to.Status().SetMessage(tag.text())
		case "error":
			// Jaeger's own mark, which goes along with the status. Any other
			// attribute of this name is the instrumentation's.
			if tag.Type == "bool" && string(tag.Value) == "true" {
				to.Status().SetCode(ptrace.StatusCodeError)
			} else if tag.Type != "bool" {
				tag.put(to.Attributes())
			}
		default:
			tag.put(to.Attributes())
		}
	}
	for _, log := range s.Logs {
		event := to.Events().AppendEmpty()
		event.SetTimestamp(pcommon.Timestamp(log.Timestamp * 1000))
		for _, field := range log.Fields {
			if field.Key == "event" && event.Name() == "" {
				event.SetName(field.text())
				continue
			}
			field.put(event.Attributes())
		}
	}
}

var jaegerKinds = map[string]ptrace.SpanKind{
	"client": ptrace.SpanKindClient, "server": ptrace.SpanKindServer,
	"producer": ptrace.SpanKindProducer, "consumer": ptrace.SpanKindConsumer,
	"internal": ptrace.SpanKindInternal,
}

// jaegerID reads an id in hex; Jaeger leaves out leading zeros.
func jaegerID[T ~[8]byte | ~[16]byte](text string) (id T, ok bool) {
	width := 2 * len(id)
	if text == "" || len(text) > width {
		return id, false
	}
	raw, err := hex.DecodeString(strings.Repeat("0", width-len(text)) + text)
	if err != nil {
		return id, false
	}
	return T(raw), true
}

func (t *jaegerTag) text() string {
	var s string
	if json.Unmarshal(t.Value, &s) == nil {
		return s
	}
	return string(t.Value)
}

// put adds the tag as an attribute of its type. Numbers may come as strings.
func (t *jaegerTag) put(to pcommon.Map) {
	text := t.text()
	switch t.Type {
	case "bool":
		to.PutBool(t.Key, text == "true")
		return
	case "int64":
		if i, err := json.Number(text).Int64(); err == nil {
			to.PutInt(t.Key, i)
			return
		}
	case "float64":
		if f, err := json.Number(text).Float64(); err == nil {
			to.PutDouble(t.Key, f)
			return
		}
	case "binary":
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			to.PutEmptyBytes(t.Key).FromRaw(raw)
			return
		}
	}
	to.PutStr(t.Key, text)
}
