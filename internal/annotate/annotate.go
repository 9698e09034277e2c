// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package annotate writes verdicts onto spans: attributes on tool-call spans,
// span events where a protocol was not kept to, and the session's verdict on
// its root span. It adds and never changes or removes what others wrote.
// Everything under its prefix is its own: [Clean] removes it from what was
// received, so that scoring a span again gives the same. Nothing that it writes
// holds content.
//
// The processor and the command line both write through it.
package annotate

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// DefaultPrefix is the namespace of all attributes and events.
const DefaultPrefix = "resultseal."

// What is written is bounded: a span is no place for long lists.
const (
	maxMissingFields = 16
	maxViolations    = 16
)

// Options chooses what is written.
type Options struct {
	// Prefix is the namespace; "" means [DefaultPrefix].
	Prefix string
	// ContentHash adds the hash of what was observed, HashKey makes it an HMAC.
	ContentHash bool
	HashKey     string
	// Record adds what is needed to recompute the fingerprint.
	Record bool
	// EvaluationEvents adds the verdicts as gen_ai.evaluation.result events.
	EvaluationEvents bool
}

// Writer writes verdicts onto spans. It is immutable.
type Writer struct {
	o     Options
	names names
}

// names are the attribute and event names with the prefix, made once.
type names struct {
	contract, claimType, decision, truthState, reasonCodes, missingFields, fingerprint, contentHash string
	sourceRef, targetRef, evidenceRefs, observationID, toolCallID                                   string

	protocolVerdict, protocolName, protocolEvent, protocolExpected, protocolReason string
	protocolPrefix                                                                 string

	compliance, protocols, score, observations, sealed, blocked, uncaptured, uncontracted, violations, gaps, finalizedBy, late string

	policyHash string
}

// New returns a writer.
func New(o Options) *Writer {
	if o.Prefix == "" {
		o.Prefix = DefaultPrefix
	}
	p := o.Prefix
	return &Writer{o: o, names: names{
		contract: p + "contract", claimType: p + "claim_type", decision: p + "decision", truthState: p + "truth_state",
		reasonCodes: p + "reason_codes", missingFields: p + "missing_fields", fingerprint: p + "fingerprint", contentHash: p + "content_hash",
		sourceRef: p + "source_ref", targetRef: p + "target_ref", evidenceRefs: p + "evidence_refs",
		observationID: p + "observation_id", toolCallID: p + "tool_call_id",

		protocolVerdict: p + "protocol.verdict", protocolName: p + "protocol.name", protocolEvent: p + "protocol.event",
		protocolExpected: p + "protocol.expected", protocolReason: p + "protocol.reason", protocolPrefix: p + "protocol.",

		compliance: p + "session.compliance", protocols: p + "session.protocols", score: p + "session.score",
		observations: p + "session.observations", sealed: p + "session.sealed", blocked: p + "session.blocked",
		uncaptured: p + "session.uncaptured", uncontracted: p + "session.uncontracted",
		violations: p + "session.violations", gaps: p + "session.gaps", finalizedBy: p + "session.finalized_by",
		late: p + "late", policyHash: p + "policy.hash",
	}}
}

// Late writes what late spans prove by themselves, and marks them: their
// session was judged without them.
func (w *Writer) Late(spans []ptrace.Span, v *score.Session) {
	for i := range v.Spans {
		if s := &v.Spans[i]; s.Observation >= 0 {
			w.observation(spans[s.Span], &v.Observations[s.Observation])
		}
	}
	for _, span := range spans {
		span.Attributes().PutBool(w.names.late, true)
	}
}

// Joined writes what late spans prove by themselves, and what the protocols of
// their conversation say of them, which they came in time for.
func (w *Writer) Joined(spans []ptrace.Span, v *score.Session) {
	for i := range v.Spans {
		s := &v.Spans[i]
		if s.Observation >= 0 {
			w.observation(spans[s.Span], &v.Observations[s.Observation])
		}
		if len(s.Events) > 0 {
			w.events(spans[s.Span], v, s.Events)
		}
	}
}

// Session writes a session's verdict. One whose conversation was judged beyond
// it already is marked as late. spans are the spans that were judged, in
// the same order. finalizedBy says why the session was judged when it was; ""
// leaves it out.
func (w *Writer) Session(spans []ptrace.Span, v *score.Session, finalizedBy string) {
	w.Joined(spans, v)
	w.session(spans[v.Root], v, finalizedBy)
	if v.OutOfOrder {
		spans[v.Root].Attributes().PutBool(w.names.late, true)
	}
}

