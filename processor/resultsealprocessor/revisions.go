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

// A revision is a policy that is in force, or that evaluates a trace which is not
// completed yet. All of a trace is evaluated by the revision that was in force when
// its first span came.
type revision struct {
	number int // 1 for the first, and one more for each that replaces another
	scorer *score.Scorer
	// attributes and resource are those that the policy reads.
	attributes, resource []string
	// unfollowed is the number of the latest revision, up to this one, that follows no
	// conversations; 0 if there is none.
	unfollowed int

	traces atomic.Int64 // buffered traces that it evaluates
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

// hold counts a buffered trace, release uncounts it. Tests have traces without a
// revision.
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

// inForce is the state under which a batch is received. It is immutable but for its
// counter.
type inForce struct {
	// revision evaluates the traces that the batch begins.
	revision *revision
	// all are this revision and those that evaluate buffered traces. A span is
	// buffered if a protocol of any of them names it.
	all []*revision

	batches atomic.Int64 // batches, and parts of them, that the shards have not taken yet
}

// leave uncounts a batch, or a part that a shard has taken.
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

// revisions hold the policy in force and the earlier ones that are still needed. Any
// number of goroutines call enter; one goroutine calls replace and collect.
type revisions struct {
	now atomic.Pointer[inForce]
	// retired were in force before and may still have batches. They belong to the
	// goroutine that calls replace.
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

// enter returns what is in force and counts a batch there until leave.
func (r *revisions) enter() *inForce {
	for {
		f := r.now.Load()
		f.batches.Add(1)
		if r.now.Load() == f {
			return f
		}
		f.leave() // it was replaced meanwhile, and replace may not wait for it any more
	}
}

// drainInterval is how often replace checks whether earlier batches have arrived.
const drainInterval = 10 * time.Millisecond

// replace puts a policy in force. It returns false if stop is closed before.
//
// In mode stream, spans are forwarded or buffered by their names when a batch comes.
// No trace may begin under a policy while batches are on their way that did not know
// its names. So replace publishes the names first, waits for the earlier batches, and
// then puts the policy in force.
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

// collect drops the revisions that no trace needs any more.
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
