// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// The published limits of a contract.
const (
	maxRequiredFields = 64
	maxFieldName      = 256
	maxAgeLimit       = 31_536_000 // a year
)

// Freshness says how old an observation may be.
type Freshness struct {
	Mode          FreshnessMode
	MaxAgeSeconds int64 // FreshnessMaxAge

	// stray: a document gave an age where the mode takes none, or none where it
	// needs one.
	stray bool
}

// Contract says what a result must contain for a claim about it to be sealed.
type Contract struct {
	SchemaVersion          string // "1"
	ClaimType              ClaimType
	RequiredFields         []string // top-level keys
	Freshness              Freshness
	MinSourceVersion       *string // required by FreshnessSourceVersion
	SourceRef              string
	TargetRef              string
	NotFoundSentinel       *string // what a result says where there is nothing
	EffectEvidenceRequired bool
}

// contractKeys are the keys that a contract may have; the first six it must have.
var contractKeys = []string{
	"schema_version", "claim_type", "required_fields", "freshness", "source_ref", "target_ref",
	"min_source_version", "not_found_sentinel", "effect_evidence_required",
}

const mustHave = 6

// DecodeContract reads a contract. Errors have CodeContractInvalid, or
// CodeSchemaInvalid where one of the four texts is no string. The order of the
// checks is part of the semantics: it decides which of several faults is told.
func DecodeContract(doc jsonvalue.Value) (*Contract, error) {
	if doc.Kind() != jsonvalue.ObjectKind {
		return nil, errorf(CodeContractInvalid, "a contract must be an object, not %s", doc.Kind())
	}
	get := func(key string) jsonvalue.Value {
		v, _ := doc.Get(key)
		return v
	}
	c := new(Contract)
	if c.SchemaVersion = get("schema_version").Text(); c.SchemaVersion != "1" {
		return nil, errorf(CodeContractInvalid, `schema_version must be "1"`).at("schema_version")
	}
	if err := onlyKeys(doc, "contract", contractKeys); err != nil {
		return nil, err
	}
	for _, key := range contractKeys[:mustHave] {
		if _, ok := doc.Get(key); !ok {
			return nil, errorf(CodeContractInvalid, "contract lacks %s", key)
		}
	}
	if err := c.decodeFreshness(get("freshness")); err != nil {
		return nil, err
	}
	if v, ok := doc.Get("effect_evidence_required"); ok {
		if v.Kind() != jsonvalue.BoolKind {
			return nil, errorf(CodeContractInvalid, "effect_evidence_required must be true or false").at("effect_evidence_required")
		}
		c.EffectEvidenceRequired = v.Bool()
	}
	if c.ClaimType = ClaimType(get("claim_type").Text()); !c.ClaimType.Valid() {
		return nil, errorf(CodeContractInvalid, "claim_type must be one of found, not_found, read_complete, effect_observed, task_complete").at("claim_type")
	}
	fields := get("required_fields")
	if fields.Kind() != jsonvalue.ArrayKind {
		return nil, errorf(CodeContractInvalid, "required_fields must be a list").at("required_fields")
	}
	for i := range fields.Len() {
		f := fields.Index(i)
		if f.Kind() != jsonvalue.StringKind {
			return nil, errorf(CodeContractInvalid, "required_fields must be strings").at(fmt.Sprintf("required_fields[%d]", i))
		}
		c.RequiredFields = append(c.RequiredFields, f.Text())
	}
	for _, f := range []struct {
		key  string
		text *string
		may  **string
	}{
		{key: "source_ref", text: &c.SourceRef},
		{key: "target_ref", text: &c.TargetRef},
		{key: "min_source_version", may: &c.MinSourceVersion},
		{key: "not_found_sentinel", may: &c.NotFoundSentinel},
	} {
		v := get(f.key)
		if f.may != nil && v.IsNull() {
			continue
		}
		if v.Kind() != jsonvalue.StringKind {
			return nil, errorf(CodeSchemaInvalid, "%s must be a string", f.key).at(f.key)
		}
		text := v.Text()
		if f.may != nil {
			*f.may = &text
		} else {
			*f.text = text
		}
	}
	return c, c.Validate()
}

