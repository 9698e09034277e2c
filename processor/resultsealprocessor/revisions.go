// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// A revision is a policy that is in force, or was when the first span of a trace
// came that is not completed yet. One revision evaluates all of a trace.
type revision struct {
	number int // 1 for the first, and one more for each that replaces another
	scorer *score.Scorer
	// attributes and resource are those that the policy reads.
	attributes, resource []string
	// unfollowed is the number of the latest revision up to this one that follows no
	// conversations, 0 if there is none.
	unfollowed int

	traces atomic.Int64 // buffered ones that it evaluates
}

func newRevision(p *policy.Policy, before *revision, done <-chan struct{}) *revision {
	r := &revision{number: 1, scorer: score.New(p).Until(done)}
	r.attributes, r.resource = p.AttributeNames()
	if before != nil {
		r.number, r.unfollowed = before.number+1, before.unfollowed
	}
	if !r.scorer.Conversational() {
		r.unfollowed = r.number
	}
	return r
}

// hold counts a trace that the revision evaluates, release counts it off when the
// trace is completed. Tests have traces without a revision.
func (r *revision) hold() {
	if r != nil {
		r.traces.Add(1)
	}
}

func (r *revision) release() {
	if r != nil {
		r.traces.Add(-1)
	}
}

// inForce is what a batch is received under. It does not change.
type inForce struct {
	// revision evaluates the traces that the batch begins.
	revision *revision
	// all are the revisions that evaluate buffered traces, and this one. A span may
	// have to be buffered for any of them.
	all []*revision

	batches atomic.Int64 // received under it and not with the shards yet
}

// leave counts off a batch, or the part of one that a shard has taken.
func (f *inForce) leave() { f.batches.Add(-1) }

// names reports whether a protocol names spans of this name.
func (f *inForce) names(span string) bool {
	for _, r := range f.all {
		if r.scorer.Names(span) {
			return true
		}
	}
	return false
}

// revisions are the policies that traces are evaluated by. Any number of goroutines
// receive batches under them; one replaces them.
type revisions struct {
	now atomic.Pointer[inForce]
	// retired were in force before and may still have batches. They belong to the
	// goroutine that replaces.
	retired []*inForce
	// done is closed when scoring has to end.
	done <-chan struct{}
}

func newRevisions(p *policy.Policy, done <-chan struct{}) *revisions {
	first := newRevision(p, nil, done)
	r := &revisions{done: done}
	r.now.Store(&inForce{revision: first, all: []*revision{first}})
	return r
}

// enter returns what is in force, and counts a batch there until leave.
func (r *revisions) enter() *inForce {
	for {
		f := r.now.Load()
		f.batches.Add(1)
		if r.now.Load() == f {
			return f
		}
		f.leave() // replaced meanwhile, and perhaps not waited for any more
	}
}

// drainInterval is how often replace looks whether the batches are through that were
// received before.
const drainInterval = 10 * time.Millisecond

// replace puts a policy in force; false if it was stopped before.
//
// A trace must not begin under a policy while batches are on their way that were
// received without knowledge of it: in mode stream their spans are forwarded or
// buffered by their names. So the names come first, and the policy when the batches
// of before are through.
func (r *revisions) replace(p *policy.Policy, stop <-chan struct{}) bool {
	before := r.now.Load()
	next := newRevision(p, before.revision, r.done)
	all := append(slices.Clone(before.all), next)
	r.publish(&inForce{revision: before.revision, all: all})
	for before.batches.Load() > 0 {
		select {
		case <-time.After(drainInterval):
		case <-stop:
			return false
		}
	}
	r.publish(&inForce{revision: next, all: all})
	return true
}

func (r *revisions) publish(f *inForce) { r.retired = append(r.retired, r.now.Swap(f)) }

// collect gives up the revisions that evaluate no trace any more.
func (r *revisions) collect() {
	// Batches before traces: a batch is counted off after the traces that it begins
	// are counted.
	r.retired = slices.DeleteFunc(r.retired, func(f *inForce) bool { return f.batches.Load() == 0 })
	now := r.now.Load()
	needed := func(v *revision) bool {
		return v == now.revision || slices.ContainsFunc(r.retired, func(f *inForce) bool { return f.revision == v }) || v.traces.Load() > 0
	}
	all := slices.DeleteFunc(slices.Clone(now.all), func(v *revision) bool { return !needed(v) })
	if len(all) < len(now.all) {
		r.publish(&inForce{revision: now.revision, all: all})
	}
}
