// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package yaml11

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A number has so many characters.
func TestNumberLength(t *testing.T) {
	require.NotEqual(t, "limit", answer(t, "0."+strings.Repeat("0", maxNumber-3)+"1"))
	require.Equal(t, "limit", answer(t, "0."+strings.Repeat("0", maxNumber-2)+"1"))
}
