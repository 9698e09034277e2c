// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package describe has a sentence for each code that a verdict can carry. Every
// report and explanation takes its sentences from here.
package describe

import "github.com/resultseal/otelcol-resultseal/internal/score"

// Gaps maps the name of each gap to a sentence.
var Gaps = func() map[string]string {
	words := map[string]string{}
	for _, g := range score.AllGaps() {
		words[g.String()] = g.Reason()
	}
	return words
}()

// Reasons maps each reason code to a sentence.
var Reasons = map[string]string{
	"SEALED_WITH_REQUIRED_EVIDENCE":    "The result holds everything that the contract requires.",
	"NO_DISPATCH":                      "The model asked for the call, and it was never run.",
	"TRANSPORT_FAILED":                 "The call failed, so whatever came back proves nothing.",
	"PARSE_FAILED":                     "The result cannot be read in the form that the contract names, or is a text where the contract reads members.",
	"PROTOCOL_CONFLICT":                "The result says of itself that it failed, contradicts itself, or the model was shown something else than the tool returned.",
	"EMPTY_WITHOUT_NOT_FOUND_SENTINEL": "The result is empty, or is not the answer that stands for \"not found\", so nothing follows from it.",
	"SOURCE_MISMATCH":                  "The result comes from another source than the contract names.",
	"TARGET_MISMATCH":                  "The result is about something else than was asked for.",
	"MISSING_REQUIRED_FIELD":           "The result lacks something that the contract requires.",
	"STALE_OBSERVATION":                "The result is older than the contract allows, or comes from the future.",
	"SCHEMA_INVALID":                   "The claim cannot be bound to what was asked, or a time or a reference cannot be read.",
	"UNVERIFIED_EFFECT":                "The tool says that it did it, and nothing that it returned proves that.",
	"RESULT_NOT_CAPTURED":              "The telemetry does not hold the result. The instrumentation has to record content.",
	"RESULT_TRUNCATED":                 "The recorded result breaks off, so what lies behind the cut is not known.",
	"ARGUMENTS_NOT_CAPTURED":           "The telemetry does not hold the arguments that the claim is about.",
}

// Verdicts maps each compliance of a protocol to a sentence.
var Verdicts = map[string]string{
	"unjudged":     "No event of the protocol occurred, so it was not evaluated.",
	"compliant":    "The agent kept to the protocol.",
	"incomplete":   "The agent kept to the protocol as far as it went, and ended before the protocol does.",
	"unrecognized": "Something happened that the protocol cannot classify.",
	"inconclusive": "The agent seems to have broken the protocol, but an event that the telemetry lacks could explain it.",
	"violation":    "The agent broke the protocol, whatever the telemetry lacks.",
}

// States maps each truth state to a phrase.
var States = map[string]string{
	"observed":          "seen, and nothing more is known",
	"complete":          "complete",
	"empty":             "the result says nothing",
	"not_found":         "the result says explicitly that there is nothing",
	"partial":           "something that is required is missing",
	"stale":             "too old, or from the future",
	"source_mismatch":   "from elsewhere, or about something else",
	"unverified_effect": "claimed, and not proved",
	"parse_error":       "cannot be read",
	"unknown":           "nothing can be said",
	"sealed":            "the claim holds",
}
