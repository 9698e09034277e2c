// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// download writes traces as Jaeger's page downloads them. What it does with an
// OTLP span is Jaeger's own translation: times in microseconds, status, kind and
// scope as tags, events as logs, lists and maps as JSON text.
func download(t *testing.T, traces ...ptrace.Traces) []byte {
	t.Helper()
	type object = map[string]any
	var data []any
	for _, td := range traces {
		processes, spans := object{}, []any{}
		trace := ""
		for i, rs := range td.ResourceSpans().All() {
			process := fmt.Sprintf("p%d", i+1)
			service, _ := rs.Resource().Attributes().Get("service.name")
			tags := jaegerTags(rs.Resource().Attributes(), "service.name")
			processes[process] = object{"serviceName": service.AsString(), "tags": tags}
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					trace = span.TraceID().String()
					tags := jaegerTags(span.Attributes(), "")
					add := func(key, kind string, value any) {
						tags = append(tags, object{"key": key, "type": kind, "value": value})
					}
					if name := ss.Scope().Name(); name != "" {
						add("otel.scope.name", "string", name)
					}
					if version := ss.Scope().Version(); version != "" {
						add("otel.scope.version", "string", version)
					}
					if kind := span.Kind(); kind != ptrace.SpanKindUnspecified {
						add("span.kind", "string", strings.ToLower(kind.String()))
					}
					switch span.Status().Code() {
					case ptrace.StatusCodeOk:
						add("otel.status_code", "string", "OK")
					case ptrace.StatusCodeError:
						add("otel.status_code", "string", "ERROR")
						add("error", "bool", true)
					}
					if message := span.Status().Message(); message != "" {
						add("otel.status_description", "string", message)
					}
					add("internal.span.format", "string", "otlp")
					logs := []any{}
					for _, event := range span.Events().All() {
						fields := jaegerTags(event.Attributes(), "")
						if event.Name() != "" {
							fields = append([]any{object{"key": "event", "type": "string", "value": event.Name()}}, fields...)
						}
						logs = append(logs, object{"timestamp": uint64(event.Timestamp()) / 1000, "fields": fields})
					}
					references := []any{}
					if parent := span.ParentSpanID(); !parent.IsEmpty() {
						references = append(references, object{"refType": "CHILD_OF", "traceID": trace, "spanID": parent.String()})
					}
					start := uint64(span.StartTimestamp()) / 1000
					spans = append(spans, object{
						"traceID": trace, "spanID": strings.TrimLeft(span.SpanID().String(), "0"), "operationName": span.Name(),
						"references": references, "startTime": start, "duration": uint64(span.EndTimestamp())/1000 - start,
						"tags": tags, "logs": logs, "processID": process, "warnings": nil,
					})
				}
			}
		}
		data = append(data, object{"traceID": trace, "spans": spans, "processes": processes, "warnings": nil})
	}
	text, err := json.Marshal(object{"data": data, "total": 0, "limit": 0, "offset": 0, "errors": nil})
	require.NoError(t, err)
	return text
}

func jaegerTags(attributes pcommon.Map, but string) []any {
	tags := []any{}
	for key, v := range attributes.All() {
		if key == but {
			continue
		}
		tag := map[string]any{"key": key, "type": "string", "value": v.AsString()}
		switch v.Type() {
		case pcommon.ValueTypeBool:
			tag["type"], tag["value"] = "bool", v.Bool()
		case pcommon.ValueTypeInt:
			tag["type"], tag["value"] = "int64", v.Int()
		case pcommon.ValueTypeDouble:
			tag["type"], tag["value"] = "float64", v.Double()
		case pcommon.ValueTypeBytes:
			tag["type"], tag["value"] = "binary", base64.StdEncoding.EncodeToString(v.Bytes().AsRaw())
		}
		tags = append(tags, tag)
	}
	return tags
}

// flat does to spans what Jaeger does and cannot be undone.
func flat(td ptrace.Traces) ptrace.Traces {
	out := ptrace.NewTraces()
	td.CopyTo(out)
	simple := func(m pcommon.Map) {
		for key, v := range m.All() {
			switch v.Type() {
			case pcommon.ValueTypeMap, pcommon.ValueTypeSlice, pcommon.ValueTypeEmpty:
				m.PutStr(key, v.AsString())
			}
		}
	}
	micro := func(t pcommon.Timestamp) pcommon.Timestamp { return t / 1000 * 1000 }
	for _, rs := range out.ResourceSpans().All() {
		simple(rs.Resource().Attributes())
		rs.SetSchemaUrl("")
		rs.Resource().SetDroppedAttributesCount(0)
		for _, ss := range rs.ScopeSpans().All() {
			ss.SetSchemaUrl("")
			ss.Scope().Attributes().Clear()
			for _, span := range ss.Spans().All() {
				simple(span.Attributes())
				span.SetStartTimestamp(micro(span.StartTimestamp()))
				span.SetEndTimestamp(micro(span.EndTimestamp()))
				span.SetFlags(0)
				span.TraceState().FromRaw("")
				span.Links().RemoveIf(func(ptrace.SpanLink) bool { return true })
				for _, event := range span.Events().All() {
					simple(event.Attributes())
					event.SetTimestamp(micro(event.Timestamp()))
				}
			}
		}
	}
	return out
}

func recording(t *testing.T, file string) []ptrace.Traces {
	t.Helper()
	var all Collection
	require.NoError(t, Read([]string{file}, nil, 2, Handler{
		Traces: func(td ptrace.Traces, _ Place) error { all.Add(td); return nil },
		Broken: func(e *Error) error { return e },
	}))
	require.NotZero(t, all.Spans)
	return all.Traces()
}

