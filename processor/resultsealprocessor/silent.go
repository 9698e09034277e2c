// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
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
	name       uint64 // see genai.HashName
	attributes int32  // how many it had
	service    uint16 // its place among the services of the trace
	kind       genai.SpanKind
	remote     bool // its parent is another process's
}

// silentBytes is what a silentSpan counts in max_bytes, as footprint does, and
// serviceBytes what a further service of the trace does besides its name.
const (
	silentBytes  = 2 * 72
	serviceBytes = 2 * 64
)

// silentSpans are those of one trace.
type silentSpans struct {
	spans    []silentSpan
	services []string
	places   map[string]uint16 // of the services, once there are many
}

// fewServices are found without a map.
const fewServices = 8

// add takes note of a span, and says what that counts.
func (s *silentSpans) add(span silentSpan, service string) (bytes int64) {
	before := len(s.services)
	span.service = s.place(service)
	if s.spans == nil {
		s.spans = make([]silentSpan, 0, 8)
	}
	s.spans = append(s.spans, span)
	if len(s.services) > before {
		bytes = int64(serviceBytes + 2*textBytes(service))
	}
	return bytes + silentBytes
}

// place is where a service stands. A trace of more services than there are
// numbers for is not an agent's; the last of them stands for the rest.
func (s *silentSpans) place(service string) uint16 {
	if s.places == nil {
		if n := slices.Index(s.services, service); n >= 0 {
			return uint16(n) //nolint:gosec // there are few
		}
	} else if n, ok := s.places[service]; ok {
		return n
	}
	if len(s.services) > math.MaxUint16 {
		return math.MaxUint16
	}
	s.services = append(s.services, service)
	n := uint16(len(s.services) - 1) //nolint:gosec // bounded above
	switch {
	case s.places != nil:
		s.places[service] = n
	case len(s.services) > fewServices:
		s.places = make(map[string]uint16, 2*fewServices)
		for i, name := range s.services {
			s.places[name] = uint16(i) //nolint:gosec // there are few
		}
	}
	return n
}

// fact is the i-th span as it would have been decoded, as far as anybody asks.
func (s *silentSpans) fact(trace pcommon.TraceID, i int) genai.Span {
	span := &s.spans[i]
	return genai.Bare(genai.Span{
		TraceID: genai.TraceID(trace), SpanID: genai.SpanID(span.id), ParentID: genai.SpanID(span.parent), RemoteParent: span.remote,
		Start: genai.Timestamp(span.start), End: max(genai.Timestamp(span.start), genai.Timestamp(span.end)), Unended: span.end == 0,
		SpanKind: span.kind, Service: s.services[span.service],
	}, int(span.attributes), span.name)
}

// passed reports whether all spans of a finished trace were silent and have been
// passed on: there is nothing left to judge, and nothing to give to anybody.
func (f *finished) passed() bool { return f.spans == (ptrace.Traces{}) }

// hash tells copies of the i-th span apart.
func (s *silentSpans) hash(i int) uint64 {
	span := &s.spans[i]
	var b [56]byte
	binary.LittleEndian.PutUint64(b[0:], uint64(span.start))
	binary.LittleEndian.PutUint64(b[8:], uint64(span.end))
	copy(b[16:], span.id[:])
	copy(b[24:], span.parent[:])
	binary.LittleEndian.PutUint32(b[32:], uint32(span.attributes)) //nolint:gosec // not negative
	if span.remote {
		b[36] = 1
	}
	b[37] = byte(span.kind)
	binary.LittleEndian.PutUint64(b[48:], span.name)
	// By name: its place depends on what came first.
	binary.LittleEndian.PutUint64(b[40:], xxhash.Sum64String(s.services[span.service]))
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
	ctx     context.Context // calls end with it, beside the sender's
	cleaner cleaner
	next    consumer.Traces
	shards  int
	hashes  bool // redact replaces content by its hash

	redact sync.Pool // of redactFunc
	marks  sync.Pool // of *[]bool, scratch
	spare  sync.Pool // of *passedSpans, empty
}

func newBypass(ctx context.Context, cfg *Config, c cleaner, next consumer.Traces) *bypass {
	b := &bypass{ctx: ctx, cleaner: c, next: next, shards: cfg.shards(), hashes: cfg.Content == ContentHash}
	b.redact.New = func() any { return newRedact(cfg) }
	b.marks.New = func() any { return new([]bool) }
	b.spare.New = func() any { return new(passedSpans) }
	return b
}

