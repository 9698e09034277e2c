// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// A dialect of an application's own, in every field.
const ownDialect = `
dialects:
  custom:
    - name: acme
      tool:
        - {attribute: acme.kind, value: tool}
        - {span_name: "run *", scope: acme-old}
      not_tool: [{attribute: acme.dry_run, value: "true"}]
      model: [{attribute: acme.kind, value: "model*"}]
      agent: [{attribute: acme.kind, value: agent}]
      tool_name: [acme.tool]
      span_name: ["run *"]
      hidden_names: [wrapper]
      call_id: [acme.call]
      arguments: [acme.in]
      result: [acme.out]
      arguments_events: [{event: acme.started, attribute: in}]
      result_events: [{event: acme.done, attribute: out}]
      arguments_keys: [payload]
      result_keys: [payload]
      failure_keys: [fault]
      empty_object_is_nothing: true
      error_type: [acme.error]
      error: [{attribute: acme.ok, value: "false"}]
      agent_name: [acme.agent]
      conversation: [acme.session]
      input_messages: [acme.prompt]
      output_text: [acme.answer]
      output_calls: [acme.asked]
      content_switch: ACME_CONTENT=1
conversation_attributes: [app.chat]
`

func acme(t *testing.T) *genai.Decoder {
	t.Helper()
	s, err := genai.ReadSettings([]byte(ownDialect))
	require.NoError(t, err)
	o, err := s.Options()
	require.NoError(t, err)
	return genai.NewDecoder(o)
}

// decodeOne decodes a span with the given name, scope and attributes.
func decodeOne(t *testing.T, d *genai.Decoder, name, scope string, attributes map[string]any, events ...map[string]any) genai.Span {
	t.Helper()
	td := ptrace.NewTraces()
	ss := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	ss.Scope().SetName(scope)
	span := ss.Spans().AppendEmpty()
	span.SetSpanID(pcommon.SpanID{1})
	span.SetName(name)
	require.NoError(t, span.Attributes().FromRaw(attributes))
	for _, e := range events {
		event := span.Events().AppendEmpty()
		event.SetName(e["event"].(string))
		require.NoError(t, event.Attributes().FromRaw(e))
	}
	facts, _ := d.Traces(td)
	return facts[0]
}

func TestCustomDialect(t *testing.T) {
	d := acme(t)

	s := decodeOne(t, d, "anything", "", map[string]any{
		"acme.kind": "tool", "acme.tool": "search", "acme.call": "c-1", "acme.session": "s-1", "app.chat": "other", "acme.agent": "clerk",
		"acme.in": `{"payload":{"id":"42"}}`, "acme.out": `{"payload":{"name":"Ada"}}`,
	})
	require.Equal(t, genai.Tool, s.Kind)
	require.Equal(t, "search", s.Call.Tool)
	require.Equal(t, "c-1", s.Call.ID)
	require.Equal(t, "s-1", s.Conversation, "the dialect's own comes first")
	require.Equal(t, "clerk", s.Agent)
	require.Equal(t, "ACME_CONTENT=1", s.ContentSwitch)
	arguments, ok := s.Call.Arguments.Arguments()
	require.True(t, ok)
	requireJSON(t, `{"id":"42"}`, arguments)
	r := s.Call.Result.Result()
	require.Equal(t, genai.Captured, r.State)
	requireJSON(t, `{"name":"Ada"}`, r.Value)
	require.Equal(t, genai.NoFailure, s.Failure.Kind)

	s = decodeOne(t, d, "run search", "acme-old", map[string]any{"acme.tool": "wrapper", "acme.out": "{}", "acme.ok": false, "app.chat": 7},
		map[string]any{"event": "acme.started", "in": `{"id":"7"}`},
		map[string]any{"event": "acme.done", "out": `{"fault":"down"}`})
	require.Equal(t, genai.Tool, s.Kind)
	require.Equal(t, "search", s.Call.Tool, "the span's name, because the attribute's is hidden")
	require.Equal(t, "7", s.Conversation)
	require.Equal(t, genai.Failed, s.Failure.Kind)
	r = s.Call.Result.Result()
	require.True(t, r.Failed)
	requireJSON(t, `"down"`, r.Value)

	require.Equal(t, genai.Other, decodeOne(t, d, "x", "", map[string]any{"acme.kind": "tool", "acme.dry_run": true}).Kind)
	require.Equal(t, genai.Agent, decodeOne(t, d, "x", "", map[string]any{"acme.kind": "agent"}).Kind)
	s = decodeOne(t, d, "x", "", map[string]any{
		"acme.kind": "model:big", "acme.prompt": `[{"role":"user","content":"hi"}]`, "acme.answer": "hello",
		"acme.asked": `[{"id":"c-1","name":"search","arguments":{"id":"42"}}]`,
	})
	require.Equal(t, genai.Model, s.Kind)
	require.Equal(t, "hi", s.Input.List[0].Text())
	require.Equal(t, "hello", s.Output.List[0].Text())
	require.True(t, s.Output.List[0].Calls())

	// Its errors are no one else's.
	s = decodeOne(t, d, "execute_tool x", "", map[string]any{"acme.ok": false, "acme.error": "x"})
	require.Equal(t, genai.NoFailure, s.Failure.Kind)
	// The built-in table still holds.
	s = decodeOne(t, d, "execute_tool x", "", map[string]any{"gen_ai.conversation.id": "c", "error.type": "x"})
	require.Equal(t, genai.Tool, s.Kind)
	require.Equal(t, genai.Failed, s.Failure.Kind)
	require.Empty(t, s.Conversation, "the list was replaced")
}

