// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// shape is what the spans of a trace look like. fill writes span n of a trace; the last
// one is the root, since a parent ends after its children and spans are exported when
// they end.
type shape struct {
	name string
	fill func(span ptrace.Span, trace, n, spans int)
}

var (
	plainShape = shape{"plain spans", fillPlain}
	// belowShape is what one service sends of traces that began in another.
	belowShape = shape{"plain spans below", fillBelow}
	// sparseShape is a tool span in ten and nothing else of an agent.
	sparseShape = shape{"sparse tool spans", fillSparse}
	toolShape   = shape{"tool spans", fillTools}
	mixedShape  = shape{"mixed spans", fillMixed}
)

// batchSpans is how many spans come in a batch, and waveSpans how many belong to traces
// that come at the same time.
const (
	batchSpans = 500
	waveSpans  = 1000
)

// workload is a number of batches as they come over the wire.
type workload struct {
	wire  [][]byte
	spans int
}

// newWorkload makes traces of a number of spans each, and batches of them: the spans of
// as many traces as make a thousand spans come in turn, one of each, as a collector gets
// them from a service that works on several requests at once. A trace of more than one
// span comes in two batches.
func newWorkload(s shape, traces, spansPerTrace int) (*workload, error) {
	return newWorkloadFrom(s, 0, traces, spansPerTrace)
}

