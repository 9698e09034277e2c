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

// shards compares the throughput of two shards on two processors with that of one shard
// there, which is at work in several goroutines too, and with that of one on one.
func shards(b budget) ([]*contest, error) {
	var out []*contest
	for _, s := range []shape{toolShape, mixedShape} {
		w, err := newWorkload(s, b.scaled(40_000)/10, 10)
		if err != nil {
			return nil, err
		}
		c := &contest{name: "shards/" + s.name}
		for _, v := range []struct {
			name               string
			shards, processors int
		}{
			{"num_shards: 2", 2, 2},
			{"num_shards: 1", 1, 2},
			{"num_shards: 1, one processor", 1, 1},
		} {
			subject := resultseal(v.name, "policy-protocol.yaml", fmt.Sprintf("root_delay: 0s\nnum_shards: %d\n", v.shards))
			living := alive(subject, w, shardSenders)
			c.contestants = append(c.contestants, contestant{v.name, func(budget time.Duration) (figures, error) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(v.processors))
				return living.round(budget)
			}})
		}
		c.lines = []line{
			{
				what: "throughput with num_shards: 2, " + s.name, of: 0, against: 1, figure: wall, unit: " a span", inverse: true,
				target: target{ratioAtLeast: 1.7},
			},
			{what: "… beside one shard on one processor", of: 0, against: 2, figure: wall, unit: " a span", inverse: true},
			{what: "… processor time", of: 0, against: 1, unit: " a span"},
		}
		out = append(out, c)
	}
	return out, nil
}
