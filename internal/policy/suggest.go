// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// lookup returns the place of word in names.
func lookup(names []string, word string) (int, bool) {
	for i, n := range names {
		if n == word {
			return i, true
		}
	}
	return 0, false
}

// expectOneOf says what would have been right: the nearest name if one is near,
// else all of them.
func expectOneOf(names []string, word string) string {
	if n, ok := nearest(names, word); ok {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return "expected " + orList(names)
}

// orList joins names as a choice: a, b or c.
func orList(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// nearest returns the name that word was probably meant to be.
func nearest(names []string, word string) (string, bool) {
	fold := func(s string) string {
		return strings.ReplaceAll(strings.ToLower(s), "-", "_")
	}
	best, bestDistance := "", len(word)
	for _, n := range names {
		d := editDistance(fold(word), fold(n))
		// A third of the letters may be wrong; more is another word.
		if d <= max(1, utf8.RuneCountInString(n)/3) && d < bestDistance {
			best, bestDistance = n, d
		}
	}
	if best != "" {
		return best, true
	}
	// One begins with the other: max_age for max_age_seconds.
	for _, n := range names {
		if len(word) >= 3 && len(n) >= 3 && (strings.HasPrefix(n, fold(word)) || strings.HasPrefix(fold(word), n)) {
			if best != "" {
				return "", false
			}
			best = n
		}
	}
	return best, best != ""
}

// editDistance counts the insertions, deletions, substitutions and swaps of
// neighbours that turn a into b, each letter being touched once.
func editDistance(a, b string) int {
	ra, rb := []rune(a), []rune(b)
	if len(ra) > 64 || len(rb) > 64 {
		return 64 // no key is as long; spare the square
	}
	before := make([]int, len(rb)+1)
	above := make([]int, len(rb)+1)
	row := make([]int, len(rb)+1)
	for j := range above {
		above[j] = j
	}
	for i := range ra {
		row[0] = i + 1
		for j := range rb {
			cost := 1
			if ra[i] == rb[j] {
				cost = 0
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, above[j]+cost)
			if i > 0 && j > 0 && ra[i] == rb[j-1] && ra[i-1] == rb[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(rb)]
}
