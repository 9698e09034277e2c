// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"gopkg.in/yaml.v3"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadatatest"
)

var ignoreTime = metricdatatest.IgnoreTimestamp()

func point(value int64, attributes ...string) metricdata.DataPoint[int64] {
	var set []attribute.KeyValue
	for i := 0; i < len(attributes); i += 2 {
		set = append(set, attribute.String(attributes[i], attributes[i+1]))
	}
	return metricdata.DataPoint[int64]{Value: value, Attributes: attribute.NewSet(set...)}
}

func points(p ...metricdata.DataPoint[int64]) []metricdata.DataPoint[int64] { return p }

func TestMetricsOfTheAssembler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("no")
		var fail bool
		next := consumerFunc(func(context.Context, ptrace.Traces) error {
			if fail {
				return refused
			}
			return nil
		})
		p := newTestProcessor(t, next)
		p.start(t)
		p.consume(t, "t1/a", "t1/a", "t2/a")
		synctest.Wait()
		metadatatest.AssertEqualProcessorResultsealTracesActive(t, p.telemetry, points(point(2)), ignoreTime)
		size := assemble.Footprint(spantest.Batch(t, []string{"t1/a", "t1/a"})) + assemble.Footprint(spantest.Batch(t, []string{"t2/a"}))
		metadatatest.AssertEqualProcessorResultsealBytesActive(t, p.telemetry, points(point(size)), ignoreTime)

		time.Sleep(11 * time.Second)
		p.consume(t, "t1/late", "t1/later")
		time.Sleep(time.Second)
		metadatatest.AssertEqualProcessorResultsealTracesActive(t, p.telemetry, points(point(0)), ignoreTime)
		metadatatest.AssertEqualProcessorResultsealBytesActive(t, p.telemetry, points(point(0)), ignoreTime)
		metadatatest.AssertEqualProcessorResultsealDuplicateSpans(t, p.telemetry, points(point(1)), ignoreTime)
		metadatatest.AssertEqualProcessorResultsealLateSpans(t, p.telemetry, points(point(2)), ignoreTime)
		metadatatest.AssertEqualProcessorResultsealScoreDuration(t, p.telemetry, []metricdata.HistogramDataPoint[float64]{{
			Count:        3,
			Bounds:       []float64{0.00001, 0.0000316, 0.0001, 0.000316, 0.001, 0.00316, 0.01, 0.0316, 0.1, 0.316, 1},
			BucketCounts: []uint64{3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, // the clock stands still in the bubble
			Min:          metricdata.NewExtrema(0.0), Max: metricdata.NewExtrema(0.0),
		}}, ignoreTime)

		fail = true
		p.consume(t, "t4/a", "t4/b", "-/c")
		p.shutdown(t)
		metadatatest.AssertEqualProcessorResultsealRefusedSpans(t, p.telemetry, points(point(3)), ignoreTime)
		lost := 0
		for _, entry := range p.logs.FilterMessageSnippet("refused").All() {
			lost += int(entry.ContextMap()["spans"].(int64))
		}
		require.Equal(t, 3, lost)
	})
}

func contract(name string) *policy.Contract { return &policy.Contract{Name: name} }

func TestMetricsOfVerdicts(t *testing.T) {
	tt := componenttest.NewTelemetry()
	defer func() { require.NoError(t, tt.Shutdown(context.Background())) }()
	rec, err := newRecorder(tt.NewTelemetrySettings(), 2)
	require.NoError(t, err)
	defer rec.Shutdown()

	rec.Observation("a", contract("c1"), "sealed", "sealed", nil)
	rec.Observation("b", contract("c1"), "blocked", "empty", []engine.ReasonCode{"EMPTY_RESULT", "OTHER"})
	rec.Observation("c", contract("c1"), "sealed", "sealed", nil)
	rec.Observation("d", contract("c1"), "sealed", "sealed", nil)
	rec.Observation("a", contract("c1"), "sealed", "sealed", nil)
	metadatatest.AssertEqualProcessorResultsealObservations(t, tt, points(
		point(2, "tool", "a", "contract", "c1", "severity", "warning", "decision", "sealed", "truth_state", "sealed"),
		point(1, "tool", "b", "contract", "c1", "severity", "warning", "decision", "blocked", "truth_state", "empty"),
		point(2, "tool", "_other", "contract", "c1", "severity", "warning", "decision", "sealed", "truth_state", "sealed"),
	), ignoreTime)
	metadatatest.AssertEqualProcessorResultsealReasons(t, tt,
		points(point(1, "reason_code", "EMPTY_RESULT"), point(1, "reason_code", "OTHER")), ignoreTime)

	rec.Session("violation", "root")
	metadatatest.AssertEqualProcessorResultsealSessions(t, tt,
		points(point(1, "compliance", "violation", "finalized_by", "root")), ignoreTime)
	rec.Gaps(score.GapSet(score.GapRootMissing, score.GapShutdown))
	rec.Gaps(score.GapSet(score.GapShutdown))
	rec.Gaps(0)
	metadatatest.AssertEqualProcessorResultsealSessionGaps(t, tt,
		points(point(1, "reason", "root_missing"), point(2, "reason", "shutdown")), ignoreTime)
	rec.ProtocolVerdict(&policy.Protocol{Name: "booking", Metadata: policy.Metadata{Severity: policy.SeverityCritical}}, "violation")
	metadatatest.AssertEqualProcessorResultsealProtocolVerdicts(t, tt,
		points(point(1, "protocol", "booking", "severity", "critical", "verdict", "violation")), ignoreTime)
	rec.Unscored()
	metadatatest.AssertEqualProcessorResultsealUnscoredTraces(t, tt, points(point(1, "cause", "panic")), ignoreTime)
	rec.Uncontracted(4)
	metadatatest.AssertEqualProcessorResultsealUncontractedCalls(t, tt, points(point(4)), ignoreTime)
	rec.HoldingSessions(5)
	metadatatest.AssertEqualProcessorResultsealSessionsActive(t, tt, points(point(5)), ignoreTime)
}

