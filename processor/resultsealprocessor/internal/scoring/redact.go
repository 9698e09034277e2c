// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/redact"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

// Content is what happens to the content of spans after they were scored, however they are
// forwarded. The zero value keeps it.
type Content struct {
	// Drop removes tool results, and Hash replaces them by their hash.
	Drop, Hash bool
	// HashKey makes a keyed hash, unless it is empty.
	HashKey string
	// Arguments does the same with the arguments of tool calls.
	Arguments bool
}

// redactFunc redacts the content of spans.
type redactFunc func(ptrace.Traces)

// newRedact returns a redactFunc for one goroutine.
func newRedact(c Content, o genai.Options) redactFunc {
	replace := func(jsonvalue.Value) (string, bool) { return "", false }
	switch {
	case c.Hash:
		replace = func(v jsonvalue.Value) (string, bool) { return annotate.HashContent(v, c.HashKey), true }
	case !c.Drop:
		return func(ptrace.Traces) {}
	}
	r := redact.New(o, replace, c.Arguments)
	return func(td ptrace.Traces) {
		for p := range canonical.PlacedSpans(td) {
			r.Redact(p.Resource.Resource(), p.Scope.Scope(), p.Span)
		}
	}
}
