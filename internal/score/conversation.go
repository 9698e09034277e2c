// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
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

// Conversations finds the state of a conversation, and makes it where there is
// none. A nil Conversations follows each conversation no further than its trace.
type Conversations interface {
	Conversation(id string) *Conversation
}

// converse steps the protocols that follow conversations, one conversation of
// the trace at a time.
func (s *Scorer) converse(t *trace, v *Session, observations map[*call]*Observation, store Conversations) {
	if !s.conversational {
		return
	}
	for _, id := range t.conversations() {
		c := &Conversation{}
		if store != nil && id != "" {
			c = store.Conversation(id)
		}
		s.turn(t, id, c, v, observations)
	}
}

// conversations lists the conversations of a trace, in order of appearance. Spans
// without one are a conversation of their own, if they tell anything.
func (t *trace) conversations() []string {
	var ids []string
	seen := map[string]bool{}
	for _, i := range t.order {
		id := t.nodes[i].conversation
		if seen[id] || id == "" && t.spans[i].Kind == genai.Other {
			continue
		}
		seen[id] = true
		ids = append(ids, id)
	}
	return ids
}

// turn steps the protocols of one conversation by one trace.
func (s *Scorer) turn(t *trace, id string, c *Conversation, v *Session, observations map[*call]*Observation) {
	t.work.spend(len(t.order)) // each conversation goes over all spans
	within := func(span int) bool { return t.nodes[span].conversation == id }
	f := newFacts(t, within, &c.history, c.calls)
	defer c.history.rest()
	if f.began {
		c.gaps.Add(GapBegan)
	}
	f.earlier = c.gaps
	f.unheard.add(c.unheard)

	own := s.translate(f, observations)

	list, joined := f.list, false
	late := len(list) > 0 && list[0].time < c.consumed
	if late && !c.later {
		c.outOfOrder(v)
	}
	for _, p := range s.policy.Protocols {
		if p.Session != policy.SessionConversation || !t.follows(p, within) {
			continue
		}
		state, joins := c.state(p)
		f.list = list
		if late && joins {
			// Its events belong before others that were stepped already.
			f.list = nil
			c.outOfOrder(v)
		}
		joined = joined || joins
		verdict := follow(f, p, own, state, maxSeenConversation)
		verdict.Conversation = id
		t.account.converses(id)
		v.judge(verdict)
	}
	if c.later && (late || !joined) {
		f.list = nil // none of it was consumed
	}
	c.remember(f, t)
}

// outOfOrder notes that a trace's events could not join the conversation.
func (c *Conversation) outOfOrder(v *Session) {
	c.gaps.Add(GapOutOfOrder)
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
	}
	of := func(k *call) key {
		if len(k.spans) > 0 {
			return key{span: k.at}
		}
		return key{k.at, k.tool + " " + k.id}
	}
	by := make(map[key]*Observation, len(observations))
	for k, o := range observations {
		by[of(k)] = o
	}
	own := make(map[*call]*Observation, len(f.calls.list))
	for _, k := range f.calls.list {
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
func (c *Conversation) remember(f *facts, t *trace) {
	if n := len(f.list); n > 0 {
		c.consumed = max(c.consumed, f.list[n-1].time)
	}
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
