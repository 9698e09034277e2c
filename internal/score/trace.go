// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// trace is the tree of a trace's spans, each span once.
type trace struct {
	account *Account // how the verdict comes about, nil if nobody asks

	spans []genai.Span
	order []int // span indexes by effective start, depth, span id; redeliveries left out
	nodes []node

	duplicates [][2]int // redelivered span, the span it repeats
	gap        string   // why an event may be missing from the trace; "" if nothing says so
}

type node struct {
	parent int // -1 for none
	depth  int32
	start  genai.Timestamp // not before the parent's: clocks of two processes may differ
	end    genai.Timestamp

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
	t := &trace{spans: spans, nodes: make([]node, len(spans))}
	byID := make(map[genai.SpanID]int, len(spans))
	for i := range spans {
		if first, again := byID[spans[i].SpanID]; again {
			t.duplicates = append(t.duplicates, [2]int{i, first})
			continue
		}
		byID[spans[i].SpanID] = i
		t.order = append(t.order, i)
	}
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
			cmp.Compare(t.nodes[a].depth, t.nodes[b].depth),
			compareIDs(spans[a].SpanID, spans[b].SpanID),
		)
	})
	t.agreeOnConversation()
	return t
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
				p := &t.nodes[n.parent]
				n.depth = p.depth + 1
				n.start = max(n.start, p.start)
				if n.agent == "" {
					n.agent = p.agent
				}
				if n.conversation == "" {
					n.conversation = p.conversation
				}
			}
			n.end = max(n.end, n.start)
			state[at] = done
		}
		path = path[:0]
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
