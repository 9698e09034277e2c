// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"cmp"
	"maps"
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// Conversation is what remains of a conversation between its traces: the
// monitors of the protocols that follow it, hashes of the messages that were
// seen, the ids of its calls. It is small, holds no content, and is for one
// goroutine at a time.
type Conversation struct {
	history  history
	calls    []knownCall
	followed map[int]*followed // by the protocol's index
	// consumed is the time of the last event that was stepped.
	consumed genai.Timestamp
	gaps     Gaps    // why an event of an earlier trace may be missing
	unheard  unheard // in an earlier trace

	// protocols identifies the protocols that the state belongs to, see
	// Scorer.protocols; 0 before the first trace.
	protocols uint64
	// changed is set once a trace was evaluated by other protocols. A protocol that
	// begins afterwards has not seen all earlier events.
	changed bool
	// later is set while a trace is evaluated by an earlier policy than the one that
	// the state belongs to. others are the states of the later policy's protocols
	// that the earlier one lacks.
	later  bool
	others []resting
}

// PolicyChanged notes that traces of the conversation may have been evaluated by a
// policy that follows no conversations. No protocol has seen their events.
func (c *Conversation) PolicyChanged() {
	c.changed = true
	for _, f := range c.followed {
		f.changed = true
	}
}

// knownCall is a call that an earlier trace of the conversation showed.
type knownCall struct {
	ID, Tool         string
	Called, Answered bool
	conversation     string // where several are judged at once
}

// maxKnownCalls bounds the calls that are remembered: the last so many.
const maxKnownCalls = 256

// Conversations finds the state of conversations. A nil Conversations follows each
// conversation no further than its trace.
type Conversations interface {
	// Conversation returns the state of a conversation, and makes it where there is
	// none.
	Conversation(id string) *Conversation
	// Skip evicts the state of a conversation, because a trace that is part of it is
	// not followed.
	Skip(id string)
}

// EvictedConversation returns the state of a conversation whose earlier state was
// evicted.
func EvictedConversation() *Conversation { return &Conversation{gaps: GapSet(GapEvicted)} }

// MaxConversations is how many conversations of one trace are followed: those that
// appear first. A trace has one, or a few where agents share it.
const MaxConversations = 16

// converse steps the protocols that follow conversations, one conversation of
// the trace at a time.
func (s *Scorer) converse(t *trace, v *Session, observations map[*call]*Observation, store Conversations, live *Live) {
	if !s.conversational {
		return
	}
	for _, id := range t.conversations() {
		c := &Conversation{}
		if store != nil && id != "" {
			c = store.Conversation(id)
		}
		s.turn(t, id, c, v, observations, live)
	}
	v.Unfollowed = len(t.further)
	if store == nil {
		return
	}
	for _, id := range t.further {
		store.Skip(id)
	}
}

// conversations lists the conversations of a trace that are followed, in order of
// appearance. Spans without one are a conversation of their own, if they tell
// anything.
func (t *trace) conversations() []string {
	if t.listed {
		return t.followed
	}
	t.listed = true
	seen := map[string]bool{}
	named := 0
	for _, i := range t.order {
		id := t.nodes[i].conversation
		if seen[id] || id == "" && t.spans[i].Kind == genai.Other {
			continue
		}
		seen[id] = true
		if id != "" {
			if named++; named > MaxConversations {
				t.further = append(t.further, id)
				continue
			}
		}
		t.followed = append(t.followed, id)
	}
	return t.followed
}

// turn steps the protocols of one conversation by one trace.
func (s *Scorer) turn(t *trace, id string, c *Conversation, v *Session, observations map[*call]*Observation, live *Live) {
	t.work.spend(len(t.order)) // each conversation goes over all spans
	within := func(span int) bool { return t.nodes[span].conversation == id }
	if id != "" && t.ahead(within, live.Latest) {
		s.turnAhead(t, id, c, v, observations, within)
		return
	}
	f := newFacts(t, within, &c.history, c.calls)
	defer c.history.rest()
	if f.began {
		c.gaps.Add(GapBegan)
	}
	f.earlier = c.gaps
	f.unheard.add(c.unheard)
	own := s.translate(f, observations)
	followers := s.followers(f)

	begin, end, some := extent(f, followers)
	late, joined := some && begin < c.consumed, false
	if late && !c.later {
		v.outOfOrder()
	}
	for _, follower := range followers {
		state, joins := c.state(follower.p)
		joined = joined || joins
		if late && joins {
			// Its events belong before others that were stepped already.
			v.outOfOrder()
			v.converse(t, id, standApart(f, follower.p, follower.list, own, state, GapOutOfOrder))
		} else {
			v.converse(t, id, advance(f, follower.p, follower.list, own, state, maxSeenConversation, (*runner).join))
		}
	}
	if some && !(c.later && (late || !joined)) {
		c.consumed = max(c.consumed, end)
	}
	c.remember(f)
}

