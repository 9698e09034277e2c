// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// maxDepth bounds the nesting that is followed. Deeper values are replaced by null.
const maxDepth = 64

// text edits JSON in a string. A string that begins like JSON and cannot be parsed to its
// end is replaced as a whole, since it may hold anything.
func (r *Redactor) text(s string, role genai.Role, depth int) (string, bool) {
	if !genai.LooksLikeJSON(s) {
		return s, false
	}
	v, err := jsonvalue.Parse(s)
	if err != nil {
		if !genai.MayBeJSON(s) {
			return s, false
		}
		text, _ := r.replace(jsonvalue.String(s))
		return text, true
	}
	edited, changed := r.value(v, role, depth+1)
	if !changed {
		return s, false
	}
	return string(appendJSON(nil, edited)), true
}

// value edits a message, a part, or a list of them. role is that of the enclosing
// message.
func (r *Redactor) value(v jsonvalue.Value, role genai.Role, depth int) (jsonvalue.Value, bool) {
	if depth > maxDepth {
		return jsonvalue.Null(), true
	}
	switch v.Kind() {
	case jsonvalue.StringKind:
		text, changed := r.text(v.Text(), role, depth)
		return jsonvalue.String(text), changed
	case jsonvalue.ArrayKind:
		return array(v, func(element jsonvalue.Value) (jsonvalue.Value, bool) { return r.value(element, role, depth+1) })
	case jsonvalue.ObjectKind:
		return r.object(v, role, 0, depth)
	}
	return v, false
}

// array edits the elements of an array.
func array(v jsonvalue.Value, edit func(jsonvalue.Value) (jsonvalue.Value, bool)) (jsonvalue.Value, bool) {
	elements := make([]jsonvalue.Value, v.Len())
	changed := false
	for i := range elements {
		edited, is := edit(v.Index(i))
		elements[i], changed = edited, changed || is
	}
	return jsonvalue.Array(elements...), changed
}

// facets are what an object is to a tool call.
type facets uint8

const (
	reply    facets = 1 << iota // it answers a call
	call                        // it asks for one
	named                       // it has a call's id
	provider                    // it is a call of a provider's own tool, with its result
)

// object is an object whose members are edited.
type object struct {
	role   genai.Role
	facets facets
	result string // the member with the result of a provider's own tool
}

// resultKeys are the members of an answer that hold a result.
var resultKeys = slices.Concat(genai.ResponseKeys, []string{"text", "structuredContent", "error", "artifact", "results", "outputs"})

var callTypes = []string{"tool_call", "tool-call", "tool_use", "toolUse", "function_call", "functionCall", "server_tool_call", "server_tool_use", "mcp_tool_use"}

// replyType reports whether a part's type is that of an answer to a call, or resembles
// one.
func replyType(name string) bool {
	return slices.ContainsFunc([]string{"result", "Result", "response", "Response", "_output", "tool-error"}, func(end string) bool {
		return strings.HasSuffix(name, end)
	})
}

func objectOf(v jsonvalue.Value, role genai.Role) object {
	o := object{role: role}
	name := member(v, "type")
	if role == genai.ToolRole || replyType(name) {
		o.facets |= reply
	}
	if slices.Contains(callTypes, name) {
		o.facets |= call
	}
	for _, key := range [...]string{"toolCallId", "tool_call_id", "toolUseId", "tool_use_id"} {
		if v.Has(key) {
			o.facets |= named
		}
	}
	if key, ok := genai.ProviderResults[name]; ok {
		o.facets |= provider
		o.result = key
	}
	return o
}

// member returns a member that is a string; "" if there is none.
func member(v jsonvalue.Value, key string) string {
	inner, _ := v.Get(key)
	return inner.Text()
}

// object edits the members of an object that hold content and follows the others. known
// are facets that its enclosing value gives it.
func (r *Redactor) object(v jsonvalue.Value, role genai.Role, known facets, depth int) (jsonvalue.Value, bool) {
	if class, _, ok := genai.LangChainMessage(v); ok {
		role = genai.RoleOf(class)
	} else {
		for _, key := range genai.RoleKeys {
			if own := genai.RoleOf(member(v, key)); own != genai.UnknownRole {
				role = own
				break
			}
		}
	}
	o := objectOf(v, role)
	o.facets |= known
	members := make([]jsonvalue.Member, 0, v.Len())
	changed := false
	for i := range v.Len() {
		key, inner := v.Member(i)
		edited, keep, is := r.member(o, key, inner, depth+1)
		changed = changed || is
		if keep {
			members = append(members, jsonvalue.Member{Key: key, Value: edited})
		}
	}
	if !changed {
		return v, false
	}
	return jsonvalue.Object(members...), true
}

// A rule edits members of objects. The first rule of a member's key that matches edits it.
type rule struct {
	facets facets // of the object; 0 matches every object
	keys   []string
	edit   func(r *Redactor, o object, v jsonvalue.Value, depth int) (edited jsonvalue.Value, keep, changed bool)
	unless func(o object, v jsonvalue.Value) bool // does not match; nil is never
}

