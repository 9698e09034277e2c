// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"crypto/sha256"
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// redacted stands for a field whose content must not be told.
const redacted = "[REDACTED]"

// Record is the statement of a decision, as it is published.
type Record struct {
	Version       string
	Decision      Decision
	TruthState    TruthState
	ClaimType     ClaimType
	ReasonCodes   []ReasonCode
	ObservationID string
	ToolCallID    string
	SourceRef     string
	EvidenceRefs  []string
	Fingerprint   string // the hash of all the others

	hidden []string // fields whose lists are redacted
}

// RedactableFields are the fields of a record that can be redacted, in the order of
// the record: all but the fingerprint.
var RedactableFields = []string{
	"resultseal_version", "decision", "truth_state", "claim_type", "reason_codes", "observation_id", "tool_call_id", "source_ref", "evidence_refs",
}

// NewRecord states an evaluation. The fields named by redact are replaced before
// the fingerprint is taken; other names have no effect.
func NewRecord(c *Contract, env *Envelope, ev Evaluation, redact []string) (Record, error) {
	r := Record{
		Version:       SemanticsVersion,
		Decision:      ev.Decision,
		TruthState:    ev.TruthState,
		ClaimType:     c.ClaimType,
		ReasonCodes:   ev.ReasonCodes,
		ObservationID: env.ObservationID,
		ToolCallID:    env.ToolCallID,
		SourceRef:     env.SourceRef,
		EvidenceRefs:  env.EvidenceRefs,
	}
	for _, field := range redact {
		switch field {
		case "resultseal_version":
			r.Version = redacted
		case "decision":
			r.Decision = redacted
		case "truth_state":
			r.TruthState = redacted
		case "claim_type":
			r.ClaimType = redacted
		case "observation_id":
			r.ObservationID = redacted
		case "tool_call_id":
			r.ToolCallID = redacted
		case "source_ref":
			r.SourceRef = redacted
		case "reason_codes", "evidence_refs":
			r.hidden = append(r.hidden, field)
		}
	}
	p := buffers.Get().(*[]byte)
	b := r.appendFields(*p, "")
	var room [hashLength]byte
	r.Fingerprint = string(appendHash(room[:0], sha256.Sum256(b)))
	releaseBuffer(p, b)
	return r, nil
}

// AppendCanonical appends the record in canonical form.
func (r *Record) AppendCanonical(dst []byte) []byte {
	return r.appendFields(dst, r.Fingerprint)
}

// appendFields appends the record, with the fingerprint unless it is "".
func (r *Record) appendFields(dst []byte, fingerprint string) []byte {
	text := func(key, value string) {
		dst = append(append(dst, key...), ':')
		dst = jsonvalue.AppendString(dst, value)
	}
	text(`{"claim_type"`, string(r.ClaimType))
	text(`,"decision"`, string(r.Decision))
	if fingerprint != "" {
		text(`,"deterministic_fingerprint"`, fingerprint)
	}
	if slices.Contains(r.hidden, "evidence_refs") {
		text(`,"evidence_refs"`, redacted)
	} else {
		dst = appendStrings(append(dst, `,"evidence_refs":`...), r.EvidenceRefs)
	}
	text(`,"observation_id"`, r.ObservationID)
	if slices.Contains(r.hidden, "reason_codes") {
		text(`,"reason_codes"`, redacted)
	} else {
		dst = appendStrings(append(dst, `,"reason_codes":`...), r.ReasonCodes)
	}
	text(`,"resultseal_version"`, r.Version)
	text(`,"source_ref"`, r.SourceRef)
	text(`,"tool_call_id"`, r.ToolCallID)
	text(`,"truth_state"`, string(r.TruthState))
	return append(dst, '}')
}

// Fields returns the record's fields in the order in which they are published.
func (r *Record) Fields() []jsonvalue.Member {
	list := func(key string, texts []jsonvalue.Value) jsonvalue.Value {
		if slices.Contains(r.hidden, key) {
			return jsonvalue.String(redacted)
		}
		return jsonvalue.Array(texts...)
	}
	return []jsonvalue.Member{
		{Key: "resultseal_version", Value: jsonvalue.String(r.Version)},
		{Key: "decision", Value: jsonvalue.String(string(r.Decision))},
		{Key: "truth_state", Value: jsonvalue.String(string(r.TruthState))},
		{Key: "claim_type", Value: jsonvalue.String(string(r.ClaimType))},
		{Key: "reason_codes", Value: list("reason_codes", stringValues(r.ReasonCodes))},
		{Key: "observation_id", Value: jsonvalue.String(r.ObservationID)},
		{Key: "tool_call_id", Value: jsonvalue.String(r.ToolCallID)},
		{Key: "source_ref", Value: jsonvalue.String(r.SourceRef)},
		{Key: "evidence_refs", Value: list("evidence_refs", stringValues(r.EvidenceRefs))},
		{Key: "deterministic_fingerprint", Value: jsonvalue.String(r.Fingerprint)},
	}
}

func stringValues[S ~string](texts []S) []jsonvalue.Value {
	values := make([]jsonvalue.Value, len(texts))
	for i, t := range texts {
		values[i] = jsonvalue.String(string(t))
	}
	return values
}

func appendStrings[S ~string](dst []byte, texts []S) []byte {
	dst = append(dst, '[')
	for i, s := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jsonvalue.AppendString(dst, string(s))
	}
	return append(dst, ']')
}
