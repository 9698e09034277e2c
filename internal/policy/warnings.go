// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// WarningKind is the stable name of a kind of warning. Warnings are shown with
// it, and acknowledged by it.
type WarningKind string

// The kinds of warnings, the most serious first.
const (
	WarnEmptyPolicy           WarningKind = "empty-policy"
	WarnNoSession             WarningKind = "no-session"
	WarnUnmatchedProtocol     WarningKind = "unmatched-protocol"
	WarnUnmatchedContract     WarningKind = "unmatched-contract"
	WarnUnmatchedRule         WarningKind = "unmatched-rule"
	WarnUnmatchedLabel        WarningKind = "unmatched-label"
	WarnAlwaysBlocked         WarningKind = "always-blocked"
	WarnUnknownLabel          WarningKind = "unknown-label"
	WarnUnnamedEvent          WarningKind = "unnamed-event"
	WarnUnreachableRule       WarningKind = "unreachable-rule"
	WarnUnreachable           WarningKind = "unreachable"
	WarnUnboundRegister       WarningKind = "unbound-register"
	WarnMissingGroup          WarningKind = "missing-group"
	WarnNoTerminalState       WarningKind = "no-terminal-state"
	WarnUncapturedResult      WarningKind = "uncaptured-result"
	WarnEmptyTemplate         WarningKind = "empty-template"
	WarnEmptyPayload          WarningKind = "empty-payload"
	WarnEmptyList             WarningKind = "empty-list"
	WarnNoRequiredFields      WarningKind = "no-required-fields"
	WarnNoEvidence            WarningKind = "no-evidence"
	WarnConstantEvidence      WarningKind = "constant-evidence"
	WarnCircularRef           WarningKind = "circular-ref"
	WarnUnjudgedTool          WarningKind = "unjudged-tool"
	WarnUncheckedTarget       WarningKind = "unchecked-target"
	WarnUncheckedSource       WarningKind = "unchecked-source"
	WarnUncheckedAge          WarningKind = "unchecked-age"
	WarnInexactNumber         WarningKind = "inexact-number"
	WarnUncontractedTool      WarningKind = "uncontracted-tool"
	WarnUnusedSetting         WarningKind = "unused-setting"
	WarnShadowedVariable      WarningKind = "shadowed-variable"
	WarnUnusedVariable        WarningKind = "unused-variable"
	WarnUnusedAcknowledgement WarningKind = "unused-acknowledgement"
)

// WarningPlace is the part of a policy that a kind of warning belongs to, and on
// which it is acknowledged.
type WarningPlace string

const (
	OfPolicy   WarningPlace = "policy" // the top level of the file
	OfContract WarningPlace = "contract"
	OfProtocol WarningPlace = "protocol"
)

var (
	ofPolicy   = []WarningPlace{OfPolicy}
	ofContract = []WarningPlace{OfContract}
	ofProtocol = []WarningPlace{OfProtocol}
)

// WarningInfo documents a kind of warning.
type WarningInfo struct {
	Kind   WarningKind
	Places []WarningPlace
	// Traces reports whether only recorded traces show it: validate --against
	// finds it, Load does not.
	Traces bool
	// Tools reports whether each warning is about one tool, so that an
	// acknowledgement may be limited to tools.
	Tools   bool
	Meaning string // a sentence
	Fix     string // a sentence
}

