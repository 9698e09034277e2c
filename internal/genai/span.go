// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"

	"github.com/cespare/xxhash/v2"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Kind is what a span is to an agent's trace.
type Kind uint8

const (
	// Other spans carry no agent facts of their own; they are steps between
	// those that do, and still hand down agent and conversation.
	Other Kind = iota
	// Tool spans are the execution of one tool call.
	Tool
	// Model spans are one request to a model.
	Model
	// Agent spans enclose one run of an agent.
	Agent
)

// String returns the kind's name in lower case.
func (k Kind) String() string {
	switch k {
	case Tool:
		return "tool"
	case Model:
		return "model"
	case Agent:
		return "agent"
	default:
		return "other"
	}
}

// Span holds the facts of one span. Strings and values are shared with the
// pdata they were read from, which must not change while the Span is in use, and
// with other Spans of the trace.
type Span struct {
	TraceID      TraceID
	SpanID       SpanID
	ParentID     SpanID
	RemoteParent bool // the span's flags say that its parent belongs to another process
	Name         string
	Scope        string // the instrumentation scope's name
	Start, End   Timestamp
	Unended      bool // End was not recorded and is Start
	SpanKind     SpanKind
	Kind         Kind

	Service      string // resource attribute service.name
	Agent        string // the span's own; inherited ones are the session's business
	Conversation string // the span's own, see [Decoder]

	Call    ToolCall // Kind == Tool
	Input   Messages // what the model (or agent) was given
	Output  Messages // what it answered
	Failure Failure

	// ContentSwitch says how the span's instrumentation is told to record
	// content, see [Dialect].
	ContentSwitch string

	// ResourceDropped is set when the SDK reported that it dropped attributes of the
	// span's resource, ConversationDropped when one that belongs to the conversation's
	// identity may be among them.
	ResourceDropped, ConversationDropped bool

	// Dropped is set when the SDK reported that it dropped attributes or events,
	// so that what is absent here may have been there.
	Dropped bool

	// The span's own attributes, read only where a template or a rule names one.
	attributes pcommon.Map
	resource   pcommon.Map
	// detached is how many attributes there were, once most of them are gone;
	// see [Span.Detach].
	detached int
	rows     DialectSet // the dialects that were read, by their place in the table
	// nameHash stands for the name of a span that is [Bare].
	nameHash uint64
}

// SpanKind is the kind of a span in the terms of OpenTelemetry's trace API, with
// the numbers of OTLP.
type SpanKind int8

// The kinds that mean something here.
const (
	ServerSpan SpanKind = 2
	ClientSpan SpanKind = 3
)

// NameHash returns a hash of the span's name. It is known even where the name is
// not, see [Bare].
func (s *Span) NameHash() uint64 {
	if s.nameHash != 0 {
		return s.nameHash
	}
	return HashName(s.Name)
}

// HashName returns the hash of a span's name. It is never 0.
func HashName(name string) uint64 { return max(xxhash.Sum64String(name), 1) }

// ToolCall is what a tool span says of the call.
type ToolCall struct {
	ID        string // "" if the span has none that can be trusted, see [UsableID]
	Tool      string // "" if the dialect hides it everywhere
	Arguments Content
	Result    Content
	// HTTPStatus is the span's own http.response.status_code, 0 if it has none.
	HTTPStatus int64
	// Carrier is set for the span of a transport, see [Dialect].
	Carrier bool
	// ResultOnly is set for a span that holds the result of a call whose own span is
	// another one.
	ResultOnly bool
}

// Failure is what a span records about having failed.
type Failure struct {
	Kind FailureKind
	// Type is error.type or the dialect's name for it. Not content.
	Type string
	// Status is the span's status message. It may hold content: it is compared,
	// never shown.
	Status string
	// Exception is set if the span has an exception event of its own.
	Exception bool
	// Evident is set if something else than the status code says so.
	Evident bool
}

// FailureKind tells the kinds of failure apart that decide differently.
type FailureKind uint8

const (
	// NoFailure proves nothing: a status of OK or UNSET is no evidence of success.
	NoFailure FailureKind = iota
	// Failed is a tool that threw or could not be reached.
	Failed
	// ToolError is a tool that answered, and answered that it failed.
	ToolError
	// Cancelled is a call that was given up before it returned.
	Cancelled
	// Interrupted is a call that waits for somebody: no failure and no result.
	Interrupted
	// Denied is a call that somebody refused: it never ran.
	Denied
)

// Role is who a message is from.
type Role uint8

// Roles of messages. A tool's answer may come under the role user; its parts
// tell, not the role.
const (
	UnknownRole Role = iota
	System
	User
	Assistant
	ToolRole
)

// Messages is a list of messages, in order.
type Messages struct {
	List []Message
	// Recorded is set if the span has the list at all, even if it is empty.
	Recorded bool
	// Broken is set if the list could not be read to its end: cut off, or in no
	// form that is known.
	Broken bool
}

// Message is one message of a model's input or output.
type Message struct {
	Role  Role
	Parts []Part
	// Uncaptured is set when the message is there and its content was not
	// recorded, or was replaced by a placeholder.
	Uncaptured bool
}

// PartKind is the kind of a message part.
type PartKind uint8

const (
	// TextPart is text that was said.
	TextPart PartKind = iota
	// CallPart asks for a tool call.
	CallPart
	// ResponsePart is the answer to a tool call.
	ResponsePart
	// OtherPart is anything else: reasoning, an image, a file.
	OtherPart
)

// Part is one part of a message.
type Part struct {
	Kind       PartKind
	Text       string  // TextPart
	CallID     string  // CallPart, ResponsePart; "" if none that can be trusted
	Tool       string  // CallPart; ResponsePart if the instrumentation gives it
	Content    Content // CallPart: arguments; ResponsePart: result
	ServerSide bool    // run by the model's provider: there is no tool span
	Failed     bool    // ResponsePart: marked as a failure
}

// Text returns what the message says: its text parts, a line each.
func (m *Message) Text() string {
	var lines []string
	for i := range m.Parts {
		if m.Parts[i].Kind == TextPart {
			lines = append(lines, m.Parts[i].Text)
		}
	}
	return strings.Join(lines, "\n")
}

// Says reports whether the message has a text part, even a blank one.
func (m *Message) Says() bool { return m.has(TextPart) }

// Calls reports whether the message asks for a tool call.
func (m *Message) Calls() bool { return m.has(CallPart) }

// Answers reports whether the message holds the answer to a tool call.
func (m *Message) Answers() bool { return m.has(ResponsePart) }

func (m *Message) has(kind PartKind) bool {
	for i := range m.Parts {
		if m.Parts[i].Kind == kind {
			return true
		}
	}
	return false
}
