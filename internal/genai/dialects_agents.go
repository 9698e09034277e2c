// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

// claudeCode is Claude Code, and the Claude Agent SDK, which runs it. A call's
// result is in what the next request to the model adds to the conversation, or on
// the tool's span. The spans inside the tool's say whether the call failed and
// whether somebody refused it.
var claudeCode = &Dialect{
	Name: "claude-code",
	Tool: []Mark{
		{Key: "span.type", Value: "tool", And: &Mark{SpanName: "claude_code.tool"}},
		{Key: "span.type", Value: "tool.execution", And: &Mark{SpanName: "claude_code.tool.execution"}},
		{Key: "span.type", Value: "tool.blocked_on_user", And: &Mark{SpanName: "claude_code.tool.blocked_on_user", And: &Mark{Key: "decision", Value: "reject"}}},
	},
	Model:       []Mark{{Key: "span.type", Value: "llm_request", And: &Mark{SpanName: "claude_code.llm_request"}}},
	Agent:       []Mark{{Key: "span.type", Value: "interaction", And: &Mark{SpanName: "claude_code.interaction"}}},
	ToolName:    attributes("tool_name"),
	CallID:      attributes("gen_ai.tool.call.id", "tool_use_id"),
	Arguments:   []Source{{Attribute: "tool_input", After: "[TOOL INPUT: *]\n"}},
	Result:      []Source{{Attribute: "new_context", After: "[TOOL RESULT: *]\n"}},
	FailureMark: []Mark{{Key: "success", Value: "false", And: &Mark{Key: "span.type", Value: "tool*"}}},
	Denied:      []Mark{{Key: "decision", Value: "reject", And: &Mark{Key: "span.type", Value: "tool.blocked_on_user"}}},
	Transcript: []Transcript{{
		Attribute: "new_context",
		Separator: "\n\n---\n\n",
		Sections:  []Section{{"[USER]\n", User}, {"[USER PROMPT]\n", User}, {"[TOOL RESULT: *]\n", ToolRole}},
	}},
	OutputText:    attributes("response.model_output"),
	ContentSwitch: "ENABLE_BETA_TRACING_DETAILED=1 and BETA_TRACING_ENDPOINT",
}

// geminiCLI is Gemini CLI: a span for each scheduled call, with the request and the
// completed call in the attributes of messages.
var geminiCLI = &Dialect{
	Name:          "gemini-cli",
	Tool:          []Mark{{Key: "gen_ai.operation.name", Value: "tool_call"}},
	Model:         []Mark{{Key: "gen_ai.operation.name", Value: "llm_call"}},
	Agent:         []Mark{{Key: "gen_ai.operation.name", Value: "user_prompt"}, {Key: "gen_ai.operation.name", Value: "agent_call"}},
	ToolName:      attributes("gen_ai.tool.name"),
	CallID:        attributes("gen_ai.tool.call_id"),
	Arguments:     []Source{{Attribute: "gen_ai.input.messages", Path: "args"}},
	Result:        []Source{{Attribute: "gen_ai.output.messages", Path: "response.responseParts[0].functionResponse.response"}},
	ResultKeys:    []string{"output"},
	FailureKeys:   []string{"error"},
	FailureMark:   geminiFailures,
	AgentName:     []string{"gen_ai.agent.name"},
	Input:         attributes("gen_ai.input.messages"),
	Output:        attributes("gen_ai.output.messages"),
	ContentSwitch: "the setting telemetry.traces with telemetry.logPrompts",
}

var geminiFailures = []Mark{
	{Key: "gen_ai.output.messages", Path: "status", Value: "error", And: &Mark{Key: "gen_ai.operation.name", Value: "tool_call"}},
	{Key: "gen_ai.output.messages", Path: "status", Value: "cancelled", And: &Mark{Key: "gen_ai.operation.name", Value: "tool_call"}},
}

