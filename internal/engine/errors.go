// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/yaml11"
)

// ErrorCode is the stable, published name of what was wrong with an input.
type ErrorCode string

const (
	// CodeSchemaInvalid: a document has the wrong shape, or holds a value that has no canonical form.
	CodeSchemaInvalid ErrorCode = "SCHEMA_INVALID"
	// CodeParseFailed: a document is not JSON or YAML.
	CodeParseFailed ErrorCode = "PARSE_FAILED"
	// CodeContractInvalid: a contract asks for something that no contract may.
	CodeContractInvalid ErrorCode = "CONTRACT_INVALID"
	// CodeInvalidArgument: the reference clock or another argument cannot be read.
	CodeInvalidArgument ErrorCode = "INVALID_ARGUMENT"
	// CodeUnsafeInput: YAML with an anchor, an alias or a tag that could do more than state a value.
	CodeUnsafeInput ErrorCode = "UNSAFE_INPUT"
	// CodeLimitExceeded: larger, deeper or longer than a published limit.
	CodeLimitExceeded ErrorCode = "LIMIT_EXCEEDED"
)

// Error says why an input was refused. No decision exists then: a refused
// input is neither sealed nor blocked.
//
// Message names places and types, never the content that was found there.
type Error struct {
	Code    ErrorCode
	Message string
	// Path is the value that a document is wrong about, as in freshness.mode or
	// required_fields[2]; "" for the document as a whole.
	Path string
	// Offset is where a text could not be read any further, in bytes of its UTF-8
	// form; -1 if that is not known.
	Offset int
}

func (e *Error) Error() string {
	if e.Offset >= 0 {
		return fmt.Sprintf("%s: %s at byte %d", e.Code, e.Message, e.Offset)
	}
	return string(e.Code) + ": " + e.Message
}

// Exit is the exit status of a command that failed with e: 3 for input that is
// unsafe to process, 2 for input that is merely wrong.
func (e *Error) Exit() int {
	if e.Code.general() == CodeUnsafeInput {
		return 3
	}
	return 2
}

// general is the published code that c specializes: that of unsafe or of invalid input.
func (c ErrorCode) general() ErrorCode {
	switch c {
	case CodeUnsafeInput, CodeLimitExceeded:
		return CodeUnsafeInput
	}
	return CodeSchemaInvalid
}

// refusal returns the Error for an error of jsonvalue.
func refusal(err error) *Error {
	var e *jsonvalue.Error
	if !errors.As(err, &e) {
		return errorf(CodeParseFailed, "%s", err)
	}
	code := CodeParseFailed
	switch e.Code {
	case jsonvalue.CodeLimitExceeded:
		code = CodeLimitExceeded
	case jsonvalue.CodeUnencodable:
		code = CodeSchemaInvalid
	}
	return &Error{Code: code, Message: e.Message, Offset: e.Offset}
}

// yamlRefusal returns the Error for an error of yaml11.
func yamlRefusal(err error) error {
	var e *yaml11.Error
	if !errors.As(err, &e) {
		return errorf(CodeParseFailed, "%s", err)
	}
	code := CodeParseFailed
	switch e.Code {
	case yaml11.CodeUnsafe:
		code = CodeUnsafeInput
	case yaml11.CodeLimitExceeded:
		code = CodeLimitExceeded
	case yaml11.CodeUnencodable:
		return errLoneSurrogate
	}
	return &Error{Code: code, Message: "YAML: " + e.Message, Offset: e.Offset}
}

// errLoneSurrogate is the refusal of half of a surrogate pair in a document.
var errLoneSurrogate = errorf(CodeSchemaInvalid, "text holds half of a surrogate pair, which cannot be encoded")

// errorf makes an Error; the format must not be given content.
func errorf(code ErrorCode, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Offset: -1}
}

// at says what value of a document e is about.
func (e *Error) at(path string) *Error {
	e.Path = path
	return e
}
