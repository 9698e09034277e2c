// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// call is one tool call, however many spans and messages show it.
type call struct {
	id, tool string
	spans    []int // its tool spans, the outermost first; none if only messages show it

	asked   int // the model span that asked for it, -1 if none did
	shownAt int // the model span that was first shown its result, -1 if none was

	arguments []genai.Content // of the spans in order, then of the messages
	results   []genai.Result  // of the spans in order
	shown     []genai.Result  // of the messages
	statuses  []int64         // HTTP status codes of the spans in order, 0 for none

	failure     genai.Failure // of the span that tells most
	askedFailed bool          // a message marks the answer as a failure
	prior       bool          // it was asked for before the session began
	serverSide  bool
	agent       string // of the span that shows it
	at          int    // the span that carries its verdict

	start, end genai.Timestamp
	returned   bool // there is a result event

	argumentsValue engine.Value
	argumentsKnown bool
	result         genai.Result
	conflict       bool // the model was shown something else than the tool returned
	neverRan       bool

	called, answered bool // in an earlier trace of the conversation
	taken            bool // it is in the list of this trace's calls
}

// calls joins the facts of tool spans and messages to calls.
type calls struct {
	t         *trace
	earlier   []*call // of earlier traces of the conversation
	list      []*call
	byID      map[string]*call
	ambiguous map[string]bool // ids that stand on different calls
}

func newCalls(t *trace, within func(int) bool, known []knownCall) *calls {
	c := &calls{t: t, byID: map[string]*call{}, ambiguous: map[string]bool{}}
	for i := range known {
		k := &known[i]
		c.earlier = append(c.earlier, &call{
			id: k.ID, tool: k.Tool, asked: -1, shownAt: -1, at: t.order[0],
			prior: true, called: k.Called, answered: k.Answered,
		})
		c.byID[k.ID] = c.earlier[i]
	}
	c.distrust()
	for _, i := range t.order {
		if t.spans[i].Kind == genai.Tool && within(i) {
			c.addSpan(i)
		}
	}
	return c
}

// id returns an id if it names one call.
func (c *calls) id(id string) string {
	if id == "" || c.ambiguous[id] {
		return ""
	}
	return id
}

// distrust finds the ids that stand on calls of different tools or with
// different arguments.
func (c *calls) distrust() {
	type seen struct {
		tool      string
		arguments engine.Value
		known     bool
	}
	first := map[string]seen{}
	note := func(id, tool string, content genai.Content) {
		if id == "" || tool == "" || c.ambiguous[id] {
			return
		}
		arguments, known := content.Arguments()
		known = known && arguments.Kind() == engine.ObjectKind
		f, ok := first[id]
		if !ok {
			first[id] = seen{tool: tool, arguments: arguments, known: known}
			return
		}
		if f.tool != tool || known && f.known && !engine.Equal(arguments, f.arguments) {
			c.ambiguous[id] = true
		} else if known && !f.known {
			first[id] = seen{tool: tool, arguments: arguments, known: true}
		}
	}
	for _, i := range c.t.order {
		s := &c.t.spans[i]
		if s.Kind == genai.Tool {
			note(s.Call.ID, s.Call.Tool, s.Call.Arguments)
		}
	}
}

// addSpan joins a tool span to the call it shows, or makes a new one.
func (c *calls) addSpan(i int) {
	s := &c.t.spans[i]
	result := s.Call.Result.Result()
	id, tool := c.id(s.Call.ID), s.Call.Tool
	if id == "" {
		id = c.id(result.CallID) // some instrumentations name the call nowhere else
	}
	if tool == "" {
		tool = result.Tool
	}
	k := c.byID[id]
	if id == "" || k == nil || !sameTool(k.tool, tool) || k.answered {
		// An id that was answered in an earlier trace is used again.
		k = c.enclosing(i, id, tool)
	}
	if k == nil {
		k = &call{asked: -1, shownAt: -1}
	}
	c.take(k, i)
	k.spans = append(k.spans, i)
	if k.id == "" && id != "" {
		k.id = id
	}
	if k.id != "" && (c.byID[k.id] == nil || c.byID[k.id].answered) {
		c.byID[k.id] = k
	}
	if k.tool == "" {
		k.tool = tool
	}
	k.arguments = append(k.arguments, s.Call.Arguments)
	k.results = append(k.results, result)
	k.statuses = append(k.statuses, s.Call.HTTPStatus)
	if worse(s.Failure, k.failure) {
		k.failure = s.Failure
	}
}

// take adds a call to those of this trace when a span of it first shows the
// call.
func (c *calls) take(k *call, span int) {
	if k.taken {
		return
	}
	n := &c.t.nodes[span]
	k.taken, k.at, k.start, k.end, k.agent = true, span, n.start, n.end, n.agent
	c.list = append(c.list, k)
}