// The processor reads the same form with the collector's own reader.
func TestSettingsAreReadByTheCollector(t *testing.T) {
	fromYAML, err := genai.ReadSettings([]byte(ownDialect))
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "dialects.yaml")
	require.NoError(t, os.WriteFile(file, []byte(ownDialect), 0o600))
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(ownDialect))
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	var s genai.Settings
	require.NoError(t, conf.Unmarshal(&s))
	require.Equal(t, fromYAML, s)
}

func TestReadSettings(t *testing.T) {
	s, err := genai.ReadSettings(nil)
	require.NoError(t, err)
	require.Equal(t, genai.Settings{}, s)

	s, err = genai.ReadSettings([]byte("custom:\n  - {name: acme, agent: [{attribute: acme.agent}]}\n"))
	require.NoError(t, err)
	require.Equal(t, "acme", s.Dialects.Custom[0].Name)

	for text, want := range map[string]string{
		"dialects: {custom: [{nam: acme}]}":                      "1:22: dialects.custom[0].nam: unknown key; did you mean \"name\"?",
		"dialects:\n  custom:\n    - {name: [a]}":                "3:14: dialects.custom[0].name: must be a string, not a list",
		"conversation: [a]":                                      "1:1: conversation: unknown key; did you mean \"conversation_attributes\"?",
		"dialects: {":                                            "did not find expected node content",
		"custom: [{name: a}]\ndialects: {custom: [{name: b}]}\n": "custom stands twice",
	} {
		_, err := genai.ReadSettings([]byte(text))
		require.ErrorContains(t, err, want, text)
		require.NotContains(t, err.Error(), "genai", text)
		require.NotContains(t, err.Error(), "struct", text)
	}
}

