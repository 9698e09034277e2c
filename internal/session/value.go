// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is a JSON value that can be compared with ==: two values are equal
// exactly if JSON says so with types kept apart. 1 and 1.0 are equal, 1 and "1"
// are not, nor true and 1; numbers are exact at any size; arrays and objects
// are compared deeply, the order of keys ignored; text is compared character by
// character, without Unicode normalisation.
//
// The zero Value is no value at all: no guard accepts it and no binding stores
// it.
type Value struct {
	kind valueKind
	// text is the string itself, or canonical JSON of anything else.
	text string
}

type valueKind uint8

const (
	absentKind valueKind = iota
	nullKind
	boolKind
	numberKind
	stringKind
	compositeKind // arrays and objects: their canonical JSON tells them apart
	hashedKind    // a register's value that was too long to be kept
)

// maxRegister bounds the value that a register keeps, in bytes of a string or of
// canonical JSON. Registers outlive the payloads they come from, a whole tool
// result may be bound, and there is a monitor for every session.
const maxRegister = 1024

// kept returns what a register keeps of v: v itself, or a hash of it if it is
// longer than maxRegister. Guards compare the hashes of such values.
func (v Value) kept() Value {
	if len(v.text) <= maxRegister || v.kind == hashedKind {
		// The value may be a slice of a large document.
		return Value{v.kind, strings.Clone(v.text)}
	}
	h := sha256.New()
	_, _ = h.Write([]byte{byte(v.kind)})
	_, _ = io.WriteString(h, v.text)
	return Value{hashedKind, hashPrefix + hex.EncodeToString(h.Sum(nil)) + lengthMark + strconv.Itoa(characters(v.text))}
}

// A hashed value is written as the hash and the length of the value in characters:
// sha256:9f86…/5000.
const (
	hashPrefix = "sha256:"
	lengthMark = "/"
)

// HashedValue returns the value of which a register kept the hash, given what
// String returned without its quotation marks. Text that is no hash gives the zero
// Value.
func HashedValue(text string) Value {
	if _, ok := hashedLength(text); !ok {
		return Value{}
	}
	return Value{hashedKind, text}
}

// hashedLength returns the length of the value that a hash is of, 0 if the text
// does not have it; false if the text is no hash.
func hashedLength(text string) (length int, ok bool) {
	sum, ok := strings.CutPrefix(text, hashPrefix)
	if !ok {
		return 0, false
	}
	sum, count, counted := strings.Cut(sum, lengthMark)
	if len(sum) != hex.EncodedLen(sha256.Size) {
		return 0, false
	}
	if !counted {
		return 0, true
	}
	length, err := strconv.Atoi(count)
	return length, err == nil && length >= 0
}

// Kept returns v as a register keeps it, and the length of v in characters: of a
// string its text, of anything else its canonical JSON. For a value of which only
// a hash is known, or a string that reads like one, it is the length that the hash
// states.
func (v Value) Kept() (kept Value, length int) {
	if v.kind == stringKind || v.kind == hashedKind {
		if n, ok := hashedLength(v.text); ok {
			return Value{hashedKind, v.text}, n
		}
	}
	return v.kept(), characters(v.text)
}

// IsHashed reports whether only a hash of the value is known.
func (v Value) IsHashed() bool { return v.kind == hashedKind }

// equalsKept reports whether v equals what a register keeps.
func (v Value) equalsKept(register Value) bool {
	if v == register {
		return true
	}
	if register.kind != hashedKind || len(v.text) <= maxRegister {
		return false
	}
	hash, _, _ := strings.Cut(v.kept().text, lengthMark)
	kept, _, _ := strings.Cut(register.text, lengthMark) // which may not know the length
	return hash == kept
}

// StringValue returns a string as a Value.
func StringValue(s string) Value { return Value{stringKind, s} }

