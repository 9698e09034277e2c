// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/describe"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/mask"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// calls explains each tool call.
func (e *explanation) calls() {
	e.section("Tool calls")
	if len(e.Account.Calls) == 0 {
		e.line(1, "No span and no message shows one.")
		return
	}
	for i := range e.Account.Calls {
		if i > 0 {
			e.b.WriteByte('\n')
		}
		e.call(i, &e.Account.Calls[i])
	}
}

func (e *explanation) call(n int, c *score.CallAccount) {
	name := safe(c.Tool)
	if name == "" {
		name = "(a tool without a name)"
	}
	if c.ID != "" {
		name += ", call " + safe(c.ID)
	}
	e.line(1, "%d. %s", n+1, name)
	switch {
	case len(c.Spans) > 1:
		var inner []string
		for _, i := range c.Spans[1:] {
			inner = append(inner, e.Facts[i].SpanID.String())
		}
		e.line(2, "%s, %s to %s; %s shows the same call from within", e.span(c.At), e.at(c.Start), e.at(c.End), strings.Join(inner, ", "))
	case len(c.Spans) == 1:
		e.line(2, "%s, %s to %s", e.span(c.At), e.at(c.Start), e.at(c.End))
	default:
		e.line(2, "no tool span, only the messages of %s show it", e.span(c.At))
	}
	if c.Asked >= 0 && len(c.Spans) > 0 {
		e.line(2, "asked for in %s of %s", e.messagesAt(c.Asked, true), e.span(c.Asked))
	}
	e.offered(c)
	e.arguments(c)
	e.result(c)
	e.failure(c)
	if c.Prior && !c.Returned {
		e.line(2, "it belongs to what was said before the session began, so nothing is held against it")
		return
	}
	e.trials(c)
}

// offered reports a call of a tool that the model was not offered.
func (e *explanation) offered(c *score.CallAccount) {
	if c.Asked < 0 || c.Tool == "" {
		return
	}
	for _, d := range e.dialects(nil) {
		names, ok := e.Facts[c.Asked].Offered(d.Definitions)
		if ok && !slices.Contains(names, c.Tool) {
			e.line(2, "the model was not offered this tool: %s of %s lists %d others", d.Definitions[0], e.span(c.Asked), len(names))
			return
		}
	}
}

// arguments says where the call's arguments are.
func (e *explanation) arguments(c *score.CallAccount) {
	if !c.ArgumentsKnown {
		e.line(2, "arguments: not recorded")
		return
	}
	from := ""
	for _, i := range c.Spans {
		if at, ok := e.valueAt(i, &e.Facts[i].Call.Arguments, argumentNames); ok {
			from = fmt.Sprintf("%s of %s", at, e.span(i))
			break
		}
	}
	if from == "" && c.Asked >= 0 {
		from = fmt.Sprintf("%s of %s", e.messagesAt(c.Asked, true), e.span(c.Asked))
	}
	e.line(2, "arguments: %s, in %s", shape(c.Arguments), from)
	e.content(c.Arguments)
}

// result says where the call's result is.
func (e *explanation) result(c *score.CallAccount) {
	switch {
	case c.NeverRan:
		e.line(2, "result: none, the call was never run")
		return
	case c.Result.State == genai.NotCaptured && c.Failure.Kind != genai.NoFailure:
		e.line(2, "result: none")
		return
	case c.Result.State == genai.NotCaptured:
		e.line(2, "result: not recorded")
		if s := e.Facts[c.At].ContentSwitch; s != "" {
			e.line(3, "to record it: %s", s)
		}
		return
	}
	from := "the messages"
	if c.ResultSpan >= 0 && c.InMessages {
		from = fmt.Sprintf("%s of %s, which shows it to the model", e.messagesAt(c.ResultSpan, false), e.span(c.ResultSpan))
	} else if c.ResultSpan >= 0 {
		at, _ := e.valueAt(c.ResultSpan, &e.Facts[c.ResultSpan].Call.Result, resultNames)
		from = fmt.Sprintf("%s of %s", at, e.span(c.ResultSpan))
	}
	what := shape(c.Result.Value)
	if c.Result.State == genai.Truncated {
		what = "the beginning of one, which breaks off"
	} else if c.Result.Kind == engine.KindStdio {
		what += fmt.Sprintf(", with exit code %d", c.Result.ExitCode)
	}
	e.line(2, "result: %s, in %s", what, from)
	e.content(c.Result.Value)
}

