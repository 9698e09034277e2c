// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"math/bits"
	"slices"
	"strings"
)

// attr numbers an attribute name of the table.
type attr int32

// purpose is what an attribute is looked at for before anything is known of its
// span.
type purpose uint8

const (
	forMark         purpose = 1 << iota // it may make the span a tool's, a model's, an agent's
	forAgent                            // it names an agent on spans of every kind
	forConversation                     // it names a conversation
)

// table is the compiled table of dialects. It is immutable.
type table struct {
	rows     []row
	custom   int             // how many of the rows are the user's
	names    map[string]attr // every attribute name
	purposes []purpose       // by attr
	prefixes []string        // every flattened prefix, with its final dot

	// Most marks ask for an attribute, so that a span can be of few dialects only.
	recognizes []DialectSet // by attr: the dialects that it may recognize a span of
	fails      []DialectSet // by attr: the dialects of which it may be a failure's
	keyless    DialectSet   // the dialects with a mark that asks for no attribute
	// unconditional are the dialects whose marks of a failure have to be looked at on
	// each of their spans.
	unconditional DialectSet

	conversations []attr
	agentNames    []attr // of spans that speak no dialect
	httpStatus    attr

	// Most attributes of most spans are in no dialect. They are told by their
	// first byte and length, without a look at the map.
	lengths  [256]uint64   // by first byte: the lengths of names, modulo 64
	prefixed [256][]string // by first byte: the prefixes that begin so
	named    [256]bool     // by first byte: a mark over the span's name alone begins so
}

// row is a Dialect with its names resolved.
type row struct {
	*Dialect
	tool, toolResult, model, agent, noCall []mark
	failure, deferred, denied              []mark
	toolName, callID, arguments, result    []source
	failureType                            []source
	agentName, exchange                    []attr
	input, output, outputText, outputCalls []source
	transcript                             []attr // of Dialect.Transcript
	elsewhere                              []attr
}

type mark struct {
	attr     attr // -1: none
	path     []pathStep
	root     bool
	value    string
	spanName string
	scope    string
	and      []mark // none or one
}

// maxRows bounds the rows, see [DialectSet].
const maxRows = 128

// DialectSet is a set of dialects, by their positions in [Decoder.Dialects].
type DialectSet [maxRows / 64]uint64

// NewDialectSet returns the set of the dialects at these positions.
func NewDialectSet(positions ...int) (s DialectSet) {
	for _, i := range positions {
		s.add(i)
	}
	return s
}

func (s *DialectSet) add(i int) { s[i/64] |= 1 << (i % 64) }

// Has reports whether the dialect at a position is in the set.
func (s DialectSet) Has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// next returns the first position at or after i that is in the set, -1 for none.
func (s *DialectSet) next(i int) int {
	for word := i / 64; word < len(s); word++ {
		if rest := s[word] >> (i % 64); rest != 0 {
			return i + bits.TrailingZeros64(rest)
		}
		i = (word + 1) * 64
	}
	return -1
}

// Meets reports whether the sets have a dialect in common.
func (s DialectSet) Meets(other DialectSet) bool { return s[0]&other[0] != 0 || s[1]&other[1] != 0 }

// Union returns the dialects of both sets.
func (s DialectSet) Union(other DialectSet) DialectSet {
	return DialectSet{s[0] | other[0], s[1] | other[1]}
}

// compile resolves the names of dialects; the first custom ones are the user's.
func compile(dialects []*Dialect, custom int, conversations []string) *table {
	if len(dialects) > maxRows {
		dialects = dialects[:maxRows]
	}
	t := &table{names: map[string]attr{}, custom: custom}
	for _, d := range dialects {
		t.rows = append(t.rows, row{
			Dialect:     d,
			tool:        t.marks(d.Tool, forMark),
			toolResult:  t.marks(d.ToolResult, forMark),
			model:       t.marks(d.Model, forMark),
			agent:       t.marks(d.Agent, forMark),
			noCall:      t.marks(d.NoCall, forMark),
			failure:     t.marks(d.FailureMark, 0),
			deferred:    t.marks(d.Deferred, 0),
			denied:      t.marks(d.Denied, 0),
			toolName:    t.sources(d.ToolName, 0),
			callID:      t.sources(d.CallID, 0),
			arguments:   t.sources(d.Arguments, 0),
			result:      t.sources(d.Result, 0),
			failureType: t.sources(d.FailureType, 0),
			agentName:   t.attrs(d.AgentName, 0),
			input:       t.sources(d.Input, 0),
			output:      t.sources(d.Output, 0),
			exchange:    t.attrs(d.Exchange, 0),
			outputText:  t.sources(d.OutputText, 0),
			outputCalls: t.sources(d.OutputCalls, 0),
			transcript:  t.transcripts(d.Transcript),
			elsewhere:   t.attrs(d.Elsewhere, 0),
		})
		t.conversations = append(t.conversations, t.attrs(d.Conversation, forConversation)...)
		for _, prefixes := range [][]string{d.InputPrefix, d.OutputPrefix} {
			for _, p := range prefixes {
				t.addPrefix(p + ".")
			}
		}
		for _, p := range d.ArgumentsEach {
			prefix, _, _ := strings.Cut(p, "*")
			t.addPrefix(prefix)
		}
	}
	t.conversations = append(t.conversations, t.attrs(conversations, forConversation)...)
	t.agentNames = t.attrs(agentNames, forAgent)
	t.httpStatus = t.attrs([]string{"http.response.status_code"}, 0)[0]
	for name := range t.names {
		t.lengths[name[0]] |= 1 << (len(name) & 63)
	}
	t.index()
	return t
}

