// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package traceread reads recorded traces from files. What a file is, is told
// by its content, never by its name: OTLP as JSON (one request, one a line, or
// an array of them) or as protobuf, or a download from Jaeger's page; plain or
// compressed with gzip or zstd.
//
// One broken line costs that line: it is reported with its place, and reading
// goes on. Lines are parsed by several goroutines and handed over in order.
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

// Handler is given what is read, in order, from one goroutine. If one of its
// functions returns an error, reading stops with it.
type Handler struct {
	Traces func(ptrace.Traces, Place) error
	Broken func(*Error) error
	// Read is told how many bytes of a file were consumed; nil if nobody asks.
	Read func(bytes int)
}

// Read reads files one after the other; "-" is stdin. Up to jobs goroutines
// parse.
func Read(paths []string, stdin io.Reader, jobs int, h Handler) error {
	p := newPool(jobs, h)
	go func() {
		defer p.close()
		for _, path := range paths {
			if !p.file(path, stdin) {
				return
			}
		}
	}()
	return p.deliver()
}

// file reads one file. It answers false if reading is to stop.
func (p *pool) file(path string, stdin io.Reader) bool {
	if path == "-" {
		return p.stream("standard input", stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		var pathError *os.PathError
		if errors.As(err, &pathError) {
			err = pathError.Err
		}
		return p.broken(Place{File: path}, err)
	}
	defer f.Close()
	return p.stream(path, counted{f, p.h.Read})
}

// counted tells how much was read.
type counted struct {
	r    io.Reader
	read func(int)
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	if c.read != nil {
		c.read(n)
	}
	return n, err
}

// stream reads a file's content.
func (p *pool) stream(name string, r io.Reader) bool {
	s := &stream{name: name, r: bufio.NewReaderSize(r, 1<<16), pool: p}
	return s.read()
}

type stream struct {
	name string
	r    *bufio.Reader
	pool *pool
}

func (s *stream) broken(line int, err error) bool {
	return s.pool.broken(Place{s.name, line}, err)
}

// magic numbers of the compressed forms.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

func (s *stream) read() bool {
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
		return s.pool.stream(s.name, z)
	case bytes.HasPrefix(head, zstdMagic):
		z, err := zstd.NewReader(s.r, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return s.broken(0, fmt.Errorf("not zstd after all: %w", err))
		}
		defer z.Close()
		return s.pool.stream(s.name, z)
	case len(head) == 0:
		return true
	case protobufBegins(head):
		return s.protobuf()
	}
	return s.json()
}

// protobufBegins recognises an export request: its first field, a length, and
// then the tag of what a ResourceSpans begins with. JSON may begin with the
// first byte too, a line feed, but not with what follows.
func protobufBegins(head []byte) bool {
	return len(head) > 1 && head[0] == 0x0a && !bytes.ContainsAny(head[1:2], "{[ \t\r\n")
}

func (s *stream) protobuf() bool {
	data, err := io.ReadAll(s.r)
	if err != nil {
		return s.broken(0, err)
	}
	return s.pool.parse(Place{File: s.name}, data, func(data []byte) (ptrace.Traces, error) {
		var u ptrace.ProtoUnmarshaler
		td, err := u.UnmarshalTraces(data)
		if err != nil {
			return td, errors.New("no OTLP traces as protobuf, and no JSON")
		}
		return td, nil
	})
}

// json reads lines, each a request; or, if the first line is none, documents
// that span lines.
func (s *stream) json() bool {
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
			if !s.value(text, line) {
				return false
			}
		}
		if end {
			return true
		}
	}
}

// nextLineBegins reports whether another request begins on the next line.
func (s *stream) nextLineBegins() bool {
	head, _ := s.r.Peek(16)
	return bytes.HasPrefix(head, []byte(`{"resourceSpans"`)) || bytes.HasPrefix(head, []byte(`{"resource_spans`))
}

// documents reads JSON values that span lines.
func (s *stream) documents(first []byte) bool {
	d := json.NewDecoder(io.MultiReader(bytes.NewReader(append(first, '\n')), s.r))
	for {
		var raw json.RawMessage
		switch err := d.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return true
		case err != nil:
			return s.broken(0, jsonError(err))
		}
		if !s.value(raw, 0) {
			return false
		}
	}
}

// value reads a request or an array of requests.
func (s *stream) value(text []byte, line int) bool {
	if text[0] != '[' {
		return s.pool.parse(Place{s.name, line}, text, request)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return s.broken(line, jsonError(err))
	}
	for _, e := range list {
		if !s.pool.parse(Place{s.name, line}, e, request) {
			return false
		}
	}
	return true
}

// request parses one JSON object: an OTLP request or a download from Jaeger.
func request(text []byte) (ptrace.Traces, error) {
	isJaeger, err := kindOf(text)
	switch {
	case err != nil:
		return ptrace.Traces{}, err
	case isJaeger:
		return jaeger(text)
	}
	var u ptrace.JSONUnmarshaler
	td, err := u.UnmarshalTraces(text)
	if err == nil {
		return td, nil
	}
	// The decoder's own message may quote what it met.
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return td, jsonError(err)
	}
	return td, errors.New("no OTLP traces: a field has a wrong type")
}

// jsonError says where JSON is broken and nothing of what it holds.
func jsonError(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("broken JSON at byte %d", syntax.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("broken JSON: it ends too early")
	default:
		return errors.New("broken JSON")
	}
}
