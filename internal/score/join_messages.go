// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// source is where a request for a call was found.
type source uint8

const (
	fromAnswer  source = iota // in the answer of the model that asked
	fromHistory               // in what a later model call was shown
	fromPrior                 // in a conversation from before the session
)

// asks notes that a message asks for calls. A further message of the same answer
// adds to what is pending; the first one of an answer begins anew.
func (c *calls) asks(m *genai.Message, model int, from source, further bool, seq *int) {
	c.renew = c.renew || !further
	for j := range m.Parts {
		p := &m.Parts[j]
		if p.Kind != genai.CallPart {
			continue
		}
		if c.renew {
			c.pending, c.guessed, c.renew = nil, false, false
		}
		c.pending = append(c.pending, c.ask(p, model, from, seq))
	}
}

// ask notes that a model asked for a call.
func (c *calls) ask(p *genai.Part, model int, from source, seq *int) *call {
	k := c.asked(p, model, from)
	if k == nil {
		k = newCall()
		if key := c.key(p.CallID, model); key != "" {
			k.id, k.key = p.CallID, key
		}
		k.tool, k.prior = p.Tool, from == fromPrior
		c.take(k, model)
		k.start = k.end
		if from == fromHistory {
			k.start = c.t.nodes[model].start // nobody saw it sooner
		}
		if k.key != "" {
			c.byKey[k.key] = k
		}
	}
	if k.asked < 0 {
		k.asked, k.seenLater = model, from != fromAnswer
	}
	if k.askedSeq == 0 {
		*seq++
		k.askedSeq = *seq
	}
	if k.tool == "" {
		k.tool = p.Tool
	}
	k.serverSide = k.serverSide || p.ServerSide
	c.addArguments(k, &p.Content)
	return k
}

// asked finds the call that a request is for: by id, else a call of the same
// tool that nobody asked for yet, the same arguments first.
func (c *calls) asked(p *genai.Part, model int, from source) *call {
	key := c.key(p.CallID, model)
	if key != "" {
		if k := c.byKey[key]; k != nil && !(k.answered && from == fromAnswer) {
			return k
		}
	}
	found := c.unaskedCall(p.Tool, key, &p.Content, model, from, unknown)
	if found == nil && p.Tool != "" {
		// A call whose instrumentation hides the tool's name.
		found = c.unaskedCall("", key, &p.Content, model, from, alike)
	}
	if found != nil && key != "" {
		if found.key == "" {
			found.id, found.key = p.CallID, key
		}
		c.byKey[key] = found
	}
	return found
}

// unaskedCall finds the first call of a tool that no request was found for, with
// the same arguments if there is one.
func (c *calls) unaskedCall(tool, key string, content *genai.Content, model int, from source, least likeness) *call {
	list := c.unasked[tool]
	var found *call
	asked := 0
	for n, k := range list {
		if k.asked >= 0 {
			asked++
			continue
		}
		if n >= maxScanned {
			break
		}
		if key != "" && k.key != "" || !c.inTime(k, model, from) {
			continue
		}
		like := c.compare(k, content)
		if like == alike {
			found = k
			break
		}
		if like == unknown && found == nil && least == unknown {
			found = k
		}
	}
	if asked > maxScanned/2 {
		c.unasked[tool] = slices.DeleteFunc(list, func(k *call) bool { return k.asked >= 0 })
	}
	return found
}

// maxScanned bounds how many calls are compared with a request or a result that
// has no id.
const maxScanned = 512

// inTime reports whether a call can be the one that a model asked for: it does
// not end before the model began, and what a model is shown has begun before.
func (c *calls) inTime(k *call, model int, from source) bool {
	n := &c.t.nodes[model]
	switch from {
	case fromAnswer:
		return k.end >= n.start
	case fromHistory:
		return k.start <= n.start
	default:
		return k.end <= n.start
	}
}

// openAfter reports whether a call that an answer asks for was still open when
// the model's span ended. A span that stands for several steps of a model holds
// the spans of its tools inside those of the steps, and what it says last comes
// after them. A tool that runs while its model still talks stands right below it.
func (c *calls) openAfter(model int) bool {
	for _, k := range c.pending {
		if len(k.spans) == 0 || c.t.nodes[k.spans[0]].parent == model || !c.t.within(model, k.spans[0]) || c.t.nodes[k.spans[0]].end > c.t.nodes[model].end {
			return true
		}
	}
	return false
}

// show notes that a model was shown a call's result, or that an agent's span
// sums it up.
func (c *calls) show(p *genai.Part, model int, summed bool, seq *int) {
	key := c.key(p.CallID, model)
	k, sure := c.answered(p, key)
	if k == nil && p.Tool != "" && key != "" {
		// Asked for where nobody saw it: a model that is shown only what is new.
		k, sure = newCall(), true
		k.id, k.key, k.tool, k.prior = p.CallID, key, p.Tool, true
		c.byKey[key] = k
	}
	if k == nil {
		return
	}
	c.take(k, model)
	if k.shownAt < 0 {
		*seq++
		k.shownAt, k.summed, k.shownSeq = model, summed, *seq
	}
	k.shown = append(k.shown, shown{result: c.t.result(&p.Content), failed: p.Failed, sure: sure})
	k.serverSide = k.serverSide || p.ServerSide
}

// answered finds the call that a result answers: by id, else among what the last
// request asked for, else the first of its tool that nobody answered.
func (c *calls) answered(p *genai.Part, key string) (k *call, sure bool) {
	if k := c.byKey[key]; key != "" && k != nil {
		return k, true
	}
	fits := func(k *call) bool {
		return k.shownAt < 0 && (k.key == "" || key == "") && sameTool(k.tool, p.Tool)
	}
	for len(c.pending) > 0 && c.pending[0].shownAt >= 0 {
		c.pending = c.pending[1:]
	}
	var open []*call
	for _, k := range c.pending[:min(len(c.pending), maxScanned)] {
		if fits(k) {
			open = append(open, k)
		}
	}
	if len(open) > 0 {
		k, sure := c.returnedBy(open, p)
		sure = sure || len(open) == 1 && !c.guessed
		c.guessed = c.guessed || !sure
		return k, sure
	}
	for c.shown < len(c.list) && c.list[c.shown].shownAt >= 0 {
		c.shown++
	}
	rest := c.list[c.shown:min(len(c.list), c.shown+maxScanned)]
	if i := slices.IndexFunc(rest, func(k *call) bool { return k.asked >= 0 && fits(k) }); i >= 0 {
		return rest[i], false
	}
	return nil, false
}

// returnedBy chooses, of the calls that a result may answer, the one that
// returned it, else the first.
func (c *calls) returnedBy(open []*call, p *genai.Part) (k *call, found bool) {
	r := c.t.result(&p.Content)
	if len(open) > 1 && r.State == genai.Captured {
		for _, k := range open {
			for _, span := range k.spans {
				own := c.t.result(&c.t.spans[span].Call.Result)
				if own.State == genai.Captured && jsonvalue.Equal(own.Value, r.Value) {
					return k, true
				}
			}
		}
	}
	return open[0], false
}
