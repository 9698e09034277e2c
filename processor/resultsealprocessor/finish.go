// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import "github.com/resultseal/otelcol-resultseal/internal/score"

// finish says how the wait for a trace's spans ended.
type finish struct {
	// By is what ended the wait. For late spans it is what ended the wait for
	// their trace before.
	By finishedBy

	// Late is set for spans that came after their trace was finished. They
	// are not the trace, only what came after it.
	Late bool
}

// finishedBy is the reason why a trace was finished, as it is written to
// resultseal.session.finalized_by and to metrics.
type finishedBy uint8

const (
	// byRoot: a root span came, and root_delay passed after it.
	byRoot finishedBy = iota
	// byIdle: no span came for idle_timeout.
	byIdle
	// byMaxAge: max_age passed since the first span.
	byMaxAge
	// byOverflow: it was the oldest trace when max_traces or max_bytes was
	// exceeded.
	byOverflow
	// byOversize: it alone exceeded max_bytes or max_spans_per_trace.
	byOversize
	// byShutdown: the collector was stopped or its configuration reloaded.
	byShutdown
)

// gap is the gap that a trace has which was finished early by the processor itself;
// none if it waited for all that could be expected.
func (b finishedBy) gap() score.Gaps {
	switch b {
	case byMaxAge:
		return score.GapSet(score.GapMaxAge)
	case byOverflow:
		return score.GapSet(score.GapOverflow)
	case byOversize:
		return score.GapSet(score.GapOversize)
	case byShutdown:
		return score.GapSet(score.GapShutdown)
	}
	return 0
}

func (b finishedBy) String() string {
	switch b {
	case byRoot:
		return "root"
	case byIdle:
		return "idle"
	case byMaxAge:
		return "max_age"
	case byOverflow:
		return "overflow"
	case byOversize:
		return "oversize"
	case byShutdown:
		return "shutdown"
	}
	return "unknown"
}
