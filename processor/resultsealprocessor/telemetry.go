// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/resultseal/otelcol-resultseal/internal/conversations"
	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/metadata"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// recorder writes the processor's own metrics, which metadata.yaml declares.
// All goroutines of the processor share it; on the way of a span it takes no
// lock.
type recorder struct {
	builder *metadata.TelemetryBuilder

	traces, sessions atomic.Int64
	bytes            func() int64

	// tools are the names that have a series of their own; the number of them
	// is bounded, since they come from outside.
	tools    grown[string, struct{}]
	maxTools int

	// options are the attribute sets that were used before: there are few,
	// and making one costs more than the measurement.
	options grown[series, metric.AddOption]
}

// grown is a map that is read without a lock and copied to grow, for what is
// known completely after a while.
type grown[K comparable, V any] struct {
	mu  sync.Mutex
	now atomic.Pointer[map[K]V]
}

func (g *grown[K, V]) get(key K) (v V, ok bool) {
	if m := g.now.Load(); m != nil {
		v, ok = (*m)[key]
	}
	return v, ok
}

func (g *grown[K, V]) len() int {
	if m := g.now.Load(); m != nil {
		return len(*m)
	}
	return 0
}

// add adds a value, unless the key is there already or limit, where it
// is not 0, is reached.
func (g *grown[K, V]) add(key K, limit int, value V) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, ok := g.get(key); ok {
		return true
	}
	if limit > 0 && g.len() >= limit {
		return false
	}
	next := make(map[K]V, g.len()+1)
	if m := g.now.Load(); m != nil {
		maps.Copy(next, *m)
	}
	next[key] = value
	g.now.Store(&next)
	return true
}

// series is a combination of attribute values of one metric.
type series struct {
	kind   seriesKind
	values [5]string
}

// seriesKind names the attributes that the values of a series belong to.
type seriesKind uint8

const (
	observationSeries seriesKind = iota
	reasonSeries
	sessionSeries
	protocolSeries
	causeSeries
	forgottenSeries
	gapSeries
	reloadSeries
	storageSeries
)

var seriesAttributes = [...][]string{
	observationSeries: {"tool", "contract", "severity", "decision", "truth_state"},
	reasonSeries:      {"reason_code"},
	sessionSeries:     {"compliance", "finalized_by"},
	protocolSeries:    {"protocol", "severity", "verdict"},
	causeSeries:       {"cause"},
	forgottenSeries:   {"cause"},
	gapSeries:         {"reason"},
	reloadSeries:      {"outcome"},
	storageSeries:     {"operation"},
}

// otherTool stands for all tools after the first max_tools.
const otherTool = "_other"

func newRecorder(set component.TelemetrySettings, maxTools int) (*recorder, error) {
	builder, err := metadata.NewTelemetryBuilder(set)
	if err != nil {
		return nil, err
	}
	r := &recorder{
		builder:  builder,
		maxTools: maxTools,
		bytes:    func() int64 { return 0 },
	}
	for _, gauge := range []struct {
		register func(metric.Int64Callback) error
		value    func() int64
	}{
		{builder.RegisterProcessorResultsealTracesActiveCallback, r.traces.Load},
		{builder.RegisterProcessorResultsealBytesActiveCallback, func() int64 { return r.bytes() }},
		{builder.RegisterProcessorResultsealSessionsActiveCallback, r.sessions.Load},
	} {
		err := gauge.register(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(gauge.value())
			return nil
		})
		if err != nil {
			builder.Shutdown()
			return nil, err
		}
	}
	return r, nil
}

// Shutdown ends the reading of what the loop holds.
func (r *recorder) Shutdown() { r.builder.Shutdown() }

// Announce makes every contract and protocol of the policy visible with the
// value 0, and so one that never meets anything.
func (r *recorder) Announce(p *policy.Policy) {
	for _, c := range p.Contracts {
		for _, v := range []struct{ decision, truthState string }{{"sealed", "sealed"}, {"blocked", "unknown"}} {
			r.add(r.builder.ProcessorResultsealObservations, 0, series{observationSeries, [5]string{"", c.Name, c.Severity.String(), v.decision, v.truthState}})
		}
	}
	for _, proto := range p.Protocols {
		for _, verdict := range []string{"compliant", "violation"} {
			r.add(r.builder.ProcessorResultsealProtocolVerdicts, 0, series{protocolSeries, [5]string{proto.Name, proto.Severity.String(), verdict}})
		}
	}
	ctx := context.Background()
	r.builder.ProcessorResultsealLateSpans.Add(ctx, 0)
	r.builder.ProcessorResultsealDuplicateSpans.Add(ctx, 0)
	r.builder.ProcessorResultsealUncontractedCalls.Add(ctx, 0)
	r.builder.ProcessorResultsealUnfollowedConversations.Add(ctx, 0)
	r.builder.ProcessorResultsealRefusedSpans.Add(ctx, 0)
	r.builder.ProcessorResultsealRetries.Add(ctx, 0)
	for _, cause := range []conversations.Cause{conversations.CauseTTL, conversations.CauseSessions} {
		r.Forgot(0, cause)
	}
	for _, gap := range score.AllGaps() {
		r.gap(gap, 0)
	}
	r.announceStorage()
	r.add(r.builder.ProcessorResultsealUnscoredTraces, 0, series{causeSeries, [5]string{"panic"}})
}

// AnnounceReloads makes every outcome of reading policy_file again visible with the
// value 0.
func (r *recorder) AnnounceReloads() {
	for _, outcome := range reloadOutcomes {
		r.addReloads(outcome, 0)
	}
}

