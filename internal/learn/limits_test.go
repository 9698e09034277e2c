// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// However much a recording has, what is kept of it is bounded, and the policy is
// valid and says what is left out.
func TestLearningIsBounded(t *testing.T) {
	object := func(n int, format string) string {
		members := make([]string, n)
		for i := range members {
			members[i] = fmt.Sprintf(format, i, i)
		}
		return "{" + strings.Join(members, ",") + "}"
	}
	l := New()
	for i := range 2 * maxProtocols {
		l.Add(sessionOf(fmt.Sprint("agent ", i), true, called(t, "wide", object(60, `"a%d":"v%d"`), object(2*maxFields, `"f%d":"v%d"`))))
	}
	for i := range 2 * maxListPaths {
		l.Add(sessionOf("agent 0", true, called(t, "lists", `{}`, fmt.Sprintf(`{"list%d":[1]}`, i))))
	}
	l.Add(sessionOf("agent 1", true, called(t, strings.Repeat("é", 2*maxName), `{"id":"1"}`, `{"id":"1"}`)))
	require.LessOrEqual(t, len(l.tools["wide"].pairs), maxPairs)
	require.LessOrEqual(t, len(l.tools["wide"].body().of), maxFields)
	require.LessOrEqual(t, len(l.tools["lists"].lists), maxListPaths)
	text, s := written(t, l, Options{Tails: -1})
	require.Equal(t, maxProtocols, s.Protocols)
	require.Contains(t, text, fmt.Sprintf("# %d other agents have no protocol here.", maxProtocols))
	for line := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "- name: "); ok {
			require.LessOrEqual(t, len([]rune(name)), maxName)
		}
	}
}

// Runs beyond the largest tree are not learned from, and a protocol has few states.
func TestProtocolsAreBounded(t *testing.T) {
	o := newOrder()
	for i := range maxPrefixes / 10 {
		var run []string
		for k := range 20 {
			run = append(run, fmt.Sprint("e", i, "-", k))
		}
		o.add(run)
	}
	require.Len(t, o.nodes, maxPrefixes)
	require.True(t, o.full)

	o = newOrder()
	for i := range 500 {
		var run []string
		for k := range 30 {
			run = append(run, fmt.Sprint("e", (i*7+k*k)%13))
		}
		o.add(run)
	}
	require.Greater(t, len(o.automaton(5).states), maxStates)
	require.LessOrEqual(t, len(o.automaton(-1).states), max(maxStates, len(o.automaton(0).states)))
}
