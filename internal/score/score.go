// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// Scorer judges sessions by one policy. It is immutable and safe for any number
// of goroutines.
type Scorer struct {
	policy         *policy.Policy
	conversational bool           // a protocol follows conversations
	named          []policy.Globs // the spans that protocols name

	identities []uint64 // of the protocols, see identity
	protocols  uint64   // identifies the protocols that follow conversations, all together

	done <-chan struct{} // see Until

	services bool     // something is matched by service.name
	resource []string // attributes of resources that templates read
}

// New returns a scorer for a compiled policy.
func New(p *policy.Policy) *Scorer {
	s := &Scorer{policy: p}
	_, s.resource = p.AttributeNames()
	for _, contract := range p.Contracts {
		s.services = s.services || len(contract.Match.Services) > 0
	}
	var all []uint64
	for _, protocol := range p.Protocols {
		s.services = s.services || len(protocol.Match.Services) > 0
		s.identities = append(s.identities, identity(protocol))
		if protocol.Session == policy.SessionConversation {
			s.conversational = true
			all = append(all, identity(protocol))
		}
		for _, rule := range protocol.Events {
			s.services = s.services || len(rule.Services) > 0
			if rule.Event == policy.SpanEvent {
				s.named = append(s.named, rule.SpanName)
			}
		}
	}
	s.protocols = identityOfAll(all)
	return s
}

// Conversational reports whether a protocol follows conversations, so that their
// state has to be kept from trace to trace.
func (s *Scorer) Conversational() bool { return s.conversational }

// Policy returns what the scorer judges by.
func (s *Scorer) Policy() *policy.Policy { return s.policy }

// Trace judges the spans of one trace as one session. It answers nil if they
// tell nothing of an agent. The order of the spans does not matter, except that
// of two spans with the same id the first counts.
//
// Protocols that follow conversations go on from where store says that they
// were; traces of one conversation are to be judged in order.
func (s *Scorer) Trace(spans []genai.Span, store Conversations) *Session {
	return s.judge(spans, store, &Live{}, nil)
}

// Live is what a processor knows of a trace besides its spans. Zero values are what
// is known of a recorded one.
type Live struct {
	// Gaps are why more of the trace may come.
	Gaps Gaps
	// Started is when the processor began to accept spans without knowing those
	// before; 0 if it knows all. A trace that began before, and that had not ended
	// for MaxAge then, may have lost spans.
	Started genai.Timestamp
	MaxAge  time.Duration
	// Latest is the latest time that the processor's clock allows for spans; 0
	// allows any.
	Latest genai.Timestamp
}

// LiveTrace is [Scorer.Trace] in a processor.
func (s *Scorer) LiveTrace(spans []genai.Span, store Conversations, live Live) *Session {
	return s.judge(spans, store, &live, nil)
}

// restarted reports whether the processor may have been started while the spans'
// trace was under way. A span without a start says nothing.
func (l *Live) restarted(spans []genai.Span) bool {
	if l.Started == 0 {
		return false
	}
	oldest := l.Started - min(l.Started, genai.Timestamp(max(0, l.MaxAge)))
	began, lasted := false, false
	for i := range spans {
		began = began || spans[i].Start > 0 && spans[i].Start < l.Started
		lasted = lasted || spans[i].End > oldest
	}
	return began && lasted
}

// newTrace puts the spans of a trace in order and notes what may be missing.
func (s *Scorer) newTrace(spans []genai.Span, live *Live) *trace {
	t := newTrace(spans, s.newWork(len(spans)))
	t.gaps |= live.Gaps
	if live.restarted(spans) {
		t.gaps.Add(GapRestart)
	}
	if slices.ContainsFunc(t.order, func(i int) bool { return s.lostResource(&t.spans[i]) }) {
		t.gaps.Add(GapDropped)
	}
	return t
}

