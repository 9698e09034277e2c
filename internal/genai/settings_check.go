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
	o, faults := s.check()
	if faults == nil {
		return o, nil
	}
	errs := make([]error, len(faults))
	for i := range faults {
		errs[i] = fmt.Errorf("%s: %s", faults[i].setting, faults[i].Message)
	}
	return Options{}, errors.Join(errs...)
}

func (s Settings) check() (Options, []Fault) {
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
		if v.name = ""; custom[i].Name != "" {
			v.name = " (" + custom[i].Name + ")"
		}
		v.dialect(&custom[i])
		o.Dialects = append(o.Dialects, custom[i].dialect())
	}
	return o, v.faults
}

// A Fault is one thing that is wrong with settings.
type Fault struct {
	Line, Column int    // 1-based, in characters; 0 where the settings came without a text
	Path         string // dialects.custom[0].tool[1]
	Message      string

	setting string   // the place as the collector writes it
	steps   []string // the place
}

// validator collects what is wrong.
type validator struct {
	at, name string // the dialect that is looked at
	names    map[string]bool
	faults   []Fault
}

func (v *validator) refuse(field, format string, args ...any) {
	setting, path := field, field
	if v.at != "" {
		setting, path = v.at+v.name+"::"+field, v.at+"::"+field
	}
	steps := strings.Split(path, "::")
	v.faults = append(v.faults, Fault{Path: pathOf(steps), Message: fmt.Sprintf(format, args...), setting: setting, steps: steps})
}

// pathOf writes a place: a.b[0].
func pathOf(steps []string) string {
	var b strings.Builder
	for i, step := range steps {
		switch {
		case step != "" && step[0]-'0' <= 9:
			b.WriteString("[" + step + "]")
			continue
		case i > 0:
			b.WriteByte('.')
		}
		b.WriteString(step)
	}
	return b.String()
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

	v.recognition(c)
	v.onlyWith(c)
	for _, f := range []struct {
		name string
		list []CustomSource
	}{
		{"tool_name", c.ToolName},
		{"call_id", c.CallID},
		{"arguments", c.Arguments},
		{"result", c.Result},
		{"error_type", c.ErrorType},
		{"input_messages", c.InputMessages},
		{"output_messages", c.OutputMessages},
		{"output_text", c.OutputText},
		{"output_calls", c.OutputCalls},
	} {
		v.sources(f.name, f.list)
	}
	for _, f := range []struct {
		name string
		list []string
	}{
		{"agent_name", c.AgentName},
		{"conversation", c.Conversation},
		{"exchange", c.Exchange},
		{"input_prefix", c.InputPrefix},
		{"output_prefix", c.OutputPrefix},
		{"hidden_names", c.HiddenNames},
		{"arguments_keys", c.ArgumentsKeys},
		{"result_keys", c.ResultKeys},
		{"beside_keys", c.BesideKeys},
		{"failure_keys", c.FailureKeys},
		{"python_classes", c.PythonClasses},
		{"tool_definitions", c.ToolDefinitions},
		{"content_elsewhere", c.ContentElsewhere},
	} {
		v.attributes(f.name, f.list)
	}
	v.patterns("failure_texts", c.FailureTexts, false)
	v.patterns("placeholders", c.Placeholders, false)
	v.patterns("arguments_each", c.ArgumentsEach, true)
	for i, pattern := range c.ArgumentsEach {
		if strings.HasPrefix(pattern, "*") {
			v.refuse(fmt.Sprintf("arguments_each::%d", i), "%q needs something before its \"*\"", pattern)
		}
	}
	v.events("arguments_events", c.ArgumentsEvents, false)
	v.events("result_events", c.ResultEvents, false)
	v.events("input_events", c.InputEvents, true)
	v.events("output_events", c.OutputEvents, true)
	v.transcripts(c.Transcript)
}

// recognition checks by what the dialect recognizes spans, and how a tool gets its
// name.
func (v *validator) recognition(c *CustomDialect) {
	v.marks("tool", c.Tool)
	v.marks("tool_result", c.ToolResult)
	v.marks("not_tool", c.NotTool)
	v.marks("model", c.Model)
	v.marks("agent", c.Agent)
	v.marks("error", c.Error)
	v.marks("deferred", c.Deferred)
	v.marks("denied", c.Denied)
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
}