// worse prefers the failure that says more.
func worse(a, b genai.Failure) bool {
	if (a.Kind == genai.NoFailure) != (b.Kind == genai.NoFailure) {
		return a.Kind != genai.NoFailure
	}
	return a.Evident && !b.Evident
}

func sameTool(a, b string) bool { return a == b || a == "" || b == "" }

// enclosing finds the call whose outermost span encloses a tool span: the same
// tool, the same arguments, nested in the tree, or recorded by another
// instrumentation in a time that encloses it.
func (c *calls) enclosing(i int, id, tool string) *call {
	s, n := &c.t.spans[i], &c.t.nodes[i]
	for k := len(c.list) - 1; k >= 0; k-- {
		outer := c.list[k]
		if !sameTool(outer.tool, tool) || id != "" && outer.id != "" && id != outer.id {
			continue
		}
		nested := c.t.within(outer.at, i)
		enclosed := n.start >= outer.start && n.end <= outer.end && c.t.spans[outer.at].Scope != s.Scope && outer.tool == tool
		if (nested || enclosed) && sameArguments(outer.arguments, s.Call.Arguments) {
			return outer
		}
	}
	return nil
}

// sameArguments compares recorded arguments; what was not recorded contradicts
// nothing, and neither does what an instrumentation brought out of shape.
func sameArguments(known []genai.Content, other genai.Content) bool {
	b, ok := other.Arguments()
	if !ok {
		return true
	}
	for _, content := range known {
		a, ok := content.Arguments()
		if ok && a.Kind() == b.Kind() && !engine.Equal(a, b) {
			return false
		}
	}
	return true
}

// source is where a request for a call was found.
type source uint8

const (
	fromAnswer  source = iota // in the answer of the model that asked
	fromHistory               // in what a later model call was shown
	fromPrior                 // in a conversation from before the session
)

// ask notes that a model asked for a call.
func (c *calls) ask(p *genai.Part, model int, from source) {
	k := c.asked(p, model, from)
	if k == nil {
		k = &call{id: c.id(p.CallID), tool: p.Tool, asked: -1, shownAt: -1, prior: from == fromPrior}
		c.take(k, model)
		k.start = k.end
		if k.id != "" {
			c.byID[k.id] = k
		}
	}
	if k.asked < 0 {
		k.asked = model
	}
	if k.tool == "" {
		k.tool = p.Tool
	}
	k.serverSide = k.serverSide || p.ServerSide
	k.arguments = append(k.arguments, p.Content)
}

// asked finds the call that a request is for: by id, else a call of the same
// tool with the same arguments that nobody asked for yet. A call does not end
// before the model that asks for it began.
func (c *calls) asked(p *genai.Part, model int, from source) *call {
	if id := c.id(p.CallID); id != "" {
		if k := c.byID[id]; k != nil {
			return k
		}
	}
	for _, k := range c.list {
		if k.asked >= 0 || k.id != "" && p.CallID != "" || k.tool != p.Tool {
			continue
		}
		if (from != fromAnswer || k.end >= c.t.nodes[model].start) && sameArguments(k.arguments, p.Content) {
			if id := c.id(p.CallID); id != "" {
				k.id = id
				c.byID[id] = k
			}
			return k
		}
	}
	return nil
}

// show notes that a model was shown a call's result.
func (c *calls) show(p *genai.Part, model int) {
	k := c.answered(p)
	if k == nil {
		return
	}
	c.take(k, model)
	if k.shownAt < 0 {
		k.shownAt = model
	}
	r := p.Content.Result()
	k.shown = append(k.shown, r)
	// Frameworks tell the model of a tool that threw in a text of their own. It
	// is the only trace of the failure where the tool left no span.
	k.askedFailed = k.askedFailed || p.Failed || len(k.spans) == 0 && genai.FailureText(r)
	k.serverSide = k.serverSide || p.ServerSide
}

// answered finds the call that a result answers: by id, else the first of its
// tool that nobody answered, else the first at all.
func (c *calls) answered(p *genai.Part) *call {
	if id := c.id(p.CallID); id != "" {
		if k := c.byID[id]; k != nil {
			return k
		}
	}
	for _, k := range c.list {
		if k.shownAt < 0 && k.asked >= 0 && (k.id == "" || p.CallID == "") && (p.Tool == "" || k.tool == p.Tool) {
			return k
		}
	}
	return nil
}

