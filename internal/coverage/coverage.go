// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package coverage reports the parts of a policy that recorded traces never use:
// contracts that match no call, templates that find nothing, event rules that
// match nothing; and the tools that neither a contract nor an event rule is for.
// Its findings have the kinds of policy.WarningKinds.
package coverage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// Coverage counts what of a policy is touched. It may be added to from any
// number of goroutines.
type Coverage struct {
	policy *policy.Policy

	mu        sync.Mutex
	sessions  int
	calls     int
	contracts []contract
	protocols []protocol
	tools     map[string]*tool
	agents    map[string]int
	services  map[string]int
}

// contract is what is known of a contract.
type contract struct {
	calls    int // that it is for
	captured int // of these, calls whose result was recorded
	payloads int // of these, results in which payload selected something
	listless int // of these, sealed objects all of whose lists were empty
	// nearly counts the calls of its tools that it is not for, by what keeps it.
	nearly    map[string]int
	templates map[rendering]*found
}

// rendering is a template of a contract.
type rendering struct{ field, template string }

// found counts how often a template was held against something, and found
// something.
type found struct{ tries, hits int }

// protocol is what is known of a protocol.
type protocol struct {
	sessions int
	rules    []int          // by event rule: the facts that it named
	named    map[string]int // by tool: calls and results that are events of the protocol
	events   map[string]int // by name: those that happened
}

// tool is what is known of a tool.
type tool struct{ calls, uncontracted int }

// New counts for a policy.
func New(p *policy.Policy) *Coverage {
	c := &Coverage{
		policy: p, contracts: make([]contract, len(p.Contracts)), protocols: make([]protocol, len(p.Protocols)),
		tools: map[string]*tool{}, agents: map[string]int{}, services: map[string]int{},
	}
	for i := range c.contracts {
		c.contracts[i] = contract{nearly: map[string]int{}, templates: map[rendering]*found{}}
	}
	for i, p := range p.Protocols {
		c.protocols[i] = protocol{rules: make([]int, len(p.Events)), named: map[string]int{}, events: map[string]int{}}
	}
	return c
}

// Add counts a session.
func (c *Coverage) Add(v *score.Session, a *score.Account) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sessions++
	for i := range a.Spans {
		s := &a.Spans[i]
		c.agents[strings.Clone(s.Agent)]++
		c.services[strings.Clone(s.Service)]++
	}
	for i := range a.Calls {
		c.call(&a.Calls[i])
	}
	for i := range a.Protocols {
		c.protocol(&a.Protocols[i], a)
		for j := range v.Protocols[i].Events {
			c.protocols[a.Protocols[i].Protocol.Index].events[strings.Clone(v.Protocols[i].Events[j].Name)]++
		}
	}
}

func (c *Coverage) call(k *score.CallAccount) {
	if k.Tool == "" || k.Prior && !k.Returned {
		return // nothing is held against it
	}
	c.calls++
	t := c.tools[k.Tool]
	if t == nil {
		t = &tool{}
		c.tools[strings.Clone(k.Tool)] = t
	}
	t.calls++
	if len(k.Trials) == 0 {
		t.uncontracted++
	}
	for contract, what := range k.Others {
		c.contracts[contract.Index].nearly[what]++
	}
	captured := k.Result.State == genai.Captured && k.Failure.Kind == genai.NoFailure
	for i := range k.Trials {
		tr := &k.Trials[i]
		known := &c.contracts[tr.Contract.Index]
		known.calls++
		if captured {
			known.captured++
			if !tr.Payload.Value.IsNull() || k.Result.Value.IsNull() {
				known.payloads++
			}
		}
		if tr.Evaluation.Decision == engine.Sealed && tr.Contract.Base.ClaimType != engine.ClaimNotFound && genai.OnlyEmptyLists(tr.Payload.Value) {
			known.listless++
		}
		for _, r := range tr.Templates {
			if !captured && r.Field != "source_ref" && r.Field != "target_ref" {
				continue // there is nothing in which it could find anything
			}
			if !k.ArgumentsKnown && !captured {
				continue
			}
			key := rendering{r.Field, r.Template}
			f := known.templates[key]
			if f == nil {
				f = &found{}
				known.templates[key] = f
			}
			if f.tries++; r.Found {
				f.hits++
			}
		}
	}
}

func (c *Coverage) protocol(p *score.ProtocolAccount, a *score.Account) {
	known := &c.protocols[p.Protocol.Index]
	known.sessions++
	for i := range p.Steps {
		s := &p.Steps[i]
		if s.Rule >= 0 {
			known.rules[s.Rule]++
		}
		if s.Call >= 0 && (s.Rule >= 0 || len(p.Protocol.Events) == 0) {
			known.named[strings.Clone(a.Calls[s.Call].Tool)]++
		}
	}
}

