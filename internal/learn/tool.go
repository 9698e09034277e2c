// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/mask"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// tool is what is known of a tool.
type tool struct {
	name string

	calls    int
	recorded int // calls with a recorded result
	failed   int
	empty    int // results that say nothing
	absent   int // results that say that there is nothing
	good     int // results that say something
	objects  int // of these, objects
	texts    int // of these, texts

	arguments *fields // of all calls with recorded arguments
	results   *fields // of good results that are objects
	inner     map[string]*fields
	wrapped   map[string]int // good results with this only key, whose value is an object

	lists map[string]*listed // by path: good results that are about one list

	pairs     map[pair]*pairCount
	sentinels map[string]int
}

func newTool(name string) *tool {
	return &tool{
		name: name, arguments: newFields(), results: newFields(), inner: map[string]*fields{}, wrapped: map[string]int{},
		lists: map[string]*listed{}, pairs: map[pair]*pairCount{}, sentinels: map[string]int{},
	}
}

// add learns from a call.
func (t *tool) add(c *score.CallAccount) {
	t.calls++
	if c.ArgumentsKnown && c.Arguments.Kind() == jsonvalue.ObjectKind {
		t.arguments.add(c.Arguments)
	}
	if c.Failure.Kind != genai.NoFailure || c.Result.Failed || c.Result.Conflict || c.Conflict || c.NeverRan || saysError(c.Result.Value) {
		t.failed++
		return
	}
	if c.Result.State != genai.Captured {
		return
	}
	t.recorded++
	v := c.Result.Value
	switch {
	case saysNothing(v, 0):
		t.empty++
		return
	case t.notFound(v):
		t.absent++
		return
	}
	t.good++
	switch v.Kind() {
	case jsonvalue.StringKind:
		t.texts++
	case jsonvalue.ObjectKind:
		t.objects++
		t.results.add(v)
		t.addList(v, c.Arguments)
		if v.Len() == 1 {
			key, only := v.Member(0)
			if only.Kind() == jsonvalue.ObjectKind && only.Len() > 0 && nameable(key) {
				key = strings.Clone(key)
				t.wrapped[key]++
				if t.inner[key] == nil {
					t.inner[key] = newFields()
				}
				t.inner[key].add(only)
				v = only
			}
		}
		if c.ArgumentsKnown && c.Arguments.Kind() == jsonvalue.ObjectKind {
			t.compare(c.Arguments, v)
		}
	}
}

// notFound notes the text by which a result says that there is nothing.
func (t *tool) notFound(v jsonvalue.Value) bool {
	note := func(text string) bool {
		if !saysAbsent(text) {
			return false
		}
		const most = 64 // texts that differ each time are none that stand for it
		if _, ok := t.sentinels[text]; ok || len(t.sentinels) < most {
			t.sentinels[strings.Clone(text)]++
		}
		return true
	}
	if v.Kind() == jsonvalue.StringKind {
		return note(v.Text())
	}
	for i := range v.Len() {
		if v.Kind() != jsonvalue.ObjectKind {
			break
		}
		key, member := v.Member(i)
		if list := words(key); len(list) > 0 && telling[list[len(list)-1]] && member.Kind() == jsonvalue.StringKind && note(member.Text()) {
			return true
		}
	}
	return false
}

// telling are names of fields in which results say how they came out.
var telling = map[string]bool{
	"status": true, "message": true, "error": true, "result": true, "code": true, "detail": true, "reason": true, "outcome": true, "state": true, "text": true,
}

// structured reports whether good results are objects: all of them, or so many
// that the others are taken for something else.
func (t *tool) structured() bool {
	return t.objects > 0 && (t.objects == t.good || t.objects >= 3 && t.objects*4 >= t.good*3)
}

// wrapper returns the key that all good results have around an object, if they do.
func (t *tool) wrapper() (key string, ok bool) {
	for key, n := range t.wrapped {
		if n == t.objects && t.structured() {
			return key, true
		}
	}
	return "", false
}

// body is what good results hold, under their wrapper if they have one.
func (t *tool) body() *fields {
	if key, ok := t.wrapper(); ok {
		return t.inner[key]
	}
	return t.results
}

// fields counts the fields of objects.
type fields struct {
	objects int
	order   []string // as they were met
	of      map[string]*field
}

// field is what is known of a field.
type field struct {
	present  int
	scalar   int
	texts    int // strings that are not empty
	constant string
	varies   bool
	longest  int // text
	// free is set if a value does not have the shape of an identifier: free text is
	// content, and no reference is made of it.
	free bool
}

func newFields() *fields { return &fields{of: map[string]*field{}} }

// maxFields is how many fields are looked at; wider objects are maps, whose keys
// mean nothing.
const maxFields = 64

func (f *fields) add(v jsonvalue.Value) {
	f.objects++
	for i := range v.Len() {
		key, member := v.Member(i)
		known := f.of[key]
		if known == nil {
			if len(f.of) >= maxFields || !nameable(key) {
				continue
			}
			key = strings.Clone(key)
			known = &field{}
			f.of[key] = known
			f.order = append(f.order, key)
		}
		if member.IsNull() {
			continue
		}
		known.present++
		text, ok := member.Scalar()
		if !ok {
			continue
		}
		known.scalar++
		known.free = known.free || text != "" && !mask.Identifier(text)
		known.longest = max(known.longest, len(text))
		if member.Kind() == jsonvalue.StringKind && text != "" {
			known.texts++
		}
		const longest = 256
		switch {
		case known.varies || len(text) > longest:
			known.varies = true
		case known.scalar == 1:
			known.constant = strings.Clone(text)
		case known.constant != text:
			known.varies, known.constant = true, ""
		}
	}
}

// nameable reports whether a policy can name a field or a tool.
func nameable(name string) bool {
	const longest = 256
	return name != "" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= longest && !strings.ContainsFunc(name, unicode.IsControl)
}

// always lists the fields that every object has, with a value.
func (f *fields) always() []string {
	var out []string
	for _, key := range f.order {
		if f.objects > 0 && f.of[key].present == f.objects {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}

// nearly lists the fields that most objects have, but not all of them.
func (f *fields) nearly() []string {
	var out []string
	for _, key := range f.order {
		if n := f.of[key].present; n < f.objects && n*10 >= f.objects*8 {
			out = append(out, fmt.Sprintf("%s (%d of %d)", key, n, f.objects))
		}
	}
	slices.Sort(out)
	return out
}

// references lists the fields that every object has as a scalar, and never as free
// text.
func (f *fields) references() []string {
	return slices.DeleteFunc(f.scalars(), f.free)
}

// free reports whether a field may hold free text.
func (f *fields) free(key string) bool { return f.of[key] == nil || f.of[key].free }

// scalars lists those of them that are always scalars.
func (f *fields) scalars() []string {
	return slices.DeleteFunc(f.always(), func(key string) bool { return f.of[key].scalar != f.objects })
}
