// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// settle decides, once all facts are joined, what each call came to.
func (c *calls) settle() {
	recorded := false // the trace has spans for tools
	for _, k := range c.list {
		recorded = recorded || len(k.spans) > 0
	}
	for _, k := range c.list {
		if len(k.spans) > 0 {
			c.settleSpans(k)
		} else {
			c.settleMessages(k, recorded)
		}
		for _, content := range k.arguments {
			a := c.t.args(content)
			if a.known && (!k.argumentsKnown || k.argumentsMasked && !a.masked ||
				k.argumentsValue.Kind() != jsonvalue.ObjectKind && a.value.Kind() == jsonvalue.ObjectKind) {
				k.argumentsValue, k.argumentsKnown, k.argumentsMasked = a.value, true, a.masked
			}
		}
	}
	c.findNeverRun()
	for _, k := range c.list {
		k.settleDenied()
	}
}

// settleDenied makes a call that somebody refused one that never ran.
func (k *call) settleDenied() {
	denied := k.failure.Kind == genai.Denied
	for n := range k.shown {
		denied = denied || k.shown[n].sure && k.shown[n].result.Denied
	}
	if !denied {
		return
	}
	if k.failure.Kind != genai.Denied && k.result.State == genai.Captured {
		k.conflict = true // the tool returned something
		return
	}
	k.neverRan, k.denied, k.returned = true, true, false
	k.failure, k.result = genai.Failure{}, genai.Result{}
}

// settleSpans reads what a call came to from its spans, and from messages what
// they lack.
func (c *calls) settleSpans(k *call) {
	t := c.t
	own := c.attempt(k)
	k.at = own[0]
	k.start, k.end = t.nodes[k.spans[0]].start, t.nodes[k.at].end
	c.bound(k)
	for _, i := range own {
		s := &t.spans[i]
		k.disputed = k.disputed || t.nodes[i].disputed
		r := t.result(&s.Call.Result)
		failed, conflict := k.result.Failed || r.Failed, k.result.Conflict || r.Conflict
		if better(r, k.result) {
			k.result = r
		}
		k.result.Failed, k.result.Conflict = failed, conflict
		if worse(s.Failure, k.failure) {
			k.failure = s.Failure
		}
		if k.status == 0 {
			k.status = s.Call.HTTPStatus
		}
	}
	if k.unsure {
		k.result = genai.Result{Failed: k.result.Failed}
	}
	c.addShown(k)
	if c.leaked(k) {
		k.failure = genai.Failure{}
	}
	if k.failure.Kind == genai.Failed && k.result.Failed && !k.failure.Evident {
		// The status repeats what the result says of itself.
		k.failure.Kind = genai.ToolError
	}
	if k.failure.Kind == genai.NoFailure && k.replyFailed(true) {
		k.failure = genai.Failure{Kind: genai.ToolError, Evident: true}
	}
	switch k.failure.Kind {
	case genai.Interrupted:
		// Still open. What came of it later, in other spans, has no such mark.
		k.returned = false
	case genai.Cancelled:
		k.returned = k.result.State == genai.Captured
	default:
		k.returned = true
	}
}

// bound corrects the times of a call whose clock is not that of the models around
// it: no call begins before the model that asks for it, and none returns after
// the model that is shown its result began.
func (c *calls) bound(k *call) {
	if k.shownAt >= 0 && !k.summed && k.shownAt != k.asked {
		shown := c.t.nodes[k.shownAt].start
		k.end = min(k.end, shown)
		k.start = min(k.start, shown)
	}
	if k.asked >= 0 && !k.seenLater && !k.prior {
		asked := c.t.nodes[k.asked].start
		k.start = max(k.start, asked)
	}
	k.end = max(k.end, k.start)
}

// attempt returns the spans of the attempt that counts: a call that was
// interrupted and resumed, or failed and was tried again, has several. Later
// copies of a call that returned are none.
func (c *calls) attempt(k *call) []int {
	t := c.t
	own := []int{k.spans[0]}
	end := t.nodes[k.spans[0]].end
	came, failed := c.cameTo(k.spans[0]), c.failed(k.spans[0]) // of own
	for n := 1; n < len(k.spans); n++ {
		i := k.spans[n]
		if t.spans[i].Call.ResultOnly || t.nodes[i].start < end || t.within(own[0], i) || t.nodes[i].start == t.nodes[own[0]].start {
			own = append(own, i)
			end = max(end, t.nodes[i].end)
			if came == cameToNothing {
				came = c.cameTo(i)
			}
			failed = failed || c.failed(i)
			continue
		}
		if came != cameToSomething || c.cameTo(i) == cameToSomething && failed && !c.failed(i) {
			own, end = []int{i}, t.nodes[i].end
			came, failed = c.cameTo(i), c.failed(i)
		}
	}
	return own
}

