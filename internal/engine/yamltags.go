// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"unicode/utf8"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

func (s *yamlScanner) directive() error {
	s.unwind(-1)
	if err := s.dropKey(); err != nil {
		return err
	}
	s.allowKey = false
	t := yamlToken{kind: yamlDirective, at: s.at}
	s.forward(1)
	name, err := s.word("a directive")
	if err != nil {
		return err
	}
	if !yamlSpaced(s.peek(0)) {
		return s.fail("directive with an odd name")
	}
	switch name {
	case "YAML":
		s.spaces()
		var major, minor string
		if major, err = s.digits(); err != nil {
			return err
		}
		if s.peek(0) != '.' {
			return s.fail("version without '.'")
		}
		s.forward(1)
		if minor, err = s.digits(); err != nil {
			return err
		}
		t.text = major + "." + minor
	case "TAG":
		s.spaces()
		if t.handle, err = s.tagHandle(); err != nil {
			return err
		}
		if s.peek(0) != ' ' {
			return s.fail("tag handle without a space")
		}
		s.spaces()
		if t.text, err = s.tagURI(); err != nil {
			return err
		}
	default: // one that is not known is ignored
		for !yamlBreakOrEnd(s.peek(0)) {
			s.forward(1)
		}
	}
	if !yamlSpaced(s.peek(0)) {
		return s.fail("directive with an odd end")
	}
	s.tokens = append(s.tokens, t)
	return s.restOfLine("directive")
}

// restOfLine goes past spaces, a comment and a line break.
func (s *yamlScanner) restOfLine(what string) error {
	s.spaces()
	s.comment()
	if !yamlBreakOrEnd(s.peek(0)) {
		return s.fail("more text on the line of a %s", what)
	}
	s.lineBreak()
	return nil
}

func (s *yamlScanner) spaces() {
	for s.peek(0) == ' ' {
		s.forward(1)
	}
}

func (s *yamlScanner) word(what string) (string, error) {
	n := 0
	for yamlWord(s.peek(n)) {
		n++
	}
	if n == 0 {
		return "", s.fail("%s without a name", what)
	}
	return s.take(n), nil
}

func (s *yamlScanner) digits() (string, error) {
	n := 0
	for '0' <= s.peek(n) && s.peek(n) <= '9' {
		n++
	}
	switch {
	case n == 0:
		return "", s.fail("version without a digit")
	case n > jsonvalue.MaxIntDigits:
		return "", errorf(CodeLimitExceeded, "YAML: version of more than %d digits", jsonvalue.MaxIntDigits)
	}
	return s.take(n), nil
}

func (s *yamlScanner) anchor(kind yamlTokenKind) error {
	if err := s.maybeKey(); err != nil {
		return err
	}
	s.allowKey = false
	s.add(kind)
	s.forward(1)
	if _, err := s.word("an anchor or alias"); err != nil {
		return err
	}
	if r := s.peek(0); !yamlBlank(r) && !strings.ContainsRune("?:,]}%@`", r) {
		return s.fail("anchor or alias with an odd name")
	}
	return nil
}

func (s *yamlScanner) tag() error {
	if err := s.maybeKey(); err != nil {
		return err
	}
	s.allowKey = false
	t := yamlToken{kind: yamlTag, at: s.at}
	var err error
	switch r := s.peek(1); {
	case r == '<': // !<uri>
		s.forward(2)
		if t.text, err = s.tagURI(); err != nil {
			return err
		}
		if s.peek(0) != '>' {
			return s.fail("tag without '>'")
		}
		s.forward(1)
	case yamlBlank(r): // ! alone
		t.text = "!"
		s.forward(1)
	default: // !suffix or !handle!suffix
		n := 1
		for !yamlSpaced(s.peek(n)) && s.peek(n) != '!' {
			n++
		}
		if s.peek(n) == '!' {
			if t.handle, err = s.tagHandle(); err != nil {
				return err
			}
		} else {
			t.handle = "!"
			s.forward(1)
		}
		if t.text, err = s.tagURI(); err != nil {
			return err
		}
	}
	if !yamlSpaced(s.peek(0)) {
		return s.fail("tag without a space")
	}
	s.tokens = append(s.tokens, t)
	return nil
}

// tagHandle scans "!", "!!" or "!word!".
func (s *yamlScanner) tagHandle() (string, error) {
	if s.peek(0) != '!' {
		return "", s.fail("tag handle without '!'")
	}
	n := 1
	if s.peek(n) != ' ' {
		for yamlWord(s.peek(n)) {
			n++
		}
		if s.peek(n) != '!' {
			return "", s.fail("tag handle without '!'")
		}
		n++
	}
	return s.take(n), nil
}

func (s *yamlScanner) tagURI() (string, error) {
	var uri []byte
	for {
		r := s.peek(0)
		if r == '%' {
			var escaped []byte
			for ; s.peek(0) == '%'; s.forward(2) {
				s.forward(1)
				b, ok := s.hex(2)
				if !ok {
					return "", s.fail("expected two hexadecimal digits")
				}
				escaped = append(escaped, byte(b))
			}
			if !utf8.Valid(escaped) {
				return "", s.fail("tag that is not UTF-8")
			}
			uri = append(uri, escaped...)
			continue
		}
		if r == 0 || !yamlWord(r) && !strings.ContainsRune(";/?:@&=+$,.!~*'()[]", r) {
			break
		}
		uri = append(uri, byte(r))
		s.forward(1)
	}
	if len(uri) == 0 {
		return "", s.fail("tag without a name")
	}
	return string(uri), nil
}

// hex reads the next n hexadecimal digits and stays before them.
func (s *yamlScanner) hex(n int) (v uint64, ok bool) {
	for i := range n {
		r := s.peek(i)
		switch {
		case '0' <= r && r <= '9':
			r -= '0'
		case 'a' <= r && r <= 'f':
			r -= 'a' - 10
		case 'A' <= r && r <= 'F':
			r -= 'A' - 10
		default:
			return 0, false
		}
		v = v<<4 | uint64(r)
	}
	return v, true
}