// onlyWith refuses what no span would ever be asked for.
func (v *validator) onlyWith(c *CustomDialect) {
	type count struct {
		field string
		n     int
	}
	if len(c.Tool) == 0 {
		for _, f := range []count{
			{"tool_name", len(c.ToolName)},
			{"span_name", len(c.SpanName)},
			{"call_id", len(c.CallID)},
			{"arguments", len(c.Arguments)},
			{"result", len(c.Result)},
			{"arguments_events", len(c.ArgumentsEvents)},
			{"result_events", len(c.ResultEvents)},
			{"tool_result", len(c.ToolResult)},
			{"deferred", len(c.Deferred)},
			{"denied", len(c.Denied)},
		} {
			if f.n > 0 {
				v.refuse(f.field, "is of tool spans, and tool has no mark")
			}
		}
	}
	if len(c.Model)+len(c.Agent) == 0 {
		for _, f := range []count{
			{"input_messages", len(c.InputMessages)},
			{"output_messages", len(c.OutputMessages)},
			{"input_prefix", len(c.InputPrefix)},
			{"output_prefix", len(c.OutputPrefix)},
			{"input_events", len(c.InputEvents)},
			{"output_events", len(c.OutputEvents)},
			{"output_text", len(c.OutputText)},
			{"output_calls", len(c.OutputCalls)},
			{"exchange", len(c.Exchange)},
			{"transcript", len(c.Transcript)},
			{"tool_definitions", len(c.ToolDefinitions)},
		} {
			if f.n > 0 {
				v.refuse(f.field, "is of a model's or an agent's spans, and neither has a mark")
			}
		}
	}
}

// sources refuses sources without an attribute, repeated ones and paths that cannot
// be read.
func (v *validator) sources(field string, list []CustomSource) {
	for i, s := range list {
		place := fmt.Sprintf("%s::%d", field, i)
		switch {
		case s.Attribute == "" && s == (CustomSource{}):
			v.refuse(place, "a name is empty")
		case s.Attribute == "":
			v.refuse(place, "give it the attribute that holds the value")
		case slices.Contains(list[:i], s) && s == (CustomSource{Attribute: s.Attribute}):
			v.refuse(place, "%q stands there twice", s.Attribute)
		case slices.Contains(list[:i], s):
			v.refuse(place, "the same part of %q stands there twice", s.Attribute)
		case s.Before != "" && s.After == "":
			v.refuse(place, "before needs after: how the text begins in front of the value")
		case strings.Count(s.After, "*") > 1:
			v.refuse(place+"::after", "%q has more than one \"*\"", s.After)
		case s.After == "*":
			v.refuse(place+"::after", "\"*\" needs the text around it")
		}
		v.path(place, s.Path)
	}
}

func (v *validator) path(place, path string) {
	if path == "" {
		return
	}
	if _, err := parsePath(path); err != nil {
		v.refuse(place+"::path", "%q is no path: %s", path, err)
	}
}

// patterns refuses empty patterns and those with more than one star.
func (v *validator) patterns(field string, list []string, star bool) {
	v.attributes(field, list)
	for i, pattern := range list {
		switch n := strings.Count(pattern, "*"); {
		case n > 1:
			v.refuse(fmt.Sprintf("%s::%d", field, i), "%q has more than one \"*\"", pattern)
		case star && n == 0 && pattern != "":
			v.refuse(fmt.Sprintf("%s::%d", field, i), "%q must have one \"*\", which stands for the argument's name", pattern)
		}
	}
}

