// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "strings"

// The YAML reader has three steps: tokens (this file; yamltags.go and yamltexts.go
// scan those that have a text), a tree of nodes (yamltree.go), and values
// (yamlscalars.go, yaml.go). It reads YAML 1.1, in the strict way in which the
// semantics were measured: tabs neither indent nor separate, keys fit on a line,
// and what a tolerant reader would guess at is an error. Nothing is ever looked
// up, called or copied: there are no anchors, no aliases and no tags but those of
// plain data. A general YAML library reads some texts differently, and a reader
// that decides whether evidence counts must not.

type yamlTokenKind uint8

const (
	yamlStreamEnd yamlTokenKind = iota
	yamlDirective
	yamlDocumentStart
	yamlDocumentEnd
	yamlBlockSequenceStart
	yamlBlockMappingStart
	yamlBlockEnd
	yamlFlowSequenceStart
	yamlFlowSequenceEnd
	yamlFlowMappingStart
	yamlFlowMappingEnd
	yamlFlowEntry
	yamlBlockEntry
	yamlKey
	yamlValue
	yamlAlias
	yamlAnchor
	yamlTag
	yamlScalar
)

type yamlToken struct {
	kind yamlTokenKind
	at   int // the position of its first character
	// Scalar, YAML directive (its version): the text. Tag, TAG directive: handle and text.
	text, handle string
	plain        bool // a scalar without quotes, not a block
}

// maxSimpleKey is how long a key without "?" may be, in characters.
const maxSimpleKey = 1024

// simpleKey is a token that may turn out to be a key once a ":" follows it.
type simpleKey struct {
	possible bool
	required bool // in block context at the indentation: it must turn out so
	token    int
	at       int
	line     int
	column   int
}

// yamlScanner cuts a text into tokens.
type yamlScanner struct {
	src    []rune
	at     int
	line   int
	column int
	tokens []yamlToken

	indent  int // of the innermost block collection, -1 outside of any
	indents []int

	// One candidate for a key at each level of flow brackets; those below fresh
	// are none any more.
	keys     []simpleKey
	fresh    int
	allowKey bool

	starts   map[int][]yamlToken // tokens to go before a token, once it is known to be a key
	unpaired bool                // an escape was half of a surrogate pair
}

// scanYAML cuts a text that is UTF-8 into tokens. Errors have CodeParseFailed.
func scanYAML(text string) (*yamlScanner, error) {
	s := &yamlScanner{src: []rune(text), indent: -1, keys: make([]simpleKey, 1), allowKey: true, starts: map[int][]yamlToken{}}
	for i, r := range s.src {
		if !yamlPrintable(r) {
			s.at = i
			return nil, s.fail("character that YAML does not allow")
		}
	}
	for {
		done, err := s.next()
		if err != nil {
			return nil, err
		}
		if done {
			break
		}
	}
	if len(s.starts) > 0 {
		tokens := make([]yamlToken, 0, len(s.tokens)+2*len(s.starts))
		for i, t := range s.tokens {
			tokens = append(append(tokens, s.starts[i]...), t)
		}
		s.tokens = tokens
	}
	return s, nil
}

func yamlPrintable(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r', r == 0x85, 0x20 <= r && r <= 0x7E:
		return true
	}
	return 0xA0 <= r && r <= 0xD7FF || 0xE000 <= r && r <= 0xFFFD || r >= 0x10000
}

func (s *yamlScanner) fail(format string, args ...any) error {
	return parseErrorf(s.offset(s.at), "YAML: "+format, args...)
}

// offset is the place of a character in bytes.
func (s *yamlScanner) offset(at int) int {
	return len(string(s.src[:min(at, len(s.src))]))
}

// peek returns the character n after the current one; 0 is past the end.
func (s *yamlScanner) peek(n int) rune { return s.peekAt(s.at + n) }

func (s *yamlScanner) peekAt(i int) rune {
	if i < len(s.src) {
		return s.src[i]
	}
	return 0
}

func (s *yamlScanner) forward(n int) {
	for ; n > 0 && s.at < len(s.src); n-- {
		r := s.src[s.at]
		s.at++
		switch {
		case yamlBreak(r) && !(r == '\r' && s.peek(0) == '\n'):
			s.line++
			s.column = 0
		case r != '\uFEFF':
			s.column++
		}
	}
}

