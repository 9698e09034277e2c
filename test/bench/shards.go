// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"time"
)

// shardSenders bring batches that are made beforehand, more of them than there are
// processors, so that a shard never waits for one.
const shardSenders = 4

// shards compares the throughput of two shards with that of one, on two processors.
func shards(b budget) ([]*contest, error) {
	var out []*contest
	for _, s := range []shape{toolShape, mixedShape} {
		w, err := newWorkload(s, b.scaled(40_000)/10, 10)
		if err != nil {
			return nil, err
		}
		c := &contest{name: "shards/" + s.name}
		for n := 1; n <= 2; n++ {
			settings := fmt.Sprintf("root_delay: 0s\nnum_shards: %d\n", n)
			subject := resultseal(fmt.Sprintf("num_shards: %d", n), "policy-protocol.yaml", settings)
			c.contestants = append(c.contestants, contestant{subject.name, func(time.Duration) (figures, error) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
				return subject.live(w, shardSenders, nil)
			}})
		}
		c.lines = []line{
			{
				what: "throughput with num_shards: 2, " + s.name, of: 1, against: 0, figure: wall, unit: " a span", inverse: true,
				target: target{ratioAtLeast: 1.7},
			},
			{what: "… processor time", of: 1, against: 0, unit: " a span"},
		}
		out = append(out, c)
	}
	return out, nil
}
