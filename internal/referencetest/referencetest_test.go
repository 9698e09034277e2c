// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package referencetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCases: a number always makes the same case, and numbers make different ones.
func TestCases(t *testing.T) {
	seen := map[string]bool{}
	for i := range 500 {
		require.Equal(t, NewCase(i), NewCase(i))
		require.Equal(t, NewFixture(i), NewFixture(i))
		c := NewCase(i)
		seen[string(c.Input.Text)+string(c.Contract.Text)] = true
		require.Contains(t, []string{".json", ".yaml"}, filepath.Ext(NewFixture(i).File))
	}
	require.Len(t, seen, 500)
}

// TestStart: a reference that cannot be had is no failure, and the reason is given.
func TestStart(t *testing.T) {
	folder := t.TempDir()
	for name, tc := range map[string]struct{ script, want string }{
		"no interpreter":      {"", "no such file"},
		"no Python":           {"exit 3", "does not start"},
		"no reference":        {`echo '{"missing":"No module named resultseal"}'`, "No module named resultseal"},
		"another version":     {`echo '{"version":"0.2.0","python":"3.11"}'; cat`, "has resultseal 0.2.0"},
		"another interpreter": {`echo '{"version":"0.1.3","python":"3.13"}'; cat`, "is Python 3.13"},
		"the reference":       {`echo '{"version":"0.1.3","python":"3.11"}'; cat`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(folder, filepath.Base(t.Name()))
			if tc.script != "" {
				require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+tc.script+"\n"), 0o700))
			}
			t.Setenv(PythonVariable, path)
			r, why := start(t)
			if tc.want != "" {
				require.Contains(t, why, tc.want)
				require.Nil(t, r)
				return
			}
			require.Empty(t, why)
			var answers []string
			cases := func(yield func(int) bool) { _ = yield(1) && yield(2) }
			require.NoError(t, Each(r, cases, func(n int) any { return n }, func(_ int, text []byte) { answers = append(answers, string(text)) }))
			require.Equal(t, []string{"1\n", "2\n"}, answers)
		})
	}
}

// TestEachEnds: a reference that ends is an error, however much is still to be asked.
func TestEachEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "python")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho '{\"version\":\"0.1.3\",\"python\":\"3.11\"}'; head -n 2\n"), 0o700))
	t.Setenv(PythonVariable, path)
	r, why := start(t)
	require.Empty(t, why)
	cases := func(yield func(int) bool) {
		for i := range 100_000 {
			if !yield(i) {
				return
			}
		}
	}
	require.Error(t, Each(r, cases, func(n int) any { return n }, func(int, []byte) {}))
}
