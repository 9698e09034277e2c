// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package learn makes a first policy from recorded sessions: a contract for each
// tool, from its name and from what its results have in common, and a protocol
// from the order in which tools were called and messages were sent.
//
// Everything in it is a guess, and says so beside it. What the recordings do
// counts as right, so they should be good runs.
//
// Reading order: learn.go takes sessions in; tool.go notes what is known of a
// tool and contract.go guesses its contract, from names (names.go) and from
// values that come back (bind.go); order.go notes in which order things happened
// and automaton.go makes an automaton of it; write.go writes it all down.
package learn

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// Learner collects what sessions have in common. It holds no session, only
// counts, and may be added to from any number of goroutines: the order of
// sessions changes nothing.
type Learner struct {
	mu       sync.Mutex
	sessions int
	partial  int // sessions of which the telemetry lacks something
	calls    int
	tools    map[string]*tool
	orders   map[string]*order // by agent
	mixed    bool              // a session has more than one agent
	split    map[string]string // a trace of each conversation
	spread   bool              // a conversation has more than one trace
}

// New returns a learner that knows nothing.
func New() *Learner {
	return &Learner{tools: map[string]*tool{}, orders: map[string]*order{}, split: map[string]string{}}
}

// Policy is the policy by which sessions are to be judged so that they can be
// learned from: an empty one.
func Policy() *policy.Policy { return &policy.Policy{} }

// Add learns from a session that was judged with an account.
func (l *Learner) Add(v *score.Session, a *score.Account) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sessions++
	for i := range a.Calls {
		c := &a.Calls[i]
		if !nameable(c.Tool) || c.Prior && !c.Returned {
			continue
		}
		l.calls++
		name := strings.Clone(c.Tool)
		if l.tools[name] == nil {
			l.tools[name] = newTool(name)
		}
		l.tools[name].add(c)
	}
	if c := v.Conversation; c != "" {
		if first, ok := l.split[c]; ok && first != v.TraceID.String() {
			l.spread = true
		} else if !ok {
			l.split[strings.Clone(c)] = v.TraceID.String()
		}
	}
	if a.Gap != "" {
		// The order of events is not known where one may be missing.
		l.partial++
		return
	}
	l.addOrder(a)
}

// addOrder learns from the order of a session's events, each agent's by itself.
func (l *Learner) addOrder(a *score.Account) {
	agentOf := make(map[int]string, len(a.Spans))
	for i := range a.Spans {
		agentOf[a.Spans[i].Span] = a.Spans[i].Agent
	}
	runs := map[string][]string{}
	for i := range a.Facts {
		f := &a.Facts[i]
		label := ""
		switch f.Kind {
		case policy.ToolCall:
			if tool := a.Calls[f.Call].Tool; nameable(tool) {
				label = "!" + policy.DefaultLabel(tool)
			}
		case policy.UserMessage:
			if !f.First {
				label = userMessage
			}
		case policy.AgentMessage:
			if !f.Calls {
				label = agentMessage
			}
		}
		if label != "" {
			agent := strings.Clone(agentOf[f.Span])
			runs[agent] = append(runs[agent], strings.Clone(label))
		}
	}
	l.mixed = l.mixed || len(runs) > 1
	for agent, run := range runs {
		if l.orders[agent] == nil {
			l.orders[agent] = newOrder()
		}
		l.orders[agent].add(run)
	}
}

// Empty reports whether there was nothing to learn from.
func (l *Learner) Empty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sessions == 0
}

// sortedTools returns the tools by name.
func (l *Learner) sortedTools() []*tool {
	return slices.SortedFunc(maps.Values(l.tools), func(a, b *tool) int { return cmp.Compare(a.name, b.name) })
}