// warningKinds has the kinds in order of seriousness: a policy that checks
// nothing comes before a verdict that does not depend on the agent, that before
// a check that passes too easily, that before settings without effect.
var warningKinds = []WarningInfo{
	{Kind: WarnEmptyPolicy, Places: ofPolicy, Meaning: "The policy has neither contracts nor protocols.", Fix: "Add one; `resultseal init` writes a first policy from traces."},
	{Kind: WarnNoSession, Places: ofPolicy, Traces: true, Meaning: "No trace has a tool call, a model call or an agent run that a dialect reads.", Fix: "Check which files were given, and whether a dialect reads the instrumentation (`--dialects`)."},
	{Kind: WarnUnmatchedProtocol, Places: ofProtocol, Traces: true, Meaning: "The protocol follows no session.", Fix: "Correct `match`; the warning lists the agents or services of the traces."},
	{Kind: WarnUnmatchedContract, Places: ofContract, Traces: true, Meaning: "The contract matches no tool call.", Fix: "Correct `match`; the warning lists the tools, agents or services of the traces."},
	{Kind: WarnUnmatchedRule, Places: ofProtocol, Traces: true, Meaning: "An event rule matches nothing.", Fix: "Correct the rule. Acknowledge it if it names what must not happen."},
	{Kind: WarnUnmatchedLabel, Places: ofProtocol, Traces: true, Meaning: "A protocol has a label that never happens, and no event rule names it literally.", Fix: "Correct the label. Without event rules, labels are the names of the tools."},
	{Kind: WarnAlwaysBlocked, Places: ofContract, Meaning: "No result can satisfy the contract.", Fix: "Add the setting that the warning names."},
	{Kind: WarnUnknownLabel, Places: ofProtocol, Meaning: "An event rule gives a label that the protocol does not have, so each event that it names is a violation; with `after_end: ignore`, until the protocol has finished.", Fix: "Correct the label. Acknowledge it if the rule names what must not happen."},
	{Kind: WarnUnnamedEvent, Places: ofProtocol, Meaning: "No event rule gives an event of the protocol, so it never happens.", Fix: "Add a rule, or correct a label or direction."},
	{Kind: WarnUnreachableRule, Places: ofProtocol, Meaning: "An event rule can never match: an earlier rule matches everything that it matches, its conditions exclude each other, no result has its truth state, or its contract matches none of its tools.", Fix: "Move the rule up, correct it, or remove it."},
	{Kind: WarnUnreachable, Places: ofProtocol, Meaning: "No run of the protocol reaches a continuation or a state.", Fix: "Remove it, or add the transition to it."},
	{Kind: WarnUnboundRegister, Places: ofProtocol, Meaning: "A guard compares a register that is never bound, so it never holds.", Fix: "Bind the register before the guard."},
	{Kind: WarnMissingGroup, Places: ofProtocol, Meaning: "The protocol reads a field of a message, and `text` has no group of that name, so a guard on it never holds and nothing is bound.", Fix: "Name a group of `text` after the field."},
	{Kind: WarnNoTerminalState, Places: ofProtocol, Meaning: "No terminal state can be reached.", Fix: "Add an end, or acknowledge it if sessions may stop anywhere."},
	{Kind: WarnUncapturedResult, Places: ofContract, Traces: true, Meaning: "The contract matches calls, and none of them has a result: it was not recorded, or the calls failed.", Fix: "Turn on the capture of content in the instrumentation."},
	{Kind: WarnEmptyTemplate, Places: ofContract, Traces: true, Meaning: "A template of the contract finds a value in no call.", Fix: "Correct its path."},
	{Kind: WarnEmptyPayload, Places: ofContract, Traces: true, Meaning: "`observation.payload` selects nothing in any result.", Fix: "Correct the path."},
	{Kind: WarnEmptyList, Places: ofContract, Traces: true, Meaning: "The contract sealed an object whose lists were all empty, and an empty list proves nothing.", Fix: "Let `observation.payload` select the list. Acknowledge it if the list is not what the claim is about."},
	{Kind: WarnNoRequiredFields, Places: ofContract, Meaning: "A positive claim requires no fields, so an apology or an error in plain words can seal it.", Fix: "List the fields that every good result has."},
	{Kind: WarnNoEvidence, Places: ofContract, Meaning: "An effect is sealed without evidence, on the word of the result that claims it.", Fix: "Set `effect_evidence_required` and `observation.evidence_refs`."},
	{Kind: WarnConstantEvidence, Places: ofContract, Meaning: "An evidence ref reads nothing, so there is always evidence.", Fix: "Use a template that reads the identifier of the effect."},
	{Kind: WarnCircularRef, Places: ofContract, Meaning: "The contract's own ref reads the result, so any result agrees with it.", Fix: "Read the arguments of the call instead."},
	{Kind: WarnUnjudgedTool, Places: ofPolicy, Traces: true, Tools: true, Meaning: "Neither a contract nor an event rule matches the calls of a tool.", Fix: "Add a contract. Acknowledge it for tools that need none."},
	{Kind: WarnUncheckedTarget, Places: ofContract, Meaning: "Nothing checks that the result is about the target that was asked for.", Fix: "Set `observation.target_ref` to a template that reads the result."},
	{Kind: WarnUncheckedSource, Places: ofContract, Meaning: "Nothing checks that the result comes from the source that was asked.", Fix: "Set `observation.source_ref` to a template that reads the result. Acknowledge it if no result names its source."},
	{Kind: WarnUncheckedAge, Places: ofContract, Meaning: "The result counts as observed when its call ended, so it is never stale when it arrives.", Fix: "Set `observation.observed_at`. Acknowledge it if the tool reads live data."},
	{Kind: WarnInexactNumber, Places: []WarningPlace{OfContract, OfProtocol}, Meaning: "A filter compares with a number of more digits than a 64-bit float keeps.", Fix: "Compare with a string, or with a smaller number."},
	{Kind: WarnUncontractedTool, Places: ofPolicy, Traces: true, Tools: true, Meaning: "Event rules name the calls of a tool, and no contract checks their results.", Fix: "Add a contract. Acknowledge it for tools whose results back no claim."},
	{Kind: WarnUnusedSetting, Places: ofContract, Meaning: "A setting has no effect beside the others.", Fix: "Remove it, or add the setting that it belongs to."},
	{Kind: WarnShadowedVariable, Places: ofProtocol, Meaning: "A `rec` hides one of the same name around it.", Fix: "Rename it."},
	{Kind: WarnUnusedVariable, Places: ofProtocol, Meaning: "Nothing loops back to a `rec`.", Fix: "Remove it, or loop back to it."},
	{Kind: WarnUnusedAcknowledgement, Places: []WarningPlace{OfPolicy, OfContract, OfProtocol}, Meaning: "An acknowledgement matches no warning. It cannot be acknowledged itself.", Fix: "Remove it."},
}

