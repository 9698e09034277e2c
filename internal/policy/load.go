// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// MaxSize bounds the text of a policy in bytes. A contract takes about half a
// kilobyte, so this is some thousands of them.
const MaxSize = 4 << 20

// schemaVersion is the only version of the file format so far.
const schemaVersion = 1

// Load reads, checks and compiles a policy file. name is the file's name for
// messages. The error is Diagnostics with every place that is wrong; then there
// is no policy.
func Load(name string, text []byte) (*Policy, error) {
	return load(newSource(name, strings.TrimPrefix(string(text), "\ufeff")))
}

func load(src *source) (*Policy, error) {
	l := &loader{src: src}
	p := &Policy{}
	if root := l.parse(); root != nil {
		l.cost = 4*treeCost(root) + maxAliasCost // no node is visited four times
		l.policy(at{node: root}, p)
		if len(l.errors) == 0 {
			l.hash(root, p)
		}
	}
	if len(l.errors) > 0 {
		return nil, l.finish(l.errors, l.more)
	}
	slices.SortStableFunc(l.warnings, func(a, b warning) int { return a.compare(&b.Diagnostic) })
	p.warnings, p.Acknowledgements = l.warnings, l.acknowledged
	if src.rendered {
		for i := range p.warnings {
			p.warnings[i].Line, p.warnings[i].Column = 0, 0
		}
		for i := range p.Acknowledgements {
			p.Acknowledgements[i].at.Line, p.Acknowledgements[i].at.Column = 0, 0
		}
	}
	return p, nil
}

// compare orders diagnostics by place.
func (d *Diagnostic) compare(e *Diagnostic) int { return cmp.Or(d.Line-e.Line, d.Column-e.Column) }

// finish orders errors by place.
func (l *loader) finish(ds []Diagnostic, more bool) Diagnostics {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int { return a.compare(&b) })
	if more {
		last := ds[len(ds)-1]
		ds = append(ds, Diagnostic{
			File: last.File, Line: last.Line, Column: last.Column,
			Message: fmt.Sprintf("only the first %d errors are shown", maxErrors),
		})
	}
	if l.src.rendered {
		for i := range ds {
			ds[i].Line, ds[i].Column = 0, 0
		}
	}
	return ds
}

// parse reads the text as one YAML document; nil if it is none, which is
// reported.
func (l *loader) parse() *yaml.Node {
	text := l.src.text
	if len(text) > MaxSize {
		l.report("", 1, 1, "", fmt.Sprintf("the policy is larger than %d MiB", MaxSize>>20))
		return nil
	}
	if offset, what := unreadable(text); offset >= 0 {
		line, column := l.src.position(offset)
		l.report("", line, column, "", what)
		return nil
	}
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	var doc, next yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		l.report("", 1, 1, "", "the policy is empty")
		return nil
	case err != nil:
		l.yamlError(err)
		return nil
	}
	switch err := decoder.Decode(&next); {
	case err == nil:
		l.report("", next.Line, next.Column, "", "a second document begins here; a policy is one document")
		return nil
	case !errors.Is(err, io.EOF):
		l.yamlError(err)
		return nil
	}
	return doc.Content[0]
}

// unreadable returns the first byte of a text that no YAML file may hold, and
// what is wrong with it; -1 if there is none.
func unreadable(text string) (offset int, what string) {
	for i, r := range text {
		switch {
		case r == utf8.RuneError:
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i, "the policy is not UTF-8"
			}
		case r == '\t' || r == '\n' || r == '\r' || r == '\u0085':
		case r < ' ' || 0x7f <= r && r < 0xa0 || r == '\ufeff' || r == '\ufffe' || r == '\uffff':
			return i, fmt.Sprintf("the character %U is not allowed in YAML", r)
		}
	}
	return -1, ""
}

