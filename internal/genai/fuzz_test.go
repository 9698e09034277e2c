// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// drawValue draws an attribute value of any type, or one of the texts that a
// decoder looks for.
func drawValue(t *rapid.T, v pcommon.Value, texts []string, depth int) {
	kind := rapid.IntRange(0, 9).Draw(t, "type")
	if depth > 3 && kind > 6 {
		kind = 0
	}
	switch kind {
	case 0, 1, 2:
		v.SetStr(rapid.SampledFrom(texts).Draw(t, "text"))
	case 3:
		v.SetStr(rapid.String().Draw(t, "any text"))
	case 4:
		v.SetInt(rapid.Int64().Draw(t, "int"))
	case 5:
		v.SetBool(rapid.Bool().Draw(t, "bool"))
	case 6:
		v.SetDouble(rapid.Float64().Draw(t, "double"))
	case 7:
		v.SetEmptyBytes().FromRaw(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case 8:
		s := v.SetEmptySlice()
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			drawValue(t, s.AppendEmpty(), texts, depth+1)
		}
	case 9:
		m := v.SetEmptyMap()
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			drawValue(t, m.PutEmpty(rapid.SampledFrom(fieldNames()).Draw(t, "field")), texts, depth+1)
		}
	}
}

// fieldNames are the names of fields in message lists and wrappers.
func fieldNames() []string {
	return slices.Concat(listKeys, RoleKeys, partsKeys, CallListKeys, callIDKeys, toolNameKeys, ArgumentKeys, ResponseKeys, textKeys,
		CallWrappers, ReplyWrappers, mcpKeys, mcpBeside, []string{"kwargs", "lc", "value", "json", "stdout", "exit_code", "$value", "message_content", "data", "x"})
}

// texts are what decoders look for in values.
func texts() []string {
	list := []string{
		"", "null", "{}", "[]", "[redacted]", "N/A", "user", "assistant", "tool", "text", "tool_call", "tool_call_response", "constructor", "json",
		`{"a":1}`, `{"a":`, `"{\"a\":1}"`, `[{"role":"user","content":"hi"}]`, `[{"role":"assistant","tool_calls":[{"id":"k","function":{"name":"f","arguments":"{}"}}]}]`,
		`{"content":[{"type":"text","text":"[]"}],"isError":true}`, `{'a': True}`, "…", "call_1",
	}
	for _, d := range Builtin {
		for _, marks := range [][]Mark{d.Tool, d.Model, d.Agent, d.NoCall, d.FailureMark} {
			for _, m := range marks {
				list = append(list, m.Value)
			}
		}
	}
	return list
}

// drawSpan draws a span with attributes and events under the names of the table.
func drawSpan(t *rapid.T, d *Decoder) (ptrace.ResourceSpans, ptrace.Span) {
	names := make([]string, 0, len(d.names))
	for name := range d.names {
		names = append(names, name)
	}
	slices.Sort(names)
	var events, scopes, spanNames []string
	for _, dialect := range Builtin {
		for _, list := range [][]EventAttribute{dialect.EventArguments, dialect.EventResult, dialect.InputEvents, dialect.OutputEvents} {
			for _, e := range list {
				events = append(events, e.Event)
			}
		}
		for _, marks := range [][]Mark{dialect.Tool, dialect.Model, dialect.Agent} {
			for _, m := range marks {
				scopes, spanNames = append(scopes, m.Scope), append(spanNames, m.SpanName)
			}
		}
	}
	texts := texts()
	rs := ptrace.NewResourceSpans()
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(rapid.SampledFrom(scopes).Draw(t, "scope"))
	span := ss.Spans().AppendEmpty()
	span.SetName(rapid.SampledFrom(spanNames).Draw(t, "name"))
	for range rapid.IntRange(0, 12).Draw(t, "attributes") {
		name := rapid.SampledFrom(names).Draw(t, "attribute")
		if rapid.IntRange(0, 3).Draw(t, "flattened") == 0 {
			name = rapid.SampledFrom(d.prefixes).Draw(t, "prefix") +
				rapid.SampledFrom([]string{"0.message.role", "0.message.content", "0.role", "1.content", "0.message.tool_calls.0.tool_call.function.name", "00.x", "", ".", "999999999999999999999.role"}).Draw(t, "rest")
		}
		drawValue(t, span.Attributes().PutEmpty(name), texts, 0)
	}
	for range rapid.IntRange(0, 3).Draw(t, "events") {
		event := span.Events().AppendEmpty()
		event.SetName(rapid.SampledFrom(append(events, "exception")).Draw(t, "event"))
		for range rapid.IntRange(0, 3).Draw(t, "event attributes") {
			name := rapid.SampledFrom([]string{"content", "message", "id", "role", "tool_calls", EventContent, "gen_ai.input.messages", "exception.type", "exception.message"}).Draw(t, "event attribute")
			drawValue(t, event.Attributes().PutEmpty(name), texts, 0)
		}
	}
	return rs, span
}