// failure says what speaks against the call.
func (e *explanation) failure(c *score.CallAccount) {
	kind := ""
	if c.Failure.Type != "" {
		kind = " (" + e.reference(c, c.Failure.Type) + ")"
	}
	switch c.Failure.Kind {
	case genai.Failed:
		e.line(2, "the call failed%s", kind)
	case genai.ToolError:
		e.line(2, "the tool answered that it failed%s", kind)
	case genai.Cancelled:
		e.line(2, "the call was given up before it returned%s", kind)
	case genai.Interrupted:
		e.line(2, "the call waits for somebody%s, so it has no result yet", kind)
	}
	if c.Result.Failed && c.Failure.Kind == genai.NoFailure {
		e.line(2, "the result says of itself that it failed")
	}
	if c.Result.Conflict {
		e.line(2, "the result contradicts itself: its text is not its structure, or isError is no boolean")
	}
	if c.Conflict {
		e.line(2, "the model was shown something else than the tool returned")
	}
	if c.ServerSide {
		e.line(2, "the model's provider ran it")
	}
}

// trials explains the contracts that were held against the call.
func (e *explanation) trials(c *score.CallAccount) {
	if len(c.Trials) == 0 {
		e.unmatched(c)
		return
	}
	for i := range c.Trials {
		t := &c.Trials[i]
		e.line(2, "contract %s (contracts[%d]) is for it: %s", safe(t.Contract.Name), t.Contract.Index, matches(&t.Contract.Match))
		e.metadata(3, &t.Contract.Metadata)
		e.trial(c, t)
	}
	switch {
	case len(c.Trials) > 1 && c.Trials[c.Decided].Evaluation.Decision == engine.Sealed:
		e.line(2, "%s counts, because it seals.", safe(c.Trials[c.Decided].Contract.Name))
	case len(c.Trials) > 1:
		e.line(2, "None of them seals, so the first counts: %s.", safe(c.Trials[c.Decided].Contract.Name))
	}
}

// unmatched says why no contract is for the call.
func (e *explanation) unmatched(c *score.CallAccount) {
	if len(e.Policy.Contracts) == 0 {
		e.line(2, "The policy has no contracts, so nothing is held against the result.")
		return
	}
	e.line(2, "No contract is for it, so nothing is held against the result.")
	node := e.place(c.At)
	for _, contract := range e.Policy.Contracts {
		switch c.Others[contract] {
		case "agent":
			e.line(3, "%s is for the tool, but for the agents %s, and the agent is %q", safe(contract.Name), globs(contract.Match.Agents), safe(node.Agent))
		case "service":
			e.line(3, "%s is for the tool, but for the services %s, and the service is %q", safe(contract.Name), globs(contract.Match.Services), safe(node.Service))
		}
	}
}

// place finds a span's place in the tree.
func (e *explanation) place(span int) score.SpanAccount {
	i := slices.IndexFunc(e.Account.Spans, func(s score.SpanAccount) bool { return s.Span == span })
	if i < 0 {
		return score.SpanAccount{}
	}
	return e.Account.Spans[i]
}

// matches writes what a contract or a protocol is for.
func matches(m *policy.Match) string {
	var parts []string
	for _, list := range []struct {
		name  string
		globs policy.Globs
	}{{"tools", m.Tools}, {"agents", m.Agents}, {"services", m.Services}} {
		if len(list.globs) > 0 {
			parts = append(parts, list.name+" "+globs(list.globs))
		}
	}
	if len(parts) == 0 {
		return "it is for everything"
	}
	return strings.Join(parts, ", ")
}

