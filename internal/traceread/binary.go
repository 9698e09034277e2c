// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// maxRequest bounds one request, or one part of it that cannot be taken apart.
// It is what a protobuf message may have.
const maxRequest = 1<<31 - 1

// resourceSpansTag begins an export request in protobuf: its only field, with a
// length.
const resourceSpansTag = 0x0a

// looksLikeProtobuf reports whether an export request begins: a resource's spans
// and in them a resource, scopes or a schema, which fit. Lines that are blank
// begin with the same byte.
func looksLikeProtobuf(head []byte) bool {
	if len(head) < 2 || head[0] != resourceSpansTag {
		return false
	}
	length, n := binary.Uvarint(head[1:])
	if n <= 0 {
		return false
	}
	head = head[1+n:]
	if length == 0 {
		return len(head) == 0 || head[0] == resourceSpansTag
	}
	if len(head) < 2 || head[0] != 0x0a && head[0] != 0x12 && head[0] != 0x1a {
		return false
	}
	inner, n := binary.Uvarint(head[1:])
	return n > 0 && inner < length && 1+uint64(n)+inner <= length //nolint:gosec // at most 10
}

// protobuf reads an export request field by field: each field is a request by
// itself, so that a large file is parsed in parts, and one that breaks off
// loses its last part.
func (s *stream) protobuf() bool {
	for at, parts := int64(0), 0; ; parts++ {
		length, n, err := fieldHeader(s.r)
		if err == nil && length > uint64(s.pool.maxValue) { //nolint:gosec // positive
			return s.broken(0, s.pool.tooLarge())
		}
		if errors.Is(err, io.EOF) {
			return true
		}
		var text bytes.Buffer
		if err == nil {
			var header [binary.MaxVarintLen64 + 1]byte
			header[0] = resourceSpansTag
			text.Write(header[:1+binary.PutUvarint(header[1:], length)])
			_, err = io.CopyN(&text, s.r, int64(length)) //nolint:gosec // not above maxRequest
		}
		switch {
		case err != nil && parts == 0:
			return s.broken(0, errors.New("neither JSON nor OTLP traces as protobuf"))
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return s.broken(0, fmt.Errorf("broken protobuf: what begins at byte %d ends too early", at))
		case err != nil:
			return s.broken(0, fmt.Errorf("broken protobuf at byte %d: %w", at, plain(err)))
		}
		part := at
		cost, nesting := protobufCost(text.Bytes())
		if nesting > maxNesting {
			if !s.broken(0, fmt.Errorf("broken protobuf at byte %d: %w", part, errNested)) {
				return false
			}
		} else if !s.pool.parse(Place{File: s.name}, text.Bytes(), cost, func(data []byte) (ptrace.Traces, error) {
			var u ptrace.ProtoUnmarshaler
			td, err := u.UnmarshalTraces(data)
			switch {
			case err != nil && part == 0:
				return ptrace.Traces{}, errors.New("neither JSON nor OTLP traces as protobuf")
			case err != nil:
				return ptrace.Traces{}, fmt.Errorf("broken protobuf: no traces at byte %d", part)
			}
			return td, nil
		}) {
			return false
		}
		at += n + int64(length) //nolint:gosec // not above maxRequest
	}
}

// fieldHeader reads the tag and the length of a field, and says how many bytes
// these were. The error is io.EOF if there is no field any more.
func fieldHeader(r *bufio.Reader) (length uint64, n int64, err error) {
	tag, err := r.ReadByte()
	if err != nil {
		return 0, 0, err
	}
	if tag != resourceSpansTag {
		return 0, 0, errors.New("no resource's spans begin here")
	}
	length, err = binary.ReadUvarint(r)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil && length > maxRequest {
		err = errors.New("a length that cannot be")
	}
	return length, int64(1 + len(binary.AppendUvarint(nil, length))), err
}

// framed reports whether requests begin that have their length before them, in
// four bytes. So the collector's file exporter writes protobuf, and whatever it
// compresses.
func framed(head []byte) bool {
	const maxFirst = 0x08 // no other form begins with so small a byte
	if len(head) < 5 || head[0] > maxFirst {
		return false
	}
	return head[4] == resourceSpansTag || head[4] == '{' || bytes.HasPrefix(head[4:], zstdMagic) || bytes.HasPrefix(head[4:], gzipMagic)
}

// frames reads requests with their length before them.
func (s *stream) frames() bool {
	for n := 1; ; n++ {
		var length uint32
		switch err := binary.Read(s.r, binary.BigEndian, &length); {
		case errors.Is(err, io.EOF):
			return true
		case err != nil || length > maxRequest:
			return s.broken(0, fmt.Errorf("message %d breaks off", n))
		case int64(length) > int64(s.pool.maxValue):
			return s.broken(0, s.pool.tooLarge())
		}
		var text bytes.Buffer
		if _, err := io.CopyN(&text, s.r, int64(length)); err != nil {
			return s.broken(0, fmt.Errorf("message %d breaks off", n))
		}
		if !s.pool.stream(s.name, &text, s.layer+1) {
			return false
		}
	}
}
