// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Every API of the scripted model plays the whole scenario.
func TestModelPlaysTheScenario(t *testing.T) {
	tools := func(form func(name string) object) (out []object) {
		for _, name := range []string{"search_customer", "get_order", "send_email", "lookup_stock", "refund"} {
			out = append(out, form(name))
		}
		return out
	}
	named := func(name string) object { return object{"name": name} }
	user := func(text string) object { return object{"role": "user", "content": text} }
	apis := map[string]struct {
		path    string
		request func(history []object) object
		user    func(text string) object
		// step takes an answer and returns what the next request shows of it, and the calls.
		step func(answer object) (next []object, calls []string)
	}{
		"OpenAI chat": {
			"/v1/chat/completions",
			func(history []object) object {
				return object{"messages": history, "tools": tools(func(n string) object { return object{"type": "function", "function": named(n)} })}
			},
			user,
			func(answer object) (next []object, calls []string) {
				message := answer["choices"].([]any)[0].(object)["message"].(object)
				next = append(next, message)
				for _, c := range list(message["tool_calls"]) {
					calls = append(calls, c["function"].(object)["name"].(string))
					next = append(next, object{"role": "tool", "tool_call_id": c["id"], "content": "x"})
				}
				return next, calls
			},
		},
		"OpenAI responses": {
			"/v1/responses",
			func(history []object) object { return object{"input": history, "tools": tools(named)} },
			user,
			func(answer object) (next []object, calls []string) {
				for _, item := range list(answer["output"]) {
					next = append(next, item)
					if item["type"] == "function_call" {
						calls = append(calls, item["name"].(string))
						next = append(next, object{"type": "function_call_output", "call_id": item["call_id"], "output": "x"})
					}
				}
				return next, calls
			},
		},
		"Anthropic": {
			"/v1/messages",
			func(history []object) object { return object{"messages": history, "tools": tools(named)} },
			user,
			func(answer object) (next []object, calls []string) {
				next = append(next, object{"role": "assistant", "content": answer["content"]})
				results := []object{}
				for _, block := range list(answer["content"]) {
					if block["type"] == "tool_use" {
						calls = append(calls, block["name"].(string))
						results = append(results, object{"type": "tool_result", "tool_use_id": block["id"]})
					}
				}
				return append(next, object{"role": "user", "content": results}), calls
			},
		},
		"Gemini": {
			"/v1beta/models/gemini-2.5-flash:generateContent",
			func(history []object) object {
				return object{"contents": history, "tools": []object{{"functionDeclarations": tools(named)}}}
			},
			func(text string) object { return object{"role": "user", "parts": []object{{"text": text}}} },
			func(answer object) (next []object, calls []string) {
				content := list(answer["candidates"])[0]["content"].(object)
				next = append(next, content)
				results := []object{}
				for _, part := range list(content["parts"]) {
					if c, ok := part["functionCall"].(object); ok {
						calls = append(calls, c["name"].(string))
						results = append(results, object{"functionResponse": object{"name": c["name"]}})
					}
				}
				return append(next, object{"role": "user", "parts": results}), calls
			},
		},
		"Bedrock": {
			"/model/anthropic.claude-3-haiku-20240307-v1:0/converse",
			func(history []object) object {
				return object{"messages": history, "toolConfig": object{"tools": tools(func(n string) object { return object{"toolSpec": named(n)} })}}
			},
			func(text string) object { return object{"role": "user", "content": []object{{"text": text}}} },
			func(answer object) (next []object, calls []string) {
				message := answer["output"].(object)["message"].(object)
				next = append(next, message)
				results := []object{}
				for _, block := range list(message["content"]) {
					if use, ok := block["toolUse"].(object); ok {
						calls = append(calls, use["name"].(string))
						results = append(results, object{"toolResult": object{"toolUseId": use["toolUseId"]}})
					}
				}
				return append(next, object{"role": "user", "content": results}), calls
			},
		},
	}
	s := &server{traces: ptrace.NewTraces(), logs: plog.NewLogs()}
	for name, api := range apis {
		t.Run(name, func(t *testing.T) {
			var turns []string
			var history []object
			for _, text := range []string{"Customer 42. " + askFirst + " it.", "yes"} {
				history = append(history, api.user(text))
				var all []string
				for {
					recorder := httptest.NewRecorder()
					s.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, api.path, strings.NewReader(compact(api.request(history)))))
					require.Equal(t, http.StatusOK, recorder.Code)
					var answer object
					require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &answer))
					next, calls := api.step(answer)
					history = append(history, next...)
					if len(calls) == 0 {
						break
					}
					all = append(all, strings.Join(calls, "+"))
				}
				turns = append(turns, strings.Join(all, " "))
			}
			require.Equal(t, []string{"search_customer+search_customer get_order send_email lookup_stock", "refund"}, turns)
		})
	}
}

func list(value any) (out []object) {
	values, _ := value.([]any)
	for _, v := range values {
		out = append(out, v.(object))
	}
	return out
}

// A response that continues a stored one is as far as that one.
func TestModelContinuesAStoredResponse(t *testing.T) {
	request := func(id string) []byte {
		return []byte(compact(object{"previous_response_id": id, "input": []object{}, "tools": []object{{"name": "get_order"}}}))
	}
	require.Equal(t, "call_4", respond(request("resp_3")).calls[0].id)
	require.Equal(t, question, respond(request("resp_5")).text)
	require.Equal(t, "call_6", respond(request("resp_5q")).calls[0].id)
	require.Equal(t, lastWords, respond(request("resp_6")).text)
}

