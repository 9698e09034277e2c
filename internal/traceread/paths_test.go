// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPaths(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.json", "a.jsonl", "sub/c.pb", "sub/deep/d.gz", ".hidden", ".git/config", "x[1].json"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "sub", "link")))
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "sub", "loop")))

	tests := []struct {
		name, args, want, err string
	}{
		{"files in the order given", "b.json a.jsonl", "b.json a.jsonl", ""},
		{"once each", "b.json ./b.json sub/../b.json -", "b.json -", ""},
		{"a directory", ".", "a.jsonl b.json sub/c.pb sub/deep/d.gz sub/link x[1].json", ""},
		{"a hidden file that is named", ".hidden", ".hidden", ""},
		{"a directory without files", "empty", "", "empty: no files are in it"},
		{"a glob", "*.json*", "a.jsonl b.json x[1].json", ""},
		{"a glob over directories", "s*b", "sub/c.pb sub/deep/d.gz sub/link", ""},
		{"a name that looks like a glob", "x[1].json", "x[1].json", ""},
		{"a glob that matches nothing", "*.xml", "", "*.xml: no file matches"},
		{"a glob that is none", "[", "", "[: the pattern is not valid"},
		{"what is not there is said when it is read", "nowhere", "nowhere", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Chdir(dir)
			got, err := Paths(strings.Fields(tt.args))
			if tt.err != "" {
				require.EqualError(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			for i := range got {
				got[i] = filepath.ToSlash(got[i])
			}
			require.Equal(t, strings.Fields(tt.want), got)
		})
	}
}
