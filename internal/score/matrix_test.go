// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// The matrix: what a tool returned, where a recording holds it, and in what
// disorder its spans come. Each cell of testdata/matrix.txt is the verdict on one
// call. Disorder changes nothing, and neither does the place, but for what a
// place cannot hold.

// matrixPolicy asks for a customer, or for the sentinel that says that there is
// none.
const matrixPolicy = `contracts:
  - name: found
    match: {tools: [lookup]}
    claim_type: found
    required_fields: [customer_id, name]
    freshness: {mode: not_required}
    source_ref: crm://customers
    target_ref: "customer:{arguments.id}"
    observation:
      target_ref: "customer:{result.customer_id}"
  - name: not-found
    match: {tools: [lookup]}
    claim_type: not_found
    required_fields: []
    freshness: {mode: not_required}
    source_ref: crm://customers
    target_ref: "customer:{arguments.id}"
    not_found_sentinel: NO_SUCH_CUSTOMER
`

// situation is what a tool came to.
type situation struct {
	name  string
	value any    // what it returned
	raw   string // what stands there if it is no longer what the tool returned
	fails string // "threw" or "answered"
}

var ada = map[string]any{"customer_id": "42", "name": "Ada"}

func situations() []situation {
	return []situation{
		{name: "ok", value: ada},
		{name: "threw", fails: "threw"},
		{name: "answered an error", value: "no such table", fails: "answered"},
		{name: "empty string", value: ""},
		{name: "empty list", value: []any{}},
		{name: "empty object", value: map[string]any{}},
		{name: "null"},
		{name: "sentinel", value: "NO_SUCH_CUSTOMER"},
		{name: "cut off", raw: `{"customer_id":"42","name":"A… [truncated]`},
		{name: "words", value: "Customer 42 is Ada."},
		{name: "JSON in a string", value: `{"customer_id":"42","name":"Ada"}`},
		{name: "1 MiB", value: map[string]any{"customer_id": "42", "name": "Ada", "log": strings.Repeat("all is well. ", 1<<20/13)}},
	}
}

