// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// A conversation at rest is a text of bytes: a version, then its parts one after
// the other, numbers as varints and strings with their length before them. It is
// a quarter of the size of the conversation in use, has no pointers, and can be
// stored as it is. A monitor stands behind the identity of its protocol.
//
// The state belongs to the policy that evaluated the latest trace. If the next
// trace is evaluated by a later policy, monitors of protocols that have changed or
// are gone are left out, and the protocols in their place begin anew with the gap
// policy_changed. If it is evaluated by an earlier policy, because it began before
// a reload, only the protocols that both have go on; the others are kept as they
// are.

// snapshotVersion is the first byte of a conversation at rest. In version 2,
// which can still be read, there was one gap, as the text of its reason, of the
// events that may have happened besides those that were seen it was only known
// that there are some, and a protocol was identified by its name and its automaton
// only.
const (
	snapshotVersion       = 3
	snapshotVersionOneGap = 2
)

// ErrBadConversation is a conversation at rest that cannot be read.
var ErrBadConversation = errors.New("the saved conversation is damaged or of another version")

// Bits of a conversation's and a protocol's flags.
const (
	flagOpened = 1 << iota
	flagUnheardUser
	flagUnheardAgent
	flagConversationChanged
)

const (
	flagHalted = 1 << iota
	flagCut
	flagCertain
	flagChanged
)

// identity tells a protocol from all others, and from itself after a change that
// gives its monitor's state another meaning.
func identity(p *policy.Protocol) uint64 {
	if p.Hash == "" { // not from a policy file
		return identityV2(p)
	}
	return xxhash.Sum64String(p.Hash)
}

// identityV2 is identity as it was in version 2.
func identityV2(p *policy.Protocol) uint64 {
	return xxhash.Sum64String(p.Name + "\x00" + p.Automaton.Hash())
}

// identityOfAll identifies a set of protocols. It is never 0.
func identityOfAll(identities []uint64) uint64 {
	slices.Sort(identities)
	var b []byte
	for _, id := range identities {
		b = binary.LittleEndian.AppendUint64(b, id)
	}
	return max(xxhash.Sum64(b), 1)
}

// resting is the state of a protocol that the scorer's policy lacks.
type resting struct {
	identity uint64
	body     []byte
}

// AppendConversation appends a conversation at rest.
func (s *Scorer) AppendConversation(dst []byte, c *Conversation) []byte {
	protocols := s.protocols
	if c.later {
		protocols = c.protocols
	}
	dst = append(dst, snapshotVersion, bits(c.history.opened, c.unheard.user, c.unheard.agent, c.changed))
	dst = binary.LittleEndian.AppendUint64(dst, protocols)
	dst = binary.AppendUvarint(dst, uint64(c.consumed))
	dst = binary.AppendUvarint(dst, uint64(c.gaps))
	dst = binary.AppendUvarint(dst, uint64(len(c.history.items)))
	for _, it := range c.history.items {
		dst = binary.LittleEndian.AppendUint64(append(dst, byte(it.role)), it.hash)
	}
	dst = binary.AppendUvarint(dst, uint64(len(c.calls)))
	for i := range c.calls {
		k := &c.calls[i]
		dst = append(dst, bits(k.Called, k.Answered))
		dst = appendText(appendText(dst, k.ID), k.Tool)
	}
	n := len(c.others)
	for _, f := range c.followed {
		if f.monitor != nil {
			n++
		}
	}
	dst = binary.AppendUvarint(dst, uint64(n))
	for _, p := range s.policy.Protocols {
		if f := c.followed[p.Index]; f != nil && f.monitor != nil {
			dst = appendResting(dst, resting{s.identities[p.Index], appendFollowed(nil, p, f)})
		}
	}
	for _, o := range c.others {
		dst = appendResting(dst, o)
	}
	return dst
}

func appendResting(dst []byte, r resting) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, r.identity)
	dst = binary.AppendUvarint(dst, uint64(len(r.body)))
	return append(dst, r.body...)
}

