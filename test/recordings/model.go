// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

type object = map[string]any

const created = 1767225600

// serveModel answers the requests of the clients of model providers: OpenAI chat
// completions and responses, Anthropic messages, Gemini generateContent and Bedrock
// converse. It reports whether the path is one of theirs.
func serveModel(w http.ResponseWriter, r *http.Request) bool {
	path := r.URL.Path
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return true
	}
	var request struct {
		Model         string
		Stream        bool
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	_ = json.Unmarshal(body, &request) // not all requests are JSON
	if request.Model == "" {
		request.Model = "gpt-4o-mini"
	}
	switch {
	case strings.HasSuffix(path, "/chat/completions") && request.Stream:
		sendEvents(w, chatChunks(request.Model, respond(body), request.StreamOptions.IncludeUsage), true)
	case strings.HasSuffix(path, "/chat/completions"):
		send(w, chatCompletion(request.Model, respond(body)))
	case strings.HasSuffix(path, "/responses") && request.Stream:
		sendEvents(w, responseEvents(request.Model, respond(body)), false)
	case strings.HasSuffix(path, "/responses"):
		send(w, response(request.Model, respond(body), "completed"))
	case strings.HasSuffix(path, "/messages") && request.Stream:
		sendEvents(w, messageEvents(request.Model, respond(body)), false)
	case strings.HasSuffix(path, "/messages"):
		send(w, message(request.Model, respond(body)))
	case strings.HasSuffix(path, "/messages/count_tokens"):
		send(w, object{"input_tokens": 50})
	case strings.HasSuffix(path, ":generateContent"):
		send(w, generated(respond(body)))
	case strings.HasSuffix(path, ":streamGenerateContent"):
		sendEvents(w, []object{generated(respond(body))}, false)
	case strings.HasSuffix(path, "/converse"):
		send(w, converse(respond(body)))
	case strings.HasSuffix(path, "/v1/models"):
		send(w, object{"object": "list", "data": []object{{"id": "gpt-4o-mini", "object": "model", "created": created, "owned_by": "test"}}})
	default:
		return false
	}
	return true
}

func send(w http.ResponseWriter, body object) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, compact(body))
}

// sendEvents writes a stream of server-sent events.
func sendEvents(w http.ResponseWriter, events []object, done bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range events {
		if name, ok := event["type"].(string); ok {
			fmt.Fprintf(w, "event: %s\n", name)
		}
		fmt.Fprintf(w, "data: %s\n\n", compact(event))
	}
	if done {
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	}
}

func chatCalls(a answer) (out []object) {
	for i, c := range a.calls {
		out = append(out, object{"index": i, "id": c.id, "type": "function", "function": object{"name": c.tool, "arguments": c.arguments()}})
	}
	return out
}

func chatUsage() object {
	return object{"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60}
}

func chatMessage(a answer) (message object, finish string) {
	if len(a.calls) == 0 {
		return object{"role": "assistant", "content": a.text}, "stop"
	}
	return object{"role": "assistant", "content": nil, "tool_calls": chatCalls(a)}, "tool_calls"
}

func chatCompletion(model string, a answer) object {
	message, finish := chatMessage(a)
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": created, "model": model,
		"choices": []object{{"index": 0, "message": message, "finish_reason": finish}}, "usage": chatUsage(),
	}
}

func chatChunks(model string, a answer, usage bool) []object {
	message, finish := chatMessage(a)
	chunk := func(choices []object) object {
		return object{"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": created, "model": model, "choices": choices}
	}
	delta := func(delta object) object {
		return chunk([]object{{"index": 0, "delta": delta, "finish_reason": nil}})
	}
	calls := chatCalls(a)
	delete(message, "tool_calls")
	out := []object{delta(message)}
	for _, c := range calls {
		// A call comes by itself, its arguments after its name.
		arguments := object{"index": c["index"], "function": object{"arguments": c["function"].(object)["arguments"]}}
		c["function"].(object)["arguments"] = ""
		out = append(out, delta(object{"tool_calls": []object{c}}), delta(object{"tool_calls": []object{arguments}}))
	}
	out = append(out, chunk([]object{{"index": 0, "delta": object{}, "finish_reason": finish}}))
	if usage {
		last := chunk([]object{})
		last["usage"] = chatUsage()
		out = append(out, last)
	}
	return out
}

func responseItems(a answer) (out []object) {
	for i, c := range a.calls {
		out = append(out, object{"type": "function_call", "id": "fc_" + strconv.Itoa(i+1), "call_id": c.id, "name": c.tool, "arguments": c.arguments(), "status": "completed"})
	}
	if len(a.calls) == 0 {
		out = append(out, object{
			"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": a.text, "annotations": []object{}}},
		})
	}
	return out
}

