// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// Evaluation is what the rules say about one observation.
type Evaluation struct {
	Decision   Decision
	TruthState TruthState
	// ReasonCodes is shared between evaluations and must not be changed.
	ReasonCodes []ReasonCode
	// MissingFields are the required fields that rule 8 missed, in contract order.
	MissingFields []string
}

// Evaluate applies the ten rules, of which the first that fails decides. The
// order is the argument: whether a call was made at all comes before what it
// answered, whether it answered before about what, and only then how old and how
// complete the answer is. now is the reference clock.
func (c *Contract) Evaluate(env *Envelope, p Payload, now time.Time) Evaluation {
	// 1. A call that was not made, or not answered, proves nothing.
	if env.Transport == Attempted || env.Transport == Dispatched {
		return blocked(StateUnknown, ReasonNoDispatch)
	}

	// 2. A call that failed proves nothing, whatever its answer looks like.
	if env.Transport == TransportError {
		return blocked(StateUnknown, ReasonTransportFailed)
	}

	// What was not recorded is not known: neither failed nor empty. But a known
	// contradiction stays one. (An extension.)
	switch {
	case env.Gap != "" && env.ProtocolConflict:
		return blocked(StateUnknown, ReasonProtocolConflict)
	case env.Gap != "":
		return blocked(StateUnknown, env.Gap)
	}

	// 3. An answer that cannot be read says nothing.
	if !p.Parsed {
		return blocked(StateParseError, ReasonParseFailed)
	}

	// 4. An answer that contradicts itself cannot be relied on.
	if env.ProtocolConflict {
		return blocked(StateUnknown, ReasonProtocolConflict)
	}

	// 5. Nothing is proof of absence except the answer that stands for it. An
	// empty answer is no such answer, and neither is any other.
	absent := c.sentinelMatches(p.Value)
	switch {
	case !absent && !p.Value.Usable():
		return blocked(StateEmpty, ReasonEmptyWithoutSentinel)
	case !absent && c.ClaimType == ClaimNotFound:
		return blocked(StateObserved, ReasonEmptyWithoutSentinel)
	}

	// 6. An answer from elsewhere, or about something else, is no answer.
	switch source, target := env.SourceRef == c.SourceRef, env.TargetRef == c.TargetRef; {
	case !source && !target:
		return blockedFor(StateSourceMismatch, bothMismatch)
	case !source:
		return blocked(StateSourceMismatch, ReasonSourceMismatch)
	case !target:
		return blocked(StateSourceMismatch, ReasonTargetMismatch)
	}

	// 7. An answer that is too old is about the past, and one from the future is
	// not to be believed.
	if state, reasons := c.freshness(env, now); reasons != nil {
		return blockedFor(state, reasons)
	}

	// 8. An answer without what was asked for is not the whole answer.
	if missing := c.missingFields(p.Value); missing != nil {
		e := blocked(StatePartial, ReasonMissingRequiredField)
		e.MissingFields = missing
		return e
	}

	// 9. An effect needs evidence besides the answer that claims it.
	if c.ClaimType.effect() && c.EffectEvidenceRequired && len(env.EvidenceRefs) == 0 {
		return blocked(StateUnverifiedEffect, ReasonUnverifiedEffect)
	}

	// 10. Everything that was required is there.
	state := StateSealed
	if c.ClaimType == ClaimNotFound {
		state = StateNotFound
	}
	return Evaluation{Decision: Sealed, TruthState: state, ReasonCodes: sealedReason}
}

// sentinelMatches reports whether the payload, or one top-level value of it, is
// the text that the source uses to say that there is nothing.
func (c *Contract) sentinelMatches(v jsonvalue.Value) bool {
	if c.NotFoundSentinel == nil {
		return false
	}
	is := func(v jsonvalue.Value) bool {
		return v.Kind() == jsonvalue.StringKind && v.Text() == *c.NotFoundSentinel
	}
	if v.Kind() == jsonvalue.ObjectKind {
		for i := range v.Len() {
			if _, member := v.Member(i); is(member) {
				return true
			}
		}
	}
	return is(v)
}

// freshness is rule 7. Reasons are nil if the observation is fresh.
func (c *Contract) freshness(env *Envelope, now time.Time) (TruthState, []ReasonCode) {
	switch c.Freshness.Mode {
	case FreshnessSourceVersion:
		switch {
		case env.SourceVersion == nil:
			return StateUnknown, versionMissing
		case c.MinSourceVersion != nil && CompareVersions(*env.SourceVersion, *c.MinSourceVersion) < 0:
			return StateStale, reason(ReasonStaleObservation)
		}
	case FreshnessMaxAge:
		observed, ok := observationTime(env.ObservedAt)
		if !ok {
			return StateUnknown, reason(ReasonSchemaInvalid)
		}
		if age := microseconds(now) - observed; age < 0 || age > c.Freshness.MaxAgeSeconds*1e6 {
			return StateStale, reason(ReasonStaleObservation)
		}
	}
	return "", nil
}

// missingFields are the required fields that are no top-level keys of v. A key
// with a null value is there; what is no object has no keys.
func (c *Contract) missingFields(v jsonvalue.Value) []string {
	var missing []string
	for _, field := range c.RequiredFields {
		if !v.Has(field) {
			missing = append(missing, field)
		}
	}
	return missing
}

func blocked(state TruthState, r ReasonCode) Evaluation { return blockedFor(state, reason(r)) }

func blockedFor(state TruthState, reasons []ReasonCode) Evaluation {
	return Evaluation{Decision: Blocked, TruthState: state, ReasonCodes: reasons}
}
