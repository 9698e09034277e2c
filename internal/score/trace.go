// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// trace is the tree of a trace's spans, each span once.
type trace struct {
	account *Account // how the verdict comes about, nil if nobody asks

	spans []genai.Span
	order []int // span indexes by effective start, depth, span id; redeliveries left out
	nodes []node

	several bool // there are several conversations

	duplicates [][2]int // redelivered span, the span it repeats
	gap        string   // why an event may be missing from the trace; "" if nothing says so

	results   map[*genai.Content]genai.Result
	arguments map[*genai.Content]arguments
}

type node struct {
	parent int // -1 for none
	depth  int32
	// start and end are not before the parent's start: clocks of two processes
	// may differ.
	start, end genai.Timestamp
	// skewed orders what was moved to the same time by that: the span's own
	// times. They are 0 where nothing was moved.
	skewedStart, skewedEnd genai.Timestamp

	agent        string // own or inherited
	conversation string
	service      string
}

// Reasons why an event may be missing.
const (
	gapParent   = "a parent span is missing"
	gapRoot     = "the trace has no root span"
	gapDropped  = "a span reports dropped attributes or events"
	gapMessages = "messages were not captured"
)

func newTrace(spans []genai.Span) *trace {
	t := &trace{
		spans: spans, nodes: make([]node, len(spans)),
		results: map[*genai.Content]genai.Result{}, arguments: map[*genai.Content]arguments{},
	}
	byID := t.once()
	root := false
	for _, i := range t.order {
		s, n := &spans[i], &t.nodes[i]
		n.parent = -1
		switch parent, ok := byID[s.ParentID]; {
		case s.ParentID.IsEmpty():
			root = true
		case ok && parent != i:
			n.parent = parent
		case s.RemoteParent:
			root = true
		default:
			t.gap = gapParent
		}
		if s.Dropped && t.gap == "" {
			t.gap = gapDropped
		}
	}
	t.inherit()
	if !root && t.gap == "" {
		t.gap = gapRoot
	}
	slices.SortFunc(t.order, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(t.nodes[a].start, t.nodes[b].start),
			cmp.Compare(t.nodes[a].skewedStart, t.nodes[b].skewedStart),
			cmp.Compare(t.nodes[a].depth, t.nodes[b].depth),
			compareIDs(spans[a].SpanID, spans[b].SpanID),
		)
	})
	t.agreeOnConversation()
	return t
}

// once fills order with each span once. Of a span that was delivered twice the
// copy that tells more counts, whatever came first.
func (t *trace) once() map[genai.SpanID]int {
	byID := make(map[genai.SpanID]int, len(t.spans))
	for i := range t.spans {
		first, again := byID[t.spans[i].SpanID]
		if !again || tellsMore(&t.spans[i], &t.spans[first]) {
			byID[t.spans[i].SpanID] = i
		}
	}
	for i := range t.spans {
		if kept := byID[t.spans[i].SpanID]; kept != i {
			t.duplicates = append(t.duplicates, [2]int{i, kept})
		} else {
			t.order = append(t.order, i)
		}
	}
	return byID
}

// tellsMore reports whether a copy of a span was exported later than another:
// it ends later, or has more attributes.
func tellsMore(a, b *genai.Span) bool {
	return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.Attributes(), b.Attributes())) > 0
}

func compareIDs(a, b genai.SpanID) int { return bytes.Compare(a[:], b[:]) }

// inherit hands agent, conversation and start down from parents, whatever the
// order of the spans. A cycle of parents is cut where it is met.
func (t *trace) inherit() {
	const unseen, onPath, done = 0, 1, 2
	state := make([]uint8, len(t.spans))
	var path []int
	for _, i := range t.order {
		for at := i; at >= 0 && state[at] == unseen; at = t.nodes[at].parent {
			state[at] = onPath
			path = append(path, at)
			if p := t.nodes[at].parent; p >= 0 && state[p] == onPath {
				t.nodes[at].parent = -1
			}
		}
		for k := len(path) - 1; k >= 0; k-- {
			at := path[k]
			s, n := &t.spans[at], &t.nodes[at]
			n.start, n.end = s.Start, s.End
			n.agent, n.conversation, n.service = s.Agent, s.Conversation, s.Service
			if n.parent >= 0 {
				n.inherit(&t.nodes[n.parent])
			}
			state[at] = done
		}
		path = path[:0]
	}
}

func (n *node) inherit(p *node) {
	n.depth = p.depth + 1
	if n.agent == "" {
		n.agent = p.agent
	}
	if n.conversation == "" {
		n.conversation = p.conversation
	}
	if n.start < p.start || n.start == p.start && p.skewedStart > 0 {
		// Moved behind its parent. What was moved to the same time keeps its own
		// order, but no child comes before its parent.
		n.skewedStart = max(n.start, p.skewedStart)
		n.start = p.start
	}
	if n.end < n.start || n.end == n.start && n.skewedStart > 0 {
		n.skewedEnd = max(n.end, n.skewedStart)
		n.end = n.start
	}
}

// agreeOnConversation gives spans without a conversation the only one that the
// others name.
func (t *trace) agreeOnConversation() {
	one := ""
	for _, i := range t.order {
		switch c := t.nodes[i].conversation; {
		case c == "" || c == one:
		case one == "":
			one = c
		default:
			t.several = true
			return
		}
	}
	for _, i := range t.order {
		if t.nodes[i].conversation == "" {
			t.nodes[i].conversation = one
		}
	}
}

// within reports whether ancestor encloses span in the tree.
func (t *trace) within(ancestor, span int) bool {
	for at := t.nodes[span].parent; at >= 0; at = t.nodes[at].parent {
		if at == ancestor {
			return true
		}
		if t.nodes[at].depth <= t.nodes[ancestor].depth {
			return false
		}
	}
	return false
}

// agentOf returns the agent's span that encloses a span, -1 if none does.
func (t *trace) agentOf(span int) int {
	for at := span; at >= 0; at = t.nodes[at].parent {
		if t.spans[at].Kind == genai.Agent {
			return at
		}
	}
	return -1
}

// root returns the span that stands for the trace: a span without a parent of
// its own trace, else the earliest.
func (t *trace) root() int {
	for _, i := range t.order {
		if t.spans[i].ParentID.IsEmpty() {
			return i
		}
	}
	for _, i := range t.order {
		if t.spans[i].RemoteParent && t.nodes[i].parent < 0 {
			return i
		}
	}
	return t.order[0]
}

// arguments are a call's arguments as data.
type arguments struct {
	value engine.Value
	known bool
}

// result opens a recorded result. It is parsed once, however many protocols and
// contracts ask for it.
func (t *trace) result(c *genai.Content) genai.Result {
	r, ok := t.results[c]
	if !ok {
		r = c.Result()
		t.results[c] = r
	}
	return r
}

// args opens recorded arguments, once.
func (t *trace) args(c *genai.Content) arguments {
	a, ok := t.arguments[c]
	if !ok {
		a.value, a.known = c.Arguments()
		t.arguments[c] = a
	}
	return a
}