// index notes by which attributes spans of a dialect are found.
func (t *table) index() {
	t.recognizes, t.fails = make([]DialectSet, len(t.names)), make([]DialectSet, len(t.names))
	for i := range t.rows {
		r := &t.rows[i]
		for _, marks := range [][]mark{r.tool, r.toolResult, r.model, r.agent, r.noCall} {
			for n := range marks {
				if a := marks[n].key(); a >= 0 {
					t.recognizes[a].add(i)
				} else {
					t.keyless.add(i)
				}
			}
		}
		for n := range r.failure {
			if a := r.failure[n].key(); a >= 0 {
				t.fails[a].add(i)
			} else {
				t.unconditional.add(i)
			}
		}
		for n := range r.failureType {
			t.fails[r.failureType[n].attr].add(i)
		}
		if len(r.deferred)+len(r.denied) > 0 {
			t.unconditional.add(i)
		}
	}
}

// key returns an attribute that the mark asks for, -1 if it asks for none.
func (m *mark) key() attr {
	if m.attr < 0 && len(m.and) > 0 {
		return m.and[0].key()
	}
	return m.attr
}

func (t *table) attrs(names []string, p purpose) []attr {
	out := make([]attr, 0, len(names))
	for _, name := range names {
		if name == "" {
			continue
		}
		a, ok := t.names[name]
		if !ok {
			a = attr(len(t.names)) //nolint:gosec // a table has some hundred names
			t.names[name] = a
			t.purposes = append(t.purposes, 0)
		}
		t.purposes[a] |= p
		out = append(out, a)
	}
	return out
}

func (t *table) transcripts(list []Transcript) []attr {
	out := make([]attr, len(list))
	for i, l := range list {
		out[i] = t.attrs([]string{l.Attribute}, 0)[0]
	}
	return out
}

// addPrefix notes a prefix of attributes that are read together.
func (t *table) addPrefix(prefix string) {
	if prefix != "" && !slices.Contains(t.prefixes, prefix) {
		t.prefixes = append(t.prefixes, prefix)
		t.prefixed[prefix[0]] = append(t.prefixed[prefix[0]], prefix)
	}
}

func (t *table) marks(marks []Mark, p purpose) []mark { return t.compileMarks(marks, p, true) }

// compileMarks resolves the names of marks. alone is set if they are not parts of
// others.
func (t *table) compileMarks(marks []Mark, p purpose, alone bool) []mark {
	out := make([]mark, len(marks))
	for i, m := range marks {
		out[i] = mark{attr: -1, value: m.Value, spanName: m.SpanName, scope: m.Scope}
		if m.Path != "" {
			out[i].path, _ = parsePath(m.Path) // a checked row has no error
			out[i].root = len(out[i].path) == 0
		}
		if m.Key != "" {
			out[i].attr = t.attrs([]string{m.Key}, p)[0]
		}
		if m.And != nil {
			out[i].and = t.compileMarks([]Mark{*m.And}, p, false)
		}
		if p != 0 && alone && out[i].key() < 0 {
			t.begins(m.SpanName)
		}
	}
	return out
}

// begins notes how the names of spans begin that a mark recognises without any
// attribute.
func (t *table) begins(pattern string) {
	if pattern == "" || strings.HasPrefix(pattern, "*") {
		for c := range t.named {
			t.named[c] = true
		}
		return
	}
	t.named[pattern[0]] = true
}

// lookup returns the number of an attribute name.
func (t *table) lookup(name string) (attr, bool) {
	if name == "" || t.lengths[name[0]]&(1<<(len(name)&63)) == 0 {
		return 0, false
	}
	a, ok := t.names[name]
	return a, ok
}

// prefix returns the flattened prefix that a name begins with, "" for none.
func (t *table) prefix(name string) string {
	if name == "" {
		return ""
	}
	for _, p := range t.prefixed[name[0]] {
		if strings.HasPrefix(name, p) {
			return p
		}
	}
	return ""
}
