// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package revision keeps the policy in force and the earlier ones that still evaluate
// buffered traces.
//
// All of a trace is evaluated by the policy that was in force when its first span came.
package revision

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/conversations"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// Revision is a policy that is in force, or that evaluates a trace which is not
// completed yet. It is immutable but for its counter.
type Revision struct {
	conversations.Revision
	// Attributes and Resource are the names of the span and resource attributes that the
	// policy reads.
	Attributes, Resource []string

	traces atomic.Int64 // buffered traces that it evaluates
}

func newRevision(p *policy.Policy, before *Revision, done <-chan struct{}) *Revision {
	r := &Revision{Revision: conversations.Revision{Number: 1, Scorer: score.New(p).Until(done)}}
	r.Attributes, r.Resource = p.AttributeNames()
	if before != nil {
		r.Number, r.Unfollowed = before.Number+1, before.Unfollowed
	}
	if !r.Scorer.Conversational() {
		r.Unfollowed = r.Number
	}
	return r
}

// Hold counts a buffered trace, and Release uncounts it. A nil Revision, as tests have
// it, counts nothing.
func (r *Revision) Hold() {
	if r != nil {
		r.traces.Add(1)
	}
}

// Release uncounts a trace that was counted by Hold.
func (r *Revision) Release() {
	if r != nil {
		r.traces.Add(-1)
	}
}

// InForce is the state under which a batch is received. It is immutable but for its
// counter.
type InForce struct {
	// Revision evaluates the traces that the batch begins.
	Revision *Revision
	// All are this revision and those that evaluate buffered traces. A span is
	// buffered if a protocol of any of them names it.
	All []*Revision

	batches atomic.Int64 // batches, and parts of them, that the shards have not taken yet
}

// Join counts a part of a batch that Enter has counted, until Leave.
func (f *InForce) Join() { f.batches.Add(1) }

// Leave uncounts a batch, or a part of one that a shard has taken.
func (f *InForce) Leave() { f.batches.Add(-1) }

// Names reports whether a protocol names spans of this name.
func (f *InForce) Names(span string) bool {
	for _, r := range f.All {
		if r.Scorer.Names(span) {
			return true
		}
	}
	return false
}

// Set holds the policy in force and the earlier ones that are still needed. Any number
// of goroutines may call Enter and Current; one goroutine calls Replace and Collect.
type Set struct {
	now atomic.Pointer[InForce]
	// retired were in force before and may still have batches. They belong to the
	// goroutine that calls Replace.
	retired []*InForce
	// done is closed when scoring has to end.
	done <-chan struct{}
}

// NewSet returns a set with a policy in force. When done is closed, scoring ends early.
func NewSet(p *policy.Policy, done <-chan struct{}) *Set {
	first := newRevision(p, nil, done)
	s := &Set{done: done}
	s.now.Store(&InForce{Revision: first, All: []*Revision{first}})
	return s
}

// Current returns the state in force.
func (s *Set) Current() *InForce { return s.now.Load() }

// Enter returns the state in force and counts a batch there until Leave.
func (s *Set) Enter() *InForce {
	for {
		f := s.now.Load()
		f.batches.Add(1)
		if s.now.Load() == f {
			return f
		}
		f.Leave() // it was replaced meanwhile, and Replace may not wait for it any more
	}
}

// DrainInterval is how often Replace checks whether earlier batches have arrived.
const DrainInterval = 10 * time.Millisecond

// Replace puts a policy in force. It returns false if stop is closed before.
//
// In mode stream, spans are forwarded or buffered by their names when a batch comes.
// No trace may begin under a policy while batches are on their way that did not know
// its names. So Replace publishes the names first, waits for the earlier batches, and
// then puts the policy in force.
func (s *Set) Replace(p *policy.Policy, stop <-chan struct{}) bool {
	before := s.now.Load()
	next := newRevision(p, before.Revision, s.done)
	all := append(slices.Clone(before.All), next)
	s.publish(&InForce{Revision: before.Revision, All: all})
	for before.batches.Load() > 0 {
		select {
		case <-time.After(DrainInterval):
		case <-stop:
			return false
		}
	}
	s.publish(&InForce{Revision: next, All: all})
	return true
}

func (s *Set) publish(f *InForce) { s.retired = append(s.retired, s.now.Swap(f)) }

// Collect drops the revisions that no trace needs any more.
func (s *Set) Collect() {
	// Batches before traces: a batch is counted off after the traces that it begins
	// are counted.
	s.retired = slices.DeleteFunc(s.retired, func(f *InForce) bool { return f.batches.Load() == 0 })
	now := s.now.Load()
	needed := func(v *Revision) bool {
		return v == now.Revision || slices.ContainsFunc(s.retired, func(f *InForce) bool { return f.Revision == v }) || v.traces.Load() > 0
	}
	all := slices.DeleteFunc(slices.Clone(now.All), func(v *Revision) bool { return !needed(v) })
	if len(all) < len(now.All) {
		s.publish(&InForce{Revision: now.Revision, All: all})
	}
}
