// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

// SemanticsVersion is the version of the ResultSeal semantics that this package
// implements. It stands on every record.
const SemanticsVersion = "0.1.3"

// Decision is what a record says: whether the claim may be relied on.
type Decision string

const (
	Sealed  Decision = "sealed"
	Blocked Decision = "blocked"
)

// TruthState says what is known about the observation.
type TruthState string

const (
	StateObserved         TruthState = "observed"          // seen, nothing more is known
	StateComplete         TruthState = "complete"          // part of the published vocabulary; no rule says it
	StateEmpty            TruthState = "empty"             // the result says nothing
	StateNotFound         TruthState = "not_found"         // the result says explicitly that there is nothing
	StatePartial          TruthState = "partial"           // a required field is missing
	StateStale            TruthState = "stale"             // too old, or from the future
	StateSourceMismatch   TruthState = "source_mismatch"   // from another source, or about another target
	StateUnverifiedEffect TruthState = "unverified_effect" // an effect was claimed and nothing proves it
	StateParseError       TruthState = "parse_error"       // the result cannot be read
	StateUnknown          TruthState = "unknown"           // nothing can be said
	StateSealed           TruthState = "sealed"            // the claim holds
)

// Valid reports whether s is one of the published truth states.
func (s TruthState) Valid() bool {
	switch s {
	case StateObserved, StateComplete, StateEmpty, StateNotFound, StatePartial, StateStale,
		StateSourceMismatch, StateUnverifiedEffect, StateParseError, StateUnknown, StateSealed:
		return true
	}
	return false
}

// ReasonCode says why a decision was made.
type ReasonCode string

const (
	ReasonSealed               ReasonCode = "SEALED_WITH_REQUIRED_EVIDENCE"
	ReasonNoDispatch           ReasonCode = "NO_DISPATCH"
	ReasonTransportFailed      ReasonCode = "TRANSPORT_FAILED"
	ReasonParseFailed          ReasonCode = "PARSE_FAILED"
	ReasonProtocolConflict     ReasonCode = "PROTOCOL_CONFLICT"
	ReasonEmptyWithoutSentinel ReasonCode = "EMPTY_WITHOUT_NOT_FOUND_SENTINEL"
	ReasonSourceMismatch       ReasonCode = "SOURCE_MISMATCH"
	ReasonTargetMismatch       ReasonCode = "TARGET_MISMATCH"
	ReasonMissingRequiredField ReasonCode = "MISSING_REQUIRED_FIELD"
	ReasonStaleObservation     ReasonCode = "STALE_OBSERVATION"
	ReasonSchemaInvalid        ReasonCode = "SCHEMA_INVALID"
	ReasonUnverifiedEffect     ReasonCode = "UNVERIFIED_EFFECT"

	// The following extend the published list: what telemetry did not record
	// proves nothing, so it is neither a failure nor an empty result.

	// ReasonResultNotCaptured: the call was made, its result was not recorded.
	ReasonResultNotCaptured ReasonCode = "RESULT_NOT_CAPTURED"
	// ReasonResultTruncated: the recorded result breaks off.
	ReasonResultTruncated ReasonCode = "RESULT_TRUNCATED"
	// ReasonArgumentsNotCaptured: the claim is about arguments that were not recorded.
	ReasonArgumentsNotCaptured ReasonCode = "ARGUMENTS_NOT_CAPTURED"
)

// ClaimType says what an agent claims about a tool's result.
type ClaimType string

const (
	ClaimFound          ClaimType = "found"           // it is there
	ClaimNotFound       ClaimType = "not_found"       // it is not there
	ClaimReadComplete   ClaimType = "read_complete"   // all of it was read
	ClaimEffectObserved ClaimType = "effect_observed" // the change has happened
	ClaimTaskComplete   ClaimType = "task_complete"   // the task is done
)

// Valid reports whether c is one of the published claim types.
func (c ClaimType) Valid() bool {
	switch c {
	case ClaimFound, ClaimNotFound, ClaimReadComplete, ClaimEffectObserved, ClaimTaskComplete:
		return true
	}
	return false
}

// effect reports whether c claims that something was changed.
func (c ClaimType) effect() bool { return c == ClaimEffectObserved || c == ClaimTaskComplete }

// FreshnessMode says how old an observation may be.
type FreshnessMode string

const (
	FreshnessNotRequired   FreshnessMode = "not_required"
	FreshnessSourceVersion FreshnessMode = "source_version"
	FreshnessMaxAge        FreshnessMode = "max_age_seconds"
)

// TransportState says how far the call came.
type TransportState uint8

const (
	// Attempted: the agent said that it made a call.
	Attempted TransportState = iota
	// Dispatched: the call was sent and no answer came.
	Dispatched
	// Transported: an answer came.
	Transported
	// TransportError: the call failed on its way, or its answer says that it failed.
	TransportError
)

func (t TransportState) String() string {
	switch t {
	case Attempted:
		return "attempted"
	case Dispatched:
		return "dispatched"
	case Transported:
		return "transported"
	}
	return "transport_error"
}

// InputKind names the form that a tool's result has.
type InputKind uint8

const (
	// KindJSON: a body, parsed if it is a string.
	KindJSON InputKind = iota
	// KindText: a body that is a string and is the payload itself. An extension.
	KindText
	// KindHTTPJSON: a status code and a body.
	KindHTTPJSON
	// KindMCP: a result object of the Model Context Protocol.
	KindMCP
	// KindStdio: an exit code and standard output.
	KindStdio
	// KindYAML: a YAML text.
	KindYAML
	// KindClaimOnly: a claim and no call at all.
	KindClaimOnly
)

var inputKindNames = [...]string{"json", "text", "http_json", "mcp", "stdio", "yaml", "claim_only"}

func (k InputKind) String() string {
	if int(k) < len(inputKindNames) {
		return inputKindNames[k]
	}
	return "invalid"
}

// ParseInputKind returns the kind of the given published name.
func ParseInputKind(name string) (InputKind, bool) {
	for k, n := range inputKindNames {
		if n == name {
			return InputKind(k), true
		}
	}
	return 0, false
}
