// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"
	"unique"

	"github.com/cespare/xxhash/v2"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
)

// In mode stream, most spans that come say nothing of an agent and are waited for
// by nobody. They go straight from the sender to the next consumer, batch for
// batch, and the sender is told what that one answers. What stays behind of each
// is its place in the tree: a tool's span may lie below it.

// silentSpan is what stays behind of a span that says nothing.
type silentSpan struct {
	trace      pcommon.TraceID
	id, parent pcommon.SpanID
	start, end pcommon.Timestamp
	service    unique.Handle[string]
	attributes int32 // how many it had
	remote     bool  // its parent is another process's
}

// silentBytes is what a silentSpan counts in max_bytes, as footprint does.
const silentBytes = 2 * 80

// fact is the span as it would have been decoded, as far as anybody asks.
func (s *silentSpan) fact() genai.Span {
	return genai.Bare(genai.Span{
		TraceID: genai.TraceID(s.trace), SpanID: genai.SpanID(s.id), ParentID: genai.SpanID(s.parent), RemoteParent: s.remote,
		Start: genai.Timestamp(s.start), End: max(genai.Timestamp(s.start), genai.Timestamp(s.end)), Service: s.service.Value(),
	}, int(s.attributes))
}

// hash tells copies of a silent span apart.
func (s *silentSpan) hash() uint64 {
	var b [40]byte
	binary.LittleEndian.PutUint64(b[0:], uint64(s.start))
	binary.LittleEndian.PutUint64(b[8:], uint64(s.end))
	copy(b[16:], s.id[:])
	copy(b[24:], s.parent[:])
	binary.LittleEndian.PutUint64(b[32:], uint64(s.attributes)) //nolint:gosec // not negative
	return xxhash.Sum64(b[:])
}

// bypass passes silent spans on. Any number of senders use it at the same time.
type bypass struct {
	filter *genai.Filter
	names  func(span string) bool // reports whether a protocol names such a span
	next   consumer.Traces
	redact sync.Pool // of redactFunc
	marks  sync.Pool // of *[]bool, scratch
}

func newBypass(cfg *Config, filter *genai.Filter, names func(string) bool, next consumer.Traces) *bypass {
	b := &bypass{filter: filter, names: names, next: next}
	b.redact.New = func() any { return newRedact(cfg) }
	b.marks.New = func() any { return new([]bool) }
	return b
}

// pass gives the silent spans of a batch to the next consumer and returns what
// stays behind of them, and the other spans by their traces. If there is an error,
// the next consumer did not take the silent spans; if then nothing else is
// returned either, all others are in the batch again.
func (b *bypass) pass(ctx context.Context, td ptrace.Traces) (parts []*tracePart, passed []silentSpan, err error) {
	marks := b.marks.Get().(*[]bool)
	defer b.marks.Put(marks)
	silent, all := b.mark(td, marks)
	if silent == 0 {
		return splitByTrace(td), nil, nil
	}
	passed = make([]silentSpan, 0, silent)
	b.note(td, *marks, &passed)
	if silent < all {
		parts = splitOff(td, func(i int) bool { return !(*marks)[i] })
	}
	redact := b.redact.Get().(redactFunc)
	redact(td)
	b.redact.Put(redact)
	err = b.next.ConsumeTraces(ctx, td)
	var some consumererror.Traces
	switch {
	case err == nil:
		return parts, passed, nil
	case consumererror.IsPermanent(err) || errors.As(err, &some):
		// The sender will not bring the batch again, or only a part that it does
		// not have from us.
		return parts, nil, err
	default:
		giveBack(parts, td)
		return nil, nil, err
	}
}

// giveBack puts spans that were taken out of a batch back into it.
func giveBack(parts []*tracePart, td ptrace.Traces) {
	for _, part := range parts {
		part.spans.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
	}
}

// mark notes for each span whether it can be passed on: it is silent, no root,
// which has to wait for the session's verdict, and of some trace.
func (b *bypass) mark(td ptrace.Traces, marks *[]bool) (silent, all int) {
	to := (*marks)[:0]
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				is := !isRoot(span) && !span.TraceID().IsEmpty() && b.filter.Silent(span) && !b.names(span.Name())
				if is {
					silent++
				}
				to = append(to, is)
			}
		}
	}
	*marks = to
	return silent, len(to)
}

func (b *bypass) note(td ptrace.Traces, marks []bool, passed *[]silentSpan) {
	i := 0
	for _, rs := range td.ResourceSpans().All() {
		var service unique.Handle[string]
		known := false
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				i++
				if !marks[i-1] {
					continue
				}
				if !known {
					service, known = unique.Make(genai.Service(rs.Resource())), true
				}
				*passed = append(*passed, silentSpan{
					trace: span.TraceID(), id: span.SpanID(), parent: span.ParentSpanID(),
					start: span.StartTimestamp(), end: span.EndTimestamp(),
					service:    service,
					attributes: int32(span.Attributes().Len()), //nolint:gosec // they came in one message
					remote:     genai.RemoteParent(span),
				})
			}
		}
	}
}

// bySilentShard puts what stays behind into the order of its shards, in one piece
// of memory.
func bySilentShard(passed []silentSpan, shards int) [][]silentSpan {
	out := make([][]silentSpan, shards)
	if shards == 1 {
		out[0] = passed
		return out
	}
	counts := make([]int, shards)
	for i := range passed {
		counts[shardOfTrace(passed[i].trace, shards)]++
	}
	room := make([]silentSpan, len(passed))
	for n, count := range counts {
		out[n], room = room[:0:count], room[count:]
	}
	for i := range passed {
		n := shardOfTrace(passed[i].trace, shards)
		out[n] = append(out[n], passed[i])
	}
	return out
}

// AddSilent takes note of spans that were passed on. Late ones are nobody's any
// more, and only counted. Limits are applied as by Add.
func (a *assembler) AddSilent(passed []silentSpan, now time.Time) (out []*finished, late int) {
	a.advance(now)
	var t *heldTrace
	for i := range passed {
		s := &passed[i]
		if t == nil || t.id != s.trace {
			if t = a.traces[s.trace]; t == nil {
				if a.isLate(s.trace) || a.late[s.trace] != nil {
					late++
					continue
				}
				t = a.holder(s.trace)
				t.bytes, a.bytes = t.bytes+2*partBytes, a.bytes+2*partBytes
			}
			a.requeue(queueIdle, t)
		}
		t.silent = append(t.silent, *s)
		t.count++
		t.bytes, a.bytes = t.bytes+silentBytes, a.bytes+silentBytes
		if a.isOversize(t) {
			out = append(out, a.take(t, byOversize))
			t = nil
		}
	}
	return a.overflow(out), late
}
