// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// forever are the lines of a configuration that holds every trace for longer
// than a test takes.
var forever = append(holding(time.Hour, time.Hour), "max_age: 1h")

// What is held when the collector is asked to end comes out, with a verdict that
// says that the trace was completed early.
func TestShutdownPassesOnWhatIsHeld(t *testing.T) {
	distribution(t)
	t.Parallel()
	policyPath := shared(t, "traces", "booking", "policy.yaml")
	records := readRecords(t, shared(t, "traces", "booking", "traces.jsonl.gz"))
	var expected study
	readJSON(t, shared(t, "traces", "booking", "expected.json"), &expected)

	c := start(t, settings{Processor: append([]string{policyFile(policyPath)}, forever...)})
	requests := through(overGRPC, batches(records, 20))(t, c)
	require.NoError(t, sendAll(t.Context(), 2, requests))
	require.Equal(t, float64(len(expected.Traces)), c.metric(t, "otelcol_processor_resultseal_traces_active"))
	require.Empty(t, c.output.read(t), "nothing was due")
	c.stop(t)

	got := c.output.read(t)
	requireUntouched(t, records, got)
	for id, trace := range byTrace(got) {
		top := root(t, trace)
		require.Equal(t, "shutdown", top.attribute(prefix+"session.finalized_by"), id)
		// More of the trace may have been to come, which could explain a violation.
		want := compliances[expected.Traces[id.String()].Outcome]
		if want == "violation" {
			want = "inconclusive"
		}
		require.Equal(t, want, top.attribute(prefix+"session.compliance"), id)
		require.Contains(t, fmt.Sprint(top.attribute(prefix+"session.gaps")), "shutdown", id)
	}
}

// A collector that is asked to end while senders are busy passes on what it
// accepted, each span once. What it refused, its senders still have.
func TestShutdownUnderLoad(t *testing.T) {
	distribution(t)
	policyPath := writePolicy(t, goodPolicy)
	for _, transport := range transports {
		t.Run(transport.name, func(t *testing.T) {
			t.Parallel()
			c := start(t, settings{Processor: append([]string{policyFile(policyPath)}, forever...), Format: "proto"})
			sender := transport.dial(t, c)

			// Each sender sends a trace of its own, span by span, until it is
			// refused.
			const senders = 8
			var group sync.WaitGroup
			var accepted, refused [senders][]record
			var total atomic.Int64
			for i := range senders {
				trace := newTrace(string("12345678"[i]) + "0")
				group.Go(func() {
					for len(refused[i]) == 0 {
						r, span := trace.span("execute_tool search_customer")
						span.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
						span.Attributes().PutStr("gen_ai.tool.name", "search_customer")
						ctx, cancel := context.WithTimeout(context.Background(), patience)
						err := sender(ctx, r.copy().traces)
						cancel()
						if err != nil {
							refused[i] = append(refused[i], r)
						} else {
							accepted[i] = append(accepted[i], r)
							total.Add(1)
						}
					}
				})
			}
			require.Eventually(t, func() bool { return total.Load() > 500 }, patience, time.Millisecond)
			c.signal(t, syscall.SIGTERM)
			group.Wait()
			c.awaitExit(t)

			var sent, maybe []record
			for i := range senders {
				sent = append(sent, accepted[i]...)
				maybe = append(maybe, refused[i]...)
			}
			// The answer to a request that was accepted may be lost, so a span
			// that its sender counts as refused may be there.
			got := c.output.read(t)
			came := map[spanID]bool{}
			for _, r := range got {
				came[r.id()] = true
			}
			for _, r := range maybe {
				if came[r.id()] {
					sent = append(sent, r)
				}
			}
			requireUntouched(t, sent, got)
			for _, trace := range byTrace(got) {
				require.Equal(t, "shutdown", carrier(t, trace).attribute(prefix+"session.finalized_by"))
			}
		})
	}
}

// On SIGHUP a collector reads its configuration and the policy anew: what was
// held is judged by the old policy, what comes afterwards by the new one.
func TestReload(t *testing.T) {
	distribution(t)
	t.Parallel()
	policyPath := writePolicy(t, goodPolicy)
	c := start(t, settings{Processor: append([]string{policyFile(policyPath)}, forever...), Format: "proto"})
	before, after := newTrace("be"), newTrace("af")
	before.tool("search_customer", text(`{"data":{"customer_id":"42"}}`))
	after.tool("search_customer", text(`{"data":{"customer_id":"42"}}`))

	require.NoError(t, overGRPC(t, c)(t.Context(), putTogether(before.records)))
	require.NoError(t, os.WriteFile(policyPath, []byte(strings.Replace(goodPolicy, "[customer_id]", "[customer_id, name]", 1)), 0o600))
	c.signal(t, syscall.SIGHUP)
	c.awaitLog(t, "Everything is ready", 2)
	c.output.await(t, len(before.records))
	require.NoError(t, overGRPC(t, c)(t.Context(), putTogether(after.records)))
	c.stop(t)

	traces := byTrace(c.output.read(t))
	for _, tc := range []struct {
		trace *madeUp
		state string
	}{{before, "sealed"}, {after, "partial"}} {
		got := traces[tc.trace.id]
		requireUntouched(t, tc.trace.records, got)
		require.Equal(t, "shutdown", root(t, got).attribute(prefix+"session.finalized_by"))
		for _, r := range got {
			if r.span().Name() == "execute_tool search_customer" {
				require.Equal(t, tc.state, r.attribute(prefix+"truth_state"))
			}
		}
	}
}

// writePolicy writes a policy to a file of its own.
func writePolicy(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