func globs(list policy.Globs) string {
	out := make([]string, len(list))
	for i, g := range list {
		out[i] = g.String()
	}
	return strings.Join(out, " or ")
}

// trial goes through the ten rules up to the one that decides.
func (e *explanation) trial(c *score.CallAccount, t *score.Trial) {
	decides := ruleOf(t)
	gap := decides == beforeRule3 && t.Evaluation.ReasonCodes[0] != engine.ReasonTransportFailed
	rule := func(n int, what, format string, args ...any) {
		if n > decides {
			return
		}
		mark := ""
		if n == decides && !gap && (n != 6 || mismatch(t, what)) {
			mark = "   <- decides"
		}
		e.line(3, "%2d %-10s %s%s", n, what, fmt.Sprintf(format, args...), mark)
	}
	yes := func(good bool, a, b string) string {
		if good {
			return a
		}
		return b
	}
	b, env := &t.Bound, &t.Envelope
	rule(1, "run", "%s", yes(env.Transport > engine.Dispatched, "yes", "no, the call was never made"))
	rule(2, "failed", "%s", yes(env.Transport != engine.TransportError, "no", "yes"))
	if gap {
		what := map[engine.ReasonCode]string{
			engine.ReasonResultNotCaptured:    "recorded   no, the result was not",
			engine.ReasonResultTruncated:      "recorded   in part, the result breaks off",
			engine.ReasonArgumentsNotCaptured: "recorded   no, the arguments that the claim is about were not",
			engine.ReasonSchemaInvalid:        "bound      no, what the claim is about cannot be found",
		}[env.Gap]
		if missing := t.Evaluation.MissingFields; len(missing) > 0 {
			what += ": " + safe(strings.Join(missing, ", ")) + yes(len(missing) == 1, " is missing", " are missing")
		}
		e.line(3, "   %s   <- decides", what)
	}
	if decides >= 3 {
		read := "yes, " + shape(t.Payload.Value)
		if path := t.Contract.Observation.Payload; path != nil {
			read += " at " + path.String()
		}
		switch {
		case !t.Payload.Parsed:
			read = "no, it is not what kind " + t.Contract.Observation.Kind.String() + " asks for"
		case decides == 3:
			read = "no, it is " + shape(t.Payload.Value) + ", and the observation's refs read members of it"
		}
		rule(3, "readable", "%s", read)
	}
	rule(4, "conflict", "%s", yes(!env.ProtocolConflict, "none", "yes"))
	if decides >= 5 {
		e.emptiness(t, rule)
	}
	if decides >= 6 {
		rule(6, "source", "%s", e.compare(c, t, "source_ref", b.SourceRef, env.SourceRef))
		rule(6, "target", "%s", e.compare(c, t, "target_ref", b.TargetRef, env.TargetRef))
	}
	rule(7, "fresh", "%s", e.freshness(c, t))
	if decides >= 8 {
		rule(8, "fields", "%s", fields(t))
	}
	if decides >= 9 {
		evidence := "not asked for"
		if b.EffectEvidenceRequired {
			evidence = plural(len(env.EvidenceRefs), "evidence ref")
			for _, ref := range env.EvidenceRefs {
				evidence += ", " + e.reference(c, ref)
			}
		}
		rule(9, "evidence", "%s", evidence)
	}
	rule(10, "sealed", "the claim %s holds", b.ClaimType)
	var codes []string
	for _, code := range t.Evaluation.ReasonCodes {
		codes = append(codes, string(code))
	}
	decision := string(t.Evaluation.Decision)
	e.line(3, "=> %s, %s, %s", e.paint(colourOf(decision), decision), t.Evaluation.TruthState, strings.Join(codes, " and "))
	for _, code := range codes {
		e.line(3, "   %s", describe.Reasons[code])
	}
	e.unresolved(t)
}