// A recording that went through Jaeger comes back, but for what Jaeger keeps in
// another form.
func TestJaegerRoundTrip(t *testing.T) {
	for _, file := range []string{"mcp.jsonl", "strands.jsonl"} {
		t.Run(file, func(t *testing.T) {
			traces := recording(t, filepath.Join("testdata", file))
			var want []ptrace.Traces
			for _, td := range traces {
				want = append(want, flat(td))
			}
			text := download(t, traces...)
			for name, data := range map[string][]byte{
				"download": text, "pretty-printed": indented(t, text, "  "), "compressed": gzipped(t, text),
			} {
				got, broken := readAll(t, data, 2, longLine)
				require.Empty(t, broken, name)
				if diff := cmp.Diff(sorted(t, want...), sorted(t, got...)); diff != "" {
					t.Errorf("%s: spans (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// sorted is spansOf with attributes in order of their names: Jaeger's are those
// of a map.
func sorted(t *testing.T, traces ...ptrace.Traces) map[string][]string {
	t.Helper()
	out := spansOf(t, traces...)
	for id, spans := range out {
		for i, text := range spans {
			var v any
			require.NoError(t, json.Unmarshal([]byte(text), &v))
			sortAttributes(v)
			text, err := json.Marshal(v)
			require.NoError(t, err)
			spans[i] = string(text)
		}
		out[id] = spans
	}
	return out
}

func sortAttributes(v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			if list, ok := e.([]any); ok && key == "attributes" {
				m := map[string]any{}
				for _, a := range list {
					m[a.(map[string]any)["key"].(string)] = a
				}
				v[key] = m
				continue
			}
			sortAttributes(e)
		}
	case []any:
		for _, e := range v {
			sortAttributes(e)
		}
	}
}

// Scores of what went through Jaeger are those of what did not.
func TestJaegerVerdicts(t *testing.T) {
	root := os.Getenv("RESULTSEAL_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(root, "traces", "*", "*.jsonl*"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("recordings are not here (set RESULTSEAL_SHARED)")
	}
	for _, file := range files {
		if strings.Contains(file, ".logs.") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			policyFile := filepath.Join(filepath.Dir(file), "policy.yaml")
			text, err := os.ReadFile(policyFile)
			require.NoError(t, err)
			p, err := policy.Load(policyFile, text)
			require.NoError(t, err)
			traces := recording(t, file)
			got, broken := readAll(t, download(t, traces...), 2, longLine)
			require.Empty(t, broken)
			if diff := cmp.Diff(verdicts(p, traces), verdicts(p, got)); diff != "" {
				t.Errorf("verdicts (-OTLP +Jaeger):\n%s", diff)
			}
		})
	}
}

// verdicts says what traces come to, without ids of records: these hold times.
func verdicts(p *policy.Policy, traces []ptrace.Traces) map[string][]string {
	decoder, scorer := genai.NewDecoder(genai.Options{}), score.New(p)
	out := map[string][]string{}
	for _, td := range traces {
		facts, _ := decoder.Traces(td)
		v := scorer.Trace(facts, nil)
		if v == nil {
			continue
		}
		lines := []string{v.Compliance.String()}
		for _, o := range v.Observations {
			lines = append(lines, fmt.Sprint(o.Tool, o.CallID, o.Evaluation))
		}
		for _, p := range v.Protocols {
			for _, e := range p.Events {
				lines = append(lines, fmt.Sprint(facts[e.Span].SpanID, e.Name, e.Verdict, e.Expected, e.Registers))
			}
		}
		out[v.TraceID.String()] = lines
	}
	return out
}

// What is odd about a download is told, and costs no more than it must.
func TestJaegerOddities(t *testing.T) {
	const in = `{"data":[{"traceID":"a1","spans":[
		{"traceID":"a1","spanID":"b2","operationName":"old","parentSpanID":"c3","startTime":1,"duration":2,"process":{"serviceName":"inline","tags":[]}},
		{"traceID":"a1","spanID":"no","operationName":"bad"},
		{"traceID":"a1","spanID":"b3","references":[{"refType":"FOLLOWS_FROM","traceID":"a1","spanID":"b2"},{"refType":"CHILD_OF","traceID":"ff","spanID":"b9"}],
		 "tags":[{"key":"otel.library.name","type":"string","value":"lib"},{"key":"n","type":"int64","value":"12"},{"key":"f","type":"float64","value":"0.5"},
		         {"key":"error","type":"string","value":"true"},{"key":"b","type":"binary","value":"aGk="},{"key":"odd","type":"int64","value":"x"}]}
	],"processes":{}}]}`
	td, err := request([]byte(in))
	require.EqualError(t, err, "1 spans have ids that are no hexadecimal numbers")
	require.Equal(t, 2, td.SpanCount())
	old := td.ResourceSpans().At(0)
	service, _ := old.Resource().Attributes().Get("service.name")
	require.Equal(t, "inline", service.Str())
	require.Equal(t, "00000000000000c3", old.ScopeSpans().At(0).Spans().At(0).ParentSpanID().String())
	require.Equal(t, pcommon.Timestamp(3000), old.ScopeSpans().At(0).Spans().At(0).EndTimestamp())
	scope := td.ResourceSpans().At(1).ScopeSpans().At(0)
	require.Equal(t, "lib", scope.Scope().Name())
	span := scope.Spans().At(0)
	require.Equal(t, "00000000000000b2", span.ParentSpanID().String(), "a link to another trace is no parent")
	require.Equal(t, map[string]any{"n": int64(12), "f": 0.5, "error": "true", "b": []byte("hi"), "odd": "x"}, span.Attributes().AsRaw())
	require.Equal(t, ptrace.StatusCodeUnset, span.Status().Code(), "an attribute of the instrumentation's own")
}
