// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

// A held trace waits in several queues at once, one for each way that the
// wait can end. All of a queue's deadlines lie the same span of time after
// the event that put a trace at its back, and events come in the order of
// time, so a queue is always sorted by deadline: its front is what is due
// first, and every operation is O(1) without a heap.
type queueID uint8

const (
	queueRoot  queueID = iota // by the arrival of the first root span
	queueIdle                 // by the arrival of the last span
	queueFirst                // by the arrival of the first span: age, and who goes first on overflow
	queueLate                 // late spans, due at once
	queueCount
)

// links are a trace's neighbours in one queue.
type links struct {
	prev, next *heldTrace
}

// queue is a list threaded through the traces themselves.
type queue struct {
	id          queueID
	front, back *heldTrace
}

func (q *queue) push(t *heldTrace) {
	l := &t.links[q.id]
	l.prev, l.next = q.back, nil
	t.queued[q.id] = true
	if q.back == nil {
		q.front = t
	} else {
		q.back.links[q.id].next = t
	}
	q.back = t
}

// remove takes the trace out of the queue if it is in it.
func (q *queue) remove(t *heldTrace) {
	l := &t.links[q.id]
	if !t.queued[q.id] {
		return
	}
	t.queued[q.id] = false
	if l.prev == nil {
		q.front = l.next
	} else {
		l.prev.links[q.id].next = l.next
	}
	if l.next == nil {
		q.back = l.prev
	} else {
		l.next.links[q.id].prev = l.prev
	}
	*l = links{}
}