// pass gives the silent spans of a batch to the next consumer and returns what
// stays behind of them, by shard, and the other spans by their traces. If there
// is an error and nothing else is returned, the next consumer took nothing and
// all spans are in the batch again.
func (b *bypass) pass(ctx context.Context, td ptrace.Traces, under *revision.InForce) (parts []*tracePart, passed []*passedSpans, err error) {
	marks := b.marks.Get().(*[]bool)
	defer b.marks.Put(marks)
	silent, all := b.mark(td, marks, under)
	if silent == 0 {
		return splitByTrace(td), nil, nil
	}
	passed = b.note(td, *marks, silent)
	if silent < all {
		parts = splitOff(td, func(i int) bool { return !(*marks)[i] })
	}
	out := td
	if b.hashes { // the sender may bring the batch again: no hash is to be hashed
		out = ptrace.NewTraces()
		td.CopyTo(out)
	}
	redact := b.redact.Get().(redactFunc)
	redact(out)
	b.redact.Put(redact)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()
	err = b.next.ConsumeTraces(ctx, out)
	if err == nil {
		return parts, passed, nil
	}
	var some consumererror.Traces
	switch {
	case consumererror.IsPermanent(err):
		// The sender does not retry. The spans are in the tree all the same.
		return parts, passed, err
	case errors.As(err, &some):
		// The sender retries the spans that were refused, which are noted then.
		exclude(passed, some.Data())
		return parts, passed, err
	}
	for _, of := range passed {
		b.release(of)
	}
	giveBack(parts, td)
	return nil, nil, err
}

// exclude takes the spans of td out of lists of forwarded spans.
func exclude(passed []*passedSpans, td ptrace.Traces) {
	type key struct {
		trace pcommon.TraceID
		span  pcommon.SpanID
		start pcommon.Timestamp
	}
	refused := map[key]int{}
	for span := range canonical.Spans(td) {
		refused[key{span.TraceID(), span.SpanID(), span.StartTimestamp()}]++
	}
	for _, of := range passed {
		if of == nil {
			continue
		}
		*of = slices.DeleteFunc(*of, func(s passedSpan) bool {
			k := key{s.trace, s.id, s.start}
			if refused[k] == 0 {
				return false
			}
			refused[k]--
			return true
		})
	}
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
// which has to wait for the session's verdict, and of some trace. Those spans are
// clean then; the shards clean the others.
func (b *bypass) mark(td ptrace.Traces, marks *[]bool, under *revision.InForce) (silent, all int) {
	to := (*marks)[:0]
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				is := !isRoot(span) && !span.TraceID().IsEmpty() && b.cleaner.silent(span) && !under.Names(span.Name())
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

// note takes down the marked spans, of which there are so many, by shard.
func (b *bypass) note(td ptrace.Traces, marks []bool, silent int) []*passedSpans {
	out := make([]*passedSpans, b.shards)
	share := silent/b.shards + silent/8 // some more than a shard's share
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
					*out[n] = slices.Grow(*out[n], share)
				}
				*out[n] = append(*out[n], passedSpan{
					trace: trace, service: service,
					silentSpan: silentSpan{
						id: span.SpanID(), parent: span.ParentSpanID(),
						start: span.StartTimestamp(), end: span.EndTimestamp(),
						name:       genai.HashName(span.Name()),
						attributes: int32(span.Attributes().Len()), //nolint:gosec // they came in one message
						kind:       genai.SpanKind(span.Kind()),    //nolint:gosec // OTLP has six
						remote:     genai.RemoteParent(span),
					},
				})
			}
		}
	}
	return out
}

// AddSilent takes note of spans that were passed on. A trace that they begin is
// evaluated by the revision. Late ones are nobody's any
// more, and only counted. Limits are applied by Add, which is called next with
// what else the batch holds, so that it is not cut through either.
func (a *assembler) AddSilent(passed passedSpans, r *revision.Revision, now time.Time) (late int) {
	a.advance(now)
	var t *heldTrace
	for i := range passed {
		s := &passed[i]
		if t == nil || t.id != s.trace {
			if t = a.traces[s.trace]; t == nil {
				_, decided := a.decided.get(s.trace)
				if decided || a.late[s.trace] != nil {
					late++
					continue
				}
				t = a.begin(s.trace, r)
				t.bytes, a.bytes = t.bytes+2*partBytes, a.bytes+2*partBytes
			}
			a.requeue(queueIdle, t)
		}
		bytes := t.silent.add(s.silentSpan, s.service)
		t.count++
		t.bytes, a.bytes = t.bytes+bytes, a.bytes+bytes
		if n := len(a.oversized); a.isOversize(t) && (n == 0 || a.oversized[n-1] != t) {
			a.oversized = append(a.oversized, t)
		}
	}
	return late
}
