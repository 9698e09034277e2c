// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package yaml11

import "fmt"

// ErrorCode is the kind of an Error.
type ErrorCode uint8

const (
	// CodeMalformed: the text is not one YAML document, or a scalar is not of its type.
	CodeMalformed ErrorCode = iota
	// CodeUnsafe: the text has an anchor, an alias, a tag that is not one of plain data,
	// or another construct that no data needs.
	CodeUnsafe
	// CodeLimitExceeded: the text is nested too deeply, or holds a number that is too long.
	CodeLimitExceeded
	// CodeUnencodable: the text holds half of a surrogate pair.
	CodeUnencodable
)

// Error is why a text could not be parsed.
type Error struct {
	Code ErrorCode
	// Message contains no content of the text.
	Message string
	// Offset is the byte of the text at which the error is, or at which its line starts;
	// -1 if there is no such byte.
	Offset int
}

// Error returns the message with the offset.
func (e *Error) Error() string {
	if e.Offset >= 0 {
		return fmt.Sprintf("%s at byte %d", e.Message, e.Offset)
	}
	return e.Message
}

// errorf returns an Error without an offset; the format must not be given content.
func errorf(code ErrorCode, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Offset: -1}
}
