// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// pair is an argument and a field of the result.
type pair struct{ argument, field string }

// pairCount is how often both were there, and equal.
type pairCount struct{ both, equal int }

// maxPairs bounds what is compared.
const maxPairs = 1024

// compare looks for arguments that come back in the result.
func (t *tool) compare(arguments, result jsonvalue.Value) {
	for i := range arguments.Len() {
		name, value := arguments.Member(i)
		asked, ok := value.Scalar()
		if !ok || asked == "" || !nameable(name) {
			continue
		}
		for j := range result.Len() {
			field, member := result.Member(j)
			got, ok := member.Scalar()
			if !ok || got == "" || !nameable(field) {
				continue
			}
			key := pair{name, field}
			n := t.pairs[key]
			if n == nil {
				if len(t.pairs) >= maxPairs {
					continue
				}
				n = &pairCount{}
				t.pairs[pair{strings.Clone(name), strings.Clone(field)}] = n
			}
			if n.both++; asked == got {
				n.equal++
			}
		}
	}
}

// binding is the guess that a field of the result says what it is about.
type binding struct {
	pair
	pairCount
	rank int
}

// binding returns the best guess, false if nothing suggests one. An argument that
// always comes back is one; one that has the name of a field that identifies is
// one even if it never does: then the results are about something else, and that
// is what a contract is to find out.
func (t *tool) binding() (binding, bool) {
	var all []binding
	for p, n := range t.pairs {
		if t.arguments.free(p.argument) || t.body().free(p.field) {
			continue
		}
		b := binding{pair: p, pairCount: *n}
		same, near, names := sameName(p.argument, p.field), akin(p.argument, p.field), identifies(p.argument) || identifies(p.field)
		always := n.equal == n.both
		switch {
		case always && (same || near || names):
		case same && names:
		case always && n.both >= 3 && t.arguments.of[p.argument] != nil && t.arguments.of[p.argument].varies:
			// Different each time, and always the same as what was asked for.
		default:
			continue
		}
		for _, good := range []struct {
			holds  bool
			weight int
		}{{always, 8}, {same, 4}, {near, 2}, {identifies(p.argument), 2}, {identifies(p.field), 1}} {
			if good.holds {
				b.rank += good.weight
			}
		}
		all = append(all, b)
	}
	if len(all) == 0 {
		return binding{}, false
	}
	slices.SortFunc(all, func(a, b binding) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.both, a.both), cmp.Compare(a.argument, b.argument), cmp.Compare(a.field, b.field))
	})
	return all[0], true
}

// subject returns the argument that names what a call is about, "" if there is
// none that every call has, or if it is free text.
func (t *tool) subject() string {
	list := t.arguments.references()
	slices.SortStableFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(b), weight(a)), cmp.Compare(t.arguments.of[a].longest, t.arguments.of[b].longest))
	})
	if len(list) == 0 || t.arguments.objects == 0 {
		return ""
	}
	return list[0]
}

func weight(name string) int {
	switch list := words(name); {
	case identifies(name):
		return 2
	case len(list) > 0 && subjects[list[len(list)-1]]:
		return 1
	}
	return 0
}

// evidence returns the fields by which a result proves that something happened:
// they identify something, it is nothing that was asked for, and nothing that was
// there before.
func (t *tool) evidence() []string {
	var out []string
	for _, field := range t.body().references() {
		known := t.body().of[field]
		if !identifies(field) || holders[words(field)[0]] || !known.varies && t.body().objects > 1 {
			continue
		}
		asked := false
		for _, argument := range slices.Sorted(maps.Keys(t.arguments.of)) {
			n := t.pairs[pair{argument, field}]
			asked = asked || sameName(argument, field) || n != nil && n.equal > 0
		}
		if !asked {
			out = append(out, field)
		}
	}
	return out
}
