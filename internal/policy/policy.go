// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"regexp"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// Policy is a loaded, validated and compiled policy file. It is immutable and
// safe for any number of goroutines.
type Policy struct {
	// Hash identifies the content of the policy: "sha256:" and the hash, in hex, of
	// its data as JSON with sorted keys and without white space. Comments, layout,
	// the order of keys, anchors, null values and schema_version do not count, nor
	// whether the policy came as text or as a map.
	Hash string

	Contracts []*Contract // in file order: the first that seals is the verdict
	Protocols []*Protocol // in file order

	// Acknowledgements are the acknowledged warnings, in file order.
	Acknowledgements []Acknowledgement

	warnings []warning // all that Load found, by place; see Review
}

// Match says what a contract or a protocol applies to. An empty list matches
// everything; a list holds if one of its globs does; all lists must hold.
type Match struct {
	Tools    Globs // over the tool name; always empty for a protocol
	Agents   Globs // over the agent name, "" where the span has none
	Services Globs // over service.name, "" where the resource has none
}

// Matches reports whether all lists hold. It allocates nothing.
func (m *Match) Matches(tool, agent, service string) bool {
	return m.Tools.Match(tool) && m.Agents.Match(agent) && m.Services.Match(service)
}

// Contract is what the result of a tool call must contain, and how the
// observation is read from the call.
type Contract struct {
	Metadata
	Name  string // unique among the contracts of the policy
	Index int    // its place in Policy.Contracts
	Match Match

	// Base is the sealing contract. Its SourceRef and TargetRef are the
	// templates' texts, not yet rendered: whoever evaluates sets both on a copy.
	Base engine.Contract

	SourceRef *Template // the contract's own, never nil
	TargetRef *Template // the contract's own, never nil

	Observation Observation

	// NeedsArguments reports whether the contract's own refs name arguments, so
	// that a call whose arguments were not recorded cannot be bound.
	NeedsArguments bool
}

// Observation says how a call's result becomes the observation that the
// contract is held against.
type Observation struct {
	Kind    Kind
	Payload *Path // nil: the whole result

	SourceRef *Template // nil: the contract's own is used, so the source is not checked
	TargetRef *Template // nil: the contract's own is used, so the target is not checked

	SourceVersion *Template   // nil: absent
	ObservedAt    *Template   // nil: the span's end time
	EvidenceRefs  []*Template // each that finds nothing is left out

	// ClockSkew is how far an observed_at may lie ahead of the clock and still
	// count as now. Not negative.
	ClockSkew time.Duration
}

// Kind says how the result of a call is read.
type Kind uint8

const (
	KindAuto     Kind = iota // by what the result looks like
	KindJSON                 // JSON, or it did not parse
	KindText                 // the text itself
	KindHTTPJSON             // with the span's status code
	KindMCP                  // an MCP tool result
	KindStdio                // exit code, standard output and error
	KindYAML                 // YAML in a string
)

// kindNames lists the kinds by value, as the policy file spells them.
var kindNames = []string{"auto", "json", "text", "http_json", "mcp", "stdio", "yaml"}

// String returns the kind as the policy file spells it.
func (k Kind) String() string { return name(kindNames, k) }

// Input returns the engine's kind; false for KindAuto.
func (k Kind) Input() (engine.InputKind, bool) {
	switch k {
	case KindJSON:
		return engine.KindJSON, true
	case KindText:
		return engine.KindText, true
	case KindHTTPJSON:
		return engine.KindHTTPJSON, true
	case KindMCP:
		return engine.KindMCP, true
	case KindStdio:
		return engine.KindStdio, true
	case KindYAML:
		return engine.KindYAML, true
	default:
		return 0, false
	}
}

// Protocol is the order in which an agent may act, and the projection that
// turns facts into its events.
type Protocol struct {
	Metadata
	Name  string // unique among the protocols of the policy
	Index int    // its place in Policy.Protocols
	Match Match  // which sessions it follows; Tools is empty

	// Hash identifies everything that decides which events the protocol sees and
	// how it steps: its settings, its automaton, its event rules and, if a rule
	// reads a verdict, the contracts. The state of a conversation belongs to it.
	Hash string

	Session   SessionKind
	Source    string // the protocol text; "" where the file gives states
	Automaton *session.Automaton

	ParallelCalls Parallel
	Unmatched     UnmatchedMode
	AfterEnd      AfterEndMode

	// RequireCompletion makes a session that ends before a terminal state
	// incomplete.
	RequireCompletion bool

	// AssumeComplete says that the telemetry is known to be whole, so that a
	// missing parent or root caps no verdict.
	AssumeComplete bool

	// Events is the projection: the first rule that matches names the event.
	// Empty is the default projection, see DefaultLabel.
	Events []*EventRule
}

// SessionKind says what one set of monitors follows.
type SessionKind uint8

const (
	SessionTrace        SessionKind = iota // a trace
	SessionConversation                    // a conversation, over its traces
)

