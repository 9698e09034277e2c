// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

const (
	// maxErrors bounds the errors that are reported of one file. Somebody has to
	// read them, and the later ones often follow from the first.
	maxErrors = 20

	// maxWarnings bounds the warnings of one file. Repeated ones are folded when
	// they are shown.
	maxWarnings = 1000

	// maxAliasCost bounds what aliases may add to a policy: the nodes that they
	// repeat, long scalars counting more. A policy that repeats a contract a
	// thousand times stays below; nine levels of nine aliases do not get
	// through.
	maxAliasCost = 100_000

	// maxMergeDepth bounds merge keys inside merged mappings, which an anchor
	// inside its own value makes endless.
	maxMergeDepth = 16
)

// loader walks the node tree of one file and gathers what is wrong with it.
type loader struct {
	src      *source
	errors   Diagnostics
	warnings []warning
	failures int                // errors, those that repeat a reported one included
	seen     map[Diagnostic]int // the index in warnings; 0 for an error

	acknowledged []Acknowledgement
	parsed       map[any]any // by parsedKey: the scalars that were compiled
	cost         int         // of the nodes that may still be visited
	stopped      bool        // too many nodes or errors: nothing more is looked at
	more         bool        // there were more errors than are reported
}

// at is a node and the path that leads to it from the top of the file.
type at struct {
	node *yaml.Node
	path string
}

// field returns the path of a key of the mapping at a.
func (a at) field(key string) string {
	if a.path == "" {
		return key
	}
	return a.path + "." + key
}

// errorf reports an error at a node.
func (l *loader) errorf(a at, format string, args ...any) {
	l.report("", a.node.Line, a.node.Column, a.path, fmt.Sprintf(format, args...))
}

// warnf reports a warning at a node.
func (l *loader) warnf(a at, kind WarningKind, format string, args ...any) {
	l.report(kind, a.node.Line, a.node.Column, a.path, fmt.Sprintf(format, args...))
}

// textError reports an error inside the text of a scalar, where its error says
// so, else at its start.
func (l *loader) textError(a at, err error) {
	var bad *syntaxError
	if !errors.As(err, &bad) {
		l.errorf(a, "%s", err)
		return
	}
	line, column, _ := l.src.locate(a.node, bad.offset)
	l.report("", line, column, a.path, bad.message)
}

// pattern parses the text of a scalar with the parser of one of the small
// languages; false if it is wrong, which is reported.
func pattern[T any](l *loader, a at, parse func(string) (T, error)) (v T, ok bool) {
	a, ok = l.text(a)
	if !ok {
		return v, false
	}
	// What aliases repeat is compiled once.
	key := parsedKey[T]{a.node}
	if known, ok := l.parsed[key]; ok {
		return known.(T), true
	}
	v, err := parse(a.node.Value)
	if err != nil {
		l.textError(a, err)
		return v, false
	}
	if l.parsed == nil {
		l.parsed = map[any]any{}
	}
	l.parsed[key] = v
	return v, true
}

// parsedKey is the key of loader.parsed for the values of one language.
type parsedKey[T any] struct{ node *yaml.Node }

// report adds an error, which has no kind, or a warning, once. A part that
// aliases repeat is wrong at one place in the file, so the paths after the first
// are not reported; the contracts and protocols that a warning is true of are
// kept.
func (l *loader) report(kind WarningKind, line, column int, path, message string) {
	if kind == "" {
		l.failures++
	}
	if l.stopped {
		return
	}
	line, column = l.src.clamp(line, column)
	d := Diagnostic{Kind: kind, File: l.src.name, Line: line, Column: column, Message: message}
	if i, ok := l.seen[d]; ok {
		if owner := ownerOf(path); kind != "" && !slices.Contains(l.warnings[i].owners, owner) {
			l.warnings[i].owners = append(l.warnings[i].owners, owner)
		}
		return
	}
	known := d
	d = l.diagnostic(d, path)
	switch {
	case kind == "" && len(l.errors) < maxErrors:
		l.errors = append(l.errors, d)
	case kind == "":
		l.stopped, l.more = true, true
		return
	case len(l.warnings) < maxWarnings:
		l.warnings = append(l.warnings, warning{d, []string{ownerOf(path)}})
	default:
		return
	}
	if l.seen == nil {
		l.seen = map[Diagnostic]int{}
	}
	l.seen[known] = max(0, len(l.warnings)-1)
}

