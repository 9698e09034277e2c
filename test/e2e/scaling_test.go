// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Each worker is handed its own traces. One is killed while it holds all of each
// trace but the root; with its storage, it goes on where it was.
func TestWorkers(t *testing.T) {
	binary := distribution(t)
	r := startRelay(t, 0)
	dirs := []string{t.TempDir(), t.TempDir()}
	begin := func(n int) *collector {
		p := ports(t, 3)
		c := &collector{grpc: p[0], metrics: p[1]}
		c.process = run(t, "worker", binary, top, []string{
			variable("RESULTSEAL_GRPC_PORT", p[0]), variable("RESULTSEAL_METRICS_PORT", p[1]), variable("RESULTSEAL_HEALTH_PORT", p[2]),
			variable("RESULTSEAL_BACKEND", address(r.port)), variable("RESULTSEAL_STORAGE", filepath.Join(dirs[n], "held")),
			"RESULTSEAL_ROOT_DELAY=100ms", "RESULTSEAL_IDLE_TIMEOUT=5m",
		}, page(p[2], "/"), "--config", filepath.Join("deploy", "scaling", "worker.yaml"))
		return c
	}
	workers := []*collector{begin(0), begin(1)}
	// front hands a batch to the worker of its trace.
	front := func(id pcommon.TraceID, td ptrace.Traces) {
		require.NoError(t, dial(t, workers[id[0]%2])(td))
	}

	want := map[pcommon.TraceID]int{}
	var roots []*made
	for i := range 20 {
		m := newMade("shop").call("lookup_stock", `{"sku":"X"}`, `{"sku":"X","qty":1}`).call("lookup_stock", `{"sku":"Y"}`, `{"sku":"Y","qty":2}`)
		m.id[0] = byte(i) // so that both workers have some
		for span := range spansOf(m.traces) {
			span.SetTraceID(m.id)
		}
		want[m.id] = 3
		calls := ptrace.NewTraces()
		m.traces.CopyTo(calls)
		isRoot := func(span ptrace.Span) bool { return span.ParentSpanID().IsEmpty() }
		calls.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(isRoot)
		m.spans.RemoveIf(func(span ptrace.Span) bool { return !isRoot(span) })
		front(m.id, calls)
		roots = append(roots, m)
	}
	workers[0].Kill()
	require.Empty(t, r.got())
	workers[0] = begin(0)
	for _, m := range roots {
		front(m.id, m.traces)
	}
	require.Eventually(t, func() bool { return len(r.got()) == len(want) }, patience, 50*time.Millisecond, "%d of %d traces came", len(r.got()), len(want))
	for _, w := range workers {
		w.stop(t)
	}
	require.Equal(t, want, r.got())
	for _, said := range []string{
		`{"key":"resultseal.session.finalized_by","value":{"stringValue":"root"}}`,
		`{"key":"resultseal.session.observations","value":{"intValue":"2"}}`,
	} {
		require.Equal(t, len(want), bytes.Count(r.text.Bytes(), []byte(said)), said)
	}
}

// The front is of another distribution, which is not run here. What can be known
// without it is that its configuration hangs together.
func TestFrontConfiguration(t *testing.T) {
	for name, files := range map[string][]string{
		"traceID":    {"front.yaml"},
		"attributes": {"front.yaml", "front-conversation.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			var uris []string
			for _, file := range files {
				uris = append(uris, "file:"+absolute(t, "deploy", "scaling", file))
			}
			resolver, err := confmap.NewResolver(confmap.ResolverSettings{
				URIs:              uris,
				ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory(), envprovider.NewFactory()},
			})
			require.NoError(t, err)
			conf, err := resolver.Resolve(t.Context())
			require.NoError(t, err)
			var front struct {
				Receivers  map[string]any `mapstructure:"receivers"`
				Processors map[string]any `mapstructure:"processors"`
				Extensions map[string]any `mapstructure:"extensions"`
				Exporters  struct {
					LoadBalancing struct {
						Key        string                    `mapstructure:"routing_key"`
						Attributes []string                  `mapstructure:"routing_attributes"`
						Protocol   map[string]map[string]any `mapstructure:"protocol"`
						Resolver   struct {
							Static struct {
								Hostnames []string `mapstructure:"hostnames"`
							} `mapstructure:"static"`
						} `mapstructure:"resolver"`
					} `mapstructure:"load_balancing"`
				} `mapstructure:"exporters"`
				Service struct {
					Extensions []string `mapstructure:"extensions"`
					Pipelines  map[string]struct {
						Receivers  []string `mapstructure:"receivers"`
						Processors []string `mapstructure:"processors"`
						Exporters  []string `mapstructure:"exporters"`
					} `mapstructure:"pipelines"`
				} `mapstructure:"service"`
			}
			require.NoError(t, conf.Unmarshal(&front), "there is something that should not be there")

			require.Len(t, front.Service.Pipelines, 1)
			pipeline := front.Service.Pipelines["traces"]
			require.ElementsMatch(t, slices.Collect(maps.Keys(front.Receivers)), pipeline.Receivers)
			require.ElementsMatch(t, slices.Collect(maps.Keys(front.Processors)), pipeline.Processors)
			require.ElementsMatch(t, slices.Collect(maps.Keys(front.Extensions)), front.Service.Extensions)
			require.Equal(t, []string{"load_balancing"}, pipeline.Exporters)

			to := front.Exporters.LoadBalancing
			require.Equal(t, name, to.Key)
			require.Equal(t, name == "attributes", len(to.Attributes) > 0)
			require.GreaterOrEqual(t, len(to.Resolver.Static.Hostnames), 2)
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(to.Resolver.Static.Hostnames))), len(to.Resolver.Static.Hostnames))
			require.Contains(t, to.Protocol, "otlp")
			require.NotContains(t, to.Protocol["otlp"], "endpoint", "the exporter sets it")
		})
	}
}