// lostResource reports whether the span's resource may have had an attribute that
// the policy matches by. Attributes of scopes are matched by nothing.
func (s *Scorer) lostResource(span *genai.Span) bool {
	if !span.ResourceDropped || !s.Concerns(span) {
		return false
	}
	if s.services && span.Service == "" || s.conversational && span.ConversationDropped {
		return true
	}
	return slices.ContainsFunc(s.resource, func(name string) bool {
		if _, ok := span.ResourceAttribute(name); ok {
			return false
		}
		// resource.a.b reads the attribute a.b, or the member b of the attribute a.
		return !slices.ContainsFunc(s.resource, func(other string) bool {
			_, ok := span.ResourceAttribute(other)
			return ok && (strings.HasPrefix(other, name+".") || strings.HasPrefix(name, other+"."))
		})
	})
}

// judge is Trace, which tells the account how it comes to its verdict if there
// is one.
func (s *Scorer) judge(spans []genai.Span, store Conversations, live *Live, account *Account) (v *Session) {
	if len(spans) == 0 || !s.concerns(spans) {
		return nil
	}
	defer s.giveUp(spans, store, &v)

	// What happened: the tree of spans, the calls that they show, what was said.
	t := s.newTrace(spans, live)
	t.account = account
	f := newFacts(t, nil, &history{}, s.known(t, store))
	v = &Session{TraceID: spans[0].TraceID, PolicyHash: s.policy.Hash, Root: t.root(), Complete: true, Duplicates: len(t.duplicates)}
	v.describe(t)
	v.lacks(f.traceGaps())

	// What each result proves.
	observations := s.observe(t, f.calls.list, v)
	account.note(t, f, s.policy.Contracts)

	// Whether the agent kept to its protocols.
	for _, p := range s.policy.Protocols {
		if p.Session == policy.SessionTrace && t.follows(p, nil) {
			v.judge(follow(f, p, observations, &followed{}, maxSeenTrace))
		}
	}
	s.converse(t, v, observations, store, live)

	v.index(t)
	return v
}

// Late seals the tool calls of spans that came after their trace was judged. A
// result needs nothing but its own call; a protocol would need the session, so
// no protocol follows them.
func (s *Scorer) Late(spans []genai.Span) (v *Session) {
	if len(spans) == 0 || !s.concerns(spans) {
		return nil
	}
	defer s.giveUp(spans, nil, &v)
	t := newTrace(spans, s.newWork(len(spans)))
	v = &Session{TraceID: spans[0].TraceID, Root: t.root(), Duplicates: len(t.duplicates)}
	v.describe(t)
	c := newCalls(t, func(int) bool { return true }, nil, nil)
	c.broken = true // a model that asked may still come
	c.settle()
	s.observe(t, c.list, v)
	v.index(t)
	return v
}

// observe seals calls.
func (s *Scorer) observe(t *trace, calls []*call, v *Session) map[*call]*Observation {
	observations := make(map[*call]*Observation, len(calls))
	v.Observations = slices.Grow(v.Observations, len(calls))
	for _, k := range calls {
		t.work.spend(1)
		if k.prior && len(k.spans) == 0 && k.shownAt < 0 || t.leavesOpen(k) {
			continue
		}
		o := s.seal(t, k)
		if o == nil && k.tool == "" {
			continue // nobody can tell which contract it lacks
		}
		if o == nil {
			v.Uncontracted = append(v.Uncontracted, Call{Span: k.at, Tool: k.tool, ID: k.id, Conversation: t.nodes[k.at].conversation})
			continue
		}
		observations[k] = o
		v.Observations = append(v.Observations, *o)
	}
	return observations
}

// leavesOpen reports whether what becomes of a call is known only from a later trace
// of its conversation: each model call is a trace of its own, and this one is asked
// for by the only span that tells of the agent. The call is observed once, where its
// answer is shown.
func (t *trace) leavesOpen(k *call) bool {
	if len(k.spans) > 0 || k.shownAt >= 0 || k.asked < 0 || k.serverSide || t.nodes[k.asked].conversation == "" {
		return false
	}
	for _, i := range t.order {
		if i != k.asked && t.spans[i].Kind != genai.Other {
			return false
		}
	}
	return t.spans[k.asked].Kind == genai.Model
}

