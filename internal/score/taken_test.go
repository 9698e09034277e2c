// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// takenPolicy has a protocol for each way in which events are named, guarded,
// ordered and forbidden.
const takenPolicy = `contracts:
  - name: order
    match: {tools: [get_order]}
    claim_type: read_complete
    required_fields: [status]
    freshness: {mode: not_required}
    source_ref: shop://orders
    target_ref: "order:{arguments.id}"
    observation: {target_ref: "order:{result.id}"}
protocols:
  - name: default-events
    protocol: "rec X.!{get_order.?get_order.X, refund.?refund.X, ask.X, end}"
  - name: read-before-refund
    states:
      initial: blind
      terminal: [blind, seen]
      transitions:
        - {from: blind, event: "?Order", to: seen}
        - {from: seen, event: "?Order", to: seen}
        - {from: seen, event: "!Refund", to: blind}
    events:
      - {label: Order, event: tool_result, tools: [get_order], decision: sealed}
      - {label: Refund, event: tool_call, tools: [refund]}
  - name: same-order
    protocol: "rec X.!{Read.?Order(id as o).X, Refund(id == o).X}"
    parallel_calls: serialize
    events:
      - {label: Read, event: tool_call, tools: [get_order]}
      - {label: Order, event: tool_result, tools: [get_order]}
      - {label: Refund, event: tool_call, tools: [refund]}
  - name: approval
    states:
      initial: idle
      terminal: [idle, agreed]
      transitions:
        - {from: idle, event: "?Yes", to: agreed}
        - {from: agreed, event: "?Yes", to: agreed}
        - {from: agreed, event: "!Refund", to: idle}
    events:
      - {label: "Yes", event: user_message, text: yes}
      - {label: Refund, event: tool_call, tools: [refund]}
  - name: loop
    protocol: "rec L.?{Asks.!Answer.L, Says.end}"
    after_end: violation
    events:
      - {label: Asks, event: agent_message, direction: receive, tool_calls: some}
      - {label: Says, event: agent_message, direction: receive}
      - {label: Answer, event: tool_result, direction: send, agents: [support]}
  - name: agents
    protocol: "rec X.!{support.X, clerk.X}"
    unmatched: violation
    events:
      - {label: "{agent.name}", event: tool_call}
      - {label: support, event: tool_result, direction: send, agents: [support]}
      - {label: clerk, event: tool_result, direction: send, agents: [clerk]}
      - {label: support, event: user_message, direction: send}
      - {label: support, event: agent_message, direction: send, tool_calls: any}
  - name: only-clerks-refund
    protocol: "rec X.!{Refund.X}"
    events:
      - {label: Refund, event: tool_call, tools: [refund], agents: [clerk]}
      - {label: Forbidden, event: tool_call, tools: [refund]}
  - name: agreed-later
    protocol: "?First.rec X.?{Later.!Refund.X, Other.X}"
    after_end: violation
    events:
      - {label: First, event: user_message, turn: first}
      - {label: Later, event: user_message, turn: later, text: yes}
      - {label: Other, event: user_message}
      - {label: Refund, event: tool_call, tools: ["*refund"]}
  - name: no-drops
    protocol: end
    after_end: violation
    events:
      - {label: Drop, event: tool_call, tools: [drop]}
      - {label: Other, event: tool_call, tools: ["shop__*"]}
  - name: known-tools
    protocol: "rec X.!{Known.X}"
    unmatched: violation
    events:
      - {label: Known, event: tool_call, tools: [get_order, refund, ask]}
      - {label: Known, event: tool_result, direction: send, tools: [get_order, refund, ask]}
      - {label: Known, event: user_message, direction: send}
      - {label: Known, event: agent_message, direction: send, tool_calls: any}
  - name: steps
    protocol: "rec X.!{Begin.!End.X}"
    events:
      - {label: Begin, event: span, name: step}
      - {label: End, event: span, name: step, at: end}
`

// run writes the trace of a run of agents: model calls that ask for tools, tools
// that are agents, and spans between them.
type run struct {
	t     *rapid.T
	td    ptrace.Traces
	clock int
	ids   int
	calls int
}

