// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// settingsFile is what a file of settings may hold: `dialects`,
// `conversation_attributes` and `conversation_resource_attributes` as in the
// processor's configuration, or what is under `dialects` alone.
type settingsFile struct {
	Settings `yaml:",inline"`
	Custom   []CustomDialect `yaml:"custom"`
}

// Faults are all that is wrong with a file of settings, in the order of their
// places. They are never empty where they are returned as an error.
type Faults []Fault

// Error returns the faults, a line each: line:column: path: message.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		place := ""
		if f.Line > 0 {
			place = fmt.Sprintf("%d:%d: ", f.Line, f.Column)
		}
		lines[i] = place + f.String()
	}
	return strings.Join(lines, "\n")
}

// String returns the fault without its line: path: message.
func (f *Fault) String() string {
	if f.Path == "" {
		return f.Message
	}
	return f.Path + ": " + f.Message
}

// ReadSettings reads a YAML file of settings. The error is [Faults].
func ReadSettings(text []byte) (Settings, error) {
	s, r := readSettings(text)
	if r.faults != nil {
		return Settings{}, Faults(r.faults)
	}
	return s, nil
}

// ReadOptions reads a YAML file of settings, checks it and makes a decoder's
// options of it. The error is [Faults].
func ReadOptions(text []byte) (Options, error) {
	s, r := readSettings(text)
	if r.faults != nil {
		return Options{}, Faults(r.faults)
	}
	o, faults := s.check()
	if faults == nil {
		return o, nil
	}
	for i := range faults {
		steps := faults[i].steps
		if r.short && steps[0] == "dialects" {
			steps = steps[1:]
			faults[i].Path = pathOf(steps)
		}
		faults[i].Line, faults[i].Column = r.place(steps)
	}
	slices.SortStableFunc(faults, func(a, b Fault) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return Options{}, Faults(faults)
}

func readSettings(text []byte) (Settings, *settingsReader) {
	r := &settingsReader{}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		r.syntax(err)
		return Settings{}, r
	}
	if len(doc.Content) == 0 {
		return Settings{}, r
	}
	r.root = doc.Content[0]
	var file settingsFile
	if r.root.Kind == yaml.ScalarNode && r.root.Tag == "!!null" {
		return Settings{}, r
	}
	r.read(r.root, reflect.ValueOf(&file).Elem(), nil)
	if file.Custom != nil {
		if r.short = true; file.Dialects.Custom != nil {
			r.fault(r.root, nil, "custom stands twice: at the top and under dialects")
		}
		file.Dialects.Custom = file.Custom
	}
	return file.Settings, r
}

// settingsReader reads a syntax tree into settings. It goes by the same tags as
// yaml.v3 and knows where each value is.
type settingsReader struct {
	root   *yaml.Node
	short  bool // custom is at the top
	nodes  int
	faults []Fault
}

const (
	// maxSettingsNodes bounds the values that are read, so that aliases cannot
	// multiply them.
	maxSettingsNodes = 100_000
	// maxFaults bounds what is reported of one file.
	maxFaults = 20
)

func (r *settingsReader) fault(n *yaml.Node, path []string, format string, args ...any) {
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, Fault{Line: n.Line, Column: n.Column, Path: pathOf(path), Message: fmt.Sprintf(format, args...)})
	}
}

// syntax notes that the text is no YAML. The library says where in its message.
func (r *settingsReader) syntax(err error) {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	f := Fault{Message: text}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, message, ok := strings.Cut(rest, ": "); ok {
			if line, err := strconv.Atoi(number); err == nil {
				f = Fault{Line: line, Column: 1, Message: message}
			}
		}
	}
	r.faults = append(r.faults, f)
}

var errTooManyNodes = errors.New("there are too many values")

func (r *settingsReader) read(n *yaml.Node, to reflect.Value, path []string) {
	if r.nodes++; r.nodes > maxSettingsNodes {
		if r.nodes == maxSettingsNodes+1 {
			r.fault(n, path, "%s", errTooManyNodes)
		}
		return
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	switch to.Kind() {
	case reflect.Struct:
		if unmarshaler, ok := to.Addr().Interface().(encoding.TextUnmarshaler); ok && n.Kind == yaml.ScalarNode {
			if err := unmarshaler.UnmarshalText([]byte(n.Value)); err != nil {
				r.fault(n, path, "%s", err)
			}
			return
		}
		r.object(n, to, path)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			r.fault(n, path, "must be a list, not %s", kindOf(n))
			return
		}
		list := reflect.MakeSlice(to.Type(), len(n.Content), len(n.Content))
		for i, e := range n.Content {
			r.read(e, list.Index(i), append(path[:len(path):len(path)], strconv.Itoa(i)))
		}
		to.Set(list)
	case reflect.Bool:
		if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
			r.fault(n, path, "must be true or false, not %s", kindOf(n))
			return
		}
		to.SetBool(strings.EqualFold(n.Value, "true"))
	default:
		if n.Kind != yaml.ScalarNode {
			r.fault(n, path, "must be a string, not %s", kindOf(n))
			return
		}
		to.SetString(n.Value)
	}
}

func (r *settingsReader) object(n *yaml.Node, to reflect.Value, path []string) {
	if n.Kind != yaml.MappingNode {
		r.fault(n, path, "must be a mapping, not %s", kindOf(n))
		return
	}
	fields := map[string]reflect.Value{}
	fieldsOf(to, fields)
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		name := key.Value
		at := append(path[:len(path):len(path)], name)
		field, known := fields[name]
		switch {
		case !known:
			r.fault(key, at, "unknown key%s", didYouMean(name, fields))
		case seen[name]:
			r.fault(key, at, "the key is there twice")
		default:
			r.read(n.Content[i+1], field, at)
		}
		seen[name] = true
	}
}

// fieldsOf finds the fields of a structure by their keys.
func fieldsOf(v reflect.Value, fields map[string]reflect.Value) {
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		if options == "inline" {
			fieldsOf(v.Field(i), fields)
			continue
		}
		fields[name] = v.Field(i)
	}
}

// didYouMean names the known key that has most of the unknown one's beginning.
func didYouMean(name string, fields map[string]reflect.Value) string {
	best, length := "", 2
	for known := range fields {
		n := 0
		for n < len(known) && n < len(name) && known[n] == name[n] {
			n++
		}
		if n > length || n == length && best != "" && known < best {
			best, length = known, n
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	default:
		return "a single value"
	}
}

// place returns the line and column of a place, or of the nearest one around it
// that the file has.
func (r *settingsReader) place(steps []string) (line, column int) {
	n := r.root
	for _, step := range steps {
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		next := (*yaml.Node)(nil)
		switch n.Kind {
		case yaml.SequenceNode:
			if i, err := strconv.Atoi(step); err == nil && i < len(n.Content) {
				next = n.Content[i]
			}
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == step {
					next = n.Content[i+1]
				}
			}
		}
		if next == nil {
			break
		}
		n = next
	}
	return n.Line, n.Column
}
