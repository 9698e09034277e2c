// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/tailsamplingprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// attributes counts the spans that come out with an attribute, by its value.
func attributes(t *testing.T, s subject, w *workload, name string) map[string]int {
	t.Helper()
	got := map[string]int{}
	_, err := s.live(w, 1, func(td ptrace.Traces) {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					if v, ok := span.Attributes().Get(name); ok {
						got[v.AsString()]++
					}
				}
			}
		}
	})
	require.NoError(t, err)
	return got
}

// What is measured is the work that it is said to be.
func TestTheWorkIsDone(t *testing.T) {
	tools, err := newWorkload(toolShape, 30, 10)
	require.NoError(t, err)
	mixed, err := newWorkload(mixedShape, 30, 20)
	require.NoError(t, err)
	for _, settings := range []string{longWaits, streamSettings} {
		// In mode trace one goroutine passes on at a time with one shard.
		settings += "num_shards: 1\n"
		for _, policy := range []string{"policy.yaml", "policy-protocol.yaml"} {
			ours := resultseal("", policy, settings)
			require.Equal(t, map[string]int{"sealed": 300}, attributes(t, ours, tools, "resultseal.decision"))
			require.Equal(t, map[string]int{"sealed": 60}, attributes(t, ours, mixed, "resultseal.decision"))
		}
		ours := resultseal("", "policy-protocol.yaml", settings)
		require.Equal(t, map[string]int{"compliant": 30}, attributes(t, ours, tools, "resultseal.session.compliance"))
		require.Equal(t, map[string]int{"compliant": 30}, attributes(t, ours, mixed, "resultseal.session.compliance"))
	}
	transform := subject{factory: transformprocessor.NewFactory(), config: configFile("transform.yaml")}
	require.Equal(t, map[string]int{"Ada Lovelace": 300}, attributes(t, transform, tools, "customer.name"))
	require.Equal(t, map[string]int{"3": 300}, attributes(t, transform, tools, "customer.total"))
}

// A processor that loses spans is not measured.
func TestLostSpansAreAnError(t *testing.T) {
	w, err := newWorkload(plainShape, 30, 1)
	require.NoError(t, err)
	nothing := "decision_wait: 1m\npolicies:\n  - {name: none, type: probabilistic, probabilistic: {sampling_percentage: 0}}\n"
	s := subject{name: "tail_sampling", factory: tailsamplingprocessor.NewFactory(), config: nothing}
	_, err = s.live(w, 1, nil)
	require.EqualError(t, err, "30 spans went in, 0 came out")
}

// Every section that needs no other program runs, in small, and every line of it can be
// written.
func TestSections(t *testing.T) {
	for _, section := range sections {
		if section.name == "distribution" || section.name == "command" {
			continue
		}
		t.Run(section.name, func(t *testing.T) {
			b := budget{time.Millisecond}
			contests, err := section.build(b)
			require.NoError(t, err)
			require.NotEmpty(t, contests)
			for _, c := range contests {
				all, err := c.run(1, b.round)
				require.NoError(t, err)
				require.NotEmpty(t, c.lines)
				for _, l := range c.lines {
					require.Positive(t, all[l.of][0].wall)
					require.NotEmpty(t, l.what)
				}
				newTable().add(c, all)
			}
		})
	}
}
