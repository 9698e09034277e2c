// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	c := &contest{
		contestants: []contestant{{name: "ours"}, {name: "theirs"}},
		lines: []line{
			{what: "as slow as", of: 0, against: 1, target: target{ratioAtMost: 2, allocs: 4, hasAllocs: true}, headline: "work"},
			{what: "as fast as", of: 0, against: 1, figure: wall, unit: " a span", inverse: true, target: target{ratioAtLeast: 0.85}},
			{what: "by itself", of: 1, against: alone},
		},
	}
	all := make(results, 2)
	for range 10 {
		all[0] = append(all[0], figures{cpu: 1500, wall: 2_000_000, allocs: 4.01})
		all[1] = append(all[1], figures{cpu: 1000, wall: 1_000_000, allocs: -1})
	}
	table := newTable()
	table.add(c, all)
	require.Equal(t, strings.TrimSpace(`
- work: 1.50 µs, 1.50 × theirs

| what | ResultSeal | allocations | beside | ratio | 95 % of ratios | target | met |
|---|---:|---:|---|---:|---:|---|---|
| as slow as | 1.50 µs ± 0 % | 4 | theirs: 1.00 µs | 1.50 | 1.50 – 1.50 | ≤ 2 ×, ≤ 4 allocations | yes |
| as fast as | 2.00 ms a span ± 0 % | 4 | theirs: 1.00 ms a span | 0.50 | 0.50 – 0.50 | ≥ 0.85 × | no |
| by itself | 1.00 µs ± 0 % |  |  |  |  |  |  |
`), strings.TrimSpace(table.String()))
}

func TestMet(t *testing.T) {
	none := ratio{math.NaN(), math.NaN(), math.NaN()}
	for _, tc := range []struct {
		target target
		ratio  float64
		ns     float64
		allocs float64
		want   string
	}{
		{target{}, 1, 1, 1, ""},
		{target{ratioAtMost: 2}, 2, 1, 1, "yes"},
		{target{ratioAtMost: 2}, 2.01, 1, 1, "no"},
		{target{ratioAtLeast: 1.7}, 1.7, 1, 1, "yes"},
		{target{ratioAtLeast: 1.7}, 1.69, 1, 1, "no"},
		{target{nsAtMost: 100, hasAllocs: true}, 0, 100, 0, "yes"},
		{target{nsAtMost: 100, hasAllocs: true}, 0, 101, 0, "no"},
		{target{nsAtMost: 100, hasAllocs: true}, 0, 100, 0.04, "yes"}, // the runtime's own
		{target{nsAtMost: 100, hasAllocs: true}, 0, 100, 1, "no"},
		{target{ratioAtMost: 6, allocs: 4, hasAllocs: true}, 5, 1, 5, "no"},
	} {
		r := none
		if tc.ratio > 0 {
			r.value = tc.ratio
		}
		require.Equal(t, tc.want, tc.target.met(r, tc.ns, tc.allocs), "%v: %+v", tc.target, tc)
	}
}

func TestWords(t *testing.T) {
	for ns, want := range map[float64]string{
		0.5: "0.50 ns", 8.234: "8.23 ns", 57.7: "57.7 ns", 348.2: "348 ns", 1500: "1.50 µs", 18_250: "18.2 µs",
		2.5e6: "2.50 ms", 1.234e9: "1.23 s",
	} {
		require.Equal(t, want, duration(ns))
	}
	for allocs, want := range map[float64]string{-1: "", 0: "0", 0.03: "0", 0.4: "0.4", 4.04: "4", 8.12: "8.1", 53.4: "53"} {
		require.Equal(t, want, count(allocs))
	}
	for pct, want := range map[string]string{"±3%": " ± 3 %", "± 3%": " ± 3 %", "±∞": "", "± ∞": ""} {
		require.Equal(t, want, spread(pct))
	}
}
