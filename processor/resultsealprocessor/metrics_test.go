// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"fmt"
	"testing"

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

// What a whole processor counts of a few traces, with several shards that share
// their metrics, and the one warning that a tool gets whose content is missing.
func TestMetricsOfAWholeProcessor(t *testing.T) {
	telemetry := componenttest.NewTelemetry()
	defer func() { require.NoError(t, telemetry.Shutdown(context.Background())) }()
	core, logs := observer.New(zapcore.WarnLevel)
	set := metadatatest.NewSettings(telemetry)
	set.Logger = zap.New(core)
	cfg := createDefaultConfig().(*Config)
	cfg.PolicyFile = spantest.PolicyFile(t, `
contracts:
  - name: order
    match: {tools: [order]}
    claim_type: found
    required_fields: [total]
    freshness: {mode: not_required}
    source_ref: shop
    target_ref: "order:{tool.name}"
protocols:
  - name: once
    protocol: "!order.?order.end"
    after_end: violation
`)
	cfg.RootDelay, cfg.NumShards = 0, 4
	p, err := newTracesProcessor(set, cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	send := func(lines ...string) {
		require.NoError(t, p.ConsumeTraces(context.Background(), spantest.AgentBatch(t, lines)))
	}
	for i := range 8 { // sealed and compliant
		send(fmt.Sprintf(`t%d/o parent=r call=order id=1 result={"total":1} start=1s end=2s`, i), fmt.Sprintf("t%d/r root agent end=9s", i))
	}
	for i := range 3 { // nothing was recorded
		send(fmt.Sprintf(`u%d/o parent=r call=order id=1 start=1s end=2s`, i), fmt.Sprintf("u%d/r root agent end=9s", i))
	}
	// Out of order, blocked, and a tool without a contract.
	send(`v/x parent=r call=cancel id=1 result={} start=1s end=2s`, `v/o parent=r call=order id=2 result={"other":1} start=3s end=4s`,
		`v/p parent=r call=order id=3 result={} start=5s end=6s`, "v/r root agent end=9s")
	require.NoError(t, p.Shutdown(context.Background()))

	metadatatest.AssertEqualProcessorResultsealObservations(t, telemetry, points(
		point(0, "tool", "", "contract", "order", "severity", "warning", "decision", "sealed", "truth_state", "sealed"),
		point(0, "tool", "", "contract", "order", "severity", "warning", "decision", "blocked", "truth_state", "unknown"),
		point(8, "tool", "order", "contract", "order", "severity", "warning", "decision", "sealed", "truth_state", "sealed"),
		point(3, "tool", "order", "contract", "order", "severity", "warning", "decision", "blocked", "truth_state", "unknown"),
		point(1, "tool", "order", "contract", "order", "severity", "warning", "decision", "blocked", "truth_state", "empty"),
		point(1, "tool", "order", "contract", "order", "severity", "warning", "decision", "blocked", "truth_state", "partial"),
	), ignoreTime)
	metadatatest.AssertEqualProcessorResultsealSessions(t, telemetry, points(
		point(11, "compliance", "compliant", "finalized_by", "root"),
		point(1, "compliance", "violation", "finalized_by", "root"),
	), ignoreTime)
	metadatatest.AssertEqualProcessorResultsealProtocolVerdicts(t, telemetry, points(
		point(11, "protocol", "once", "severity", "warning", "verdict", "compliant"),
		point(1, "protocol", "once", "severity", "warning", "verdict", "violation"),
	), ignoreTime)
	metadatatest.AssertEqualProcessorResultsealUncontractedCalls(t, telemetry, points(point(1)), ignoreTime)
	m, err := telemetry.GetMetric("otelcol_processor_resultseal_reasons")
	require.NoError(t, err)
	reasons := map[string]int64{}
	for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
		code, _ := p.Attributes.Value("reason_code")
		reasons[code.AsString()] = p.Value
	}
	require.Equal(t, int64(3), reasons["RESULT_NOT_CAPTURED"])
	require.Equal(t, int64(1), reasons["MISSING_REQUIRED_FIELD"])
	m, err = telemetry.GetMetric("otelcol_processor_resultseal_score_duration")
	require.NoError(t, err)
	require.Equal(t, uint64(12), m.Data.(metricdata.Histogram[float64]).DataPoints[0].Count)

	warnings := logs.FilterMessageSnippet("without usable content").All()
	require.Len(t, warnings, 1)
	require.Equal(t, "order", warnings[0].ContextMap()["tool"])
	require.Contains(t, warnings[0].ContextMap()["switch"], "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_ONLY")
}
