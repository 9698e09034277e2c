// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// call is a tool call that the scripted model asks for.
type call struct {
	id   string
	tool string
	args map[string]any
}

func (c call) arguments() string { return compact(c.args) }

// script is the scenario: the calls of the model in order, the first two of them in one
// answer.
var script = []call{
	{"call_1", "search_customer", map[string]any{"id": "42"}},
	{"call_2", "search_customer", map[string]any{"id": "7"}},
	{"call_3", "get_order", map[string]any{"order_id": "A-1"}},
	{"call_4", "send_email", map[string]any{"to": "ada@example.test", "body": "Your order is on its way."}},
	{"call_5", "lookup_stock", map[string]any{"sku": "X"}},
	{"call_6", "refund", map[string]any{"order_id": "A-1", "amount": 20}},
}

const (
	askFirst  = "Ask me before you refund" // in a prompt: the model asks, and a later turn resumes
	question  = "Shall I go on?"
	lastWords = "Done, except for the refund."
	failure   = "payment backend unavailable" // the exception of the last call
	aside     = "Support request"
)

// answer is one answer of the scripted model: calls, or a text.
type answer struct {
	text  string
	calls []call
}

// respond returns the model's answer to a request. It depends on the request alone: how far
// the scenario is follows from the calls that the request shows.
func respond(body []byte) answer {
	var request any
	if json.Unmarshal(body, &request) != nil {
		return answer{text: aside}
	}
	tools := offered(request)
	if strings.Contains(string(body), "next_tool_name") {
		return respondDSPy(string(body))
	}
	if len(tools) == 0 {
		return answer{text: aside}
	}
	done := max(shown(string(body)), results(request))
	asks := strings.Contains(string(body), askFirst) || previousResponse.Match(body)
	var next []call
	switch {
	case done < 2:
		next = script[:2]
	case done < 5:
		next = script[done : done+1]
	case asks && done == 5 && !strings.Contains(string(body), question) && !strings.Contains(string(body), `resp_5q"`):
		return finish(tools, question)
	case done < len(script):
		next = script[done : done+1]
	default:
		return finish(tools, lastWords)
	}
	out := answer{calls: make([]call, len(next))}
	for i, c := range next {
		c.tool = offeredAs(tools, c.tool)
		out.calls[i] = c
	}
	return out
}

// finish answers with a text, or by the tool that a framework offers in its place.
func finish(tools []string, text string) answer {
	for _, name := range tools {
		if name == "final_answer" {
			return answer{calls: []call{{"call_final", name, map[string]any{"answer": text}}}}
		}
	}
	return answer{text: text}
}

// shown counts the calls of the script that a request shows, by their ids. The last of them
// is known by its failure too: some frameworks show that alone.
func shown(body string) (n int) {
	if strings.Contains(body, failure) {
		return len(script)
	}
	for n < len(script) && strings.Contains(body, script[n].id) {
		n++
	}
	if m := previousResponse.FindStringSubmatch(body); m != nil {
		before, _ := strconv.Atoi(m[1]) // the pattern has digits only
		n = max(n, before)
	}
	return n
}

// previousResponse is the id of a stored response that a request continues: the number of
// calls so far, and whether the question was asked.
var previousResponse = regexp.MustCompile(`"previous_response_id": ?"resp_(\d+)(q?)"`)

// responseID names a response by how far the scenario is after it.
func responseID(a answer) string {
	switch {
	case a.text == question:
		return "resp_5q"
	case len(a.calls) == 0:
		return "resp_6"
	}
	return "resp_" + strings.TrimPrefix(a.calls[len(a.calls)-1].id, "call_")
}

// results counts the tool results in a request.
func results(value any) (n int) {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			n += results(v)
		}
	case map[string]any:
		if value["role"] == "tool" || value["type"] == "function_call_output" || value["type"] == "tool_result" {
			return 1
		}
		for key, v := range value {
			if key == "functionResponse" || key == "toolResult" {
				return 1
			}
			n += results(v)
		}
	}
	return n
}

// offered returns the names of the tools that a request offers.
func offered(request any) (names []string) {
	object, _ := request.(map[string]any)
	tools := object["tools"]
	if config, ok := object["toolConfig"].(map[string]any); ok && config["tools"] != nil {
		tools = config["tools"]
	}
	var walk func(any)
	walk = func(value any) {
		switch value := value.(type) {
		case []any:
			for _, v := range value {
				walk(v)
			}
		case map[string]any:
			if name, ok := value["name"].(string); ok {
				names = append(names, name)
				return
			}
			for _, key := range []string{"function", "functionDeclarations", "toolSpec"} {
				walk(value[key])
			}
		}
	}
	walk(tools)
	return names
}

// offeredAs returns the offered name of a tool: frameworks may put a server's name before it.
func offeredAs(tools []string, tool string) string {
	for _, name := range tools {
		if strings.HasSuffix(name, tool) {
			return name
		}
	}
	return tool
}

// respondDSPy answers a request for fields, which is how DSPy asks for tool calls: one at
// a time.
func respondDSPy(body string) answer {
	if strings.Contains(body, "`reasoning`") {
		return answer{text: "[[ ## reasoning ## ]]\nAll steps are done.\n\n[[ ## answer ## ]]\n" + lastWords + "\n\n[[ ## completed ## ]]"}
	}
	done := 0
	for strings.Contains(body, "observation_"+strconv.Itoa(done)) {
		done++
	}
	tool, args := "finish", "{}"
	if done < len(script) {
		tool, args = script[done].tool, script[done].arguments()
	}
	return answer{text: "[[ ## next_thought ## ]]\nThe next step.\n\n[[ ## next_tool_name ## ]]\n" + tool +
		"\n\n[[ ## next_tool_args ## ]]\n" + args + "\n\n[[ ## completed ## ]]"}
}

func compact(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // the values are the script's own
	}
	return string(text)
}