// WarningKinds returns every kind of warning, the most serious first.
func WarningKinds() []WarningInfo { return slices.Clone(warningKinds) }

// infoOf returns the documentation of a kind and its rank, from 0 for the most
// serious; false for an unknown one.
func infoOf(k WarningKind) (info *WarningInfo, rank int, ok bool) {
	for i := range warningKinds {
		if warningKinds[i].Kind == k {
			return &warningKinds[i], i, true
		}
	}
	return nil, len(warningKinds), false
}

// ofProtocolLanguage has the kinds of the protocol language's warnings.
var ofProtocolLanguage = map[session.WarningCode]WarningKind{
	session.WarnShadowedVariable: WarnShadowedVariable,
	session.WarnUnusedVariable:   WarnUnusedVariable,
	session.WarnUnreachable:      WarnUnreachable,
	session.WarnUnboundRegister:  WarnUnboundRegister,
	session.WarnNoTerminal:       WarnNoTerminalState,
}

// warning is a warning that Load found. Aliases and merge keys may make it true
// of several contracts or protocols.
type warning struct {
	Diagnostic
	owners []string // as ownerOf returns them, at least one
}

// ownerOf returns the path of the contract or protocol that a path is part of;
// "" for the top level.
func ownerOf(path string) string {
	if !strings.HasPrefix(path, "contracts[") && !strings.HasPrefix(path, "protocols[") {
		return ""
	}
	end := strings.IndexByte(path, ']')
	return path[:end+1]
}

// placeOf returns the place that an owner is.
func placeOf(owner string) WarningPlace {
	switch {
	case strings.HasPrefix(owner, "contracts["):
		return OfContract
	case strings.HasPrefix(owner, "protocols["):
		return OfProtocol
	}
	return OfPolicy
}

// Acknowledgement hides a kind of warning of one contract or protocol, or of the
// policy's top level.
type Acknowledgement struct {
	Kind   WarningKind
	Reason string
	// Expires is the last day, in UTC, on which the warning is hidden. Zero: it
	// is hidden for good.
	Expires time.Time
	// Tools limits it to warnings about these tools. Empty: all.
	Tools Globs

	owner string
	at    Diagnostic // the warning that it is unused, without its message
}

// expired reports whether the warning is shown again.
func (a *Acknowledgement) expired(now time.Time) bool {
	return !a.Expires.IsZero() && !now.Before(a.Expires.AddDate(0, 0, 1))
}

// matches reports whether it is about a warning of an owner.
func (a *Acknowledgement) matches(d *Diagnostic, owner string) bool {
	return a.Kind == d.Kind && a.owner == owner && (len(a.Tools) == 0 || d.Tool != "" && a.Tools.Match(d.Tool))
}

// Review is the warnings of a policy at a point in time.
type Review struct {
	// Warnings are those that are not acknowledged, by kind, the most serious
	// first, then by place.
	Warnings []Diagnostic
	// Acknowledged counts the others.
	Acknowledged int
}

// Review returns the warnings that Load found, without those that are
// acknowledged at the time now.
func (p *Policy) Review(now time.Time) Review { return p.review(now, nil, false) }

// ReviewAgainst returns the warnings that Load found and those that recorded
// traces show, without those that are acknowledged at the time now. Acknowledged
// warnings that the traces do not show are warned of, unless the traces held no
// session, which shows nothing.
func (p *Policy) ReviewAgainst(now time.Time, found []Diagnostic) Review {
	judged := !slices.ContainsFunc(found, func(d Diagnostic) bool { return d.Kind == WarnNoSession })
	return p.review(now, found, judged)
}

