// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package display makes strings from telemetry, file names and other foreign text
// safe to show: on a terminal, in a log, as the label of a metric, as the value
// of an attribute.
//
// What it returns is valid UTF-8 without control characters and without
// characters that reorder the text around them, so that no name can move the
// cursor, hide a line, or make a whole metrics endpoint fail.
package display

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

// Bounds of names, in characters.
const (
	// MaxLabel bounds the label of a metric: each value is a series of its own
	// and is sent with every scrape.
	MaxLabel = 128
	// MaxField bounds a field of a log record, and a name in an attribute.
	MaxField = 256
)

// Line returns s on one line: what is no printable character, a line break
// included, is a question mark, and bytes that are no UTF-8 are U+FFFD.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		if unprintable(r) {
			return '?'
		}
		return r
	}, valid(s))
}

// Lines is Line, but for line breaks and tabs, which stay.
func Lines(s string) string {
	return strings.Map(func(r rune) rune {
		if unprintable(r) && r != '\n' && r != '\t' {
			return '?'
		}
		return r
	}, valid(s))
}

// Painted is Line, but for escape characters, which stay. It is for text that was
// colored and whose foreign parts went through [Line] before.
func Painted(s string) string {
	return strings.Map(func(r rune) rune {
		if unprintable(r) && r != '\x1b' {
			return '?'
		}
		return r
	}, valid(s))
}

// Label returns s as the label of a metric: a line of at most [MaxLabel]
// characters. Of a longer one it returns the beginning and a hash of all of it.
func Label(s string) string { return bounded(s, MaxLabel) }

// Field returns s as a field of a log record or a name in an attribute: a line of
// at most [MaxField] characters. Of a longer one it returns the beginning and a
// hash of all of it.
func Field(s string) string { return bounded(s, MaxField) }

// keptOfLong is how many characters of a string stay that is too long.
const keptOfLong = 32

// bounded does not allocate where nothing has to change.
func bounded(s string, limit int) string {
	characters, clean, keep := 0, true, 0
	for i, r := range s {
		if characters == keptOfLong {
			keep = i
		}
		if characters++; characters > limit {
			sum := sha256.Sum256([]byte(s))
			return Line(s[:keep]) + "…" + hex.EncodeToString(sum[:8])
		}
		clean = clean && !unprintable(r) && r != utf8.RuneError
	}
	if clean {
		return s
	}
	return Line(s)
}

// valid returns s with each run of bytes that are no UTF-8 replaced by U+FFFD.
func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// unprintable reports whether a character has no place in a line: C0 and C1
// controls, line and paragraph separators, and the embeddings, overrides and
// isolates of bidirectional text.
func unprintable(r rune) bool {
	switch {
	case r < 0x20, r >= 0x7F && r < 0xA0:
		return true
	case r >= '\u2028' && r <= '\u202E', r >= '\u2066' && r <= '\u2069':
		return true
	}
	return r == '\uFEFF'
}
