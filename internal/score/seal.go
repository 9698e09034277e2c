// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"errors"
	"time"
	"unicode/utf8"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// Limits of the envelope. What an instrumentation records beyond them is not
// the agent's fault and must not fail the observation.
const (
	maxNameRunes     = 256
	maxRefRunes      = 1024
	maxEvidenceRefs  = 64
	maxEvidenceRunes = 2048
)

// seal holds a call against every contract that matches it: the first that
// seals is the verdict, else the first that matched. It answers nil if none
// matches.
func (s *Scorer) seal(t *trace, k *call) *Observation {
	node := &t.nodes[k.at]
	var first *Observation
	for _, c := range s.policy.Contracts {
		if !c.Match.Matches(k.tool, node.agent, node.service) {
			k.byAgent = k.byAgent || node.stray && node.agent == "" && c.Match.Tools.Match(k.tool) && c.Match.Services.Match(node.service)
			continue
		}
		o := observe(t, k, c)
		if o.Sealed() {
			return o
		}
		if first == nil {
			first = o
		}
	}
	return first
}

// observe builds the observation that one contract asks for and evaluates it.
// It never fails: an observation that cannot be built is blocked, and says why.
func observe(t *trace, k *call, c *policy.Contract) *Observation {
	// Times are compared in microseconds.
	clock := k.end.Time().Truncate(time.Microsecond)
	in, conflict := input(k, c)
	in.ToolName = clip(k.tool, maxNameRunes)
	in.ObservedAt = now(clock)
	if id := k.id; utf8.RuneCountInString(id) <= maxNameRunes {
		in.ToolCallID = id
	}

	gap := engine.ReasonCode("")
	switch {
	case k.disputed, k.failure.Kind == genai.Failed, k.failure.Kind == genai.Cancelled, k.neverRan:
	case k.result.State == genai.NotCaptured:
		gap = engine.ReasonResultNotCaptured
	case k.result.State == genai.Truncated:
		gap = engine.ReasonResultTruncated
	}

	reading, err := k.read(&in, c.Observation.Kind)
	if err != nil {
		reading, gap = unreadable(reading, err, gap)
	}
	payload := reading.Payload
	if payload.Parsed && c.Observation.Payload != nil {
		payload.Value = c.Observation.Payload.Select(payload.Value)
	}
	payload.Value = nothing(k, c, payload.Value)

	scope := &scope{t: t, k: k, result: payload}
	contract := c.Base
	var unbound engine.ReasonCode
	contract.SourceRef, unbound = bind(c.SourceRef, scope, unbound)
	contract.TargetRef, unbound = bind(c.TargetRef, scope, unbound)
	var lacking []string // what the claim reads and the call lacks
	if gap == "" {
		if gap = unbound; gap == engine.ReasonSchemaInvalid {
			lacking = c.TargetRef.AppendLacking(c.SourceRef.AppendLacking(nil, scope), scope)
		}
	}
	in.SourceRef = observedRef(c.Observation.SourceRef, c.SourceRef, scope, contract.SourceRef)
	in.TargetRef = observedRef(c.Observation.TargetRef, c.TargetRef, scope, contract.TargetRef)
	if v := c.Observation.SourceVersion; v != nil {
		if version, ok := v.Render(scope); ok && utf8.RuneCountInString(version) <= maxNameRunes {
			in.SourceVersion = &version
		}
	}
	for _, ref := range c.Observation.EvidenceRefs {
		if text, ok := ref.Render(scope); ok && text != "" && utf8.RuneCountInString(text) <= maxEvidenceRunes && len(in.EvidenceRefs) < maxEvidenceRefs {
			in.EvidenceRefs = append(in.EvidenceRefs, text)
		}
	}

	o := &Observation{
		Span: k.at, ToolSpan: len(k.spans) > 0, Tool: k.tool, CallID: k.id, Time: k.end,
		Conversation: t.nodes[k.at].conversation, Contract: c, TargetRef: in.TargetRef, ContentSwitch: t.spans[k.at].ContentSwitch,
	}
	env, err := in.Envelope(reading, clock)
	if err != nil {
		// Nothing that telemetry holds may stop the verdict.
		env, gap = engine.Envelope{
			ToolName: in.ToolName, SourceRef: in.SourceRef, TargetRef: in.TargetRef,
			Transport: reading.Transport, ContentHash: reading.ContentHash,
		}, engine.ReasonSchemaInvalid
	}
	switch {
	case k.disputed: // whether it failed, and what it returned, is not known
		gap, env.Transport = "", engine.Transported
	case k.neverRan:
		env.Transport = engine.Attempted
	case k.failure.Kind == genai.Failed, k.failure.Kind == genai.Cancelled:
		env.Transport = engine.TransportError
	}
	env.ProtocolConflict = env.ProtocolConflict || conflict
	env.Gap = gap
	env.ObservedAt = in.ObservedAt
	if at := c.Observation.ObservedAt; at != nil {
		text, ok := at.Render(scope)
		if !ok {
			text = "" // rule 7 has nothing to read
		}
		env.ObservedAt = withinSkew(text, clock, c.Observation.ClockSkew)
	}

	if !env.ProtocolConflict && readsMembers(c, payload.Value) {
		payload.Parsed = false
	}
	o.Evaluation = contract.Evaluate(&env, payload, clock)
	if k.result.Masked && gap == "" && !o.Sealed() && !env.ProtocolConflict && !k.disputed {
		// A value in whose place there is a placeholder may be what the claim lacks.
		env.Gap = engine.ReasonResultNotCaptured
		o.Evaluation = contract.Evaluate(&env, payload, clock)
	}
	if o.Evaluation.ReasonCodes[0] == engine.ReasonSchemaInvalid {
		o.Evaluation.MissingFields = lacking
	}
	o.ContentHash = env.ContentHash
	o.Uncaptured = uncaptured(o.Evaluation)
	if o.Record, err = engine.NewRecord(&contract, &env, o.Evaluation, nil); err != nil {
		o.Evaluation = engine.Evaluation{
			Decision: engine.Blocked, TruthState: engine.StateUnknown, ReasonCodes: []engine.ReasonCode{engine.ReasonSchemaInvalid},
		}
	}
	if t.account != nil {
		t.account.tried(*scope, c, contract, env, clock, o.Evaluation)
	}
	return o
}

