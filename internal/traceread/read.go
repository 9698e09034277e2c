// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package traceread reads recorded traces from files. What a file is, is told
// by its content, never by its name: OTLP as JSON (one request, one a line, or
// an array of them, on one line or many) or as protobuf (one request, or
// requests with their length before each, as the collector's file exporter
// writes them), or a download from Jaeger; plain or compressed with gzip or
// zstd.
//
// One broken line costs that line: it is reported with its place, and reading
// goes on. Requests are parsed by several goroutines and handed over in order.
//
// A file is never held in memory as a whole, unless it is one value without
// parts: lines are read one by one, and of a list or a request that spans lines
// each element is handed over by itself.
//
// Reading order: read.go finds out what a stream is; lines.go, jsonvalues.go and
// binary.go cut it into requests; request.go and jaeger.go parse one, package otlpjson
// one in its usual form, quickly; pool.go does that on several
// goroutines; collect.go puts the spans together by trace.
package traceread

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/display"
)

// Place is where in the input something stands.
type Place struct {
	File string
	Line int // from 1; 0 for a file without lines
}

// Stdin is the File of what was read from standard input.
const Stdin = "standard input"

// String returns file:line, or the file alone, on one line: see [display.Line].
func (p Place) String() string {
	if p.Line == 0 {
		return display.Line(p.File)
	}
	return fmt.Sprintf("%s:%d", display.Line(p.File), p.Line)
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
	// Read is told how many bytes of a file were consumed, from another
	// goroutine; nil if nobody asks.
	Read func(bytes int)
	// MaxValue bounds a value that has to be in memory as a whole, in bytes after
	// decompression: a line, a span, an element of a list. What is larger is
	// broken. 0 is what a protobuf message may have, 2 GiB.
	MaxValue int64
}

// minValue is the least MaxValue: the buffer for reading.
const minValue = 1 << 16

// maxValue is the bound of one value.
func (h *Handler) maxValue() int {
	if h.MaxValue <= 0 {
		return maxRequest
	}
	return int(min(max(h.MaxValue, minValue), maxRequest))
}

// tooLarge is the error of a value that exceeds the bound.
func (p *pool) tooLarge() error {
	return fmt.Errorf("one value takes more than %d bytes, where reading stopped; more memory (--memory) raises this bound", p.maxValue)
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
		return p.stream(Stdin, counted{stdin, p.h.Read}, 0)
	}
	f, err := os.Open(path)
	if err != nil {
		return p.broken(Place{File: path}, plain(err))
	}
	defer f.Close()
	return p.stream(path, counted{f, p.h.Read}, 0)
}

// plain takes the path from an error that is told with its place anyway.
func plain(err error) error {
	var pathError *os.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
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

// maxLayers bounds how often a stream is unpacked: a compressed request in a
// compressed file has three layers, and a bomb has more.
const maxLayers = 6

// readBuffer is how much is looked at to tell what a stream is, and how much is
// read at once.
const readBuffer = 1 << 16

// stream reads a file's content, or what is packed in it.
func (p *pool) stream(name string, r io.Reader, layer int) bool {
	s := &stream{name: name, from: source{r: r}, pool: p, layer: layer, line: 1}
	size := readBuffer
	if text, ok := r.(*bytes.Buffer); ok { // there may be many small ones
		size = min(size, max(text.Len(), headSize))
	}
	s.r = bufio.NewReaderSize(&s.from, size+headSize)
	if layer == maxLayers {
		return s.broken(0, errors.New("compressed too many times over"))
	}
	return s.read()
}

// stream is a file being read.
type stream struct {
	name  string
	r     *bufio.Reader
	from  source // what r reads
	pool  *pool
	layer int
	line  int  // the next byte's
	over  bool // what is left is not read
	fresh bool // only space was read of this line
}

func (s *stream) broken(line int, err error) bool {
	return s.pool.broken(Place{s.name, line}, err)
}

// magic numbers of the compressed forms.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}
)

// maxWindow is what zstd itself takes unless it is told to take more.
const maxWindow = 128 << 20

func (s *stream) read() bool {
	head, err := s.r.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return s.broken(0, readError(err))
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		z, err := gzip.NewReader(s.r)
		if err != nil {
			return s.broken(0, errors.New("not gzip after all"))
		}
		defer z.Close()
		return s.pool.stream(s.name, z, s.layer+1)
	case bytes.HasPrefix(head, zstdMagic):
		z, err := zstd.NewReader(s.r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return s.broken(0, errors.New("not zstd after all"))
		}
		defer z.Close()
		return s.pool.stream(s.name, z, s.layer+1)
	case framed(head):
		return s.frames()
	case !looksLikeJSON(head) && looksLikeProtobuf(head):
		return s.protobuf()
	}
	return s.lines()
}

// headSize is how much of a stream tells what it is.
const headSize = 512

var byteOrderMark = []byte("\xef\xbb\xbf")

// looksLikeJSON reports whether an object or an array begins. A request in
// protobuf may begin with a line feed and a brace too, which are its first
// field and a length, but not with what follows them.
func looksLikeJSON(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, byteOrderMark), space)
	if len(head) == 0 {
		return false
	}
	next := bytes.TrimLeft(head[1:], space)
	if len(next) == 0 {
		return head[0] == '{' || head[0] == '['
	}
	switch head[0] {
	case '{':
		return next[0] == '"' || next[0] == '}'
	case '[':
		return next[0] == '{' || next[0] == '[' || next[0] == ']'
	}
	return false
}

// space is JSON's white space.
const space = " \t\r\n"
