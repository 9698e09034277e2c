// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// scenario is what the recordings of one scenario through many instrumentations
// are expected to show: truth states by tool.
type scenario struct {
	Files map[string]map[string]struct {
		Observations map[string][]string `json:"observations"`
		// Optional are tools that may show one of these states, or nothing.
		Optional map[string][]string `json:"optional"`
	} `json:"files"`
}

// tools are what the contracts of the scenario's policy are about. Not every
// instrumentation has the name of a tool on its spans; the contract is.
var tools = map[string]string{
	"customer": "search_customer",
	"order":    "get_order",
	"email":    "send_email",
	"refund":   "refund",
	"stock":    "lookup_stock",
}

// What published instrumentations really send is told apart by the collector as
// it is expected: once as they sent it, request by request and byte for byte,
// and once torn into single spans in another order.
func TestInstrumentations(t *testing.T) {
	distribution(t)
	t.Parallel()
	policyPath := shared(t, "traces", "sdk", "policy.yaml")
	var expected scenario
	readJSON(t, shared(t, "traces", "sdk", "expected.json"), &expected)
	offline := newOffline(t, policyPath)

	var deliveries []delivery
	files := slices.Sorted(maps.Keys(expected.Files))
	for _, name := range files {
		path := shared(t, "traces", "sdk", name)
		records := readRecords(t, path)
		deliveries = append(deliveries, delivery{name: name, records: records, senders: 1, requests: asRecorded(path)})

		torn := delivery{name: name + " torn apart", senders: 4}
		for _, r := range records {
			torn.records = append(torn.records, r.inVariant(1))
		}
		torn.requests = through(overGRPC, batches(shuffled(torn.records, 1), 1))
		deliveries = append(deliveries, torn)
	}
	c, _ := deliver(t, settings{Processor: []string{policyFile(policyPath)}}, deliveries)
	c.stop(t)

	got := sortOut(t, deliveries, c.output.read(t))
	for i, d := range deliveries {
		name, variant := files[i/2], byte(i%2)
		t.Run(d.name, func(t *testing.T) {
			requireUntouched(t, d.records, got[d.name])
			traces := byTrace(got[d.name])
			for id, want := range expected.Files[name] {
				trace := traces[variantOf(t, id, variant)]
				require.NotEmpty(t, trace, id)
				states := map[string][]string{}
				for _, r := range trace {
					if contract := r.attribute(prefix + "contract"); contract != "" {
						tool, ok := tools[contract]
						require.True(t, ok, contract)
						states[tool] = append(states[tool], r.attribute(prefix+"truth_state"))
					}
				}
				seen := 0
				for tool := range states {
					slices.Sort(states[tool])
					seen += len(states[tool])
				}
				// A call that its instrumentation lost the span of is counted on the
				// session, if the model's messages tell of it.
				counted, err := strconv.Atoi(carrier(t, trace).attribute(prefix + "session.observations"))
				require.NoError(t, err)
				require.GreaterOrEqual(t, counted, seen, id)
				require.LessOrEqual(t, counted, seen+len(want.Optional), id)
				for tool, optional := range want.Optional {
					if len(states[tool]) == 1 && slices.Contains(optional, states[tool][0]) {
						delete(states, tool)
					}
				}
				require.Equal(t, want.Observations, states, "truth states of trace %s", id)
			}
			offline.requireAsOffline(t, d.records, got[d.name])
		})
	}
}

// asRecorded sends a recording's lines as they stand: each is the body of a
// request that an exporter sent.
func asRecorded(path string) func(*testing.T, *collector) []func(context.Context) error {
	return func(t *testing.T, c *collector) []func(context.Context) error {
		t.Helper()
		var out []func(context.Context) error
		for _, line := range readLines(t, path) {
			out = append(out, func(ctx context.Context) error {
				_, err := post(ctx, c, "application/json", line)
				return err
			})
		}
		return out
	}
}
