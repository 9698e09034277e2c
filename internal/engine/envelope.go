// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"
	"unicode/utf8"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// The published limits of an envelope, in characters and entries.
const (
	maxRef          = 1024
	maxName         = 256 // tool name, ids, versions
	maxObservedAt   = 64
	maxEvidenceRef  = 2048
	maxEvidenceRefs = 64
	maxMetadata     = 64
)

// Envelope is an observation with its identity: what was observed, from where,
// about what, when, and how far the call came. The payload stands beside it.
type Envelope struct {
	InputKind     InputKind
	ToolName      string
	ToolCallID    string
	ObservationID string
	SourceRef     string
	TargetRef     string
	ObservedAt    string
	ContentHash   string
	SourceVersion *string
	EvidenceRefs  []string
	Transport     TransportState

	// ProtocolConflict: the metadata's protocol_conflict is exactly true. The
	// answer contradicts itself or another copy of itself.
	ProtocolConflict bool

	// Gap names what telemetry did not record: one of RESULT_NOT_CAPTURED,
	// RESULT_TRUNCATED, ARGUMENTS_NOT_CAPTURED, or SCHEMA_INVALID for a claim that
	// cannot be bound; "" normally. It decides between rules 2 and 3.
	Gap ReasonCode

	user []jsonvalue.Member // the metadata of the input
	own  []jsonvalue.Member // and of its adapter
}

// Envelope binds a reading to the identity of in, with defaults for what in does
// not say; now is the reference clock. Errors have CodeSchemaInvalid: a reference that
// is missing, or anything beyond a published limit; and CodeInvalidArgument for a clock
// that has no written form where in says nothing of when it was observed.
func (in *Input) Envelope(r Reading, now time.Time) (Envelope, error) {
	if in.defect != nil {
		return Envelope{}, in.defect
	}
	env := Envelope{
		InputKind:     in.Kind,
		ToolName:      in.ToolName,
		ToolCallID:    in.ToolCallID,
		ObservationID: in.ObservationID,
		SourceRef:     in.SourceRef,
		TargetRef:     in.TargetRef,
		ObservedAt:    in.ObservedAt,
		ContentHash:   r.ContentHash,
		SourceVersion: in.SourceVersion,
		EvidenceRefs:  in.EvidenceRefs,
		Transport:     r.Transport,
		Gap:           in.Gap,
		user:          in.Metadata,
		own:           r.own,
	}
	if env.ToolName == "" {
		env.ToolName = "unspecified-tool"
	}
	if env.ObservationID == "" {
		env.ObservationID = r.observationID()
	}
	if env.ToolCallID == "" {
		env.ToolCallID = r.toolCallID()
	}
	if env.ObservedAt == "" {
		var ok bool
		if env.ObservedAt, ok = formatClock(now); !ok {
			return Envelope{}, errorf(CodeInvalidArgument, "the clock is outside of the years 1 to 9999 in UTC")
		}
	}
	if in.late != nil {
		return Envelope{}, in.late
	}
	if in.Kind == KindClaimOnly {
		if env.SourceRef == "" {
			env.SourceRef = "local://claim"
		}
		if env.TargetRef == "" {
			env.TargetRef = "unknown-target"
		}
	}
	env.ProtocolConflict = env.conflict()
	if err := env.check(); err != nil {
		return Envelope{}, err
	}
	return env, nil
}

// check holds env to the published limits.
func (env *Envelope) check() error {
	for _, f := range [...]struct {
		name, text string
		limit      int
	}{
		{"source_ref", env.SourceRef, maxRef},
		{"target_ref", env.TargetRef, maxRef},
		{"tool_name", env.ToolName, maxName},
		{"tool_call_id", env.ToolCallID, maxName},
		{"observation_id", env.ObservationID, maxName},
		{"observed_at", env.ObservedAt, maxObservedAt},
	} {
		if err := checkText(f.name, f.text, f.limit); err != nil {
			return err
		}
	}
	if env.SourceVersion != nil {
		if err := checkText("source_version", *env.SourceVersion, maxName); err != nil {
			return err
		}
	}
	if len(env.EvidenceRefs) > maxEvidenceRefs {
		return errorf(CodeSchemaInvalid, "evidence_refs must have at most %d entries", maxEvidenceRefs)
	}
	for _, ref := range env.EvidenceRefs {
		if err := checkText("evidence_refs", ref, maxEvidenceRef); err != nil {
			return err
		}
	}
	if len(env.user) > 0 && len(env.Metadata()) > maxMetadata {
		return errorf(CodeSchemaInvalid, "metadata must have at most %d entries", maxMetadata)
	}
	return nil
}

func checkText(name, text string, limit int) error {
	switch {
	case text == "":
		return errorf(CodeSchemaInvalid, "%s must be a non-empty string", name)
	case tooLong(text, limit):
		return errorf(CodeSchemaInvalid, "%s must have at most %d characters", name, limit)
	case !utf8.ValidString(text):
		return errorf(CodeSchemaInvalid, "%s is not UTF-8", name)
	}
	return nil
}

// tooLong reports whether text has more than limit characters.
func tooLong(text string, limit int) bool {
	return len(text) > limit && utf8.RuneCountInString(text) > limit
}

// Metadata returns the metadata: the input's kind, then the user's scalars,
// which may replace it, then what the adapter found, which replaces both.
func (env *Envelope) Metadata() []jsonvalue.Member {
	all := make([]jsonvalue.Member, 0, 1+len(env.user)+len(env.own))
	at := make(map[string]int, cap(all))
	put := func(m jsonvalue.Member) {
		if i, ok := at[m.Key]; ok {
			all[i] = m
			return
		}
		at[m.Key] = len(all)
		all = append(all, m)
	}
	put(jsonvalue.Member{Key: "input_kind", Value: jsonvalue.String(env.InputKind.String())})
	for _, m := range env.user {
		put(m)
	}
	for _, m := range env.own {
		put(m)
	}
	return all
}

func (env *Envelope) conflict() bool {
	for _, m := range env.own {
		if m.Key == "protocol_conflict" {
			return m.Value.Bool()
		}
	}
	for i := len(env.user) - 1; i >= 0; i-- {
		if m := env.user[i]; m.Key == "protocol_conflict" {
			return m.Value.Bool()
		}
	}
	return false
}