// outcome is what came of an attempt. The first of its spans that tells decides.
type outcome uint8

const (
	cameToNothing   outcome = iota // no span tells
	cameToSomething                // a result or a failure
	cameToWait                     // it was interrupted
)

// cameTo returns what one span of an attempt came to.
func (c *calls) cameTo(span int) outcome {
	s := &c.t.spans[span]
	switch {
	case s.Failure.Kind == genai.Interrupted:
		return cameToWait
	case s.Failure.Kind != genai.NoFailure, c.t.result(&s.Call.Result).State != genai.NotCaptured:
		return cameToSomething
	}
	return cameToNothing
}

func (c *calls) failed(span int) bool {
	s := &c.t.spans[span]
	return s.Failure.Kind != genai.NoFailure || c.t.result(&s.Call.Result).Failed
}

// settleMessages reads what a call came to from messages, which are all there
// is. recorded says that other calls have spans.
func (c *calls) settleMessages(k *call, recorded bool) {
	t := c.t
	c.addShown(k)
	k.returned = k.shownAt >= 0
	if k.returned {
		k.end = t.nodes[k.shownAt].start
		if k.summed {
			k.end = t.nodes[k.shownAt].end
		}
		k.end = max(k.end, k.start) // models that overlap may tell of both in any order
	}
	// Frameworks tell the model of a tool that threw in a text of their own. It is
	// the only trace of the failure where spans are recorded and a tool that threw
	// left none.
	if k.replyFailed(false) || recorded && genai.FailureText(k.result) {
		k.failure = genai.Failure{Kind: genai.ToolError, Evident: true}
	}
}

// replyFailed reports whether a message marks the call's answer as a failure.
func (k *call) replyFailed(sure bool) bool {
	for n := range k.shown {
		if s := &k.shown[n]; (s.failed || s.result.Failed) && (s.sure || !sure) {
			return true
		}
	}
	return false
}

// addShown takes from messages what the spans lack, and finds out whether they
// contradict each other.
func (c *calls) addShown(k *call) {
	for n := range k.shown {
		r := k.shown[n].result
		switch {
		case better(r, k.result):
			failed, conflict := k.result.Failed, k.result.Conflict
			k.result = r
			k.result.Failed, k.result.Conflict = failed || r.Failed, conflict || r.Conflict
		case len(k.spans) > 0 && k.shown[n].sure && differs(k.result, r):
			k.conflict = true
		case k.shown[n].sure && r.Conflict:
			k.result.Conflict = true
		}
	}
}

// worse prefers the failure that says more: a tool that threw, then one that
// answered that it failed, then a status that nothing else supports.
func worse(a, b genai.Failure) bool { return severity(a) > severity(b) }

func severity(f genai.Failure) int {
	switch f.Kind {
	case genai.NoFailure:
		return 0
	case genai.Failed:
		if f.Evident {
			return 5
		}
		return 1
	case genai.ToolError:
		return 3
	case genai.Cancelled:
		return 2
	case genai.Denied:
		return 7
	default: // Interrupted: nobody failed, whatever a span around it says of it
		return 6
	}
}

// better prefers a captured result over a cut one over none.
func better(a, b genai.Result) bool { return captured(a) > captured(b) }

func captured(r genai.Result) int {
	switch r.State {
	case genai.Captured:
		return 2
	case genai.Truncated:
		return 1
	default:
		return 0
	}
}

// leaked reports whether the call's only sign of failure is a status that came
// over from another span: the message of a span that failed before, no
// exception of its own, and a result.
func (c *calls) leaked(k *call) bool {
	if k.failure.Kind != genai.Failed || k.failure.Evident || k.failure.Status == "" || k.result.State == genai.NotCaptured {
		return false
	}
	if c.failures == nil {
		c.failures = map[string]genai.Timestamp{}
		for _, i := range c.t.order {
			f, end := &c.t.spans[i].Failure, c.t.nodes[i].end
			if first, ok := c.failures[f.Status]; f.Evident && f.Status != "" && (!ok || end < first) {
				c.failures[f.Status] = end
			}
		}
	}
	first, ok := c.failures[k.failure.Status]
	return ok && first <= k.end
}
