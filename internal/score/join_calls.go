// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// call is one tool call, however many spans and messages show it.
type call struct {
	id, tool string
	key      string // its id if that names one call, see calls.key
	spans    []int  // its tool spans, in order
	at       int    // the span that carries its verdict

	asked   int // the model span that asked for it, -1 if none did
	shownAt int // the model span that was first shown its result, -1 if none was
	// seenLater is set if what a later model was shown is all that tells of the
	// request.
	seenLater bool
	// summed is set if the span that first shows the result is the one that asked:
	// an agent's span sums up a run.
	summed bool

	arguments []*genai.Content // of the spans in order, then of the messages
	shown     []shown          // results as messages show them

	failure    genai.Failure // of the span that tells most
	prior      bool          // it was asked for before the session began
	serverSide bool

	// When and where messages first spoke of it: what is known from messages
	// only keeps their order.
	askedSeq, shownSeq int

	start, end genai.Timestamp
	returned   bool // there is a result event

	argumentsValue jsonvalue.Value
	argumentsKnown bool
	// argumentsMasked is set if placeholders stood in place of some of the arguments.
	argumentsMasked bool
	result          genai.Result
	status          int64 // HTTP status code of a span, 0 for none
	conflict        bool  // the model was shown something else than the tool returned
	disputed        bool  // copies of one of its spans contradict each other
	neverRan        bool
	denied          bool     // somebody refused the call, so it never ran
	unsure          bool     // which of several results is this call's is not known
	byAgent         bool     // a contract may be for it, depending on an agent that is not known
	readings        []readAs // the result as contracts asked for it

	called, answered bool // in an earlier trace of the conversation
	taken            bool // it is in the list of this trace's calls
}

// shown is a result as a message shows it.
type shown struct {
	result genai.Result
	failed bool // the message marks it as a failure
	// sure is set if it certainly answers this call: by the call's id, or because
	// no other call could be meant.
	sure bool
}

// readAs is a result that was read as a kind.
type readAs struct {
	kind    policy.Kind
	reading engine.Reading
	err     error
}

func newCall() *call { return &call{asked: -1, shownAt: -1, at: -1} }

// calls joins the facts of tool spans and messages to calls.
type calls struct {
	t         *trace
	within    func(int) bool
	list      []*call
	byKey     map[string]*call
	ambiguous map[string]bool          // keys of ids that stand on different calls
	requests  map[*genai.Part]struct{} // in what models were shown, that were looked at for their ids
	bySpan    map[int]*call            // of tool spans
	unasked   map[string][]*call       // by tool: calls that no request was found for yet
	pending   []*call                  // what the last message that asked for calls asked for
	renew     bool                     // the next request begins them anew
	shown     int                      // so many calls at the front of the list were answered
	guessed   bool                     // an answer to these was given to one of several
	broken    bool                     // a message list could not be read

	uses     map[string]*use            // of ids, while spans are joined
	failures map[string]genai.Timestamp // the first end of a span that evidently failed, by status message
}

// newCalls joins the tool spans. models are the spans whose messages count;
// known are calls of earlier traces of the conversation.
func newCalls(t *trace, within func(int) bool, models []int, known []knownCall) *calls {
	c := &calls{
		t: t, within: within, byKey: map[string]*call{}, ambiguous: map[string]bool{},
		requests: map[*genai.Part]struct{}{}, bySpan: map[int]*call{}, unasked: map[string][]*call{},
	}
	c.distrust(models)
	for i := range known {
		key := c.keyIn(known[i].conversation, known[i].ID)
		if key == "" {
			continue
		}
		k := newCall()
		k.id, k.key, k.tool, k.prior = known[i].ID, key, known[i].Tool, true
		k.called, k.answered = known[i].Called, known[i].Answered
		c.byKey[key] = k
	}
	for _, i := range t.order {
		if t.spans[i].Kind == genai.Tool && within(i) {
			t.work.spend(1)
			c.addSpan(i)
		}
	}
	c.uses = nil
	return c
}

// key returns what an id is found by, "" if it does not name one call. Ids may
// repeat between conversations.
func (c *calls) key(id string, span int) string {
	return c.keyIn(c.t.nodes[span].conversation, id)
}

func (c *calls) keyIn(conversation, id string) string {
	key := c.t.scoped(conversation, id)
	if c.ambiguous[key] {
		return ""
	}
	return key
}

// scoped makes an id one of its conversation if the trace has several.
func (t *trace) scoped(conversation, id string) string {
	id = genai.BoundedID(id)
	if id == "" || !t.several {
		return id
	}
	return conversation + "\x00" + id
}

// take adds a call to those of this trace when a span of it first shows the
// call.
func (c *calls) take(k *call, span int) {
	if k.taken {
		return
	}
	n := &c.t.nodes[span]
	k.taken, k.at, k.start, k.end = true, span, n.start, n.end
	c.list = append(c.list, k)
}