func (w *Writer) observation(span ptrace.Span, o *score.Observation) {
	a := span.Attributes()
	a.PutStr(w.names.contract, o.Contract.Name)
	a.PutStr(w.names.claimType, string(o.Contract.Base.ClaimType))
	a.PutStr(w.names.decision, string(o.Evaluation.Decision))
	a.PutStr(w.names.truthState, string(o.Evaluation.TruthState))
	reasons := a.PutEmptySlice(w.names.reasonCodes)
	for _, r := range o.Evaluation.ReasonCodes {
		reasons.AppendEmpty().SetStr(string(r))
	}
	if missing := o.Evaluation.MissingFields; len(missing) > 0 {
		putStrings(a, w.names.missingFields, missing[:min(len(missing), maxMissingFields)])
	}
	if o.Record.Fingerprint != "" {
		a.PutStr(w.names.fingerprint, o.Record.Fingerprint)
	}
	if w.o.ContentHash && o.ContentHash != "" {
		a.PutStr(w.names.contentHash, w.hash(o.ContentHash))
	}
	if w.o.Record {
		a.PutStr(w.names.sourceRef, display.Line(o.Record.SourceRef))
		a.PutStr(w.names.targetRef, display.Line(o.TargetRef))
		putStrings(a, w.names.evidenceRefs, o.Record.EvidenceRefs)
		a.PutStr(w.names.observationID, display.Line(o.Record.ObservationID))
		a.PutStr(w.names.toolCallID, display.Line(o.Record.ToolCallID))
	}
	if w.o.EvaluationEvents {
		reasons := make([]string, len(o.Evaluation.ReasonCodes))
		for i, r := range o.Evaluation.ReasonCodes {
			reasons[i] = string(r)
		}
		evaluation(span, w.o.Prefix+"seal", passed(o.Evaluation.Decision == engine.Sealed), string(o.Evaluation.TruthState), strings.Join(reasons, ","))
	}
}

// hash keys a content hash, so that a short result cannot be guessed from it.
func (w *Writer) hash(contentHash string) string { return keyed(contentHash, w.o.HashKey) }

func keyed(contentHash, key string) string {
	if key == "" {
		return contentHash
	}
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(contentHash))
	return "hmac-sha256:" + hex.EncodeToString(mac.Sum(nil))
}

func (w *Writer) events(span ptrace.Span, v *score.Session, refs []score.EventRef) {
	worst := score.EventOK
	for _, ref := range refs {
		p := &v.Protocols[ref.Protocol]
		e := &p.Events[ref.Event]
		worst = max(worst, e.Verdict)
		if e.Verdict == score.EventOK {
			continue
		}
		event := span.Events().AppendEmpty()
		event.SetName(w.names.protocolPrefix + e.Verdict.String())
		event.SetTimestamp(pcommon.Timestamp(e.Time))
		a := event.Attributes()
		a.PutStr(w.names.protocolName, p.Protocol.Name)
		a.PutStr(w.names.protocolEvent, e.Name)
		putStrings(a, w.names.protocolExpected, e.Expected)
		a.PutStr(w.names.protocolReason, e.Reason)
	}
	span.Attributes().PutStr(w.names.protocolVerdict, worst.String())
}

func (w *Writer) session(root ptrace.Span, v *score.Session, finalizedBy string) {
	a := root.Attributes()
	a.PutStr(w.names.compliance, v.Compliance.String())
	protocols := a.PutEmptySlice(w.names.protocols)
	for i := range v.Protocols {
		protocols.AppendEmpty().SetStr(v.Protocols[i].Protocol.Name + "=" + v.Protocols[i].Verdict.String())
	}
	if passed, made := v.Score(); made > 0 {
		a.PutDouble(w.names.score, float64(passed)/float64(made))
	}
	sealed, blocked, uncaptured := v.Counts()
	a.PutInt(w.names.observations, int64(len(v.Observations)))
	a.PutInt(w.names.sealed, int64(sealed))
	a.PutInt(w.names.blocked, int64(blocked))
	a.PutInt(w.names.uncaptured, int64(uncaptured))
	a.PutInt(w.names.uncontracted, int64(len(v.Uncontracted)))
	if violations := v.Violations(maxViolations); len(violations) > 0 {
		putStrings(a, w.names.violations, violations)
	}
	if v.Gaps != 0 {
		putStrings(a, w.names.gaps, v.Gaps.Strings())
	}
	if finalizedBy != "" {
		a.PutStr(w.names.finalizedBy, finalizedBy)
	}
	if v.PolicyHash != "" {
		a.PutStr(w.names.policyHash, v.PolicyHash)
	}
	if w.o.EvaluationEvents {
		for i := range v.Protocols {
			p := &v.Protocols[i]
			value := passed(p.Verdict == score.Compliant)
			if p.Verdict == score.Unjudged {
				value = nil
			}
			evaluation(root, w.o.Prefix+"protocol."+p.Protocol.Name, value, p.Verdict.String(), p.Reason())
		}
	}
}

// The GenAI conventions' own form of a verdict.
const (
	evaluationEvent = "gen_ai.evaluation.result"
	evaluationName  = "gen_ai.evaluation.name"
)

// passed returns the score of a check.
func passed(ok bool) *float64 {
	value := 0.0
	if ok {
		value = 1
	}
	return &value
}

// evaluation adds a verdict in the form of the GenAI conventions. It has no score
// if value is nil: nothing was evaluated, which is neither good nor bad.
func evaluation(span ptrace.Span, name string, value *float64, label, explanation string) {
	event := span.Events().AppendEmpty()
	event.SetName(evaluationEvent)
	event.SetTimestamp(span.EndTimestamp())
	a := event.Attributes()
	a.PutStr(evaluationName, name)
	if value != nil {
		a.PutDouble("gen_ai.evaluation.score.value", *value)
	}
	a.PutStr("gen_ai.evaluation.score.label", label)
	if explanation != "" {
		a.PutStr("gen_ai.evaluation.explanation", explanation)
	}
}

// putStrings writes strings that may come from telemetry. Their length is bounded
// where they are made.
func putStrings(m pcommon.Map, key string, values []string) {
	s := m.PutEmptySlice(key)
	s.EnsureCapacity(len(values))
	for _, v := range values {
		s.AppendEmpty().SetStr(display.Line(v))
	}
}
