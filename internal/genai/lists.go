// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "github.com/resultseal/otelcol-resultseal/internal/jsonvalue"

// maxListDepth bounds how deep in an object its lists are looked for.
const maxListDepth = 8

// Lists calls visit for each list of an object and of the objects in it, with the
// names that lead to it. It looks into no list. visit must not keep path.
func Lists(v jsonvalue.Value, visit func(path []string, list jsonvalue.Value)) {
	var path [maxListDepth]string
	lists(v, path[:0], visit)
}

func lists(v jsonvalue.Value, path []string, visit func([]string, jsonvalue.Value)) {
	if v.Kind() != jsonvalue.ObjectKind || len(path) == maxListDepth {
		return
	}
	for i := 0; i < v.Len(); i++ {
		key, member := v.Member(i)
		switch member.Kind() {
		case jsonvalue.ArrayKind:
			visit(append(path, key), member)
		case jsonvalue.ObjectKind:
			lists(member, append(path, key), visit)
		}
	}
}

// onlyList returns the list of an object that holds one list.
func onlyList(v jsonvalue.Value) (list jsonvalue.Value, ok bool) {
	n := 0
	Lists(v, func(_ []string, l jsonvalue.Value) { list, n = l, n+1 })
	return list, n == 1
}

// OnlyEmptyLists reports whether a value is an object that holds lists, all of
// which are empty.
func OnlyEmptyLists(v jsonvalue.Value) bool {
	n, empty := 0, 0
	Lists(v, func(_ []string, l jsonvalue.Value) {
		n++
		if l.Len() == 0 {
			empty++
		}
	})
	return n > 0 && n == empty
}