// Finding is something of the policy that was never used, or a tool that the
// policy has nothing for.
type Finding struct {
	Kind    policy.WarningKind
	Path    string // in the policy, as contracts[0].match; "" if it is about what is not there
	Message string
	Tool    string // that it is about; "" if it is about none
	Repeat  string // see policy.Diagnostic
}

// adder notes a finding.
type adder func(kind policy.WarningKind, path, format string, args ...any)

// Findings lists what was never used, in the order of the policy.
func (c *Coverage) Findings() []Finding {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []Finding
	add := func(kind policy.WarningKind, path, format string, args ...any) {
		all = append(all, Finding{Kind: kind, Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if c.sessions == 0 {
		add(policy.WarnNoSession, "", "nothing in the traces tells of an agent, so nothing can be said")
		return all
	}
	for i, contract := range c.policy.Contracts {
		c.silentContract(fmt.Sprintf("contracts[%d]", i), contract, &c.contracts[i], add)
	}
	for i, p := range c.policy.Protocols {
		c.silentProtocol(fmt.Sprintf("protocols[%d]", i), p, &c.protocols[i], add)
	}
	return append(all, c.uncontracted()...)
}

func (c *Coverage) silentContract(path string, p *policy.Contract, known *contract, add adder) {
	switch {
	case known.calls > 0:
	case c.calls == 0:
		add(policy.WarnUnmatchedContract, path, "%s is for none of the calls, for there are none", p.Name)
		return
	case known.nearly["agent"] > 0:
		add(policy.WarnUnmatchedContract, path+".match.agents", "%s is for the tools of %s, but not for the agents: these are %s", p.Name, number(known.nearly["agent"], "call"), list(c.agents))
		return
	case known.nearly["service"] > 0:
		add(policy.WarnUnmatchedContract, path+".match.services", "%s is for the tools of %s, but not for the services: these are %s", p.Name, number(known.nearly["service"], "call"), list(c.services))
		return
	default:
		add(policy.WarnUnmatchedContract, path+".match.tools", "%s is for none of the %s; the tools called are %s", p.Name, number(c.calls, "call"), list(c.called()))
		return
	}
	if known.captured == 0 {
		add(policy.WarnUncapturedResult, path, "%s is for %s, and no result of them was recorded (or the calls failed), so what it asks of a result was never tried", p.Name, number(known.calls, "call"))
	}
	for _, key := range slices.SortedFunc(maps.Keys(known.templates), func(a, b rendering) int {
		return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.template, b.template))
	}) {
		f := known.templates[key]
		if f.tries == 0 || f.hits > 0 {
			continue
		}
		at := path + "." + key.field
		if key.field == "observation.evidence_refs" {
			at += fmt.Sprintf("[%d]", slices.IndexFunc(p.Observation.EvidenceRefs, func(t *policy.Template) bool { return t.String() == key.template }))
		}
		add(policy.WarnEmptyTemplate, at, "%s found nothing in %s", key.template, all(f.tries, "call"))
	}
	if p.Observation.Payload != nil && known.captured > 0 && known.payloads == 0 {
		add(policy.WarnEmptyPayload, path+".observation.payload", "%s selected nothing in %s", p.Observation.Payload, all(known.captured, "result"))
	}
	if known.listless > 0 {
		add(policy.WarnEmptyList, path+".observation.payload", "%s sealed %s without an entry in any list: an empty list proves nothing, so let payload select the list", p.Name, number(known.listless, "object"))
	}
}

func (c *Coverage) silentProtocol(path string, p *policy.Protocol, known *protocol, add adder) {
	if known.sessions == 0 {
		switch {
		case len(p.Match.Agents) > 0 && !matchesAny(p.Match.Agents, c.agents):
			add(policy.WarnUnmatchedProtocol, path+".match.agents", "%s follows none of the %s; the agents are %s", p.Name, number(c.sessions, "session"), list(c.agents))
		case len(p.Match.Services) > 0 && !matchesAny(p.Match.Services, c.services):
			add(policy.WarnUnmatchedProtocol, path+".match.services", "%s follows none of the %s; the services are %s", p.Name, number(c.sessions, "session"), list(c.services))
		default:
			add(policy.WarnUnmatchedProtocol, path, "%s follows none of the %s", p.Name, number(c.sessions, "session"))
		}
		return
	}
	if len(p.Events) == 0 {
		var never []string
		for _, e := range p.Automaton.Events() {
			if known.events[e.String()] == 0 {
				never = append(never, e.String())
			}
		}
		if len(never) > 0 {
			add(policy.WarnUnmatchedLabel, path, "%s waits for %s, which never happened; without event rules, calls and results are named by their tools, and these are %s",
				p.Name, strings.Join(never, ", "), list(c.called()))
		}
	}
	for i, n := range known.rules {
		rule := p.Events[i]
		if n > 0 {
			continue
		}
		hint := ""
		if len(rule.Tools) > 0 && !matchesAny(rule.Tools, c.called()) {
			hint = "; the tools called are " + list(c.called())
		}
		add(policy.WarnUnmatchedRule, fmt.Sprintf("%s.events[%d]", path, i), "the rule for %s%s named nothing in %s%s", rule.Direction, rule.Label, all(known.sessions, "session"), hint)
	}
	if never := silentLabels(p, known.events); len(never) > 0 {
		add(policy.WarnUnmatchedLabel, path, "%s waits for %s, which no rule named in %s; the tools called are %s", p.Name, strings.Join(never, ", "), all(known.sessions, "session"), list(c.called()))
	}
}

// silentLabels lists the events of a protocol that never happened and that only
// rules with a template as label can name. A rule with a literal label is reported
// itself.
func silentLabels(p *policy.Protocol, happened map[string]int) (never []string) {
	for _, e := range p.Automaton.Events() {
		if happened[e.String()] > 0 || e.Label == session.UnrecognizedLabel {
			continue
		}
		template, literal := false, false
		for _, rule := range p.Events {
			if rule.Direction != e.Direction {
				continue
			}
			label, ok := rule.Label.Literal()
			template, literal = template || !ok, literal || ok && label == e.Label
		}
		if template && !literal {
			never = append(never, e.String())
		}
	}
	return never
}

// uncontracted reports tools that no contract is for. Those whose calls are
// events of a protocol come under a kind of their own: their order is checked,
// and a policy without contracts checks nothing else.
func (c *Coverage) uncontracted() []Finding {
	var all []Finding
	for _, name := range slices.Sorted(maps.Keys(c.tools)) {
		t := c.tools[name]
		named := slices.ContainsFunc(c.protocols, func(p protocol) bool { return p.named[name] > 0 })
		if t.uncontracted == 0 || named && len(c.policy.Contracts) == 0 {
			continue
		}
		shown := display.Line(name)
		f := Finding{Kind: policy.WarnUncontractedTool, Tool: name, Repeat: fmt.Sprintf("%s (%s)", shown, number(t.calls, "call"))}
		switch {
		case t.uncontracted < t.calls:
			f.Message = fmt.Sprintf("no contract is for %d of %s of the tool %s", t.uncontracted, number(t.calls, "call"), shown)
			f.Repeat = fmt.Sprintf("%s (%d of %s)", shown, t.uncontracted, number(t.calls, "call"))
		case named:
			f.Message = "no contract is for the tool " + f.Repeat
		default:
			f.Kind = policy.WarnUnjudgedTool
			f.Message = c.nothing() + " for the tool " + f.Repeat
		}
		all = append(all, f)
	}
	return all
}

// nothing names the parts of the policy that could be for a tool.
func (c *Coverage) nothing() string {
	switch {
	case len(c.policy.Contracts) == 0 && len(c.policy.Protocols) == 0:
		return "the policy has nothing"
	case len(c.policy.Contracts) == 0:
		return "no event rule is"
	case len(c.policy.Protocols) == 0:
		return "no contract is"
	}
	return "no contract and no event rule is"
}

func (c *Coverage) called() map[string]int {
	out := make(map[string]int, len(c.tools))
	for name, t := range c.tools {
		out[name] = t.calls
	}
	return out
}

// Summary says in a line how much of the policy was touched.
func (c *Coverage) Summary() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	contracts, rules, touched := 0, 0, 0
	for i := range c.contracts {
		if c.contracts[i].calls > 0 {
			contracts++
		}
	}
	for i := range c.protocols {
		for _, n := range c.protocols[i].rules {
			if rules++; n > 0 {
				touched++
			}
		}
	}
	text := number(c.sessions, "session") + " with " + number(c.calls, "tool call")
	if n := len(c.contracts); n > 0 {
		text += fmt.Sprintf(", %d of %s matched", contracts, number(n, "contract"))
	}
	if rules > 0 {
		text += fmt.Sprintf(", %d of %s matched", touched, number(rules, "event rule"))
	}
	return text
}

func matchesAny(globs policy.Globs, names map[string]int) bool {
	for name := range names {
		if globs.Match(name) {
			return true
		}
	}
	return false
}

// list writes names, the most frequent first, and not too many.
func list(names map[string]int) string {
	keys := slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		return cmp.Or(cmp.Compare(names[b], names[a]), cmp.Compare(a, b))
	})
	const most = 8
	rest := ""
	if more := len(keys) - most; more > 0 {
		keys, rest = keys[:most], fmt.Sprintf(" and %d more", more)
	}
	for i, key := range keys {
		if keys[i] = display.Line(key); key == "" {
			keys[i] = "(none named)"
		}
	}
	return strings.Join(keys, ", ") + rest
}

// all writes that something is so in all of them.
func all(n int, noun string) string {
	switch n {
	case 1:
		return "the only " + noun
	case 2:
		return "both " + noun + "s"
	}
	return "all " + number(n, noun)
}

func number(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
