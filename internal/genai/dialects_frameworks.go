// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

// traceloop is OpenLLMetry: wrappers of an application's functions, and
// instrumentations of frameworks and providers, in JavaScript and Python.
var traceloop = &Dialect{
	Name: "traceloop",
	Tool: []Mark{
		{Key: "traceloop.span.kind", Value: "tool"},
		{Key: "gen_ai.operation.name", Value: "execute_tool", Scope: "@traceloop/instrumentation-langchain"},
	},
	Model: []Mark{
		{Key: "llm.request.type", Value: "chat"},
		{Key: "llm.request.type", Value: "completion"},
		{Key: "gen_ai.operation.name", Value: "chat", Scope: "@traceloop/instrumentation-openai"},
	},
	Agent:       []Mark{{Key: "traceloop.span.kind", Value: "agent"}, {Key: "traceloop.span.kind", Value: "workflow"}},
	ToolName:    attributes("traceloop.entity.name"),
	SpanName:    []string{"*.tool", "execute_tool *"},
	HiddenNames: []string{"DynamicStructuredTool", "DynamicTool", "StructuredTool"},
	Arguments:   attributes("traceloop.entity.input"),
	Result:      attributes("traceloop.entity.output"),
	// LangChain for Python has inputs beside input_str; the wrappers have args and
	// kwargs, the MCP client arguments.
	ArgumentsKeys: []string{"arguments", "inputs", "kwargs", "args"},
	ResultKeys:    []string{"result", "output"},
	BesideKeys:    []string{"is_error", "kwargs"},
	AgentName:     []string{"gen_ai.agent.name"},
	InputPrefix:   []string{"gen_ai.prompt"},
	OutputPrefix:  []string{"gen_ai.completion"},
	ContentSwitch: "TRACELOOP_TRACE_CONTENT=true",
}

// traceloopNormalized is OpenLLMetry behind a normalizer that removed its names: the
// tool's name is only in the span's, arguments and result are in the attributes of
// messages.
var traceloopNormalized = &Dialect{
	Name:          "traceloop-normalized",
	Tool:          []Mark{{Key: "gen_ai.operation.name", Value: "execute_tool", And: &Mark{SpanName: "*.tool"}}},
	SpanName:      []string{"*.tool"},
	Arguments:     attributes("gen_ai.input.messages"),
	Result:        attributes("gen_ai.output.messages"),
	ArgumentsKeys: []string{"arguments", "inputs", "kwargs", "args"},
	ResultKeys:    []string{"result", "output"},
	BesideKeys:    []string{"is_error", "kwargs"},
	ContentSwitch: "TRACELOOP_TRACE_CONTENT=true",
}

// traceloopMCP are the MCP clients that OpenLLMetry instruments.
var traceloopMCP = &Dialect{
	Name: "traceloop-mcp",
	Tool: []Mark{
		{Key: "traceloop.span.kind", Value: "tool", Scope: "@traceloop/instrumentation-mcp"},
		{Key: "traceloop.span.kind", Value: "tool", Scope: "opentelemetry.instrumentation.mcp"},
	},
	Carrier: true,
}

// vercel is the AI SDK's own telemetry (experimental_telemetry), up to version 6
// and, on demand, after.
var vercel = &Dialect{
	Name:          "vercel-ai",
	Tool:          []Mark{{Key: "ai.operationId", Value: "ai.toolCall"}, {Key: "ai.toolCall.name"}},
	Model:         []Mark{{Key: "ai.operationId", Value: "ai.*.doGenerate"}, {Key: "ai.operationId", Value: "ai.*.doStream"}},
	Agent:         []Mark{{Key: "ai.operationId", Value: "ai.generate*"}, {Key: "ai.operationId", Value: "ai.stream*"}},
	ToolName:      attributes("ai.toolCall.name"),
	CallID:        attributes("ai.toolCall.id"),
	Arguments:     attributes("ai.toolCall.args", "ai.toolCall.input"),
	Result:        attributes("ai.toolCall.result", "ai.toolCall.output"),
	AgentName:     []string{"ai.telemetry.functionId", "resource.name"},
	Input:         attributes("ai.prompt.messages", "ai.prompt"),
	Output:        attributes("ai.response.messages"),
	OutputText:    attributes("ai.response.text"),
	OutputCalls:   attributes("ai.response.toolCalls"),
	ContentSwitch: "experimental_telemetry: {recordInputs: true, recordOutputs: true}",
}

