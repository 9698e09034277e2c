// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Options checks the settings and makes a decoder's options of them. All that is
// wrong is reported, each with its place.
func (s Settings) Options() (Options, error) {
	v := validator{names: map[string]bool{}}
	o := Options{Conversations: s.ConversationAttributes, ConversationResources: s.ConversationResourceAttributes}
	if len(o.Conversations) == 0 {
		o.Conversations = nil
	}
	v.attributes("conversation_attributes", s.ConversationAttributes)
	v.attributes("conversation_resource_attributes", s.ConversationResourceAttributes)
	custom := s.Dialects.Custom
	if len(custom) > MaxDialects {
		v.refuse("dialects::custom", "there are %d dialects, at most %d fit", len(custom), MaxDialects)
		custom = nil
	}
	for i := range custom {
		v.at = fmt.Sprintf("dialects::custom::%d", i)
		if custom[i].Name != "" {
			v.at += " (" + custom[i].Name + ")"
		}
		v.dialect(&custom[i])
		o.Dialects = append(o.Dialects, custom[i].dialect())
	}
	if err := errors.Join(v.errs...); err != nil {
		return Options{}, err
	}
	return o, nil
}

// validator collects what is wrong.
type validator struct {
	at    string // the dialect that is looked at
	names map[string]bool
	errs  []error
}

func (v *validator) refuse(field, format string, args ...any) {
	if v.at != "" {
		field = v.at + "::" + field
	}
	v.errs = append(v.errs, fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...)))
}

// maxNameLength bounds a dialect's name, which goes into every warning.
const maxNameLength = 64

