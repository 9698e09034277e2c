// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

// Conversations are the attributes that name a conversation, in order. The
// session of an MCP transport is not among them.
var Conversations = []string{
	"gen_ai.conversation.id",
	"session.id",
	"langfuse.session.id",
	"traceloop.association.properties.session_id",
}

// Builtin is the table. Order matters where a span speaks several dialects: the
// general conventions come first, what instrumentations add of their own after
// them.
var Builtin = []*Dialect{
	{
		// OpenTelemetry semantic conventions for generative AI, current names,
		// the names before them, and the span events of the older form.
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
		},
		ToolName:       []string{"gen_ai.tool.name"},
		SpanName:       []string{"execute_tool *", "tool.execute *"},
		CallID:         []string{"gen_ai.tool.call.id"},
		Arguments:      []string{"gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "gen_ai.tool.input", "tool_arguments"},
		Result:         []string{"gen_ai.tool.call.result", "gen_ai.tool.result", "gen_ai.tool.output", "tool_response"},
		EventArguments: []EventAttribute{{Event: "gen_ai.tool.message", Key: "content"}},
		EventResult:    []EventAttribute{{Event: "gen_ai.choice", Key: "message"}},
		FailureType:    []string{"error.type"},
		FailureMark:    []Mark{{Key: "gen_ai.tool.status", Value: "error"}},
		AgentName:      []string{"gen_ai.agent.name"},
		Input:          []string{"gen_ai.input.messages"},
		Output:         []string{"gen_ai.output.messages"},
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
		ContentSwitch: "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, or the instrumentation's own content setting",
	},
	{
		// OpenTelemetry semantic conventions for MCP: the client's or server's
		// tools/call span.
		Name:          "opentelemetry-mcp",
		Tool:          []Mark{{Key: "mcp.method.name", Value: "tools/call"}},
		ToolName:      []string{"gen_ai.tool.name", "mcp.tool.name", "mcp.request.argument.name"},
		SpanName:      []string{"tools/call *"},
		CallID:        []string{"gen_ai.tool.call.id"},
		Arguments:     []string{"gen_ai.tool.call.arguments", "mcp.request.arguments", "mcp.tool.arguments"},
		Result:        []string{"gen_ai.tool.call.result", "mcp.response.result", "mcp.tool.result"},
		FailureType:   []string{"error.type"},
		ContentSwitch: "the instrumentation's setting that records gen_ai.tool.call.arguments and gen_ai.tool.call.result",
	},
	{
		// OpenInference, as Arize's instrumentations and many others emit it.
		Name:         "openinference",
		Tool:         []Mark{{Key: "openinference.span.kind", Value: "TOOL"}},
		Model:        []Mark{{Key: "openinference.span.kind", Value: "LLM"}},
		Agent:        []Mark{{Key: "openinference.span.kind", Value: "AGENT"}},
		ToolName:     []string{"tool.name"},
		SpanName:     []string{"*"},
		CallID:       []string{"tool_call.id", "tool.id"},
		Arguments:    []string{"tool.parameters", "input.value"},
		Result:       []string{"output.value"},
		ResultKeys:   []string{"output"},
		AgentName:    []string{"agent.name"},
		InputPrefix:  []string{"llm.input_messages"},
		OutputPrefix: []string{"llm.output_messages"},
		// What a workflow or an agent hides is OPENINFERENCE_HIDE_INPUTS and
		// OPENINFERENCE_HIDE_OUTPUTS.
		ContentSwitch: "OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false",
	},
	{
		// OpenLLMetry: wrappers, framework instrumentations, MCP client.
		Name: "traceloop",
		Tool: []Mark{
			{Key: "traceloop.span.kind", Value: "tool"},
			{Key: "gen_ai.operation.name", Value: "execute_tool", Scope: "@traceloop/instrumentation-langchain"},
		},
		Model:         []Mark{{Key: "llm.request.type", Value: "chat"}, {Key: "llm.request.type", Value: "completion"}},
		Agent:         []Mark{{Key: "traceloop.span.kind", Value: "agent"}, {Key: "traceloop.span.kind", Value: "workflow"}},
		ToolName:      []string{"traceloop.entity.name"},
		SpanName:      []string{"*.tool", "execute_tool *"},
		HiddenNames:   []string{"DynamicStructuredTool", "DynamicTool", "StructuredTool"},
		Arguments:     []string{"traceloop.entity.input"},
		Result:        []string{"traceloop.entity.output"},
		ArgumentsKeys: []string{"arguments", "kwargs", "args"},
		ResultKeys:    []string{"result", "output"},
		AgentName:     []string{"gen_ai.agent.name"},
		InputPrefix:   []string{"gen_ai.prompt"},
		OutputPrefix:  []string{"gen_ai.completion"},
		ContentSwitch: "TRACELOOP_TRACE_CONTENT=true",
	},
	{
		// Vercel AI SDK, its own telemetry (experimental_telemetry).
		Name:          "vercel-ai",
		Tool:          []Mark{{Key: "ai.operationId", Value: "ai.toolCall"}, {Key: "ai.toolCall.name"}},
		Model:         []Mark{{Key: "ai.operationId", Value: "ai.*.do*"}},
		Agent:         []Mark{{Key: "ai.operationId", Value: "ai.generateText"}, {Key: "ai.operationId", Value: "ai.streamText"}},
		ToolName:      []string{"ai.toolCall.name"},
		CallID:        []string{"ai.toolCall.id"},
		Arguments:     []string{"ai.toolCall.args", "ai.toolCall.input"},
		Result:        []string{"ai.toolCall.result", "ai.toolCall.output"},
		AgentName:     []string{"ai.telemetry.functionId", "resource.name"},
		Input:         []string{"ai.prompt.messages", "ai.prompt"},
		Output:        []string{"ai.response.messages"},
		OutputText:    []string{"ai.response.text"},
		OutputCalls:   []string{"ai.response.toolCalls"},
		ContentSwitch: "experimental_telemetry: {recordInputs: true, recordOutputs: true}",
	},
	{
		// Langfuse, through its own SDK or its framework handlers.
		Name:          "langfuse",
		Tool:          []Mark{{Key: "langfuse.observation.type", Value: "tool"}},
		Model:         []Mark{{Key: "langfuse.observation.type", Value: "generation"}},
		Agent:         []Mark{{Key: "langfuse.observation.type", Value: "agent"}},
		SpanName:      []string{"*"},
		CallID:        []string{"langfuse.observation.metadata.tool_call_id"},
		Arguments:     []string{"langfuse.observation.input"},
		Result:        []string{"langfuse.observation.output"},
		ResultKeys:    []string{"output"},
		FailureMark:   []Mark{{Key: "langfuse.observation.level", Value: "ERROR"}},
		Input:         []string{"langfuse.observation.input"},
		Output:        []string{"langfuse.observation.output"},
		ContentSwitch: "the mask option of the Langfuse SDK, which must let the content through",
	},
	{
		// LangSmith in OpenTelemetry mode: the old attribute names hold the
		// inputs and outputs of every kind of run.
		Name:          "langsmith",
		Tool:          []Mark{{Key: "langsmith.span.kind", Value: "tool"}},
		Model:         []Mark{{Key: "langsmith.span.kind", Value: "llm"}},
		Agent:         []Mark{{Key: "langsmith.span.kind", Value: "chain"}},
		ToolName:      []string{"gen_ai.tool.name", "langsmith.trace.name"},
		SpanName:      []string{"*"},
		CallID:        []string{"gen_ai.tool.call.id", "langsmith.metadata.tool_call_id"},
		Arguments:     []string{"gen_ai.prompt"},
		Result:        []string{"gen_ai.completion"},
		ResultKeys:    []string{"outputs", "output"},
		Input:         []string{"gen_ai.prompt"},
		Output:        []string{"gen_ai.completion"},
		ContentSwitch: "LANGSMITH_HIDE_INPUTS=false and LANGSMITH_HIDE_OUTPUTS=false",
	},
	{
		// Mastra, both the names of its first exporter and its own beside the
		// conventions'.
		Name:          "mastra",
		Tool:          []Mark{{Key: "mastra.span.type", Value: "tool_call"}, {Key: "mastra.span.type", Value: "mcp_tool_call"}},
		ToolName:      []string{"gen_ai.tool.name"},
		SpanName:      []string{"tool.execute *", "execute_tool *"},
		Arguments:     []string{"gen_ai.tool.input", "input"},
		Result:        []string{"gen_ai.tool.output", "output"},
		FailureMark:   []Mark{{Key: "mastra.span.type", Value: "tool_call", And: &Mark{Key: "error", Value: "true"}}},
		ContentSwitch: "the hideInput and hideOutput options of the Mastra exporter, set to false",
	},
	{
		// Google's Agent Development Kit.
		Name: "google-adk",
		Tool: []Mark{
			{Key: "gcp.vertex.agent.tool_response"},
			{SpanName: "execute_tool *", Scope: "gcp.vertex.agent"},
		},
		NoCall: []Mark{
			{Key: "gen_ai.tool.name", Value: "(merged tools)"},
			{SpanName: "execute_tool (merged)"},
		},
		Model:         []Mark{{SpanName: "call_llm", Scope: "gcp.vertex.agent"}},
		SpanName:      []string{"execute_tool *"},
		Arguments:     []string{"gcp.vertex.agent.tool_call_args"},
		Result:        []string{"gcp.vertex.agent.tool_response"},
		ResultKeys:    []string{"result", "results"},
		FailureKeys:   []string{"error"},
		EmptyObject:   true,
		Input:         []string{"gcp.vertex.agent.llm_request"},
		Output:        []string{"gcp.vertex.agent.llm_response"},
		ContentSwitch: "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true",
	},
	{
		// Strands Agents: content blocks, in span events by default.
		Name:          "strands",
		Tool:          []Mark{{Key: "gen_ai.operation.name", Value: "execute_tool", Scope: "strands-agents"}},
		Model:         []Mark{{Key: "gen_ai.operation.name", Value: "chat", Scope: "strands-agents"}},
		Agent:         []Mark{{Key: "gen_ai.operation.name", Value: "invoke_agent", Scope: "strands-agents"}},
		ResultKeys:    []string{"$value"},
		ContentSwitch: "content is recorded by default; look for a span processor that removes span events",
	},
}
