// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding/json"
	"reflect"
	"strings"
)

// settingDocs describe the keys of a file of settings, for its JSON Schema. A key
// that several structures have is described once for each.
var settingDocs = map[string]string{
	"settingsFile.dialects":                         "The dialects that are added to the built-in ones.",
	"settingsFile.conversation_attributes":          "Attributes that name a conversation, in order; they replace the built-in list.",
	"settingsFile.conversation_resource_attributes": "Attributes of the resource that belong to a conversation's identity.",
	"settingsFile.custom":                           "The same as dialects.custom.",
	"DialectSettings.custom":                        "Dialects, tried before the built-in ones, in order.",
	"CustomDialect.name":                            "Shown in explanations and warnings.",
	"CustomDialect.tool":                            "Marks of the spans of tool calls; one is enough.",
	"CustomDialect.tool_result":                     "Marks of spans that hold the result of a call whose own span is another one: with the same call id, or the nearest one before it under the same parent.",
	"CustomDialect.not_tool":                        "Marks of spans that look like tool calls and are none.",
	"CustomDialect.transport":                       "The tool spans are those of a transport, which may be inside another span that has a longer name for the tool.",
	"CustomDialect.model":                           "Marks of the spans of a model's calls.",
	"CustomDialect.agent":                           "Marks of the spans around an agent's run.",
	"CustomDialect.tool_name":                       "Where the tool's name is.",
	"CustomDialect.span_name":                       "Patterns over the span's name; \"*\" is the tool's name.",
	"CustomDialect.hidden_names":                    "Placeholders in place of a tool's name.",
	"CustomDialect.call_id":                         "Where the call's id is.",
	"CustomDialect.arguments":                       "Where the arguments are.",
	"CustomDialect.result":                          "Where the result is.",
	"CustomDialect.arguments_events":                "Span events with the arguments.",
	"CustomDialect.result_events":                   "Span events with the result.",
	"CustomDialect.arguments_each":                  "Patterns of names that hold one argument each, as members of the arguments or as attributes; \"*\" is the argument's name.",
	"CustomDialect.arguments_keys":                  "Wrappers around arguments that are taken off.",
	"CustomDialect.result_keys":                     "Wrappers around a result that are taken off.",
	"CustomDialect.beside_keys":                     "Keys that may be beside one of result_keys.",
	"CustomDialect.failure_keys":                    "Wrappers around what a failed call returns.",
	"CustomDialect.failure_texts":                   "Patterns of texts that are returned in place of a result when the call failed.",
	"CustomDialect.python":                          "Results are written as Python prints them.",
	"CustomDialect.python_classes":                  "Classes whose constructor calls are read as objects.",
	"CustomDialect.placeholders":                    "Patterns of texts that are in place of content in messages.",
	"CustomDialect.empty_object_is_nothing":         "{} is in place of content that was not recorded.",
	"CustomDialect.error_type":                      "Where the name of a failure is.",
	"CustomDialect.error":                           "Marks of a failure.",
	"CustomDialect.deferred":                        "Marks of calls that wait for an approval.",
	"CustomDialect.denied":                          "Marks of calls that were refused and never ran.",
	"CustomDialect.agent_name":                      "Attributes with the agent's name.",
	"CustomDialect.conversation":                    "Attributes with the conversation's id.",
	"CustomDialect.input_messages":                  "Where the messages are that a model was shown.",
	"CustomDialect.output_messages":                 "Where its answer is.",
	"CustomDialect.input_prefix":                    "Prefixes of attributes with one field of a message each: prefix.0.role.",
	"CustomDialect.output_prefix":                   "The same for the answer.",
	"CustomDialect.input_events":                    "Span events with messages.",
	"CustomDialect.output_events":                   "Span events with the answer.",
	"CustomDialect.output_text":                     "Where the text of an answer is, if its calls are elsewhere.",
	"CustomDialect.output_calls":                    "Where the calls are that an answer asks for.",
	"CustomDialect.exchange":                        "Attributes with one list for request and answer.",
	"CustomDialect.transcript":                      "Attributes with messages as one text.",
	"CustomDialect.tool_definitions":                "Attributes with the tools that a model was offered.",
	"CustomDialect.content_elsewhere":               "Attributes that refer to content in another storage.",
	"CustomDialect.content_switch":                  "How content is turned on.",
	"CustomSource.attribute":                        "The attribute.",
	"CustomSource.path":                             "Leads into the JSON that the attribute holds: a.b[0]. \"$\" is the root.",
	"CustomSource.after":                            "The text in front of the value, with one \"*\" for anything.",
	"CustomSource.before":                           "The text behind the value.",
	"CustomMark.attribute":                          "The span has this attribute.",
	"CustomMark.path":                               "Leads into the JSON that the attribute holds.",
	"CustomMark.value":                              "The value, with one \"*\" for anything, in any case.",
	"CustomMark.span_name":                          "The span's name, with one \"*\" for anything.",
	"CustomMark.scope":                              "The name of the instrumentation scope, with a \"*\" at its end, its beginning or both.",
	"CustomMark.and":                                "Further attributes that the span has.",
	"CustomCondition.attribute":                     "The attribute.",
	"CustomCondition.path":                          "Leads into the JSON that the attribute holds.",
	"CustomCondition.value":                         "The value, with one \"*\" for anything, in any case.",
	"CustomEvent.event":                             "The name of the event.",
	"CustomEvent.attribute":                         "Its attribute with the value.",
	"CustomEvent.role":                              "Whose message the event is, if it is one.",
	"CustomTranscript.attribute":                    "The attribute.",
	"CustomTranscript.separator":                    "The text between two messages.",
	"CustomTranscript.sections":                     "How messages begin.",
	"CustomSection.begins":                          "The beginning of the message; its \"*\" is the call's id in a tool's answer.",
	"CustomSection.role":                            "Whose message it is.",
}