func (v *validator) transcripts(list []CustomTranscript) {
	for i, t := range list {
		place := fmt.Sprintf("transcript::%d", i)
		switch {
		case t.Attribute == "":
			v.refuse(place, "give it the attribute that holds the messages")
		case t.Separator == "":
			v.refuse(place, "give it the separator between the messages")
		case len(t.Sections) == 0:
			v.refuse(place, "give it sections: how a message begins, and its role")
		}
		for j, s := range t.Sections {
			at := fmt.Sprintf("%s::sections::%d", place, j)
			if _, known := roles[s.Role]; !known || s.Role == "" {
				v.refuse(at, "role must be system, user, assistant or tool, not %q", s.Role)
			}
			switch n := strings.Count(s.Begins, "*"); {
			case s.Begins == "" || s.Begins == "*":
				v.refuse(at, "give it the text with which the message begins")
			case n > 1:
				v.refuse(at, "%q has more than one \"*\"", s.Begins)
			case s.Role == "tool" && n == 0:
				v.refuse(at, "%q must have one \"*\", which stands for the call's id", s.Begins)
			case strings.HasSuffix(s.Begins, "*"):
				v.refuse(at, "%q needs something behind its \"*\"", s.Begins)
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
		case m.Attribute == "" && m.Value == "" && m.SpanName == "" && m.Scope == "":
			v.refuse(place, "an empty mark fits every span: give it an attribute, a span_name or a scope")
		case m.Value != "" && m.Attribute == "":
			v.refuse(place, "a value needs an attribute")
		case m.Path != "" && m.Attribute == "":
			v.refuse(place, "a path needs an attribute")
		}
		v.path(place, m.Path)
		for j, c := range m.And {
			at := fmt.Sprintf("%s::and::%d", place, j)
			if c.Attribute == "" {
				v.refuse(at, "give it an attribute")
			}
			if strings.Count(c.Value, "*") > 1 {
				v.refuse(at, "%q has more than one \"*\"", c.Value)
			}
			v.path(at, c.Path)
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
		Tool: rowMarks(c.Tool), ToolResult: rowMarks(c.ToolResult), Model: rowMarks(c.Model), Agent: rowMarks(c.Agent), NoCall: rowMarks(c.NotTool),
		Carrier:  c.Transport,
		ToolName: rowSources(c.ToolName), SpanName: c.SpanName, HiddenNames: c.HiddenNames,
		CallID: rowSources(c.CallID), Arguments: rowSources(c.Arguments), Result: rowSources(c.Result),
		EventArguments: rowEvents(c.ArgumentsEvents), EventResult: rowEvents(c.ResultEvents),
		ArgumentsEach: c.ArgumentsEach, ArgumentsKeys: c.ArgumentsKeys, ResultKeys: c.ResultKeys, BesideKeys: c.BesideKeys,
		FailureKeys: c.FailureKeys, FailureText: c.FailureTexts, Python: c.Python, Printed: c.PythonClasses,
		Placeholders: c.Placeholders, EmptyObject: c.EmptyObjectIsNothing,
		FailureType: rowSources(c.ErrorType), FailureMark: rowMarks(c.Error), Deferred: rowMarks(c.Deferred), Denied: rowMarks(c.Denied),
		AgentName: c.AgentName, Conversation: c.Conversation,
		Input: rowSources(c.InputMessages), Output: rowSources(c.OutputMessages), InputPrefix: c.InputPrefix, OutputPrefix: c.OutputPrefix,
		InputEvents: rowEvents(c.InputEvents), OutputEvents: rowEvents(c.OutputEvents),
		Exchange: c.Exchange, Transcript: rowTranscripts(c.Transcript),
		OutputText: rowSources(c.OutputText), OutputCalls: rowSources(c.OutputCalls),
		Definitions: c.ToolDefinitions, Elsewhere: c.ContentElsewhere, ContentSwitch: c.ContentSwitch,
	}
}

func rowSources(list []CustomSource) []Source {
	out := make([]Source, len(list))
	for i, s := range list {
		out[i] = Source(s)
	}
	return out
}

func rowMarks(marks []CustomMark) []Mark {
	out := make([]Mark, len(marks))
	for i, m := range marks {
		out[i] = Mark{Key: m.Attribute, Path: m.Path, Value: m.Value, SpanName: m.SpanName, Scope: m.Scope}
		at := &out[i]
		for _, c := range m.And {
			at.And = &Mark{Key: c.Attribute, Path: c.Path, Value: c.Value}
			at = at.And
		}
	}
	return out
}

func rowTranscripts(list []CustomTranscript) []Transcript {
	out := make([]Transcript, len(list))
	for i, t := range list {
		out[i] = Transcript{Attribute: t.Attribute, Separator: t.Separator}
		for _, s := range t.Sections {
			out[i].Sections = append(out[i].Sections, Section{Begins: s.Begins, Role: roles[s.Role]})
		}
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
