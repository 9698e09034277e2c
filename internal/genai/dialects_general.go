// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

// conventions are OpenTelemetry's for generative AI: current names, the names
// before them, and the span events of the older form. OpenTelemetry's own
// instrumentations, the AI SDK from version 7, AutoGen, Semantic Kernel, the
// Microsoft Agent Framework and many others speak it.
var conventions = &Dialect{
	Name: "opentelemetry-genai",
	Tool: []Mark{
		{Key: "gen_ai.operation.name", Value: "execute_tool"},
		{Key: "gen_ai.operation.name", Value: "tool.execute"},
		// An instrumentation that lost every attribute of a failed call.
		{SpanName: "execute_tool *"},
	},
	Model: []Mark{
		{Key: "gen_ai.operation.name", Value: "chat"},
		{Key: "gen_ai.operation.name", Value: "text_completion"},
		{Key: "gen_ai.operation.name", Value: "generate_content"},
	},
	Agent: []Mark{
		{Key: "gen_ai.operation.name", Value: "invoke_agent"},
		{Key: "gen_ai.operation.name", Value: "invoke_workflow"},
	},
	ToolName:       attributes("gen_ai.tool.name"),
	SpanName:       []string{"execute_tool *", "tool.execute *"},
	CallID:         attributes("gen_ai.tool.call.id"),
	Arguments:      attributes("gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "gen_ai.tool.args", "gen_ai.tool.input"),
	Result:         attributes("gen_ai.tool.call.result", "gen_ai.tool.result", "gen_ai.tool.output", "code.function.return.value"),
	ArgumentsEach:  []string{"code.function.parameters.*.value"}, // google-genai
	EventArguments: []EventAttribute{{Event: "gen_ai.tool.message", Key: "content"}},
	EventResult:    []EventAttribute{{Event: "gen_ai.choice", Key: "message"}},
	FailureType:    attributes("error.type"),
	FailureMark:    []Mark{{Key: "gen_ai.tool.status", Value: "error"}},
	AgentName:      []string{"gen_ai.agent.name"},
	Input:          attributes("gen_ai.input.messages"),
	Output:         attributes("gen_ai.output.messages"),
	InputEvents: []EventAttribute{
		{Event: "gen_ai.client.inference.operation.details", Key: "gen_ai.input.messages"},
		{Event: "gen_ai.content.prompt", Key: "gen_ai.prompt"},
		{Event: "gen_ai.system.message", Role: System},
		{Event: "gen_ai.user.message", Role: User},
		{Event: "gen_ai.assistant.message", Role: Assistant},
		{Event: "gen_ai.tool.message", Role: ToolRole},
	},
	OutputEvents: []EventAttribute{
		{Event: "gen_ai.client.inference.operation.details", Key: "gen_ai.output.messages"},
		{Event: "gen_ai.content.completion", Key: "gen_ai.completion"},
		{Event: "gen_ai.choice", Role: Assistant},
	},
	Definitions: []string{"gen_ai.tool.definitions"},
	Elsewhere: []string{
		"gen_ai.tool.call.result_ref", "gen_ai.tool.call.arguments_ref", "gen_ai.input.messages_ref", "gen_ai.output.messages_ref",
	},
	ContentSwitch: captureSetting,
}

// conventionsMCP are OpenTelemetry's for MCP: the client's or the server's
// tools/call span.
var conventionsMCP = &Dialect{
	Name: "opentelemetry-mcp",
	Tool: []Mark{
		{Key: "mcp.method.name", Value: "tools/call"},
		{Key: "rpc.method", Value: "tools/call"},
		{SpanName: "tools/call *"},
	},
	Carrier:       true,
	ToolName:      attributes("gen_ai.tool.name", "mcp.tool.name", "mcp.request.argument.name"),
	SpanName:      []string{"tools/call *"},
	CallID:        attributes("gen_ai.tool.call.id"),
	Arguments:     attributes("gen_ai.tool.call.arguments", "mcp.request.arguments", "mcp.tool.arguments"),
	Result:        attributes("gen_ai.tool.call.result", "mcp.response.result", "mcp.tool.result"),
	FailureType:   attributes("error.type"),
	ContentSwitch: "the instrumentation's setting that records gen_ai.tool.call.arguments and gen_ai.tool.call.result",
}

// openInference is what Arize's instrumentations emit, and many others: for
// LangChain, LlamaIndex, CrewAI, the OpenAI Agents SDK and so on.
var openInference = &Dialect{
	Name: "openinference",
	Tool: []Mark{
		{Key: "openinference.span.kind", Value: "TOOL"},
		// Behind a normalizer that removed the kind, and knows no names for these.
		{Key: "output.value", And: &Mark{Key: "gen_ai.operation.name", Value: "execute_tool"}},
		{Key: "input.value", And: &Mark{Key: "gen_ai.operation.name", Value: "execute_tool"}},
	},
	Model:    []Mark{{Key: "openinference.span.kind", Value: "LLM"}},
	Agent:    []Mark{{Key: "openinference.span.kind", Value: "AGENT"}},
	ToolName: attributes("tool.name"),
	SpanName: []string{"*"},
	CallID:   attributes("tool_call.id", "tool.id"),
	// The parameters come last: some instrumentations put the tool's schema there.
	Arguments:     attributes("input.value", "tool.parameters"),
	Result:        attributes("output.value"),
	ArgumentsKeys: []string{"kwargs"}, // LlamaIndex
	ResultKeys:    []string{"output"},
	AgentName:     []string{"agent.name"},
	InputPrefix:   []string{"llm.input_messages"},
	OutputPrefix:  []string{"llm.output_messages"},
	Input:         attributes("input.value"),
	Output:        attributes("output.value"),
	ContentSwitch: "OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false",
}