// nothing turns what tools write for nothing into an empty payload: a text that is
// blank, or the null of a language, unless the contract has it stand for "not
// found". The kinds that have a syntax of their own say in it what is empty.
func nothing(k *call, c *policy.Contract, v jsonvalue.Value) jsonvalue.Value {
	switch c.Observation.Kind {
	case policy.KindAuto, policy.KindText, policy.KindMCP:
	default:
		return v
	}
	sentinel := c.Base.NotFoundSentinel
	switch v.Kind() {
	case jsonvalue.StringKind:
		if text := v.Text(); genai.Nothing(text) && (sentinel == nil || *sentinel != text) {
			return jsonvalue.Null()
		}
	case jsonvalue.NullKind:
		// JSON's null is a text, too.
		if r := &k.result; sentinel != nil && c.Observation.Payload == nil && r.Value.IsNull() && r.Source == *sentinel && r.Source != "" {
			return jsonvalue.String(r.Source)
		}
	}
	return v
}

// readsMembers reports whether the result is a text and the contract reads from its
// members what it is about, or from where, which no text has. Such a result cannot
// be read in the form for which the contract is written; it is no mismatch.
func readsMembers(c *policy.Contract, v jsonvalue.Value) bool {
	if v.Kind() != jsonvalue.StringKind || v.Text() == "" {
		return false
	}
	o := &c.Observation
	return o.SourceRef.ReadsMember(policy.RootResult) || o.TargetRef.ReadsMember(policy.RootResult)
}

// read reads a call's result as a kind, once for all contracts that ask for it.
func (k *call) read(in *engine.Input, kind policy.Kind) (engine.Reading, error) {
	for i := range k.readings {
		if k.readings[i].kind == kind {
			return k.readings[i].reading, k.readings[i].err
		}
	}
	reading, err := in.Read()
	k.readings = append(k.readings, readAs{kind, reading, err})
	return reading, err
}

// input is the adapter document that a call's result amounts to under a
// contract, and whether something contradicts the result.
func input(k *call, c *policy.Contract) (in engine.Input, conflict bool) {
	r := &k.result
	in = engine.Input{Kind: r.Kind, Body: r.Value, ExitCode: r.ExitCode}
	conflict = r.Failed || r.Conflict || k.conflict || k.disputed || k.failure.Kind == genai.ToolError

	status := k.status
	kind, fixed := c.Observation.Kind.Input()
	if !fixed {
		if status != 0 && r.Kind == engine.KindJSON {
			in.Kind, in.StatusCode = engine.KindHTTPJSON, status
		} else if status != 0 && (status < 200 || status > 399) {
			in.Kind, in.StatusCode = engine.KindHTTPJSON, status
			in.Body = jsonvalue.Null()
		}
		return in, conflict
	}
	in.Kind = kind
	text := r.Value.Kind() == jsonvalue.StringKind
	switch kind {
	case engine.KindText, engine.KindYAML:
		if !text {
			in.Body = jsonvalue.String(asText(r))
		}
	case engine.KindHTTPJSON:
		if in.StatusCode = status; status == 0 {
			in.StatusCode, in.Body = httpDocument(r.Value)
		}
	case engine.KindMCP:
		if key := "text"; text {
			in.Body = jsonvalue.Object(jsonvalue.Member{Key: key, Value: r.Value})
		} else if v := r.Value; r.MCP {
			in.Body = jsonvalue.Object(jsonvalue.Member{Key: "structuredContent", Value: v})
		} else {
			in.Body = jsonvalue.Object(jsonvalue.Member{Key: "structuredContent", Value: genai.Unwrapped(v)})
		}
	case engine.KindStdio:
		if r.Kind != engine.KindStdio {
			in.Body = jsonvalue.Object(jsonvalue.Member{Key: "stdout", Value: r.Value})
		}
	}
	return in, conflict
}

