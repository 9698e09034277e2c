// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package instrumentations lists the instrumentations whose spans the built-in
// dialects of package genai read, and on what basis: a recording among the tests, a
// reconstruction from public sources, or documentation alone. The table in
// docs/instrumentations.md and the output of `resultseal dialects` are made from it. A
// test reads every recording and reconstruction with the dialects that are named for
// it, so that the table cannot claim more than the tests show.
package instrumentations

//go:generate go run ./generate ../../docs/instrumentations.md ../../docs/dialects.schema.json