// diagnostic completes a diagnostic whose place lies in the text.
func (l *loader) diagnostic(d Diagnostic, path string) Diagnostic {
	if d.Kind != "" {
		d.Level = LevelWarning
	}
	d.Path = path
	d.Excerpt = l.src.excerpt(d.Line, d.Column)
	return d
}

// resolve follows an alias and counts the visit; false where the walk is over.
func (l *loader) resolve(a at) (at, bool) {
	if l.stopped {
		return a, false
	}
	if a.node.Kind == yaml.AliasNode {
		a.node = a.node.Alias
	}
	l.cost -= nodeCost(a.node)
	if l.cost < 0 {
		l.errorf(a, "aliases repeat too much of the policy")
		l.stopped = true
	}
	return a, !l.stopped
}

// nodeCost is what a visit of the node counts.
func nodeCost(n *yaml.Node) int { return 1 + len(n.Value)/64 }

// treeCost is what one visit of every node counts. The tree is as deep as the
// text nests, which the YAML reader bounds.
func treeCost(n *yaml.Node) int {
	cost := nodeCost(n)
	for _, c := range n.Content {
		cost += treeCost(c)
	}
	return cost
}

// describe names the kind of a node for messages.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!str":
		return "a string"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "a boolean"
	case "!!null":
		return "null"
	case "!!timestamp":
		return "a date"
	default:
		return "a value of type " + n.ShortTag()
	}
}

// wrongType reports a node that is not what its key wants.
func (l *loader) wrongType(a at, want string) {
	message := "expected " + want + ", found " + describe(a.node)
	if a.node.Kind == yaml.ScalarNode {
		switch tag := a.node.ShortTag(); {
		case tag == "!!null":
			message += "; is the value missing?"
		case strings.HasSuffix(want, "string") && tag != "!!str":
			message += "; put it in quotes"
		case strings.HasPrefix(want, "a list") && tag == "!!str":
			message += "; write it as [" + strconv.Quote(clip(a.node.Value)) + "]"
		}
	}
	l.errorf(a, "%s", message)
}

