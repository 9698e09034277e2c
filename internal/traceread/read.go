// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package traceread reads recorded traces from files. What a file is, is told
// by its content, never by its name: OTLP as JSON (one request, one a line, or
// an array of them) or as protobuf, plain or compressed with gzip or zstd.
//
// One broken line costs that line: it is reported with its place, and reading
// goes on.
package traceread

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Place is where in the input something stands.
type Place struct {
	File string
	Line int // from 1; 0 for a file without lines
}

// String returns file:line, or the file alone.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Error is a part of the input that could not be read.
type Error struct {
	Place Place
	Err   error
}

// Error implements error: place: what is wrong.
func (e *Error) Error() string { return e.Place.String() + ": " + e.Err.Error() }

// Unwrap returns what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Handler is given what is read. If either function returns an error, reading
// stops with it.
type Handler struct {
	Traces func(ptrace.Traces, Place) error
	Broken func(*Error) error
}

// File reads one file. Broken parts go to h.Broken; the error is h's own.
func File(path string, h Handler) error {
	f, err := os.Open(path)
	if err != nil {
		return h.Broken(&Error{Place{File: path}, errors.Unwrap(err)})
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return h.Broken(&Error{Place{File: path}, errors.New("is a directory; name the files in it")})
	}
	return Stream(path, f, h)
}

// Stream reads from r; name stands for it in places.
func Stream(name string, r io.Reader, h Handler) error {
	s := &stream{name: name, r: bufio.NewReaderSize(r, 1<<16), h: h}
	return s.read()
}

type stream struct {
	name string
	r    *bufio.Reader
	h    Handler
}

func (s *stream) broken(line int, err error) error {
	return s.h.Broken(&Error{Place{s.name, line}, err})
}

// magic numbers of the compressed forms.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

func (s *stream) read() error {
	head, err := s.r.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return s.broken(0, err)
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		z, err := gzip.NewReader(s.r)
		if err != nil {
			return s.broken(0, fmt.Errorf("not gzip after all: %w", err))
		}
		defer z.Close()
		return Stream(s.name, z, s.h)
	case bytes.HasPrefix(head, zstdMagic):
		z, err := zstd.NewReader(s.r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return s.broken(0, fmt.Errorf("not zstd after all: %w", err))
		}
		defer z.Close()
		return Stream(s.name, z, s.h)
	}
	if len(head) == 0 {
		return nil
	}
	if c := head[0]; c == 0x0a && (len(head) < 2 || head[1] != '{' && head[1] != '[' && head[1] != ' ' && head[1] != '\n' && head[1] != '\r') {
		return s.protobuf()
	}
	return s.json()
}

func (s *stream) protobuf() error {
	data, err := io.ReadAll(s.r)
	if err != nil {
		return s.broken(0, err)
	}
	var u ptrace.ProtoUnmarshaler
	td, err := u.UnmarshalTraces(data)
	if err != nil {
		return s.broken(0, fmt.Errorf("no OTLP traces as protobuf: %w", err))
	}
	return s.h.Traces(td, Place{File: s.name})
}

// json reads lines, each a request; or, if the first line is none, documents
// that span lines.
func (s *stream) json() error {
	for line := 1; ; line++ {
		text, err := s.r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return s.broken(line, err)
		}
		end := err != nil
		text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))
		switch {
		case len(text) == 0:
		case line == 1 && !end && !json.Valid(text) && !s.nextLineBegins():
			return s.documents(text)
		default:
			if err := s.value(text, line); err != nil {
				return err
			}
		}
		if end {
			return nil
		}
	}
}

// nextLineBegins reports whether another request begins on the next line.
func (s *stream) nextLineBegins() bool {
	head, _ := s.r.Peek(16)
	return bytes.HasPrefix(head, []byte(`{"resourceSpans"`)) || bytes.HasPrefix(head, []byte(`{"resource_spans`))
}

// documents reads JSON values that span lines.
func (s *stream) documents(first []byte) error {
	d := json.NewDecoder(io.MultiReader(bytes.NewReader(append(first, '\n')), s.r))
	for {
		var raw json.RawMessage
		switch err := d.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return s.broken(0, jsonError(err))
		}
		if err := s.value(raw, 0); err != nil {
			return err
		}
	}
}

// value reads a request or an array of requests.
func (s *stream) value(text []byte, line int) error {
	if text[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(text, &list); err != nil {
			return s.broken(line, jsonError(err))
		}
		for _, e := range list {
			if err := s.request(e, line); err != nil {
				return err
			}
		}
		return nil
	}
	return s.request(text, line)
}

func (s *stream) request(text []byte, line int) error {
	if !json.Valid(text) {
		var any json.RawMessage
		return s.broken(line, jsonError(json.Unmarshal(text, &any)))
	}
	var u ptrace.JSONUnmarshaler
	td, err := u.UnmarshalTraces(text)
	if err != nil {
		return s.broken(line, errors.New("no OTLP traces: a field has a wrong type"))
	}
	return s.h.Traces(td, Place{s.name, line})
}

// jsonError says where JSON is broken and nothing of what it holds.
func jsonError(err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("broken JSON at byte %d", syntax.Offset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("broken JSON: it ends too early")
	}
	return errors.New("broken JSON")
}
