// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package canonical

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// countDuplicates counts the redelivered spans.
func countDuplicates(trace ptrace.Traces) int {
	var few [32]uint64
	ids := few[:0]
	for span := range Spans(trace) {
		id := span.SpanID()
		ids = append(ids, binary.BigEndian.Uint64(id[:]))
	}
	if Repeated(ids) == 0 {
		return 0
	}
	copies := make([]Copy, 0, len(ids))
	for span := range Spans(trace) {
		copies = append(copies, Copy{
			ID: span.SpanID(), Kind: genai.SpanKind(span.Kind()), Start: span.StartTimestamp(), //nolint:gosec // OTLP has six
			Name: genai.HashName(span.Name()), Ended: span.EndTimestamp() != 0,
		})
	}
	return Redelivered(copies)
}

// Copy holds what the redeliveries of a span have in common, see score's spanIDs.
type Copy struct {
	ID    pcommon.SpanID
	Kind  genai.SpanKind
	Start pcommon.Timestamp
	Name  uint64 // see genai.HashName
	Ended bool
}

// Redelivered counts the spans that repeat another one, and sorts them. Spans
// without an id repeat nothing.
func Redelivered(copies []Copy) (n int) {
	compareEnds := func(a, b Copy) int {
		switch {
		case a.Ended == b.Ended:
			return 0
		case a.Ended:
			return -1
		}
		return 1
	}
	slices.SortFunc(copies, func(a, b Copy) int {
		return cmp.Or(bytes.Compare(a.ID[:], b.ID[:]), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Start, b.Start), compareEnds(a, b), cmp.Compare(a.Name, b.Name))
	})
	for i := 1; i < len(copies); i++ {
		a, b := &copies[i-1], &copies[i]
		if !b.ID.IsEmpty() && a.ID == b.ID && a.Kind == b.Kind && a.Start == b.Start && (a.Name == b.Name || !b.Ended) {
			n++
		}
	}
	return n
}

// Repeated counts the ids that are equal to an earlier one, and sorts them. Spans
// without an id, which is 0, repeat nothing.
func Repeated(ids []uint64) (n int) {
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] && ids[i] != 0 {
			n++
		}
	}
	return n
}