// Reloaded counts what came of a policy_file that has changed.
func (r *recorder) Reloaded(outcome reloadOutcome) { r.addReloads(outcome, 1) }

func (r *recorder) addReloads(outcome reloadOutcome, n int64) {
	r.add(r.builder.ProcessorResultsealPolicyReloads, n, series{reloadSeries, [5]string{string(outcome)}})
}

// Observation counts a tool result that a contract was applied to, and the
// reasons against it.
func (r *recorder) Observation(tool string, contract *policy.Contract, decision, truthState string, reasons []engine.ReasonCode) {
	r.add(r.builder.ProcessorResultsealObservations, 1,
		series{observationSeries, [5]string{r.toolLabel(tool), contract.Name, contract.Severity.String(), decision, truthState}})
	for _, reason := range reasons {
		r.add(r.builder.ProcessorResultsealReasons, 1, series{reasonSeries, [5]string{string(reason)}})
	}
}

// Uncontracted counts tool calls that no contract matched.
func (r *recorder) Uncontracted(calls int) {
	r.builder.ProcessorResultsealUncontractedCalls.Add(context.Background(), int64(calls))
}

// Unfollowed counts conversations that were not followed, because their trace has
// too many.
func (r *recorder) Unfollowed(conversations int) {
	if conversations > 0 {
		r.builder.ProcessorResultsealUnfollowedConversations.Add(context.Background(), int64(conversations))
	}
}

// Session counts a finished session.
func (r *recorder) Session(compliance, finalizedBy string) {
	r.add(r.builder.ProcessorResultsealSessions, 1, series{sessionSeries, [5]string{compliance, finalizedBy}})
}

// Gaps counts a completed session for each of its gaps.
func (r *recorder) Gaps(gaps score.Gaps) {
	for _, gap := range gaps.List() {
		r.gap(gap, 1)
	}
}

func (r *recorder) gap(gap score.Gap, sessions int64) {
	r.add(r.builder.ProcessorResultsealSessionGaps, sessions, series{gapSeries, [5]string{gap.String()}})
}

// ProtocolVerdict counts what one protocol says of a finished session.
func (r *recorder) ProtocolVerdict(protocol *policy.Protocol, verdict string) {
	r.add(r.builder.ProcessorResultsealProtocolVerdicts, 1, series{protocolSeries, [5]string{protocol.Name, protocol.Severity.String(), verdict}})
}

// Holding counts traces that are held, more than before or fewer.
func (r *recorder) Holding(more int) { r.traces.Add(int64(more)) }

// HoldingSessions counts sessions whose monitors are held, more than before or
// fewer.
func (r *recorder) HoldingSessions(more int) { r.sessions.Add(int64(more)) }

// Forgot counts conversations whose state was given up.
func (r *recorder) Forgot(sessions int, cause conversations.Cause) {
	r.add(r.builder.ProcessorResultsealSessionsForgotten, int64(sessions), series{forgottenSeries, [5]string{string(cause)}})
}

// Late counts spans that came after their trace was finished.
func (r *recorder) Late(spans int) {
	r.builder.ProcessorResultsealLateSpans.Add(context.Background(), int64(spans))
}

// Duplicates counts spans that repeat a span id of their trace.
func (r *recorder) Duplicates(spans int) {
	if spans > 0 {
		r.builder.ProcessorResultsealDuplicateSpans.Add(context.Background(), int64(spans))
	}
}

// Refused counts spans that the next component refused.
func (r *recorder) Refused(spans int) {
	r.builder.ProcessorResultsealRefusedSpans.Add(context.Background(), int64(spans))
}

// Retried counts an offer to the next component after the first.
func (r *recorder) Retried() {
	r.builder.ProcessorResultsealRetries.Add(context.Background(), 1)
}

// Unscored counts a trace whose scoring failed.
func (r *recorder) Unscored() {
	r.add(r.builder.ProcessorResultsealUnscoredTraces, 1, series{causeSeries, [5]string{"panic"}})
}

// announceStorage makes the failures of a storage visible with the value 0, also
// where there is none, so that an alert on them finds a series.
func (r *recorder) announceStorage() {
	for _, operation := range [...]wal.Operation{wal.Read, wal.Append, wal.Acknowledge, wal.Close} {
		r.StorageFailed(operation, 0)
	}
}

// StorageFailed counts operations of the storage that failed.
func (r *recorder) StorageFailed(operation wal.Operation, failures int) {
	r.add(r.builder.ProcessorResultsealStorageFailures, int64(failures), series{storageSeries, [5]string{string(operation)}})
}

// ScoreDuration records how long one trace took.
func (r *recorder) ScoreDuration(took time.Duration) {
	r.builder.ProcessorResultsealScoreDuration.Record(context.Background(), took.Seconds())
}

// toolLabel is the name under which a tool is counted.
func (r *recorder) toolLabel(tool string) string {
	tool = display.Label(tool)
	if _, known := r.tools.get(tool); known {
		return tool
	}
	if r.tools.len() >= r.maxTools || !r.tools.add(tool, r.maxTools, struct{}{}) {
		return otherTool
	}
	return tool
}

func (r *recorder) add(counter metric.Int64Counter, n int64, s series) {
	option, ok := r.options.get(s)
	if !ok {
		var attributes []attribute.KeyValue
		for i, name := range seriesAttributes[s.kind] {
			attributes = append(attributes, attribute.String(name, display.Label(s.values[i])))
		}
		option = metric.WithAttributeSet(attribute.NewSet(attributes...))
		r.options.add(s, 0, option)
	}
	counter.Add(context.Background(), n, option)
}
