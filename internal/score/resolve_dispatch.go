// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import "github.com/resultseal/otelcol-resultseal/internal/genai"

// findNeverRun finds the calls of which it is certain that they were asked for
// and never run. Whatever may be missing takes the certainty away.
func (c *calls) findNeverRun() {
	t := c.t
	if t.gaps != 0 || c.broken {
		return
	}
	var open []*call
	ran := map[int]bool{}      // agent spans of which a call has a span or an answer
	nameless := map[int]bool{} // agent spans with a tool span that may be any call's
	for _, k := range c.list {
		switch {
		case k.prior && len(k.spans) == 0:
		case len(k.spans) > 0:
			ran[t.agentOf(k.at)] = true
			if k.tool == "" {
				nameless[t.agentOf(k.at)] = true
			}
		case k.shownAt >= 0:
			ran[t.agentOf(k.asked)] = true
		case k.asked >= 0 && !k.serverSide:
			open = append(open, k)
		}
	}
	if len(open) == 0 {
		return
	}
	repeated := c.lastRepeated()
	for _, k := range open {
		agent := t.agentOf(k.asked)
		if nameless[agent] {
			continue
		}
		last, ok := repeated[k.key]
		k.neverRan = ok && k.key != "" && t.nodes[last].start >= t.nodes[k.asked].end ||
			agent >= 0 && ran[agent]
	}
}

// lastRepeated returns, by key, the last model span that was shown the
// request for the call.
func (c *calls) lastRepeated() map[string]int {
	last := map[string]int{}
	for _, i := range c.t.order {
		if c.t.spans[i].Kind != genai.Model || !c.within(i) {
			continue
		}
		list := c.t.spans[i].Input.List
		for m := range list {
			for j := range list[m].Parts {
				p := &list[m].Parts[j]
				if p.Kind != genai.CallPart {
					continue
				}
				if key := c.key(p.CallID, i); key != "" {
					last[key] = i
				}
			}
		}
	}
	return last
}
