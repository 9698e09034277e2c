// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// spanIDs resolves the span ids of a trace.
//
// Two spans with one id are a redelivery if kind and start agree, and the name
// agrees or one of them has not ended. All other spans that share an id are
// spans of their own, and a parent named by that id is ambiguous, except that a
// client and a server span with one id are the two sides of one request, as
// Zipkin records it. An empty id equals no other.
type spanIDs struct {
	one    map[genai.SpanID]int       // the span of an id, or one of those that share it
	shared map[genai.SpanID]*sharedID // ids of several spans; nil if there are none
}

// sharedID lists the spans that share an id, each once.
type sharedID struct {
	spans []int
	// client and server are the sides of one request; -1 if the spans are
	// anything else.
	client, server int
}

// identify fills order with each span once and resolves the span ids. Redelivered
// copies go to duplicates.
func (t *trace) identify() *spanIDs {
	ids := &spanIDs{one: make(map[genai.SpanID]int, len(t.spans))}
	var copies map[genai.SpanID][]int
	for i := range t.spans {
		id := t.spans[i].SpanID
		if id.IsEmpty() {
			continue
		}
		first, again := ids.one[id]
		if !again {
			ids.one[id] = i
			continue
		}
		if copies == nil {
			copies = map[genai.SpanID][]int{}
		}
		if copies[id] == nil {
			copies[id] = []int{first}
		}
		copies[id] = append(copies[id], i)
	}
	t.order = make([]int, 0, len(t.spans))
	if copies == nil {
		for i := range t.spans {
			t.order = append(t.order, i)
		}
		return ids
	}
	left := make([]bool, len(t.spans))
	for id, spans := range copies { // each id by itself, so their order does not matter
		t.identifyCopies(ids, id, spans, left)
	}
	for i := range t.spans {
		if !left[i] {
			t.order = append(t.order, i)
		}
	}
	slices.SortFunc(t.duplicates, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	return ids
}

// identifyCopies decides which of the spans with one id are redeliveries and
// marks these in left.
func (t *trace) identifyCopies(ids *spanIDs, id genai.SpanID, spans []int, left []bool) {
	slices.SortFunc(spans, func(a, b int) int {
		x, y := &t.spans[a], &t.spans[b]
		return cmp.Or(cmp.Compare(x.SpanKind, y.SpanKind), cmp.Compare(x.Start, y.Start), -t.compareCopies(a, b))
	})
	var own []int
	for len(spans) > 0 {
		first := &t.spans[spans[0]]
		n := slices.IndexFunc(spans, func(i int) bool {
			return t.spans[i].SpanKind != first.SpanKind || t.spans[i].Start != first.Start
		})
		if n < 0 {
			n = len(spans)
		}
		for _, copies := range t.redeliveries(spans[:n]) {
			own = append(own, t.count(copies, left)...)
		}
		spans = spans[n:]
	}
	ids.one[id] = own[0]
	if shared := t.share(own); shared != nil {
		if ids.shared == nil {
			ids.shared = map[genai.SpanID]*sharedID{}
		}
		ids.shared[id] = shared
	}
}

// redeliveries groups spans of one id, kind and start, the best copy of each
// group first. The spans are in that order, so those that have ended come before
// those that have not, among the spans of equal content.
func (t *trace) redeliveries(spans []int) [][]int {
	var groups [][]int
	byName := map[uint64]int{}
	for _, i := range spans {
		if s := &t.spans[i]; !s.Unended {
			n, ok := byName[s.NameHash()]
			if !ok {
				n = len(groups)
				byName[s.NameHash()] = n
				groups = append(groups, nil)
			}
			groups[n] = append(groups[n], i)
		}
	}
	for _, i := range spans {
		if s := &t.spans[i]; s.Unended {
			if len(groups) == 0 {
				groups = append(groups, nil)
			}
			n := byName[s.NameHash()] // else the best of all
			groups[n] = append(groups[n], i)
		}
	}
	for _, group := range groups {
		slices.SortFunc(group, func(a, b int) int { return -t.compareCopies(a, b) })
	}
	return groups
}

// count decides which copies of one span count: the best, and where copies name
// different tools the best of each tool. The others are left out.
func (t *trace) count(copies []int, left []bool) (own []int) {
	own = append(own, copies[0])
	for _, i := range copies[1:] {
		at := own[0]
		if t.spans[i].Kind == genai.Tool && t.spans[at].Kind == genai.Tool {
			at = t.sameToolOf(own, i)
			if at < 0 {
				own = append(own, i)
				continue
			}
			t.reconcile(at, i)
		}
		left[i] = true
		t.duplicates = append(t.duplicates, [2]int{i, at})
	}
	if len(own) > 1 {
		for _, i := range own {
			t.disputed(i)
		}
	}
	return own
}

// sameToolOf returns the one of some tool spans that names the same tool as span,
// -1 if none does.
func (t *trace) sameToolOf(own []int, span int) int {
	tool := t.toolOf(span)
	for _, i := range own[:min(len(own), maxNested)] {
		if sameTool(t.toolOf(i), tool) {
			return i
		}
	}
	if len(own) >= maxNested {
		return own[0]
	}
	return -1
}

func (t *trace) toolOf(span int) string {
	call := &t.spans[span].Call
	if call.Tool != "" {
		return call.Tool
	}
	return t.result(&call.Result).Tool
}

// reconcile takes over what the span that counts lacks of its copy's call, and
// marks the call as disputed if they contradict each other.
func (t *trace) reconcile(span, again int) {
	own, other := &t.spans[span].Call, &t.spans[again].Call
	arguments, otherArguments := t.args(&own.Arguments), t.args(&other.Arguments)
	result, otherResult := t.result(&own.Result), t.result(&other.Result)
	failed, otherFailed := t.spans[span].Failure.Kind, t.spans[again].Failure.Kind
	ended := !t.spans[span].Unended && !t.spans[again].Unended
	if arguments.known && otherArguments.known && !jsonvalue.Equal(arguments.value, otherArguments.value) ||
		result.State == genai.Captured && otherResult.State == genai.Captured && differs(result, otherResult) ||
		ended && failed != otherFailed {
		t.disputed(span)
	}
	if own.ID == "" && other.ID != "" {
		t.ownSpans()[span].Call.ID = other.ID
	}
	if own.Tool == "" && other.Tool != "" {
		t.ownSpans()[span].Call.Tool = other.Tool
	}
	if !own.Arguments.Captured() && other.Arguments.Captured() {
		t.ownSpans()[span].Call.Arguments = other.Arguments
	}
	if better(otherResult, result) {
		t.ownSpans()[span].Call.Result = other.Result
	}
	if failed == genai.NoFailure && otherFailed != genai.NoFailure {
		t.ownSpans()[span].Failure = t.spans[again].Failure
	}
}

// disputed marks a tool span whose copies contradict each other.
func (t *trace) disputed(span int) { t.nodes[span].disputed = true }

// ownSpans returns the spans to be changed: the caller's stay as they are.
func (t *trace) ownSpans() []genai.Span {
	if !t.cloned {
		t.spans, t.cloned = slices.Clone(t.spans), true
		clear(t.results) // by address
		clear(t.arguments)
	}
	return t.spans
}

// compareCopies orders copies of one span by what they are worth: a call before a
// model's request before an agent's run before none of these, then the one that
// has ended, has the later end, more attributes, and at last the greater content.
func (t *trace) compareCopies(a, b int) int {
	if a == b {
		return 0
	}
	x, y := &t.spans[a], &t.spans[b]
	return cmp.Or(
		cmp.Compare(worth(x.Kind), worth(y.Kind)),
		cmp.Compare(ended(x), ended(y)),
		cmp.Compare(x.End, y.End),
		cmp.Compare(x.Attributes(), y.Attributes()),
		cmp.Compare(t.digest(a), t.digest(b)),
		cmp.Compare(b, a),
	)
}

func worth(k genai.Kind) int {
	switch k {
	case genai.Tool:
		return 3
	case genai.Model:
		return 2
	case genai.Agent:
		return 1
	default:
		return 0
	}
}

func ended(s *genai.Span) int {
	if s.Unended {
		return 0
	}
	return 1
}

// share describes the spans that share an id; nil if it is one span, or copies of
// one that name different tools.
func (t *trace) share(own []int) *sharedID {
	first := &t.spans[own[0]]
	if !slices.ContainsFunc(own, func(i int) bool {
		s := &t.spans[i]
		return s.SpanKind != first.SpanKind || s.Start != first.Start || s.NameHash() != first.NameHash()
	}) {
		return nil
	}
	shared := &sharedID{spans: own, client: -1, server: -1}
	if len(own) == 2 {
		for n, i := range own {
			if other := own[1-n]; t.spans[i].SpanKind == genai.ClientSpan && t.spans[other].SpanKind == genai.ServerSpan {
				shared.client, shared.server = i, other
			}
		}
	}
	if shared.client < 0 && slices.ContainsFunc(own, func(i int) bool { return t.spans[i].Kind != genai.Other }) {
		t.gaps.Add(GapSharedID)
	}
	return shared
}

// parent returns the span that another one names as its parent. It is -1 if the
// trace does not have it, and also if it is ambiguous.
func (ids *spanIDs) parent(t *trace, span int) (parent int, ambiguous bool) {
	s := &t.spans[span]
	if shared := ids.shared[s.SpanID]; shared != nil && shared.server == span {
		return shared.client, false
	}
	if s.ParentID.IsEmpty() {
		return -1, false
	}
	parent, ok := ids.one[s.ParentID]
	if !ok {
		return -1, false
	}
	shared := ids.shared[s.ParentID]
	switch {
	case shared == nil:
		if parent == span || s.ParentID == s.SpanID {
			return -1, false
		}
		return parent, false
	case shared.client >= 0 && s.ParentID == s.SpanID:
		return -1, false // the client's side names itself
	case shared.client >= 0:
		client, server := &t.spans[shared.client], &t.spans[shared.server]
		if s.Service == client.Service && s.Service != server.Service {
			return shared.client, false
		}
		return shared.server, false
	}
	others := 0
	for _, i := range shared.spans {
		if i != span {
			others, parent = others+1, i
		}
		if others > 1 {
			return -1, true
		}
	}
	return parent, false
}

// compareSpans orders spans that begin at the same time: by id, then by content,
// so that the order in which spans came decides nothing.
func (t *trace) compareSpans(a, b int) int {
	if c := compareIDs(t.spans[a].SpanID, t.spans[b].SpanID); c != 0 || a == b {
		return c
	}
	return cmp.Or(cmp.Compare(t.digest(a), t.digest(b)), cmp.Compare(a, b))
}

// digest is a hash of all that is known of a span. It is the same in whatever
// way the span's facts were kept until its trace was completed.
func (t *trace) digest(span int) uint64 {
	if d, ok := t.digests[span]; ok {
		return d
	}
	d := digestOf(&t.spans[span])
	if t.digests == nil {
		t.digests = map[int]uint64{}
	}
	t.digests[span] = d
	return d
}

func digestOf(s *genai.Span) uint64 {
	var h digester
	h.Reset()
	h.number(uint64(s.Kind)<<16 | uint64(uint8(s.SpanKind))) //nolint:gosec // bits
	h.number(s.NameHash())
	h.number(uint64(s.Start))
	h.number(uint64(s.End))
	h.flags(s.RemoteParent, s.Unended, s.Dropped)
	_, _ = h.Write(s.ParentID[:])
	h.number(uint64(s.Attributes())) //nolint:gosec // not negative
	h.text(s.Service)
	h.text(s.Agent)
	h.text(s.Conversation)
	if s.Kind == genai.Other {
		return h.Sum64()
	}
	h.text(s.Scope)
	h.text(s.Call.ID)
	h.text(s.Call.Tool)
	h.content(&s.Call.Arguments)
	h.content(&s.Call.Result)
	h.number(uint64(s.Call.HTTPStatus)) //nolint:gosec // bits
	h.messages(&s.Input)
	h.messages(&s.Output)
	h.number(uint64(s.Failure.Kind))
	h.text(s.Failure.Type)
	h.text(s.Failure.Status)
	h.flags(s.Failure.Exception, s.Failure.Evident)
	return h.Sum64()
}

// digester hashes texts with their lengths, so that what ends where counts.
type digester struct{ xxhash.Digest }

func (h *digester) number(n uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], n)
	_, _ = h.Write(b[:])
}

func (h *digester) text(s string) {
	h.number(uint64(len(s)))
	_, _ = h.WriteString(s)
}

func (h *digester) flags(flags ...bool) {
	n := uint64(0)
	for _, set := range flags {
		if n <<= 1; set {
			n |= 1
		}
	}
	h.number(n)
}

func (h *digester) content(c *genai.Content) {
	h.number(uint64(c.Form))
	h.flags(c.Dropped)
	if c.Form == genai.Absent {
		return
	}
	text, err := c.Value.AppendCanonical(nil)
	if err != nil { // a number that no JSON text has
		text = nil
	}
	h.number(uint64(len(text)))
	_, _ = h.Write(text)
}

func (h *digester) messages(m *genai.Messages) {
	h.flags(m.Recorded, m.Broken)
	h.number(uint64(len(m.List)))
	for i := range m.List {
		h.number(hash(&m.List[i]))
		h.flags(m.List[i].Uncaptured)
	}
}