func appendFollowed(body []byte, p *policy.Protocol, f *followed) []byte {
	snapshot := f.monitor.Snapshot()
	// Compliant is 0, so that conversations of earlier releases can be read;
	// Unjudged, which those did not have, wraps around to 255.
	body = append(body, bits(snapshot.Halted, f.cut, f.certain, f.changed), byte(f.worst-Compliant))
	body = binary.AppendUvarint(body, uint64(snapshot.State)) //nolint:gosec // states are numbered from 0
	registers := f.monitor.Registers()
	body = binary.AppendUvarint(body, uint64(len(registers)))
	for _, r := range registers {
		text := r.Value.String()
		if r.Value.IsHashed() {
			text = hashedRegister + strings.Trim(text, `"`)
		}
		body = appendText(appendText(body, r.Name), text)
	}
	body = appendEvents(body, p, f.seen)
	body = binary.AppendUvarint(body, uint64(f.lacks))
	possible := slices.SortedFunc(maps.Keys(f.possible), func(a, b session.Event) int {
		return cmp.Or(cmp.Compare(a.Direction, b.Direction), cmp.Compare(a.Label, b.Label))
	})
	return appendEvents(body, p, possible)
}

func appendEvents(dst []byte, p *policy.Protocol, events []session.Event) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(events)))
	for _, e := range events {
		// Most events are the automaton's own and have a number there.
		if symbol := p.Automaton.Symbol(e.Direction, e.Label); symbol >= 0 {
			dst = binary.AppendUvarint(dst, uint64(symbol)+1) //nolint:gosec // just compared
			continue
		}
		dst = appendText(append(dst, 0, byte(e.Direction)), genai.BoundedID(e.Label))
	}
	return dst
}

// RestoreConversation reads a conversation at rest that was left by this policy or
// an earlier one. The error wraps [ErrBadConversation]. Monitors of protocols that
// are no longer the same begin anew.
func (s *Scorer) RestoreConversation(data []byte) (*Conversation, error) {
	return s.restore(data, false)
}

// RestoreLaterConversation reads a conversation at rest that was left by a later
// policy, for a trace that is still evaluated by this one. The states of protocols
// that the policies do not have in common stay as they are.
func (s *Scorer) RestoreLaterConversation(data []byte) (*Conversation, error) {
	return s.restore(data, true)
}

func (s *Scorer) restore(data []byte, later bool) (*Conversation, error) {
	r := &restorer{data: data}
	if r.version = r.byte(); r.version != snapshotVersion && r.version != snapshotVersionOneGap {
		return nil, ErrBadConversation
	}
	c := &Conversation{protocols: s.protocols}
	flags := r.byte()
	c.history.opened = flags&flagOpened != 0
	c.changed = flags&flagConversationChanged != 0
	c.unheard = unheard{user: flags&flagUnheardUser != 0, agent: flags&flagUnheardAgent != 0}
	if r.version != snapshotVersionOneGap {
		c.protocols = r.fixed()
	}
	if c.protocols != s.protocols {
		c.changed, c.later = true, later
	}
	c.consumed = genai.Timestamp(r.number())
	c.gaps = r.gaps()
	c.history.items = make([]item, 0, r.count(9))
	for range cap(c.history.items) {
		role := genai.Role(r.byte())
		c.history.items = append(c.history.items, item{role: role, hash: r.fixed()})
	}
	c.calls = make([]knownCall, 0, r.count(3))
	for range cap(c.calls) {
		flags := r.byte()
		c.calls = append(c.calls, knownCall{Called: flags&1 != 0, Answered: flags&2 != 0, ID: r.text(), Tool: r.text()})
	}
	for range r.count(9) {
		id := r.fixed()
		body := &restorer{version: r.version, data: r.bytes()}
		p := s.find(r.version, id)
		switch {
		case p != nil:
			f := body.followed(p)
			if body.failed || len(body.data) > 0 {
				return nil, fmt.Errorf("%w: protocol %q", ErrBadConversation, p.Name)
			}
			if c.followed == nil {
				c.followed = map[int]*followed{}
			}
			c.followed[p.Index] = f
		case c.later && len(body.data) > 0:
			// It goes on without the trace that is evaluated now.
			state := slices.Clone(body.data)
			state[0] |= flagChanged
			c.others = append(c.others, resting{id, state})
		}
	}
	if r.failed || len(r.data) > 0 {
		return nil, ErrBadConversation
	}
	return c, nil
}

// find returns the protocol that follows conversations and has an identity, nil
// if there is none.
func (s *Scorer) find(version byte, id uint64) *policy.Protocol {
	for i, p := range s.policy.Protocols {
		own := s.identities[i]
		if version == snapshotVersionOneGap {
			own = identityV2(p)
		}
		if own == id && p.Session == policy.SessionConversation {
			return p
		}
	}
	return nil
}

