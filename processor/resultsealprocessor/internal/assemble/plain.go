// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
)

// PlainSpan is what is kept of a span without GenAI content that was forwarded early:
// its place in the tree, since the span of a tool call may be below it. There are many of
// them, so they hold no pointers.
type PlainSpan struct {
	ID, Parent pcommon.SpanID
	Start, End pcommon.Timestamp
	Name       uint64 // see genai.HashName
	Attributes int32  // their number
	service    uint16 // index among the services of the trace
	Kind       genai.SpanKind
	Remote     bool // the parent is another process's
}

// plainBytes is what a PlainSpan counts in max_bytes, as in Footprint, and serviceBytes
// what a further service of the trace does besides its name.
const (
	plainBytes   = 2 * 72
	serviceBytes = 2 * 64
)

// PlainSpans are the plain spans of one trace.
type PlainSpans struct {
	spans    []PlainSpan
	services []string
	indexes  map[string]uint16 // of the services, once there are many
}

// fewServices are found without a map.
const fewServices = 8

// Len returns the number of spans.
func (s *PlainSpans) Len() int { return len(s.spans) }

// At returns the i-th span.
func (s *PlainSpans) At(i int) *PlainSpan { return &s.spans[i] }

// add adds a span, and returns what it counts in max_bytes.
func (s *PlainSpans) add(span PlainSpan, service string) (bytes int64) {
	before := len(s.services)
	span.service = s.index(service)
	if s.spans == nil {
		s.spans = make([]PlainSpan, 0, 8)
	}
	s.spans = append(s.spans, span)
	if len(s.services) > before {
		bytes = int64(serviceBytes + 2*stringBytes(service))
	}
	return bytes + plainBytes
}

// index returns the index of a service. A trace of more services than there are numbers
// for is not an agent's; the last of them stands for the rest.
func (s *PlainSpans) index(service string) uint16 {
	if s.indexes == nil {
		if n := slices.Index(s.services, service); n >= 0 {
			return uint16(n) //nolint:gosec // there are few
		}
	} else if n, ok := s.indexes[service]; ok {
		return n
	}
	if len(s.services) > math.MaxUint16 {
		return math.MaxUint16
	}
	s.services = append(s.services, service)
	n := uint16(len(s.services) - 1) //nolint:gosec // bounded above
	switch {
	case s.indexes != nil:
		s.indexes[service] = n
	case len(s.services) > fewServices:
		s.indexes = make(map[string]uint16, 2*fewServices)
		for i, name := range s.services {
			s.indexes[name] = uint16(i) //nolint:gosec // there are few
		}
	}
	return n
}

// Fact returns the i-th span as it would have been decoded, as far as scoring reads it.
func (s *PlainSpans) Fact(trace pcommon.TraceID, i int) genai.Span {
	span := &s.spans[i]
	return genai.Bare(genai.Span{
		TraceID: genai.TraceID(trace), SpanID: genai.SpanID(span.ID), ParentID: genai.SpanID(span.Parent), RemoteParent: span.Remote,
		Start: genai.Timestamp(span.Start), End: max(genai.Timestamp(span.Start), genai.Timestamp(span.End)), Unended: span.End == 0,
		SpanKind: span.Kind, Service: s.services[span.service],
	}, int(span.Attributes), span.Name)
}

// Hash returns a hash that distinguishes copies of the i-th span.
func (s *PlainSpans) Hash(i int) uint64 {
	span := &s.spans[i]
	var b [56]byte
	binary.LittleEndian.PutUint64(b[0:], uint64(span.Start))
	binary.LittleEndian.PutUint64(b[8:], uint64(span.End))
	copy(b[16:], span.ID[:])
	copy(b[24:], span.Parent[:])
	binary.LittleEndian.PutUint32(b[32:], uint32(span.Attributes)) //nolint:gosec // not negative
	if span.Remote {
		b[36] = 1
	}
	b[37] = byte(span.Kind)
	binary.LittleEndian.PutUint64(b[48:], span.Name)
	// By name: its place depends on what came first.
	binary.LittleEndian.PutUint64(b[40:], xxhash.Sum64String(s.services[span.service]))
	return xxhash.Sum64(b[:])
}

// ForwardedSpan is a plain span on its way to its shard.
type ForwardedSpan struct {
	PlainSpan
	Trace   pcommon.TraceID
	Service string
}

// ForwardedSpans are the plain spans of a batch that belong to one shard. They are reused
// for another batch.
type ForwardedSpans []ForwardedSpan

var spareForwarded = sync.Pool{New: func() any { return new(ForwardedSpans) }}

// NewForwardedSpans returns an empty list with room for n spans.
func NewForwardedSpans(n int) *ForwardedSpans {
	f := spareForwarded.Get().(*ForwardedSpans)
	*f = slices.Grow(*f, n)
	return f
}

// Recycle makes a list available for reuse.
func (f *ForwardedSpans) Recycle() {
	clear(*f)
	*f = (*f)[:0]
	spareForwarded.Put(f)
}

// AddPlain adds spans that were forwarded. A trace that they begin is evaluated by the
// revision. Late ones are only counted. Limits are applied by Add, which is called next
// with the other spans of the batch, so that no batch is cut through its traces.
func (a *Assembler) AddPlain(forwarded ForwardedSpans, r *revision.Revision, now time.Time) (late int) {
	a.advance(now)
	var t *bufferedTrace
	for i := range forwarded {
		s := &forwarded[i]
		if t == nil || t.ID != s.Trace {
			if t = a.traces[s.Trace]; t == nil {
				_, decided := a.decided.get(s.Trace)
				if decided || a.late[s.Trace] != nil {
					late++
					continue
				}
				t = a.begin(s.Trace, r)
				a.grow(t, 2*partBytes)
			}
			a.requeue(queueIdle, t)
		}
		a.grow(t, t.Early.Plain.add(s.PlainSpan, s.Service))
		t.Count++
		if n := len(a.oversized); a.isOversize(t) && (n == 0 || a.oversized[n-1] != t) {
			a.oversized = append(a.oversized, t)
		}
	}
	return late
}
