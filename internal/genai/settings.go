// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

// Settings is how a user adds to what is read from spans. The processor has its
// fields among its own settings; the command line reads them from a file.
type Settings struct {
	Dialects DialectSettings `mapstructure:"dialects" yaml:"dialects"`
	// ConversationAttributes replaces [Conversations]; empty leaves it.
	ConversationAttributes []string `mapstructure:"conversation_attributes" yaml:"conversation_attributes"`
	// ConversationResourceAttributes belong to a conversation's identity, beside
	// its id.
	ConversationResourceAttributes []string `mapstructure:"conversation_resource_attributes" yaml:"conversation_resource_attributes"`
}

// DialectSettings are the dialects that a user adds to the table.
type DialectSettings struct {
	// Custom are tried before the built-in dialects, in order.
	Custom []CustomDialect `mapstructure:"custom" yaml:"custom"`
}

// CustomDialect is a row of the table as a user writes it: how spans are
// recognised, and which attributes hold what. Every list is in order of
// preference; the first attribute that a span has counts.
type CustomDialect struct {
	// Name is shown in explanations and warnings. Required, and of its own.
	Name string `mapstructure:"name" yaml:"name"`

	// Tool recognises the spans of tool calls, Model those of a model's, Agent
	// those around an agent's run: one mark of a list is enough. NotTool
	// excludes spans that look like tool calls and are none. At least one of
	// Tool, Model and Agent is required.
	Tool    []CustomMark `mapstructure:"tool" yaml:"tool"`
	NotTool []CustomMark `mapstructure:"not_tool" yaml:"not_tool"`
	Model   []CustomMark `mapstructure:"model" yaml:"model"`
	Agent   []CustomMark `mapstructure:"agent" yaml:"agent"`

	// ToolName are attributes with the tool's name, SpanName patterns over the
	// span's name whose "*" stands for it. HiddenNames are no names.
	ToolName    []CustomSource `mapstructure:"tool_name" yaml:"tool_name"`
	SpanName    []string       `mapstructure:"span_name" yaml:"span_name"`
	HiddenNames []string       `mapstructure:"hidden_names" yaml:"hidden_names"`

	// ToolResult recognizes spans that hold the result of a call whose own span is
	// another one: with the same call id, or the nearest one before it under the
	// same parent.
	ToolResult []CustomMark `mapstructure:"tool_result" yaml:"tool_result"`
	// Transport says that the tool spans are those of a transport. They may stand
	// inside another tool span that has a longer name for the same tool.
	Transport bool `mapstructure:"transport" yaml:"transport"`

	// CallID, Arguments and Result are attributes; ArgumentsEvents and
	// ResultEvents stand on span events instead.
	CallID          []CustomSource `mapstructure:"call_id" yaml:"call_id"`
	Arguments       []CustomSource `mapstructure:"arguments" yaml:"arguments"`
	Result          []CustomSource `mapstructure:"result" yaml:"result"`
	ArgumentsEvents []CustomEvent  `mapstructure:"arguments_events" yaml:"arguments_events"`
	ResultEvents    []CustomEvent  `mapstructure:"result_events" yaml:"result_events"`

	// ArgumentsKeys and ResultKeys are wrappers that are taken off
	// ({"output": …}); FailureKeys are those of a call that failed.
	ArgumentsKeys []string `mapstructure:"arguments_keys" yaml:"arguments_keys"`
	ResultKeys    []string `mapstructure:"result_keys" yaml:"result_keys"`
	FailureKeys   []string `mapstructure:"failure_keys" yaml:"failure_keys"`
	// ArgumentsEach are patterns of names that hold one argument each, as members of
	// the arguments or as attributes; "*" is the argument.
	ArgumentsEach []string `mapstructure:"arguments_each" yaml:"arguments_each"`
	// BesideKeys may stand beside one of ResultKeys.
	BesideKeys []string `mapstructure:"beside_keys" yaml:"beside_keys"`
	// FailureTexts are patterns of texts that are returned in place of a result
	// when the call failed.
	FailureTexts []string `mapstructure:"failure_texts" yaml:"failure_texts"`
	// Python says that results are written as Python prints them; PythonClasses are
	// those whose constructor calls are read as objects.
	Python        bool     `mapstructure:"python" yaml:"python"`
	PythonClasses []string `mapstructure:"python_classes" yaml:"python_classes"`
	// Placeholders are patterns of texts that stand for content in messages.
	Placeholders []string `mapstructure:"placeholders" yaml:"placeholders"`
	// EmptyObjectIsNothing says that {} stands for content that was not recorded.
	EmptyObjectIsNothing bool `mapstructure:"empty_object_is_nothing" yaml:"empty_object_is_nothing"`

	// ErrorType are attributes that name a failure, Error any further evidence
	// of one.
	ErrorType []CustomSource `mapstructure:"error_type" yaml:"error_type"`
	Error     []CustomMark   `mapstructure:"error" yaml:"error"`
	// Deferred recognizes calls that wait for an approval, Denied those that were
	// refused and never ran.
	Deferred []CustomMark `mapstructure:"deferred" yaml:"deferred"`
	Denied   []CustomMark `mapstructure:"denied" yaml:"denied"`

	AgentName    []string `mapstructure:"agent_name" yaml:"agent_name"`
	Conversation []string `mapstructure:"conversation" yaml:"conversation"`

	// InputMessages and OutputMessages are attributes with a list of messages;
	// InputPrefix and OutputPrefix attributes of one field each
	// (prefix.0.role); InputEvents and OutputEvents span events. OutputText and
	// OutputCalls hold an answer's text and the calls it asks for.
	InputMessages  []CustomSource `mapstructure:"input_messages" yaml:"input_messages"`
	OutputMessages []CustomSource `mapstructure:"output_messages" yaml:"output_messages"`
	InputPrefix    []string       `mapstructure:"input_prefix" yaml:"input_prefix"`
	OutputPrefix   []string       `mapstructure:"output_prefix" yaml:"output_prefix"`
	InputEvents    []CustomEvent  `mapstructure:"input_events" yaml:"input_events"`
	OutputEvents   []CustomEvent  `mapstructure:"output_events" yaml:"output_events"`
	OutputText     []CustomSource `mapstructure:"output_text" yaml:"output_text"`
	OutputCalls    []CustomSource `mapstructure:"output_calls" yaml:"output_calls"`

	// Exchange are attributes with one list for request and answer, Transcript
	// attributes with messages as one text.
	Exchange   []string           `mapstructure:"exchange" yaml:"exchange"`
	Transcript []CustomTranscript `mapstructure:"transcript" yaml:"transcript"`
	// ToolDefinitions are attributes with the tools that a model was offered.
	ToolDefinitions []string `mapstructure:"tool_definitions" yaml:"tool_definitions"`

	// ContentElsewhere are attributes that refer to content in another storage.
	ContentElsewhere []string `mapstructure:"content_elsewhere" yaml:"content_elsewhere"`
	// ContentSwitch says how the recording of content is turned on. It is part
	// of the warning about a tool whose content is missing.
	ContentSwitch string `mapstructure:"content_switch" yaml:"content_switch"`
}

