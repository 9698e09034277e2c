// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// trace is a completed trace while it is scored.
type trace struct {
	*assemble.Trace

	// The reader sets these. facts and sources are nil once the trace is scored.
	facts         []genai.Span
	sources       []ptrace.Span // of the facts
	conversations []string
	duplicates    int
	reading       time.Duration

	// scored is set once scoring was tried, or if there is nothing to score.
	scored  bool
	verdict *score.Session
	records []wal.Record // of its conversations
	// failed is set if decoding or scoring failed. The trace has no verdict.
	failed bool
}