func (r *run) one(label string, of ...string) string { return rapid.SampledFrom(of).Draw(r.t, label) }

func (r *run) yes(label string, of int) bool { return rapid.IntRange(1, of).Draw(r.t, label) == of }

// pass lets time pass, or none, as by a clock of milliseconds.
func (r *run) pass() int {
	r.clock += rapid.IntRange(0, 2).Draw(r.t, "pass")
	return r.clock
}

// begin begins a span in a resource of its own.
func (r *run) begin(parent pcommon.SpanID, scope, name, operation string) ptrace.Span {
	rs := r.td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "shop")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(scope)
	span := ss.Spans().AppendEmpty()
	r.ids++
	span.SetTraceID(pcommon.TraceID{1})
	span.SetSpanID(pcommon.SpanID{6: byte(r.ids >> 8), 7: byte(r.ids)})
	span.SetParentSpanID(parent)
	span.SetName(name)
	span.SetStartTimestamp(pcommon.Timestamp((1000 + r.pass()) * 1_000_000))
	if operation != "" {
		span.Attributes().PutStr("gen_ai.operation.name", operation)
	}
	return span
}

func (r *run) end(span ptrace.Span) {
	span.SetEndTimestamp(pcommon.Timestamp((1000 + r.pass()) * 1_000_000))
}

// agent writes an agent's run: what it is asked, then steps.
func (r *run) agent(parent pcommon.SpanID, name string, depth int) {
	span := r.begin(parent, "agents", "invoke_agent "+name, "invoke_agent")
	span.Attributes().PutStr("gen_ai.agent.name", name)
	history := []any{said("user", r.one("request", "refund A", "yes"))}
	fresh := r.yes("only what is new", 3)
	input := history
	for n := range rapid.IntRange(1, 3).Draw(r.t, "steps") {
		under := span.SpanID()
		var step ptrace.Span
		stepped := r.yes("step", 3)
		if stepped {
			step = r.begin(under, "agents", "step", "")
			under = step.SpanID()
		}
		if n > 0 && r.yes("user", 3) {
			m := said("user", r.one("words", "yes", "no", "wait"))
			history, input = append(history, m), append(input, m)
		}
		chat := r.begin(under, "models", "chat", "chat")
		chat.Attributes().PutStr("gen_ai.input.messages", encoded(input))
		answer := map[string]any{"role": "assistant", "parts": []any{}}
		var asked []map[string]any
		for range rapid.IntRange(0, 2).Draw(r.t, "calls") {
			r.calls++
			tool := r.one("tool", "get_order", "get_order", "refund", "refund", "ask", "shop__refund", "drop")
			call := map[string]any{"type": "tool_call", "name": tool, "arguments": map[string]any{"id": r.one("id", "A", "B"), "n": r.calls}}
			if !r.yes("no id", 8) {
				call["id"] = fmt.Sprint("k", r.calls)
			}
			asked = append(asked, call)
		}
		if len(asked) == 0 || r.yes("words beside calls", 3) {
			answer["parts"] = append(answer["parts"].([]any), map[string]any{"type": "text", "content": fmt.Sprint("answer ", r.ids)})
		}
		for _, a := range asked {
			answer["parts"] = append(answer["parts"].([]any), a)
		}
		chat.Attributes().PutStr("gen_ai.output.messages", encoded([]any{answer}))
		if r.yes("recorded twice", 6) {
			again := r.begin(chat.SpanID(), "others", "chat", "chat")
			chat.Attributes().CopyTo(again.Attributes())
			r.end(again)
		}
		r.end(chat)
		history = append(history, answer)
		if input = nil; !fresh {
			input = history
		}
		for _, a := range asked {
			part := map[string]any{"type": "tool_call_response", "response": r.tool(under, a, depth)}
			if id, ok := a["id"]; ok {
				part["id"] = id
			}
			reply := map[string]any{"role": "tool", "parts": []any{part}}
			history, input = append(history, reply), append(input, reply)
		}
		if !fresh {
			input = history
		}
		if stepped {
			r.end(step)
		}
		if len(asked) == 0 && !r.yes("goes on", 3) {
			break
		}
		if len(input) == 0 {
			break
		}
	}
	r.end(span)
}

