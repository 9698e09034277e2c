// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"slices"
	"time"
)

// Rejected is what a fixture expects of an input that is refused: there is no
// decision then, and its reason is an ErrorCode.
const Rejected Decision = "rejected"

// Outcome is a decision, or a refusal, with its reasons.
type Outcome struct {
	Decision    Decision
	TruthState  TruthState // "" if rejected
	ReasonCodes []string
}

// Equal reports whether two outcomes are the same.
func (o Outcome) Equal(p Outcome) bool {
	return o.Decision == p.Decision && o.TruthState == p.TruthState && slices.Equal(o.ReasonCodes, p.ReasonCodes)
}

// Fixture is a self-contained case: an input, a contract, and what is expected.
type Fixture struct {
	Name      string
	ClaimType ClaimType
	Input     Value
	Expected  Outcome

	contract Value
	bound    bool // there is a contract
}

var fixtureKeys = []string{"fixture_version", "name", "claim_type", "contract", "input", "expected"}

// DecodeFixture reads a fixture. Its input and contract are only read when it is
// replayed, for that is what it is about. Errors have CodeSchemaInvalid.
func DecodeFixture(doc Value) (*Fixture, error) {
	invalid := func(path, format string, args ...any) (*Fixture, error) {
		return nil, errorf(CodeSchemaInvalid, format, args...).at(path)
	}
	if doc.Kind() != ObjectKind {
		return invalid("", "a fixture must be an object, not %s", doc.Kind())
	}
	if v, _ := doc.Get("fixture_version"); !Equal(v, Int(1)) || v.Kind() != IntKind {
		return invalid("fixture_version", "fixture_version must be 1")
	}
	for i := range doc.Len() {
		if key, _ := doc.Member(i); !slices.Contains(fixtureKeys, key) {
			return invalid(key, "fixture has an unknown key")
		}
	}
	f := new(Fixture)
	name, _ := doc.Get("name")
	if f.Name = name.Text(); f.Name == "" {
		return invalid("name", "name must be a non-empty string")
	}
	claim, _ := doc.Get("claim_type")
	if f.ClaimType = ClaimType(claim.Text()); !f.ClaimType.Valid() {
		return invalid("claim_type", "claim_type must be one of found, not_found, read_complete, effect_observed, task_complete")
	}
	f.contract, _ = doc.Get("contract")
	f.bound = !f.contract.IsNull()
	if of, ok := f.contract.Get("claim_type"); ok && of.Text() != string(f.ClaimType) {
		return invalid("claim_type", "claim_type must be the contract's")
	}
	if f.Input, _ = doc.Get("input"); f.Input.Kind() != ObjectKind {
		return invalid("input", "input must be an object")
	}
	expected, _ := doc.Get("expected")
	if expected.Kind() != ObjectKind {
		return invalid("expected", "expected must be an object")
	}
	decision, _ := expected.Get("decision")
	state, stated := expected.Get("truth_state")
	f.Expected = Outcome{Decision: Decision(decision.Text()), TruthState: TruthState(state.Text())}
	switch f.Expected.Decision {
	case Sealed, Blocked:
		if state.Text() == "" {
			return invalid("expected.truth_state", "truth_state must be a non-empty string")
		}
	case Rejected:
		if stated && !state.IsNull() {
			return invalid("expected.truth_state", "an input that is rejected has no truth_state")
		}
	default:
		return invalid("expected.decision", "decision must be one of sealed, blocked, rejected")
	}
	reasons, _ := expected.Get("reason_codes")
	if reasons.Kind() != ArrayKind || reasons.Len() == 0 {
		return invalid("expected.reason_codes", "reason_codes must be a list with a reason")
	}
	for i := range reasons.Len() {
		r := reasons.Index(i)
		if r.Text() == "" {
			return invalid("expected.reason_codes", "reason_codes must be strings")
		}
		f.Expected.ReasonCodes = append(f.Expected.ReasonCodes, r.Text())
	}
	return f, nil
}

// Contract reads the fixture's contract.
func (f *Fixture) Contract() (*Contract, error) { return DecodeContract(f.contract) }

// Replay decides the fixture's case at the given time. The report is empty if
// the input was rejected.
func (f *Fixture) Replay(now time.Time, redact []string) (Outcome, Report) {
	report, err := f.report(now, redact)
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			e = errorf(CodeSchemaInvalid, "%s", err)
		}
		return Outcome{Decision: Rejected, ReasonCodes: []string{string(e.Code)}}, Report{}
	}
	o := Outcome{Decision: report.Evaluation.Decision, TruthState: report.Evaluation.TruthState}
	for _, r := range report.Evaluation.ReasonCodes {
		o.ReasonCodes = append(o.ReasonCodes, string(r))
	}
	return o, report
}

func (f *Fixture) report(now time.Time, redact []string) (Report, error) {
	if !f.bound {
		// A case about reading needs no contract.
		in, err := DecodeInput(f.Input)
		if err != nil {
			return Report{}, err
		}
		if _, err := in.Read(); err != nil {
			return Report{}, err
		}
	}
	c, err := f.Contract()
	if err != nil {
		return Report{}, err
	}
	return c.Check(f.Input, now, redact)
}