func response(model string, a answer, status string) object {
	out := object{
		"id": responseID(a), "object": "response", "created_at": created, "model": model, "status": status,
		"output": []object{}, "parallel_tool_calls": true, "tool_choice": "auto", "tools": []object{}, "error": nil,
		"incomplete_details": nil, "instructions": nil, "metadata": object{}, "temperature": 1, "top_p": 1,
	}
	if status == "completed" {
		out["output"] = responseItems(a)
		out["usage"] = object{
			"input_tokens": 50, "output_tokens": 10, "total_tokens": 60,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
		}
	}
	return out
}

func responseEvents(model string, a answer) (out []object) {
	add := func(event object) {
		event["sequence_number"] = len(out)
		out = append(out, event)
	}
	add(object{"type": "response.created", "response": response(model, a, "in_progress")})
	for i, item := range responseItems(a) {
		add(object{"type": "response.output_item.added", "output_index": i, "item": item})
		if item["type"] == "message" {
			part := object{"type": "output_text", "text": a.text, "annotations": []object{}}
			at := func(event object) object {
				event["item_id"], event["output_index"], event["content_index"] = item["id"], i, 0
				return event
			}
			add(at(object{"type": "response.content_part.added", "part": part}))
			add(at(object{"type": "response.output_text.delta", "delta": a.text, "logprobs": []object{}}))
			add(at(object{"type": "response.output_text.done", "text": a.text, "logprobs": []object{}}))
			add(at(object{"type": "response.content_part.done", "part": part}))
		} else {
			add(object{"type": "response.function_call_arguments.done", "item_id": item["id"], "output_index": i, "name": item["name"], "arguments": item["arguments"]})
		}
		add(object{"type": "response.output_item.done", "output_index": i, "item": item})
	}
	add(object{"type": "response.completed", "response": response(model, a, "completed")})
	return out
}

func messageBlocks(a answer) (blocks []object, stop string) {
	if len(a.calls) == 0 {
		return []object{{"type": "text", "text": a.text}}, "end_turn"
	}
	for _, c := range a.calls {
		blocks = append(blocks, object{"type": "tool_use", "id": c.id, "name": c.tool, "input": c.args})
	}
	return blocks, "tool_use"
}

func message(model string, a answer) object {
	blocks, stop := messageBlocks(a)
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": blocks,
		"stop_reason": stop, "stop_sequence": nil, "usage": object{"input_tokens": 50, "output_tokens": 10},
	}
}

func messageEvents(model string, a answer) []object {
	blocks, stop := messageBlocks(a)
	start := message(model, a)
	start["content"], start["stop_reason"] = []object{}, nil
	out := []object{{"type": "message_start", "message": start}}
	for i, block := range blocks {
		first, delta := object{"type": "text", "text": ""}, object{"type": "text_delta", "text": a.text}
		if block["type"] == "tool_use" {
			first = object{"type": "tool_use", "id": block["id"], "name": block["name"], "input": object{}}
			delta = object{"type": "input_json_delta", "partial_json": compact(block["input"])}
		}
		out = append(out,
			object{"type": "content_block_start", "index": i, "content_block": first},
			object{"type": "content_block_delta", "index": i, "delta": delta},
			object{"type": "content_block_stop", "index": i})
	}
	return append(out,
		object{"type": "message_delta", "delta": object{"stop_reason": stop, "stop_sequence": nil}, "usage": object{"output_tokens": 10}},
		object{"type": "message_stop"})
}

func generated(a answer) object {
	parts := []object{}
	for _, c := range a.calls {
		parts = append(parts, object{"functionCall": object{"id": c.id, "name": c.tool, "args": c.args}})
	}
	if len(a.calls) == 0 {
		parts = append(parts, object{"text": a.text})
	}
	return object{
		"candidates":    []object{{"index": 0, "finishReason": "STOP", "content": object{"role": "model", "parts": parts}}},
		"usageMetadata": object{"promptTokenCount": 50, "candidatesTokenCount": 10, "totalTokenCount": 60},
		"modelVersion":  "gemini-2.5-flash", "responseId": "resp_1",
	}
}

func converse(a answer) object {
	content, stop := []object{}, "end_turn"
	for _, c := range a.calls {
		content, stop = append(content, object{"toolUse": object{"toolUseId": c.id, "name": c.tool, "input": c.args}}), "tool_use"
	}
	if len(a.calls) == 0 {
		content = append(content, object{"text": a.text})
	}
	return object{
		"output":     object{"message": object{"role": "assistant", "content": content}},
		"stopReason": stop, "usage": object{"inputTokens": 50, "outputTokens": 10, "totalTokens": 60}, "metrics": object{"latencyMs": 1},
	}
}
