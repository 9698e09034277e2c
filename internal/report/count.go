// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// Summary counts.
type Summary struct {
	Sessions     int            `json:"sessions"`
	ByCompliance map[string]int `json:"by_compliance"`
	Observations Counts         `json:"observations"`
	ByTruthState map[string]int `json:"by_truth_state"`
	ByReason     map[string]int `json:"by_reason"`
	ByGap        map[string]int `json:"by_gap"` // sessions
	ByTool       []Tool         `json:"by_tool"`
}

// Counts counts observations, and calls without a contract beside them.
type Counts struct {
	Total        int `json:"total"`
	Sealed       int `json:"sealed"`
	Blocked      int `json:"blocked"`
	Uncaptured   int `json:"uncaptured"`
	Uncontracted int `json:"uncontracted"`
}

// Tool counts the calls of one tool.
type Tool struct {
	Tool string `json:"tool"`
	Counts
}

// uncontracted returns the share of tool calls without a contract, as
// "2 of 7 tool calls (29%)"; "" if each has one.
func (c *Counts) uncontracted() string {
	if c.Uncontracted == 0 {
		return ""
	}
	all := c.Total + c.Uncontracted
	return fmt.Sprintf("%d of %s (%s)", c.Uncontracted, number(all, "tool call"), percent(c.Uncontracted, all))
}

// percent writes a share in whole percent. Only nothing is 0%, and only all is
// 100%.
func percent(n, of int) string {
	switch share := 100 * float64(n) / float64(of); {
	case share > 0 && share < 1:
		return "<1%"
	case share > 99 && share < 100:
		return ">99%"
	default:
		return fmt.Sprintf("%.0f%%", share)
	}
}

// counter sums up sessions.
type counter struct {
	summary Summary
	tools   map[string]*Tool
	blocked int // sessions with a blocked call
}

func newCounter() *counter {
	c := &counter{tools: map[string]*Tool{}, summary: Summary{
		ByCompliance: map[string]int{},
		ByTruthState: map[string]int{},
		ByReason:     map[string]int{},
		ByGap:        map[string]int{},
	}}
	for level := score.Unjudged; level <= score.Violation; level++ {
		c.summary.ByCompliance[level.String()] = 0
	}
	return c
}

// add counts a session n times, which is 1, or -1 to take it back.
func (c *counter) add(s *Session, n int) {
	c.summary.Sessions += n
	c.summary.ByCompliance[s.Compliance] += n
	if slices.ContainsFunc(s.Observations, func(o Observation) bool { return !o.Sealed() }) {
		c.blocked += n
	}
	for _, gap := range s.Gaps {
		count(c.summary.ByGap, gap, n)
	}
	for i := range s.Observations {
		o := &s.Observations[i]
		c.summary.Observations.add(o, n)
		c.tool(o.Tool).add(o, n)
		count(c.summary.ByTruthState, o.TruthState, n)
		for _, reason := range o.ReasonCodes {
			count(c.summary.ByReason, reason, n)
		}
	}
	for _, u := range s.Uncontracted {
		c.summary.Observations.Uncontracted += n
		c.tool(u.Tool).Uncontracted += n
	}
}

// count leaves no zero behind.
func count(in map[string]int, key string, n int) {
	if in[key] += n; in[key] == 0 {
		delete(in, key)
	}
}

func (c *counter) tool(name string) *Counts {
	t, ok := c.tools[name]
	if !ok {
		t = &Tool{Tool: name}
		c.tools[name] = t
	}
	return &t.Counts
}

func (c *Counts) add(o *Observation, n int) {
	c.Total += n
	switch {
	case o.Sealed():
		c.Sealed += n
	case o.Uncaptured():
		c.Blocked += n
		c.Uncaptured += n
	default:
		c.Blocked += n
	}
}

// sum returns the summary, the worst tools first.
func (c *counter) sum() Summary {
	c.summary.ByTool = []Tool{}
	for _, t := range c.tools {
		if t.Counts != (Counts{}) {
			c.summary.ByTool = append(c.summary.ByTool, *t)
		}
	}
	slices.SortFunc(c.summary.ByTool, func(a, b Tool) int {
		return cmp.Or(cmp.Compare(b.Blocked, a.Blocked), cmp.Compare(b.Total+b.Uncontracted, a.Total+a.Uncontracted), cmp.Compare(a.Tool, b.Tool))
	})
	return c.summary
}
