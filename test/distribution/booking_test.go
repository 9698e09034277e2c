// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, into), path)
}

// study is what the published study says of its 60 runs.
type study struct {
	Traces map[string]struct {
		Outcome       string  `json:"outcome"`
		ViolatingSpan *string `json:"violating_span_id"`
	} `json:"traces"`
}

// compliances are the study's words for a session's compliance.
var compliances = map[string]string{"ok": "compliant", "unrecognized": "unrecognized", "violated": "violation"}

// The study's 60 runs come to the verdicts that it published, whichever way
// they come in: over each transport, in requests of any size, in the order in
// which they were exported and in none.
func TestBookingStudy(t *testing.T) {
	distribution(t)
	policyPath := shared(t, "traces", "booking", "policy.yaml")
	records := readRecords(t, shared(t, "traces", "booking", "traces.jsonl.gz"))
	var expected study
	readJSON(t, shared(t, "traces", "booking", "expected.json"), &expected)
	offline := newOffline(t, policyPath)

	for _, transport := range transports {
		t.Run(transport.name, func(t *testing.T) {
			t.Parallel()
			var deliveries []delivery
			variants := map[string]byte{}
			for _, size := range []int{1, 7, 100, len(records)} {
				for _, order := range []string{"as exported", "shuffled"} {
					d := delivery{name: fmt.Sprintf("%s, %d spans a request", order, size), senders: 1}
					variant := byte(len(deliveries) + 1)
					for _, r := range records {
						d.records = append(d.records, r.inVariant(variant))
					}
					sent := d.records
					if order == "shuffled" {
						sent, d.senders = shuffled(sent, uint64(variant)), 4
					}
					d.requests = through(transport.dial, batches(sent, size))
					variants[d.name] = variant
					deliveries = append(deliveries, d)
				}
			}
			c, _ := deliver(t, settings{Processor: []string{policyFile(policyPath)}}, deliveries)
			for outcome, runs := range map[string]int{"compliant": 31, "unrecognized": 24, "violation": 5} {
				want := float64(runs * len(deliveries))
				require.Equal(t, want, c.metric(t, "otelcol_processor_resultseal_sessions", `compliance="`+outcome+`"`, `finalized_by="root"`), outcome)
				require.Equal(t, want, c.metric(t, "otelcol_processor_resultseal_protocol_verdicts", `protocol="booking"`, `verdict="`+outcome+`"`), outcome)
			}
			require.Zero(t, c.metric(t, "otelcol_processor_resultseal_late_spans"))
			c.stop(t)

			// Only now it is certain that nothing comes twice.
			got := sortOut(t, deliveries, c.output.read(t))
			for _, d := range deliveries {
				t.Run(d.name, func(t *testing.T) {
					requireUntouched(t, d.records, got[d.name])
					requireStudy(t, expected, variants[d.name], got[d.name])
					offline.requireAsOffline(t, d.records, got[d.name])
				})
			}
		})
	}
}

// requireStudy requires the study's verdicts.
func requireStudy(t *testing.T, expected study, variant byte, got []record) {
	t.Helper()
	traces := byTrace(got)
	require.Len(t, traces, len(expected.Traces))
	counts := map[string]int{}
	for id, trace := range traces {
		name := variantID(id, variant).String()
		want, ok := expected.Traces[name]
		require.True(t, ok, name)
		top := root(t, trace)
		require.Equal(t, compliances[want.Outcome], top.attribute(prefix+"session.compliance"), name)
		require.Equal(t, `["booking=`+compliances[want.Outcome]+`"]`, top.attribute(prefix+"session.protocols"), name)
		require.Equal(t, "root", top.attribute(prefix+"session.finalized_by"), name)
		require.Equal(t, top.id(), carrier(t, trace).id(), name)
		counts[top.attribute(prefix+"session.compliance")]++

		violating := ""
		for _, r := range trace {
			event, has := r.event(prefix + "protocol.violation")
			require.Equal(t, has, r.attribute(prefix+"protocol.verdict") == "violation", "%s: %v", name, r.id())
			if has {
				require.Empty(t, violating, "%s has two violating spans", name)
				violating = r.id().span.String()
				protocol, _ := event.Attributes().Get(prefix + "protocol.name")
				require.Equal(t, "booking", protocol.AsString(), name)
			}
		}
		if want.ViolatingSpan == nil {
			require.Empty(t, violating, name)
		} else {
			require.Equal(t, *want.ViolatingSpan, violating, name)
		}
	}
	require.Equal(t, map[string]int{"compliant": 31, "unrecognized": 24, "violation": 5}, counts)
}