// checkDecode: any values under known names are decoded without a panic, the
// same way each time, and a decoder remembers nothing of the span before.
func checkDecode(t *rapid.T, d *Decoder) {
	rs, span := drawSpan(t, d)
	ss := rs.ScopeSpans().At(0)
	var s, again Span
	d.Decode(&s, rs.Resource(), ss.Scope(), span)
	NewDecoder(Options{}).Decode(&again, rs.Resource(), ss.Scope(), span)
	again.attributes, again.resource = s.attributes, s.resource
	if !reflect.DeepEqual(withoutDialects(s), withoutDialects(again)) {
		t.Fatalf("decoded differently:\n%+v\n%+v", s, again)
	}
	if s.Kind == Tool && (s.Input.Recorded || s.Output.Recorded) {
		t.Fatal("a tool span has messages")
	}
	checkResult(t, s.Call.Result)
	s.Call.Arguments.Arguments()
	for _, list := range [][]Message{s.Input.List, s.Output.List} {
		for i := range list {
			if list[i].Role == UnknownRole {
				t.Fatal("a message of nobody")
			}
			for j := range list[i].Parts {
				checkResult(t, list[i].Parts[j].Content)
				list[i].Parts[j].Content.Arguments()
			}
		}
	}
}

// withoutDialects leaves out what is made anew by each decoder.
func withoutDialects(s Span) Span {
	s.Call.Arguments.Dialect, s.Call.Result.Dialect = nil, nil
	for _, list := range []*[]Message{&s.Input.List, &s.Output.List} {
		*list = slices.Clone(*list)
		for i := range *list {
			(*list)[i].Parts = slices.Clone((*list)[i].Parts)
			for j := range (*list)[i].Parts {
				(*list)[i].Parts[j].Content.Dialect = nil
			}
		}
	}
	return s
}

func checkResult(t *rapid.T, c Content) {
	r := c.Result()
	switch {
	case r.State == NotCaptured && !r.Value.IsNull():
		t.Fatal("a result that is not there has a value")
	case r.State == Captured && (r.Kind == engine.KindText) != (r.Value.Kind() == jsonvalue.StringKind):
		t.Fatalf("%v with a %v", r.Kind, r.Value.Kind())
	case r.Kind == engine.KindStdio && r.Value.Kind() != jsonvalue.ObjectKind:
		t.Fatal("a command without an object")
	}
}

func TestDecodeAnything(t *testing.T) {
	d := NewDecoder(Options{})
	rapid.Check(t, func(t *rapid.T) { checkDecode(t, d) })
}

func FuzzDecode(f *testing.F) {
	d := NewDecoder(Options{})
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { checkDecode(t, d) }))
}

// FuzzMessages: any text is a list of messages, or known not to be one.
func FuzzMessages(f *testing.F) {
	for _, text := range texts() {
		f.Add(text)
	}
	f.Add(`[{"type":"function_call","call_id":"k","name":"f"},{"type":"mcp_call","error":"x"},"loose"]`)
	f.Fuzz(func(t *testing.T, text string) {
		m := readMessages(pcommon.NewValueStr(text), User, googleADK, nil)
		if !m.Recorded {
			require.Contains(t, []string{"", "null", `""`}, strings.TrimSpace(text))
		}
		for i := range m.List {
			require.NotEqual(t, UnknownRole, m.List[i].Role)
			require.False(t, m.List[i].Uncaptured && m.List[i].Says(), "a message that was captured and was not")
			for j := range m.List[i].Parts {
				p := &m.List[i].Parts[j]
				require.Equal(t, p.CallID, UsableID(p.CallID))
				p.Content.Result()
				p.Content.Arguments()
			}
		}
	})
}

// FuzzResult: what is captured is a JSON value or the text itself; a JSON object
// that breaks off is never taken for a result.
func FuzzResult(f *testing.F) {
	for _, text := range texts() {
		f.Add(text, 3)
	}
	f.Add(`{"stdout":"","exit_code":1}`, 5)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		for _, d := range []*Dialect{nil, traceloop, googleADK} {
			r := ContentOf(pcommon.NewValueStr(text), d).Result()
			if parsed, err := jsonvalue.Parse(text); err == nil && r.State == Captured && r.Kind == engine.KindText &&
				parsed.Kind() != jsonvalue.StringKind && parsed.Kind() != jsonvalue.ObjectKind && parsed.Kind() != jsonvalue.ArrayKind {
				t.Fatalf("%q is JSON and was taken for text", text)
			}
		}
		parsed, err := jsonvalue.Parse(text)
		if err != nil || parsed.Kind() != jsonvalue.ObjectKind || cut < 0 {
			return
		}
		start := 0
		for text[start] != '{' {
			start++
		}
		end := len(text)
		for text[end-1] != '}' {
			end--
		}
		at := start + 1 + cut%(end-start-1)
		r := ContentOf(pcommon.NewValueStr(text[:at]), nil).Result()
		require.Equal(t, Truncated, r.State, text[:at])
	})
}