func (v *validator) dialect(c *CustomDialect) {
	switch {
	case c.Name == "":
		v.refuse("name", "a name is required")
	case len(c.Name) > maxNameLength:
		v.refuse("name", "a name has at most %d bytes", maxNameLength)
	case v.names[c.Name]:
		v.refuse("name", "the name is taken by a dialect before")
	case slices.ContainsFunc(Builtin, func(d *Dialect) bool { return d.Name == c.Name }):
		v.refuse("name", "the name is taken by a built-in dialect")
	}
	v.names[c.Name] = true

	v.marks("tool", c.Tool)
	v.marks("not_tool", c.NotTool)
	v.marks("model", c.Model)
	v.marks("agent", c.Agent)
	v.marks("error", c.Error)
	if len(c.Tool)+len(c.Model)+len(c.Agent) == 0 {
		v.refuse("tool", "nothing recognises a span: give tool, model or agent a mark")
	}
	if len(c.Tool) > 0 && len(c.ToolName)+len(c.SpanName) == 0 {
		v.refuse("tool_name", "a tool needs a name: give tool_name an attribute, or span_name a pattern")
	}
	for i, pattern := range c.SpanName {
		if strings.Count(pattern, "*") != 1 {
			v.refuse(fmt.Sprintf("span_name::%d", i), "%q must have one \"*\", which stands for the tool's name", pattern)
		}
	}
	v.onlyWith(c)

	for field, list := range map[string][]string{
		"tool_name": c.ToolName, "call_id": c.CallID, "arguments": c.Arguments, "result": c.Result,
		"error_type": c.ErrorType, "agent_name": c.AgentName, "conversation": c.Conversation,
		"input_messages": c.InputMessages, "output_messages": c.OutputMessages,
		"input_prefix": c.InputPrefix, "output_prefix": c.OutputPrefix, "output_text": c.OutputText, "output_calls": c.OutputCalls,
		"hidden_names": c.HiddenNames, "arguments_keys": c.ArgumentsKeys, "result_keys": c.ResultKeys, "failure_keys": c.FailureKeys,
	} {
		v.attributes(field, list)
	}
	v.events("arguments_events", c.ArgumentsEvents, false)
	v.events("result_events", c.ResultEvents, false)
	v.events("input_events", c.InputEvents, true)
	v.events("output_events", c.OutputEvents, true)
	// Fields come from a map, so put what was found in order.
	slices.SortStableFunc(v.errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
}

// onlyWith refuses what no span would ever be asked for.
func (v *validator) onlyWith(c *CustomDialect) {
	if len(c.Tool) == 0 {
		for field, n := range map[string]int{
			"tool_name": len(c.ToolName), "span_name": len(c.SpanName), "call_id": len(c.CallID), "arguments": len(c.Arguments),
			"result": len(c.Result), "arguments_events": len(c.ArgumentsEvents), "result_events": len(c.ResultEvents),
		} {
			if n > 0 {
				v.refuse(field, "is of tool spans, and tool has no mark")
			}
		}
	}
	if len(c.Model)+len(c.Agent) == 0 {
		for field, n := range map[string]int{
			"input_messages": len(c.InputMessages), "output_messages": len(c.OutputMessages), "input_prefix": len(c.InputPrefix),
			"output_prefix": len(c.OutputPrefix), "input_events": len(c.InputEvents), "output_events": len(c.OutputEvents),
			"output_text": len(c.OutputText), "output_calls": len(c.OutputCalls),
		} {
			if n > 0 {
				v.refuse(field, "is of a model's or an agent's spans, and neither has a mark")
			}
		}
	}
}

// attributes refuses empty and repeated names.
func (v *validator) attributes(field string, names []string) {
	for i, name := range names {
		switch {
		case name == "":
			v.refuse(fmt.Sprintf("%s::%d", field, i), "a name is empty")
		case slices.Contains(names[:i], name):
			v.refuse(fmt.Sprintf("%s::%d", field, i), "%q stands there twice", name)
		}
	}
}

func (v *validator) marks(field string, marks []CustomMark) {
	for i, m := range marks {
		place := fmt.Sprintf("%s::%d", field, i)
		switch {
		case m == (CustomMark{}):
			v.refuse(place, "an empty mark fits every span: give it an attribute, a span_name or a scope")
		case m.Value != "" && m.Attribute == "":
			v.refuse(place, "a value needs an attribute")
		}
		for _, pattern := range []string{m.Value, m.SpanName} {
			if strings.Count(pattern, "*") > 1 {
				v.refuse(place, "%q has more than one \"*\"", pattern)
			}
		}
	}
}

var roles = map[string]Role{"": UnknownRole, "system": System, "user": User, "assistant": Assistant, "tool": ToolRole}

func (v *validator) events(field string, events []CustomEvent, messages bool) {
	for i, e := range events {
		place := fmt.Sprintf("%s::%d", field, i)
		_, known := roles[e.Role]
		switch {
		case e.Event == "":
			v.refuse(place, "the event needs a name: give it event")
		case !known:
			v.refuse(place, "role must be system, user, assistant or tool, not %q", e.Role)
		case e.Role != "" && !messages:
			v.refuse(place, "a role is of messages")
		case e.Attribute == "" && !messages:
			v.refuse(place, "give it the attribute that holds the value")
		case e.Attribute == "" && e.Role == "":
			v.refuse(place, "give it the attribute that holds the list, or the role of the message that the event is")
		}
	}
}

// dialect makes a row of the table.
func (c *CustomDialect) dialect() *Dialect {
	return &Dialect{
		Name: c.Name,
		Tool: rowMarks(c.Tool), Model: rowMarks(c.Model), Agent: rowMarks(c.Agent), NoCall: rowMarks(c.NotTool),
		ToolName: c.ToolName, SpanName: c.SpanName, HiddenNames: c.HiddenNames,
		CallID: c.CallID, Arguments: c.Arguments, Result: c.Result,
		EventArguments: rowEvents(c.ArgumentsEvents), EventResult: rowEvents(c.ResultEvents),
		ArgumentsKeys: c.ArgumentsKeys, ResultKeys: c.ResultKeys, FailureKeys: c.FailureKeys, EmptyObject: c.EmptyObjectIsNothing,
		FailureType: c.ErrorType, FailureMark: rowMarks(c.Error),
		AgentName: c.AgentName, Conversation: c.Conversation,
		Input: c.InputMessages, Output: c.OutputMessages, InputPrefix: c.InputPrefix, OutputPrefix: c.OutputPrefix,
		InputEvents: rowEvents(c.InputEvents), OutputEvents: rowEvents(c.OutputEvents),
		OutputText: c.OutputText, OutputCalls: c.OutputCalls,
		ContentSwitch: c.ContentSwitch,
	}
}

func rowMarks(marks []CustomMark) []Mark {
	out := make([]Mark, len(marks))
	for i, m := range marks {
		out[i] = Mark{Key: m.Attribute, Value: m.Value, SpanName: m.SpanName, Scope: m.Scope}
	}
	return out
}

func rowEvents(events []CustomEvent) []EventAttribute {
	out := make([]EventAttribute, len(events))
	for i, e := range events {
		out[i] = EventAttribute{Event: e.Event, Key: e.Attribute, Role: roles[e.Role]}
	}
	return out
}
