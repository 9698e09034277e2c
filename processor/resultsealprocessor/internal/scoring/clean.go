// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// cleaner removes names under the processor's prefix from spans, so that senders cannot
// forge verdicts, and detects spans without GenAI content. It does both in one pass over
// a span's attributes: another pass, in the goroutine of the sender, added a tenth to the
// cost of a span without GenAI content. It is immutable.
//
// Resources and scopes are cleaned when their batch arrives. Spans are cleaned where their
// attributes are read for the first time: before they are forwarded early, before they are
// decoded, and before they are put in canonical form.
type cleaner struct {
	own    annotate.Namespace
	filter *genai.Filter // for which spans with names under the prefix have GenAI content
}

func (s *Scoring) newCleaner() cleaner {
	return cleaner{s.own, genai.NewFilter(s.Decoding).WithPrefix(string(s.own))}
}

// plain cleans a span and reports whether it has no GenAI content, see [genai.Filter].
func (c cleaner) plain(span ptrace.Span) bool {
	plain := c.filter.Silent(span)
	if !plain && c.own.CleanAttributes(span.Attributes()) {
		plain = c.filter.Silent(span)
	}
	if span.Events().Len()+span.Links().Len() > 0 {
		c.own.CleanEventsAndLinks(span)
	}
	return plain
}
