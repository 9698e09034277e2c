// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// maxPathVisits bounds the values that one selection may touch. Descendant
// segments multiply (`$..*..*` touches every value once per ancestor), and the
// value comes from outside. A selection that would need more selects nothing,
// which blocks, instead of a part, which could seal.
const maxPathVisits = 1 << 20

// Path is a compiled JSONPath query (RFC 9535). It is immutable.
//
// Nodes are selected from the engine's value as it is, so numbers keep every
// digit and the nodes of an object come in document order. Only a filter's
// comparisons see numbers as 64-bit floats.
type Path struct {
	text  string
	steps []step // the whole query where it has one name or index per segment
	query *spec.PathQuery
}

// ParsePath compiles a JSONPath query.
func ParsePath(text string) (*Path, error) {
	if len(text) > maxPatternLength {
		return nil, &syntaxError{maxPatternLength, "path is longer than 4,096 bytes"}
	}
	parsed, err := jsonpath.Parse(text)
	if err != nil {
		return nil, pathError(text, err)
	}
	p := &Path{text: text, query: parsed.Query()}
	if steps, ok := plainSteps(p.query); ok {
		p.steps, p.query = steps, nil
	}
	return p, nil
}

// parseFieldPath compiles the path of a narrowing condition: a JSONPath query,
// which starts with $, or the short form `name.of["a member"][0]`.
func parseFieldPath(text string) (*Path, error) {
	if strings.HasPrefix(text, "$") {
		return ParsePath(text)
	}
	if len(text) > maxPatternLength {
		return nil, &syntaxError{maxPatternLength, "path is longer than 4,096 bytes"}
	}
	// The first name stands without its dot.
	word, i := scanName(text, 0)
	if word == "" && !strings.HasPrefix(text, "[") {
		return nil, &syntaxError{0, fmt.Sprintf(`expected a name, "[" or "$", found %s`, found(text, 0))}
	}
	steps, _, end, err := parseSteps(text, i)
	if err != nil {
		return nil, err
	}
	if end < len(text) {
		return nil, &syntaxError{end, fmt.Sprintf(`expected ".", "[" or the end, found %s`, found(text, end))}
	}
	if word != "" {
		steps = append([]step{{name: word}}, steps...)
	}
	return &Path{text: text, steps: steps}, nil
}

// errorPlace is how the JSONPath parser says where, in bytes from 1.
var errorPlace = regexp.MustCompile(` at position (\d+)$`)

// pathError moves the place out of the parser's message.
func pathError(text string, err error) error {
	message := strings.TrimPrefix(err.Error(), "jsonpath: ")
	offset := 0
	if m := errorPlace.FindStringSubmatchIndex(message); m != nil {
		if n, err := strconv.Atoi(message[m[2]:m[3]]); err == nil {
			offset = min(max(n-1, 0), len(text))
		}
		message = message[:m[0]]
	}
	message = "bad JSONPath: " + message
	if !strings.HasPrefix(text, "$") {
		message += "; a path starts with $"
	}
	return &syntaxError{offset, message}
}

// plainSteps returns the steps of a query that selects at most one node by
// names and indexes.
func plainSteps(q *spec.PathQuery) ([]step, bool) {
	steps := make([]step, 0, len(q.Segments()))
	for _, seg := range q.Segments() {
		if seg.IsDescendant() || len(seg.Selectors()) != 1 {
			return nil, false
		}
		switch sel := seg.Selectors()[0].(type) {
		case spec.Name:
			steps = append(steps, step{name: string(sel)})
		case spec.Index:
			steps = append(steps, step{index: int(sel), isIndex: true})
		default:
			return nil, false
		}
	}
	return steps, true
}

// String returns the path as it was written.
func (p *Path) String() string { return p.text }

// selectsPart reports whether the path selects a part of a value: it is there, and
// not just $.
func (p *Path) selectsPart() bool { return p != nil && (p.query != nil || len(p.steps) > 0) }

// Select returns what the query selects from v: null where it selects no node,
// the value of one node, an array of the values of several. A nil Path selects
// v. It allocates nothing where the query is names and indexes.
func (p *Path) Select(v jsonvalue.Value) jsonvalue.Value {
	if p == nil {
		return v
	}
	if p.query == nil {
		v, _ = follow(v, p.steps)
		return v
	}
	nodes := p.nodes(v)
	switch len(nodes) {
	case 0:
		return jsonvalue.Null()
	case 1:
		return nodes[0]
	default:
		return jsonvalue.Array(nodes...)
	}
}

// nodes returns the values that the query selects, in the order of RFC 9535,
// the members of an object in document order.
func (p *Path) nodes(v jsonvalue.Value) []jsonvalue.Value {
	s := selection{root: v, visits: maxPathVisits}
	s.segments(p.query.Segments(), v)
	if s.visits < 0 {
		return nil
	}
	return s.nodes
}