var (
	yamlLine   = regexp.MustCompile(`^line (\d+): `)
	yamlAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// yamlError reports what the YAML reader found wrong. Its message has at most a
// line, which is where the broken construct begins or the line before that. Where
// it is broken follows from how much of the text it takes for the same error.
func (l *loader) yamlError(err error) {
	begin, message := yamlMessage(err)
	end := readUntilError(l.src.text)
	line, column := l.src.position(end)
	if m := yamlAnchor.FindStringSubmatch(message); m != nil {
		if offset := strings.Index(l.src.text, "*"+m[1]); offset >= 0 {
			line, column = l.src.position(offset)
		}
	} else if offset, ok := findYAMLError(l.src.text, message, end); ok {
		line, column = l.src.position(offset)
	} else {
		if begin > 0 && strings.Contains(message, endOfStream) {
			line = begin // a quote that the rest of the file does not close
		}
		for line > 1 && strings.TrimSpace(l.src.line(line)) == "" {
			line-- // something else that the file ends in
		}
		text := l.src.line(line)
		column = 1 + len(text) - len(strings.TrimLeft(text, " "))
	}
	l.report("", line, column, "", "YAML: "+message)
}

// endOfStream is part of the message about a quote that is not closed.
const endOfStream = "end of stream"

// yamlMessage splits the YAML reader's message from the line before it, 0 if it
// has none.
func yamlMessage(err error) (line int, message string) {
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		line, _ = strconv.Atoi(m[1]) // out of range: 0, which is no line either
		message = message[len(m[0]):]
	}
	return line, message
}

// maxYAMLSearch bounds the bytes that are parsed to find where a text is broken.
const maxYAMLSearch = 4 << 20

// findYAMLError returns the place at which the YAML reader reports an error: the
// first byte of a text without which it would not, looking backwards from a byte at
// which it does. It returns false if it does not find one.
func findYAMLError(text, message string, from int) (offset int, ok bool) {
	// Text that ends within a list in brackets is the same error as one that goes on
	// wrongly there, unless something that may follow is put behind it.
	follow := ""
	open := false
	switch {
	case strings.Contains(message, endOfStream):
		from, open = len(text)-1, true // the quote stands anywhere before
	case strings.Contains(message, "',' or"):
		follow = " ,"
	case strings.Contains(message, "node content"):
		follow = "x"
	}
	reports := func(end int) bool { return yamlErrorOf(text[:end]+follow) == message }
	if end := len(strings.TrimRight(text, " \t\r\n")); follow != "" && !reports(end) {
		return end, true // it is the end of the text that is wrong
	}
	left := maxYAMLSearch
	for i := min(from, len(text)-1); i >= 0; i-- {
		if !utf8.RuneStart(text[i]) || open && text[i] != '"' && text[i] != '\'' {
			continue // only a quote opens what is not closed
		}
		if left -= i; left < 0 {
			return 0, false
		}
		if reports(i) {
			continue
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		if !reports(i + size) {
			return 0, false
		}
		switch c := text[i]; {
		case open:
		case c == ':' && !strings.Contains(message, "mapping values"):
			// A key is out of place, and the colon makes it one.
			i = strings.LastIndexAny(text[:i], " \t\r\n[{,") + 1
		case c == '"' || c == '\'':
			// A string is out of place, which ends here.
			i = max(strings.LastIndexByte(text[:i], c), 0)
		}
		return i, true
	}
	return 0, false
}

// yamlErrorOf returns the YAML reader's message about a text, "" if there is none.
func yamlErrorOf(text string) string {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var n yaml.Node
		switch err := decoder.Decode(&n); {
		case errors.Is(err, io.EOF):
			return ""
		case err != nil:
			_, message := yamlMessage(err)
			return message
		}
	}
}

// readUntilError returns how many bytes of a text the YAML reader needs to find
// an error in it.
func readUntilError(text string) int {
	r := &byteReader{text: text}
	decoder := yaml.NewDecoder(r)
	for {
		var n yaml.Node
		if err := decoder.Decode(&n); err != nil {
			// It has read up to the error and the character after it.
			return max(r.read-1, 0)
		}
	}
}