// take returns the next n characters and goes past them.
func (s *yamlScanner) take(n int) string {
	text := string(s.src[s.at : s.at+n])
	s.forward(n)
	return text
}

func yamlBreak(r rune) bool {
	return r == '\n' || r == '\r' || r == 0x85 || r == 0x2028 || r == 0x2029
}

func yamlBreakOrEnd(r rune) bool { return r == 0 || yamlBreak(r) }

// yamlBlank: white space, a line break or the end.
func yamlBlank(r rune) bool { return r == ' ' || r == '\t' || yamlBreakOrEnd(r) }

// yamlSpaced is yamlBlank without the tab.
func yamlSpaced(r rune) bool { return r == ' ' || yamlBreakOrEnd(r) }

func yamlWord(r rune) bool {
	return '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || r == '-' || r == '_'
}

// next scans a token.
func (s *yamlScanner) next() (done bool, err error) {
	s.skip()
	if err := s.staleKeys(); err != nil {
		return false, err
	}
	s.unwind(s.column)
	c := s.peek(0)
	switch {
	case c == 0:
		s.unwind(-1)
		if err := s.dropKey(); err != nil {
			return false, err
		}
		s.add(yamlStreamEnd)
		return true, nil
	case c == '%' && s.column == 0:
		return false, s.directive()
	case s.documentMark("---"):
		return false, s.documentIndicator(yamlDocumentStart)
	case s.documentMark("..."):
		return false, s.documentIndicator(yamlDocumentEnd)
	}
	flow := s.flow() > 0
	switch c {
	case '[':
		return false, s.openFlow(yamlFlowSequenceStart)
	case '{':
		return false, s.openFlow(yamlFlowMappingStart)
	case ']':
		return false, s.closeFlow(yamlFlowSequenceEnd)
	case '}':
		return false, s.closeFlow(yamlFlowMappingEnd)
	case ',':
		s.allowKey = true
		return false, s.indicator(yamlFlowEntry)
	case '*':
		return false, s.anchor(yamlAlias)
	case '&':
		return false, s.anchor(yamlAnchor)
	case '!':
		return false, s.tag()
	case '\'', '"':
		return false, s.quoted(c)
	case '-':
		if yamlBlank(s.peek(1)) {
			return false, s.blockEntry()
		}
	case '?':
		if flow || yamlBlank(s.peek(1)) {
			return false, s.key()
		}
	case ':':
		if flow || yamlBlank(s.peek(1)) {
			return false, s.value()
		}
	case '|', '>':
		if !flow {
			return false, s.block(c == '>')
		}
	}
	if strings.ContainsRune("\t#|>%@`", c) { // what of these is legal here was scanned above
		return false, s.fail("character that cannot start anything")
	}
	return false, s.plain()
}

func (s *yamlScanner) flow() int { return len(s.keys) - 1 }

func (s *yamlScanner) add(kind yamlTokenKind) {
	s.tokens = append(s.tokens, yamlToken{kind: kind, at: s.at})
}

// skip goes to the next token, past spaces, comments and line breaks.
func (s *yamlScanner) skip() {
	if s.at == 0 && s.peek(0) == '\uFEFF' {
		s.forward(1)
	}
	for {
		for s.peek(0) == ' ' {
			s.forward(1)
		}
		s.comment()
		if s.lineBreak() == "" {
			return
		}
		if s.flow() == 0 {
			s.allowKey = true
		}
	}
}

func (s *yamlScanner) comment() {
	if s.peek(0) == '#' {
		for !yamlBreakOrEnd(s.peek(0)) {
			s.forward(1)
		}
	}
}

// lineBreak goes past a line break, if there is one, and returns what it stands for.
func (s *yamlScanner) lineBreak() string {
	switch r := s.peek(0); {
	case r == '\r' && s.peek(1) == '\n':
		s.forward(2)
		return "\n"
	case r == '\n', r == '\r', r == 0x85:
		s.forward(1)
		return "\n"
	case yamlBreak(r):
		s.forward(1)
		return string(r)
	}
	return ""
}

// documentMark reports whether "---" or "..." stands on its own at the start of a line.
func (s *yamlScanner) documentMark(mark string) bool {
	return s.column == 0 && s.marks(mark)
}

func (s *yamlScanner) marks(mark string) bool {
	for i, r := range mark {
		if s.peek(i) != r {
			return false
		}
	}
	return yamlBlank(s.peek(3))
}