// addSpan joins a tool span to the call it shows, or makes a new one.
func (c *calls) addSpan(i int) {
	s := &c.t.spans[i]
	result := c.t.result(&s.Call.Result)
	id, tool := c.t.callID(i), s.Call.Tool
	key := c.key(id, i)
	if key == "" {
		// Some instrumentations name the call nowhere else.
		id = result.CallID
		key = c.key(id, i)
	}
	if tool == "" {
		tool = result.Tool
	}
	k := c.byKey[key]
	if key == "" || k == nil || !sameTool(k.tool, tool) || k.answered {
		// An id that was answered in an earlier trace is used again.
		k = c.enclosing(i, key, tool)
	}
	if k == nil && s.Call.ResultOnly {
		k = c.before(i, id, key, tool)
	}
	fresh := k == nil
	if fresh {
		k = newCall()
	}
	c.take(k, i)
	k.spans = append(k.spans, i)
	c.bySpan[i] = k
	if k.key == "" && key != "" {
		k.id, k.key = id, key
	}
	if k.key != "" && (c.byKey[k.key] == nil || c.byKey[k.key].answered) {
		c.byKey[k.key] = k
	}
	if k.tool == "" {
		k.tool = tool
	}
	c.addArguments(k, &s.Call.Arguments)
	if fresh {
		c.unasked[k.tool] = append(c.unasked[k.tool], k)
	}
}

// before finds the call whose result a span holds: one of the same tool under the
// same parent that began earlier and has no such span. Of several calls it is the
// one that was asked for with the id. If that cannot be told, each of the results
// may be any of theirs.
func (c *calls) before(i int, id, key, tool string) *call {
	t := c.t
	var open []*call
	for n := len(c.list) - 1; n >= 0 && n >= len(c.list)-maxBeside; n-- {
		k := c.list[n]
		if len(k.spans) == 0 || !sameTool(k.tool, tool) || key != "" && k.key != "" && key != k.key ||
			t.nodes[k.spans[0]].parent != t.nodes[i].parent || t.nodes[k.spans[0]].service != t.nodes[i].service {
			continue
		}
		if !slices.ContainsFunc(k.spans, func(own int) bool { return t.spans[own].Call.ResultOnly }) {
			open = append(open, k)
		}
	}
	if len(open) < 2 {
		if len(open) == 1 {
			return open[0]
		}
		return nil
	}
	slices.Reverse(open) // in the order of their starts
	var asked []*call
	if u := c.uses[t.scoped(t.nodes[i].conversation, id)]; u != nil && id != "" {
		for _, content := range u.arguments {
			for _, k := range open {
				if !slices.Contains(asked, k) && c.compare(k, content) == alike {
					asked = append(asked, k)
				}
			}
		}
	}
	if len(asked) > 0 { // of equal calls any one
		return asked[0]
	}
	for _, k := range open {
		k.unsure = true
	}
	return open[0]
}

// callID returns the id of a tool span's call. The one in the result's envelope is
// the model's; some instrumentations write an id of their own on the span.
func (t *trace) callID(span int) string {
	call := &t.spans[span].Call
	if id := t.result(&call.Result).CallID; id != "" {
		return id
	}
	return call.ID
}

// addArguments notes how a call's arguments are written, once for each spelling.
func (c *calls) addArguments(k *call, content *genai.Content) {
	if content.Captured() && len(k.arguments) < maxSpellings && !same(k.arguments, content) {
		k.arguments = append(k.arguments, content)
	}
}

// enclosing finds the call that a tool span shows once more: the span stands
// inside one of the call's own in the tree, or another instrumentation of the
// same service recorded it at the same time.
func (c *calls) enclosing(i int, key, tool string) *call {
	t := c.t
	s := &t.spans[i]
	above := t.nodes[i].above
	for n := 0; above >= 0 && n < maxNested; n++ {
		if t.spans[above].Kind != genai.Tool {
			break // a tool that is an agent calls tools of its own
		}
		outer := c.bySpan[above]
		if outer != nil && (key == "" || outer.key == "" || key == outer.key) && c.carries(outer, tool, s) &&
			c.compare(outer, &s.Call.Arguments) != different {
			return outer
		}
		above = t.nodes[above].above
	}
	for k := len(c.list) - 1; k >= 0 && k >= len(c.list)-maxBeside; k-- {
		outer := c.list[k]
		if outer.tool != tool || tool == "" || key != "" && outer.key != "" && key != outer.key || len(outer.spans) == 0 {
			continue
		}
		if c.beside(outer, i) && c.compare(outer, &s.Call.Arguments) != different {
			return outer
		}
	}
	return nil
}

// maxNested bounds how many tool spans around one are looked at.
const maxNested = 32

// maxBeside bounds how many calls are looked at for one that another
// instrumentation recorded at the same time. Spans come in order of their
// start, so calls further back have ended, but for thousands in parallel.
const maxBeside = 256

// carries reports whether a tool span may be a call's own once more. A
// transport's span may have a shorter name for the tool.
func (c *calls) carries(outer *call, tool string, s *genai.Span) bool {
	return sameTool(outer.tool, tool) || s.Call.Carrier && namedFor(outer.tool, tool)
}

// beside reports whether a span was recorded at the same time as a call's spans,
// by another instrumentation of the same service that has no span of this call
// yet.
func (c *calls) beside(k *call, i int) bool {
	t := c.t
	overlaps := false
	for _, own := range k.spans[:min(len(k.spans), maxNested)] {
		if t.spans[own].Scope == t.spans[i].Scope || t.nodes[own].service != t.nodes[i].service {
			return false
		}
		overlaps = overlaps || t.nodes[own].start <= t.nodes[i].end && t.nodes[i].start <= t.nodes[own].end
	}
	return overlaps
}
