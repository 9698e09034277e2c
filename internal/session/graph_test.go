// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGraphs compares with testdata/graphs. What is odd in them is odd on
// purpose: quotes, brackets and line breaks must not break a drawing.
func TestGraphs(t *testing.T) {
	drawn, _, err := CompileStates(StateMachine{
		Initial:  `say "hi"`,
		Terminal: []string{"a <b> & #c;\nd\\"},
		Transitions: []Transition{
			{From: `say "hi"`, Event: "!go", To: "a <b> & #c;\nd\\", When: `x != "<\"\\\n` + "`" + `>"`, Bind: "y as r"},
			{From: `say "hi"`, Event: "?wait", To: `say "hi"`},
		},
	})
	require.NoError(t, err)
	for name, a := range map[string]*Automaton{
		"booking": compiled(t, "rec Loop.!Ask.?{Yes, No.end, Unrecognized.Loop}.!Book.end"),
		"files":   compiled(t, `rec L.!{read(path as p).L, write(path == p, mode != "append", owner as o).L, stop}`),
		"drawn":   drawn,
	} {
		for extension, got := range map[string]string{"dot": a.DOT(), "mmd": a.Mermaid()} {
			golden := filepath.Join("testdata", "graphs", name+"."+extension)
			if *update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			require.Equal(t, string(want), got, golden)
		}
	}
}

// TestGraphsAreWhole has a node for every state and an arrow for every edge, and
// no line that a quote cuts in two.
func TestGraphsAreWhole(t *testing.T) {
	eachMeasuredCase(t, func(t *testing.T, c *measuredCase) {
		if c.kind() != "run" {
			return
		}
		a := compiled(t, *c.Protocol)
		dot, mermaid := a.DOT(), a.Mermaid()
		require.Equal(t, len(a.edges)+1, strings.Count(dot, " -> "), c.ID)
		require.Equal(t, len(a.edges)+1, strings.Count(mermaid, " -->"), c.ID)
		terminal := 0
		for _, s := range a.states {
			if s.terminal {
				terminal++
			}
		}
		require.Equal(t, terminal, strings.Count(dot, "shape=doublecircle"), c.ID)
		require.Equal(t, terminal, strings.Count(mermaid, `((("`), c.ID)
		for _, line := range strings.Split(strings.NewReplacer(`\\`, "", `\"`, "").Replace(dot)+mermaid, "\n") {
			require.Zero(t, strings.Count(line, `"`)%2, "%s: %s", c.ID, line)
		}
	})
}