// Matches reports whether a node that the path selects is a scalar that the
// glob matches.
func (f FieldGlob) Matches(v jsonvalue.Value) bool {
	if f.Path.query == nil {
		v, ok := follow(v, f.Path.steps)
		return ok && scalarMatches(f.Glob, v)
	}
	for _, n := range f.Path.nodes(v) {
		if scalarMatches(f.Glob, n) {
			return true
		}
	}
	return false
}

// Matches reports whether the attribute's value is a scalar that the glob
// matches.
func (a AttributeGlob) Matches(v jsonvalue.Value) bool { return scalarMatches(a.Glob, v) }

func scalarMatches(g Glob, v jsonvalue.Value) bool {
	s, ok := v.Scalar()
	return ok && g.Match(s)
}

// selection is one run of a query.
type selection struct {
	root   jsonvalue.Value
	plain  any // root for filters, made when the first filter asks
	made   bool
	nodes  []jsonvalue.Value
	visits int // left; negative once there were too many
}

// segments selects from v with the first segment and goes on with the rest.
func (s *selection) segments(segs []*spec.Segment, v jsonvalue.Value) {
	if s.visits--; s.visits < 0 {
		return
	}
	if len(segs) == 0 {
		s.nodes = append(s.nodes, v)
		return
	}
	seg, rest := segs[0], segs[1:]
	for _, sel := range seg.Selectors() {
		s.selector(sel, rest, v)
	}
	if !seg.IsDescendant() {
		return
	}
	for i := 0; i < v.Len() && s.visits >= 0; i++ {
		s.segments(segs, child(v, i))
	}
}

// selector selects children of v and goes on with the segments that follow.
func (s *selection) selector(sel spec.Selector, rest []*spec.Segment, v jsonvalue.Value) {
	switch sel := sel.(type) {
	case spec.Name:
		if v.Kind() == jsonvalue.ObjectKind {
			if member, ok := v.Get(string(sel)); ok {
				s.segments(rest, member)
			}
		}
	case spec.Index:
		if e, ok := element(v, int(sel)); ok {
			s.segments(rest, e)
		}
	case spec.SliceSelector:
		s.slice(sel, rest, v)
	case spec.WildcardSelector:
		for i := 0; i < v.Len() && s.visits >= 0; i++ {
			s.segments(rest, child(v, i))
		}
	case *spec.FilterSelector:
		for i := 0; i < v.Len() && s.visits >= 0; i++ {
			if c := child(v, i); sel.Eval(s.convert(c), s.plainRoot()) {
				s.segments(rest, c)
			}
		}
	}
}

// slice selects elements of an array as RFC 9535, 2.3.4.2 has it.
func (s *selection) slice(sel spec.SliceSelector, rest []*spec.Segment, v jsonvalue.Value) {
	if v.Kind() != jsonvalue.ArrayKind {
		return
	}
	lower, upper := sel.Bounds(v.Len())
	switch step := sel.Step(); {
	case step > 0:
		for i := lower; i < upper && s.visits >= 0; i += step {
			s.segments(rest, v.Index(i))
		}
	case step < 0:
		for i := upper; i > lower && s.visits >= 0; i += step {
			s.segments(rest, v.Index(i))
		}
	}
}

// child returns the i-th element of an array or value of an object.
func child(v jsonvalue.Value, i int) jsonvalue.Value {
	if v.Kind() == jsonvalue.ObjectKind {
		_, member := v.Member(i)
		return member
	}
	return v.Index(i)
}

// plainRoot returns the root as filters read it.
func (s *selection) plainRoot() any {
	if !s.made {
		s.plain, s.made = s.convert(s.root), true
	}
	return s.plain
}

// convert returns a value as filters read it. Numbers that a float64 holds are
// one, so that 1 and 1.0 are equal wherever they stand; the others keep their
// digits, by which they are compared inside arrays and objects.
func (s *selection) convert(v jsonvalue.Value) any {
	s.visits--
	switch v.Kind() {
	case jsonvalue.BoolKind:
		return v.Bool()
	case jsonvalue.StringKind:
		return v.Text()
	case jsonvalue.IntKind, jsonvalue.FloatKind:
		return convertNumber(v)
	case jsonvalue.ArrayKind:
		list := make([]any, 0, v.Len())
		for i := 0; i < v.Len() && s.visits >= 0; i++ {
			list = append(list, s.convert(v.Index(i)))
		}
		return list
	case jsonvalue.ObjectKind:
		m := make(map[string]any, v.Len())
		for i := 0; i < v.Len() && s.visits >= 0; i++ {
			key, member := v.Member(i)
			m[key] = s.convert(member)
		}
		return m
	default:
		return nil
	}
}

func convertNumber(v jsonvalue.Value) any {
	if v.Kind() == jsonvalue.FloatKind {
		f, _ := v.Float64()
		return f
	}
	if i, ok := v.Int64(); ok && int64(float64(i)) == i && i != 1<<63-1 {
		return float64(i)
	}
	text, err := v.AppendCanonical(nil)
	if err != nil {
		return nil
	}
	if n, ok := new(big.Int).SetString(string(text), 10); ok {
		if f, exact := new(big.Float).SetInt(n).Float64(); exact == big.Exact {
			return f
		}
	}
	return json.Number(text)
}