// newWorkloadFrom does so with the traces that come after so many others.
func newWorkloadFrom(s shape, begin, traces, spansPerTrace int) (*workload, error) {
	w := &workload{}
	var marshal ptrace.ProtoMarshaler
	td, spans := newBatch()
	cut := func() error {
		if spans.Len() == 0 {
			return nil
		}
		data, err := marshal.MarshalTraces(td)
		w.wire = append(w.wire, data)
		w.spans += spans.Len()
		td, spans = newBatch()
		return err
	}
	wave := max(1, waveSpans/spansPerTrace)
	end := begin + traces
	for first := begin; first < end; first += wave {
		for n := range spansPerTrace {
			for trace := first; trace < min(first+wave, end); trace++ {
				fillSpan(spans.AppendEmpty(), s, trace, n, spansPerTrace)
				if spans.Len() == batchSpans {
					if err := cut(); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	return w, cut()
}

// batches are the batches as a receiver hands them on, of memory of their own.
func (w *workload) batches() ([]ptrace.Traces, error) {
	var unmarshal ptrace.ProtoUnmarshaler
	out := make([]ptrace.Traces, len(w.wire))
	for i, data := range w.wire {
		td, err := unmarshal.UnmarshalTraces(data)
		if err != nil {
			return nil, err
		}
		out[i] = td
	}
	return out, nil
}

// oneTrace is a single trace of a shape.
func oneTrace(s shape, trace, spans int) ptrace.Traces {
	td, to := newBatch()
	for n := range spans {
		fillSpan(to.AppendEmpty(), s, trace, n, spans)
	}
	return td
}

// newBatch is a batch of one service, without spans.
func newBatch() (ptrace.Traces, ptrace.SpanSlice) {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	resource := rs.Resource().Attributes()
	resource.PutStr("service.name", "shop")
	resource.PutStr("service.version", "1.2.3")
	resource.PutStr("deployment.environment.name", "production")
	resource.PutStr("host.name", "shop-0")
	resource.PutStr("telemetry.sdk.name", "opentelemetry")
	resource.PutStr("telemetry.sdk.language", "go")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("example.com/shop")
	ss.Scope().SetVersion("1.2.3")
	return td, ss.Spans()
}

// at is when span n of a trace begins. Spans come one after the other; those that
// enclose others say so themselves.
func at(trace, n int) pcommon.Timestamp {
	return pcommon.Timestamp(1_785_000_000_000_000_000 + int64(trace)*1_000_000 + int64(n)*1000)
}

// fillSpan writes the ids and times that all shapes have in common, and then the rest.
func fillSpan(span ptrace.Span, s shape, trace, n, spans int) {
	var id pcommon.TraceID
	// Spread like random ids, but the same every time.
	binary.BigEndian.PutUint64(id[:8], uint64(trace+1)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(id[8:], uint64(trace+1)*0xbf58476d1ce4e5b9)
	span.SetTraceID(id)
	span.SetSpanID(spanID(trace, n))
	if n == spans-1 {
		span.SetStartTimestamp(at(trace, -1))
		span.SetEndTimestamp(at(trace, spans))
	} else {
		span.SetParentSpanID(spanID(trace, spans-1))
		span.SetStartTimestamp(at(trace, n))
		span.SetEndTimestamp(at(trace, n+1) - 100)
	}
	s.fill(span, trace, n, spans)
}

func spanID(trace, n int) (id pcommon.SpanID) {
	binary.BigEndian.PutUint64(id[:], (uint64(trace)<<20|uint64(n+1))*0x94d049bb133111eb)
	return id
}

// fillPlain writes a server span as HTTP instrumentations do: nothing in it is about an
// agent.
func fillPlain(span ptrace.Span, trace, n, _ int) {
	span.SetName("GET /orders/{id}")
	span.SetKind(ptrace.SpanKindServer)
	a := span.Attributes()
	a.PutStr("http.request.method", "GET")
	a.PutStr("url.scheme", "https")
	a.PutStr("url.path", fmt.Sprintf("/orders/%d", trace*1000+n))
	a.PutStr("http.route", "/orders/{id}")
	a.PutInt("http.response.status_code", 200)
	a.PutStr("server.address", "shop.example")
	a.PutInt("server.port", 443)
	a.PutStr("network.protocol.version", "1.1")
	a.PutStr("user_agent.original", "curl/8")
	a.PutStr("client.address", "192.0.2.1")
}

func fillBelow(span ptrace.Span, trace, n, spans int) {
	fillPlain(span, trace, n, spans)
	if n == spans-1 {
		span.SetParentSpanID(spanID(trace, spans))
	}
}

func fillSparse(span ptrace.Span, trace, n, spans int) {
	if n%mixedSpans == 4 {
		fillTool(span, "get_customer", trace*1000+n)
	} else {
		fillPlain(span, trace, n, spans)
	}
}

// toolBytes is about how large the results of tool spans are.
const toolBytes = 512

// fillTools writes tool spans only. The root is a tool that is an agent itself, and the
// others are its calls.
func fillTools(span ptrace.Span, trace, n, spans int) {
	tool := "get_customer"
	if n == spans-1 {
		tool = "ask_support"
	}
	fillTool(span, tool, trace*spans+n)
}

// fillTool writes a span of a tool call by the GenAI conventions, with arguments and
// result.
func fillTool(span ptrace.Span, tool string, call int) {
	customer := call % 997
	span.SetName("execute_tool " + tool)
	a := span.Attributes()
	a.PutStr("gen_ai.operation.name", "execute_tool")
	a.PutStr("gen_ai.tool.name", tool)
	a.PutStr("gen_ai.tool.type", "function")
	a.PutStr("gen_ai.tool.call.id", callID(call))
	a.PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"id":"%d"}`, customer))
	a.PutStr("gen_ai.tool.call.result", jsonResult(toolBytes, customer))
}

func callID(call int) string { return fmt.Sprintf("call_%08d", call) }

// mixedSpans is how many spans make a turn of an agent: a model call that asks for a
// tool, the tool call, a model call that answers, the agent's own span, and what HTTP
// clients and databases wrote meanwhile. One in ten is a tool span.
const mixedSpans = 10

func fillMixed(span ptrace.Span, trace, n, spans int) {
	turn := n / mixedSpans
	call := trace*(spans/mixedSpans+1) + turn
	customer := call % 997
	// The agent's span is the last of its turn, as parents are; the turn's spans are its
	// children.
	agent := min(turn*mixedSpans+mixedSpans-1, spans-1)
	if n != agent {
		span.SetParentSpanID(spanID(trace, agent))
	}
	asked := fmt.Sprintf(`{"role":"user","parts":[{"type":"text","content":"Where is the order of customer %d? I have been waiting for it since last week."}]}`, customer)
	wants := fmt.Sprintf(`{"role":"assistant","parts":[{"type":"tool_call","id":%q,"name":"get_customer","arguments":{"id":"%d"}}]}`, callID(call), customer)
	switch n % mixedSpans {
	case 1:
		fillModel(span, "["+asked+"]", "["+wants+"]")
	case 4:
		fillTool(span, "get_customer", call)
	case 7:
		got := fmt.Sprintf(`{"role":"tool","parts":[{"type":"tool_call_response","id":%q,"response":%s}]}`, callID(call), jsonResult(toolBytes, customer))
		fillModel(span, "["+strings.Join([]string{asked, wants, got}, ",")+"]",
			`[{"role":"assistant","parts":[{"type":"text","content":"It was sent yesterday and is on its way."}],"finish_reason":"stop"}]`)
	default:
		if n != agent {
			fillPlain(span, trace, n, spans)
			return
		}
		span.SetName("invoke_agent support")
		if n != spans-1 {
			span.SetStartTimestamp(at(trace, turn*mixedSpans) - 50)
		}
		a := span.Attributes()
		a.PutStr("gen_ai.operation.name", "invoke_agent")
		a.PutStr("gen_ai.agent.name", "support")
		a.PutStr("gen_ai.conversation.id", fmt.Sprintf("conversation-%d", trace))
	}
}

// fillModel writes a span of a model call by the GenAI conventions, with messages.
func fillModel(span ptrace.Span, input, output string) {
	span.SetName("chat gpt-5")
	span.SetKind(ptrace.SpanKindClient)
	a := span.Attributes()
	a.PutStr("gen_ai.operation.name", "chat")
	a.PutStr("gen_ai.provider.name", "openai")
	a.PutStr("gen_ai.request.model", "gpt-5")
	a.PutStr("gen_ai.response.id", "resp-1")
	a.PutInt("gen_ai.usage.input_tokens", 412)
	a.PutInt("gen_ai.usage.output_tokens", 31)
	a.PutStr("gen_ai.input.messages", input)
	a.PutStr("gen_ai.output.messages", output)
}