// quoted is the result as JSON, strings in quotation marks.
func (s situation) quoted() string {
	if s.raw != "" {
		return s.raw
	}
	text, err := json.Marshal(s.value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// bare is the result as text: JSON, but strings as they are.
func (s situation) bare() string {
	if text, ok := s.value.(string); ok {
		return text
	}
	return s.quoted()
}

// data is the result for a place that holds structures.
func (s situation) data() any {
	if s.raw != "" {
		return s.raw
	}
	return s.value
}

// place is where a recording holds a result.
type place struct {
	name string
	// tool fills a tool span; nil if only messages show the call.
	tool func(span ptrace.Span, id string, s situation)
	// shown is the message in which a model is shown the result; nil for none.
	shown func(chat ptrace.Span, id string, s situation)
}

func places() []place {
	plain := func(span ptrace.Span, id string) pcommon.Map {
		a := span.Attributes()
		a.PutStr("gen_ai.operation.name", "execute_tool")
		a.PutStr("gen_ai.tool.name", "lookup")
		a.PutStr("gen_ai.tool.call.id", id)
		a.PutStr("gen_ai.tool.call.arguments", `{"id":"42"}`)
		return a
	}
	conventions := func(encode func(situation) any) func(ptrace.Span, string, situation) {
		return func(span ptrace.Span, id string, s situation) {
			a := plain(span, id)
			if fail(span, s) {
				must(a.PutEmpty("gen_ai.tool.call.result").FromRaw(encode(s)))
			}
		}
	}
	openInference := func(encode func(situation, string) string) func(ptrace.Span, string, situation) {
		return func(span ptrace.Span, id string, s situation) {
			a := span.Attributes()
			span.SetName("lookup")
			a.PutStr("openinference.span.kind", "TOOL")
			a.PutStr("tool.name", "lookup")
			a.PutStr("input.value", `{"id":"42"}`)
			if fail(span, s) {
				a.PutStr("output.value", encode(s, id))
			}
		}
	}
	return []place{
		{name: "attribute, JSON", tool: conventions(func(s situation) any { return s.quoted() })},
		{name: "attribute, structured", tool: conventions(func(s situation) any { return s.data() })},
		{name: "span event", tool: func(span ptrace.Span, id string, s situation) {
			a := span.Attributes()
			a.PutStr("gen_ai.operation.name", "execute_tool")
			a.PutStr("gen_ai.tool.name", "lookup")
			a.PutStr("gen_ai.tool.call.id", id)
			event(span, "gen_ai.tool.message", map[string]any{"role": "tool", "content": `{"id":"42"}`, "id": id})
			if fail(span, s) {
				event(span, "gen_ai.choice", map[string]any{"message": s.quoted(), "id": id})
			}
		}},
		{name: "message only", shown: func(chat ptrace.Span, id string, s situation) {
			part := map[string]any{"type": "tool_call_response", "id": id, "response": s.data()}
			if s.fails != "" {
				part["response"], part["is_error"] = "it failed", true
			}
			messages(chat, ask(id), map[string]any{"role": "tool", "parts": []any{part}})
		}},
		{name: "OpenInference output.value", tool: openInference(func(s situation, _ string) string { return s.bare() })},
		{name: "flattened messages", shown: func(chat ptrace.Span, id string, s situation) {
			a := chat.Attributes()
			a.PutStr("openinference.span.kind", "LLM")
			a.PutStr("llm.input_messages.0.message.role", "user")
			a.PutStr("llm.input_messages.0.message.content", "find 42")
			a.PutStr("llm.input_messages.1.message.role", "assistant")
			a.PutStr("llm.input_messages.1.message.tool_calls.0.tool_call.id", id)
			a.PutStr("llm.input_messages.1.message.tool_calls.0.tool_call.function.name", "lookup")
			a.PutStr("llm.input_messages.1.message.tool_calls.0.tool_call.function.arguments", `{"id":"42"}`)
			a.PutStr("llm.input_messages.2.message.role", "tool")
			a.PutStr("llm.input_messages.2.message.tool_call_id", id)
			content := s.bare()
			if s.fails != "" {
				content = `{"type":"error-text","value":"it failed"}`
			}
			a.PutStr("llm.input_messages.2.message.content", content)
		}},
		{name: "MCP wrapper", tool: conventions(func(s situation) any {
			result := map[string]any{"content": []any{map[string]any{"type": "text", "text": s.bare()}}}
			if s.fails == "answered" {
				result["isError"] = true
			}
			return encoded(result)
		})},
		{name: "LangChain envelope", tool: openInference(func(s situation, id string) string {
			kwargs := map[string]any{"content": s.bare(), "tool_call_id": id, "name": "lookup", "status": "success"}
			if s.fails == "answered" {
				kwargs["status"] = "error"
			}
			return encoded(map[string]any{"output": map[string]any{
				"lc": 1, "type": "constructor", "id": []any{"langchain_core", "messages", "ToolMessage"}, "kwargs": kwargs,
			}})
		})},
		{name: "content blocks", tool: conventions(func(s situation) any {
			switch v := s.data().(type) {
			case map[string]any:
				return encoded([]any{map[string]any{"json": v}})
			case string:
				return encoded([]any{map[string]any{"text": v}})
			default:
				return encoded([]any{map[string]any{"json": v}})
			}
		})},
		{name: "AI SDK, typed", shown: func(chat ptrace.Span, id string, s situation) {
			kind := "json"
			if _, ok := s.data().(string); ok {
				kind = "text"
			}
			output := map[string]any{"type": kind, "value": s.data()}
			if s.fails != "" {
				output = map[string]any{"type": "error-text", "value": "it failed"}
			}
			a := chat.Attributes()
			a.PutStr("ai.operationId", "ai.generateText.doGenerate")
			a.PutStr("ai.prompt.messages", encoded([]any{
				map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "find 42"}}},
				map[string]any{"role": "assistant", "content": []any{map[string]any{
					"type": "tool-call", "toolCallId": id, "toolName": "lookup", "input": map[string]any{"id": "42"},
				}}},
				map[string]any{"role": "tool", "content": []any{map[string]any{
					"type": "tool-result", "toolCallId": id, "toolName": "lookup", "output": output,
				}}},
			}))
		}},
	}
}

// fail marks the span of a tool that threw, or that only its error.type tells to
// have answered an error. It answers false if there is no result.
func fail(span ptrace.Span, s situation) bool {
	switch s.fails {
	case "threw":
		span.Status().SetCode(ptrace.StatusCodeError)
		span.Status().SetMessage("it failed")
		event(span, "exception", map[string]any{"exception.type": "Error", "exception.message": "it failed"})
		return false
	case "answered":
		span.Attributes().PutStr("error.type", "tool_error")
	}
	return true
}

func event(span ptrace.Span, name string, attributes map[string]any) {
	e := span.Events().AppendEmpty()
	e.SetName(name)
	must(e.Attributes().FromRaw(attributes))
}

func ask(id string) map[string]any {
	return map[string]any{"role": "assistant", "parts": []any{map[string]any{
		"type": "tool_call", "id": id, "name": "lookup", "arguments": map[string]any{"id": "42"},
	}}}
}

func messages(chat ptrace.Span, list ...any) {
	user := map[string]any{"role": "user", "parts": []any{map[string]any{"type": "text", "content": "find 42"}}}
	chat.Attributes().PutStr("gen_ai.operation.name", "chat")
	chat.Attributes().PutStr("gen_ai.input.messages", encoded(append([]any{user}, list...)))
}

