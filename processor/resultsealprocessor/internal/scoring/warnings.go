// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// maxWarned bounds how many names are remembered as warned of; they come from telemetry.
const maxWarned = 1000

// warnings logs once for each tool whose content was not captured the setting that
// captures it, and once for each gap that the processor made the setting that closes it.
type warnings struct {
	logger *zap.Logger
	tools  once[string]
	ahead  once[string] // services
	gap    once[score.Gap]
}

// once remembers keys, up to a number.
type once[K comparable] struct {
	known sync.Map
	count atomic.Int64
}

// first reports whether a key is new.
func (o *once[K]) first(key K) bool {
	if o.count.Load() >= maxWarned {
		return false
	}
	if _, again := o.known.LoadOrStore(key, struct{}{}); again {
		return false
	}
	o.count.Add(1)
	return true
}

func newWarnings(logger *zap.Logger) *warnings { return &warnings{logger: logger} }

// gapSettings are the settings that close the gaps which the processor makes.
var gapSettings = map[score.Gap]string{
	score.GapEvicted:  "raise max_sessions, session_ttl, max_session_bytes, max_bytes",
	score.GapRestart:  "set storage",
	score.GapOverflow: "raise max_traces, max_bytes",
	score.GapOversize: "raise max_spans_per_trace, max_bytes",
	score.GapMaxAge:   "raise max_age above the longest run of an agent",
	score.GapShutdown: "set storage",
}

// gaps logs the gaps of a session that a setting closes, each once, and once for
// each service that its clock is ahead.
func (w *warnings) gaps(v *score.Session, late bool) {
	service := display.Field(v.Service)
	if v.Ahead && w.ahead.first(service) {
		w.logger.Warn("Spans are dated ahead of this collector's clock by more than max_clock_skew; their traces do not join their conversations",
			zap.String("service", service))
	}
	if late {
		return // its trace was logged
	}
	for _, gap := range v.Gaps.List() {
		if setting, ok := gapSettings[gap]; ok && w.gap.first(gap) {
			w.logger.Warn("Events of a session may be missing; a violation that they could explain is inconclusive",
				zap.Stringer("gap", gap), zap.String("reason", gap.Reason()), zap.String("setting", setting))
		}
	}
}

func (w *warnings) warn(o *score.Observation) {
	tool := display.Field(o.Tool)
	if !w.tools.first(tool) {
		return
	}
	w.logger.Warn("a tool call came without usable content, so nothing can be said of its result",
		zap.String("tool", tool),
		zap.String("contract", o.Contract.Name),
		zap.String("reason", string(o.Evaluation.ReasonCodes[0])),
		zap.String("switch", o.ContentSwitch))
}
