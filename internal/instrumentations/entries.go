// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package instrumentations

const (
	onByDefault       = "on by default"
	openInferenceHide = "`OPENINFERENCE_HIDE_INPUTS=false`, `OPENINFERENCE_HIDE_OUTPUTS=false`"
	theCapture        = "[the capture setting](#the-capture-setting)"
)

// Entries are the instrumentations that are read, the general ones first.
var Entries = []Entry{
	{
		Name:          "OpenTelemetry GenAI conventions: `execute_tool` and `chat` spans, messages in `gen_ai.input.messages` and `gen_ai.output.messages` (AutoGen, Semantic Kernel, Microsoft Agent Framework, …)",
		Dialects:      []string{"opentelemetry-genai"},
		Reconstructed: []string{"genai-operations-since-1.41", "genai-content-elsewhere", "genai-placeholders", "model-calls-in-traces-of-their-own", "anthropic-server-tool-error"},
		CallFrom:      "`gen_ai.tool.*` on the tool span, messages", Switch: theCapture,
	},
	{
		Name:          "The same in the older form: a span event for each message, also with the whole event in `gen_ai.event.content` (Azure AI)",
		Dialects:      []string{"opentelemetry-genai"},
		Reconstructed: []string{"genai-events", "azure-ai-events"},
		CallFrom:      "events on the spans", Lacks: "with no tool span, whether a tool threw or answered", Switch: theCapture,
	},
	{
		Name:          "OpenTelemetry MCP conventions: `tools/call` spans of client and server",
		Dialects:      []string{"opentelemetry-mcp"},
		Reconstructed: []string{"genai-mcp"},
		CallFrom:      "`gen_ai.tool.*` on either span", Switch: "the instrumentation's switch for arguments and results",
	},
	{
		Name:          "OpenTelemetry for google-genai: an object or attributes with a member for each parameter",
		Dialects:      []string{"opentelemetry-genai"},
		Reconstructed: []string{"google-genai-arguments", "google-genai-parameter-attributes"},
		CallFrom:      "tool span", Lacks: "call ids", Switch: theCapture,
	},
	{
		Name: "LangChain for Azure AI", Dialects: []string{"opentelemetry-genai"},
		Reconstructed: []string{"langchain-azure-run-ids"},
		CallFrom:      "tool span; the model's call id from the result's envelope", Switch: theCapture,
	},
	{
		Name: "AI SDK 7, `@ai-sdk/otel`", Dialects: []string{"opentelemetry-genai"},
		Recorded: []string{"ai-7.0.173"}, CallFrom: "tool span", Lacks: "a conversation on the tool span", Switch: onByDefault,
	},
	{
		Name: "AI SDK 4 to 6, and 7 in its legacy form", Dialects: []string{"vercel-ai"},
		Recorded: []string{"ai-4.3.19", "ai-6.0.326", "ai-7.0.173-legacyotel"}, Reconstructed: []string{"ai-5.0.277", "ai-6-tomodeloutput", "ai-6-approval-denied"},
		CallFrom: "`ai.toolCall.*`", Lacks: "a conversation, unless the application names the attribute",
		Switch: "`experimental_telemetry: {recordInputs: true, recordOutputs: true}`",
	},
	{
		Name: "OpenInference for the AI SDK", Dialects: []string{"openinference", "vercel-ai"},
		Recorded: []string{"openinference-vercel-3.2.1-ai7"}, Reconstructed: []string{"openinference-vercel-2.8.1-ai6"},
		CallFrom: "tool span, twice over", Lacks: "which later span failed: one failure marks all spans after it", Switch: openInferenceHide,
	},
	{
		Name: "OpenInference for LangChain, JavaScript", Dialects: []string{"openinference"},
		Recorded: []string{"openinference-langchain-4.1.1"}, CallFrom: "tool span; the call id from the result",
		Lacks: "ids in messages; the name of an only argument", Switch: openInferenceHide,
	},
	{
		Name: "OpenInference for LangChain, Python", Dialects: []string{"openinference"},
		Reconstructed: []string{"openinference-langchain-python"}, CallFrom: "tool span; arguments as Python prints them", Switch: openInferenceHide,
	},
	{
		Name: "OpenInference for the OpenAI Agents SDK", Dialects: []string{"openinference"},
		Recorded: []string{"openinference-openai-agents-0.2.15"}, Reconstructed: []string{"openinference-responses-delta"},
		CallFrom: "tool span", Lacks: "call ids on it", Switch: openInferenceHide,
	},
	{
		Name: "OpenInference wrappers around MCP clients and servers", Dialects: []string{"openinference"},
		Recorded: []string{"openinference-core-2.7.1-with-mcp-0.2.33"}, CallFrom: "both spans", Lacks: "ids; messages", Switch: openInferenceHide,
	},
	{
		Name: "OpenInference for CrewAI", Dialects: []string{"openinference-crewai", "openinference"},
		Reconstructed: []string{"openinference-crewai-use"}, CallFrom: "tool span; arguments and results as Python prints them", Lacks: "call ids", Switch: openInferenceHide,
	},
	{
		Name: "Agno, through OpenInference and others", Dialects: []string{"agno", "openinference"},
		Reconstructed: []string{"agno-envelope"}, CallFrom: "tool span; the framework's envelope as a result is opened", Lacks: "call ids", Switch: openInferenceHide,
	},
	{
		Name: "OpenInference for LlamaIndex and others of the family, Arize's plug-in for Claude Code", Dialects: []string{"openinference"},
		Reconstructed: []string{"arize-claude-code-plugin"}, CallFrom: "tool span", Switch: openInferenceHide,
	},
	{
		Name: "Exporters with `gen_ai.span.kind` (Dify, traceAI, LoongSuite, …)", Dialects: []string{"gen-ai-span-kind"},
		Reconstructed: []string{"gen-ai-span-kind"}, CallFrom: "tool span", Switch: "the exporter's setting",
	},
	{
		Name: "OpenLLMetry, JavaScript wrappers", Dialects: []string{"traceloop", "traceloop-normalized"},
		Recorded: []string{"traceloop-0.27.0-wrappers"}, Reconstructed: []string{"traceloop-0.22.8-wrappers"},
		CallFrom: "`traceloop.entity.*`", Lacks: "a span for a tool that threw: only the next message shows it", Switch: "`TRACELOOP_TRACE_CONTENT=true`",
	},
	{
		Name: "OpenLLMetry for LangChain, JavaScript", Dialects: []string{"traceloop"},
		Recorded: []string{"traceloop-0.27.0-langchain"}, CallFrom: "the result's envelope",
		Lacks: "the name and the arguments of a tool that threw", Switch: "`TRACELOOP_TRACE_CONTENT=true`",
	},
	{
		Name: "OpenLLMetry for LangChain, Python", Dialects: []string{"traceloop"},
		Reconstructed: []string{"traceloop-langchain-python"}, CallFrom: "tool span", Switch: "`TRACELOOP_TRACE_CONTENT=true`",
	},
	{
		Name: "OpenLLMetry, MCP client", Dialects: []string{"traceloop-mcp", "traceloop"},
		Recorded: []string{"traceloop-instrumentation-mcp-0.27.0"}, CallFrom: "tool span",
		Lacks: "`structuredContent`; the agent's trace is another one", Switch: "`TRACELOOP_TRACE_CONTENT=true`",
	},
	{
		Name: "Langfuse, its SDK and its LangChain handler", Dialects: []string{"langfuse"},
		Recorded: []string{"langfuse-otel-5.11.1"}, Reconstructed: []string{"langfuse-langchain-5.11.1"},
		CallFrom: "`langfuse.observation.*`", Lacks: "exceptions", Switch: "on by default; a `mask` may remove it",
	},
	{
		Name: "LangSmith in OpenTelemetry mode", Dialects: []string{"langsmith"},
		Recorded: []string{"langsmith-otel-0.12.0-traceable"}, CallFrom: "`gen_ai.prompt`, `gen_ai.completion`",
		Lacks: "a status: failed runs are OK", Switch: "`LANGSMITH_HIDE_INPUTS=false`, `LANGSMITH_HIDE_OUTPUTS=false`",
	},
	{
		Name: "Mastra 1", Dialects: []string{"mastra"}, Recorded: []string{"mastra-1.71.0"},
		CallFrom: "tool span; messages on the steps", Lacks: "results in messages", Switch: "exporter options `hideInput`, `hideOutput`",
	},
	{
		Name: "Mastra 0.24", Dialects: []string{"mastra"}, Reconstructed: []string{"mastra-0.24.9"},
		CallFrom: "tool span", Lacks: "call ids on it", Switch: "exporter options `hideInput`, `hideOutput`",
	},
	{
		Name: "Google ADK", Dialects: []string{"google-adk"}, Recorded: []string{"google-adk-2.0.0"},
		CallFrom: "`gcp.vertex.agent.*`", Lacks: "anything on the span of a tool that failed: the next message shows it",
		Switch: "2.0: on by default, and `ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=false` turns it off, with `{}` in place of content. 2.13: only with `ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN=1`",
	},
	{
		Name: "Google ADK for Java before 1: a span for the call and one for the response", Dialects: []string{"google-adk-java", "google-adk"},
		Reconstructed: []string{"google-adk-java-0.9", "google-adk-java-0.9-parallel", "google-adk-java-0.9-parallel-unknown"},
		CallFrom:      "both spans", Lacks: "the call id on the call's span", Switch: onByDefault,
	},
	{
		Name: "Strands Agents, all three forms", Dialects: []string{"strands"},
		Recorded: []string{"strands-agents-1.19.0", "strands-agents-1.19.0-attrsonly"}, Reconstructed: []string{"strands-agents-1.19.0-latest"},
		CallFrom: "span events or attributes", Switch: onByDefault,
	},
	{
		Name: "Pydantic AI", Dialects: []string{"pydantic-ai"}, Reconstructed: []string{"pydantic-ai-v1"},
		CallFrom: "`tool_arguments` and `tool_response`, or the conventions", Switch: "`InstrumentationSettings(include_content=True)`",
	},
	{
		Name: "Logfire for the OpenAI Agents SDK, with the MCP SDK before version 2", Dialects: []string{"logfire-openai-agents", "logfire-mcp"},
		Reconstructed: []string{"logfire-openai-agents-mcp-1"}, CallFrom: "the function's span; request and response of MCP", Switch: "on by default; scrubbing may remove it",
	},
	{
		Name: "Logfire for JavaScript: `instrument` on a function that the application marks with `gen_ai.tool.name`", Dialects: []string{"logfire-functions"},
		Reconstructed: []string{"logfire-js-functions"}, CallFrom: "`arg0` and `return`", Lacks: "arguments with names of their own", Switch: "`extractArgs: true`, `recordReturn: true`",
	},
	{
		Name: "Spring AI", Dialects: []string{"spring-ai"}, Reconstructed: []string{"spring-ai"},
		CallFrom: "`spring.ai.tool.*`", Lacks: "call ids, messages", Switch: "`spring.ai.tools.observations.include-content=true`",
	},
	{
		Name: "Claude Code and Claude Agent SDK", Dialects: []string{"claude-code"},
		Reconstructed: []string{"claude-code", "claude-code-denied-and-failed"},
		CallFrom:      "`claude_code.tool`; the result from it or from the next request to the model", Lacks: "the model's requests for calls", Switch: "`ENABLE_BETA_TRACING_DETAILED=1`, `BETA_TRACING_ENDPOINT`",
	},
	{
		Name: "Gemini CLI", Dialects: []string{"gemini-cli"}, Reconstructed: []string{"gemini-cli"},
		CallFrom: "`tool_call` spans; request and response in the attributes of messages", Switch: "`telemetry.traces`, `telemetry.logPrompts`",
	},
	{
		Name: "Qwen Code", Dialects: []string{"qwen-code"}, Reconstructed: []string{"qwen-code"},
		CallFrom: "`qwen-code.tool`", Switch: "`QWEN_TELEMETRY_INCLUDE_SENSITIVE_SPAN_ATTRIBUTES=true`",
	},
	{
		Name: "LiveKit Agents before 1.7", Dialects: []string{"livekit"}, Reconstructed: []string{"livekit"},
		CallFrom: "`lk.function_tool.*`, events of the model's spans", Switch: onByDefault,
	},
	{
		Name: "Pipecat with Gemini Live", Dialects: []string{"pipecat"}, Reconstructed: []string{"pipecat-gemini-live"},
		CallFrom: "two spans with one call id", Lacks: "the arguments of all but the first of several calls; what exceeds 2,000 characters", Switch: onByDefault,
	},
	{
		Name: "Genkit, JavaScript, Go and Python", Dialects: []string{"genkit"}, Reconstructed: []string{"genkit-js"},
		CallFrom: "`genkit:*`", Lacks: "call ids on the tool span", Switch: onByDefault,
	},
	{
		Name: "Microsoft Agent 365 for the OpenAI Agents SDK", Dialects: []string{"agent-365"}, Reconstructed: []string{"agent-365-openai"},
		CallFrom: "tool span; the result in `gen_ai.event.content`", Lacks: "call ids on it", Switch: "the instrumentor's setting",
	},
	{
		Name: "AgentScope", Dialects: []string{"agentscope"}, Reconstructed: []string{"agentscope-1"},
		CallFrom: "tool span; the result as Python prints it", Switch: onByDefault,
	},
	{
		Name: "Haystack", Dialects: []string{"haystack"}, Reconstructed: []string{"haystack"},
		CallFrom: "`haystack.agent.step.tool`", Lacks: "call ids, messages", Switch: "`HAYSTACK_CONTENT_TRACING_ENABLED=true`",
	},
	{
		Name: "MLflow, its default export", Dialects: []string{"mlflow"}, Reconstructed: []string{"mlflow"},
		CallFrom: "`mlflow.spanInputs`, `mlflow.spanOutputs`", Lacks: "call ids on the tool span", Switch: onByDefault,
	},
	{
		Name: "Laminar, OpenHands", Dialects: []string{"laminar"}, Reconstructed: []string{"laminar"},
		CallFrom: "`lmnr.span.input`, `lmnr.span.output`", Switch: "`ignoreInput` and `ignoreOutput` of `observe`, false",
	},
	{
		Name: "Braintrust's own spans", Dialects: []string{"braintrust"}, Reconstructed: []string{"braintrust"},
		CallFrom: "`braintrust.input_json`, `braintrust.output_json`", Lacks: "call ids on the tool span", Switch: onByDefault,
	},
}