// rulesOf are the rules by key. They are set in init, because editing refers to them.
var rulesOf = map[string][]*rule{}

func init() {
	for _, ru := range []rule{
		// The result of a call.
		{reply, resultKeys, (*Redactor).result, hasReplies},
		{named, []string{"result", "output", "response", "toolOutput", "toolResult", "tool_output"}, (*Redactor).result, hasReplies},
		{provider, []string{"error"}, (*Redactor).result, hasReplies},
		// An object that is one, or anything else in its place.
		{0, genai.ReplyWrappers, (*Redactor).replyWrapper, nil},
		// The arguments of a call, also beside its result.
		{call | reply | named, slices.Concat(genai.ArgumentKeys, []string{"toolInput", "toolArgs", "tool_input", "tool_args"}), (*Redactor).argumentsOf, nil},
		{provider, []string{"arguments", "action", "queries", "code"}, (*Redactor).argumentsOf, nil},
		// Calls.
		{0, genai.CallWrappers, (*Redactor).callWrapper, noObject},
		{0, genai.CallListKeys, (*Redactor).callsOf, nil},
	} {
		for _, key := range ru.keys {
			rulesOf[key] = append(rulesOf[key], &ru)
		}
	}
}

// hasReplies reports whether a tool message's content is a list of parts that are
// replies themselves.
func hasReplies(o object, v jsonvalue.Value) bool {
	return o.role == genai.ToolRole && v.Kind() == jsonvalue.ArrayKind && genai.HoldsReplies(v, nil)
}

func noObject(_ object, v jsonvalue.Value) bool { return v.Kind() != jsonvalue.ObjectKind }

// member edits one member of an object.
func (r *Redactor) member(o object, key string, v jsonvalue.Value, depth int) (edited jsonvalue.Value, keep, changed bool) {
	if v.IsNull() || v.Kind() == jsonvalue.BoolKind && key != "content" {
		return v, true, false
	}
	if o.facets&provider != 0 && key == o.result && !hasReplies(o, v) {
		return r.result(o, v, depth)
	}
	for _, ru := range rulesOf[key] {
		if (ru.facets == 0 || ru.facets&o.facets != 0) && (ru.unless == nil || !ru.unless(o, v)) {
			return ru.edit(r, o, v, depth)
		}
	}
	switch v.Kind() {
	case jsonvalue.StringKind, jsonvalue.ArrayKind, jsonvalue.ObjectKind:
		edited, changed = r.value(v, o.role, depth)
		return edited, true, changed
	}
	return v, true, false
}

func (r *Redactor) result(_ object, v jsonvalue.Value, _ int) (edited jsonvalue.Value, keep, changed bool) {
	text, keep := r.replacement(v, result)
	return jsonvalue.String(text), keep, true
}

func (r *Redactor) argumentsOf(_ object, v jsonvalue.Value, _ int) (edited jsonvalue.Value, keep, changed bool) {
	if !r.withArguments || isSchema(v) {
		return v, true, false
	}
	text, keep := r.replacement(v, arguments)
	return jsonvalue.String(text), keep, true
}

func (r *Redactor) replyWrapper(o object, v jsonvalue.Value, depth int) (edited jsonvalue.Value, keep, changed bool) {
	if v.Kind() != jsonvalue.ObjectKind {
		return r.result(o, v, depth)
	}
	edited, changed = r.object(v, genai.UnknownRole, reply, depth)
	return edited, true, changed
}

func (r *Redactor) callWrapper(_ object, v jsonvalue.Value, depth int) (edited jsonvalue.Value, keep, changed bool) {
	edited, changed = r.object(v, genai.UnknownRole, call, depth)
	return edited, true, changed
}

func (r *Redactor) callsOf(_ object, v jsonvalue.Value, depth int) (edited jsonvalue.Value, keep, changed bool) {
	edited, changed = r.calls(v, depth)
	return edited, true, changed
}

// calls edits a list of calls beside a message's content.
func (r *Redactor) calls(v jsonvalue.Value, depth int) (jsonvalue.Value, bool) {
	switch v.Kind() {
	case jsonvalue.StringKind:
		parsed, err := jsonvalue.Parse(v.Text())
		if err != nil {
			return v, false
		}
		edited, changed := r.calls(parsed, depth)
		if !changed {
			return v, false
		}
		return jsonvalue.String(string(appendJSON(nil, edited))), true
	case jsonvalue.ArrayKind:
		return array(v, func(element jsonvalue.Value) (jsonvalue.Value, bool) {
			if element.Kind() != jsonvalue.ObjectKind {
				return element, false
			}
			return r.object(element, genai.UnknownRole, call, depth+1)
		})
	}
	return r.value(v, genai.UnknownRole, depth)
}

// isSchema reports whether a value describes arguments, as the definition of a tool
// does.
func isSchema(v jsonvalue.Value) bool {
	return v.Has("properties") || v.Has("$schema") || member(v, "type") == "object"
}