func (p *Policy) review(now time.Time, found []Diagnostic, traces bool) Review {
	var r Review
	used := make([]bool, len(p.Acknowledgements))
	// acknowledged reports whether a warning of an owner is hidden, and the day
	// on which it ceased to be.
	acknowledged := func(d *Diagnostic, owner string) (hidden bool, until time.Time) {
		for i := range p.Acknowledgements {
			a := &p.Acknowledgements[i]
			if !a.matches(d, owner) {
				continue
			}
			used[i] = true
			if !a.expired(now) {
				hidden = true
			} else if a.Expires.After(until) {
				until = a.Expires
			}
		}
		return hidden, until
	}
	add := func(d Diagnostic, owners []string) {
		all := true
		var until time.Time
		for _, owner := range owners {
			hidden, ceased := acknowledged(&d, owner)
			all = all && hidden
			if ceased.After(until) {
				until = ceased
			}
		}
		switch {
		case all:
			r.Acknowledged++
			return
		case !until.IsZero():
			d.Message += "; its acknowledgement expired after " + until.Format(time.DateOnly)
		}
		r.Warnings = append(r.Warnings, d)
	}
	for _, w := range p.warnings {
		add(w.Diagnostic, w.owners)
	}
	for _, d := range found {
		add(d, []string{ownerOf(d.Path)})
	}
	for i := range p.Acknowledgements {
		if a := &p.Acknowledgements[i]; !used[i] {
			if d, ok := a.unused(traces); ok {
				r.Warnings = append(r.Warnings, d)
			}
		}
	}
	slices.SortStableFunc(r.Warnings, func(a, b Diagnostic) int {
		_, i, _ := infoOf(a.Kind)
		_, j, _ := infoOf(b.Kind)
		return cmp.Or(i-j, a.Line-b.Line, a.Column-b.Column)
	})
	return r
}

// unused returns the warning about an acknowledgement that matched nothing;
// false if that means nothing, since no traces were read.
func (a *Acknowledgement) unused(traces bool) (Diagnostic, bool) {
	info, _, _ := infoOf(a.Kind)
	d := a.at
	switch misplaced := !slices.Contains(info.Places, placeOf(a.owner)); {
	case misplaced && info.Places[0] == OfPolicy:
		d.Message = fmt.Sprintf("this acknowledges nothing: %s is acknowledged at the top level of the policy", a.Kind)
	case misplaced:
		d.Message = fmt.Sprintf("this acknowledges nothing: %s is acknowledged on a %s", a.Kind, info.Places[0])
	case info.Traces && !traces:
		return Diagnostic{}, false
	default:
		d.Message = fmt.Sprintf("this acknowledges nothing: there is no warning %s here", a.Kind)
	}
	return d, true
}

// WarningGroup is a warning and those of the same kind that differ from it in
// their place or tool only.
type WarningGroup struct {
	First Diagnostic
	More  []Diagnostic
}

// Groups folds repeated warnings, in their order.
func (r *Review) Groups() []WarningGroup {
	type key struct {
		kind    WarningKind
		message string
	}
	var groups []WarningGroup
	known := map[key]int{}
	for _, d := range r.Warnings {
		k := key{d.Kind, d.Message}
		if d.Repeat != "" {
			k.message = ""
		}
		if i, ok := known[k]; ok {
			groups[i].More = append(groups[i].More, d)
			continue
		}
		known[k] = len(groups)
		groups = append(groups, WarningGroup{First: d})
	}
	return groups
}

// maxListed is how many repetitions of a warning are listed one by one.
const maxListed = 20

// String returns the first warning and, below it, how often it is repeated and
// where.
func (g WarningGroup) String() string {
	if len(g.More) == 0 {
		return g.First.String()
	}
	listed := g.More[:min(len(g.More), maxListed)]
	places := make([]string, len(listed))
	lines := true
	for i, d := range listed {
		switch {
		case d.Repeat != "":
			places[i], lines = d.Repeat, false
		case d.Line == 0:
			places[i], lines = d.Path, false
		default:
			places[i] = fmt.Sprint(d.Line)
		}
	}
	text := fmt.Sprintf("\n  and %d more: ", len(g.More))
	switch {
	case lines && len(places) == 1:
		text += "line "
	case lines:
		text += "lines "
	}
	text += strings.Join(places, ", ")
	if len(g.More) > len(listed) {
		text += ", …"
	}
	return g.First.String() + text
}
