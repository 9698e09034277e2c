// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// Rejected is the decision that a fixture expects if its input or contract must
// be refused: there is no decision then, and the reason is an ErrorCode.
const Rejected Decision = "rejected"

// Outcome is a decision, or a refusal, with its reasons.
type Outcome struct {
	Decision    Decision
	TruthState  TruthState // "" if rejected, and in an expectation if any will do
	ReasonCodes []string
}

// Meets reports whether o is as expected: the decision is the same, the truth
// state too if one is expected, and every expected reason is there, in any order
// and perhaps among others. The reason of a refusal also stands for the code that
// it specializes: LIMIT_EXCEEDED for UNSAFE_INPUT, and the codes of other invalid
// input for SCHEMA_INVALID.
func (o Outcome) Meets(expected Outcome) bool {
	if o.Decision != expected.Decision || expected.TruthState != "" && o.TruthState != expected.TruthState {
		return false
	}
	reasons := o.ReasonCodes
	if o.Decision == Rejected {
		reasons = slices.Clone(reasons)
		for _, r := range o.ReasonCodes {
			reasons = append(reasons, string(ErrorCode(r).general()))
		}
	}
	for _, r := range expected.ReasonCodes {
		if !slices.Contains(reasons, r) {
			return false
		}
	}
	return true
}

// Fixture is a self-contained case: an input, a contract, and the expected outcome.
type Fixture struct {
	Name      string
	ClaimType ClaimType // a hint for readers; "" if there is none
	Input     jsonvalue.Value
	Expected  Outcome

	bound       bool // there is a contract
	contract    *Contract
	contractErr error // kept only where a rejection is expected, for it may be the reason
}

const maxFixtureName = 256

var (
	fixtureKeys     = []string{"fixture_version", "name", "input", "expected", "claim_type", "contract"}
	expectationKeys = []string{"decision", "truth_state", "reason_codes"}
)

// fixtureMust is how many of fixtureKeys a fixture must have.
const fixtureMust = 4

// DecodeFixture reads a fixture. Errors have CodeContractInvalid, or the code of an
// invalid contract in it. The input is read when the fixture is replayed, and so is
// the contract of a fixture that expects a rejection: they may be invalid on purpose.
func DecodeFixture(doc jsonvalue.Value) (*Fixture, error) {
	invalid := func(path, format string, args ...any) (*Fixture, error) {
		return nil, errorf(CodeContractInvalid, format, args...).at(path)
	}
	get := func(key string) jsonvalue.Value {
		v, _ := doc.Get(key)
		return v
	}
	if doc.Kind() != jsonvalue.ObjectKind {
		return invalid("", "a fixture must be an object, not %s", doc.Kind())
	}
	if key, ok := unknownKey(doc, fixtureKeys); !ok {
		return invalid(key, "a fixture must not have this key")
	}
	for _, key := range fixtureKeys[:fixtureMust] {
		if _, ok := doc.Get(key); !ok {
			return invalid("", "fixture lacks %s", key)
		}
	}
	if v := get("fixture_version"); !v.Bool() && !jsonvalue.Equal(v, jsonvalue.Int(1)) { // the reference takes true and 1.0 for 1
		return invalid("fixture_version", "fixture_version must be 1")
	}
	f := new(Fixture)
	if f.Name = get("name").Text(); f.Name == "" || tooLong(f.Name, maxFixtureName) {
		return invalid("name", "name must be a string of 1 to %d characters", maxFixtureName)
	}
	if claim := get("claim_type"); !claim.IsNull() {
		if f.ClaimType = ClaimType(claim.Text()); !f.ClaimType.Valid() {
			return invalid("claim_type", "claim_type must be one of found, not_found, read_complete, effect_observed, task_complete")
		}
	}
	decision, _ := get("expected").Get("decision")
	if contract := get("contract"); !contract.IsNull() {
		f.bound = true
		if f.contract, f.contractErr = DecodeContract(contract); f.contractErr != nil && decision.Text() != string(Rejected) {
			e := *coded(f.contractErr)
			return nil, e.at(strings.TrimSuffix("contract."+e.Path, "."))
		}
	}
	if f.Input = get("input"); f.Input.Kind() != jsonvalue.ObjectKind {
		return invalid("input", "input must be an object")
	}
	if err := f.decodeExpected(get("expected")); err != nil {
		return nil, err
	}
	return f, nil
}

