// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

// The log names the setting that closes a gap once, and each service once whose
// clock is ahead. Gaps are counted each time.
func TestGapsAreLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := createDefaultConfig().(*Config)
		cfg.PolicyFile, cfg.NumShards, cfg.RootDelay, cfg.MaxAge = spantest.PolicyFile(t, readBeforeRefund), 1, 2*time.Second, 3*time.Second
		telemetry := componenttest.NewTelemetry()
		t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
		core, logs := observer.New(zapcore.WarnLevel)
		set := metadatatest.NewSettings(telemetry)
		set.Logger = zap.New(core)
		p, err := newTracesProcessor(set, cfg, consumertest.NewNop())
		require.NoError(t, err)
		require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
		send := func(lines ...string) {
			require.NoError(t, p.ConsumeTraces(context.Background(), spantest.AgentBatch(t, lines)))
		}
		for _, trace := range []string{"t1", "t2"} {
			// A trace that takes longer than max_age.
			send(trace + "/order parent=root call=order conv=" + trace + " start=1s end=2s")
			time.Sleep(2 * time.Second)
			send(trace + "/root root agent conv=" + trace + " start=0s end=3s")
			time.Sleep(2 * time.Second)
		}
		for _, line := range []string{
			"t3/root root agent conv=c start=3h end=3h res=shop", "t4/root root agent conv=c start=4h end=4h res=shop",
			"t5/root root agent conv=d start=3h end=3h res=store",
		} {
			send(line)
		}
		time.Sleep(3 * time.Second)
		require.NoError(t, p.Shutdown(context.Background()))

		settings := map[string]string{}
		for _, entry := range logs.FilterMessageSnippet("may be missing").All() {
			fields := entry.ContextMap()
			require.NotContains(t, settings, fields["gap"], "logged once")
			settings[fields["gap"].(string)] = fields["setting"].(string)
		}
		require.Equal(t, map[string]string{"max_age": "raise max_age above the longest run of an agent"}, settings)
		var services []string
		for _, entry := range logs.FilterMessageSnippet("dated ahead").All() {
			services = append(services, entry.ContextMap()["service"].(string))
		}
		require.Equal(t, []string{"shop", "store"}, services)

		m, err := telemetry.GetMetric("otelcol_processor_resultseal_session_gaps")
		require.NoError(t, err)
		counted := map[string]int64{}
		for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
			reason, _ := p.Attributes.Value("reason")
			if p.Value > 0 {
				counted[reason.AsString()] = p.Value
			}
		}
		require.Equal(t, map[string]int64{"max_age": 2, "ahead": 3}, counted)
	})
}
