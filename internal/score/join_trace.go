// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// trace is the tree of a trace's spans, each span once.
type trace struct {
	account *Account // how the verdict comes about, nil if nobody asks
	work    *work

	spans []genai.Span
	order []int // span indexes by effective start, depth, span id; redeliveries left out
	nodes []node

	several bool // there are several conversations
	mixed   bool // several instrumentations recorded it

	listed            bool     // the next two were found
	followed, further []string // see trace.conversations

	duplicates [][2]int       // redelivered span, the span it repeats
	cloned     bool           // spans are the trace's own
	digests    map[int]uint64 // of spans, as far as they were asked for
	gaps       Gaps           // why an event may be missing from the trace

	results   map[*genai.Content]genai.Result
	arguments map[*genai.Content]arguments
}

type node struct {
	parent int // -1 for none
	depth  int32
	above  int // the nearest ancestor of a kind, -1 for none
	inside int // the agent's span that encloses the span or is it, -1 for none

	first, last int  // see trace.number
	disputed    bool // copies of the tool span contradict each other
	delegated   bool // it is inside a tool's span
	// start and end are not before the parent's start: clocks of two processes
	// may differ.
	start, end genai.Timestamp
	// skewed orders what was moved to the same time by that: the span's own
	// times. They are 0 where nothing was moved.
	skewedStart, skewedEnd genai.Timestamp

	// stray is set if the span's parent, or that of a span around it, is missing
	// or ambiguous: what would be inherited from there is not known.
	stray bool

	agent        string // own or inherited
	conversation string
	service      string
}

func newTrace(spans []genai.Span, w *work) *trace {
	t := &trace{
		spans: spans, work: w, nodes: make([]node, len(spans)),
		results: map[*genai.Content]genai.Result{}, arguments: map[*genai.Content]arguments{},
	}
	ids := t.identify()
	root, first := false, -1
	for _, i := range t.order {
		t.work.spend(1)
		s, n := &t.spans[i], &t.nodes[i]
		if s.Kind != genai.Other {
			if first < 0 {
				first = i
			}
			t.mixed = t.mixed || s.Scope != t.spans[first].Scope
		}
		parent, ambiguous := ids.parent(t, i)
		n.parent = parent
		switch {
		case parent >= 0:
		case ambiguous:
			n.stray = true
			if s.Kind != genai.Other {
				t.gaps.Add(GapSharedID)
			}
		case s.ParentID.IsEmpty(), s.RemoteParent:
			root = true
		default:
			n.stray = true
			t.gaps.Add(GapParentMissing)
		}
		if s.Dropped {
			t.gaps.Add(GapDropped)
		}
	}
	t.inherit()
	t.number()
	if !root {
		t.gaps.Add(GapRootMissing)
	}
	slices.SortFunc(t.order, func(a, b int) int {
		if c := cmp.Or(
			cmp.Compare(t.nodes[a].start, t.nodes[b].start),
			cmp.Compare(t.nodes[a].skewedStart, t.nodes[b].skewedStart),
			cmp.Compare(t.nodes[a].depth, t.nodes[b].depth),
		); c != 0 {
			return c
		}
		return t.compareSpans(a, b)
	})
	t.agreeOnConversation()
	return t
}

func compareIDs(a, b genai.SpanID) int { return bytes.Compare(a[:], b[:]) }

// inherit hands agent, conversation and start down from parents, whatever the
// order of the spans. A cycle of parents is cut at its earliest span.
func (t *trace) inherit() {
	const unseen, onPath, done = 0, 1, 2
	state := make([]uint8, len(t.spans))
	var path []int
	for _, i := range t.order {
		for at := i; at >= 0 && state[at] == unseen; at = t.nodes[at].parent {
			state[at] = onPath
			path = append(path, at)
			if p := t.nodes[at].parent; p >= 0 && state[p] == onPath {
				t.cut(path[slices.Index(path, p):])
			}
		}
		for k := len(path) - 1; k >= 0; k-- {
			at := path[k]
			s, n := &t.spans[at], &t.nodes[at]
			n.start, n.end = s.Start, s.End
			n.agent, n.conversation, n.service = s.Agent, s.Conversation, s.Service
			n.above, n.inside = -1, -1
			if p := n.parent; p >= 0 {
				n.inherit(&t.nodes[p])
				n.stray = n.stray || t.nodes[p].stray
				n.above, n.inside = t.nodes[p].above, t.nodes[p].inside
				n.delegated = t.nodes[p].delegated || t.spans[p].Kind == genai.Tool
				if t.spans[p].Kind != genai.Other {
					n.above = p
				}
			}
			if s.Kind == genai.Agent {
				n.inside = at
			}
			state[at] = done
		}
		path = path[:0]
	}
}