// restorer reads a conversation at rest from its front. After a mistake it gives
// zeros.
type restorer struct {
	version byte
	data    []byte
	failed  bool
}

// gaps reads what an earlier trace may lack.
func (r *restorer) gaps() Gaps {
	if r.version != snapshotVersionOneGap {
		return r.set()
	}
	reason := r.text()
	for _, g := range AllGaps() {
		if reason == g.Reason() {
			return GapSet(g)
		}
	}
	r.failed = r.failed || reason != ""
	return 0
}

// hashedRegister begins a register's value of which only the hash was kept. No JSON
// text begins with it.
const hashedRegister = "#"

func restoreRegister(text string) (session.Value, error) {
	if hash, ok := strings.CutPrefix(text, hashedRegister); ok {
		if v := session.HashedValue(hash); !v.IsZero() {
			return v, nil
		}
		return session.Value{}, ErrBadConversation
	}
	return session.ParseValue(text)
}

func (r *restorer) set() Gaps {
	n := r.number()
	r.failed = r.failed || n >= 1<<gapCount
	return Gaps(n) //nolint:gosec // just compared
}

func (r *restorer) followed(p *policy.Protocol) *followed {
	flags := r.byte()
	f := &followed{worst: Compliance(r.byte()) + Compliant, cut: flags&flagCut != 0, certain: flags&flagCertain != 0, changed: flags&flagChanged != 0}
	state := r.number()
	snapshot := session.Snapshot{Protocol: p.Automaton.Hash(), Halted: flags&flagHalted != 0}
	if f.worst > Violation || state >= uint64(p.Automaton.States()) { //nolint:gosec // a count
		r.failed = true
		return nil
	}
	snapshot.State = int(state) //nolint:gosec // just compared
	for range r.count(2) {
		name := r.text()
		v, err := restoreRegister(r.text())
		if err != nil {
			r.failed = true
			return nil
		}
		if snapshot.Registers == nil {
			snapshot.Registers = map[string]session.Value{}
		}
		snapshot.Registers[name] = v
	}
	m, err := p.Automaton.Restore(snapshot)
	if err != nil {
		r.failed = true
		return nil
	}
	f.monitor = m
	f.seen = r.events(p)
	switch {
	case r.version != snapshotVersionOneGap:
		f.lacks = r.set()
		for _, e := range r.events(p) {
			if f.possible == nil {
				f.possible = map[session.Event]struct{}{}
			}
			f.possible[e] = struct{}{}
		}
	case f.cut && len(f.seen) < maxSeenConversation:
		f.lacks.Add(GapContent) // nothing else cuts what is known so soon
	}
	return f
}

func (r *restorer) events(p *policy.Protocol) []session.Event {
	var known []session.Event
	n := r.count(1)
	if n == 0 {
		return nil
	}
	events := make([]session.Event, 0, n)
	for range n {
		symbol := r.number()
		if symbol == 0 {
			events = append(events, session.Event{Direction: session.Direction(r.byte()), Label: r.text()})
			continue
		}
		if known == nil {
			known = p.Automaton.Events()
		}
		if symbol > uint64(len(known)) {
			r.failed = true
			return nil
		}
		events = append(events, known[symbol-1])
	}
	return events
}

func (r *restorer) take(n uint64) []byte {
	if r.failed || n > uint64(len(r.data)) {
		r.failed, r.data = true, nil
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

func (r *restorer) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *restorer) fixed() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *restorer) number() uint64 {
	n, size := binary.Uvarint(r.data)
	if size <= 0 {
		r.failed, r.data = true, nil
		return 0
	}
	r.data = r.data[size:]
	return n
}

// count reads how many entries follow, each of so many bytes at least: a wrong
// number must not make room for what is not there.
func (r *restorer) count(size int) int {
	n := r.number()
	if n > uint64(len(r.data)/size) { //nolint:gosec // lengths are not negative
		r.failed, r.data = true, nil
		return 0
	}
	return int(n) //nolint:gosec // just compared
}

func (r *restorer) bytes() []byte { return r.take(r.number()) }

func (r *restorer) text() string { return string(r.bytes()) }

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func bits(set ...bool) (b byte) {
	for i, on := range set {
		if on {
			b |= 1 << i
		}
	}
	return b
}