// mismatch reports whether it is this leg of rule 6 that decides.
func mismatch(t *score.Trial, leg string) bool {
	code := engine.ReasonSourceMismatch
	if leg == "target" {
		code = engine.ReasonTargetMismatch
	}
	return slices.Contains(t.Evaluation.ReasonCodes, code)
}

// beforeRule3 stands for what decides between rules 2 and 3: content that was
// not recorded.
const beforeRule3 = 2

// ruleOf returns the number of the rule that decided.
func ruleOf(t *score.Trial) int {
	if len(t.Evaluation.ReasonCodes) == 0 {
		return 0
	}
	switch first := t.Evaluation.ReasonCodes[0]; first {
	case engine.ReasonNoDispatch:
		return 1
	case engine.ReasonTransportFailed:
		return 2
	case engine.ReasonResultNotCaptured, engine.ReasonResultTruncated, engine.ReasonArgumentsNotCaptured:
		return beforeRule3
	case engine.ReasonParseFailed:
		return 3
	case engine.ReasonProtocolConflict:
		return 4
	case engine.ReasonEmptyWithoutSentinel:
		return 5
	case engine.ReasonSourceMismatch, engine.ReasonTargetMismatch:
		return 6
	case engine.ReasonStaleObservation:
		return 7
	case engine.ReasonSchemaInvalid:
		if t.Envelope.Gap == engine.ReasonSchemaInvalid {
			return beforeRule3
		}
		return 7
	case engine.ReasonMissingRequiredField:
		if len(t.Evaluation.ReasonCodes) > 1 {
			return 7 // the version is missing
		}
		return 8
	case engine.ReasonUnverifiedEffect:
		return 9
	default:
		return 10
	}
}

// emptiness explains rule 5.
func (e *explanation) emptiness(t *score.Trial, rule func(int, string, string, ...any)) {
	sentinel := ""
	if t.Bound.NotFoundSentinel != nil {
		sentinel = fmt.Sprintf("; what stands for \"not found\" is %q", *t.Bound.NotFoundSentinel)
	}
	switch usable := t.Payload.Value.Usable(); {
	case !usable:
		rule(5, "empty", "yes, %s%s", shape(t.Payload.Value), sentinel)
	case t.Evaluation.ReasonCodes[0] == engine.ReasonEmptyWithoutSentinel:
		rule(5, "empty", "no, but it does not say \"not found\" either%s", sentinel)
	default:
		rule(5, "empty", "no")
	}
}

// compare explains one leg of rule 6.
func (e *explanation) compare(c *score.CallAccount, t *score.Trial, leg, asked, observed string) string {
	checked := t.Contract.Observation.SourceRef != nil
	if leg == "target_ref" {
		checked = t.Contract.Observation.TargetRef != nil
	}
	equal := asked == observed
	from := ""
	for i := range t.Templates {
		switch r := &t.Templates[i]; r.Field {
		case leg:
			asked = e.rendered(c, r, asked)
		case "observation." + leg:
			from = r.Template
			if observed = e.rendered(c, r, observed); !r.Found {
				observed = "nothing"
			}
		}
	}
	switch {
	case !checked:
		return asked + ", not checked: the contract has no observation." + leg
	case equal:
		return fmt.Sprintf("%s, and %s gives the same", asked, safe(from))
	default:
		return fmt.Sprintf("asked for %s, but %s gives %s", asked, safe(from), observed)
	}
}

// rendered writes what a template rendered: as it is if the template reads no
// content, or found nothing.
func (e *explanation) rendered(c *score.CallAccount, r *score.Rendering, text string) string {
	if !r.Content || !r.Found {
		return safe(text)
	}
	return e.reference(c, text)
}

// reference writes a reference that may hold content of a call.
func (e *explanation) reference(c *score.CallAccount, text string) string {
	if e.o.Content || text == "" || mask.Identifier(text) {
		return safe(text)
	}
	return e.values.of(e.Verdict, e.place(c.At).Conversation).Text(text)
}

