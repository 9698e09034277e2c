// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// With storage.yaml, what a collector has accepted outlives its being killed:
// what it was still holding, and what waited for a backend that was away.
func TestStorage(t *testing.T) {
	binary := distribution(t)
	r := startRelay(t, 0)
	dir := t.TempDir()
	begin := func(backend int, rootDelay string) *collector {
		p := ports(t, 5)
		c := &collector{grpc: p[0], metrics: p[2]}
		c.process = run(t, "stored", binary, top, []string{
			variable("RESULTSEAL_GRPC_PORT", p[0]), variable("RESULTSEAL_HTTP_PORT", p[1]), variable("RESULTSEAL_METRICS_PORT", p[2]),
			variable("RESULTSEAL_SPAN_METRICS_PORT", p[3]), variable("RESULTSEAL_HEALTH_PORT", p[4]),
			variable("RESULTSEAL_BACKEND", address(backend)), variable("RESULTSEAL_STORAGE", filepath.Join(dir, "held")),
			"RESULTSEAL_ROOT_DELAY=" + rootDelay, "RESULTSEAL_DECISION_WAIT=100ms", "RESULTSEAL_SAMPLE_PERCENT=100",
		}, page(p[4], "/"),
			"--config", filepath.Join("deploy", "collector", "recommended.yaml"),
			"--config", filepath.Join("deploy", "collector", "storage.yaml"))
		return c
	}
	want := map[pcommon.TraceID]int{}
	send := func(c *collector) {
		to := dial(t, c)
		for range 20 {
			m := newMade("shop").call("lookup_stock", `{"sku":"X"}`, `{"sku":"X","qty":1}`)
			want[m.id] = 2
			require.NoError(t, to(m.traces))
		}
	}
	// Its backend is away, and its traces get as far as the queue.
	first := begin(ports(t, 1)[0], "100ms")
	send(first)
	require.Eventually(t, func() bool { return first.value(t, "otelcol_exporter_queue_size", `data_type="traces"`) >= 40 }, patience, 50*time.Millisecond)
	first.Kill()
	require.Empty(t, r.got())

	// It is killed while the processor holds the next ones.
	second := begin(r.port, "4m")
	send(second)
	second.Kill()

	third := begin(r.port, "100ms")
	require.Eventually(t, func() bool { return len(r.got()) == len(want) }, patience, 50*time.Millisecond, "%d of %d traces came", len(r.got()), len(want))
	third.stop(t)
	for id, spans := range want {
		require.GreaterOrEqual(t, r.got()[id], spans)
	}
}