// NumberValue returns the number that a JSON number's text stands for, exactly.
// Text that is no JSON number gives the zero Value. It does not allocate for
// text that is in canonical form already, as most numbers are.
func NumberValue(text string) Value {
	if n := scanNumber(text, 0); n != len(text) || n == 0 {
		return Value{}
	}
	return Value{numberKind, canonicalNumber(text)}
}

// BoolValue returns true or false as a Value.
func BoolValue(b bool) Value {
	if b {
		return Value{boolKind, "true"}
	}
	return Value{boolKind, "false"}
}

// NullValue returns JSON's null, which is a value like any other.
func NullValue() Value { return Value{nullKind, "null"} }

// IsZero reports whether v is no value at all. JSON's null is a value.
func (v Value) IsZero() bool { return v.kind == absentKind }

// AppendJSON appends v as JSON in canonical form: keys sorted, no white space,
// numbers in one spelling. It appends nothing for the zero Value.
func (v Value) AppendJSON(dst []byte) []byte {
	if v.kind == stringKind || v.kind == hashedKind {
		return appendQuoted(dst, v.text)
	}
	return append(dst, v.text...)
}

// String returns v as canonical JSON.
func (v Value) String() string {
	if v.kind == stringKind || v.kind == hashedKind {
		return string(appendQuoted(nil, v.text))
	}
	return v.text
}

// MarshalJSON returns v as canonical JSON. The zero Value is an error: it has
// no JSON.
func (v Value) MarshalJSON() ([]byte, error) {
	if v.IsZero() {
		return nil, errors.New("an absent value has no JSON form")
	}
	return v.AppendJSON(nil), nil
}

// UnmarshalJSON reads v from JSON text.
func (v *Value) UnmarshalJSON(text []byte) error {
	parsed, err := ParseValue(string(text))
	if err != nil {
		return err
	}
	*v = parsed
	return nil
}

// appendQuoted appends s as a JSON string, escaping only what must be.
func appendQuoted(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r != utf8.RuneError || size > 1:
				dst = append(dst, s[i:i+size]...)
			case isSurrogate(s[i:]):
				r, size = decodeSurrogate(s[i:]), 3
				dst = append(dst, '\\', 'u', 'd', digits[r>>8&15], digits[r>>4&15], digits[r&15])
			default:
				// Not text. A payload that holds such bytes is shown as any
				// reader of JSON would read it.
				dst = utf8.AppendRune(dst, utf8.RuneError)
			}
			i += size
			continue
		}
		i++
	}
	return append(dst, '"')
}

// An unpaired surrogate, which JSON can write and UTF-8 cannot, is kept as the
// three bytes that UTF-8 would give it if it could. So it equals itself and
// nothing else, and is written as the escape that it was.

// appendSurrogate appends the three bytes of an unpaired surrogate.
func appendSurrogate(dst []byte, r rune) []byte {
	return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0xBF, 0x80|byte(r)&0xBF)
}

// characters returns the length of a text. An unpaired surrogate is one character.
func characters(s string) (n int) {
	for i := 0; i < len(s); n++ {
		if isSurrogate(s[i:]) {
			i += 3
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return n
}

// isSurrogate reports whether s begins with the bytes of an unpaired surrogate.
func isSurrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] <= 0xBF && s[2]&0xC0 == 0x80
}

// decodeSurrogate returns the surrogate at the start of s.
func decodeSurrogate(s string) rune {
	return rune(s[0]&0x0F)<<12 | rune(s[1]&0x3F)<<6 | rune(s[2]&0x3F)
}

// ParseFields reads a JSON object as a payload. The last of two equal keys
// counts.
func ParseFields(text string) (Fields, error) {
	s := valueScanner{text: text}
	s.space()
	if s.pos == len(text) || text[s.pos] != '{' {
		return nil, s.fail("a JSON object")
	}
	fields := Fields{}
	err := s.object(0, func(key string, v Value) { fields[key] = v })
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, err
	}
	return fields, nil
}