// requiredKeys are those that a structure cannot do without.
var requiredKeys = map[string][]string{
	"CustomDialect": {"name"}, "CustomSource": {"attribute"}, "CustomCondition": {"attribute"}, "CustomEvent": {"event"},
	"CustomTranscript": {"attribute", "separator", "sections"}, "CustomSection": {"begins", "role"},
}

// SettingsSchema returns the JSON Schema of files of settings. It is made from the
// structures that such a file is read into.
func SettingsSchema() []byte {
	defs := map[string]any{}
	root := schemaOf(reflect.TypeFor[settingsFile](), defs)
	out := map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "Dialects of ResultSeal",
		"$defs":   defs,
	}
	for key, value := range root {
		out[key] = value
	}
	text, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		panic(err) // maps, slices and strings
	}
	return append(text, '\n')
}

// schemaOf returns the schema of a structure with its keys.
func schemaOf(t reflect.Type, defs map[string]any) map[string]any {
	properties := map[string]any{}
	var add func(t reflect.Type)
	add = func(own reflect.Type) {
		for i := range own.NumField() {
			field := own.Field(i)
			key, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			if options == "inline" {
				add(field.Type)
				continue
			}
			p := valueSchema(field.Type, defs)
			if key == "role" {
				p = map[string]any{"enum": []string{"system", "user", "assistant", "tool"}}
			}
			p["description"] = settingDocs[t.Name()+"."+key]
			properties[key] = p
		}
	}
	add(t)
	out := map[string]any{"type": "object", "additionalProperties": false, "properties": properties}
	if required := requiredKeys[t.Name()]; required != nil {
		out["required"] = required
	}
	return out
}

func valueSchema(t reflect.Type, defs map[string]any) map[string]any {
	switch t.Kind() {
	case reflect.Slice:
		return map[string]any{"type": []string{"array", "null"}, "items": valueSchema(t.Elem(), defs)}
	case reflect.Bool:
		return map[string]any{"type": []string{"boolean", "null"}}
	case reflect.Struct:
		name := t.Name()
		if defs[name] == nil {
			defs[name] = true // it is not recursive, and would end here if it was
			schema := schemaOf(t, defs)
			if name == "CustomSource" {
				schema = map[string]any{"oneOf": []any{map[string]any{"type": "string"}, schema}}
			}
			defs[name] = schema
		}
		return map[string]any{"$ref": "#/$defs/" + name}
	default:
		return map[string]any{"type": []string{"string", "boolean", "number", "null"}}
	}
}
