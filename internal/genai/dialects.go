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
	"lmnr.association.properties.session_id",
	"gen_ai.session.id",
	"genkit:sessionId",
}

// agentNames are the attributes that name an agent on spans that are neither a
// tool's nor a model's nor an agent's own: steps and chains between them.
var agentNames = []string{"gen_ai.agent.name", "agent.name"}

// MaxDialects is how many dialects there may be beside the built-in ones.
const MaxDialects = 32

// Builtin is the table. Order matters where a span speaks several dialects: the
// general conventions come first, what instrumentations add of their own after
// them.
var Builtin = []*Dialect{
	conventions, conventionsMCP, crewAI, openInference, // dialects_general.go, dialects_platforms.go
	traceloop, traceloopNormalized, traceloopMCP, vercel, langfuse, langsmith, // dialects_frameworks.go
	mastra, adkJava, googleADK, strands, pydanticAI, springAI, // dialects_agents.go
	claudeCode, geminiCLI, liveKit, genkit, agent365, qwenCode, pipecat, agentScope, agno, haystack,
	mlflow, laminar, spanKind, logfireAgents, logfireMCP, braintrust, logfireFunctions, // dialects_platforms.go
}