// freshness explains rule 7.
func (e *explanation) freshness(c *score.CallAccount, t *score.Trial) string {
	b, env := &t.Bound, &t.Envelope
	switch b.Freshness.Mode {
	case engine.FreshnessSourceVersion:
		least := "any"
		if b.MinSourceVersion != nil {
			least = *b.MinSourceVersion
		}
		if env.SourceVersion == nil {
			return "no version found, at least " + safe(least) + " is asked for"
		}
		return fmt.Sprintf("version %s, at least %s is asked for", e.reference(c, *env.SourceVersion), safe(least))
	case engine.FreshnessMaxAge:
		at := e.reference(c, env.ObservedAt)
		if at == "" {
			at = "an unknown time"
		}
		return fmt.Sprintf("observed at %s, looked at on %s, at most %d seconds are allowed",
			at, t.Clock.UTC().Format("2006-01-02T15:04:05.999999Z"), b.Freshness.MaxAgeSeconds)
	}
	return "not asked for"
}

// fields explains rule 8.
func fields(t *score.Trial) string {
	required := t.Bound.RequiredFields
	if len(required) == 0 {
		return "none are required"
	}
	if missing := t.Evaluation.MissingFields; len(missing) > 0 {
		return fmt.Sprintf("%s of %s missing", safe(strings.Join(missing, ", ")), plural(len(required), "required field"))
	}
	return safe(strings.Join(required, ", ")) + " are there"
}

// unresolved lists the templates that found nothing, as far as a rule that was
// reached reads them.
func (e *explanation) unresolved(t *score.Trial) {
	decides := ruleOf(t)
	for _, r := range t.Templates {
		reads := 6
		if decides == beforeRule3 {
			reads = beforeRule3 // the claim itself
		}
		switch r.Field {
		case "source_ref", "target_ref":
		case "observation.source_ref", "observation.target_ref":
			reads = 6
		case "observation.source_version", "observation.observed_at":
			reads = 7
		case "observation.evidence_refs":
			reads = 9
		}
		if !r.Found && reads <= decides {
			e.line(3, "   %s %s finds nothing", r.Field, safe(r.Template))
		}
	}
}

// shape says what a value is, and nothing of what it says.
func shape(v jsonvalue.Value) string {
	switch v.Kind() {
	case jsonvalue.NullKind:
		return "null"
	case jsonvalue.BoolKind:
		return "a boolean"
	case jsonvalue.IntKind, jsonvalue.FloatKind:
		return "a number"
	case jsonvalue.StringKind:
		if v.Text() == "" {
			return "an empty text"
		}
		return "a text of " + plural(len([]rune(v.Text())), "character")
	case jsonvalue.ArrayKind:
		if v.Len() == 0 {
			return "an empty list"
		}
		return "a list of " + plural(v.Len(), "entr"+map[bool]string{true: "y", false: "ie"}[v.Len() == 1])
	default:
		if v.Len() == 0 {
			return "an empty object"
		}
		return "an object of " + plural(v.Len(), "field")
	}
}

// maxShown is how much of a content is shown.
const maxShown = 4000

// content shows a value, if content is to be shown.
func (e *explanation) content(v jsonvalue.Value) {
	if !e.o.Content {
		return
	}
	text := v.Text()
	if v.Kind() != jsonvalue.StringKind {
		canonical, err := v.AppendCanonical(nil)
		if err != nil {
			return
		}
		text = string(canonical)
	}
	e.said(text)
}

// said shows a text, a line each.
func (e *explanation) said(text string) {
	cut := ""
	if len(text) > maxShown {
		cut = fmt.Sprintf(" ... (%s in all)", plural(len(text), "byte"))
		text = strings.ToValidUTF8(text[:maxShown], "")
	}
	for line := range strings.Lines(text + cut) {
		e.line(3, "| %s", safe(strings.TrimRight(line, "\r\n")))
	}
}
