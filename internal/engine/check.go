// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// Document is a text and how it is written.
type Document struct {
	Data   []byte
	Format Format
}

// Report is everything there is to say about one observation.
type Report struct {
	Envelope   Envelope
	Payload    Payload
	Evaluation Evaluation
	Record     Record
}

// Check holds a response against a contract. The order in which faults are
// found is part of the semantics: the response is read, then the contract, then the
// clock, and only then is anything decided.
func Check(response, contract Document, clock func() (time.Time, error), redact []string) (Report, error) {
	doc, err := ParseDocument(response.Data, response.Format)
	if err != nil {
		return Report{}, err
	}
	if doc.Kind() != jsonvalue.ObjectKind {
		return Report{}, errorf(CodeSchemaInvalid, "the document must be an object, not %s", doc.Kind())
	}
	terms, err := ParseDocument(contract.Data, contract.Format)
	if err != nil {
		return Report{}, err
	}
	c, err := DecodeContract(terms)
	if err != nil {
		return Report{}, err
	}
	now, err := clock()
	if err != nil {
		return Report{}, err
	}
	return c.Check(doc, now, redact)
}

// Check holds an adapter document against c at the given time.
func (c *Contract) Check(doc jsonvalue.Value, now time.Time, redact []string) (Report, error) {
	in, err := DecodeInput(doc)
	if err != nil {
		return Report{}, err
	}
	reading, err := in.Read()
	if err != nil {
		return Report{}, err
	}
	env, err := in.Envelope(reading, now)
	if err != nil {
		return Report{}, err
	}
	r := Report{Envelope: env, Payload: reading.Payload}
	r.Evaluation = c.Evaluate(&r.Envelope, r.Payload, now)
	r.Record, err = NewRecord(c, &r.Envelope, r.Evaluation, redact)
	return r, err
}