// CustomSource is where one fact is: an attribute, or with Path, After and Before
// a part of what it holds. An attribute may be written without a mapping.
type CustomSource struct {
	Attribute string `mapstructure:"attribute" yaml:"attribute"`
	Path      string `mapstructure:"path" yaml:"path"`
	After     string `mapstructure:"after" yaml:"after"`
	Before    string `mapstructure:"before" yaml:"before"`
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *CustomSource) UnmarshalText(text []byte) error {
	*s = CustomSource{Attribute: string(text)}
	return nil
}

// CustomMark fits a span if all that it names holds. Value and SpanName may have
// one "*".
type CustomMark struct {
	Attribute string `mapstructure:"attribute" yaml:"attribute"`
	Path      string `mapstructure:"path" yaml:"path"`
	Value     string `mapstructure:"value" yaml:"value"` // "" asks for the attribute only
	SpanName  string `mapstructure:"span_name" yaml:"span_name"`
	Scope     string `mapstructure:"scope" yaml:"scope"`
	// And is a second attribute that the span must have, too.
	And []CustomCondition `mapstructure:"and" yaml:"and"`
}

// CustomCondition is an attribute that a mark asks for besides its own.
type CustomCondition struct {
	Attribute string `mapstructure:"attribute" yaml:"attribute"`
	Path      string `mapstructure:"path" yaml:"path"`
	Value     string `mapstructure:"value" yaml:"value"`
}

// CustomTranscript is an attribute with messages as one text: sections with a
// separator between them.
type CustomTranscript struct {
	Attribute string          `mapstructure:"attribute" yaml:"attribute"`
	Separator string          `mapstructure:"separator" yaml:"separator"`
	Sections  []CustomSection `mapstructure:"sections" yaml:"sections"`
}

// CustomSection is a message of a transcript: how its text begins, and its role.
// "*" is the call's id in a tool's answer.
type CustomSection struct {
	Begins string `mapstructure:"begins" yaml:"begins"`
	Role   string `mapstructure:"role" yaml:"role"`
}

// CustomEvent is an attribute of span events of a name. Without an attribute the
// event is a message of the role by itself.
type CustomEvent struct {
	Event     string `mapstructure:"event" yaml:"event"`
	Attribute string `mapstructure:"attribute" yaml:"attribute"`
	Role      string `mapstructure:"role" yaml:"role"`
}
