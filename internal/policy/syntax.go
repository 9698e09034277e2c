// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

// maxPatternLength bounds, in bytes, one glob, template, path, regular
// expression or label of a policy. Hand-written ones are a line long; the
// recursive parsers behind them must not be given more than their stacks can
// hold.
const maxPatternLength = 4096

// syntaxError is what the small languages inside the policy file report: where
// in the text, in bytes, and what is wrong there.
type syntaxError struct {
	offset  int
	message string
}

func (e *syntaxError) Error() string { return e.message }
