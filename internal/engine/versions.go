// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CompareVersions compares two source versions in natural order: -1 if a is
// older, 0 if they are of one age, 1 if a is newer.
//
// Runs of decimal digits, of any script, are compared by value, so leading zeros
// do not count; other runs by code point; a run of digits against another run as
// text. The first difference decides, and then the number of runs.
func CompareVersions(a, b string) int {
	for a != "" && b != "" {
		runA, digitsA := firstRun(a)
		runB, digitsB := firstRun(b)
		a, b = a[len(runA):], b[len(runB):]
		if digitsA && digitsB {
			if c := compareDigits(runA, runB); c != 0 {
				return c
			}
			continue
		}
		if c := strings.Compare(runA, runB); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// firstRun returns the leading run of decimal digits, or of anything else.
func firstRun(s string) (run string, digits bool) {
	for i, r := range s {
		if d := unicode.Is(unicode.Nd, r); i == 0 {
			digits = d
		} else if d != digits {
			return s[:i], digits
		}
	}
	return s, digits
}

// compareDigits compares two runs of digits by value, at any length.
func compareDigits(a, b string) int {
	a, b = trimZeros(a), trimZeros(b)
	if c := cmp.Compare(utf8.RuneCountInString(a), utf8.RuneCountInString(b)); c != 0 {
		return c
	}
	for a != "" {
		x, n := utf8.DecodeRuneInString(a)
		y, m := utf8.DecodeRuneInString(b)
		if c := cmp.Compare(digitValue(x), digitValue(y)); c != 0 {
			return c
		}
		a, b = a[n:], b[m:]
	}
	return 0
}

func trimZeros(s string) string {
	return strings.TrimLeftFunc(s, func(r rune) bool { return digitValue(r) == 0 })
}

// digitValue is the value of a decimal digit of any script. Unicode encodes each
// script's ten digits in a row, and gives them ranges that are multiples of ten
// long, except where sets of digits follow each other.
func digitValue(r rune) int {
	if r < utf8.RuneSelf {
		return int(r - '0')
	}
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return int(r-rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return int(r-rune(t.Lo)) % 10
		}
	}
	return -1
}
