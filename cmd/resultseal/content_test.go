// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// canary is part of every value that a recording of canaries holds in arguments,
// results and messages. canaryNumber is one as a number.
const (
	canary       = "canary"
	canaryNumber = 918273645
)

// canaryPolicy reads content in every way in which a policy can: references,
// versions, times, evidence, labels, registers, guards and captured groups.
const canaryPolicy = `contracts:
  - name: order
    match: {tools: [get_order]}
    claim_type: effect_observed
    required_fields: [status, none]
    freshness: {mode: source_version}
    min_source_version: "1"
    source_ref: "shop {result.origin}"
    target_ref: "order {arguments.text}"
    effect_evidence_required: true
    observation:
      source_ref: "shop {result.origin}"
      target_ref: "order {result.text}"
      source_version: "{result.version}"
      evidence_refs: ["{result.evidence}", "{attributes.note}"]
  - name: look
    match: {tools: [look]}
    claim_type: found
    required_fields: [text]
    freshness: {mode: max_age_seconds, max_age_seconds: 60}
    source_ref: "{attributes.note}"
    target_ref: "{arguments.text}"
    observation:
      source_ref: "{attributes.note}"
      target_ref: "{arguments.text}"
      observed_at: "{result.at}"
      evidence_refs: ["{result.evidence}"]
protocols:
  - name: labels
    protocol: "!Known.?Other.end"
    events:
      - {label: "{arguments.label}", event: tool_call, tools: [get_order]}
      - {label: "{result.text}", event: tool_result, tools: [get_order]}
      - {label: "{attributes.note}", event: tool_call, tools: [look]}
  - name: registers
    SESSION
    states:
      initial: unread
      terminal: [unread, read]
      transitions:
        - {from: unread, event: "?Order", to: read, bind: "text as t, list as l, number as n, flag as f"}
        - {from: read, event: "?Order", to: read, bind: "text as t"}
        - {from: read, event: "?Says", to: read, bind: "word as w"}
        - {from: unread, event: "?Says", to: unread, bind: "word as w"}
        - {from: read, event: "!Look", to: read, when: "text == t"}
    events:
      - {label: Order, event: tool_result, tools: [get_order]}
      - {label: Look, event: tool_call, tools: [look]}
      - {label: Says, event: user_message, text: '(?P<word>canary\S*)'}
`

// canaryTraces are two traces of one conversation.
func canaryTraces() ptrace.Traces {
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for n := range 2 {
		trace := pcommon.TraceID{0: 0xca, 15: byte(n + 1)}
		at := uint64(1_700_000_000+60*n) * 1e9
		id := byte(0)
		add := func(name, operation string, from, to uint64) ptrace.Span {
			span := spans.AppendEmpty()
			id++
			span.SetTraceID(trace)
			span.SetSpanID(pcommon.SpanID{7: id})
			if id > 1 {
				span.SetParentSpanID(pcommon.SpanID{7: 1})
			}
			span.SetName(name)
			span.SetStartTimestamp(pcommon.Timestamp(at + from*1e9))
			span.SetEndTimestamp(pcommon.Timestamp(at + to*1e9))
			span.Attributes().PutStr("gen_ai.operation.name", operation)
			span.Attributes().PutStr("gen_ai.conversation.id", "c-1")
			return span
		}
		text := fmt.Sprintf("canary text %d, which is free", n)
		add("invoke_agent shop", "invoke_agent", 0, 20).Attributes().PutStr("gen_ai.agent.name", "shop")

		chat := add("chat m", "chat", 1, 2)
		chat.Attributes().PutStr("gen_ai.input.messages", fmt.Sprintf(`[{"role":"user","parts":[{"type":"text","content":"canary-asks-%d for canary orders"}]}]`, n))
		chat.Attributes().PutStr("gen_ai.output.messages", `[{"role":"assistant","parts":[{"type":"text","content":"canary answers"}],"finish_reason":"stop"}]`)

		order := add("execute_tool get_order", "execute_tool", 3, 4)
		order.Attributes().PutStr("gen_ai.tool.name", "get_order")
		order.Attributes().PutStr("gen_ai.tool.call.id", fmt.Sprintf("call_%d", n))
		order.Attributes().PutStr("note", "canary note of the span")
		order.Attributes().PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"text":%q,"label":"canary label"}`, text))
		order.Attributes().PutStr("gen_ai.tool.call.result", fmt.Sprintf(
			`{"text":%q,"status":"canary status","none":1,"origin":"canary origin","version":"canary version 2","evidence":"canary evidence","list":["canary list"],"number":%d,"flag":true}`, text, canaryNumber))

		look := add("execute_tool look", "execute_tool", 5, 6)
		look.Attributes().PutStr("gen_ai.tool.name", "look")
		look.Attributes().PutStr("note", strings.Repeat("canary-note-", 6))
		look.Attributes().PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"text":"another canary, %d"}`, n))
		look.Attributes().PutStr("gen_ai.tool.call.result", `{"text":"canary result","at":"canary time","evidence":"canary evidence"}`)

		failed := add("execute_tool get_order", "execute_tool", 7, 8)
		failed.Attributes().PutStr("gen_ai.tool.name", "get_order")
		failed.Attributes().PutStr("error.type", "canary error, in words")
		failed.Status().SetCode(ptrace.StatusCodeError)
		failed.Status().SetMessage("canary status message")
		event := failed.Events().AppendEmpty()
		event.SetName("exception")
		event.Attributes().PutStr("exception.type", "canary exception, in words")
		event.Attributes().PutStr("exception.message", "canary message")

		wordy := add("execute_tool say", "execute_tool", 9, 10)
		wordy.Attributes().PutStr("gen_ai.tool.name", "say")
		wordy.Attributes().PutStr("gen_ai.tool.call.arguments", `{"to":"canary, the customer","title":"canary title"}`)
		wordy.Attributes().PutStr("gen_ai.tool.call.result", `{"to":"canary, the customer","source":"canary source, in words","message_id":"canary id, in words"}`)
	}
	return td
}

