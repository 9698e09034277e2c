// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package spill

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// What exceeds the memory goes to a file, and a blob has a size.
func TestLimits(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := &Store{}
	defer s.Close()
	blob := make([]byte, 1<<20)
	for range MemoryLimit / len(blob) {
		_, err := s.Put(blob)
		require.NoError(t, err)
	}
	require.Nil(t, s.file)
	_, err := s.Put(blob)
	require.NoError(t, err)
	require.NotNil(t, s.file)
	require.Zero(t, s.memory)

	if math.MaxInt > maxBlob {
		_, err = s.Put(make([]byte, maxBlob+1)) // takes no memory: nobody writes to it
		require.ErrorIs(t, err, errBlobSize)
	}
}
