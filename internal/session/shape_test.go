// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A shape holds what the drawings hold, and a monitor says where in it it is.
func TestShape(t *testing.T) {
	p, err := Parse("rec L.!{read(path as p).L, write(path == p, mode != 'x').?done, stop}")
	require.NoError(t, err)
	a, _, err := Compile(p)
	require.NoError(t, err)
	s := a.Shape()
	require.Len(t, s.States, a.States())
	require.Equal(t, []StateShape{{"0", false}, {"1", true}, {"2", false}}, s.States)
	require.Equal(t, []EdgeShape{
		{0, 0, "!read", "", "path as p", []string{"path"}},
		{0, 1, "!stop", "", "", nil},
		{0, 2, "!write", "path == p, mode != \"x\"", "", []string{"path", "mode"}},
		{2, 1, "?done", "", "", nil},
	}, s.Edges)

	m := a.NewMonitor()
	require.Equal(t, 0, m.State())
	m.Send("read", Fields{"path": StringValue("a")})
	require.Equal(t, 0, m.State())
	m.Send("write", Fields{"path": StringValue("a"), "mode": StringValue("w")})
	require.Equal(t, 2, m.State())
	m.Receive("done", nil)
	require.Equal(t, 1, m.State())
	require.True(t, s.States[m.State()].Terminal)
}