// turnAhead steps the protocols of one conversation by a trace that is dated ahead
// of the processor's clock: from their beginning, and without any effect on the
// conversation but that the events may have happened.
func (s *Scorer) turnAhead(t *trace, id string, c *Conversation, v *Session, observations map[*call]*Observation, within func(int) bool) {
	v.Ahead = true
	v.lacks(GapSet(GapAhead))
	f := newFacts(t, within, &history{}, nil)
	own := s.translate(f, observations)
	c.gaps |= f.gaps
	c.unheard.add(f.unheard)
	alone, quiet := *f, *f
	alone.gaps.Add(GapAhead) // what the conversation has seen is missing here
	quiet.t = t.silently()
	for _, follower := range s.followers(f) {
		v.converse(t, id, advance(&alone, follower.p, follower.list, own, &followed{}, maxSeenConversation, (*runner).join))
		if state, joins := c.state(follower.p); joins {
			standApart(&quiet, follower.p, follower.list, own, state, GapAhead)
		}
	}
}

// follower is a protocol that follows a conversation, and the facts that it looks
// at.
type follower struct {
	p    *policy.Protocol
	list []fact
}

// followers returns the protocols that follow the conversation of these facts.
func (s *Scorer) followers(f *facts) []follower {
	var out []follower
	for _, p := range s.policy.Protocols {
		if p.Session == policy.SessionConversation && f.t.follows(p, f.within) {
			out = append(out, follower{p, f.of(p)})
		}
	}
	return out
}

// extent returns the times of the first and the last fact; some is false if there
// is none.
func extent(f *facts, followers []follower) (begin, end genai.Timestamp, some bool) {
	add := func(list []fact) {
		n := len(list)
		if n == 0 {
			return
		}
		if !some || list[0].time < begin {
			begin = list[0].time
		}
		end, some = max(end, list[n-1].time), true
	}
	add(f.list)
	for i := range followers {
		add(followers[i].list)
	}
	return begin, end, some
}

// converse adds the verdict of a protocol that follows a conversation.
func (v *Session) converse(t *trace, id string, p Protocol) {
	p.Conversation = id
	t.account.converses(id)
	v.judge(p)
}

// outOfOrder notes that a trace's events could not join the conversation.
func (v *Session) outOfOrder() {
	v.OutOfOrder = true
	v.lacks(GapSet(GapOutOfOrder))
}

// state returns the state of a protocol, and whether the trace's events join the
// conversation there. They do not if a later policy has changed the protocol:
// then the trace is followed on its own, and what comes of it is not kept.
func (c *Conversation) state(p *policy.Protocol) (state *followed, joins bool) {
	if state = c.followed[p.Index]; state != nil {
		return state, true
	}
	state = &followed{changed: c.changed}
	if c.later {
		return state, false
	}
	if c.followed == nil {
		c.followed = map[int]*followed{}
	}
	c.followed[p.Index] = state
	return state, true
}

// translate finds the observations of calls as the trace by itself showed them.
// A call that only its conversation knows is held against its contracts here.
func (s *Scorer) translate(f *facts, observations map[*call]*Observation) map[*call]*Observation {
	type key struct {
		span int
		id   string // of a call that only messages show
		nth  int    // of those with one id, or without any, in the order of the messages
	}
	keys := func() func(k *call) key {
		seen := map[key]int{}
		return func(k *call) key {
			if len(k.spans) > 0 {
				return key{span: k.at}
			}
			of := key{span: k.at, id: k.tool + " " + k.id}
			n := seen[of]
			seen[of]++
			of.nth = n
			return of
		}
	}
	shown := func(a, b *call) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.askedSeq, b.askedSeq), cmp.Compare(a.shownSeq, b.shownSeq))
	}
	by := make(map[key]*Observation, len(observations))
	of := keys()
	for _, k := range slices.SortedFunc(maps.Keys(observations), shown) {
		by[of(k)] = observations[k]
	}
	own := make(map[*call]*Observation, len(f.calls.list))
	of = keys()
	for _, k := range slices.SortedFunc(slices.Values(f.calls.list), shown) {
		o := by[of(k)]
		if o == nil {
			o = s.seal(f.t, k)
		}
		if o != nil {
			own[k] = o
		}
	}
	return own
}

// remember keeps what the next trace needs.
func (c *Conversation) remember(f *facts) {
	c.gaps |= f.gaps
	c.unheard.add(f.unheard)
	at := make(map[string]int, len(c.calls))
	for i := range c.calls {
		at[c.calls[i].ID] = i
	}
	for _, k := range f.calls.list {
		if k.id == "" {
			continue
		}
		id := genai.BoundedID(k.id)
		i, ok := at[id]
		if !ok {
			i = len(c.calls)
			at[id] = i
			c.calls = append(c.calls, knownCall{ID: id, Tool: genai.BoundedID(k.tool)})
		}
		// One that was asked for before the conversation was known gave no event.
		c.calls[i].Called = c.calls[i].Called || !k.prior || len(k.spans) > 0
		c.calls[i].Answered = c.calls[i].Answered || k.returned
	}
	if n := len(c.calls); n > maxKnownCalls {
		c.calls = append([]knownCall(nil), c.calls[n-maxKnownCalls:]...)
	}
}
