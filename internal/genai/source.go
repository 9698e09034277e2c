// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// source is a compiled [Source].
type source struct {
	attr          attr
	path          []pathStep // nil for the attribute itself
	root          bool       // the attribute is parsed, although path is empty
	after, before string
}

// whole reports whether the source is an attribute as it is.
func (s *source) whole() bool { return len(s.path) == 0 && !s.root && s.after == "" }

// pathStep is a member's name, or a position in a list.
type pathStep struct {
	key   string
	index int // -1 for a member
}

const (
	maxPathLength = 256
	maxPathSteps  = 16
)

var errPath = errors.New(`a path has names and positions: a.b[0], or ["a name"]`)

// parsePath reads a path: names with dots between them, positions and names in
// brackets. "$" may begin it and stands for the root.
func parsePath(text string) (steps []pathStep, err error) {
	if len(text) > maxPathLength {
		return nil, fmt.Errorf("a path has at most %d bytes", maxPathLength)
	}
	rest, rooted := strings.CutPrefix(text, "$")
	if rest == "" {
		if !rooted {
			return nil, errPath
		}
		return nil, nil
	}
	if rooted && rest[0] != '.' && rest[0] != '[' {
		rest = text // a name that begins so
	} else if rooted {
		rest = strings.TrimPrefix(rest, ".")
	}
	for rest != "" {
		if len(steps) == maxPathSteps {
			return nil, fmt.Errorf("a path has at most %d steps", maxPathSteps)
		}
		if rest[0] == '[' {
			end := strings.IndexByte(rest, ']')
			if name, ok := strings.CutPrefix(rest, `["`); ok {
				i := strings.Index(name, `"]`)
				if i < 0 {
					return nil, errPath
				}
				steps, rest = append(steps, pathStep{name[:i], -1}), name[i+2:]
			} else {
				if end < 0 {
					return nil, errPath
				}
				n, err := strconv.Atoi(rest[1:end])
				if err != nil || n < 0 || rest[1] == '+' {
					return nil, errPath
				}
				steps, rest = append(steps, pathStep{index: n}), rest[end+1:]
			}
		} else {
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				return nil, errPath
			}
			steps, rest = append(steps, pathStep{rest[:end], -1}), rest[end:]
		}
		if next, ok := strings.CutPrefix(rest, "."); ok {
			if rest = next; rest == "" || rest[0] == '[' {
				return nil, errPath
			}
		} else if rest != "" && rest[0] != '[' {
			return nil, errPath
		}
	}
	return steps, nil
}

// follow returns the value that a path leads to. JSON in a string on the way is
// parsed.
func follow(v jsonvalue.Value, path []pathStep) (jsonvalue.Value, bool) {
	for _, step := range path {
		if v.Kind() == jsonvalue.StringKind && LooksLikeJSON(v.Text()) {
			if parsed, err := jsonvalue.Parse(v.Text()); err == nil {
				v = parsed
			}
		}
		if step.index >= 0 {
			if v.Kind() != jsonvalue.ArrayKind || step.index >= v.Len() {
				return v, false
			}
			v = v.Index(step.index)
			continue
		}
		var ok bool
		if v, ok = v.Get(step.key); !ok {
			return v, false
		}
	}
	return v, true
}

// sources resolves the names of sources.
func (t *table) sources(list []Source, p purpose) []source {
	out := make([]source, 0, len(list))
	for _, s := range list {
		if s.Attribute == "" {
			continue
		}
		c := source{attr: t.attrs([]string{s.Attribute}, p)[0], after: s.After, before: s.Before}
		if s.Path != "" {
			path, err := parsePath(s.Path)
			if err != nil {
				continue // a checked row has none
			}
			c.path, c.root = path, len(path) == 0
		}
		out = append(out, c)
	}
	return out
}

// parsed is an attribute of the current span that was parsed for a path.
type parsed struct {
	attr  attr
	value jsonvalue.Value
	ok    bool
}

