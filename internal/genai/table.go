// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "strings"

// attr numbers an attribute name of the table.
type attr int32

// purpose is what an attribute is looked at for before anything is known of its
// span.
type purpose uint8

const (
	forMark         purpose = 1 << iota // it may make the span a tool's, a model's, an agent's
	forAgent                            // it names an agent on spans of every kind
	forConversation                     // it names a conversation
)

// table is the compiled table of dialects. It is immutable.
type table struct {
	rows     []row
	custom   int             // how many of the rows are the user's
	names    map[string]attr // every attribute name
	purposes []purpose       // by attr
	prefixes []string        // every flattened prefix, with its final dot

	conversations []attr
	agentNames    []attr // of spans that speak no dialect
	httpStatus    attr

	// Most attributes of most spans are in no dialect. They are told by their
	// first byte and length, without a look at the map.
	lengths  [256]uint64 // by first byte: the lengths of names, modulo 64
	prefixed [256]bool   // by first byte: a prefix begins so
	named    [256]bool   // by first byte: a mark over the span's name alone begins so
}

// row is a Dialect with its names resolved.
type row struct {
	*Dialect
	tool, model, agent, noCall, failure              []mark
	toolName, callID, arguments, result              []attr
	failureType, agentName                           []attr
	input, output, exchange, outputText, outputCalls []attr
}

type mark struct {
	attr     attr // -1: none
	value    string
	spanName string
	scope    string
	and      []mark // none or one
}

// maxRows bounds the rows: which of them a span speaks is kept in one word.
const maxRows = 64

// compile resolves the names of dialects; the first custom ones are the user's.
func compile(dialects []*Dialect, custom int, conversations []string) *table {
	if len(dialects) > maxRows {
		dialects = dialects[:maxRows]
	}
	t := &table{names: map[string]attr{}, custom: custom}
	for _, d := range dialects {
		t.rows = append(t.rows, row{
			Dialect:     d,
			tool:        t.marks(d.Tool, forMark),
			model:       t.marks(d.Model, forMark),
			agent:       t.marks(d.Agent, forMark),
			noCall:      t.marks(d.NoCall, forMark),
			failure:     t.marks(d.FailureMark, 0),
			toolName:    t.attrs(d.ToolName, 0),
			callID:      t.attrs(d.CallID, 0),
			arguments:   t.attrs(d.Arguments, 0),
			result:      t.attrs(d.Result, 0),
			failureType: t.attrs(d.FailureType, 0),
			agentName:   t.attrs(d.AgentName, 0),
			input:       t.attrs(d.Input, 0),
			output:      t.attrs(d.Output, 0),
			exchange:    t.attrs(d.Exchange, 0),
			outputText:  t.attrs(d.OutputText, 0),
			outputCalls: t.attrs(d.OutputCalls, 0),
		})
		t.conversations = append(t.conversations, t.attrs(d.Conversation, forConversation)...)
		for _, prefixes := range [][]string{d.InputPrefix, d.OutputPrefix} {
			for _, p := range prefixes {
				t.prefixes = append(t.prefixes, p+".")
				t.prefixed[p[0]] = true
			}
		}
	}
	t.conversations = append(t.conversations, t.attrs(conversations, forConversation)...)
	t.agentNames = t.attrs(agentNames, forAgent)
	t.httpStatus = t.attrs([]string{"http.response.status_code"}, 0)[0]
	for name := range t.names {
		t.lengths[name[0]] |= 1 << (len(name) & 63)
	}
	return t
}

func (t *table) attrs(names []string, p purpose) []attr {
	out := make([]attr, 0, len(names))
	for _, name := range names {
		if name == "" {
			continue
		}
		a, ok := t.names[name]
		if !ok {
			a = attr(len(t.names)) //nolint:gosec // a table has some hundred names
			t.names[name] = a
			t.purposes = append(t.purposes, 0)
		}
		t.purposes[a] |= p
		out = append(out, a)
	}
	return out
}

func (t *table) marks(marks []Mark, p purpose) []mark {
	out := make([]mark, len(marks))
	for i, m := range marks {
		out[i] = mark{attr: -1, value: m.Value, spanName: m.SpanName, scope: m.Scope}
		if m.Key != "" {
			out[i].attr = t.attrs([]string{m.Key}, p)[0]
		}
		if m.And != nil {
			out[i].and = t.marks([]Mark{*m.And}, p)
		}
		if p != 0 && m.Key == "" && m.And == nil {
			t.begins(m.SpanName)
		}
	}
	return out
}

// begins notes how the names of spans begin that a mark recognises without any
// attribute.
func (t *table) begins(pattern string) {
	if pattern == "" || strings.HasPrefix(pattern, "*") {
		for c := range t.named {
			t.named[c] = true
		}
		return
	}
	t.named[pattern[0]] = true
}

// lookup returns the number of an attribute name.
func (t *table) lookup(name string) (attr, bool) {
	if name == "" || t.lengths[name[0]]&(1<<(len(name)&63)) == 0 {
		return 0, false
	}
	a, ok := t.names[name]
	return a, ok
}

// prefix returns the flattened prefix that a name begins with, "" for none.
func (t *table) prefix(name string) string {
	if name == "" || !t.prefixed[name[0]] {
		return ""
	}
	for _, p := range t.prefixes {
		if strings.HasPrefix(name, p) {
			return p
		}
	}
	return ""
}