// liveKit is LiveKit Agents before the conventions' attributes: tools have spans of
// their own, messages are span events.
var liveKit = &Dialect{
	Name:          "livekit",
	Tool:          []Mark{{Key: "lk.function_tool.name"}, {Key: "lk.function_tool.id"}},
	ToolName:      attributes("lk.function_tool.name"),
	CallID:        attributes("lk.function_tool.id"),
	Arguments:     attributes("lk.pii.function_tool.arguments", "lk.function_tool.arguments"),
	Result:        attributes("lk.pii.function_tool.output", "lk.function_tool.output"),
	Python:        true,
	FailureMark:   []Mark{{Key: "lk.function_tool.is_error", Value: "true"}},
	ContentSwitch: "content is recorded by default; look for a span processor that removes it",
}

// adkJava is Google's Agent Development Kit for Java before version 1: a span for a
// call and another one for its response, which holds a whole event.
var adkJava = &Dialect{
	Name:          "google-adk-java",
	Tool:          []Mark{{Key: "gcp.vertex.agent.tool_call_args", And: &Mark{SpanName: "tool_call [*]"}}},
	ToolResult:    []Mark{{Key: "gcp.vertex.agent.tool_response", And: &Mark{SpanName: "tool_response [*]"}}},
	SpanName:      []string{"tool_call [*]", "tool_response [*]"},
	CallID:        []Source{{Attribute: "gcp.vertex.agent.tool_response", Path: "content.parts[0].functionResponse.id"}},
	Arguments:     attributes("gcp.vertex.agent.tool_call_args"),
	Result:        []Source{{Attribute: "gcp.vertex.agent.tool_response", Path: "content.parts[0].functionResponse.response"}},
	ResultKeys:    []string{"result"},
	FailureKeys:   []string{"error"},
	EmptyObject:   true,
	ContentSwitch: "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true",
}

// genkit is Genkit in JavaScript, Go and Python: actions of every kind, with one set
// of names.
var genkit = &Dialect{
	Name:          "genkit",
	Tool:          []Mark{{Key: "genkit:metadata:subtype", Value: "tool"}, {Key: "genkit:metadata:subtype", Value: "tool.v2"}},
	Model:         []Mark{{Key: "genkit:metadata:subtype", Value: "model"}},
	Agent:         []Mark{{Key: "genkit:metadata:subtype", Value: "flow"}, {Key: "genkit:metadata:subtype", Value: "agent"}},
	ToolName:      attributes("genkit:name"),
	SpanName:      []string{"*"},
	Arguments:     attributes("genkit:input"),
	Result:        attributes("genkit:output"),
	FailureMark:   []Mark{{Key: "genkit:state", Value: "error"}},
	Input:         attributes("genkit:input"),
	Output:        attributes("genkit:output"),
	ContentSwitch: "content is recorded by default; the Google Cloud plugin removes it with disableLoggingInputAndOutput",
}

// agent365 is Microsoft's Agent 365 observability for the OpenAI Agents SDK. The
// result is in an attribute that elsewhere is an event's. It records that a server's
// tools are listed as if that was a call.
var agent365 = &Dialect{
	Name: "agent-365",
	Tool: []Mark{{Key: "gen_ai.event.content", And: &Mark{Key: "gen_ai.operation.name", Value: "execute_tool"}}},
	NoCall: []Mark{
		{Key: "gen_ai.tool.type", Value: "extension", And: &Mark{Key: "gen_ai.event.content", Value: "[*", And: &Mark{Key: "gen_ai.system", Value: "openai"}}},
		{Key: "gen_ai.tool.type", Value: "extension", Scope: "agent365-openai-agents"},
	},
	Result:        attributes("gen_ai.event.content"),
	ContentSwitch: "ENABLE_A365_OBSERVABILITY=true and the instrumentor's content setting",
}