// known are the calls of a trace's conversations that earlier traces asked for.
// What became of them there does not concern a session that is a trace.
func (s *Scorer) known(t *trace, store Conversations) []knownCall {
	if !s.conversational || store == nil {
		return nil
	}
	var known []knownCall
	for _, id := range t.conversations() {
		if id == "" {
			continue
		}
		for _, k := range store.Conversation(id).calls {
			if !k.Answered {
				known = append(known, knownCall{ID: k.ID, Tool: k.Tool, conversation: id})
			}
		}
	}
	return known
}

// concerns reports whether a trace tells anything of an agent, or of a span that
// a protocol names. Spans without a trace id are of no trace.
func (s *Scorer) concerns(spans []genai.Span) bool {
	if spans[0].TraceID == (genai.TraceID{}) {
		return false
	}
	for i := range spans {
		if s.Concerns(&spans[i]) {
			return true
		}
	}
	return false
}

// Concerns reports whether a span tells anything of an agent, or is one that a
// protocol names. A trace without such a span has no verdict.
func (s *Scorer) Concerns(span *genai.Span) bool {
	return span.Kind != genai.Other || s.Names(span.Name)
}

// Names reports whether a protocol names spans of this name.
func (s *Scorer) Names(span string) bool {
	for i := range s.named {
		if s.named[i].Match(span) {
			return true
		}
	}
	return false
}

// follows reports whether a protocol follows the trace: an agent and a service
// of one of its spans match.
func (t *trace) follows(p *policy.Protocol, within func(int) bool) bool {
	for _, i := range t.order {
		if (within == nil || within(i)) && p.Match.Matches("", t.nodes[i].agent, t.nodes[i].service) {
			return true
		}
	}
	return false
}

// judge adds a protocol's verdict.
func (v *Session) judge(p Protocol) {
	v.Protocols = append(v.Protocols, p)
	v.Compliance = max(v.Compliance, p.Verdict)
	v.Complete = v.Complete && p.Complete
	v.Gaps |= p.Gaps
}

// lacks notes gaps of the trace.
func (v *Session) lacks(gaps Gaps) {
	v.TraceGaps |= gaps
	v.Gaps |= gaps
}

// describe says what the session is about.
func (v *Session) describe(t *trace) {
	v.Start = t.nodes[t.order[0]].start
	v.Service = t.nodes[v.Root].service
	for _, i := range t.order {
		n := &t.nodes[i]
		v.End = max(v.End, n.end)
		if v.Agent == "" {
			v.Agent = n.agent
		}
		if v.Conversation == "" {
			v.Conversation = n.conversation
		}
	}
}

// index sorts the verdicts by the spans that carry them. A redelivered span is
// told what its first copy is.
func (v *Session) index(t *trace) {
	slices.SortStableFunc(v.Observations, func(a, b Observation) int {
		return cmp.Or(
			cmp.Compare(t.nodes[a.Span].start, t.nodes[b.Span].start),
			cmp.Compare(t.nodes[a.Span].skewedStart, t.nodes[b.Span].skewedStart),
			compareIDs(t.spans[a.Span].SpanID, t.spans[b.Span].SpanID),
		)
	})
	at := map[int]int{}
	of := func(span int) *SpanVerdict {
		n, ok := at[span]
		if !ok {
			n = len(v.Spans)
			at[span] = n
			v.Spans = append(v.Spans, SpanVerdict{Span: span, Observation: -1})
		}
		return &v.Spans[n]
	}
	for i := range v.Observations {
		if o := &v.Observations[i]; o.ToolSpan {
			of(o.Span).Observation = i
		}
	}
	for p := range v.Protocols {
		for e := range v.Protocols[p].Events {
			s := of(v.Protocols[p].Events[e].Span)
			s.Events = append(s.Events, EventRef{Protocol: p, Event: e})
		}
	}
	for _, d := range t.duplicates {
		if n, ok := at[d[1]]; ok {
			copied := v.Spans[n]
			copied.Span = d[0]
			v.Spans = append(v.Spans, copied)
		}
	}
	slices.SortFunc(v.Spans, func(a, b SpanVerdict) int { return cmp.Compare(a.Span, b.Span) })
}
