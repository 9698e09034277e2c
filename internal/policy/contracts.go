// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

var claimNames = []string{
	string(engine.ClaimFound), string(engine.ClaimNotFound), string(engine.ClaimReadComplete),
	string(engine.ClaimEffectObserved), string(engine.ClaimTaskComplete),
}

var freshnessNames = []string{
	string(engine.FreshnessNotRequired), string(engine.FreshnessSourceVersion), string(engine.FreshnessMaxAge),
}

// maxEvidenceRefs is the limit that the sealing semantics put on an observation.
const maxEvidenceRefs = 64

// contracts reads the list of contracts.
func (l *loader) contracts(a at) []*Contract {
	if isNull(a.node) {
		return nil
	}
	entries, ok := l.list(a, "a list of contracts")
	if !ok {
		return nil
	}
	var cs []*Contract
	taken := names{}
	for _, e := range entries {
		m, ok := l.mapping(
			e, withMetadata(
				"name", "match",
				"schema_version", "claim_type", "required_fields", "freshness", "min_source_version",
				"source_ref", "target_ref", "not_found_sentinel", "effect_evidence_required",
				"observation",
			)...,
		)
		if ok {
			c := l.contract(m, taken)
			c.Index = len(cs)
			cs = append(cs, c)
		}
	}
	return cs
}

// contract reads one contract.
func (l *loader) contract(m *mapping, taken names) *Contract {
	before := l.failures
	l.require(m, "name", "claim_type", "required_fields", "freshness", "source_ref", "target_ref")
	c := &Contract{
		Name:     l.name(m, taken),
		Metadata: l.metadata(m),
		Match:    l.match(m, "tools", "agents", "services"),
	}
	l.sealing(m, c)
	obs := l.observation(m, &c.Observation)
	if l.failures == before && !l.stopped {
		l.adviseContract(m, obs, c)
	}
	return c
}

// sealing reads the keys of the sealing contract. What may stand under each is
// the engine's to say: every value is tried in a contract that is right apart
// from it, so that each error has its place.
func (l *loader) sealing(m *mapping, c *Contract) {
	before := l.failures
	doc := trialContract()
	for i := range doc {
		a, given := m.get(doc[i].Key)
		if !given {
			if doc[i].Key == "min_source_version" {
				doc[i].Value = jsonvalue.Null() // it is optional; the trial needed one
			}
			continue
		}
		v, ok := l.sealingValue(a, doc[i].Key)
		if !ok {
			continue
		}
		if l.try(a, doc[i].Key, v) {
			doc[i].Value = v
		}
	}
	c.SourceRef = l.ref(m, "source_ref")
	c.TargetRef = l.ref(m, "target_ref")
	if l.failures > before || l.stopped || c.SourceRef == nil || c.TargetRef == nil {
		return
	}
	base, err := decodeContract(doc)
	if err != nil {
		// The keys are right, each by itself. All that is left is a freshness
		// that asks for another key.
		l.errorf(m.key("freshness"), "%s", err)
		return
	}
	c.Base = *base
	c.NeedsArguments = (c.SourceRef.Roots() | c.TargetRef.Roots()).Has(RootArguments)
}

// ref reads one of the contract's own refs.
func (l *loader) ref(m *mapping, key string) *Template {
	a, ok := m.get(key)
	if !ok {
		return nil
	}
	t, _ := pattern(l, a, ParseTemplate)
	return t
}

// trialContract returns a contract that is right, with every key in it.
func trialContract() []jsonvalue.Member {
	return []jsonvalue.Member{
		{Key: "schema_version", Value: jsonvalue.String("1")},
		{Key: "claim_type", Value: jsonvalue.String(string(engine.ClaimFound))},
		{Key: "required_fields", Value: jsonvalue.Array()},
		{Key: "freshness", Value: jsonvalue.Object(jsonvalue.Member{Key: "mode", Value: jsonvalue.String(string(engine.FreshnessNotRequired))})},
		{Key: "min_source_version", Value: jsonvalue.String("1")},
		{Key: "source_ref", Value: jsonvalue.String("source")},
		{Key: "target_ref", Value: jsonvalue.String("target")},
		{Key: "not_found_sentinel", Value: jsonvalue.Null()},
		{Key: "effect_evidence_required", Value: jsonvalue.Bool(false)},
	}
}

// try reports what the engine says about a value in a contract that is right
// apart from it; false if it refuses the contract.
func (l *loader) try(a at, key string, v jsonvalue.Value) bool {
	trial := trialContract()
	for i := range trial {
		if trial[i].Key == key {
			trial[i].Value = v
		}
	}
	_, err := decodeContract(trial)
	if err != nil {
		// An entry of a list is tried alone, so its place there says nothing.
		l.errorf(a, "%s", strings.Replace(err.Error(), key+"[0]", key, 1))
	}
	return err == nil
}