// Two recordings that differ in ids, times, durations, ports and paths are the same after
// normalization; what says something stays.
func TestNormalize(t *testing.T) {
	record := func(seed byte, port int, start pcommon.Timestamp, root string) string {
		traces := ptrace.NewTraces()
		rs := traces.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", "support-agent")
		rs.Resource().Attributes().PutStr("host.name", strings.Repeat("h", int(seed)))
		spans := rs.ScopeSpans().AppendEmpty().Spans()
		trace := pcommon.TraceID{seed, 1}
		for i := range byte(2) {
			s := spans.AppendEmpty()
			s.SetTraceID(trace)
			s.SetSpanID(pcommon.SpanID{seed, 2 + i})
			s.SetStartTimestamp(start + pcommon.Timestamp(i)*pcommon.Timestamp(seed))
			s.SetEndTimestamp(start + 1000 - pcommon.Timestamp(i))
			s.SetName("execute_tool get_order")
			s.Attributes().PutStr("result", `{"order_id":"B-2","at":"2026-11-0`+string('0'+seed)+`T10:00:00Z","latency_ms": 1`+string('0'+seed)+`}`)
			s.Attributes().PutStr("path", root+"/test/recordings/python/x/run.py at 0x7f"+strings.Repeat(string('0'+seed), 10))
			s.Attributes().PutStr("trace", "tr-"+trace.String())
			s.Attributes().PutInt("server.port", int64(port))
			s.Attributes().PutDouble("gen_ai.duration", float64(seed))
		}
		spans.At(1).SetParentSpanID(spans.At(0).SpanID())
		n := newNormalizer(port, root, root+"/dist/x", root+"/test/recordings/python/x")
		n.collectTimes(traces, plog.NewLogs())
		batches := n.normalizeTraces(traces)
		require.Len(t, batches, 1)
		line, err := (&ptrace.JSONMarshaler{}).MarshalTraces(batches[0])
		require.NoError(t, err)
		return string(line)
	}
	one := record(1, 41000, 1_800_000_000_000_000_000, "/home/one/repo")
	require.Equal(t, one, record(2, 42000, 1_900_000_000_000_000_000, "/srv/two"))
	require.Contains(t, one, `{\"order_id\":\"B-2\",\"at\":\"2026-01-01T00:00:00Z\",\"latency_ms\": 0}`)
	require.Contains(t, one, `"traceId":"000000000000000000000000a0000001"`)
	require.Contains(t, one, "tr-000000000000000000000000a0000001")
	require.Contains(t, one, `"parentSpanId":"00000000b0000001"`)
	require.Contains(t, one, "/app/run.py at 0x0")
	require.Contains(t, one, `"name":"execute_tool get_order"`)
	require.NotContains(t, one, "host.name")
}

// The sink takes both encodings of OTLP and reports what it cannot read.
func TestSink(t *testing.T) {
	s := &server{traces: ptrace.NewTraces(), logs: plog.NewLogs()}
	post := func(path, contentType, body string) int {
		r := httptest.NewRequest(http.MethodPost, path, io.NopCloser(bytes.NewReader([]byte(body))))
		r.Header.Set("Content-Type", contentType)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	require.Equal(t, http.StatusOK, post("/v1/traces", "application/json", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"x"}]}]}]}`))
	require.Equal(t, http.StatusOK, post("/api/public/otel/v1/traces", "application/x-protobuf", ""))
	require.Equal(t, http.StatusOK, post("/v1/logs", "application/json", `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}]}]}]}`))
	require.Equal(t, 1, s.traces.SpanCount())
	require.Equal(t, 1, s.logs.LogRecordCount())
	require.NoError(t, s.failed)
	require.Equal(t, http.StatusNotFound, post("/elsewhere", "application/json", "{}"))
	require.Equal(t, []string{"POST /elsewhere"}, s.unknown)
	require.Equal(t, http.StatusBadRequest, post("/v1/traces", "application/json", "{"))
	require.Error(t, s.failed)
}

// The committed recordings are those of recordings.yaml at the pinned versions, with the right
// answers that it gives.
func TestCommittedRecordings(t *testing.T) {
	root := filepath.Join("..", "..")
	manifest, err := readManifest("recordings.yaml")
	require.NoError(t, err)
	folder := filepath.Join(root, "testdata", "recordings")
	want := map[string]bool{}
	for lang, recordings := range manifest {
		require.Contains(t, languages, lang)
		for _, r := range recordings {
			name, err := languages[lang].name(filepath.Join(lang, r.Folder), r)
			require.NoError(t, err)
			require.False(t, want[name], "two entries are recorded as %s", name)
			want[name] = true
			require.FileExists(t, filepath.Join(folder, name+".jsonl.gz"))
			expected, err := os.ReadFile(filepath.Join(folder, name+".expected.json"))
			require.NoError(t, err)
			again := filepath.Join(t.TempDir(), "expected.json")
			require.NoError(t, writeExpected(again, r))
			text, err := os.ReadFile(again)
			require.NoError(t, err)
			require.Equal(t, string(text), string(expected), name)
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.gz"))
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"), ".logs")
		require.True(t, want[name], "%s is not in recordings.yaml", file)
	}
}