// clip shortens a text for a message.
func clip(s string) string {
	const most = 40
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// isNull reports whether a node is null, written or left empty.
func isNull(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// mapping is a mapping whose keys are known.
type mapping struct {
	at
	fields []field
}

// field is one key of a mapping and its value.
type field struct {
	key   *yaml.Node
	value at
}

// get returns the value of a key; false if the mapping lacks it.
func (m *mapping) get(key string) (at, bool) {
	for _, f := range m.fields {
		if f.key.Value == key {
			return f.value, true
		}
	}
	return at{}, false
}

// key returns the place of a key, for errors that are about the key itself.
func (m *mapping) key(key string) at {
	for _, f := range m.fields {
		if f.key.Value == key {
			return at{f.key, f.value.path}
		}
	}
	return m.at
}

// mapping reads a mapping and reports keys that are not known, if any are
// given. Its keys are strings, each one once.
func (l *loader) mapping(a at, known ...string) (*mapping, bool) {
	a, ok := l.resolve(a)
	if !ok {
		return nil, false
	}
	if a.node.Kind != yaml.MappingNode || a.node.ShortTag() != "!!map" {
		l.wrongType(a, "a mapping")
		return nil, false
	}
	m := &mapping{at: a}
	l.gather(m, a, 0)
	if known == nil {
		return m, !l.stopped
	}
	kept := m.fields[:0]
	for _, f := range m.fields {
		if _, ok := lookup(known, f.key.Value); !ok {
			l.errorf(at{f.key, f.value.path}, "unknown key %q; %s", clip(f.key.Value), expectOneOf(known, f.key.Value))
			continue
		}
		kept = append(kept, f)
	}
	m.fields = kept
	return m, !l.stopped
}

// require reports the keys that the mapping lacks.
func (l *loader) require(m *mapping, keys ...string) {
	var missing []string
	for _, key := range keys {
		if _, ok := m.get(key); !ok {
			missing = append(missing, key)
		}
	}
	switch last := len(missing) - 1; {
	case last == 0:
		l.errorf(m.at, "%s is missing", missing[0])
	case last > 0:
		l.errorf(m.at, "%s and %s are missing", strings.Join(missing[:last], ", "), missing[last])
	}
}

// gather adds the keys of the mapping at a to m, and behind them those that its
// merge keys bring and it lacks.
func (l *loader) gather(m *mapping, a at, depth int) {
	first := map[string]*yaml.Node{}
	var merges []at
	for i := 0; i+1 < len(a.node.Content); i += 2 {
		key, ok := l.resolve(at{a.node.Content[i], a.path})
		if !ok {
			return
		}
		value := at{a.node.Content[i+1], m.field(key.node.Value)}
		merge := key.node.Kind == yaml.ScalarNode && key.node.ShortTag() == "!!merge"
		switch {
		case key.node.Kind != yaml.ScalarNode || !merge && key.node.ShortTag() != "!!str":
			l.wrongType(key, "a key that is a string")
			continue
		case first[key.node.Value] != nil:
			l.errorf(at{key.node, value.path}, "the key %q stands here twice, first on line %d", clip(key.node.Value), first[key.node.Value].Line)
			continue
		}
		first[key.node.Value] = key.node
		if merge {
			merges = append(merges, value)
			continue
		}
		// A key that is there already came from the mapping that merges this one.
		if _, ok := m.get(key.node.Value); !ok {
			m.fields = append(m.fields, field{key.node, value})
		}
	}
	for _, value := range merges {
		l.merge(m, value, depth)
	}
}

// merge gathers the mapping, or the list of mappings, that a merge key names.
func (l *loader) merge(m *mapping, a at, depth int) {
	a, ok := l.resolve(a)
	if !ok {
		return
	}
	sources := []*yaml.Node{a.node}
	if a.node.Kind == yaml.SequenceNode {
		sources = a.node.Content
	}
	for _, n := range sources {
		s, ok := l.resolve(at{n, a.path})
		if !ok {
			return
		}
		if s.node.Kind != yaml.MappingNode {
			l.wrongType(s, "a mapping to merge")
			continue
		}
		if depth == maxMergeDepth {
			l.errorf(s, "merge keys nest too deeply")
			l.stopped = true
			return
		}
		l.gather(m, s, depth+1)
	}
}

// list reads a list and hands on its entries.
func (l *loader) list(a at, want string) ([]at, bool) {
	a, ok := l.resolve(a)
	if !ok {
		return nil, false
	}
	if a.node.Kind != yaml.SequenceNode || a.node.ShortTag() != "!!seq" {
		l.wrongType(a, want)
		return nil, false
	}
	entries := make([]at, len(a.node.Content))
	for i, n := range a.node.Content {
		entries[i] = at{n, a.path + "[" + strconv.Itoa(i) + "]"}
	}
	return entries, true
}

// scalar reads a scalar of one of the tags.
func (l *loader) scalar(a at, want string, tags ...string) (at, bool) {
	a, ok := l.resolve(a)
	if !ok {
		return a, false
	}
	if a.node.Kind == yaml.ScalarNode {
		if _, ok := lookup(tags, a.node.ShortTag()); ok {
			return a, true
		}
	}
	l.wrongType(a, want)
	return a, false
}

// text reads a string.
func (l *loader) text(a at) (at, bool) { return l.scalar(a, "a string", "!!str") }

// boolean reads true or false.
func (l *loader) boolean(a at) (value, ok bool) {
	a, ok = l.scalar(a, "true or false", "!!bool")
	if !ok {
		return false, false
	}
	return strings.EqualFold(a.node.Value, "true"), true
}

// choice reads a string that is one of names.
func (l *loader) choice(a at, names []string) (int, bool) {
	a, ok := l.scalar(a, orList(names), "!!str")
	if !ok {
		return 0, false
	}
	i, ok := lookup(names, a.node.Value)
	if !ok {
		l.errorf(a, "%q is not known; %s", clip(a.node.Value), expectOneOf(names, a.node.Value))
	}
	return i, ok
}

// choose reads an optional key whose values are enumerated into v.
func choose[T ~uint8](l *loader, m *mapping, key string, names []string, v *T) {
	if a, ok := m.get(key); ok {
		if i, ok := l.choice(a, names); ok {
			*v = T(i)
		}
	}
}

// flag reads an optional boolean key into v.
func (l *loader) flag(m *mapping, key string, v *bool) {
	if a, ok := m.get(key); ok {
		*v, _ = l.boolean(a)
	}
}
