// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package engine decides whether what a tool returned supports what an agent says
// about it.
//
// Agents rest claims on tool results: the customer was found, there is no such
// order, the mail was sent. A result can look well and support nothing: it may be
// empty, about another record, a revision behind, cut off, or an error that came
// with status 200. A contract says what a result must contain for a claim about
// it to hold. This package holds results against contracts and states each
// decision in a record that anyone can compute again.
//
// # The model
//
//	Input --Read--> Reading --Envelope--> Envelope + Payload
//	                                          |
//	                    Contract, clock --Evaluate--> Evaluation --NewRecord--> Record
//
// An Input is a tool's result in the form in which it came (JSON, an HTTP answer, a
// result of the Model Context Protocol, the output of a command, YAML, or no call at
// all), with what is known about where it came from. Reading it gives a Payload,
// which is what it says, a TransportState, which is how far the call came, and a hash
// of what was observed. The Envelope binds that to an identity: which tool, from what
// source, about what target, when and in what version. A Contract and a clock turn it
// into an Evaluation: a decision, sealed or blocked, a truth state and the reasons. A
// Record states it with a fingerprint of itself.
//
// Everything here is pure. There is no clock, no file, no network and no environment;
// what is given is all that counts, so the same input gives the same record, byte for
// byte, everywhere. The decisions are those of the ResultSeal semantics, version
// SemanticsVersion, and are held to measured answers of their reference; what goes
// beyond them is marked as an extension.
//
// # The ten rules
//
// The rules are tried in order, and the first that fails decides. Evaluate, in
// rules.go, is the same list as code.
//
//  1. The call was made and answered. What an agent merely says it did
//     (Attempted), or did and got no answer to (Dispatched), is unknown: NO_DISPATCH.
//
//  2. The call did not fail. An HTTP status outside 200 to 399, a command's exit
//     code other than 0, a tool that threw: unknown, TRANSPORT_FAILED, whatever the
//     answer's body looks like. A 404 proves no absence; a wrong path gives the same.
//
//  3. The answer can be read. A body that is text must be JSON, unless it is empty;
//     otherwise parse_error, PARSE_FAILED.
//
//  4. The answer does not contradict itself. A result marked as an error, or one of
//     which another copy says something else: unknown, PROTOCOL_CONFLICT. Only the
//     metadata protocol_conflict with the value true counts.
//
//  5. The answer says something, and absence is said in the agreed words. An answer
//     is unusable if it is null, "", {} or []; 0, false, [[]] and {"a":null} are
//     answers. A contract may name a sentinel: a text that stands for "there is
//     nothing" if the whole answer, or one of its top-level values, is exactly that
//     text. A claim of absence (not_found) needs the sentinel; any other claim needs
//     an answer that is usable, or the sentinel. Otherwise EMPTY_WITHOUT_NOT_FOUND_SENTINEL,
//     in state empty, or in state observed where the answer was usable but not the
//     sentinel. An empty list is no proof of absence: an outage gives the same.
//
//  6. The answer is from the source, and about the target, of the contract. They are
//     compared as texts; source_mismatch, SOURCE_MISMATCH and TARGET_MISMATCH, both if
//     both differ.
//
//  7. The answer is fresh, in the way that the contract asks for. By version: the
//     answer's source version is not before the contract's in natural order (rev-10 is
//     after rev-9); without a version unknown, MISSING_REQUIRED_FIELD and
//     STALE_OBSERVATION. By age: it was observed no longer ago than the limit, and not
//     in the future by any amount; a time that cannot be read, or has no offset from
//     UTC, is unknown, SCHEMA_INVALID. What is too old is stale, STALE_OBSERVATION.
//
//  8. The answer has the required fields: top-level keys, whose value may be null.
//     An answer that is no object has none. partial, MISSING_REQUIRED_FIELD.
//
//  9. An effect has evidence. For the claims effect_observed and task_complete a
//     contract may require a reference to something besides the answer, such as a
//     message id or an audit entry: unverified_effect, UNVERIFIED_EFFECT.
//
//  10. All of this holds: the claim is sealed, SEALED_WITH_REQUIRED_EVIDENCE, in state
//     not_found for a claim of absence and else sealed.
//
// The order is what keeps a decision honest. That no call was made says more than what
// it answered; that it failed says more than what its body looks like; what it is
// about comes before how complete it is.
//
// Between rules 2 and 3 stands an extension for telemetry: what an instrumentation did
// not record (Envelope.Gap) is unknown, neither failed nor empty.
//
// # Refusals
//
// An input that is refused is neither sealed nor blocked; there is an Error with a
// code instead. SCHEMA_INVALID: wrong shape, or a value that cannot be hashed.
// PARSE_FAILED: no JSON, no YAML. CONTRACT_INVALID: a contract that none may be.
// INVALID_ARGUMENT: a clock that cannot be read. UNSAFE_INPUT: YAML that could do more
// than state values. LIMIT_EXCEEDED: too large. The last two have exit status 3, the
// others 2.
//
// No input makes this package panic, or recurse deeply, or take more than linear time
// but for sorting keys.
//
// # Values, hashes and limits
//
// Hashes are taken of the canonical form of a value; see package jsonvalue. Numbers that
// are not finite are read and have none.
//
// A document (an adapter document, a contract, a fixture) has at most 131,072 bytes, 32
// levels, 4,096 values and keys, and texts of 16,384 characters. JSON text inside a
// result is not held to these but to the limits of package jsonvalue.
//
// # The reference
//
// Decisions, records, hashes and error codes are those of the published reference,
// version 0.1.3, with Python 3.11. These differences are intended:
//
//   - Half of a surrogate pair is refused where it is read: SCHEMA_INVALID, or
//     PARSE_FAILED in text that a tool returned. The reference goes on with it until it
//     is hashed or printed.
//   - An unquoted YAML time in observed_at counts as it is written. The reference
//     replaces it by the clock, so that an old observation becomes fresh.
//   - Where the reference ends with an exception, there is an error: UNSAFE_INPUT for a
//     YAML construct that no data needs, PARSE_FAILED for a YAML scalar or document that
//     cannot be read, LIMIT_EXCEEDED for nesting or digits beyond its limits,
//     SCHEMA_INVALID for a kind that is a collection, CONTRACT_INVALID for a key of a
//     contract that is no string, INVALID_ARGUMENT for a clock that cannot be written.
//     Digits that are not decimal are text in a version.
//   - YAML that nobody writes is rejected in some cases that package yaml11 lists, or
//     rejected with another code.
//   - A fixture that expects a rejection matches if there is one. The reference ends
//     with the error of the rejection.
//
// # Fixtures
//
// A Fixture is an input with a contract and what is expected of them. Those in the
// project's fixtures folder show every rule alone, every two rules whose order
// matters, and what real backends answer where nothing matched.
package engine