// parse returns an attribute of the current span as JSON. It is parsed once,
// however many sources read it.
func (d *Decoder) parse(a attr) (jsonvalue.Value, bool) {
	for i := range d.parsed {
		if d.parsed[i].attr == a {
			return d.parsed[i].value, d.parsed[i].ok
		}
	}
	p := parsed{attr: a, ok: true}
	if v := d.value[a]; v.Type() == pcommon.ValueTypeStr {
		var err error
		if p.value, err = jsonvalue.Parse(v.Str()); err != nil {
			p.ok = false
		}
	} else {
		p.value = ValueOf(v)
	}
	d.parsed = append(d.parsed, p)
	return p.value, p.ok
}

// at returns what a source holds. cut is set if the attribute breaks off, so that
// it is not known whether the fact was recorded.
func (d *Decoder) at(s *source) (v jsonvalue.Value, ok, cut bool) {
	if !d.have[s.attr] {
		return v, false, false
	}
	if len(s.path) == 0 && !s.root {
		v = ValueOf(d.value[s.attr])
	} else {
		if v, ok = d.parse(s.attr); !ok {
			own := d.value[s.attr]
			return v, false, own.Type() == pcommon.ValueTypeStr && brokenOff(own.Str())
		}
		if v, ok = follow(v, s.path); !ok {
			return v, false, false
		}
	}
	if s.after == "" {
		return v, true, false
	}
	if v.Kind() != jsonvalue.StringKind {
		return v, false, false
	}
	text, ok := between(v.Text(), s.after, s.before)
	return jsonvalue.String(text), ok, false
}

// between returns the part of a text that after and before enclose.
func between(text, after, before string) (string, bool) {
	pre, post, star := strings.Cut(after, "*")
	i := strings.Index(text, pre)
	if i < 0 {
		return "", false
	}
	text = text[i+len(pre):]
	if star {
		if i = strings.Index(text, post); i < 0 {
			return "", false
		}
		text = text[i+len(post):]
	}
	if before != "" {
		if i := strings.LastIndex(text, before); i >= 0 {
			text = text[:i]
		}
	}
	return text, true
}

// firstText returns the first non-empty string among the sources.
func (d *Decoder) firstText(list []source) string {
	for i := range list {
		if s := d.textAt(&list[i]); s != "" {
			return s
		}
	}
	return ""
}

// textAt returns the string that a source holds, or "".
func (d *Decoder) textAt(s *source) string {
	if s.whole() {
		return d.text(s.attr)
	}
	v, ok, _ := d.at(s)
	if !ok || v.Kind() != jsonvalue.StringKind {
		return ""
	}
	return v.Text()
}

// contentAt returns the content that a source holds.
func (d *Decoder) contentAt(s *source, dialect *Dialect) Content {
	if !d.have[s.attr] {
		return Content{}
	}
	if s.whole() {
		return ContentOf(d.value[s.attr], dialect)
	}
	v, ok, cut := d.at(s)
	switch {
	case cut:
		return Content{Dropped: true}
	case !ok, v.IsNull():
		return Content{}
	case v.Kind() == jsonvalue.StringKind:
		return contentOfText(v.Text(), dialect)
	}
	return contentOfValue(v, dialect)
}

// Holds reports whether an attribute's value is, or holds where the source says, the
// content that was read from a span.
func (s Source) Holds(v pcommon.Value, c *Content) bool {
	value := ValueOf(v)
	if s.Path != "" {
		path, err := parsePath(s.Path)
		if err != nil {
			return false
		}
		if value.Kind() == jsonvalue.StringKind {
			if value, err = jsonvalue.Parse(value.Text()); err != nil {
				return false
			}
		}
		var ok bool
		if value, ok = follow(value, path); !ok {
			return false
		}
	}
	if s.After != "" {
		text, ok := between(value.Text(), s.After, s.Before)
		if !ok {
			return false
		}
		value = jsonvalue.String(text)
	}
	return jsonvalue.Equal(value, c.Value)
}
