// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
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
// it was: status, kind, scope and events.
func jaeger(text []byte) (ptrace.Traces, error) {
	var d jaegerDownload
	if err := json.Unmarshal(text, &d); err != nil {
		return ptrace.Traces{}, jsonError(err)
	}
	td := ptrace.NewTraces()
	for _, trace := range d.Data {
		scopes := map[string]ptrace.SpanSlice{}
		resources := map[string]ptrace.ResourceSpans{}
		for i := range trace.Spans {
			s := &trace.Spans[i]
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
			rs, ok := resources[s.ProcessID]
			if !ok || s.Process != nil {
				rs = td.ResourceSpans().AppendEmpty()
				resources[s.ProcessID] = rs
				if process.ServiceName != "" {
					rs.Resource().Attributes().PutStr("service.name", process.ServiceName)
				}
				for _, tag := range process.Tags {
					tag.put(rs.Resource().Attributes())
				}
			}
			key := s.ProcessID + "\x00" + scope + "\x00" + version
			spans, ok := scopes[key]
			if !ok || s.Process != nil {
				ss := rs.ScopeSpans().AppendEmpty()
				ss.Scope().SetName(scope)
				ss.Scope().SetVersion(version)
				spans = ss.Spans()
				scopes[key] = spans
			}
			if err := s.convert(spans.AppendEmpty()); err != nil {
				return ptrace.Traces{}, err
			}
		}
	}
	return td, nil
}

func (s *jaegerSpan) convert(to ptrace.Span) error {
	trace, err := jaegerID[pcommon.TraceID](s.TraceID)
	if err != nil {
		return err
	}
	id, err := jaegerID[pcommon.SpanID](s.SpanID)
	if err != nil {
		return err
	}
	to.SetTraceID(trace)
	to.SetSpanID(id)
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
	if parent != "" {
		id, err := jaegerID[pcommon.SpanID](parent)
		if err != nil {
			return err
		}
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
	return nil
}

var jaegerKinds = map[string]ptrace.SpanKind{
	"client": ptrace.SpanKindClient, "server": ptrace.SpanKindServer,
	"producer": ptrace.SpanKindProducer, "consumer": ptrace.SpanKindConsumer,
	"internal": ptrace.SpanKindInternal,
}

// jaegerID reads an id in hex; Jaeger leaves out leading zeros.
func jaegerID[T ~[8]byte | ~[16]byte](text string) (id T, err error) {
	width := 2 * len(id)
	if text == "" || len(text) > width {
		return id, fmt.Errorf("a span has an id that is not %d hexadecimal digits", width)
	}
	raw, err := hex.DecodeString(strings.Repeat("0", width-len(text)) + text)
	if err != nil {
		return id, fmt.Errorf("a span has an id that is not %d hexadecimal digits", width)
	}
	return T(raw), nil
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

// kindOf tells by its keys what a JSON object is.
func kindOf(text []byte) (isJaeger bool, err error) {
	head := text[:min(len(text), 512)]
	if bytes.Contains(head, []byte(`"resourceSpans"`)) {
		return false, nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return false, jsonError(err)
	}
	has := func(names ...string) bool {
		for _, name := range names {
			if _, ok := keys[name]; ok {
				return true
			}
		}
		return false
	}
	switch {
	case has("resourceSpans", "resource_spans"), len(keys) == 0:
		return false, nil
	case has("data"):
		return true, nil
	case has("resourceLogs"):
		return false, errors.New("these are OTLP logs, not traces")
	case has("resourceMetrics"):
		return false, errors.New("these are OTLP metrics, not traces")
	default:
		return false, errors.New("neither OTLP traces nor a Jaeger download")
	}
}