// settle decides, once all facts are joined, what each call came to.
func (c *calls) settle() {
	t := c.t
	for _, k := range c.list {
		if len(k.spans) > 0 {
			k.at = k.spans[0]
			k.start, k.end = t.nodes[k.at].start, t.nodes[k.at].end
			k.returned = true
		} else {
			k.returned = k.shownAt >= 0
			if k.returned {
				k.end = t.nodes[k.shownAt].start
			}
		}
		if k.failure.Kind == genai.NoFailure && k.askedFailed {
			k.failure = genai.Failure{Kind: genai.ToolError, Evident: true}
		}
		k.open(t)
		switch k.failure.Kind {
		case genai.Interrupted:
			k.returned = false
		case genai.Cancelled:
			k.returned = k.result.State == genai.Captured
		}
		k.neverRan = len(k.spans) == 0 && k.shownAt < 0 && !k.prior && !k.serverSide && c.certainlyNotRun(k)
	}
}

// open reads the call's arguments and result from the best of their sources.
func (k *call) open(t *trace) {
	for _, content := range k.arguments {
		v, ok := content.Arguments()
		if !ok {
			continue
		}
		if !k.argumentsKnown || k.argumentsValue.Kind() != engine.ObjectKind && v.Kind() == engine.ObjectKind {
			k.argumentsValue, k.argumentsKnown = v, true
		}
	}
	for _, r := range k.results {
		if better(r, k.result) {
			k.result = r
		} else {
			k.result.Failed = k.result.Failed || r.Failed
		}
	}
	for n, r := range k.shown {
		if len(k.spans) == 0 && n == 0 || k.result.State == genai.NotCaptured || k.result.State == genai.Truncated && r.State == genai.Captured {
			if better(r, k.result) {
				k.result = r
			}
			continue
		}
		if differs(k.result, r) {
			k.conflict = true
		}
	}
	if leaked(t, k) {
		k.failure = genai.Failure{}
	}
}

// better prefers a captured result over a cut one over none.
func better(a, b genai.Result) bool {
	rank := func(s genai.ResultState) int {
		switch s {
		case genai.Captured:
			return 2
		case genai.Truncated:
			return 1
		default:
			return 0
		}
	}
	return rank(a.State) > rank(b.State)
}

// differs reports whether what a model was shown is not, as data, what the tool
// returned. A copy that was cut, and a text made from a structured result, is
// no difference.
func differs(returned, shown genai.Result) bool {
	if returned.State != genai.Captured || shown.State != genai.Captured {
		return false
	}
	a, b := returned.Value, shown.Value
	aText, bText := a.Kind() == engine.StringKind, b.Kind() == engine.StringKind
	switch {
	case aText && bText:
		x, y := strings.TrimSpace(a.Text()), strings.TrimSpace(b.Text())
		return x != y && !strings.Contains(y, x) && !genai.CutCopy(x, y)
	case aText || bText:
		return false
	default:
		return !engine.Equal(a, b)
	}
}

// leaked reports whether the call's only sign of failure is a status that came
// over from another span: the message of a span that failed before, no
// exception of its own, and a result.
func leaked(t *trace, k *call) bool {
	if k.failure.Kind != genai.Failed || k.failure.Evident || k.failure.Status == "" || k.result.State == genai.NotCaptured {
		return false
	}
	for _, i := range t.order {
		s := &t.spans[i]
		if s.Failure.Evident && s.Failure.Status == k.failure.Status && t.nodes[i].end <= k.end {
			return true
		}
	}
	return false
}

// certainlyNotRun reports whether it is certain that a call that was asked for
// was never run: a later model call shows a history without its answer, or the
// agent's span ended while its other calls have spans or answers.
func (c *calls) certainlyNotRun(k *call) bool {
	t := c.t
	if t.gap != "" || k.asked < 0 {
		return false
	}
	asked := &t.nodes[k.asked]
	for _, i := range t.order {
		s := &t.spans[i]
		if s.Kind == genai.Model && i != k.asked && t.nodes[i].start >= asked.end && t.nodes[i].agent == asked.agent && showsCall(s, k) {
			return true
		}
	}
	for _, other := range c.list {
		if other != k && !other.prior && other.asked >= 0 && (len(other.spans) > 0 || other.shownAt >= 0) {
			return c.underAgent(k.asked)
		}
	}
	return false
}

// showsCall reports whether a model's input repeats the request for a call.
func showsCall(s *genai.Span, k *call) bool {
	if k.id == "" {
		return false
	}
	for i := range s.Input.List {
		for j := range s.Input.List[i].Parts {
			if p := &s.Input.List[i].Parts[j]; p.Kind == genai.CallPart && p.CallID == k.id {
				return true
			}
		}
	}
	return false
}

func (c *calls) underAgent(span int) bool {
	for at := span; at >= 0; at = c.t.nodes[at].parent {
		if c.t.spans[at].Kind == genai.Agent {
			return true
		}
	}
	return false
}
