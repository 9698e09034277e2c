// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// adviseContract warns of what is legal in a contract and probably not meant.
// obs is the mapping of its observation.
func (l *loader) adviseContract(m, obs *mapping, c *Contract) {
	l.adviseRefs(m, obs, c)
	l.adviseClaim(m, obs, c)
	l.adviseFreshness(m, c)

	o := &c.Observation
	if o.Kind == KindText && o.Payload != nil {
		l.warnf(obs.key("payload"), WarnAlwaysBlocked, "a result of kind text has no parts, so the payload is always empty and every result is blocked")
	}
	if o.Kind == KindText && len(c.Base.RequiredFields) > 0 && o.Payload == nil {
		l.warnf(m.key("required_fields"), WarnAlwaysBlocked, "a result of kind text has no fields, so every result is blocked")
	}
	if o.ClockSkew > 0 && c.Base.Freshness.Mode != engine.FreshnessMaxAge {
		l.warnf(obs.key("clock_skew"), WarnUnusedSetting, "clock_skew matters only to the freshness mode %s", engine.FreshnessMaxAge)
	}
}

// adviseRefs warns of refs that check nothing.
func (l *loader) adviseRefs(m, obs *mapping, c *Contract) {
	o := &c.Observation
	for _, leg := range []struct {
		name          string
		kind          WarningKind
		own, observed *Template
	}{
		{"source", WarnUncheckedSource, c.SourceRef, o.SourceRef},
		{"target", WarnUncheckedTarget, c.TargetRef, o.TargetRef},
	} {
		key := leg.name + "_ref"
		switch {
		case leg.observed == nil:
			l.warnf(m.key("name"), leg.kind, "nothing checks the %s of the result: observation has no %s", leg.name, key)
		case leg.observed.text == leg.own.text:
			l.warnf(obs.key(key), leg.kind, "this is the contract's own %s, so the %s is not checked", key, leg.name)
		}
		if leg.own.Roots().Has(RootResult) {
			l.warnf(m.key(key), WarnCircularRef, "the contract's own %s reads the result, so whatever comes back is what was asked for", key)
		}
	}
}

// adviseClaim warns of claims that hold always or never.
func (l *loader) adviseClaim(m, obs *mapping, c *Contract) {
	b, o := &c.Base, &c.Observation
	effect := b.ClaimType == engine.ClaimEffectObserved || b.ClaimType == engine.ClaimTaskComplete
	fields := m.key("required_fields")
	switch {
	case b.ClaimType == engine.ClaimNotFound:
		if b.NotFoundSentinel == nil {
			l.warnf(m.key("claim_type"), WarnAlwaysBlocked, "a not_found claim without a not_found_sentinel is always blocked")
		}
	case len(b.RequiredFields) > 0:
	case b.NotFoundSentinel != nil:
		l.warnf(fields, WarnNoRequiredFields, "a positive claim with a not_found_sentinel and no required fields seals the sentinel itself")
	case effect && b.EffectEvidenceRequired:
		l.warnf(fields, WarnNoRequiredFields, "a positive claim with no required fields checks nothing of the result but its evidence")
	case o.Payload.selectsPart() && o.Kind != KindText:
		// A text has no parts, so the payload of an apology is empty.
	default:
		l.warnf(fields, WarnNoRequiredFields, "a positive claim with no required fields seals any text, an apology too")
	}
	switch {
	case !b.EffectEvidenceRequired:
	case !effect:
		l.warnf(m.key("effect_evidence_required"), WarnUnusedSetting, "evidence is asked of effect_observed and task_complete claims only")
	case len(o.EvidenceRefs) == 0:
		l.warnf(m.key("effect_evidence_required"), WarnAlwaysBlocked, "evidence is required and observation has no evidence_refs, so every result is blocked")
	default:
		for i, t := range o.EvidenceRefs {
			if _, ok := t.Literal(); ok {
				a := obs.key("evidence_refs")
				l.warnf(at{a.node, fmt.Sprintf("%s[%d]", a.path, i)}, WarnConstantEvidence, "this evidence ref reads nothing, so there is always evidence")
			}
		}
	}
}

