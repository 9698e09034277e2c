// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"sync"
	"time"

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

// silentSpan is what stays behind of a span that says nothing. There are many of
// them, so they hold no pointers.
type silentSpan struct {
	id, parent pcommon.SpanID
	start, end pcommon.Timestamp
	attributes int32  // how many it had
	service    uint16 // its place among the services of the trace
	remote     bool   // its parent is another process's
}

// silentBytes is what a silentSpan counts in max_bytes, as footprint does.
const silentBytes = 2 * 60

// silentSpans are those of one trace.
type silentSpans struct {
	spans    []silentSpan
	services []string
}

// add takes note of a span. A trace of more services than there are numbers for
// is not an agent's; the last of them stands for the rest.
func (s *silentSpans) add(span silentSpan, service string) {
	n := len(s.services) - 1
	for n >= 0 && s.services[n] != service {
		n--
	}
	if n < 0 && len(s.services) < math.MaxUint16 {
		s.services = append(s.services, service)
		n = len(s.services) - 1
	}
	span.service = uint16(max(n, 0)) //nolint:gosec // bounded above
	if s.spans == nil {
		s.spans = make([]silentSpan, 0, 4)
	}
	s.spans = append(s.spans, span)
}

// fact is the i-th span as it would have been decoded, as far as anybody asks.
func (s *silentSpans) fact(trace pcommon.TraceID, i int) genai.Span {
	span := &s.spans[i]
	return genai.Bare(genai.Span{
		TraceID: genai.TraceID(trace), SpanID: genai.SpanID(span.id), ParentID: genai.SpanID(span.parent), RemoteParent: span.remote,
		Start: genai.Timestamp(span.start), End: max(genai.Timestamp(span.start), genai.Timestamp(span.end)), Service: s.services[span.service],
	}, int(span.attributes))
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

// passedSpan is a silent span on its way to its shard.
type passedSpan struct {
	silentSpan
	trace   pcommon.TraceID
	service string
}

// passedSpans are those of a batch and a shard. They are used again for another
// batch when the shard has taken note of them.
type passedSpans []passedSpan

// bypass passes silent spans on. Any number of senders use it at the same time.
type bypass struct {
	filter *genai.Filter
	names  func(span string) bool // reports whether a protocol names such a span
	next   consumer.Traces
	shards int

	redact sync.Pool // of redactFunc
	marks  sync.Pool // of *[]bool, scratch
	spare  sync.Pool // of *passedSpans, empty
}

func newBypass(cfg *Config, filter *genai.Filter, names func(string) bool, next consumer.Traces) *bypass {
	b := &bypass{filter: filter, names: names, next: next, shards: cfg.shards()}
	b.redact.New = func() any { return newRedact(cfg) }
	b.marks.New = func() any { return new([]bool) }
	b.spare.New = func() any { return new(passedSpans) }
	return b
}

// pass gives the silent spans of a batch to the next consumer and returns what
// stays behind of them, by shard, and the other spans by their traces. If there
// is an error, the next consumer did not take the silent spans; if then nothing
// else is returned either, all others are in the batch again.
func (b *bypass) pass(ctx context.Context, td ptrace.Traces) (parts []*tracePart, passed []*passedSpans, err error) {
	marks := b.marks.Get().(*[]bool)
	defer b.marks.Put(marks)
	silent, all := b.mark(td, marks)
	if silent == 0 {
		return splitByTrace(td), nil, nil
	}
	passed = b.note(td, *marks)
	if silent < all {
		parts = splitOff(td, func(i int) bool { return !(*marks)[i] })
	}
	redact := b.redact.Get().(redactFunc)
	redact(td)
	b.redact.Put(redact)
	err = b.next.ConsumeTraces(ctx, td)
	if err == nil {
		return parts, passed, nil
	}
	for _, of := range passed {
		b.release(of)
	}
	var some consumererror.Traces
	if consumererror.IsPermanent(err) || errors.As(err, &some) {
		// The sender will not bring the batch again, or only a part that it does
		// not have from us.
		return parts, nil, err
	}
	giveBack(parts, td)
	return nil, nil, err
}

// release gives back what a shard has taken note of.
func (b *bypass) release(p *passedSpans) {
	if p == nil {
		return
	}
	clear(*p)
	*p = (*p)[:0]
	b.spare.Put(p)
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

// note takes down the marked spans, by shard.
func (b *bypass) note(td ptrace.Traces, marks []bool) []*passedSpans {
	out := make([]*passedSpans, b.shards)
	i := 0
	for _, rs := range td.ResourceSpans().All() {
		service := genai.Service(rs.Resource())
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				i++
				if !marks[i-1] {
					continue
				}
				trace := span.TraceID()
				n := shardOfTrace(trace, b.shards)
				if out[n] == nil {
					out[n] = b.spare.Get().(*passedSpans)
				}
				*out[n] = append(*out[n], passedSpan{
					trace: trace, service: service,
					silentSpan: silentSpan{
						id: span.SpanID(), parent: span.ParentSpanID(),
						start: span.StartTimestamp(), end: span.EndTimestamp(),
						attributes: int32(span.Attributes().Len()), //nolint:gosec // they came in one message
						remote:     genai.RemoteParent(span),
					},
				})
			}
		}
	}
	return out
}

// AddSilent takes note of spans that were passed on. Late ones are nobody's any
// more, and only counted. Limits are applied as by Add.
func (a *assembler) AddSilent(passed passedSpans, now time.Time) (out []*finished, late int) {
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
		t.silent.add(s.silentSpan, s.service)
		t.count++
		t.bytes, a.bytes = t.bytes+silentBytes, a.bytes+silentBytes
		if a.isOversize(t) {
			out = append(out, a.take(t, byOversize))
			t = nil
		}
	}
	return a.overflow(out), late
}