// asText is a structured result as a text: the one that it was parsed from, or its
// canonical form.
func asText(r *genai.Result) string {
	if r.Source != "" {
		return r.Source
	}
	text, err := r.Value.AppendCanonical(nil)
	if err != nil {
		return ""
	}
	return string(text)
}

// httpDocument reads a result that is a response with its own status. A tool
// that returned one and did not fail was answered, so a status that is not
// there counts as 200.
func httpDocument(v jsonvalue.Value) (int64, jsonvalue.Value) {
	for _, key := range [...]string{"status_code", "statusCode", "status"} {
		field, ok := v.Get(key)
		if !ok {
			continue
		}
		if status, ok := field.Int64(); ok {
			for _, key := range [...]string{"body", "data"} {
				if body, ok := v.Get(key); ok {
					return status, body
				}
			}
			return status, v
		}
	}
	return 200, v
}

// unreadable turns a reader's error into what the rules make of it: a payload
// that did not parse, or a result that no rule can judge. It has no content
// hash, and the ids of a result that holds nothing; how far the call came is
// known all the same.
func unreadable(failed engine.Reading, err error, gap engine.ReasonCode) (engine.Reading, engine.ReasonCode) {
	nothing := engine.Input{Kind: engine.KindText}
	r, _ := nothing.Read() // null can be hashed
	r.ContentHash, r.Payload, r.Transport = "", engine.Payload{}, failed.Transport
	var coded *engine.Error
	if gap == "" && !(errors.As(err, &coded) && coded.Code == engine.CodeParseFailed) {
		gap = engine.ReasonSchemaInvalid
	}
	return r, gap
}

// bind renders a ref of the contract itself. A ref that cannot be rendered
// leaves the claim without a subject.
func bind(ref *policy.Template, s *scope, unbound engine.ReasonCode) (string, engine.ReasonCode) {
	text, ok := ref.Render(s)
	if ok && text != "" && utf8.RuneCountInString(text) <= maxRefRunes {
		return text, unbound
	}
	if unbound == "" || unbound == engine.ReasonSchemaInvalid {
		unbound = engine.ReasonSchemaInvalid
		if ref.Roots().Has(policy.RootArguments) && (!s.k.argumentsKnown || s.k.argumentsMasked) {
			unbound = engine.ReasonArgumentsNotCaptured
		}
	}
	return clip(ref.String(), maxRefRunes), unbound
}

// observedRef renders where the result says that it came from. Without such a
// ref the contract's own is taken; one that finds nothing matches nothing. Where
// both are the same text made of other values (a/b and c, a and b/c), the observed
// one is written with its values in quotation marks.
func observedRef(ref, own *policy.Template, s *scope, contract string) string {
	if ref == nil {
		return contract
	}
	text, ok := ref.Render(s)
	if ok && text != "" && utf8.RuneCountInString(text) <= maxRefRunes {
		if text != contract || ref.SameValues(own, s) {
			return text
		}
		quoted := ref.RenderQuoted(s)
		if text = clip(quoted, maxRefRunes); text == contract {
			text = clip("#"+quoted, maxRefRunes)
		}
		return text
	}
	unresolved := "unresolved:" + ref.String()
	if unresolved == contract {
		unresolved += "#"
	}
	return clip(unresolved, maxRefRunes)
}

// withinSkew takes a time that is ahead of the clock by no more than the skew as
// now.
func withinSkew(observedAt string, clock time.Time, skew time.Duration) string {
	if skew <= 0 {
		return observedAt
	}
	at, ok := engine.ParseTimestamp(observedAt)
	if !ok || !at.After(clock) || at.Sub(clock) > skew {
		return observedAt
	}
	return now(clock)
}

// now spells the reference clock as an observation time.
func now(clock time.Time) string { return clock.Format("2006-01-02T15:04:05.000000Z07:00") }

func uncaptured(ev engine.Evaluation) bool {
	if ev.Decision == engine.Sealed || len(ev.ReasonCodes) == 0 {
		return false
	}
	switch ev.ReasonCodes[0] {
	case engine.ReasonResultNotCaptured, engine.ReasonResultTruncated, engine.ReasonArgumentsNotCaptured:
		return true
	}
	return false
}

// clip cuts s to a number of code points.
func clip(s string, runes int) string {
	if len(s) <= runes {
		return s
	}
	for i := range s {
		if runes == 0 {
			return s[:i]
		}
		runes--
	}
	return s
}
