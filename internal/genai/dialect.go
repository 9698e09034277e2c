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

	// ToolName holds the tool's name. SpanName are patterns with one "*" at
	// which the span's name holds it, tried if no attribute does. HiddenNames
	// are placeholders that some instrumentations put in place of the name.
	ToolName, SpanName, HiddenNames []string

	CallID    []string
	Arguments []string
	Result    []string
	// EventArguments and EventResult stand on span events instead.
	EventArguments, EventResult []EventAttribute

	// ResultKeys are single-key wrappers around a result ({"output": …}),
	// ArgumentsKeys around arguments.
	ResultKeys, ArgumentsKeys []string
	// FailureKeys are single-key wrappers around what a failed call says
	// ({"error": …}).
	FailureKeys []string
	// EmptyObject is set if {} stands for content that was not recorded.
	EmptyObject bool

	// FailureType are attributes that name a failure, FailureMark any further
	// evidence of one.
	FailureType []string
	FailureMark []Mark

	AgentName []string

	// Input and Output are attributes with message lists; InputPrefix and
	// OutputPrefix the same, flattened into one attribute per field
	// (prefix.N.field); InputEvents and OutputEvents span events.
	Input, Output             []string
	InputPrefix, OutputPrefix []string
	InputEvents, OutputEvents []EventAttribute
	// OutputText and OutputCalls are attributes that hold an answer's text and
	// the calls it asks for apart from each other.
	OutputText, OutputCalls []string

	// ContentSwitch says how a user turns on the recording of content.
	ContentSwitch string
}

// A Mark fits a span if everything it names holds. Value is a pattern in which
// one "*" stands for anything; an empty Value only asks for the key.
type Mark struct {
	Key, Value string
	SpanName   string // pattern over the span's name
	Scope      string // the instrumentation scope's name
	And        *Mark  // must fit too
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
