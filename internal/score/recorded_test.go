// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// recorded is the folder of the recordings that test/recordings makes.
var recorded = filepath.Join("..", "..", "testdata", "recordings")

// knownOpen names the recordings that are not read right yet, with the reason. An entry is
// removed when its recording is read right.
var knownOpen = map[string]string{
	"anthropic-2.10.0+openinference-instrumentation-anthropic-3.1.0":  "is_error of a reply, in input.value, is not read",
	"boto3-1.44.5+openinference-instrumentation-bedrock-0.1.61":       "status error of a reply, in input.value, is not read",
	"haystack-ai-3.4.1+openinference-instrumentation-haystack-0.1.46": "tool messages have no content; input.value has them as Python prints them",
	"agentscope-2.0.11":                                     "the result is in an envelope {content, state, metadata, id}",
	"agent-framework-core-1.23.0":                           "each model call of the Responses API is shown only what is new and names its previous response as conversation: its calls count twice",
	"agno-3.1.10+opentelemetry-instrumentation-agno-0.62.4": "the framework's envelope as Python prints it: status='success' result=… error=None …",
	"autogen-agentchat-0.7.5+openinference-instrumentation-autogen-agentchat-0.1.22": "a result as Python prints it",
	"autogen-agentchat-0.7.5+opentelemetry-instrumentation-openai-0.62.4":            "a result as Python prints it",
	"claude-agent-sdk-0.2.184": "arguments in tool_input and result in new_context, as marked texts; failure on the inner span",
	"crewai-1.15.30+opentelemetry-instrumentation-crewai-0.62.4+opentelemetry-instrumentation-openai-0.62.4": "a result as Python prints it",
	"dspy-3.4.1+openinference-instrumentation-dspy-0.1.48":                                                   "the tool's name has .__call__ after it",
	"genkit-0.12.0":               "genkit:* spans are not read",
	"google-adk-2.13.0+SPAN_ONLY": "a result that is no object is in an envelope {result: …} on gen_ai.tool.call.result",
	"google-adk-2.13.0+openinference-instrumentation-google-adk-1.0.5":               "the result is in an envelope {id, name, response: {result: …}} on output.value",
	"google-genai-2.34.0+openinference-instrumentation-google-genai-1.4.14":          "a result that is no object is in an envelope {result: …}, a failure in {error: …}",
	"google-genai-2.34.0+opentelemetry-instrumentation-google-genai-1.3b0+SPAN_ONLY": "an answer's id is the tool's name and a number, not the call's id",
	"haystack-ai-3.4.1": "haystack.agent.step.tool spans are not read",
	"langchain-1.5.0+openinference-instrumentation-langchain-0.1.80": "the result is in an envelope {type: tool, data: {content: …}}",
	"langfuse-5.0.4":                 "arguments in {args: [], kwargs: {…}}; calls count twice",
	"langfuse-5.0.4+langchain-1.5.0": "the tools that a model is offered are messages with the role tool; calls count twice",
	"llama-index-core-0.14.25+openinference-instrumentation-llama-index-4.6.1": "the result is in an envelope {blocks, tool_name, raw_input, raw_output, is_error}",
	"llama-index-core-0.14.25+opentelemetry-instrumentation-llamaindex-0.62.4": "FunctionTool.task spans have the tool's name in their result only",
	"semantic-kernel-1.45.0": "a result as Python prints it",
}

// Every recording of the scenario gives the right answer for each call: no call is lost,
// and none is counted twice.
func TestRecorded(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(recorded, "*.expected.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".expected.json")
		t.Run(name, func(t *testing.T) {
			var expected struct{ Observations map[string][]string }
			readJSON(t, file, &expected)
			diff := cmp.Diff(expected.Observations, recordedAnswers(t, name))
			open, isOpen := knownOpen[name]
			switch {
			case diff != "" && !isOpen:
				t.Errorf("answers (-want +got):\n%s", diff)
			case diff == "" && isOpen:
				t.Errorf("it is read right now: remove it from knownOpen (%s)", open)
			}
		})
	}
	for name := range knownOpen {
		require.Contains(t, files, filepath.Join(recorded, name+".expected.json"), "knownOpen names no recording")
	}
}

// recordedAnswers returns the truth states and reasons of all calls in a recording, by tool.
func recordedAnswers(t *testing.T, name string) map[string][]string {
	t.Helper()
	answers := map[string][]string{}
	for _, j := range judgeFile(t, filepath.Join(recorded, "policy.yaml"), filepath.Join(recorded, name+".jsonl.gz")) {
		for _, o := range j.session.Observations {
			answer := string(o.Evaluation.TruthState)
			for _, reason := range o.Evaluation.ReasonCodes {
				answer += " " + string(reason)
			}
			tool := scenarioTool(o.Tool)
			answers[tool] = append(answers[tool], answer)
		}
		for _, tool := range j.session.Uncontracted {
			answers[tool.Tool] = append(answers[tool.Tool], "uncontracted")
		}
	}
	for _, states := range answers {
		slices.Sort(states)
	}
	return answers
}

// scenarioTool returns the scenario's name of a tool, without a plugin's or server's.
func scenarioTool(name string) string {
	for _, tool := range []string{"search_customer", "get_order", "send_email", "lookup_stock", "refund"} {
		if strings.HasSuffix(name, tool) {
			return tool
		}
	}
	return name
}
