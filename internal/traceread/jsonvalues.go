// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// cutter finds where a JSON value ends. It knows of strings and of brackets and
// leaves all else to who parses the value.
type cutter struct {
	depth    int
	inString bool
	escaped  bool
	scalar   bool // a number or a word, which ends where something else begins
	done     bool
	byLine   bool // stop behind the end of a line, too
}

// cut returns how many bytes of text belong to the value; done is set if it ends
// there.
func (c *cutter) cut(text []byte) int {
	for i := 0; i < len(text); i++ {
		b := text[i]
		switch {
		case c.escaped:
			c.escaped = false
		case c.inString:
			// Most of a document is in strings.
			ends := `"\`
			if c.byLine {
				ends = "\"\\\n"
			}
			n := bytes.IndexAny(text[i:], ends)
			if n < 0 {
				return len(text)
			}
			i += n
			if text[i] == '\n' {
				return i + 1
			}
			if c.escaped = text[i] == '\\'; !c.escaped {
				c.inString = false
				c.done = c.depth == 0
			}
		case c.scalar:
			if b == ',' || b == '}' || b == ']' || bytes.IndexByte([]byte(space), b) >= 0 {
				c.done = true
				return i
			}
		case b == '"':
			c.inString = true
		case b == '{' || b == '[':
			c.depth++
		case b == '}' || b == ']':
			c.depth--
			c.done = c.depth <= 0
		case c.depth == 0 && bytes.IndexByte([]byte(space), b) < 0:
			c.scalar = true
		}
		if c.done || c.byLine && b == '\n' {
			return i + 1
		}
	}
	return len(text)
}

// document reads a value of which a line is only the beginning: a list of
// requests, or one request. What it holds is handed over element by element. begin
// is what was read of it.
func (s *stream) document(begin []byte, line int) bool {
	s.putBack(begin)
	s.line = line
	if mark, _ := s.r.Peek(len(byteOrderMark)); bytes.Equal(mark, byteOrderMark) {
		_, _ = s.r.Discard(len(byteOrderMark)) // it is in the buffer
	}
	for {
		goOn, err := s.documentValue()
		if err != nil {
			line = s.line
			if errors.Is(err, errLineEnds) { // its end was read
				err = errEndsEarly
				s.line++
				s.fresh = true
			}
			return s.broken(line, err) && s.resume()
		}
		if !goOn || !s.valueFollows() {
			return goOn // what stands behind it is read on as lines
		}
	}
}

// putBack makes what was read last the next to be read.
func (s *stream) putBack(read []byte) {
	if len(read) == 0 {
		return
	}
	buffered, _ := s.r.Peek(s.r.Buffered())
	s.from.again = slices.Concat(read, buffered, s.from.again)
	s.r.Reset(&s.from)
	s.pool.recycle(read)
}

// source is what a stream reads from, behind what it reads again.
type source struct {
	again []byte
	r     io.Reader
}

// Read implements io.Reader.
func (s *source) Read(b []byte) (int, error) {
	if len(s.again) == 0 {
		return s.r.Read(b)
	}
	n := copy(b, s.again)
	if s.again = s.again[n:]; len(s.again) == 0 {
		s.again = nil
	}
	return n, nil
}

// valueFollows reports whether an object or a list begins on the same line. Spaces
// before it are consumed.
func (s *stream) valueFollows() bool {
	for {
		switch b, err := s.r.ReadByte(); {
		case err != nil:
			return false
		case b == ' ' || b == '\t' || b == '\r':
		default:
			_ = s.r.UnreadByte() // it was just read
			return b == '{' || b == '['
		}
	}
}

// resume goes to the next line with which a request begins.
func (s *stream) resume() bool {
	for ; ; s.fresh = true {
		if head, err := s.r.Peek(headSize); len(head) == 0 {
			if errors.Is(err, io.EOF) {
				return true
			}
			return s.broken(s.line, readError(err))
		} else if s.fresh && requestBegins.Match(head) {
			return true
		}
		// The rest of a broken line is of no use.
		for more, skipped := true, 0; more; {
			part, err := s.r.ReadSlice('\n')
			more = errors.Is(err, bufio.ErrBufferFull)
			if skipped += len(part); skipped > s.pool.maxSkipped {
				s.over = true
				return s.broken(s.line, fmt.Errorf("the line does not end after %d more bytes, where reading stopped", s.pool.maxSkipped))
			}
		}
		s.line++
	}
}

var (
	errBroken    = errors.New("broken JSON")
	errEndsEarly = errors.New("broken JSON: it ends too early")
	errLineEnds  = errors.New("broken JSON: it ends too early, with the line")
)

// next returns the next byte that is no space, without consuming it.
func (s *stream) next() (byte, error) {
	s.fresh = false
	for {
		b, err := s.r.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				return 0, errEndsEarly
			}
			return 0, readError(err)
		}
		if b == '\n' {
			s.line++
			s.fresh = true
		}
		if bytes.IndexByte([]byte(space), b) < 0 {
			return b, s.r.UnreadByte()
		}
	}
}

// expect consumes one of the bytes.
func (s *stream) expect(among string) (byte, error) {
	b, err := s.next()
	if err != nil {
		return 0, err
	}
	if bytes.IndexByte([]byte(among), b) < 0 {
		return 0, errBroken
	}
	_, err = s.r.ReadByte()
	return b, err
}

// raw reads a whole value behind what into holds. It is broken where a line ends
// in the middle of a text, or where a line begins another request.
func (s *stream) raw(into []byte) ([]byte, error) {
	first, err := s.next()
	if err != nil {
		return nil, err
	}
	s.fresh = false
	c := cutter{byLine: true}
	for {
		if _, err := s.r.Peek(1); err != nil {
			switch {
			case !errors.Is(err, io.EOF):
				return nil, readError(err)
			case c.scalar:
				return into, nil
			}
			return nil, errEndsEarly
		}
		line, _ := s.r.Peek(s.r.Buffered())
		n := c.cut(line)
		into = append(into, line[:n]...)
		lineEnds := n > 0 && line[n-1] == '\n'
		if _, err := s.r.Discard(n); err != nil {
			return nil, readError(err)
		}
		const lists = 2 // of lists may a request stand in
		if lineEnds && (c.inString || (first == '{' || c.depth > lists) && s.requestNext()) {
			return nil, errLineEnds
		}
		if lineEnds {
			s.line++
		}
		if c.done {
			return into, nil
		}
		if len(into) > s.pool.maxValue {
			return nil, s.pool.tooLarge()
		}
		if c.depth > maxNesting {
			return nil, errNested
		}
	}
}

// requestNext reports whether a request begins on the next line.
func (s *stream) requestNext() bool {
	head, _ := s.r.Peek(1)
	if len(head) == 0 || head[0] != '{' {
		return false
	}
	head, _ = s.r.Peek(headSize)
	return requestBegins.Match(head)
}

// documentValue reads a list of requests, or a request.
func (s *stream) documentValue() (goOn bool, err error) {
	first, err := s.next()
	if err != nil {
		return true, err
	}
	if first == '[' {
		return s.list(func(line int) (bool, error) {
			text, err := s.raw(nil)
			if err != nil {
				return true, err
			}
			return s.value(text, line), nil
		})
	}
	return s.object(0)
}

// list reads a list, each element by the function.
func (s *stream) list(element func(line int) (goOn bool, err error)) (bool, error) {
	if _, err := s.expect("["); err != nil {
		return true, err
	}
	if b, err := s.next(); err != nil || b == ']' {
		if err == nil {
			_, err = s.expect("]")
		}
		return true, err
	}
	for {
		if _, err := s.next(); err != nil { // the element's place is not that of the comma
			return true, err
		}
		if goOn, err := element(s.line); err != nil || !goOn {
			return goOn, err
		}
		b, err := s.expect(",]")
		if err != nil || b == ']' {
			return true, err
		}
	}
}

// object reads a request that is the result in so many others. The lists that hold
// its traces are read element by element, each as a request of its own.
func (s *stream) object(results int) (bool, error) {
	begin := s.line
	if _, err := s.expect("{"); err != nil {
		return true, err
	}
	keys := map[string]bool{} // of those that tell what it is
	for first := true; ; first = false {
		b, err := s.next()
		if err != nil {
			return true, err
		}
		if b == '}' && first {
			_, err = s.expect("}")
			return true, err
		}
		if b != '"' {
			return true, errBroken
		}
		key, err := s.raw(nil)
		if err != nil {
			return true, err
		}
		if _, err := s.expect(":"); err != nil {
			return true, err
		}
		name := string(bytes.Trim(key, `"`))
		if slices.Contains(requestKeys, name) {
			keys[name] = true
		}
		if goOn, err := s.member(name, results); err != nil || !goOn {
			return goOn, err
		}
		b, err = s.expect(",}")
		if err != nil {
			return true, err
		}
		if b == '}' {
			break
		}
	}
	if keys["result"] {
		return true, nil
	}
	if _, err := kindOf(func(key string) bool { return keys[key] }); err != nil {
		return s.broken(begin, err), nil
	}
	return true, nil
}

// member reads the value of a request's key.
func (s *stream) member(name string, results int) (goOn bool, err error) {
	first, err := s.next()
	if err != nil {
		return true, err
	}
	var before, after string
	switch {
	case (name == "resourceSpans" || name == "resource_spans") && first == '[':
		before, after = `{"resourceSpans":[`, `]}`
	case name == "data" && first == '[':
		before, after = `{"data":[`, `]}`
	case name == "result" && first == '{':
		if results == maxResults {
			return true, errNested
		}
		return s.object(results + 1)
	default:
		_, err := s.raw(nil)
		return true, err
	}
	return s.list(func(line int) (bool, error) {
		if b, err := s.next(); err != nil || b != '{' {
			return true, cmp.Or(err, errBroken)
		}
		text, err := s.raw([]byte(before))
		if err != nil {
			return true, err
		}
		return s.value(append(text, after...), line), nil
	})
}