// byteReader hands out a text byte by byte, so that no more of it is read than
// is needed.
type byteReader struct {
	text string
	read int
}

func (r *byteReader) Read(p []byte) (int, error) {
	if r.read == len(r.text) {
		return 0, io.EOF
	}
	n := copy(p[:1], r.text[r.read:])
	r.read += n
	return n, nil
}

// policy reads the top of the file.
func (l *loader) policy(a at, p *Policy) {
	if isNull(a.node) {
		l.errorf(a, "the policy is empty")
		return
	}
	m, ok := l.mapping(a, "schema_version", "contracts", "protocols", "acknowledge")
	if !ok {
		return
	}
	l.schemaVersion(m)
	l.acknowledge(m)
	if a, ok := m.get("contracts"); ok {
		p.Contracts = l.contracts(a)
	}
	if a, ok := m.get("protocols"); ok {
		p.Protocols = l.protocols(a, p.Contracts)
	}
	if len(p.Contracts) == 0 && len(p.Protocols) == 0 {
		l.warnf(a, WarnEmptyPolicy, "the policy has neither contracts nor protocols, so nothing is judged")
	}
}

// schemaVersion checks the optional version of the file format.
func (l *loader) schemaVersion(m *mapping) {
	a, ok := m.get("schema_version")
	if !ok {
		return
	}
	a, ok = l.scalar(a, "the number 1", "!!int", "!!float")
	if !ok {
		return
	}
	var n int64
	if a.node.ShortTag() != "!!int" || a.node.Decode(&n) != nil || n != schemaVersion {
		l.errorf(a, "schema_version %s is not supported; this version reads schema_version %d", clip(a.node.Value), schemaVersion)
	}
}

// maxNameLength bounds the name of a contract or protocol in characters. Names
// go on spans and metrics.
const maxNameLength = 256

// names keeps the names of contracts or protocols apart.
type names map[string]at

// name reads the key name of a mapping.
func (l *loader) name(m *mapping, taken names) string {
	a, ok := m.get("name")
	if !ok {
		return ""
	}
	a, ok = l.text(a)
	if !ok {
		return ""
	}
	name := a.node.Value
	switch i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }); {
	case strings.TrimSpace(name) == "":
		l.errorf(a, "the name is blank")
		return ""
	case utf8.RuneCountInString(name) > maxNameLength:
		l.errorf(a, "the name is longer than %d characters", maxNameLength)
		return ""
	case i >= 0:
		l.textError(a, &syntaxError{i, "the name holds a control character"})
		return ""
	}
	if first, ok := taken[name]; ok {
		l.errorf(a, "the name %q is taken by %s", clip(name), strings.TrimSuffix(first.path, ".name"))
		return ""
	}
	taken[name] = a
	return name
}

// globs reads an optional list of globs.
func (l *loader) globs(m *mapping, key string) Globs {
	a, ok := m.get(key)
	if !ok {
		return nil
	}
	entries, ok := l.list(a, "a list of globs")
	if !ok {
		return nil
	}
	if len(entries) == 0 {
		l.errorf(a, "an empty list would match nothing; leave the key out to match everything")
		return nil
	}
	var gs Globs
	for _, e := range entries {
		if g, ok := pattern(l, e, ParseGlob); ok {
			gs = append(gs, g)
		}
	}
	return gs
}

// match reads an optional match with the given keys.
func (l *loader) match(m *mapping, keys ...string) Match {
	a, ok := m.get("match")
	if !ok {
		return Match{}
	}
	mm, ok := l.mapping(a, keys...)
	if !ok {
		return Match{}
	}
	return Match{
		Tools:    l.globs(mm, "tools"),
		Agents:   l.globs(mm, "agents"),
		Services: l.globs(mm, "services"),
	}
}