var sessionNames = []string{"trace", "conversation"}

// String returns the kind as the policy file spells it.
func (k SessionKind) String() string { return name(sessionNames, k) }

// Parallel says how calls that overlap in time become events.
type Parallel uint8

const (
	// Interleave keeps the calls and results as they happened: !a !b ?a ?b.
	Interleave Parallel = iota
	// Serialize makes each call and its result one pair, ordered by start:
	// !a ?a !b ?b.
	Serialize
)

var parallelNames = []string{"interleave", "serialize"}

// String returns the mode as the policy file spells it.
func (p Parallel) String() string { return name(parallelNames, p) }

// UnmatchedMode says what an event is that no rule names.
type UnmatchedMode uint8

const (
	UnmatchedIgnore       UnmatchedMode = iota // no event
	UnmatchedUnrecognized                      // the sentinel
	UnmatchedViolation                         // a violation
)

var unmatchedNames = []string{"ignore", "unrecognized", "violation"}

// String returns the mode as the policy file spells it.
func (m UnmatchedMode) String() string { return name(unmatchedNames, m) }

// AfterEndMode says what an event after a finished protocol is.
type AfterEndMode uint8

const (
	AfterEndIgnore    AfterEndMode = iota // no event
	AfterEndViolation                     // a violation
)

var afterEndNames = []string{"ignore", "violation"}

// String returns the mode as the policy file spells it.
func (m AfterEndMode) String() string { return name(afterEndNames, m) }

// EventRule names an event. Every narrowing condition that is given must hold;
// the zero value of each holds for everything.
type EventRule struct {
	// Label is the event's label. A template that finds nothing names no event,
	// so the rule does not match; what it renders is to go through
	// [DefaultLabel], since a name may hold what a label cannot.
	Label *Template

	// Symbol is the literal label's symbol in the protocol's automaton, and
	// session.NoSymbol where the protocol has no such event or the label is a
	// template.
	Symbol session.Symbol

	Event     EventKind
	Direction session.Direction

	Tools    Globs
	Agents   Globs
	Services Globs

	Text *regexp.Regexp // over a message's text; named groups become the payload
	Turn Turn           // of a user message

	Decision   engine.Decision   // of the result's observation; "": any, or none
	TruthState engine.TruthState // of the result's observation; "": any, or none
	Contract   string            // name of the contract that gave the verdict; "": any, or none

	Arguments []FieldGlob // all must hold; ordered by path
	Result    []FieldGlob // all must hold; ordered by path

	ToolCalls ToolCallsMode // of an agent message

	SpanName   Globs           // at most one
	Attributes []AttributeGlob // all must hold; ordered by name
	AtEnd      bool            // a span event at the span's end instead of its start
}

// ReadsVerdict reports whether the rule reads the verdict on a tool result.
func (r *EventRule) ReadsVerdict() bool {
	return r.Decision != "" || r.TruthState != "" || r.Contract != ""
}

// EventKind is the kind of fact that an event comes from.
type EventKind uint8

const (
	ToolCall     EventKind = iota // !, at the call's start, payload: the arguments
	ToolResult                    // ?, at the call's end, payload: the result
	UserMessage                   // ?
	AgentMessage                  // !
	SpanEvent                     // !, at the span's start unless AtEnd
)

var eventNames = []string{"tool_call", "tool_result", "user_message", "agent_message", "span"}

// String returns the kind as the policy file spells it.
func (k EventKind) String() string { return name(eventNames, k) }

// Direction is the direction of an event of this kind unless its rule says
// otherwise.
func (k EventKind) Direction() session.Direction {
	if k == ToolResult || k == UserMessage {
		return session.Receive
	}
	return session.Send
}

// Turn narrows a user message by its place in the session.
type Turn uint8

const (
	TurnAny   Turn = iota
	TurnFirst      // the request that opens the session
	TurnLater      // any other
)

var turnNames = []string{"any", "first", "later"}

// String returns the turn as the policy file spells it.
func (t Turn) String() string { return name(turnNames, t) }

// ToolCallsMode narrows an agent message by whether it calls tools.
type ToolCallsMode uint8

const (
	ToolCallsNone ToolCallsMode = iota // only messages that call no tool
	ToolCallsSome                      // only messages that call one or more
	ToolCallsAny                       // both
)

var toolCallsNames = []string{"none", "some", "any"}

// String returns the mode as the policy file spells it.
func (m ToolCallsMode) String() string { return name(toolCallsNames, m) }

// FieldGlob holds if a node that Path selects is a scalar that Glob matches.
type FieldGlob struct {
	Path *Path
	Glob Glob
}

// AttributeGlob holds if the span's attribute is a scalar that Glob matches.
type AttributeGlob struct {
	Name string
	Glob Glob
}

// name spells an enumerated value, and says so where it is none.
func name[T ~uint8](names []string, v T) string {
	if int(v) < len(names) {
		return names[v]
	}
	return "invalid"
}
