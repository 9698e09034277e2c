// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package redact

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Messages are edited so deep, and deeper values are replaced: they may hold anything.
func TestDepth(t *testing.T) {
	messages := func(n int) string {
		return redacted(t, map[string]any{"gen_ai.input.messages": `[{"role":"user","content":` + strings.Repeat("[", n) + `"the text"` + strings.Repeat("]", n) + `}]`}, nil, false)
	}
	require.Contains(t, messages(10), "the text")
	for _, n := range []int{maxDepth, maxDepth + 1, 900} {
		require.NotContains(t, messages(n), "the text")
		require.Contains(t, messages(n), `"role":"user"`)
	}
}
