// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBetween(t *testing.T) {
	document := "# Title\n\n" + beginMarker + "\nold\n" + endMarker + "\n\nmore\n"
	changed, err := between(document, "new\ntable\n")
	require.NoError(t, err)
	require.Equal(t, "# Title\n\n"+beginMarker+"\nnew\ntable\n"+endMarker+"\n\nmore\n", changed)
	again, err := between(changed, "new\ntable\n")
	require.NoError(t, err)
	require.Equal(t, changed, again)

	for _, broken := range []string{"", beginMarker, beginMarker + "\n", endMarker + "\n" + beginMarker + "\n"} {
		_, err := between(broken, "new")
		require.ErrorContains(t, err, "has no line", "%q", broken)
	}
}

// The page that the table is for has a place for it.
func TestThePageHasAPlace(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "performance.md"))
	require.NoError(t, err)
	_, err = between(string(text), "new")
	require.NoError(t, err)
}

func TestAFileWithoutAPlaceIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.md")
	require.NoError(t, os.WriteFile(path, []byte("text\n"), 0o600))
	require.ErrorContains(t, writeBetween(path, "new"), path)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "text\n", string(text))
}