// What is wrong is named with its place, all of it.
func TestSettingsErrors(t *testing.T) {
	tool := "name: acme, tool_name: [acme.tool], tool: [{attribute: acme.kind}]"
	for settings, want := range map[string][]string{
		"conversation_attributes: [a, '', a]": {
			"conversation_attributes::1: a name is empty",
			`conversation_attributes::2: "a" stands there twice`,
		},
		"custom: [{}]": {
			"dialects::custom::0::name: a name is required",
			"dialects::custom::0::tool: nothing recognises a span: give tool, model or agent a mark",
		},
		"custom: [{name: openinference, agent: [{attribute: a}]}]": {
			"dialects::custom::0 (openinference)::name: the name is taken by a built-in dialect",
		},
		"custom: [{name: a, agent: [{attribute: a}]}, {name: a, agent: [{attribute: a}]}]": {
			"dialects::custom::1 (a)::name: the name is taken by a dialect before",
		},
		"custom: [{name: " + strings.Repeat("x", 65) + ", agent: [{attribute: a}]}]": {"a name has at most 64 bytes"},
		"custom: [{name: a, tool: [{attribute: a}]}]": {
			"dialects::custom::0 (a)::tool_name: a tool needs a name: give tool_name an attribute, or span_name a pattern",
		},
		"custom: [{" + tool + ", span_name: [run, 'a * b *']}]": {
			`dialects::custom::0 (acme)::span_name::0: "run" must have one "*", which stands for the tool's name`,
			`dialects::custom::0 (acme)::span_name::1: "a * b *" must have one "*"`,
		},
		"custom: [{" + tool + ", not_tool: [{}], error: [{value: x}], agent: [{attribute: a, value: 'a*b*'}]}]": {
			"dialects::custom::0 (acme)::not_tool::0: an empty mark fits every span",
			"dialects::custom::0 (acme)::error::0: a value needs an attribute",
			`dialects::custom::0 (acme)::agent::0: "a*b*" has more than one "*"`,
		},
		"custom: [{" + tool + ", result: [a, a], result_keys: ['']}]": {
			`dialects::custom::0 (acme)::result::1: "a" stands there twice`,
			"dialects::custom::0 (acme)::result_keys::0: a name is empty",
		},
		"custom: [{" + tool + ", input_messages: [a]}]": {
			"dialects::custom::0 (acme)::input_messages: is of a model's or an agent's spans, and neither has a mark",
		},
		"custom: [{name: a, agent: [{attribute: a}], result: [a]}]": {
			"dialects::custom::0 (a)::result: is of tool spans, and tool has no mark",
		},
		"custom: [{" + tool + ", model: [{scope: a}], result_events: [{event: a}, {attribute: a}, {event: a, attribute: b, role: tool}], input_events: [{event: a}, {event: a, role: me}]}]": {
			"dialects::custom::0 (acme)::result_events::0: give it the attribute that holds the value",
			"dialects::custom::0 (acme)::result_events::1: the event needs a name",
			"dialects::custom::0 (acme)::result_events::2: a role is of messages",
			"dialects::custom::0 (acme)::input_events::0: give it the attribute that holds the list, or the role",
			`dialects::custom::0 (acme)::input_events::1: role must be system, user, assistant or tool, not "me"`,
		},
	} {
		s, err := genai.ReadSettings([]byte(settings))
		require.NoError(t, err, settings)
		_, err = s.Options()
		for _, w := range want {
			require.ErrorContains(t, err, w, settings)
		}
		require.Len(t, strings.Split(err.Error(), "\n"), len(want), "%s:\n%s", settings, err)
	}

	var many genai.Settings
	for i := range genai.MaxDialects + 1 {
		many.Dialects.Custom = append(many.Dialects.Custom, genai.CustomDialect{
			Name: fmt.Sprint("d", i), Agent: []genai.CustomMark{{Attribute: "a"}},
		})
	}
	_, err := many.Options()
	require.EqualError(t, err, "dialects::custom: there are 33 dialects, at most 32 fit")
	many.Dialects.Custom = many.Dialects.Custom[1:]
	o, err := many.Options()
	require.NoError(t, err)
	require.Len(t, o.Dialects, genai.MaxDialects)
	require.LessOrEqual(t, genai.MaxDialects+len(genai.Builtin), 128)
}

func requireJSON(t *testing.T, want string, got jsonvalue.Value) {
	t.Helper()
	text, err := got.AppendCanonical(nil)
	require.NoError(t, err)
	require.JSONEq(t, want, string(text))
}
