// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// writeRounds writes every round in the format of Go benchmarks, so that benchstat can
// compare one run of all this with another.
func writeRounds(to io.Writer, c *contest, all results) error {
	w := benchfmt.NewWriter(to)
	for i, rounds := range all {
		name := strings.ReplaceAll(c.name+"/"+c.contestants[i].name, " ", "_")
		for _, f := range rounds {
			r := &benchfmt.Result{Name: benchfmt.Name(name), Iters: 1, Values: []benchfmt.Value{
				{Value: f.wall, Unit: "ns/op"},
				{Value: f.cpu, Unit: "cpu-ns/op"},
			}}
			if f.allocs >= 0 {
				r.Values = append(r.Values, benchfmt.Value{Value: f.allocs, Unit: "allocs/op"})
			}
			if err := w.Write(r); err != nil {
				return err
			}
		}
	}
	return nil
}
