// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/revision"
)

// PassThrough forwards spans without GenAI content in mode stream. Most spans have none,
// and nothing waits for them. They are forwarded from the sender to the next consumer,
// batch by batch, and the sender gets the next consumer's answer. Any number of senders
// may use it.
type PassThrough struct {
	ctx     context.Context // calls end with it, beside the sender's
	cleaner cleaner
	next    consumer.Traces
	shards  int
	hashes  bool // redact replaces content by its hash

	redact sync.Pool // of redactFunc
	marks  sync.Pool // of *[]bool, scratch
}

// NewPassThrough returns the pass-through of mode stream; nil in mode trace.
func (s *Scoring) NewPassThrough() *PassThrough {
	if !s.Stream {
		return nil
	}
	p := &PassThrough{ctx: s.ctx, cleaner: s.newCleaner(), next: s.Next, shards: s.Shards, hashes: s.Content.Hash}
	p.redact.New = func() any { return newRedact(s.Content, s.Decoding) }
	p.marks.New = func() any { return new([]bool) }
	return p
}

// Forward gives the plain spans of a batch to the next consumer. It returns what is kept
// of them, by shard, and the other spans by their traces. If there is an error and nothing
// else is returned, the next consumer accepted nothing and all spans are in the batch
// again.
func (p *PassThrough) Forward(ctx context.Context, td ptrace.Traces, under *revision.InForce) (parts []*assemble.Part, forwarded []*assemble.ForwardedSpans, err error) {
	marks := p.marks.Get().(*[]bool)
	defer p.marks.Put(marks)
	plain, all := p.mark(td, marks, under)
	if plain == 0 {
		return assemble.Split(td), nil, nil
	}
	forwarded = p.note(td, *marks, plain)
	if plain < all {
		parts = assemble.SplitOff(td, func(i int) bool { return !(*marks)[i] })
	}
	out := td
	if p.hashes { // the sender may retry the batch: no hash is to be hashed
		out = ptrace.NewTraces()
		td.CopyTo(out)
	}
	redact := p.redact.Get().(redactFunc)
	redact(out)
	p.redact.Put(redact)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	err = p.next.ConsumeTraces(ctx, out)
	if err == nil {
		return parts, forwarded, nil
	}
	var some consumererror.Traces
	switch {
	case consumererror.IsPermanent(err):
		// The sender does not retry. The spans are in the tree all the same.
		return parts, forwarded, err
	case errors.As(err, &some):
		// The sender retries the spans that were rejected, which are noted then.
		exclude(forwarded, some.Data())
		return parts, forwarded, err
	}
	for _, of := range forwarded {
		if of != nil {
			of.Recycle()
		}
	}
	assemble.GiveBack(parts, td)
	return nil, nil, err
}

// exclude removes the spans of td from lists of forwarded spans.
func exclude(forwarded []*assemble.ForwardedSpans, td ptrace.Traces) {
	type key struct {
		trace pcommon.TraceID
		span  pcommon.SpanID
		start pcommon.Timestamp
	}
	refused := map[key]int{}
	for span := range canonical.Spans(td) {
		refused[key{span.TraceID(), span.SpanID(), span.StartTimestamp()}]++
	}
	for _, of := range forwarded {
		if of == nil {
			continue
		}
		*of = slices.DeleteFunc(*of, func(s assemble.ForwardedSpan) bool {
			k := key{s.Trace, s.ID, s.Start}
			if refused[k] == 0 {
				return false
			}
			refused[k]--
			return true
		})
	}
}

// mark sets for each span whether it can be forwarded: it has no GenAI content and a trace
// id, no policy names it, and it is no root, which waits for the session's verdict. These
// spans are clean then; the shards clean the others.
func (p *PassThrough) mark(td ptrace.Traces, marks *[]bool, under *revision.InForce) (plain, all int) {
	to := (*marks)[:0]
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				is := !assemble.IsRoot(span) && !span.TraceID().IsEmpty() && p.cleaner.plain(span) && !under.Names(span.Name())
				if is {
					plain++
				}
				to = append(to, is)
			}
		}
	}
	*marks = to
	return plain, len(to)
}

// note returns what is kept of the marked spans, of which there are plain, by shard.
func (p *PassThrough) note(td ptrace.Traces, marks []bool, plain int) []*assemble.ForwardedSpans {
	out := make([]*assemble.ForwardedSpans, p.shards)
	share := plain/p.shards + plain/8 // some more than a shard's share
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
				n := assemble.ShardOf(trace, p.shards)
				if out[n] == nil {
					out[n] = assemble.NewForwardedSpans(share)
				}
				*out[n] = append(*out[n], assemble.ForwardedSpan{
					Trace: trace, Service: service,
					PlainSpan: assemble.PlainSpan{
						ID: span.SpanID(), Parent: span.ParentSpanID(),
						Start: span.StartTimestamp(), End: span.EndTimestamp(),
						Name:       genai.HashName(span.Name()),
						Attributes: int32(span.Attributes().Len()), //nolint:gosec // they came in one message
						Kind:       genai.SpanKind(span.Kind()),    //nolint:gosec // OTLP has six
						Remote:     genai.RemoteParent(span),
					},
				})
			}
		}
	}
	return out
}
