// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/redact"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

// redactFunc does with the content of spans what the configuration says. It is
// called after they were judged, on whatever way they leave.
type redactFunc func(ptrace.Traces)

// newRedact makes a redactFunc for one goroutine.
func newRedact(cfg *Config) redactFunc {
	replace := func(jsonvalue.Value) (string, bool) { return "", false }
	switch cfg.Content {
	case ContentDrop:
	case ContentHash:
		key := string(cfg.Annotations.HashKey)
		replace = func(v jsonvalue.Value) (string, bool) { return annotate.HashContent(v, key), true }
	default:
		return func(ptrace.Traces) {}
	}
	options, err := cfg.decoding()
	if err != nil {
		options = genai.Options{} // refused when the configuration was validated
	}
	r := redact.New(options, replace, cfg.ContentArguments)
	return func(td ptrace.Traces) {
		for p := range canonical.PlacedSpans(td) {
			r.Redact(p.Resource.Resource(), p.Scope.Scope(), p.Span)
		}
	}
}