func encoded(v any) string {
	text, err := json.Marshal(v)
	must(err)
	return string(text)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// disorders are the ways in which spans come.
var disorders = []string{"in order", "child first", "twice", "two tools", "parallel", "orphan"}

// matrixTrace builds the trace of one cell.
func matrixTrace(p place, s situation, disorder string) ptrace.Traces {
	td := ptrace.NewTraces()
	next := byte(1)
	add := func(scope, name string, parent pcommon.SpanID, from, to int) ptrace.Span {
		ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
		ss.Scope().SetName(scope)
		span := ss.Spans().AppendEmpty()
		span.SetTraceID(pcommon.TraceID{1})
		span.SetSpanID(pcommon.SpanID{7: next})
		next++
		span.SetParentSpanID(parent)
		span.SetName(name)
		if disorder == "child first" && !parent.IsEmpty() {
			from, to = from-5000, to-5000
		}
		const epoch = 1_700_000_000_000
		span.SetStartTimestamp(pcommon.Timestamp((epoch + from) * 1_000_000))
		span.SetEndTimestamp(pcommon.Timestamp((epoch + to) * 1_000_000))
		return span
	}
	root := pcommon.SpanID{7: 0xff}
	if disorder != "orphan" {
		span := add("script", "invoke_agent support", pcommon.SpanID{}, 0, 1000)
		span.Attributes().PutStr("gen_ai.operation.name", "invoke_agent")
		root = span.SpanID()
	}
	ids := []string{"call-1"}
	if disorder == "parallel" {
		ids = []string{"call-1", "call-2"}
	}
	for n, id := range ids {
		asking := add("script", "chat", root, 10, 20)
		messages(asking)
		asking.Attributes().PutStr("gen_ai.output.messages", encoded([]any{ask(id)}))
		if p.tool != nil {
			tool := add("script", "execute_tool lookup", root, 30+n, 40+n)
			p.tool(tool, id, s)
			if disorder == "two tools" {
				inner := add("mcp-client", "tools/call lookup", tool.SpanID(), 31, 39)
				inner.Attributes().PutStr("mcp.method.name", "tools/call")
				inner.Attributes().PutStr("gen_ai.tool.name", "lookup")
			}
		}
		if p.shown != nil {
			chat := add("script", "chat", root, 50+n, 60+n)
			p.shown(chat, id, s)
			if disorder == "two tools" {
				inner := add("other", "chat", chat.SpanID(), 51, 59)
				p.shown(inner, id, s)
			}
		}
	}
	if disorder == "twice" {
		for i := range td.ResourceSpans().Len() {
			again := ptrace.NewResourceSpans()
			td.ResourceSpans().At(i).CopyTo(again)
			again.CopyTo(td.ResourceSpans().AppendEmpty())
		}
	}
	return td
}

// cell judges one cell: the verdict that all its calls came to.
func cell(scorer *score.Scorer, td ptrace.Traces, calls int) string {
	facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
	v := scorer.Trace(facts, nil)
	if v == nil {
		return "nothing"
	}
	var verdicts []string
	for i := range v.Observations {
		o := &v.Observations[i]
		text := string(o.Evaluation.TruthState)
		if o.Evaluation.TruthState == "unknown" || o.Evaluation.TruthState == "observed" {
			text = strings.ToLower(string(o.Evaluation.ReasonCodes[0]))
		}
		if i == 0 || text != verdicts[len(verdicts)-1] {
			verdicts = append(verdicts, text)
		}
	}
	if len(v.Observations) != calls || len(v.Uncontracted) > 0 {
		verdicts = append(verdicts, fmt.Sprintf("%d+%d calls", len(v.Observations), len(v.Uncontracted)))
	}
	return strings.Join(verdicts, "/")
}

// cannotHold are the cells that differ because the place cannot hold the
// situation as it is: an empty attribute value is none; a text alone does not
// tell null or a quoted string from what it says; a message does not tell a tool
// that threw from one that answered an error.
var cannotHold = map[string]string{
	"attribute, structured/null": "result_not_captured",
	"message only/threw":         "protocol_conflict",
	"flattened messages/threw":   "protocol_conflict",
	"AI SDK, typed/threw":        "protocol_conflict",
}

func TestMatrix(t *testing.T) {
	p, err := policy.Load("matrix.yaml", []byte(matrixPolicy))
	require.NoError(t, err)
	scorer := score.New(p)
	var out strings.Builder
	same := map[string]string{}
	for _, place := range places() {
		fmt.Fprintf(&out, "== %s\n", place.name)
		for _, s := range situations() {
			fmt.Fprintf(&out, "%-18s", s.name)
			first := ""
			for _, disorder := range disorders {
				calls := 1
				if disorder == "parallel" {
					calls = 2
				}
				got := cell(scorer, matrixTrace(place, s, disorder), calls)
				if first == "" {
					first = got
				}
				// Whatever the disorder, the verdict is the same.
				require.Equal(t, first, got, "%s, %s, %s", place.name, s.name, disorder)
			}
			fmt.Fprintf(&out, " %s\n", first)
			// Wherever the result is, the verdict is the same.
			if want, ok := cannotHold[place.name+"/"+s.name]; ok {
				require.Equal(t, want, first, "%s, %s", place.name, s.name)
				continue
			}
			if same[s.name] == "" {
				same[s.name] = first
			}
			require.Equal(t, same[s.name], first, "%s, %s", place.name, s.name)
		}
		out.WriteString("\n")
	}
	file := filepath.Join("testdata", "matrix.txt")
	golden(t, file, strings.TrimRight(out.String(), "\n")+"\n")
	_, err = os.Stat(file)
	require.NoError(t, err)
}