// Keys.

// staleKeys drops candidates for keys that "with their colon" would no longer fit
// on a line.
func (s *yamlScanner) staleKeys() error {
	for ; s.fresh < len(s.keys); s.fresh++ {
		k := &s.keys[s.fresh]
		if !k.possible {
			continue
		}
		if k.line == s.line && s.at-k.at <= maxSimpleKey {
			return nil
		}
		if k.required {
			return s.fail("expected ':'")
		}
		k.possible = false
	}
	return nil
}

// maybeKey notes that the token to come may be a key.
func (s *yamlScanner) maybeKey() error {
	if !s.allowKey {
		return nil
	}
	if err := s.dropKey(); err != nil {
		return err
	}
	level := s.flow()
	s.keys[level] = simpleKey{
		possible: true,
		required: level == 0 && s.indent == s.column,
		token:    len(s.tokens),
		at:       s.at, line: s.line, column: s.column,
	}
	s.fresh = min(s.fresh, level)
	return nil
}

func (s *yamlScanner) dropKey() error {
	k := &s.keys[s.flow()]
	if k.possible && k.required {
		return s.fail("expected ':'")
	}
	k.possible = false
	return nil
}

// Indentation.

// unwind ends the block collections that are indented more than column.
func (s *yamlScanner) unwind(column int) {
	if s.flow() > 0 {
		return
	}
	for s.indent > column {
		s.add(yamlBlockEnd)
		s.indent = s.indents[len(s.indents)-1]
		s.indents = s.indents[:len(s.indents)-1]
	}
}

// indentTo reports whether a block collection starts at column.
func (s *yamlScanner) indentTo(column int) bool {
	if s.indent >= column {
		return false
	}
	s.indents = append(s.indents, s.indent)
	s.indent = column
	return true
}

// Indicators.

func (s *yamlScanner) indicator(kind yamlTokenKind) error {
	err := s.dropKey()
	s.add(kind)
	s.forward(1)
	return err
}

func (s *yamlScanner) documentIndicator(kind yamlTokenKind) error {
	s.unwind(-1)
	err := s.dropKey()
	s.allowKey = false
	s.add(kind)
	s.forward(3)
	return err
}

func (s *yamlScanner) openFlow(kind yamlTokenKind) error {
	if err := s.maybeKey(); err != nil {
		return err
	}
	s.keys = append(s.keys, simpleKey{})
	s.allowKey = true
	s.add(kind)
	s.forward(1)
	return nil
}

func (s *yamlScanner) closeFlow(kind yamlTokenKind) error {
	if s.flow() == 0 {
		return s.fail("bracket that closes nothing")
	}
	err := s.dropKey()
	s.keys = s.keys[:s.flow()]
	s.fresh = min(s.fresh, s.flow())
	s.allowKey = false
	s.add(kind)
	s.forward(1)
	return err
}

func (s *yamlScanner) blockEntry() error {
	if s.flow() == 0 {
		if !s.allowKey {
			return s.fail("'-' where no entry can be")
		}
		if s.indentTo(s.column) {
			s.add(yamlBlockSequenceStart)
		}
	}
	s.allowKey = true
	return s.indicator(yamlBlockEntry)
}

func (s *yamlScanner) key() error {
	if s.flow() == 0 {
		if !s.allowKey {
			return s.fail("'?' where no key can be")
		}
		if s.indentTo(s.column) {
			s.add(yamlBlockMappingStart)
		}
	}
	s.allowKey = s.flow() == 0
	return s.indicator(yamlKey)
}

func (s *yamlScanner) value() error {
	flow := s.flow()
	if k := &s.keys[flow]; k.possible {
		k.possible = false
		if flow == 0 && s.indentTo(k.column) {
			s.starts[k.token] = append(s.starts[k.token], yamlToken{kind: yamlBlockMappingStart, at: k.at})
		}
		s.starts[k.token] = append(s.starts[k.token], yamlToken{kind: yamlKey, at: k.at})
		s.allowKey = false
		return s.indicator(yamlValue)
	}
	if flow == 0 {
		if !s.allowKey {
			return s.fail("':' where no value can be")
		}
		if s.indentTo(s.column) {
			s.add(yamlBlockMappingStart)
		}
	}
	s.allowKey = flow == 0
	return s.indicator(yamlValue)
}
