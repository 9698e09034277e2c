// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/testkit/cputime"
)

// propertyPolicy has contracts and protocols for the few tools of random traces.
func propertyPolicy(t interface{ Fatal(...any) }) *policy.Policy {
	p, err := policy.Load("property.yaml", []byte(matrixPolicy+`
  - name: anything
    match: {tools: [search, "*write"]}
    claim_type: read_complete
    required_fields: []
    freshness: {mode: not_required}
    source_ref: a
    target_ref: "b:{arguments.id}"
protocols:
  - name: steps
    protocol: "rec X.!{lookup.?lookup.X, search.?search.X, done}"
    unmatched: unrecognized
    require_completion: true
    events:
      - {label: "{tool.name}", event: tool_call}
      - {label: "{tool.name}", event: tool_result}
      - {label: "yes", event: user_message, text: yes}
  - name: talk
    session: conversation
    parallel_calls: serialize
    protocol: "rec X.!{lookup.?lookup.X, agent.X}"
    events:
      - {label: lookup, event: tool_call, tools: [lookup]}
      - {label: lookup, event: tool_result, tools: [lookup]}
      - {label: agent, event: agent_message, tool_calls: any}
`))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// drawTrace draws a trace of a few spans of every kind, with ids and arguments
// that meet again and again.
func drawTrace(t *rapid.T) ptrace.Traces {
	one := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	td := ptrace.NewTraces()
	n := rapid.IntRange(1, 12).Draw(t, "spans")
	var spans []ptrace.Span
	for i := range n {
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", one("service", "a", "a", "b"))
		ss := rs.ScopeSpans().AppendEmpty()
		ss.Scope().SetName(one("scope", "x", "x", "y"))
		span := ss.Spans().AppendEmpty()
		span.SetTraceID(pcommon.TraceID{1})
		span.SetSpanID(pcommon.SpanID{7: byte(i + 1)})
		if i > 0 && rapid.IntRange(0, 9).Draw(t, "nested") > 0 {
			span.SetParentSpanID(spans[rapid.IntRange(0, i-1).Draw(t, "parent")].SpanID())
		} else if i > 0 {
			span.SetParentSpanID(pcommon.SpanID{0xee})
		}
		start := rapid.IntRange(0, 20).Draw(t, "start")
		span.SetStartTimestamp(pcommon.Timestamp(1_000_000 * start))
		span.SetEndTimestamp(pcommon.Timestamp(1_000_000 * (start + rapid.IntRange(0, 10).Draw(t, "duration"))))
		a := span.Attributes()
		if rapid.IntRange(0, 5).Draw(t, "conversation") == 0 {
			a.PutStr("gen_ai.conversation.id", one("conversation", "c1", "c2"))
		}
		span.SetName("step")
		switch one("kind", "agent", "chat", "chat", "tool", "tool", "tool", "mcp", "other") {
		case "agent":
			a.PutStr("gen_ai.operation.name", "invoke_agent")
			a.PutStr("gen_ai.agent.name", one("agent", "clerk", "boss"))
		case "chat":
			a.PutStr("gen_ai.operation.name", "chat")
			if list := drawMessages(t, "in"); list != "" {
				a.PutStr("gen_ai.input.messages", list)
			}
			if list := drawMessages(t, "out"); list != "" {
				a.PutStr("gen_ai.output.messages", list)
			}
		case "tool", "mcp":
			a.PutStr("gen_ai.operation.name", "execute_tool")
			if rapid.Bool().Draw(t, "mcp") {
				a.PutStr("mcp.method.name", "tools/call")
			}
			a.PutStr("gen_ai.tool.name", one("tool", "lookup", "search", "crm__lookup", ""))
			a.PutStr("gen_ai.tool.call.id", one("id", "", "k1", "k2", "N/A"))
			if args := one("args", "", `{"id":"42"}`, `{"id":"7"}`, "42", "{}"); args != "" {
				a.PutStr("gen_ai.tool.call.arguments", args)
			}
			if result := one("result", "", `{"customer_id":"42","name":"Ada"}`, "[]", "sent", `{"customer_id":"4`, `{"content":[],"isError":true}`); result != "" {
				a.PutStr("gen_ai.tool.call.result", result)
			}
		}
		switch rapid.IntRange(0, 12).Draw(t, "fault") {
		case 0:
			span.Status().SetCode(ptrace.StatusCodeError)
			span.Status().SetMessage("down")
		case 1:
			event(span, "exception", map[string]any{"exception.type": one("exception", "Error", "GraphInterrupt", "CancelledError")})
		case 2:
			span.SetDroppedAttributesCount(1)
		}
		drawIdentity(t, span, spans, n)
		spans = append(spans, span)
	}
	if rapid.IntRange(0, 4).Draw(t, "again") == 0 {
		at := td.ResourceSpans().At(rapid.IntRange(0, n-1).Draw(t, "which"))
		copied := ptrace.NewResourceSpans()
		at.CopyTo(copied)
		copied.CopyTo(td.ResourceSpans().AppendEmpty())
	}
	return td
}

// drawIdentity sometimes gives a span the id of an earlier one, none, or a parent
// that is any of the n spans.
func drawIdentity(t *rapid.T, span ptrace.Span, before []ptrace.Span, n int) {
	switch rapid.IntRange(0, 20).Draw(t, "identity") {
	case 0:
		span.SetSpanID(pcommon.SpanID{})
	case 1:
		span.SetParentSpanID(pcommon.SpanID{7: byte(rapid.IntRange(1, n).Draw(t, "parent"))})
	case 2:
		span.SetEndTimestamp(0)
	case 3:
		span.SetFlags(0x300)
	case 4, 5, 6:
		if len(before) == 0 {
			return
		}
		other := rapid.SampledFrom(before).Draw(t, "other")
		span.SetSpanID(other.SpanID())
		switch rapid.IntRange(0, 3).Draw(t, "sharing") {
		case 0:
			span.SetKind(ptrace.SpanKindServer)
			other.SetKind(ptrace.SpanKindClient)
		case 1:
			span.SetStartTimestamp(other.StartTimestamp())
			span.SetName("other step")
			span.SetEndTimestamp(0)
		case 2:
			span.SetStartTimestamp(other.StartTimestamp())
		}
	}
}

func drawMessages(t *rapid.T, label string) string {
	one := func(label string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label) }
	var list []string
	for range rapid.IntRange(0, 4).Draw(t, label) {
		id := one("id", "", "k1", "k2", "k3")
		switch one("message", "user", "user", "assistant", "call", "tool", "bare", "broken") {
		case "user":
			list = append(list, fmt.Sprintf(`{"role":"user","parts":[{"type":"text","content":%q}]}`, one("text", "yes", "no", "", "find 42")))
		case "assistant":
			list = append(list, fmt.Sprintf(`{"role":"assistant","parts":[{"type":"text","content":%q}]}`, one("text", "Shall I?", "Done.")))
		case "call":
			list = append(list, fmt.Sprintf(`{"role":"assistant","parts":[{"type":"tool_call","id":%q,"name":%q,"arguments":{"id":"42"}}]}`, id, one("tool", "lookup", "search")))
		case "tool":
			list = append(list, fmt.Sprintf(`{"role":"tool","parts":[{"type":"tool_call_response","id":%q,"response":%s}]}`, id, one("response", `{"customer_id":"42","name":"Ada"}`, `"sent"`, "[]")))
		case "bare":
			list = append(list, `{"role":"user"}`)
		case "broken":
			return `[{"role":"user","par`
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "[" + strings.Join(list, ",") + "]"
}

// tell describes a verdict by span ids.
func tell(v *score.Session, facts []genai.Span) string {
	if v == nil {
		return "nothing"
	}
	id := func(span int) string { return facts[span].SpanID.String() }
	var out strings.Builder
	fmt.Fprintln(&out, v.Compliance, v.Complete, v.Agent, v.Service, v.Conversation, id(v.Root), v.Duplicates)
	for i := range v.Observations {
		o := &v.Observations[i]
		fmt.Fprintln(&out, id(o.Span), o.Tool, o.CallID, o.Contract.Name, o.Evaluation.TruthState, o.Evaluation.ReasonCodes, o.Record.Fingerprint)
	}
	fmt.Fprintln(&out, v.Gaps)
	for _, c := range v.Uncontracted {
		fmt.Fprintln(&out, id(c.Span), c.Tool, c.ID)
	}
	for i := range v.Protocols {
		p := &v.Protocols[i]
		fmt.Fprintln(&out, p.Protocol.Name, p.Conversation, p.Verdict, p.Complete)
		for _, e := range p.Events {
			fmt.Fprintln(&out, id(e.Span), e.Name, e.Time, e.Verdict, e.Expected, e.Reason)
		}
	}
	return out.String()
}

// Whatever the spans are and in whatever order they arrive, the verdict is the
// same, no span tells of two calls, and each call has one observation.
func TestTracesInAnyOrder(t *testing.T) {
	scorer := score.New(propertyPolicy(t))
	rapid.Check(t, func(t *rapid.T) { checkAnyOrder(t, scorer) })
}

func FuzzTraces(f *testing.F) {
	scorer := score.New(propertyPolicy(f))
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { checkAnyOrder(t, scorer) }))
}

