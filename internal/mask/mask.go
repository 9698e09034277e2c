// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package mask replaces content by its length and a number: ‹13 characters, #2›.
// Equal values of a session have the same number, so a reader of a report sees
// which values are equal and learns nothing else about them.
//
// Content is any value from arguments, results, messages and span attributes.
// Names are not content: of tools, agents, services and spans, and the ids of
// calls, conversations, traces and spans.
package mask

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/resultseal/otelcol-resultseal/internal/session"
)

// Values numbers the values of one session in the order in which they are first
// masked. The zero Values is ready. It is for one goroutine at a time, and keeps
// a hash of each value instead of the value.
type Values struct {
	numbers map[[sha256.Size]byte]int
}

// JSON returns the mask of a value in canonical JSON, as [session.Value] writes
// it. The length is that of a string's text, or of the JSON of anything else. A
// value that is too long for a register has the mask of what the register keeps.
func (v *Values) JSON(canonical string) string {
	value, err := session.ParseValue(canonical)
	if err != nil { // it is no JSON, so nothing but itself equals it
		value = session.StringValue(canonical)
	}
	return v.mask(value)
}

// Text returns the mask of a string: the same as that of the string in JSON.
func (v *Values) Text(text string) string { return v.mask(session.StringValue(text)) }

func (v *Values) mask(value session.Value) string {
	kept, length := value.Kept()
	return fmt.Sprintf("‹%s, #%d›", characters(length), v.number(kept.String()))
}

// number returns the number of a value, from 1.
func (v *Values) number(canonical string) int {
	key := sha256.Sum256([]byte(canonical))
	n, ok := v.numbers[key]
	if !ok {
		if v.numbers == nil {
			v.numbers = map[[sha256.Size]byte]int{}
		}
		n = len(v.numbers) + 1
		v.numbers[key] = n
	}
	return n
}

// Length returns the mask of a string without a number: ‹13 characters›. It is
// for places that belong to no session, or where one value stands alone.
func Length(text string) string { return "‹" + characters(utf8.RuneCountInString(text)) + "›" }

func characters(n int) string {
	if n == 1 {
		return "1 character"
	}
	return fmt.Sprintf("%d characters", n)
}

// maxIdentifier is how many characters an identifier has at most.
const maxIdentifier = 64

// Identifier reports whether a text has the shape of an identifier: 1 to 64
// characters, all of them printable and none of them white space.
func Identifier(text string) bool {
	return text != "" && len(text) <= maxIdentifier*utf8.UTFMax && utf8.ValidString(text) &&
		utf8.RuneCountInString(text) <= maxIdentifier &&
		!strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) })
}
