// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

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
	ToolName    []string `mapstructure:"tool_name" yaml:"tool_name"`
	SpanName    []string `mapstructure:"span_name" yaml:"span_name"`
	HiddenNames []string `mapstructure:"hidden_names" yaml:"hidden_names"`

	// CallID, Arguments and Result are attributes; ArgumentsEvents and
	// ResultEvents stand on span events instead.
	CallID          []string      `mapstructure:"call_id" yaml:"call_id"`
	Arguments       []string      `mapstructure:"arguments" yaml:"arguments"`
	Result          []string      `mapstructure:"result" yaml:"result"`
	ArgumentsEvents []CustomEvent `mapstructure:"arguments_events" yaml:"arguments_events"`
	ResultEvents    []CustomEvent `mapstructure:"result_events" yaml:"result_events"`

	// ArgumentsKeys and ResultKeys are wrappers that are taken off
	// ({"output": …}); FailureKeys are those of a call that failed.
	ArgumentsKeys []string `mapstructure:"arguments_keys" yaml:"arguments_keys"`
	ResultKeys    []string `mapstructure:"result_keys" yaml:"result_keys"`
	FailureKeys   []string `mapstructure:"failure_keys" yaml:"failure_keys"`
	// EmptyObjectIsNothing says that {} stands for content that was not recorded.
	EmptyObjectIsNothing bool `mapstructure:"empty_object_is_nothing" yaml:"empty_object_is_nothing"`

	// ErrorType are attributes that name a failure, Error any further evidence
	// of one.
	ErrorType []string     `mapstructure:"error_type" yaml:"error_type"`
	Error     []CustomMark `mapstructure:"error" yaml:"error"`

	AgentName    []string `mapstructure:"agent_name" yaml:"agent_name"`
	Conversation []string `mapstructure:"conversation" yaml:"conversation"`

	// InputMessages and OutputMessages are attributes with a list of messages;
	// InputPrefix and OutputPrefix attributes of one field each
	// (prefix.0.role); InputEvents and OutputEvents span events. OutputText and
	// OutputCalls hold an answer's text and the calls it asks for.
	InputMessages  []string      `mapstructure:"input_messages" yaml:"input_messages"`
	OutputMessages []string      `mapstructure:"output_messages" yaml:"output_messages"`
	InputPrefix    []string      `mapstructure:"input_prefix" yaml:"input_prefix"`
	OutputPrefix   []string      `mapstructure:"output_prefix" yaml:"output_prefix"`
	InputEvents    []CustomEvent `mapstructure:"input_events" yaml:"input_events"`
	OutputEvents   []CustomEvent `mapstructure:"output_events" yaml:"output_events"`
	OutputText     []string      `mapstructure:"output_text" yaml:"output_text"`
	OutputCalls    []string      `mapstructure:"output_calls" yaml:"output_calls"`

	// ContentSwitch says how the recording of content is turned on. It is part
	// of the warning about a tool whose content is missing.
	ContentSwitch string `mapstructure:"content_switch" yaml:"content_switch"`
}

// CustomMark fits a span if all that it names holds. Value and SpanName may have
// one "*".
type CustomMark struct {
	Attribute string `mapstructure:"attribute" yaml:"attribute"`
	Value     string `mapstructure:"value" yaml:"value"` // "" asks for the attribute only
	SpanName  string `mapstructure:"span_name" yaml:"span_name"`
	Scope     string `mapstructure:"scope" yaml:"scope"`
}

// CustomEvent is an attribute of span events of a name. Without an attribute the
// event is a message of the role by itself.
type CustomEvent struct {
	Event     string `mapstructure:"event" yaml:"event"`
	Attribute string `mapstructure:"attribute" yaml:"attribute"`
	Role      string `mapstructure:"role" yaml:"role"`
}

// ReadSettings reads a YAML file of settings: `dialects`,
// `conversation_attributes` and `conversation_resource_attributes` as in the processor's configuration, or what stands
// under `dialects` alone.
func ReadSettings(text []byte) (Settings, error) {
	var file struct {
		Settings `yaml:",inline"`
		Custom   []CustomDialect `yaml:"custom"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return Settings{}, plainYAMLError(err)
	}
	if file.Custom != nil {
		if file.Dialects.Custom != nil {
			return Settings{}, errors.New("custom stands twice: at the top and under dialects")
		}
		file.Dialects.Custom = file.Custom
	}
	return file.Settings, nil
}

var goType = regexp.MustCompile(` (in|into) type \S+( \{.*\})?|struct \{.*\}`)

// plainYAMLError takes the names of Go's types out of an error.
func plainYAMLError(err error) error {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	var errs []error
	for _, text := range wrong.Errors {
		text = strings.ReplaceAll(goType.ReplaceAllString(text, ""), "field ", "unknown key ")
		errs = append(errs, errors.New(strings.TrimSuffix(text, " not found")))
	}
	return errors.Join(errs...)
}