// A contract or protocol that has met nothing is there as a zero.
func TestPolicyIsVisibleAsZeros(t *testing.T) {
	tt := componenttest.NewTelemetry()
	defer func() { require.NoError(t, tt.Shutdown(context.Background())) }()
	cfg, err := resolve(t, "policy_file: testdata/config/policy.yaml")
	require.NoError(t, err)
	p, err := newTracesProcessor(metadatatest.NewSettings(tt), cfg, consumertest.NewNop())
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Shutdown(context.Background())) }()
	metadatatest.AssertEqualProcessorResultsealObservations(t, tt, points(
		point(0, "tool", "", "contract", "customer", "severity", "warning", "decision", "sealed", "truth_state", "sealed"),
		point(0, "tool", "", "contract", "customer", "severity", "warning", "decision", "blocked", "truth_state", "unknown"),
	), ignoreTime)
	metadatatest.AssertEqualProcessorResultsealProtocolVerdicts(t, tt, points(
		point(0, "protocol", "support", "severity", "warning", "verdict", "compliant"),
		point(0, "protocol", "support", "severity", "warning", "verdict", "violation"),
	), ignoreTime)
	for _, name := range []string{"late_spans", "duplicate_spans", "uncontracted_calls", "session_gaps", "unfollowed_conversations", "refused_spans", "unscored_traces", "traces_active", "bytes_active", "sessions_active"} {
		m, err := tt.GetMetric("otelcol_processor_resultseal_" + name)
		require.NoError(t, err, name)
		require.Contains(t, fmt.Sprint(m.Data), "0", name)
	}
}

// Tool names come from outside; the number of series must not.
func TestToolLabelsAreBounded(t *testing.T) {
	tt := componenttest.NewTelemetry()
	defer func() { require.NoError(t, tt.Shutdown(context.Background())) }()
	rec, err := newRecorder(tt.NewTelemetrySettings(), 3)
	require.NoError(t, err)
	defer rec.Shutdown()
	for i := range 1000 {
		rec.Observation(fmt.Sprint("tool ", i), contract("c"), "sealed", "sealed", nil)
	}
	m, err := tt.GetMetric("otelcol_processor_resultseal_observations")
	require.NoError(t, err)
	require.Len(t, m.Data.(metricdata.Sum[int64]).DataPoints, 4)
	require.Equal(t, 4, rec.options.len())
	require.Equal(t, 3, rec.tools.len())
}

// The metric's attribute has the values that scoring knows, in their order.
// No name can make the metrics endpoint fail, or a scrape grow without bound.
func TestToolLabelsAreShort(t *testing.T) {
	tel := componenttest.NewTelemetry()
	rec, err := newRecorder(tel.NewTelemetrySettings(), 10)
	require.NoError(t, err)
	long := strings.Repeat("x", 20_000)
	for _, tool := range []string{"bad\xff\x00\x1b[31mname", long, long + "y"} {
		rec.Observation(tool, contract("order"), "sealed", "sealed", nil)
	}
	metadatatest.AssertEqualProcessorResultsealObservations(t, tel, points(
		point(1, "tool", "bad\uFFFD??[31mname", "contract", "order", "severity", "warning", "decision", "sealed", "truth_state", "sealed"),
		point(1, "tool", display.Label(long), "contract", "order", "severity", "warning", "decision", "sealed", "truth_state", "sealed"),
		point(1, "tool", display.Label(long+"y"), "contract", "order", "severity", "warning", "decision", "sealed", "truth_state", "sealed"),
	), ignoreTime)
}

func TestGapsOfMetadata(t *testing.T) {
	text, err := os.ReadFile("metadata.yaml")
	require.NoError(t, err)
	var m struct {
		Attributes map[string]struct{ Enum []string } `yaml:"attributes"`
	}
	require.NoError(t, yaml.Unmarshal(text, &m))
	var want []string
	for _, gap := range score.AllGaps() {
		want = append(want, gap.String())
	}
	require.Equal(t, want, m.Attributes["gap"].Enum)
}
