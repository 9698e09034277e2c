// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// scope is what the templates of a contract or an event rule read: one call.
type scope struct {
	t      *trace
	k      *call
	result engine.Payload
}

// Text implements policy.Scope.
func (s scope) Text(root policy.Root) (string, bool) {
	text := ""
	if root == policy.RootToolName || root == policy.RootToolCallID {
		if root == policy.RootToolName {
			text = s.k.tool
		} else {
			text = s.k.id
		}
		return text, text != ""
	}
	return spanText(s.t, s.k.at, root)
}

// Value implements policy.Scope.
func (s scope) Value(root policy.Root) (jsonvalue.Value, bool) {
	if root == policy.RootArguments {
		return s.k.argumentsValue, s.k.argumentsKnown
	}
	return s.result.Value, s.result.Parsed
}

// Attribute implements policy.Scope.
func (s scope) Attribute(root policy.Root, name string) (jsonvalue.Value, bool) {
	return spanAttribute(s.t, s.k.at, root, name)
}

// spanScope is what a label template reads of a fact that is no call.
type spanScope struct {
	t    *trace
	span int
}

// Text implements policy.Scope.
func (s spanScope) Text(root policy.Root) (string, bool) { return spanText(s.t, s.span, root) }

// Value implements policy.Scope.
func (s spanScope) Value(policy.Root) (jsonvalue.Value, bool) { return jsonvalue.Null(), false }

// Attribute implements policy.Scope.
func (s spanScope) Attribute(root policy.Root, name string) (jsonvalue.Value, bool) {
	return spanAttribute(s.t, s.span, root, name)
}

func spanText(t *trace, span int, root policy.Root) (string, bool) {
	text := ""
	switch root {
	case policy.RootAgentName:
		text = t.nodes[span].agent
	case policy.RootConversationID:
		text = genai.ConversationID(t.nodes[span].conversation)
	case policy.RootSpanName:
		text = t.spans[span].Name
	case policy.RootSpanID:
		text = t.spans[span].SpanID.String()
	case policy.RootTraceID:
		text = t.spans[span].TraceID.String()
	}
	return text, text != ""
}

func spanAttribute(t *trace, span int, root policy.Root, name string) (jsonvalue.Value, bool) {
	if root == policy.RootResource {
		return t.spans[span].ResourceAttribute(name)
	}
	return t.spans[span].Attribute(name)
}
