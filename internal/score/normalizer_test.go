// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

// normalizer does what contrib's gen_ai_normalizer documents of its built-in sources.
// The component is not among the modules of this project.
type normalizer struct {
	keys     map[string]string
	kinds    map[string]string // values of gen_ai.operation.name
	prefixes map[string]string
}

var normalizers = map[string]normalizer{
	"openinference": {
		keys: map[string]string{
			"llm.model_name": "gen_ai.request.model", "tool.name": "gen_ai.tool.name", "tool.description": "gen_ai.tool.description",
			"tool_call.function.arguments": "gen_ai.tool.call.arguments", "tool_call.id": "gen_ai.tool.call.id",
			"agent.name": "gen_ai.agent.name", "session.id": "gen_ai.conversation.id", "openinference.span.kind": "gen_ai.operation.name",
		},
		kinds: map[string]string{
			"llm": "chat", "chain": "invoke_agent", "retriever": "retrieval", "reranker": "retrieval", "tool": "execute_tool",
			"agent": "invoke_agent", "prompt": "text_completion", "embedding": "embeddings",
		},
		prefixes: map[string]string{"llm.input_messages.": "gen_ai.input.messages", "llm.output_messages.": "gen_ai.output.messages"},
	},
	"openllmetry": {
		keys: map[string]string{
			"llm.request.type": "gen_ai.operation.name", "traceloop.span.kind": "gen_ai.operation.name",
			"traceloop.entity.name": "gen_ai.agent.name", "traceloop.entity.input": "gen_ai.input.messages", "traceloop.entity.output": "gen_ai.output.messages",
		},
		kinds: map[string]string{
			"workflow": "invoke_workflow", "task": "invoke_agent", "agent": "invoke_agent", "tool": "execute_tool",
			"completion": "text_completion", "chat": "chat", "rerank": "retrieval", "embedding": "embeddings",
		},
	},
}

func (n normalizer) span(attributes pcommon.Map, removeOriginals bool) {
	var gone []string
	set := map[string]string{}
	for key, v := range attributes.All() {
		target, ok := n.keys[key]
		if !ok {
			continue
		}
		if _, there := attributes.Get(target); there {
			continue
		}
		value := v.AsString()
		if kind, ok := n.kinds[strings.ToLower(value)]; ok && target == "gen_ai.operation.name" {
			value = kind
		}
		set[target] = value
		gone = append(gone, key)
	}
	for prefix, target := range n.prefixes {
		if text, keys := n.messages(attributes, prefix); text != "" {
			if _, there := attributes.Get(target); !there {
				set[target] = text
				gone = append(gone, keys...)
			}
		}
	}
	for key, value := range set {
		attributes.PutStr(key, value)
	}
	for _, key := range gone {
		if removeOriginals {
			attributes.Remove(key)
		}
	}
}

// messages puts flattened messages together.
func (n normalizer) messages(attributes pcommon.Map, prefix string) (text string, keys []string) {
	type call struct{ id, name, arguments string }
	type message struct {
		role, content, id string
		calls             map[int]*call
	}
	messages := map[int]*message{}
	for key, v := range attributes.All() {
		rest, ok := strings.CutPrefix(key, prefix)
		if !ok {
			continue
		}
		position, field, _ := strings.Cut(rest, ".")
		at, err := strconv.Atoi(position)
		field, ok = strings.CutPrefix(field, "message.")
		if err != nil || !ok {
			continue
		}
		keys = append(keys, key)
		if messages[at] == nil {
			messages[at] = &message{calls: map[int]*call{}}
		}
		m := messages[at]
		switch field {
		case "role":
			m.role = v.AsString()
		case "content":
			m.content = v.AsString()
		case "tool_call_id":
			m.id = v.AsString()
		}
		rest, ok = strings.CutPrefix(field, "tool_calls.")
		if !ok {
			continue
		}
		position, field, _ = strings.Cut(rest, ".")
		if at, err = strconv.Atoi(position); err != nil {
			continue
		}
		if m.calls[at] == nil {
			m.calls[at] = &call{}
		}
		switch field {
		case "tool_call.id":
			m.calls[at].id = v.AsString()
		case "tool_call.function.name":
			m.calls[at].name = v.AsString()
		case "tool_call.function.arguments":
			m.calls[at].arguments = v.AsString()
		}
	}
	var out []any
	for at := range len(messages) + 64 {
		m := messages[at]
		if m == nil {
			continue
		}
		parts := []any{}
		switch {
		case m.id != "":
			parts = append(parts, map[string]any{"type": "tool_call_response", "id": m.id, "response": m.content})
		case len(m.calls) > 0:
			for i := range len(m.calls) + 64 {
				if c := m.calls[i]; c != nil {
					var arguments any
					if json.Unmarshal([]byte(c.arguments), &arguments) != nil {
						arguments = c.arguments
					}
					parts = append(parts, map[string]any{"type": "tool_call", "id": c.id, "name": c.name, "arguments": arguments})
				}
			}
		case m.content != "":
			parts = append(parts, map[string]any{"type": "text", "content": m.content})
		}
		out = append(out, map[string]any{"role": m.role, "parts": parts})
	}
	if out == nil {
		return "", nil
	}
	encoded, err := json.Marshal(out)
	if err != nil {
		return "", nil
	}
	return string(encoded), keys
}

// Behind the normalizer each call comes to what it came to before, whether the
// original attributes are kept or removed.
func TestNormalizedSpans(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(recordings, "policy.yaml"))
	require.NoError(t, err)
	p, err := policy.Load("policy.yaml", text)
	require.NoError(t, err)
	scorer := score.New(p)
	for file, source := range map[string]string{
		"openinference-openai-agents-0.2.15": "openinference",
		"openinference-langchain-4.1.1":      "openinference",
		"traceloop-0.27.0-wrappers":          "openllmetry",
	} {
		for _, removeOriginals := range []bool{false, true} {
			var traces traceread.Collection
			require.NoError(t, traceread.Read([]string{filepath.Join(recordings, file+".jsonl.gz")}, nil, 1, traceread.Handler{
				Traces: func(td ptrace.Traces, _ traceread.Place) error { traces.Add(td); return nil },
				Broken: func(e *traceread.Error) error { return e },
			}))
			decoder := genai.NewDecoder(genai.Options{})
			calls := 0
			for _, td := range traces.Traces() {
				facts, spans := decoder.Traces(td)
				before := reasons(scorer.Trace(facts, nil))
				for _, span := range spans {
					normalizers[source].span(span.Attributes(), removeOriginals)
				}
				facts, _ = decoder.Traces(td)
				require.Equal(t, before, reasons(scorer.Trace(facts, nil)), "%s, remove_originals: %t", file, removeOriginals)
				calls += len(before)
			}
			require.Positive(t, calls)
		}
	}
}

func reasons(s *score.Session) (list []string) {
	if s == nil {
		return nil
	}
	for _, o := range s.Observations {
		list = append(list, o.Tool+" "+string(o.Evaluation.ReasonCodes[0]))
	}
	slices.Sort(list)
	return list
}