func (f *Fixture) decodeExpected(v jsonvalue.Value) error {
	invalid := func(path, format string, args ...any) error {
		return errorf(CodeContractInvalid, format, args...).at(path)
	}
	if v.Kind() != jsonvalue.ObjectKind {
		return invalid("expected", "expected must be an object")
	}
	if key, ok := unknownKey(v, expectationKeys); !ok {
		return invalid(strings.TrimSuffix("expected."+key, "."), "expected must not have this key")
	}
	decision, _ := v.Get("decision")
	switch f.Expected.Decision = Decision(decision.Text()); f.Expected.Decision {
	case Sealed, Blocked, Rejected:
	default:
		return invalid("expected.decision", "decision must be one of sealed, blocked, rejected")
	}
	if state, _ := v.Get("truth_state"); !state.IsNull() {
		if f.Expected.TruthState = TruthState(state.Text()); !f.Expected.TruthState.Valid() {
			return invalid("expected.truth_state", "truth_state is none of the published ones")
		}
	}
	reasons, _ := v.Get("reason_codes")
	if reasons.IsNull() {
		return nil
	}
	if reasons.Kind() != jsonvalue.ArrayKind {
		return invalid("expected.reason_codes", "reason_codes must be a list")
	}
	for i := range reasons.Len() {
		r := reasons.Index(i)
		if r.Kind() != jsonvalue.StringKind {
			return invalid("expected.reason_codes", "reason_codes must be strings")
		}
		f.Expected.ReasonCodes = append(f.Expected.ReasonCodes, r.Text())
	}
	return nil
}

// Contract returns the contract of the fixture, nil if it has none or, where a
// rejection is expected, an invalid one.
func (f *Fixture) Contract() *Contract { return f.contract }

// Replay decides the fixture's case at the given time. The report is empty if the
// outcome is a rejection, as the fixture expects. The error is that of a fixture
// that cannot be replayed: its input is refused and it expects a decision, or it has
// no contract to decide by.
func (f *Fixture) Replay(now time.Time, redact []string) (Outcome, Report, error) {
	report, err := f.report(now, redact)
	switch {
	case err != nil && f.Expected.Decision != Rejected:
		return Outcome{}, Report{}, err
	case err != nil:
		return Outcome{Decision: Rejected, ReasonCodes: []string{string(coded(err).Code)}}, Report{}, nil
	case !f.bound:
		return Outcome{}, Report{}, errorf(CodeSchemaInvalid, "the fixture expects a rejection, and its input is accepted").at("input")
	}
	o := Outcome{Decision: report.Evaluation.Decision, TruthState: report.Evaluation.TruthState}
	for _, r := range report.Evaluation.ReasonCodes {
		o.ReasonCodes = append(o.ReasonCodes, string(r))
	}
	return o, report, nil
}

func (f *Fixture) report(now time.Time, redact []string) (Report, error) {
	switch {
	case f.contractErr != nil:
		return Report{}, f.contractErr
	case f.bound:
		return f.contract.Check(f.Input, now, redact)
	case f.Expected.Decision != Rejected:
		return Report{}, errorf(CodeSchemaInvalid, "the fixture has no contract and cannot be replayed")
	}
	// A case about refusing an input needs no contract.
	in, err := DecodeInput(f.Input)
	if err != nil {
		return Report{}, err
	}
	reading, err := in.Read()
	if err != nil {
		return Report{}, err
	}
	_, err = in.Envelope(reading, now)
	return Report{}, err
}

// coded returns the Error that an error is, or wraps.
func coded(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		e = errorf(CodeSchemaInvalid, "%s", err)
	}
	return e
}
