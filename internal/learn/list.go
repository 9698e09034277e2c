// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// listed is how often results were about a list.
type listed struct{ results, empty int }

// maxListPaths bounds how many lists of a tool are counted.
const maxListPaths = 64

// addList notes the list that a result is about.
func (t *tool) addList(result, arguments jsonvalue.Value) {
	path, list, ok := listOf(result, arguments)
	if !ok {
		return
	}
	n := t.lists[path]
	if n == nil {
		if len(t.lists) >= maxListPaths {
			return
		}
		n = &listed{}
		t.lists[path] = n
	}
	n.results++
	if list.Len() == 0 {
		n.empty++
	}
}

// list returns the path of the list that all good results are about, if they are
// about one. A result without entries then says nothing.
//
// Where an argument comes back beside the list, the list is chosen only if it was
// seen empty: a contract checks either that the argument came back, or that there
// is an entry.
func (t *tool) list(claim engine.ClaimType) (path string, n listed, ok bool) {
	if claim == engine.ClaimEffectObserved || !t.structured() {
		return "", listed{}, false
	}
	for _, path := range slices.SortedFunc(maps.Keys(t.lists), cmp.Compare[string]) {
		if n := t.lists[path]; n.results == t.objects {
			_, bound := t.binding()
			return path, *n, n.empty > 0 || !bound
		}
	}
	return "", listed{}, false
}

// listOf returns the list that a result is about, with its path: the object has no
// other list, and beside it only counts, flags, what was asked for, and what the
// names in beside say.
func listOf(result, arguments jsonvalue.Value) (path string, list jsonvalue.Value, ok bool) {
	s := search{arguments: arguments}
	return s.path, s.list, s.object(result, "$", 0) && s.path != ""
}

// search looks for the list that a result is about.
type search struct {
	arguments jsonvalue.Value
	path      string
	list      jsonvalue.Value
}

// object looks in an object. It answers false if there is more in it than a list.
func (s *search) object(v jsonvalue.Value, path string, depth int) bool {
	const deepest = 8
	if depth == deepest {
		return false
	}
	for i := range v.Len() {
		key, member := v.Member(i)
		list := words(key)
		last := ""
		if len(list) > 0 {
			last = list[len(list)-1]
		}
		switch member.Kind() {
		case jsonvalue.ArrayKind:
			if besideLists[last] {
				continue
			}
			if s.path != "" || !nameable(key) {
				return false
			}
			s.path, s.list = path+pathStep(key), member
		case jsonvalue.ObjectKind:
			if beside[last] {
				continue
			}
			if !nameable(key) || !s.object(member, path+pathStep(key), depth+1) {
				return false
			}
		case jsonvalue.StringKind, jsonvalue.IntKind, jsonvalue.FloatKind:
			if text, _ := member.Scalar(); !beside[last] && (member.Kind() == jsonvalue.StringKind || identifies(key)) && strings.TrimSpace(text) != "" && !s.asked(text) {
				return false
			}
		}
	}
	return true
}

// asked reports whether a text is an argument of the call.
func (s *search) asked(text string) bool {
	if s.arguments.Kind() != jsonvalue.ObjectKind {
		return false
	}
	for i := range s.arguments.Len() {
		if _, argument := s.arguments.Member(i); argument.Kind() != jsonvalue.ArrayKind && argument.Kind() != jsonvalue.ObjectKind {
			if asked, ok := argument.Scalar(); ok && asked == text {
				return true
			}
		}
	}
	return false
}

// beside are the last words of the names of fields that stand beside a list: how
// it was searched for, how to go on, and what the source says of itself.
// besideLists are those of lists that stand beside it.
var (
	beside = wordSet("status message error errors warning warnings detail reason outcome success query q search filter filters sort order " +
		"next previous prev cursor token page pages offset limit total count size took url uri href link links self " +
		"source origin provider kind type object relation summary note notes hint hints meta metadata pagination paging info stats " +
		"facets aggregations suggestions shards at timestamp time updated version revision etag currency unit units language locale")
	besideLists = wordSet("errors warnings links facets aggregations suggestions hints notes shards")
)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}

// pathStep writes a name as a step of a JSONPath.
func pathStep(key string) string {
	if plainName(key) && !strings.Contains(key, "-") {
		return "." + key
	}
	return "[" + quoteStep(key) + "]"
}

// saysNothing reports whether a result says nothing: it is null, "", {} or [],
// what tools write for that, or an object of nothing else but lists.
func saysNothing(v jsonvalue.Value, depth int) bool {
	const deepest = 8
	switch v.Kind() {
	case jsonvalue.StringKind:
		return genai.Nothing(v.Text())
	case jsonvalue.ObjectKind:
		for i := range v.Len() {
			if _, member := v.Member(i); depth == deepest || member.Kind() == jsonvalue.ArrayKind || !saysNothing(member, depth+1) {
				return false
			}
		}
		return true
	}
	return !v.Usable()
}
