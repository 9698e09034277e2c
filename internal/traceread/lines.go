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
	prose := 0   // the first of a run of lines that are nothing at all
	skipped := 0 // bytes of a line that is nothing, so far
	for {
		first := s.line
		if s.documentNext() {
			if prose > 0 && !s.broken(prose, proseError(prose, first-1)) {
				return false
			}
			prose = 0
			if !s.document(nil, first) {
				return false
			}
			continue
		}
		read, end, err := s.readLine()
		if err != nil {
			return s.broken(first, readError(err))
		}
		text := bytes.TrimSpace(bytes.TrimPrefix(read, byteOrderMark))
		nothing := len(text) > 0 && text[0] != '{' && text[0] != '['
		if nothing && prose == 0 {
			prose = first
		}
		if skipped += len(read); !nothing || s.line > first {
			skipped = 0
		}
		if skipped > s.pool.maxSkipped {
			return s.broken(prose, fmt.Errorf("%w, with a line of more than %d bytes, where reading stopped", proseError(prose, first), s.pool.maxSkipped))
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
			s.pool.recycle(read)
		case end && len(text) < s.pool.longLine, s.wholeLine(text, first, s.nextLine(0)):
			goOn = s.value(text, first)
		default:
			goOn = s.document(read, first)
		}
		if !goOn {
			return false
		}
		if end || s.over {
			return true
		}
	}
}

// documentNext reports whether the next line is only the beginning of a value. A
// line that does not fit in the buffer is not looked at: it has to be read first.
func (s *stream) documentNext() bool {
	line := s.peekLine()
	text := bytes.TrimSpace(bytes.TrimPrefix(line, byteOrderMark))
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return false
	}
	return !s.wholeLine(text, s.line, s.nextLine(len(line)))
}

// peekLine returns the next line with its end, which is not consumed; nil if there
// is no end of a line in the buffer's size.
func (s *stream) peekLine() []byte {
	for seen := 0; ; {
		part, _ := s.r.Peek(s.r.Buffered())
		if i := bytes.IndexByte(part[seen:], '\n'); i >= 0 {
			return part[:seen+i+1]
		}
		seen = len(part)
		if seen >= s.r.Size()-headSize {
			return nil
		}
		if _, err := s.r.Peek(seen + 1); err != nil {
			return nil // who reads the line meets the error again
		}
	}
}

// nextLine returns a function for what begins behind the next bytes.
func (s *stream) nextLine(behind int) func() []byte {
	return func() []byte {
		head, _ := s.r.Peek(behind + headSize)
		return head[min(behind, len(head)):]
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

// maxSkipped is how much of one line is read and dropped because nothing can be
// made of it. Then the rest of the file is: a line without an end has no next one.
const maxSkipped = 1 << 30

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
// were not broken. Else the value goes on after it. next returns what follows.
func (s *stream) wholeLine(text []byte, line int, next func() []byte) bool {
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
	return text[0] != '[' && requestBegins.Match(next())
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