// decodeContract has the engine decide on a contract.
func decodeContract(doc []jsonvalue.Member) (*engine.Contract, error) {
	c, err := engine.DecodeContract(jsonvalue.Object(doc...))
	if err == nil {
		err = c.Validate()
	}
	var refused *engine.Error
	if errors.As(err, &refused) {
		return nil, errors.New(refused.Message)
	}
	return c, err
}

// sealingValue reads a value of the sealing contract, of the type that its key
// takes.
func (l *loader) sealingValue(a at, key string) (v jsonvalue.Value, ok bool) {
	switch key {
	case "min_source_version", "not_found_sentinel":
		if isNull(a.node) {
			return jsonvalue.Null(), true
		}
		return l.stringValue(a)
	case "claim_type":
		_, ok := l.choice(a, claimNames)
		if !ok {
			return v, false
		}
		return l.stringValue(a)
	case "effect_evidence_required":
		b, ok := l.boolean(a)
		return jsonvalue.Bool(b), ok
	case "required_fields":
		entries, ok := l.list(a, "a list of names")
		list := make([]jsonvalue.Value, len(entries))
		for i, e := range entries {
			s, good := l.stringValue(e)
			if good {
				good = l.try(e, key, jsonvalue.Array(s))
			}
			list[i] = s
			ok = ok && good
		}
		return jsonvalue.Array(list...), ok
	case "freshness":
		return l.freshness(a)
	default:
		return l.stringValue(a)
	}
}

func (l *loader) stringValue(a at) (jsonvalue.Value, bool) {
	a, ok := l.text(a)
	return jsonvalue.String(a.node.Value), ok
}

// freshness reads the mapping of that key.
func (l *loader) freshness(a at) (v jsonvalue.Value, ok bool) {
	m, ok := l.mapping(a, "mode", "max_age_seconds")
	if !ok {
		return v, false
	}
	var members []jsonvalue.Member
	mode, ok := m.get("mode")
	if !ok {
		l.errorf(m.at, "mode is missing")
		return v, false
	}
	if _, ok = l.choice(mode, freshnessNames); !ok {
		return v, false
	}
	mode, _ = l.resolve(mode)
	members = append(members, jsonvalue.Member{Key: "mode", Value: jsonvalue.String(mode.node.Value)})
	if age, given := m.get("max_age_seconds"); given && !isNull(age.node) {
		age, ok = l.scalar(age, "a whole number of seconds", "!!int")
		if !ok {
			return v, false
		}
		var n int64
		if err := age.node.Decode(&n); err != nil {
			l.errorf(age, "the number is out of range")
			return v, false
		}
		members = append(members, jsonvalue.Member{Key: "max_age_seconds", Value: jsonvalue.Int(n)})
		// Tried here because the error belongs to the number, not to the mapping.
		if !l.try(age, "freshness", jsonvalue.Object(members...)) {
			return v, false
		}
	}
	return jsonvalue.Object(members...), true
}

// observation reads how the observation is read, and returns the mapping that
// says so, an empty one if there is none.
func (l *loader) observation(contract *mapping, o *Observation) *mapping {
	a, ok := contract.get("observation")
	if !ok {
		return &mapping{}
	}
	m, ok := l.mapping(
		a, "kind", "payload", "source_ref", "target_ref", "source_version", "observed_at", "clock_skew", "evidence_refs",
	)
	if !ok {
		return &mapping{}
	}
	choose(l, m, "kind", kindNames, &o.Kind)
	if a, ok := m.get("payload"); ok && !isNull(a.node) {
		if p, ok := pattern(l, a, ParsePath); ok {
			o.Payload = p
			l.advisePath(a, p)
		}
	}
	for _, f := range []struct {
		key string
		to  **Template
	}{
		{"source_ref", &o.SourceRef},
		{"target_ref", &o.TargetRef},
		{"source_version", &o.SourceVersion},
		{"observed_at", &o.ObservedAt},
	} {
		if a, ok := m.get(f.key); ok && !isNull(a.node) {
			if t, ok := pattern(l, a, ParseTemplate); ok {
				*f.to = t
			}
		}
	}
	if a, ok := m.get("clock_skew"); ok {
		o.ClockSkew = l.duration(a)
	}
	if a, ok := m.get("evidence_refs"); ok {
		entries, _ := l.list(a, "a list of templates")
		if len(entries) > maxEvidenceRefs {
			l.errorf(a, "an observation has at most %d evidence refs", maxEvidenceRefs)
			return m
		}
		for _, e := range entries {
			if t, ok := pattern(l, e, ParseTemplate); ok {
				o.EvidenceRefs = append(o.EvidenceRefs, t)
			}
		}
	}
	return m
}

// duration reads a duration that is not negative.
func (l *loader) duration(a at) time.Duration {
	const want = "a duration such as 2s, 500ms or 1m30s"
	a, ok := l.scalar(a, want, "!!str")
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(a.node.Value)
	switch {
	case err != nil:
		l.errorf(a, "expected %s, found %s", want, fmt.Sprintf("%q", clip(a.node.Value)))
	case d < 0:
		l.errorf(a, "the duration is negative")
	}
	return d
}
