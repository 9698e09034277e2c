// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"
)

// Everybody has a turn in every round, and not always after the same one.
func TestTurns(t *testing.T) {
	var turns string
	speaker := func(name string) contestant {
		return contestant{name, func(time.Duration) (figures, error) {
			turns += name
			return figures{cpu: float64(len(turns))}, nil
		}}
	}
	c := &contest{contestants: []contestant{speaker("a"), speaker("b"), speaker("c")}}
	all, err := c.run(4, time.Second)
	require.NoError(t, err)
	require.Equal(t, "abc"+"abc"+"cba"+"abc"+"cba", turns)
	require.Equal(t, results{
		{{cpu: 4}, {cpu: 9}, {cpu: 10}, {cpu: 15}},
		{{cpu: 5}, {cpu: 8}, {cpu: 11}, {cpu: 14}},
		{{cpu: 6}, {cpu: 7}, {cpu: 12}, {cpu: 13}},
	}, all, "the first turn is not counted")
}

func TestAFailedTurnEndsTheContest(t *testing.T) {
	c := &contest{name: "tools", contestants: []contestant{{"ours", func(time.Duration) (figures, error) {
		return figures{}, errors.New("3 spans went in, 2 came out")
	}}}}
	_, err := c.run(8, time.Second)
	require.EqualError(t, err, "tools, ours: 3 spans went in, 2 came out")
}

var kept []*[64]byte

func TestMeasured(t *testing.T) {
	f, err := measured(func() (int, error) {
		kept = nil
		for range 1000 {
			kept = append(kept, new([64]byte))
		}
		return 500, nil
	})
	require.NoError(t, err)
	require.InDelta(t, 2, f.allocs, 0.5)
	require.Positive(t, f.wall)

	_, err = measured(func() (int, error) { return 0, nil })
	require.Error(t, err)
}

func TestRepeated(t *testing.T) {
	n := 0
	c := repeated("", func() error { n++; return nil })
	_, err := c.round(10 * time.Millisecond)
	require.NoError(t, err)
	first := n
	_, err = c.round(10 * time.Millisecond)
	require.NoError(t, err)
	second := n - first
	_, err = c.round(time.Second)
	require.NoError(t, err)
	require.Equal(t, second, n-first-second, "all rounds are alike")
	require.Greater(t, second, 1000)

	failing := repeated("", func() error { return errors.New("not sealed") })
	_, err = failing.round(time.Second)
	require.EqualError(t, err, "not sealed")
}

// What is written down of the rounds is what benchstat reads.
func TestRounds(t *testing.T) {
	c := &contest{name: "seal/512 B", contestants: []contestant{{name: "ours"}, {name: "SHA-256"}}}
	var out bytes.Buffer
	require.NoError(t, writeRounds(&out, c, results{{{cpu: 2, wall: 3, allocs: 4}}, {{cpu: 5, wall: 6, allocs: -1}}}))
	reader := benchfmt.NewReader(&out, "rounds")
	var got []string
	for reader.Scan() {
		r, ok := reader.Result().(*benchfmt.Result)
		require.True(t, ok, "%v", reader.Result())
		got = append(got, r.Name.String())
		for _, unit := range []string{"sec/op", "cpu-sec/op"} {
			v, ok := r.Value(unit)
			require.True(t, ok, "%s: %s of %+v", r.Name, unit, r.Values)
			require.Positive(t, v)
		}
	}
	require.NoError(t, reader.Err())
	require.Equal(t, []string{"seal/512_B/ours", "seal/512_B/SHA-256"}, got)
}
