// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package spill

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The store keeps what was put, in memory or not, and leaves no file.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	rapid.Check(t, func(t *rapid.T) {
		s := &Store{Limit: rapid.IntRange(0, 100).Draw(t, "limit")}
		texts := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 60)).Draw(t, "texts")
		var blobs []Blob
		for _, text := range texts {
			b, err := s.Put(text)
			require.NoError(t, err)
			blobs = append(blobs, b)
			got, err := s.Get(blobs[len(blobs)/2])
			require.NoError(t, err)
			require.Equal(t, string(texts[len(blobs)/2]), string(got))
		}
		for i, b := range blobs {
			got, err := s.Get(b)
			require.NoError(t, err)
			require.Equal(t, string(texts[i]), string(got))
		}
		require.NoError(t, s.Close())
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		require.Empty(t, left)
	})
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	s := &Store{Limit: 1}
	_, err := s.Put([]byte("xy"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

// What was put aside is not kept in memory as well.
func TestStoreLetsGo(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := &Store{Limit: 10}
	for range 3 {
		_, err := s.Put(make([]byte, 8))
		require.NoError(t, err)
	}
	require.Len(t, s.blocks, 1)
	for _, b := range s.blocks[:cap(s.blocks)][1:] {
		require.Zero(t, b)
	}
	require.NoError(t, s.Close())
}