// qwenCode is Qwen Code: the spans of Claude Code under other names, with the
// arguments and the result on the tool's span.
var qwenCode = &Dialect{
	Name: "qwen-code",
	Tool: []Mark{
		{Key: "tool.name", And: &Mark{SpanName: "qwen-code.tool"}},
		{Key: "gen_ai.tool.name", And: &Mark{SpanName: "qwen-code.tool"}},
		{Key: "success", And: &Mark{SpanName: "qwen-code.tool.execution"}},
	},
	ToolName: attributes("gen_ai.tool.name", "tool.name"),
	CallID:   attributes("gen_ai.tool.call.id", "tool.call_id"),
	Arguments: []Source{
		{Attribute: "gen_ai.tool.call.arguments"},
		{Attribute: "tool_input", After: "[TOOL INPUT: *]\n"},
	},
	Result: []Source{
		{Attribute: "gen_ai.tool.call.result"},
		{Attribute: "tool_result", After: "[TOOL RESULT: *]\n"},
	},
	ResultKeys:    []string{"output"},
	FailureKeys:   []string{"error"},
	FailureMark:   []Mark{{Key: "success", Value: "false", And: &Mark{SpanName: "qwen-code.tool*"}}},
	ContentSwitch: "QWEN_TELEMETRY_INCLUDE_SENSITIVE_SPAN_ATTRIBUTES=true",
}

// pipecat is Pipecat's tracing of Gemini Live: a call and its result are spans of
// their own with one call id. A span for several calls holds only the first.
var pipecat = &Dialect{
	Name:          "pipecat",
	Tool:          []Mark{{Key: "tool.function_name", And: &Mark{SpanName: "llm_tool_call"}}},
	ToolResult:    []Mark{{Key: "tool.function_name", And: &Mark{SpanName: "llm_tool_result"}}},
	ToolName:      attributes("tool.function_name"),
	CallID:        attributes("tool.call_id"),
	Arguments:     attributes("tool.arguments"),
	Result:        attributes("tool.result"),
	FailureKeys:   []string{"error"},
	FailureMark:   []Mark{{Key: "tool.result_status", Value: "error"}},
	ContentSwitch: "content is recorded by default, the first 2,000 bytes of a result",
}

// agentScope is AgentScope. Results that are objects are written as Python prints
// them, in quotation marks.
var agentScope = &Dialect{
	Name:          "agentscope",
	Tool:          []Mark{{Key: "gen_ai.operation.name", Value: "execute_tool", Scope: "agentscope*"}},
	Printed:       []string{"ToolResponse", "TextBlock"},
	ResultKeys:    []string{"content"},
	BesideKeys:    []string{"metadata", "stream", "is_last", "is_interrupted", "id"},
	ContentSwitch: "content is recorded by default; look for a span processor that removes it",
}

// agno is what instrumentations record of Agno's tools. Some of them record the
// framework's own envelope in place of the result.
var agno = &Dialect{
	Name: "agno",
	Tool: []Mark{
		{Key: "openinference.span.kind", Value: "TOOL", Scope: "*agno*"},
		{Key: "gen_ai.operation.name", Value: "execute_tool", Scope: "*agno*"},
		{Key: "traceloop.span.kind", Value: "tool", Scope: "*agno*"},
	},
	Python:        true,
	Printed:       []string{"FunctionExecutionResult", "ToolResult"},
	ResultKeys:    []string{"result"},
	BesideKeys:    []string{"status", "error", "updated_session_state", "images", "videos", "audios", "files"},
	FailureText:   []string{"status='failure' *", "FunctionExecutionResult(status='failure'*"},
	ContentSwitch: "OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false, or the instrumentation's own setting",
}

// haystack is Haystack's agents. A tool that throws returns an object with the error.
var haystack = &Dialect{
	Name:          "haystack",
	Tool:          []Mark{{Key: "haystack.tool.name"}},
	ToolName:      attributes("haystack.tool.name"),
	Arguments:     attributes("haystack.agent.step.tool.input"),
	Result:        attributes("haystack.agent.step.tool.output"),
	FailureKeys:   []string{"error"},
	ContentSwitch: "HAYSTACK_CONTENT_TRACING_ENABLED=true",
}