func otlpJSON(t *testing.T, td ptrace.Traces) string {
	t.Helper()
	var m ptrace.JSONMarshaler
	text, err := m.MarshalTraces(td)
	require.NoError(t, err)
	return string(text)
}

// reversed has the spans in the opposite order.
func reversed(td ptrace.Traces) ptrace.Traces {
	out := ptrace.NewTraces()
	td.CopyTo(out)
	from, to := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans(), out.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	for i := range from.Len() {
		from.At(i).CopyTo(to.At(from.Len() - 1 - i))
	}
	return out
}

// Without --show-content nothing that the command line writes about a recording
// holds a value of arguments, results or messages, and the masks in their place do
// not depend on the order of the spans. With it the same values are there.
func TestReportsHoldNoContent(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	traces, back := file("traces.json", otlpJSON(t, canaryTraces())), file("back.json", otlpJSON(t, reversed(canaryTraces())))
	const first = "ca000000000000000000000000000001"

	for _, session := range []string{"session: trace", "session: conversation"} {
		policy := file("policy.yaml", strings.ReplaceAll(canaryPolicy, "SESSION", session))
		score := func(args ...string) []string { return append([]string{"score", "--policy", policy}, args...) }
		for name, tt := range map[string]struct {
			args    []string
			content bool // it shows content if it is asked to
		}{
			"table":                {score("--format", "table"), true},
			"json":                 {score("--format", "json"), true},
			"jsonl":                {score("--format", "jsonl"), true},
			"junit":                {score("--format", "junit"), true},
			"sarif":                {score("--format", "sarif"), true},
			"html":                 {score("--format", "html"), true},
			"explain":              {score("--explain", first), true},
			"explain conversation": {score("--explain", "c-1"), true},
			"init":                 {[]string{"init"}, false},
			"validate against":     {[]string{"validate", policy, "--against"}, false},
		} {
			t.Run(session+", "+name, func(t *testing.T) {
				got := execute("", append(tt.args, traces)...)
				require.Less(t, got.code, 2, got.stderr)
				text := strings.ToLower(got.stdout + got.stderr)
				require.NotContains(t, text, canary)
				require.NotContains(t, text, fmt.Sprint(canaryNumber))

				other := execute("", append(tt.args, back)...)
				require.Equal(t, strings.ReplaceAll(got.stdout, "traces.json", ""), strings.ReplaceAll(other.stdout, "back.json", ""), "another order of spans")

				if tt.content {
					require.Contains(t, strings.ToLower(execute("", append(tt.args, "--show-content", traces)...).stdout), canary)
				}
			})
		}

		// What is added to spans, too.
		out := filepath.Join(dir, "annotated.jsonl")
		require.Zero(t, execute("", score("--annotated", out, "--format", "json", traces)...).code)
		text, err := os.ReadFile(out)
		require.NoError(t, err)
		added := regexp.MustCompile(`\{"key":"resultseal\.[^"]*","value":(\{"stringValue":"[^"]*"\}|\{"arrayValue":\{[^}\]]*[}\]])`).FindAllString(string(text), -1)
		require.NotEmpty(t, added)
		require.True(t, slices.ContainsFunc(added, func(s string) bool { return strings.Contains(s, "!‹12 characters›") }), added)
		for _, s := range added {
			require.NotContains(t, s, canary)
		}
	}
}

// A value has the same number wherever a session shows it, in every form.
func TestMaskedValuesAgree(t *testing.T) {
	dir := shared(t, "cases", "verdicts", "register-values-in-reports")
	base := []string{"score", "--policy", filepath.Join(dir, "policy.yaml"), "--dialects", filepath.Join(dir, "dialects.yaml"), filepath.Join(dir, "trace.jsonl")}
	const o, e, z = "‹3 characters, #2›", "‹24 characters, #1›", "‹3 characters, #3›"

	var report struct {
		Sessions []struct {
			Protocols []struct {
				Events []struct {
					Event     string
					Registers map[string]string
				}
			}
		}
	}
	got := execute("", append(base, "--format", "json")...)
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &report), got.stderr)
	events := report.Sessions[0].Protocols[0].Events
	require.Len(t, events, 2)
	for _, event := range events {
		require.Equal(t, map[string]string{"o": o, "e": e}, event.Registers)
	}

	html := execute("", append(base, "--format", "html")...).stdout
	require.Contains(t, html, `"registers":{"e":"`+e+`","o":"`+o+`"}`)

	why := execute("", append(base, "--explain", "0af7")...).stdout
	require.Contains(t, why, "it remembers e = "+e+", o = "+o+"\n")
	require.Contains(t, why, "the event's order_id is "+z+" (--show-content shows it)\n")
	require.Contains(t, why, "order:A-1, and order:{result.order_id} gives the same", "references of the shape of identifiers are shown")
	for _, text := range []string{got.stdout, html, why} {
		require.NotContains(t, text, "jane")
	}
	require.Contains(t, execute("", append(base, "--explain", "0af7", "--show-content")...).stdout, `e = "jane.private@example.org"`)
}
