// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

// mlflow is MLflow's default OTLP export: every attribute is JSON, so that strings
// are in quotation marks.
var mlflow = &Dialect{
	Name:          "mlflow",
	Tool:          []Mark{{Key: "mlflow.spanType", Value: `"TOOL"`}, {Key: "mlflow.spanType", Value: "TOOL"}},
	Model:         []Mark{{Key: "mlflow.spanType", Value: `"CHAT_MODEL"`}, {Key: "mlflow.spanType", Value: `"LLM"`}, {Key: "mlflow.spanType", Value: "CHAT_MODEL"}, {Key: "mlflow.spanType", Value: "LLM"}},
	Agent:         []Mark{{Key: "mlflow.spanType", Value: `"AGENT"`}, {Key: "mlflow.spanType", Value: "AGENT"}},
	SpanName:      []string{"*"},
	Arguments:     attributes("mlflow.spanInputs"),
	Result:        attributes("mlflow.spanOutputs"),
	Input:         attributes("mlflow.spanInputs"),
	Output:        attributes("mlflow.spanOutputs"),
	ContentSwitch: "content is recorded by default; look for a span processor that removes it",
}

// laminar is Laminar's SDKs, which OpenHands uses, too.
var laminar = &Dialect{
	Name:          "laminar",
	Tool:          []Mark{{Key: "lmnr.span.type", Value: "TOOL"}},
	Model:         []Mark{{Key: "lmnr.span.type", Value: "LLM"}},
	SpanName:      []string{"*"},
	CallID:        attributes("lmnr.association.properties.metadata.tool_call_id"),
	Arguments:     attributes("lmnr.span.input"),
	Result:        attributes("lmnr.span.output"),
	InputPrefix:   []string{"gen_ai.prompt"},
	OutputPrefix:  []string{"gen_ai.completion"},
	Input:         attributes("gen_ai.input.messages", "lmnr.span.input"),
	Output:        attributes("gen_ai.output.messages", "lmnr.span.output"),
	ContentSwitch: "the ignoreInput and ignoreOutput options of observe, set to false",
}

// spanKind is gen_ai.span.kind, which exporters of several agents and platforms
// write beside the conventions' names or OpenInference's.
var spanKind = &Dialect{
	Name:          "gen-ai-span-kind",
	Tool:          []Mark{{Key: "gen_ai.span.kind", Value: "TOOL"}},
	Model:         []Mark{{Key: "gen_ai.span.kind", Value: "LLM"}},
	Agent:         []Mark{{Key: "gen_ai.span.kind", Value: "AGENT"}},
	ToolName:      attributes("gen_ai.tool.name", "tool.name"),
	SpanName:      []string{"execute_tool *", "*"},
	CallID:        attributes("gen_ai.tool.call.id", "tool_call.id"),
	Arguments:     attributes("gen_ai.tool.call.arguments", "input.value", "tool.parameters"),
	Result:        attributes("gen_ai.tool.call.result", "output.value"),
	ResultKeys:    []string{"output"},
	AgentName:     []string{"gen_ai.agent.name", "agent.name"},
	InputPrefix:   []string{"llm.input_messages", "gen_ai.prompt"},
	OutputPrefix:  []string{"llm.output_messages", "gen_ai.completion"},
	Input:         attributes("gen_ai.input.messages", "input.value"),
	Output:        attributes("gen_ai.output.messages", "output.value"),
	ContentSwitch: captureSetting,
}

// crewAI is OpenInference for CrewAI: the arguments are in a call as Python prints
// it, and results of tools that return data, too.
var crewAI = &Dialect{
	Name: "openinference-crewai",
	Tool: []Mark{
		{Key: "openinference.span.kind", Value: "TOOL", Scope: "openinference.instrumentation.crewai"},
		{Key: "gen_ai.operation.name", Value: "execute_tool", Scope: "openinference.instrumentation.crewai"},
	},
	SpanName:      []string{"*._use", "*.run"},
	Arguments:     []Source{{Attribute: "input.value", Path: "calling", After: "arguments="}},
	Python:        true,
	ContentSwitch: "OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false",
}

// logfireAgents is Logfire's instrumentation of the OpenAI Agents SDK.
var logfireAgents = &Dialect{
	Name:          "logfire-openai-agents",
	Tool:          []Mark{{Key: "logfire.msg", Value: "Function: *", And: &Mark{SpanName: "Function: {name}"}}},
	ToolName:      attributes("name"),
	Arguments:     attributes("input"),
	Result:        attributes("output"),
	ResultKeys:    []string{"text"},
	BesideKeys:    []string{"type", "annotations", "meta"},
	ContentSwitch: "content is recorded by default; look for a scrubbing setting that removes it",
}

// logfireMCP is Logfire's instrumentation of the MCP SDK before its version 2: client
// and server record a request and its response as JSON.
var logfireMCP = &Dialect{
	Name: "logfire-mcp",
	Tool: []Mark{
		{Key: "request", And: &Mark{SpanName: "MCP request: tools/call *"}},
		{Key: "request", And: &Mark{SpanName: "MCP server handle request: tools/call"}},
	},
	Carrier:       true,
	ToolName:      []Source{{Attribute: "request", Path: "params.name"}},
	SpanName:      []string{"MCP request: tools/call *"},
	Arguments:     []Source{{Attribute: "request", Path: "params.arguments"}},
	Result:        attributes("response"),
	ContentSwitch: "content is recorded by default; look for a scrubbing setting that removes it",
}

// braintrust is Braintrust's own spans: what kind a span is of is in JSON.
var braintrust = &Dialect{
	Name: "braintrust",
	Tool: []Mark{
		{Key: "braintrust.span_attributes", Path: "type", Value: "tool"},
		{Key: "braintrust.span_attributes.type", Value: "tool"},
	},
	Model: []Mark{
		{Key: "braintrust.span_attributes", Path: "type", Value: "llm"},
		{Key: "braintrust.span_attributes.type", Value: "llm"},
	},
	ToolName:      []Source{{Attribute: "braintrust.span_attributes", Path: "name"}},
	SpanName:      []string{"*"},
	Arguments:     attributes("braintrust.input_json"),
	Result:        attributes("braintrust.output_json"),
	Input:         attributes("braintrust.input_json"),
	Output:        attributes("braintrust.output_json"),
	ContentSwitch: "content is recorded by default; look for a span processor that removes it",
}

// logfireFunctions is Logfire's instrumentation of functions in JavaScript, on spans
// that the application marks as tool calls.
var logfireFunctions = &Dialect{
	Name: "logfire-functions",
	Tool: []Mark{
		{Key: "return", And: &Mark{Key: "gen_ai.tool.name"}},
		{Key: "arg0", And: &Mark{Key: "gen_ai.tool.name"}},
	},
	ToolName:      attributes("gen_ai.tool.name"),
	CallID:        attributes("gen_ai.tool.call.id"),
	Arguments:     attributes("arg0"),
	Result:        attributes("return"),
	ContentSwitch: "the options extractArgs and recordReturn of instrument",
}