func checkAnyOrder(t *rapid.T, scorer *score.Scorer) {
	td := drawTrace(t)
	facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
	v, account := scorer.Explain(facts, nil)
	want := tell(v, facts)
	if v != nil {
		checkCalls(t, v, account, facts)
		checkUnjudged(t, v)
		checkTimes(t, account)
	}

	order := make([]int, td.ResourceSpans().Len())
	for i := range order {
		order[i] = i
	}
	seed := rapid.Uint64().Draw(t, "seed")
	rand.New(rand.NewPCG(seed, seed)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	moved := ptrace.NewTraces()
	for _, i := range order {
		td.ResourceSpans().At(i).CopyTo(moved.ResourceSpans().AppendEmpty())
	}
	facts, _ = genai.NewDecoder(genai.Options{}).Traces(moved)
	if diff := cmp.Diff(want, tell(scorer.Trace(facts, nil), facts)); diff != "" {
		t.Fatalf("in another order (-first +second):\n%s", diff)
	}
	scorer.Late(facts)
}

// checkUnjudged checks that a protocol is unjudged if and only if it consumed no
// event and does not require completion, that a session is unjudged if and only if
// all of its protocols are, and that unjudged protocols do not count.
func checkUnjudged(t *rapid.T, v *score.Session) {
	worst, judged := score.Unjudged, 0
	for i := range v.Protocols {
		p := &v.Protocols[i]
		if unjudged := len(p.Events) == 0 && !p.Protocol.RequireCompletion; unjudged != (p.Verdict == score.Unjudged) {
			t.Fatalf("%s is %s with %d events", p.Protocol.Name, p.Verdict, len(p.Events))
		}
		if p.Verdict != score.Unjudged {
			judged++
		}
		worst = max(worst, p.Verdict)
	}
	if v.Compliance != worst {
		t.Fatalf("the session is %s, its worst protocol %s", v.Compliance, worst)
	}
	if _, made := v.Score(); made != judged+len(v.Observations) {
		t.Fatalf("%d checks were made of %d judged protocols and %d observations", made, judged, len(v.Observations))
	}
}

// checkCalls checks that every tool span is in one call, unless a copy of it is,
// and that every call is judged once. A call without a name is none of a tool. A call
// that the trace's only agent span asks for may be left to a later trace of the
// conversation.
func checkCalls(t *rapid.T, v *score.Session, account *score.Account, facts []genai.Span) {
	in, ids := map[int]int{}, map[genai.SpanID]bool{}
	judged, left := 0, 0
	agents := map[genai.SpanID]bool{}
	for i := range facts {
		if facts[i].Kind != genai.Other {
			agents[facts[i].SpanID] = true
		}
	}
	for i := range account.Calls {
		c := &account.Calls[i]
		for _, span := range c.Spans {
			if in[span]++; in[span] > 1 {
				t.Fatalf("span %d is in several calls", span)
			}
			ids[facts[span].SpanID] = true
		}
		if named := c.Tool != "" || c.Decided >= 0; named && (!c.Prior || len(c.Spans) > 0 || c.Shown >= 0) {
			judged++
			if len(c.Spans) == 0 && c.Shown < 0 && len(agents) == 1 {
				left++
			}
		}
	}
	for i := range facts {
		if id := facts[i].SpanID; facts[i].Kind == genai.Tool && in[i] == 0 && (id.IsEmpty() || !ids[id]) {
			t.Fatalf("span %s is in no call", id)
		}
	}
	if n := len(v.Observations) + len(v.Uncontracted); n > judged || n < judged-left {
		t.Fatalf("%d calls, %d observations and %d uncontracted", judged, len(v.Observations), len(v.Uncontracted))
	}
}

// checkTimes checks that facts are in order of time, a call before its result, and
// that no call comes before the result, at the same time, of a call that began
// earlier.
func checkTimes(t *rapid.T, account *score.Account) {
	returned := map[int]bool{}
	for i, f := range account.Facts {
		if i > 0 && f.Time < account.Facts[i-1].Time {
			t.Fatalf("fact %d is earlier than the one before it", i)
		}
		switch f.Kind {
		case policy.ToolResult:
			returned[f.Call] = true
			if account.Calls[f.Call].Start == f.Time {
				continue
			}
			for _, before := range account.Facts[:i] {
				if before.Kind == policy.ToolCall && before.Time == f.Time {
					t.Fatalf("fact %d, a result, comes after a call that began when it came", i)
				}
			}
		case policy.ToolCall:
			if returned[f.Call] {
				t.Fatalf("fact %d, a call, comes after its result", i)
			}
		}
	}
}

// Judging takes time in proportion to what there is to judge.
func TestJudgingIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	cputime.SkipUnderRace(t)
	scorer := score.New(propertyPolicy(t))
	for name, build := range map[string]func(n int) ptrace.Traces{
		"calls without ids, asked for": func(n int) ptrace.Traces {
			return manySpans(n, func(i int, span ptrace.Span) {
				if i%2 == 0 {
					chat(span, "", `[{"role":"assistant","parts":[{"type":"tool_call","name":"lookup","arguments":{"id":"42"}}]}]`)
					return
				}
				tool(span, "")
			})
		},
		"calls that nobody asked for": func(n int) ptrace.Traces { return manySpans(n, func(_ int, span ptrace.Span) { tool(span, "") }) },
		"one id on all calls":         func(n int) ptrace.Traces { return manySpans(n, func(_ int, span ptrace.Span) { tool(span, "k") }) },
		"requests that nobody answers": func(n int) ptrace.Traces {
			return manySpans(n, func(_ int, span ptrace.Span) {
				chat(span, `[{"role":"tool","parts":[{"type":"tool_call_response","response":[]}]}]`, `[{"role":"assistant","parts":[{"type":"tool_call","name":"lookup"}]}]`)
			})
		},
		"one answer with all calls": func(n int) ptrace.Traces {
			calls := strings.TrimSuffix(strings.Repeat(`{"type":"tool_call","name":"lookup","arguments":{}},`, n), ",")
			results := strings.TrimSuffix(strings.Repeat(`{"type":"tool_call_response","response":[]},`, n), ",")
			return manySpans(2, func(i int, span ptrace.Span) {
				if i == 0 {
					chat(span, "", `[{"role":"assistant","parts":[`+calls+`]}]`)
				} else {
					chat(span, `[{"role":"tool","parts":[`+results+`]}]`, "")
				}
			})
		},
		"the same words again and again": func(n int) ptrace.Traces {
			list := "[" + strings.TrimSuffix(strings.Repeat(`{"role":"user","parts":[{"type":"text","content":"yes"}]},{"role":"assistant","parts":[{"type":"text","content":"no"}]},`, n), ",") + "]"
			return manySpans(2, func(_ int, span ptrace.Span) { chat(span, list, "") })
		},
		"failures": func(n int) ptrace.Traces {
			return manySpans(n, func(_ int, span ptrace.Span) {
				tool(span, "")
				span.Status().SetCode(ptrace.StatusCodeError)
				span.Status().SetMessage("down")
			})
		},
		"spans inside each other": func(n int) ptrace.Traces {
			td := manySpans(n, func(_ int, span ptrace.Span) { tool(span, "") })
			spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
			for i := 1; i < spans.Len(); i++ {
				spans.At(i).SetParentSpanID(spans.At(i - 1).SpanID())
			}
			return td
		},
		"a span id on all spans": func(n int) ptrace.Traces {
			return manySpans(n, func(_ int, span ptrace.Span) {
				tool(span, "")
				span.SetSpanID(pcommon.SpanID{7})
			})
		},
		"copies of one span": func(n int) ptrace.Traces {
			return manySpans(n, func(i int, span ptrace.Span) {
				tool(span, "")
				span.SetSpanID(pcommon.SpanID{7})
				span.SetStartTimestamp(1)
				span.Attributes().PutStr("gen_ai.tool.name", fmt.Sprint("tool", i))
			})
		},
		"a cycle of parents": func(n int) ptrace.Traces {
			td := manySpans(n, func(_ int, span ptrace.Span) { tool(span, "") })
			spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
			for i := range spans.Len() {
				spans.At(i).SetParentSpanID(spans.At((i + 1) % spans.Len()).SpanID())
			}
			return td
		},
		"models inside each other": func(n int) ptrace.Traces {
			td := manySpans(n, func(i int, span ptrace.Span) {
				if i > n/2 {
					chat(span, fmt.Sprintf(`[{"role":"user","parts":[{"type":"text","content":"q%d"}]}]`, i), `[{"role":"assistant","parts":[{"type":"text","content":"a"}]}]`)
				}
			})
			spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
			for i := 1; i < spans.Len(); i++ {
				spans.At(i).SetParentSpanID(spans.At(min(i-1, n/2)).SpanID())
			}
			return td
		},
		"a conversation for each call": func(n int) ptrace.Traces {
			return manySpans(n, func(i int, span ptrace.Span) {
				tool(span, fmt.Sprint(i))
				span.Attributes().PutStr("gen_ai.conversation.id", fmt.Sprint("c", i))
			})
		},
		"attempts at one call": func(n int) ptrace.Traces {
			return manySpans(n, func(i int, span ptrace.Span) {
				tool(span, "k")
				switch {
				case i < n/2: // at the same time, without a result
					span.SetEndTimestamp(pcommon.Timestamp(1000 * n))
					span.Attributes().Remove("gen_ai.tool.call.result")
				case i > n/2: // one after the other
					span.SetStartTimestamp(span.StartTimestamp() + pcommon.Timestamp(2000*n))
					span.SetEndTimestamp(span.StartTimestamp() + 500)
				}
			})
		},
		"messages inserted into the middle": func(n int) ptrace.Traces {
			return manySpans(n, func(i int, span ptrace.Span) {
				chat(span, fmt.Sprintf(`[{"role":"assistant","parts":[{"type":"text","content":"first"}]},`+
					`{"role":"user","parts":[{"type":"text","content":"n%d"}]},{"role":"assistant","parts":[{"type":"text","content":"last"}]}]`, i),
					fmt.Sprintf(`[{"role":"assistant","parts":[{"type":"text","content":"a%d"}]}]`, i))
			})
		},
		"calls of tools of many names without content": func(n int) ptrace.Traces {
			return manySpans(n, func(i int, span ptrace.Span) {
				tool(span, "")
				span.Attributes().PutStr("gen_ai.tool.name", fmt.Sprint("tool", i))
				span.Attributes().Remove("gen_ai.tool.call.result")
			})
		},
		"calls that return when others begin": func(n int) ptrace.Traces {
			return manySpans(n, func(i int, span ptrace.Span) {
				tool(span, fmt.Sprint("k", i))
				if span.SetStartTimestamp(5000); i%2 == 0 {
					span.SetStartTimestamp(1000)
				}
				span.SetEndTimestamp(5000 * (1 + pcommon.Timestamp(i%2)))
			})
		},
		"a violation that may be explained": func(n int) ptrace.Traces {
			td := manySpans(n, func(_ int, span ptrace.Span) { tool(span, "") })
			td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).SetParentSpanID(pcommon.SpanID{1, 2})
			return td
		},
	} {
		t.Run(name, func(t *testing.T) {
			cputime.IsLinear(t, 1000, func(n int) func() {
				td := build(n)
				return func() {
					facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
					scorer.Trace(facts, nil)
				}
			})
		})
	}
}

func manySpans(n int, fill func(i int, span ptrace.Span)) ptrace.Traces {
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	for i := range n {
		span := ss.Spans().AppendEmpty()
		span.SetTraceID(pcommon.TraceID{1})
		span.SetSpanID(pcommon.SpanID{0, byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i), 1})
		span.SetStartTimestamp(pcommon.Timestamp(1000 * i))
		span.SetEndTimestamp(pcommon.Timestamp(1000*i + 500))
		fill(i, span)
	}
	return td
}

func tool(span ptrace.Span, id string) {
	a := span.Attributes()
	a.PutStr("gen_ai.operation.name", "execute_tool")
	a.PutStr("gen_ai.tool.name", "lookup")
	a.PutStr("gen_ai.tool.call.id", id)
	a.PutStr("gen_ai.tool.call.arguments", `{"id":"42"}`)
	a.PutStr("gen_ai.tool.call.result", `{"customer_id":"42","name":"Ada"}`)
}

func chat(span ptrace.Span, input, output string) {
	a := span.Attributes()
	a.PutStr("gen_ai.operation.name", "chat")
	if input != "" {
		a.PutStr("gen_ai.input.messages", input)
	}
	if output != "" {
		a.PutStr("gen_ai.output.messages", output)
	}
}
