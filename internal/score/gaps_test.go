// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// The order is part of the attribute's definition.
func TestGapsInOrder(t *testing.T) {
	var all score.Gaps
	names := make([]string, 0, len(score.AllGaps()))
	for _, g := range score.AllGaps() {
		require.NotEmpty(t, g.Reason(), g)
		require.False(t, all.Has(g))
		all.Add(g)
		names = append(names, g.String())
	}
	const want = "root_missing parent_missing dropped model_call_missing messages content unnamed_call began evicted " +
		"out_of_order ahead restart overflow oversize max_age shutdown shared_id policy_changed no_spans unscored"
	require.Equal(t, want, all.String())
	require.Equal(t, names, all.Strings())
	require.Equal(t, score.AllGaps(), all.List())

	some := score.GapSet(score.GapShutdown, score.GapContent)
	require.Equal(t, "content shutdown", some.String())
	require.Equal(t, []score.Gap{score.GapContent, score.GapShutdown}, some.List())
	require.False(t, some.Has(score.GapDropped))
	require.Nil(t, score.Gaps(0).Strings())
	require.Nil(t, score.Gaps(0).List())
	require.Equal(t, "invalid", score.Gap(31).String())
	require.Equal(t, "invalid", score.Gap(31).Reason())
}
