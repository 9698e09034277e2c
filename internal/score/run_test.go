// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"encoding/json"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"
)

// drawnRun is a run of an agent as an instrumentation records it: its clock does
// not jump, calls are asked for before they run, and models are shown what
// happened.
type drawnRun struct {
	t     *rapid.T
	td    ptrace.Traces
	trace pcommon.TraceID
	clock int // in milliseconds
	spans int
	calls int

	messages, whole, tools, ids, inner bool // what is recorded
	conversation                       string
	budget                             int // of spans
}

// drawRun draws the n-th run of a conversation, as one trace that begins at a time.
func drawRun(t *rapid.T, n, clock int, conversation string) ptrace.Traces {
	r := &drawnRun{
		t: t, td: ptrace.NewTraces(), trace: pcommon.TraceID{0: 1, 15: byte(n)}, clock: clock, conversation: conversation,
		messages: rapid.Bool().Draw(t, "messages"), whole: rapid.Bool().Draw(t, "whole history"),
		tools: rapid.IntRange(0, 3).Draw(t, "tools") > 0, ids: rapid.IntRange(0, 3).Draw(t, "ids") > 0,
		inner: rapid.Bool().Draw(t, "transport"), budget: 14,
	}
	if !r.messages {
		r.tools = true
	}
	root := r.span(pcommon.SpanID{}, "run")
	r.agent(root, 0)
	r.end(root)
	return r.td
}

func (r *drawnRun) one(label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(r.t, label)
}

func (r *drawnRun) tick() int {
	r.clock += rapid.IntRange(1, 3).Draw(r.t, "time")
	return r.clock
}

func (r *drawnRun) span(parent pcommon.SpanID, name string) ptrace.Span {
	r.spans++
	r.budget--
	rs := r.td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "a")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("x")
	span := ss.Spans().AppendEmpty()
	span.SetTraceID(r.trace)
	span.SetSpanID(pcommon.SpanID{6: r.trace[15], 7: byte(r.spans)})
	span.SetParentSpanID(parent)
	span.SetName(name)
	span.SetStartTimestamp(pcommon.Timestamp(r.tick()) * 1_000_000)
	return span
}

func (r *drawnRun) end(span ptrace.Span) {
	span.SetEndTimestamp(pcommon.Timestamp(r.tick()) * 1_000_000)
}

// agent makes turns below a span that is the agent's.
func (r *drawnRun) agent(span ptrace.Span, depth int) {
	a := span.Attributes()
	if depth == 0 || rapid.IntRange(0, 4).Draw(r.t, "bare") > 0 {
		a.PutStr("gen_ai.operation.name", "invoke_agent")
		a.PutStr("gen_ai.agent.name", r.one("agent", "clerk", "boss"))
	}
	if depth == 0 && r.conversation != "" {
		a.PutStr("gen_ai.conversation.id", r.conversation)
	}
	var history []map[string]any
	history = append(history, said("user", r.one("request", "find 42", "yes", "no")))
	for range rapid.IntRange(1, 3).Draw(r.t, "steps") {
		if r.budget <= 0 {
			return
		}
		history = r.step(span.SpanID(), history, depth)
	}
}

// step is a model call and the calls that it asks for.
func (r *drawnRun) step(parent pcommon.SpanID, history []map[string]any, depth int) []map[string]any {
	below := parent
	if rapid.IntRange(0, 3).Draw(r.t, "wrapped") == 0 {
		wrapper := r.span(parent, "step")
		defer r.end(wrapper)
		below = wrapper.SpanID()
	}
	model := r.span(below, "chat")
	model.Attributes().PutStr("gen_ai.operation.name", "chat")
	input := history
	if !r.whole {
		for i := len(history) - 1; i >= 0; i-- {
			if history[i]["role"] == "assistant" {
				input = history[i+1:]
				break
			}
		}
	}
	type request struct{ id, tool, args string }
	var requests []request
	for range rapid.IntRange(0, 2).Draw(r.t, "calls") {
		r.calls++
		requests = append(requests, request{fmt.Sprintf("k%d_%d", r.trace[15], r.calls), r.one("tool", "lookup", "lookup", "search", "help"), r.one("args", `{"id":"42"}`, `{"id":"7"}`)})
	}
	answer := said("assistant", r.one("answer", "Shall I?", "Done."))
	if len(requests) > 0 {
		var parts []any
		for _, q := range requests {
			part := map[string]any{"type": "tool_call", "name": q.tool, "arguments": json.RawMessage(q.args)}
			if r.ids {
				part["id"] = q.id
			}
			parts = append(parts, part)
		}
		answer = map[string]any{"role": "assistant", "parts": parts}
	}
	if r.messages {
		put := func(key string, v any) {
			text, err := json.Marshal(v)
			if err != nil {
				r.t.Fatal(err)
			}
			model.Attributes().PutStr(key, string(text))
		}
		put("gen_ai.input.messages", input)
		put("gen_ai.output.messages", []any{answer})
	}
	r.end(model)
	history = append(history[:len(history):len(history)], answer)
	parallel := rapid.IntRange(0, 3).Draw(r.t, "parallel") == 0
	var open []ptrace.Span
	for _, q := range requests {
		result := r.one("result", `{"customer_id":"42","name":"Ada"}`, `{"customer_id":"42","name":"Ada"}`, "[]", "sent")
		if r.tools {
			span := r.tool(below, q.id, q.tool, q.args, result, depth)
			if parallel {
				open = append(open, span)
			} else {
				r.end(span)
			}
		}
		part := map[string]any{"type": "tool_call_response", "response": raw(result)}
		if r.ids {
			part["id"] = q.id
		}
		history = append(history, map[string]any{"role": "tool", "parts": []any{part}})
	}
	for _, span := range open {
		r.end(span)
	}
	if len(requests) == 0 {
		history = append(history, said("user", r.one("reply", "yes", "no", "and 7?")))
	}
	return history
}

// tool is a call's span, which is still to end.
func (r *drawnRun) tool(parent pcommon.SpanID, id, tool, args, result string, depth int) ptrace.Span {
	span := r.span(parent, "execute_tool "+tool)
	fill := func(span ptrace.Span, tool string) {
		a := span.Attributes()
		a.PutStr("gen_ai.operation.name", "execute_tool")
		a.PutStr("gen_ai.tool.name", tool)
		if r.ids {
			a.PutStr("gen_ai.tool.call.id", id)
		}
		a.PutStr("gen_ai.tool.call.arguments", args)
		a.PutStr("gen_ai.tool.call.result", result)
	}
	fill(span, tool)
	switch {
	case tool == "help" && depth == 0 && r.budget > 3:
		below := r.span(span.SpanID(), "invoke_agent")
		r.agent(below, depth+1)
		r.end(below)
	case r.inner && r.budget > 1:
		// The transport's span has another name for the tool.
		inner := r.span(span.SpanID(), "tools/call")
		fill(inner, "crm__"+tool)
		inner.Attributes().PutStr("mcp.method.name", "tools/call")
		if rapid.IntRange(0, 3).Draw(r.t, "failed") == 0 {
			inner.Status().SetCode(ptrace.StatusCodeError)
			event(inner, "exception", map[string]any{"exception.type": "Error"})
		}
		r.end(inner)
	}
	return span
}
