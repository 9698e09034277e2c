// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "strings"

// A Dialect is one row of the table: the names under which one family of
// instrumentations records tool calls and messages. Every list is in order of
// preference; the first name that is present wins. All fields are optional.
type Dialect struct {
	// Name is shown in explanations and in warnings about missing content.
	Name string

	// Tool, Model and Agent recognise the spans of each kind: one mark is
	// enough. NoCall excludes spans that look like tool spans and are none.
	Tool, Model, Agent, NoCall []Mark

	// Carrier is set if the dialect's tool spans are those of a transport: they
	// may stand inside another tool span that has a longer name for the same
	// tool (crm_search around search).
	Carrier bool

	// ToolName holds the tool's name. SpanName are patterns with one "*" at
	// which the span's name holds it, tried if no attribute does. HiddenNames
	// are placeholders that some instrumentations put in place of the name.
	ToolName              []Source
	SpanName, HiddenNames []string

	CallID    []Source
	Arguments []Source
	Result    []Source
	// EventArguments and EventResult stand on span events instead.
	EventArguments, EventResult []EventAttribute

	// ToolResult recognizes spans that hold the result of a call whose own span is
	// another one, with the same call id or the nearest one before it under the
	// same parent.
	ToolResult []Mark

	// ArgumentsEach are patterns with one "*" of names that hold one argument each,
	// as members of the recorded arguments or as attributes. "*" is the argument.
	ArgumentsEach []string
	// ArgumentsKeys are wrappers around arguments ({"args": [], "kwargs": {…}}):
	// the first that holds anything is taken off.
	ArgumentsKeys []string
	// ResultKeys are wrappers around a result ({"output": …}). They stand alone,
	// or beside one of BesideKeys.
	ResultKeys, BesideKeys []string
	// FailureKeys are single-key wrappers around what a failed call says
	// ({"error": …}).
	FailureKeys []string
	// FailureText are patterns of texts that are returned in place of a result when
	// the call failed ("Error executing tool *").
	FailureText []string
	// Python is set if results are written as Python prints them. Printed are the
	// classes whose constructor calls are read as objects ("ToolResponse").
	Python  bool
	Printed []string
	// EmptyObject is set if {} stands for content that was not recorded.
	EmptyObject bool
	// Placeholders are patterns of texts that stand for content in a message
	// ("[tool-result: search]").
	Placeholders []string

	// FailureType are attributes that name a failure, FailureMark any further
	// evidence of one.
	FailureType []Source
	FailureMark []Mark
	// Deferred recognizes calls that wait for an approval, Denied those that were
	// refused and never ran.
	Deferred, Denied []Mark

	AgentName []string
	// Conversation are attributes that name the conversation, tried before those
	// that all dialects share.
	Conversation []string

	// InputPrefix and OutputPrefix are message lists that were flattened into one
	// attribute per field (prefix.N.field); Input and Output are attributes with
	// a whole list; InputEvents and OutputEvents span events. They are tried in
	// this order.
	InputPrefix, OutputPrefix []string
	Input, Output             []Source
	InputEvents, OutputEvents []EventAttribute
	// Exchange are attributes with one list for both: the answer is what it
	// calls a choice.
	Exchange []string
	// OutputText and OutputCalls are attributes that hold an answer's text and
	// the calls it asks for apart from each other.
	OutputText, OutputCalls []Source
	// Transcript are attributes with messages as one text.
	Transcript []Transcript
	// Definitions are attributes with the tools that a model was offered.
	Definitions []string
	// Elsewhere are attributes that refer to content in another storage.
	Elsewhere []string

	// ContentSwitch says how a user turns on the recording of content.
	ContentSwitch string
}

// A Source is where one fact is: an attribute, or a part of what the attribute
// holds.
type Source struct {
	Attribute string
	// Path leads into the JSON that the attribute holds, as text or structured:
	// names and positions, a.b[0]. "$" is the root, which reads a string that is
	// written as JSON, in quotation marks.
	Path string
	// After and Before enclose the fact in a text. After may have one "*" for
	// anything ("[TOOL INPUT: *]\n"). A text without After does not hold the fact;
	// one without Before holds it to the end.
	After, Before string
}

// A Transcript is an attribute that holds messages as one text: sections, with a
// separator between them.
type Transcript struct {
	Attribute string
	Separator string
	Sections  []Section
}

// A Section is a message of a transcript. Begins is how its text begins; its "*" is
// the call's id in a tool's answer.
type Section struct {
	Begins string
	Role   Role
}

// attributes returns the sources that are whole attributes.
func attributes(names ...string) []Source {
	out := make([]Source, len(names))
	for i, name := range names {
		out[i] = Source{Attribute: name}
	}
	return out
}

// A Mark fits a span if everything it names holds. Value is a pattern in which
// one "*" stands for anything, compared in any case; an empty Value only asks for
// the key. Path leads into the JSON that the attribute holds.
type Mark struct {
	Key, Path, Value string
	SpanName         string // pattern over the span's name
	Scope            string // the instrumentation scope's name
	And              *Mark  // must fit too
}

// An EventAttribute is an attribute of span events with the given name. If Key
// is empty, the event itself (its attributes as an object) is meant. Role is
// given to messages whose event does not say whose they are.
type EventAttribute struct {
	Event, Key string
	Role       Role
}

// fits reports whether s matches a pattern with at most one "*", and what the
// star stood for.
func fits(pattern, s string) (star string, ok bool) {
	i := strings.IndexByte(pattern, '*')
	if i < 0 {
		return "", pattern == s
	}
	pre, post := pattern[:i], pattern[i+1:]
	if len(s) < len(pre)+len(post) || !strings.HasPrefix(s, pre) || !strings.HasSuffix(s, post) {
		return "", false
	}
	return s[len(pre) : len(s)-len(post)], true
}

// fitsFold is fits in any case.
func fitsFold(pattern, s string) bool {
	if _, ok := fits(pattern, s); ok {
		return true
	}
	i := strings.IndexByte(pattern, '*')
	if i < 0 {
		return strings.EqualFold(pattern, s)
	}
	pre, post := pattern[:i], pattern[i+1:]
	return len(s) >= len(pre)+len(post) && strings.EqualFold(pre, s[:len(pre)]) && strings.EqualFold(post, s[len(s)-len(post):])
}
