// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// hotPaths are what is run for each span or event, with the allocations that
// each may make: the rendered text, where it is not there already, and the list
// of several nodes.
func hotPaths(t testing.TB) []hotPath {
	match := Match{
		Tools:    Globs{mustGlob(t, "get_order"), mustGlob(t, "crm_*"), mustGlob(t, "{search,find}_?*")},
		Agents:   Globs{mustGlob(t, "support-*")},
		Services: Globs{mustGlob(t, "crm-agent")},
	}
	s := testScope(t)
	doc := mustJSON(t, pathDocument)
	long := strings.Repeat("refund ", 500)
	var paths []hotPath
	add := func(name string, allocs float64, run func()) {
		paths = append(paths, hotPath{name, allocs, run})
	}
	add("match/literal", 0, func() { match.Matches("get_order", "support-1", "crm-agent") })
	add("match/pattern", 0, func() { match.Matches("search_customer", "support-1", "crm-agent") })
	add("match/none", 0, func() { match.Matches("send_email", "support-1", "crm-agent") })
	for name, glob := range map[string]string{"affixes": "a*b", "contains": "*order*", "class": "[a-z]*_[!0-9]*", "alternatives": "{get,list}_{order,customer}*"} {
		g := mustGlob(t, glob)
		add("glob/"+name, 0, func() { g.Match("get_customer_by_name") })
		add("glob/long/"+name, 0, func() { g.Match(long) })
	}
	for name, c := range map[string]struct {
		text   string
		allocs float64
	}{
		"literal":     {"crm://customers", 0},
		"string":      {"{arguments.s}", 0},
		"tool":        {"{tool.name}", 0},
		"ref":         {"customer:{arguments.s}", 1},
		"number":      {"customer:{arguments.id}", 1},
		"several":     {"{tool.name}/{arguments.a[1]}/{attributes.gen_ai.tool.name}", 1},
		"not found":   {"customer:{arguments.nowhere}", 0},
		"no argument": {"{attributes.a.b.c.d}", 0},
	} {
		tpl, err := ParseTemplate(c.text)
		require.NoError(t, err)
		add("template/"+name, c.allocs, func() { tpl.Render(s) })
	}
	for name, c := range map[string]struct {
		text   string
		allocs float64
	}{
		"root":     {"$", 0},
		"plain":    {"$.data.customer.tags[-1]", 0},
		"wildcard": {"$.data.customer.tags[*]", 5},
	} {
		p, err := ParsePath(c.text)
		require.NoError(t, err)
		add("path/"+name, c.allocs, func() { p.Select(doc) })
	}
	p, err := parseFieldPath("data.customer.name")
	require.NoError(t, err)
	field := FieldGlob{Path: p, Glob: mustGlob(t, "A*")}
	add("field", 0, func() { field.Matches(doc) })
	attribute, value := AttributeGlob{Name: "db.system", Glob: mustGlob(t, "postgres*")}, jsonvalue.String("postgresql")
	add("attribute", 0, func() { attribute.Matches(value) })
	add("label/as it is", 0, func() { DefaultLabel("search_customer") })
	add("label/replaced", 1, func() { DefaultLabel("crm.search customer") })
	return paths
}

type hotPath struct {
	name   string
	allocs float64
	run    func()
}

func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("allocations are counted without the race detector")
	}
	for _, p := range hotPaths(t) {
		if got := testing.AllocsPerRun(100, p.run); got > p.allocs {
			t.Errorf("%s: %v allocations, %v are allowed", p.name, got, p.allocs)
		}
	}
}

func BenchmarkHotPaths(b *testing.B) {
	for _, p := range hotPaths(b) {
		b.Run(p.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.run()
			}
		})
	}
}