// tool writes a call and returns its result.
func (r *run) tool(parent pcommon.SpanID, asked map[string]any, depth int) any {
	name := asked["name"].(string)
	_, short, prefixed := strings.Cut(name, "__")
	if !prefixed {
		short = name
	}
	span := r.begin(parent, "agents", "execute_tool "+name, "execute_tool")
	a := span.Attributes()
	a.PutStr("gen_ai.tool.name", name)
	if id, ok := asked["id"].(string); ok {
		a.PutStr("gen_ai.tool.call.id", id)
	}
	a.PutStr("gen_ai.tool.call.arguments", encoded(asked["arguments"]))
	var result any = map[string]any{"id": r.one("returned", "A", "B"), "status": "open"}
	if r.yes("nothing returned", 5) {
		result = []any{}
	}
	switch {
	case name == "ask" && depth < 2:
		r.agent(span.SpanID(), "clerk", depth+1)
	case r.yes("client", 3):
		client := r.begin(span.SpanID(), "mcp", "tools/call "+short, "")
		client.Attributes().PutStr("mcp.method.name", "tools/call")
		client.Attributes().PutStr("gen_ai.tool.name", short)
		client.Attributes().PutStr("gen_ai.tool.call.result", encoded(result))
		r.end(client)
	}
	if !r.yes("result in messages only", 6) {
		a.PutStr("gen_ai.tool.call.result", encoded(result))
	}
	r.end(span)
	return result
}

func said(role, text string) map[string]any {
	return map[string]any{"role": role, "parts": []any{map[string]any{"type": "text", "content": text}}}
}

// shows are the gaps by which a trace shows that spans are missing.
var shows = []score.Gap{score.GapParentMissing, score.GapRootMissing, score.GapModelCallMissing}

// A violation of a trace from which spans were taken, so that the trace shows it,
// is a violation of the whole trace.
func TestTakenSpansMakeNoViolation(t *testing.T) {
	p, err := policy.Load("taken.yaml", []byte(takenPolicy))
	require.NoError(t, err)
	scorer := score.New(p)
	violations := map[string]int{}
	rapid.Check(t, func(t *rapid.T) { checkTaken(t, scorer, violations) })
	t.Log("violations of parts:", violations)
	if !testing.Short() { // a few checks may have none
		require.NotEmpty(t, violations, "no violation of a part was certain")
	}
}

// checkTaken checks one run, and counts the violations of a part of it.
func checkTaken(t *rapid.T, scorer *score.Scorer, violations map[string]int) {
	r := &run{t: t, td: ptrace.NewTraces()}
	r.agent(pcommon.SpanID{}, "support", 0)
	part := ptrace.NewTraces()
	for i := range r.td.ResourceSpans().Len() {
		if rs := r.td.ResourceSpans().At(i); !r.yes("taken", 4) {
			rs.CopyTo(part.ResourceSpans().AppendEmpty())
		}
	}
	facts, _ := genai.NewDecoder(genai.Options{}).Traces(part)
	rest := scorer.Trace(facts, nil)
	if rest == nil {
		return
	}
	shown := false
	for _, g := range shows {
		shown = shown || rest.Gaps.Has(g)
	}
	if !shown {
		return
	}
	facts, _ = genai.NewDecoder(genai.Options{}).Traces(r.td)
	whole := scorer.Trace(facts, nil)
	for i := range rest.Protocols {
		q := &rest.Protocols[i]
		if q.Verdict != score.Violation {
			continue
		}
		violations[q.Protocol.Name]++
		for j := range whole.Protocols {
			if w := &whole.Protocols[j]; w.Protocol == q.Protocol && w.Verdict != score.Violation {
				t.Fatalf("%s is %s of the whole trace, and %s of a part that shows %v:\n%s\n%s", q.Protocol.Name, w.Verdict, q.Verdict, rest.Gaps, names(w), names(q))
			}
		}
	}
}

// names writes a protocol's events with their verdicts.
func names(p *score.Protocol) string {
	text := ""
	for _, e := range p.Events {
		text += fmt.Sprintf(" %s(%s)", e.Name, e.Verdict)
	}
	return text
}
