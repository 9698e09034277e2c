// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// Nothing under the processor's prefix leaves it that it did not write. Resources
// and scopes are cleaned batch by batch, when they come. Spans are cleaned where
// their attributes are looked at for the first time: before they are forwarded
// early, before they are decoded, and before they are put into canonical form.

// cleaner removes names under a prefix from spans, and tells silent spans apart.
// It does both in one look at a span's attributes: another look, in the goroutine
// of the sender, was seen to add a tenth to the cost of a silent span. It is
// immutable.
type cleaner struct {
	own    annotate.Namespace
	filter *genai.Filter // for which spans with names under the prefix are not silent
}

func newCleaner(prefix string, o genai.Options) cleaner {
	return cleaner{annotate.Namespace(prefix), genai.NewFilter(o).WithPrefix(prefix)}
}

// silent cleans a span and reports whether it is silent, see [genai.Filter].
func (c cleaner) silent(span ptrace.Span) bool {
	silent := c.filter.Silent(span)
	if !silent && c.own.CleanAttributes(span.Attributes()) {
		silent = c.filter.Silent(span)
	}
	if span.Events().Len()+span.Links().Len() > 0 {
		c.own.CleanEventsAndLinks(span)
	}
	return silent
}