// langfuse is Langfuse, through its own SDK or its framework handlers.
var langfuse = &Dialect{
	Name:          "langfuse",
	Tool:          []Mark{{Key: "langfuse.observation.type", Value: "tool"}},
	Model:         []Mark{{Key: "langfuse.observation.type", Value: "generation"}},
	Agent:         []Mark{{Key: "langfuse.observation.type", Value: "agent"}},
	SpanName:      []string{"*"},
	CallID:        attributes("langfuse.observation.metadata.tool_call_id"),
	Arguments:     attributes("langfuse.observation.input"),
	Result:        attributes("langfuse.observation.output"),
	ResultKeys:    []string{"output"},
	FailureMark:   []Mark{{Key: "langfuse.observation.level", Value: "ERROR"}},
	Input:         attributes("langfuse.observation.input"),
	Output:        attributes("langfuse.observation.output"),
	ContentSwitch: "the mask option of the Langfuse SDK, which must let the content through",
}

// langsmith is LangSmith in OpenTelemetry mode: the old attribute names hold the
// inputs and outputs of every kind of run.
var langsmith = &Dialect{
	Name:          "langsmith",
	Tool:          []Mark{{Key: "langsmith.span.kind", Value: "tool"}},
	Model:         []Mark{{Key: "langsmith.span.kind", Value: "llm"}},
	Agent:         []Mark{{Key: "langsmith.span.kind", Value: "chain"}},
	ToolName:      attributes("gen_ai.tool.name", "langsmith.trace.name"),
	SpanName:      []string{"*"},
	CallID:        attributes("gen_ai.tool.call.id", "langsmith.metadata.tool_call_id"),
	Arguments:     attributes("gen_ai.prompt"),
	Result:        attributes("gen_ai.completion"),
	ResultKeys:    []string{"outputs", "output"},
	Input:         attributes("gen_ai.prompt"),
	Output:        attributes("gen_ai.completion"),
	ContentSwitch: "LANGSMITH_HIDE_INPUTS=false and LANGSMITH_HIDE_OUTPUTS=false",
}

// mastra is Mastra: the names of its first exporter, and its own beside the
// conventions'. The messages stand on the steps around the model's spans.
var mastra = &Dialect{
	Name: "mastra",
	Tool: []Mark{{Key: "mastra.span.type", Value: "tool_call"}, {Key: "mastra.span.type", Value: "mcp_tool_call"}},
	Model: []Mark{
		{Key: "mastra.span.type", Value: "model_step", And: &Mark{Key: "mastra.model_step.input"}},
		{Key: "mastra.span.type", Value: "llm_generation"},
		{Key: "mastra.span.type", Value: "model_generation", And: &Mark{Key: "input"}},
		{Key: "gen_ai.operation.name", Value: "chat", Scope: "@mastra/otel"},
	},
	ToolName:      attributes("gen_ai.tool.name"),
	SpanName:      []string{"tool.execute *", "execute_tool *"},
	Arguments:     attributes("gen_ai.tool.input", "input"),
	Result:        attributes("gen_ai.tool.output", "output"),
	FailureMark:   []Mark{{Key: "mastra.span.type", Value: "tool_call", And: &Mark{Key: "error", Value: "true"}}},
	Input:         attributes("mastra.model_step.input", "input"),
	Output:        attributes("mastra.model_step.output", "output"),
	Placeholders:  []string{"[tool: *", "[tool-result: *"},
	ContentSwitch: "the hideInput and hideOutput options of the Mastra exporter, set to false",
}

