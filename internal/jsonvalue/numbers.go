// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import "strings"

// scanNumber scans -?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)? at start.
// The node is of the part of the text that is the canonical form, where one is.
func scanNumber(text string, start int) (n node, end int, err *Error) {
	first := start
	if text[first] == '-' {
		first++
	}
	i := digits(text, first)
	switch {
	case i == first:
		return 0, 0, fail(start, "expected a digit")
	case text[first] == '0' && i > first+1:
		return 0, 0, fail(first+1, "a number must not start with 0")
	}
	whole := i
	if i+1 < len(text) && text[i] == '.' && isDigit(text[i+1]) {
		i = digits(text, i+1)
	}
	frac := i
	if i < len(text) && text[i]|0x20 == 'e' {
		j := i + 1
		if j < len(text) && (text[j] == '+' || text[j] == '-') {
			j++
		}
		if k := digits(text, j); k > j {
			i = k
		}
	}
	if i == whole {
		if i-first > MaxIntDigits {
			return 0, 0, errorf(CodeLimitExceeded, "integer of more than %d digits", MaxIntDigits)
		}
		if text[first] == '0' && first > start { // -0 is the integer 0
			return makeNode(IntKind, 0, first, i-first), i, nil
		}
		return makeNode(IntKind, flagExact, start, i-start), i, nil
	}
	flags, end := node(0), i
	if i == frac {
		for text[i-1] == '0' && i > whole+2 {
			i--
		}
		if plainDecimal(text[first:i]) {
			flags = flagExact
		}
	}
	return makeNode(FloatKind, flags, start, i-start), end, nil
}

// plainDecimal reports whether a decimal without sign and exponent is certainly
// written as its canonical form is: with so few digits that they are the
// shortest, and large enough for no exponent.
func plainDecimal(text string) bool {
	if len(text) > 16 || text == "0.0" { // 15 digits and the point; -0.0 is 0.0
		return false
	}
	// From 0.0001 on no exponent is used.
	return text[0] != '0' || !strings.HasPrefix(text, "0.0000")
}

// digits returns where the decimal digits from i on end.
func digits(text string, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c-'0' <= 9 }