// adviseFreshness warns of a freshness that is never or always met.
func (l *loader) adviseFreshness(m *mapping, c *Contract) {
	switch c.Base.Freshness.Mode {
	case engine.FreshnessSourceVersion:
		if c.Observation.SourceVersion == nil {
			l.warnf(m.key("freshness"), WarnAlwaysBlocked, "observation has no source_version, so every result is blocked")
		}
	case engine.FreshnessMaxAge:
		if c.Observation.ObservedAt == nil {
			l.warnf(m.key("freshness"), WarnUncheckedAge, "observation has no observed_at, so every result counts as observed when its call ended")
		}
	default:
		if c.Base.MinSourceVersion != nil {
			l.warnf(m.key("min_source_version"), WarnUnusedSetting, "min_source_version matters only to the freshness mode %s", engine.FreshnessSourceVersion)
		}
	}
}

// maxExactInteger is the largest integer that a float tells from its neighbours.
const maxExactInteger = "9007199254740992"

// advisePath warns of a filter that compares with a number of too many digits.
func (l *loader) advisePath(a at, p *Path) {
	if p.query == nil {
		return
	}
	quote := byte(0)
	digits := 0
	for i := 0; i <= len(p.text); i++ {
		c := byte(0)
		if i < len(p.text) {
			c = p.text[i]
		}
		switch {
		case quote != 0 && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case '0' <= c && c <= '9':
			digits++
			continue
		case c == '"' || c == '\'':
			quote = c
		}
		if n := p.text[i-min(i, digits) : min(i, len(p.text))]; len(n) > len(maxExactInteger) || len(n) == len(maxExactInteger) && n > maxExactInteger {
			l.warnf(a, WarnInexactNumber, "filters compare numbers as 64-bit floats, which do not tell %s from its neighbours", clip(n))
			return
		}
		digits = 0
	}
}

// adviseEvents warns of rules and labels that do not meet.
func (l *loader) adviseEvents(a at, p *Protocol, rules []ruleAt, contracts []*Contract) {
	waited := map[string]bool{}
	for _, e := range p.Automaton.Events() {
		waited[e.String()] = true
	}
	always := "this is always a violation"
	if p.AfterEnd == AfterEndIgnore && finishes(p.Automaton) {
		always = "this is a violation until the protocol has finished, and ignored from then on"
	}
	for i, r := range rules {
		label, literal := r.Label.Literal()
		event := r.Direction.String() + label
		if literal && label != session.UnrecognizedLabel && !waited[event] {
			l.warnf(r.at, WarnUnknownLabel, "the protocol has no event %s, so %s", event, always)
		}
		for j, earlier := range rules[:i] {
			if covers(earlier.EventRule, r.EventRule) {
				l.warnf(r.at, WarnUnreachableRule, "this rule names nothing: events[%d] comes first and matches whatever it matches", j)
				break
			}
		}
		if r.Decision != "" && r.TruthState != "" {
			if sealed := r.TruthState == engine.StateSealed || r.TruthState == engine.StateNotFound; sealed != (r.Decision == engine.Sealed) {
				l.warnf(r.at, WarnUnreachableRule, "this rule names nothing: what is %s is never %s", r.TruthState, r.Decision)
			}
		}
		if r.TruthState == engine.StateComplete {
			l.warnf(r.at, WarnUnreachableRule, "this rule names nothing: no result is ever %s", r.TruthState)
		}
		if i := slices.IndexFunc(contracts, func(c *Contract) bool { return r.Contract != "" && c.Name == r.Contract }); i >= 0 && contracts[i].Match.Tools.excludes(r.Tools) {
			l.warnf(r.at, WarnUnreachableRule, "this rule names nothing: the contract %s is for none of its tools", clip(r.Contract))
		}
	}
	var unnamed []string
	for _, e := range p.Automaton.Events() {
		named := e.Label == session.UnrecognizedLabel && p.Unmatched == UnmatchedUnrecognized
		for _, r := range rules {
			named = named || mayName(r.EventRule, e)
		}
		if !named {
			unnamed = append(unnamed, e.String())
		}
	}
	if len(unnamed) > 0 {
		l.warnf(a, WarnUnnamedEvent, "no rule names %s, so the protocol waits in vain", strings.Join(unnamed, ", "))
	}
}

// finishes reports whether a protocol can come to a state in which it may stop and
// nothing is legal any more.
func finishes(a *session.Automaton) bool {
	shape := a.Shape()
	goesOn := make([]bool, len(shape.States))
	for _, e := range shape.Edges {
		goesOn[e.From] = true
	}
	for i, s := range shape.States {
		if s.Terminal && !goesOn[i] {
			return true
		}
	}
	return false
}