// googleADK is Google's Agent Development Kit.
var googleADK = &Dialect{
	Name: "google-adk",
	Tool: []Mark{
		{Key: "gcp.vertex.agent.tool_response"},
		{SpanName: "execute_tool *", Scope: "gcp.vertex.agent"},
	},
	NoCall: []Mark{
		{Key: "gen_ai.tool.name", Value: "(merged tools)"},
		{SpanName: "execute_tool (merged*"},
	},
	Model:         []Mark{{SpanName: "call_llm", Scope: "gcp.vertex.agent"}, {Key: "gcp.vertex.agent.llm_request", And: &Mark{SpanName: "call_llm"}}},
	SpanName:      []string{"execute_tool *"},
	Arguments:     attributes("gcp.vertex.agent.tool_call_args"),
	Result:        attributes("gcp.vertex.agent.tool_response"),
	ResultKeys:    []string{"result", "results"},
	FailureKeys:   []string{"error"},
	EmptyObject:   true,
	Input:         attributes("gcp.vertex.agent.llm_request"),
	Output:        attributes("gcp.vertex.agent.llm_response"),
	ContentSwitch: "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true; with ADK 2.13 also ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN=1",
}

// strands is Strands Agents: content blocks, in span events by default.
var strands = &Dialect{
	Name: "strands",
	Tool: []Mark{
		{Key: "gen_ai.operation.name", Value: "execute_tool", Scope: "strands-agents"},
		{Key: "gen_ai.operation.name", Value: "execute_tool", Scope: "strands.telemetry.tracer"},
	},
	Model: []Mark{
		{Key: "gen_ai.operation.name", Value: "chat", Scope: "strands-agents"},
		{Key: "gen_ai.operation.name", Value: "chat", Scope: "strands.telemetry.tracer"},
	},
	Agent: []Mark{
		{Key: "gen_ai.operation.name", Value: "invoke_agent", Scope: "strands-agents"},
		{Key: "gen_ai.operation.name", Value: "invoke_agent", Scope: "strands.telemetry.tracer"},
	},
	ResultKeys:    []string{"$value"},
	ContentSwitch: "content is recorded by default; look for a span processor that removes span events",
}

// pydanticAI is Pydantic AI (Logfire): its names of before the conventions had
// any for a call's arguments and result.
var pydanticAI = &Dialect{
	Name: "pydantic-ai",
	Tool: []Mark{
		{Key: "tool_response", And: &Mark{Key: "gen_ai.tool.name"}},
		{SpanName: "running tool", And: &Mark{Key: "gen_ai.tool.name"}},
		{SpanName: "running tool: *", And: &Mark{Key: "gen_ai.tool.name"}},
	},
	Model:         []Mark{{Key: "gen_ai.operation.name", Value: "chat", And: &Mark{Key: "events"}}},
	Agent:         []Mark{{SpanName: "agent run", And: &Mark{Key: "agent_name"}}, {SpanName: "* run", And: &Mark{Key: "agent_name"}}},
	ToolName:      attributes("gen_ai.tool.name"),
	SpanName:      []string{"running tool: *"},
	CallID:        attributes("gen_ai.tool.call.id"),
	Arguments:     attributes("tool_arguments"),
	Result:        attributes("tool_response"),
	AgentName:     []string{"gen_ai.agent.name", "agent_name"},
	Exchange:      []string{"events"},
	ContentSwitch: "InstrumentationSettings(include_content=True)",
}

// springAI is Spring AI's observations of tool calls.
var springAI = &Dialect{
	Name: "spring-ai",
	Tool: []Mark{
		{Key: "spring.ai.kind", Value: "tool_call"},
		{Key: "spring.ai.tool.definition.name"},
	},
	ToolName:      attributes("spring.ai.tool.definition.name"),
	SpanName:      []string{"tool_call *"},
	CallID:        attributes("spring.ai.tool.call.id"),
	Arguments:     attributes("spring.ai.tool.call.arguments"),
	Result:        attributes("spring.ai.tool.call.result"),
	ContentSwitch: "spring.ai.tools.observations.include-content=true",
}
