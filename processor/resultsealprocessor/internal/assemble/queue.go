// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

// queueID is a queue of deadlines. A buffered trace is in several queues at once, one for
// each deadline that may complete it. All deadlines of a queue are the same time after the
// event that put a trace at its back, and events are in the order of time. So a queue is
// always sorted by deadline: its front is due first, and every operation is O(1) without a
// heap.
type queueID uint8

const (
	queueRoot  queueID = iota // by the arrival of the first root span
	queueIdle                 // by the arrival of the last span
	queueFirst                // by the arrival of the first span: age, and the order of overflow
	queueLate                 // late spans, due at once
	queueCount
)

// links are a trace's neighbours in one queue.
type links struct {
	prev, next *bufferedTrace
}

// queue is a list that is linked through the traces themselves.
type queue struct {
	id          queueID
	front, back *bufferedTrace
}

func (q *queue) push(t *bufferedTrace) {
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

// remove removes the trace from the queue if it is in it.
func (q *queue) remove(t *bufferedTrace) {
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
