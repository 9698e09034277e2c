// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import "fmt"

// ErrorCode is the kind of an Error.
type ErrorCode uint8

const (
	// CodeMalformed: the text is not JSON, or not UTF-8.
	CodeMalformed ErrorCode = iota
	// CodeLimitExceeded: the text is larger or deeper than a limit, or holds an integer
	// with more digits than one.
	CodeLimitExceeded
	// CodeUnencodable: the text holds half of a surrogate pair, or the value has no
	// canonical form.
	CodeUnencodable
)

// Error is why a text could not be parsed, or a value has no canonical form.
type Error struct {
	Code ErrorCode
	// Message contains no content of the text.
	Message string
	// Offset is the byte of the text at which the error is, -1 if there is no such byte.
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