// cut makes the earliest span of a cycle one without a parent. The cycle lists
// each span before its parent, the last before the first, and so it does again
// afterwards, with that span last.
func (t *trace) cut(cycle []int) {
	first := 0
	for n := range cycle {
		if c := cmp.Compare(t.spans[cycle[n]].Start, t.spans[cycle[first]].Start); c < 0 || c == 0 && t.compareSpans(cycle[n], cycle[first]) < 0 {
			first = n
		}
	}
	t.nodes[cycle[first]].parent = -1
	copy(cycle, slices.Concat(cycle[first+1:], cycle[:first+1]))
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

// number numbers the spans in the order in which a walk through the tree meets
// them, so that a span's descendants are those numbered up to its last.
func (t *trace) number() {
	children := make([]int, len(t.spans)+1) // where a span's children begin in list
	for _, i := range t.order {
		if p := t.nodes[i].parent; p >= 0 {
			children[p+1]++
		}
	}
	for i := 1; i < len(children); i++ {
		children[i] += children[i-1]
	}
	list, next := make([]int, children[len(children)-1]), slices.Clone(children)
	var walk []int
	for _, i := range t.order {
		if p := t.nodes[i].parent; p >= 0 {
			list[next[p]] = i
			next[p]++
		} else {
			walk = append(walk, i)
		}
	}
	n := 0
	for len(walk) > 0 {
		at := walk[len(walk)-1]
		walk = walk[:len(walk)-1]
		if at < 0 { // all below are numbered
			t.nodes[-at-1].last = n
			continue
		}
		n++
		t.nodes[at].first = n
		walk = append(walk, -at-1)
		walk = append(walk, list[children[at]:children[at+1]]...)
	}
}

// within reports whether ancestor encloses span in the tree.
func (t *trace) within(ancestor, span int) bool {
	a, s := &t.nodes[ancestor], &t.nodes[span]
	return a.first < s.first && s.first <= a.last
}

// agentOf returns the agent's span that encloses a span, -1 if none does.
func (t *trace) agentOf(span int) int {
	if span < 0 {
		return -1
	}
	return t.nodes[span].inside
}

// ahead reports whether a span that counts is dated after the latest time that a
// clock allows; 0 allows any.
func (t *trace) ahead(within func(int) bool, latest genai.Timestamp) bool {
	return latest > 0 && slices.ContainsFunc(t.order, func(i int) bool {
		return within(i) && max(t.nodes[i].start, t.nodes[i].end) > latest
	})
}

// silently returns the trace for steps that no account is told of.
func (t *trace) silently() *trace {
	if t.account == nil {
		return t
	}
	quiet := *t
	quiet.account = nil
	return &quiet
}

// root returns the span that stands for the trace: a span without a parent of
// its own trace, else the earliest.
func (t *trace) root() int {
	for _, i := range t.order {
		if t.spans[i].ParentID.IsEmpty() {
			return i
		}
	}
	remote := -1
	for _, i := range t.order {
		switch s := &t.spans[i]; {
		case !s.RemoteParent:
		case t.nodes[i].parent < 0:
			return i
		case remote < 0:
			remote = i
		}
	}
	if remote >= 0 { // the first span of another process, whose parent came, too
		return remote
	}
	return t.order[0]
}

// arguments are a call's arguments as data.
type arguments struct {
	value jsonvalue.Value
	known bool
	// masked is set if placeholders stood in place of some values, which value lacks.
	masked bool
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
		if a.value, a.known = c.Arguments(); a.known {
			a.value, a.masked = genai.Masked(a.value)
		}
		t.arguments[c] = a
	}
	return a
}
