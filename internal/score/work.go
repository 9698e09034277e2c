// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import "github.com/resultseal/otelcol-resultseal/internal/genai"

// Scoring a trace takes a fixed number of passes over its spans, calls and
// messages. Some shapes of a trace cost more than that: a model call that inserts
// messages into the middle of a long conversation, again and again. That is
// counted, and a trace that exceeds its bound is given up: it is inconclusive,
// with the gap unscored.
const (
	// workBase is what every trace may cost, in steps over a message, a span or a
	// call. It is some tenths of a second, and far more than 1,000 model calls of a
	// conversation of 1,000 messages take.
	workBase = 1 << 22
	// workPerSpan is what each span adds.
	workPerSpan = 256
	// workPerCheck is after how many steps cancellation is looked for.
	workPerCheck = 1 << 12
)

// work counts the steps that scoring one trace takes.
type work struct {
	left  int
	check int             // steps until cancellation is looked for
	done  <-chan struct{} // closed when scoring has to end; may be nil
}

// exhausted is the panic of a trace that is given up. It does not leave the
// package.
type exhausted struct{}

func (s *Scorer) newWork(spans int) *work {
	return &work{left: workBase + workPerSpan*spans, check: workPerCheck, done: s.done}
}

// spend counts steps. A nil work counts nothing.
func (w *work) spend(steps int) {
	if w == nil {
		return
	}
	if w.left -= steps; w.left < 0 {
		panic(exhausted{})
	}
	if w.check -= steps; w.check < 0 {
		w.check = workPerCheck
		select {
		case <-w.done:
			panic(exhausted{})
		default:
		}
	}
}

// Until returns a scorer that gives a trace up when done is closed.
func (s *Scorer) Until(done <-chan struct{}) *Scorer {
	until := *s
	until.done = done
	return &until
}

// giveUp recovers from a trace that exceeded its bound, or whose scoring was
// canceled: v becomes the verdict of a trace that was not scored, and nothing that
// its conversations had come to is certain any more.
func (s *Scorer) giveUp(spans []genai.Span, store Conversations, v **Session) {
	failure := recover()
	if failure == nil {
		return
	}
	if _, ok := failure.(exhausted); !ok {
		panic(failure)
	}
	root := 0
	for i := range spans {
		if earlier(&spans[i], &spans[root]) {
			root = i
		}
	}
	*v = &Session{
		TraceID: spans[0].TraceID, PolicyHash: s.policy.Hash, Root: root, Start: spans[root].Start, End: spans[root].End,
		Service: spans[root].Service, Agent: spans[root].Agent, Conversation: spans[root].Conversation,
		Compliance: Inconclusive, Gaps: GapSet(GapUnscored), TraceGaps: GapSet(GapUnscored),
	}
	if store == nil || !s.conversational {
		return
	}
	seen := map[string]bool{}
	for i := range spans {
		if id := spans[i].Conversation; id != "" && !seen[id] {
			if seen[id] = true; len(seen) > MaxConversations {
				store.Skip(id)
				continue
			}
			c := store.Conversation(id)
			*c = Conversation{gaps: c.gaps | GapSet(GapUnscored), consumed: c.consumed}
		}
	}
}

// earlier reports whether a span stands for its trace rather than another one: a
// root, then what began first.
func earlier(a, b *genai.Span) bool {
	if a.ParentID.IsEmpty() != b.ParentID.IsEmpty() {
		return a.ParentID.IsEmpty()
	}
	if a.RemoteParent != b.RemoteParent {
		return a.RemoteParent
	}
	if a.Start != b.Start {
		return a.Start < b.Start
	}
	return compareIDs(a.SpanID, b.SpanID) < 0
}
