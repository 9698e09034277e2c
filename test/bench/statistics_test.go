// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMedian(t *testing.T) {
	for _, tc := range []struct {
		values []float64
		want   float64
	}{
		{[]float64{3}, 3},
		{[]float64{3, 1}, 2},
		{[]float64{9, 1, 2}, 2},
		{[]float64{9, 1, 2, 4}, 3},
	} {
		before := append([]float64(nil), tc.values...)
		require.Equal(t, tc.want, median(tc.values))
		require.Equal(t, before, tc.values, "rounds stay in their order")
	}
}

// What slows both down in a round is no part of the ratio's spread.
func TestRatioOfRoundsThatAreDisturbedTogether(t *testing.T) {
	var a, b []float64
	for _, disturbed := range []float64{1, 1.1, 4, 1.2, 1, 9, 1.1, 1, 2, 1} {
		a, b = append(a, 30*disturbed), append(b, 10*disturbed)
	}
	r := ratioOf(a, b)
	require.InDelta(t, 3, r.value, 1e-9)
	require.InDelta(t, 3, r.lo, 1e-9)
	require.InDelta(t, 3, r.hi, 1e-9)
}

// The interval holds the true ratio about as often as it promises, is narrow if rounds
// are alike and wide if they are not, and comes out the same every time.
func TestRatioInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	held, wide := 0, map[float64]float64{}
	const tries = 60
	for _, noise := range []float64{0.02, 0.2} {
		for range tries {
			var a, b []float64
			for range 10 {
				a = append(a, 200*(1+noise*random.NormFloat64()))
				b = append(b, 100*(1+noise*random.NormFloat64()))
			}
			r := ratioOf(a, b)
			require.Equal(t, r, ratioOf(a, b))
			require.LessOrEqual(t, r.lo, r.value)
			require.LessOrEqual(t, r.value, r.hi)
			wide[noise] += (r.hi - r.lo) / tries
			if r.lo <= 2 && 2 <= r.hi {
				held++
			}
		}
	}
	require.Greater(t, float64(held), 0.85*2*tries)
	require.Greater(t, wide[0.2], 5*wide[0.02])
}
