// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
)

// longLine is where a line is no longer read as a whole: it is one document,
// whose elements are handed over one by one.
const longLine = 32 << 20

// lines reads lines, each a request or a list of requests. A value that goes on
// over the next lines is read as a document.
func (s *stream) lines() bool {
	prose := 0 // the first of a run of lines that are nothing at all
	for {
		first := s.line
		text, end, err := s.readLine()
		if err != nil {
			return s.broken(first, readError(err))
		}
		text = bytes.TrimSpace(bytes.TrimPrefix(text, byteOrderMark))
		nothing := len(text) > 0 && text[0] != '{' && text[0] != '['
		if nothing && prose == 0 {
			prose = first
		}
		if prose > 0 && (len(text) > 0 && !nothing || end) {
			last := first - 1
			if nothing {
				last = first
			}
			if !s.broken(prose, proseError(prose, last)) {
				return false
			}
			prose = 0
		}
		goOn := true
		switch {
		case len(text) == 0 || nothing:
		case end && len(text) < s.pool.longLine, s.wholeLine(text, first):
			goOn = s.value(text, first)
		default:
			goOn = s.document(text, first)
		}
		if !goOn {
			return false
		}
		if end {
			return true
		}
	}
}

// readLine reads up to the end of a line, or so much that it is a long one.
func (s *stream) readLine() (text []byte, end bool, err error) {
	text = s.pool.buffer()
	for {
		part, err := s.r.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case err == nil:
			s.line++
			return text, false, nil
		case errors.Is(err, io.EOF):
			return text, true, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		case len(text) >= s.pool.longLine:
			return text, false, nil
		}
	}
}

// proseError tells of lines that hold no JSON.
func proseError(first, last int) error {
	if last > first {
		return fmt.Errorf("neither JSON nor any other form of traces, up to line %d", last)
	}
	return errors.New("neither JSON nor any other form of traces")
}

// requestBegins matches a line with which a request begins. A line before it
// that is not whole is a broken one: nothing of it goes on here.
var requestBegins = regexp.MustCompile(`^\s*\{\s*"(resourceSpans|resource_spans|data|result|resourceLogs|resourceMetrics)"`)

// wholeLine reports whether a line is a value by itself, or would be one if it
// were not broken. Else the value goes on after it.
func (s *stream) wholeLine(text []byte, line int) bool {
	if len(text) >= s.pool.longLine {
		return false
	}
	if last := text[len(text)-1]; last == '}' || last == ']' {
		// Nearly always. The first line tells how a file is laid out, and short
		// ones are soon read.
		if line > 1 && len(text) > headSize || balanced(text) {
			return true
		}
	}
	next, _ := s.r.Peek(headSize)
	return text[0] != '[' && requestBegins.Match(next)
}

// balanced reports whether all that is opened in a text is closed.
func balanced(text []byte) bool {
	var c cutter
	n := c.cut(text)
	return c.done && n == len(text)
}

// readError says why a stream could not be read further.
func readError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file ends in the middle of its compressed data")
	}
	return plain(err)
}