// advisePayloads warns of messages whose payload the protocol reads and whose
// text has no group of that name.
func (l *loader) advisePayloads(reads []reading, rules []ruleAt) {
	for _, r := range rules {
		if r.Event != UserMessage && r.Event != AgentMessage {
			continue
		}
		var groups []string
		if r.Text != nil {
			groups = r.Text.SubexpNames()
		}
		for _, read := range reads {
			if !r.names(read.event) {
				continue
			}
			for _, field := range read.fields {
				if !slices.Contains(groups, field) {
					l.warnf(r.at, WarnMissingGroup, "the protocol reads (%s) of %s, and text has no group named %s, so there is never such a field", read.clause, read.event, field)
				}
			}
		}
	}
}

// mayName reports whether a rule can give an event of the protocol.
func mayName(r *EventRule, e session.Event) bool {
	if r.Direction != e.Direction {
		return false
	}
	if label, ok := r.Label.Literal(); ok {
		return label == e.Label
	}
	// What stands between the placeholders must be there, in this order.
	rest := e.Label
	for i, p := range r.Label.parts {
		at := strings.Index(rest, p.literal)
		if at < 0 || i == 0 && at > 0 {
			return false
		}
		rest = rest[at+len(p.literal):]
	}
	return !r.Label.parts[len(r.Label.parts)-1].bare || strings.HasSuffix(e.Label, r.Label.parts[len(r.Label.parts)-1].literal)
}

// alwaysKnown are the roots that never find nothing, so that a label that reads
// them alone never leaves a fact to the rules after it.
var alwaysKnown = rootSet(RootToolName, RootSpanName, RootSpanID, RootTraceID)

// covers reports whether a matches whatever b matches, as far as that can be
// seen from the text of both.
func covers(a, b *EventRule) bool {
	return a.Event == b.Event && a.AtEnd == b.AtEnd &&
		a.Label.Roots()&^alwaysKnown == 0 &&
		a.Tools.cover(b.Tools) && a.Agents.cover(b.Agents) && a.Services.cover(b.Services) &&
		a.SpanName.cover(b.SpanName) &&
		(a.Text == nil || b.Text != nil && a.Text.String() == b.Text.String()) &&
		(a.Turn == TurnAny || a.Turn == b.Turn) &&
		(a.ToolCalls == ToolCallsAny || a.ToolCalls == b.ToolCalls) &&
		(a.Decision == "" || a.Decision == b.Decision) &&
		(a.TruthState == "" || a.TruthState == b.TruthState) &&
		(a.Contract == "" || a.Contract == b.Contract) &&
		subset(a.Arguments, b.Arguments, FieldGlob.key) &&
		subset(a.Result, b.Result, FieldGlob.key) &&
		subset(a.Attributes, b.Attributes, AttributeGlob.key)
}

// cover reports whether gs matches whatever other matches: every glob of other
// is one of gs, or a literal that one of gs matches.
func (gs Globs) cover(other Globs) bool {
	if len(gs) == 0 {
		return true
	}
	for _, o := range other {
		covered := false
		for _, g := range gs {
			name, literal := o.Literal()
			covered = covered || g.text == "*" || g.text == o.text || literal && g.Match(name)
		}
		if !covered {
			return false
		}
	}
	return len(other) > 0 || gs.matchAll()
}

// excludes reports whether gs matches none of other's globs, all of which are
// literal names.
func (gs Globs) excludes(other Globs) bool {
	for _, o := range other {
		if name, literal := o.Literal(); !literal || gs.Match(name) {
			return false
		}
	}
	return len(other) > 0
}

// matchAll reports whether one of the globs is a lone star.
func (gs Globs) matchAll() bool {
	for _, g := range gs {
		if g.text == "*" {
			return true
		}
	}
	return false
}

func (f FieldGlob) key() [2]string { return [2]string{f.Path.text, f.Glob.text} }

func (a AttributeGlob) key() [2]string { return [2]string{a.Name, a.Glob.text} }

// subset reports whether every condition of a is one of b.
func subset[T any](a, b []T, key func(T) [2]string) bool {
	in := map[[2]string]bool{}
	for _, c := range b {
		in[key(c)] = true
	}
	for _, c := range a {
		if !in[key(c)] {
			return false
		}
	}
	return true
}