func (c *Contract) decodeFreshness(v jsonvalue.Value) error {
	if v.Kind() != jsonvalue.ObjectKind {
		return errorf(CodeContractInvalid, "freshness must be an object").at("freshness")
	}
	if err := onlyKeys(v, "freshness", []string{"mode", "max_age_seconds"}); err != nil {
		return err
	}
	mode, _ := v.Get("mode")
	c.Freshness.Mode = FreshnessMode(mode.Text())
	switch c.Freshness.Mode {
	case FreshnessNotRequired, FreshnessSourceVersion, FreshnessMaxAge:
	default:
		return errorf(CodeContractInvalid, "freshness mode must be one of not_required, source_version, max_age_seconds").at("freshness.mode")
	}
	age, _ := v.Get("max_age_seconds")
	if !age.IsNull() && age.Kind() != jsonvalue.IntKind {
		return errorf(CodeContractInvalid, "max_age_seconds must be an integer").at("freshness.max_age_seconds")
	}
	c.Freshness.stray = age.IsNull() == (c.Freshness.Mode == FreshnessMaxAge)
	if age.IsNull() {
		return nil
	}
	n, ok := age.Int64()
	if !ok {
		n = -1
	}
	c.Freshness.MaxAgeSeconds = n
	return nil
}

// onlyKeys refuses keys that are not among those that what may have.
func onlyKeys(doc jsonvalue.Value, what string, keys []string) error {
	path, ok := unknownKey(doc, keys)
	if ok {
		return nil
	}
	if what != "contract" {
		path = strings.TrimSuffix(what+"."+path, ".")
	}
	return errorf(CodeContractInvalid, "%s has an unknown key", what).at(path)
}

// unknownKey returns the first key of an object that is not one of those given, "" for
// one that is no string; ok is true if there is none.
func unknownKey(doc jsonvalue.Value, keys []string) (key string, ok bool) {
	for i := range doc.Len() {
		key, _ := doc.Member(i)
		switch {
		case !doc.StringKey(i):
			return "", false
		case !slices.Contains(keys, key):
			return key, false
		}
	}
	return "", true
}

// Validate holds c to the published ranges and lengths. Errors have CodeContractInvalid.
func (c *Contract) Validate() error {
	switch {
	case c.SchemaVersion != "1":
		return errorf(CodeContractInvalid, `schema_version must be "1"`)
	case !c.ClaimType.Valid():
		return errorf(CodeContractInvalid, "claim_type is none of the published ones")
	case len(c.RequiredFields) > maxRequiredFields:
		return errorf(CodeContractInvalid, "required_fields must have at most %d entries", maxRequiredFields).at("required_fields")
	}
	for i, f := range c.RequiredFields {
		if err := c.length(fmt.Sprintf("required_fields[%d]", i), f, maxFieldName); err != nil {
			return err
		}
	}
	if c.Freshness.stray {
		return errorf(CodeContractInvalid, "max_age_seconds goes with freshness mode max_age_seconds, and with no other").at("freshness")
	}
	switch c.Freshness.Mode {
	case FreshnessNotRequired:
	case FreshnessSourceVersion:
		if c.MinSourceVersion == nil {
			return errorf(CodeContractInvalid, "freshness mode source_version needs min_source_version").at("freshness.mode")
		}
	case FreshnessMaxAge:
		if c.Freshness.MaxAgeSeconds < 0 || c.Freshness.MaxAgeSeconds > maxAgeLimit {
			return errorf(CodeContractInvalid, "max_age_seconds must be between 0 and %d", maxAgeLimit).at("freshness.max_age_seconds")
		}
	default:
		return errorf(CodeContractInvalid, "freshness mode is none of the published ones")
	}
	if err := c.length("source_ref", c.SourceRef, maxRef); err != nil {
		return err
	}
	if err := c.length("target_ref", c.TargetRef, maxRef); err != nil {
		return err
	}
	if c.MinSourceVersion != nil {
		if err := c.length("min_source_version", *c.MinSourceVersion, maxName); err != nil {
			return err
		}
	}
	if c.NotFoundSentinel != nil {
		if err := c.length("not_found_sentinel", *c.NotFoundSentinel, maxName); err != nil {
			return err
		}
	}
	return nil
}

func (c *Contract) length(name, text string, limit int) error {
	switch {
	case text == "":
		return errorf(CodeContractInvalid, "%s must not be empty", name).at(name)
	case tooLong(text, limit):
		return errorf(CodeContractInvalid, "%s must have at most %d characters", name, limit).at(name)
	case !utf8.ValidString(text):
		return errorf(CodeContractInvalid, "%s is not UTF-8", name).at(name)
	}
	return nil
}
