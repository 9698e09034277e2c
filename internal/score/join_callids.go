// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// use is where an id was seen.
type use struct {
	tool      string
	arguments []*genai.Content
	spans     []int
	answer    int // the model span whose answer asks for it, -1 if none does
}

// distrust finds the ids that name no single call: they stand on calls of
// different tools or with different arguments, two answers ask for them, or two
// spans one after the other returned different things.
func (c *calls) distrust(models []int) {
	uses := map[string]*use{}
	c.uses = uses
	for _, i := range c.t.order {
		s := &c.t.spans[i]
		if s.Kind != genai.Tool || !c.within(i) {
			continue
		}
		id, tool := c.t.callID(i), s.Call.Tool
		if id = c.t.scoped(c.t.nodes[i].conversation, id); id == "" || c.ambiguous[id] {
			continue
		}
		if tool == "" {
			tool = c.t.result(&s.Call.Result).Tool
		}
		u := uses[id]
		if u == nil {
			uses[id] = &use{tool: tool, arguments: []*genai.Content{&s.Call.Arguments}, spans: []int{i}, answer: -1}
			continue
		}
		if !sameTool(u.tool, tool) && !namedFor(u.tool, tool) && !namedFor(tool, u.tool) ||
			c.contradicts(u.arguments, &s.Call.Arguments) || c.again(u.spans, i) {
			c.ambiguous[id] = true
		}
		u.spans = append(u.spans, i)
		if u.tool == "" {
			u.tool = tool
		}
	}
	for _, i := range models {
		s := &c.t.spans[i]
		conversation := c.t.nodes[i].conversation
		c.distrustMessages(uses, s.Input.List, conversation, -1)
		c.distrustMessages(uses, s.Output.List, conversation, i)
	}
}

// distrustMessages looks at the requests of messages. answer is the model span
// whose answer they are, -1 for what a model was shown.
func (c *calls) distrustMessages(uses map[string]*use, list []genai.Message, conversation string, answer int) {
	for m := range list {
		for j := range list[m].Parts {
			p := &list[m].Parts[j]
			if p.Kind != genai.CallPart || p.CallID == "" || answer < 0 && c.lookedAt(p) {
				continue
			}
			id := c.t.scoped(conversation, p.CallID)
			if c.ambiguous[id] {
				continue
			}
			u := uses[id]
			if u == nil {
				u = &use{tool: p.Tool, answer: -1}
				uses[id] = u
			}
			switch {
			case !sameTool(u.tool, p.Tool) && !namedFor(u.tool, p.Tool) && !namedFor(p.Tool, u.tool):
				c.ambiguous[id] = true
			case !same(u.arguments, &p.Content) && c.rewritten(u.arguments, &p.Content) == different:
				c.ambiguous[id] = true
			case answer >= 0 && u.answer >= 0 && u.answer != answer:
				c.ambiguous[id] = true
			}
			if u.tool == "" {
				u.tool = p.Tool
			}
			if len(u.arguments) < maxSpellings && !same(u.arguments, &p.Content) {
				u.arguments = append(u.arguments, &p.Content)
			}
			if answer >= 0 {
				u.answer = answer
			}
		}
	}
}

// lookedAt reports whether a request was looked at already: models are shown the
// same messages again and again. Where there are several conversations its id may
// stand for another call now.
func (c *calls) lookedAt(p *genai.Part) bool {
	if c.t.several {
		return false
	}
	_, already := c.requests[p]
	c.requests[p] = struct{}{}
	return already
}

// maxSpellings bounds in how many ways the arguments of one call are remembered.
const maxSpellings = 8

// same reports whether arguments stand there in the very form that was seen.
// Mostly it is the same message once more.
func same(known []*genai.Content, other *genai.Content) bool {
	if slices.Contains(known, other) {
		return true
	}
	for _, k := range known {
		if k.Form == other.Form && jsonvalue.Equal(k.Value, other.Value) {
			return true
		}
	}
	return false
}

// contradicts reports whether spans with the same id were called with different
// arguments.
func (c *calls) contradicts(known []*genai.Content, other *genai.Content) bool {
	b := c.t.args(other)
	for _, k := range known {
		a := c.t.args(k)
		if a.known && b.known && !a.masked && !b.masked && compareArguments(a.value, b.value) == different {
			return true
		}
	}
	return false
}

// rewritten compares a request's arguments with those of the calls that its id
// stands on. Frameworks add defaults and drop what is null, so only a value that
// both have, and that differs, makes them different.
func (c *calls) rewritten(known []*genai.Content, other *genai.Content) likeness {
	b := c.t.args(other)
	if !b.known {
		return unknown
	}
	for _, k := range known {
		a := c.t.args(k)
		if !a.known || a.value.Kind() != jsonvalue.ObjectKind || b.value.Kind() != jsonvalue.ObjectKind {
			continue
		}
		for i := 0; i < a.value.Len(); i++ {
			key, x := a.value.Member(i)
			if y, ok := b.value.Get(key); ok && !jsonvalue.Equal(x, y) {
				return different
			}
		}
	}
	return unknown
}

// again reports whether a span is not the same call once more, although it has
// the same id, tool and arguments: it began after the others had ended, and
// something else came of it.
func (c *calls) again(spans []int, i int) bool {
	t := c.t
	r := t.result(&t.spans[i].Call.Result)
	if r.State != genai.Captured {
		return false
	}
	last := spans[len(spans)-1]
	o := t.result(&t.spans[last].Call.Result)
	return o.State == genai.Captured && t.spans[last].Failure.Kind == genai.NoFailure &&
		t.nodes[i].start >= t.nodes[last].end && !t.within(last, i) && differs(o, r)
}
