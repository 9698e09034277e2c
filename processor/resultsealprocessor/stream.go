// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/wal"
)

// In mode stream a span is passed on as soon as it comes, with what it proves by
// itself. Its facts stay behind, and when the trace is finished they are judged
// as the spans would have been. Only roots wait, to carry that verdict.

// streamFact is what stays behind of a span.
type streamFact struct {
	genai.Span
	hash uint64 // of all that the span held; tells copies of one span apart
	root bool   // the span itself is held
}

// streamer takes the spans that need not wait out of what comes. It belongs to
// one shard.
type streamer struct {
	options genai.Options
	decoder *genai.Decoder
	writer  *annotate.Writer
	rec     *recorder
	logger  *zap.Logger
}

// passage counts the spans of a trace that were passed on before it was finished
// and have not left yet. The trace's entries in the log stay as long as one
// of them has not: it may leave by another outlet than the trace's verdict.
type passage struct {
	mu       sync.Mutex
	under    int  // batches of spans under way
	kept     bool // one was left in the storage
	finished bool
	entries  []wal.Ref
	records  []wal.Record
}

// begin counts spans that are given on.
func (p *passage) begin() {
	p.mu.Lock()
	p.under++
	p.mu.Unlock()
}

// end is called when they have left, or were kept.
func (p *passage) end(kept bool, leave func([]wal.Ref, []wal.Record)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.under--
	p.kept = p.kept || kept
	p.settle(leave)
}

// finish is called when the trace itself has left, or was kept.
func (p *passage) finish(entries []wal.Ref, records []wal.Record, kept bool, leave func([]wal.Ref, []wal.Record)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished, p.entries, p.records = true, entries, records
	p.kept = p.kept || kept
	p.settle(leave)
}

func (p *passage) settle(leave func([]wal.Ref, []wal.Record)) {
	if p.finished && p.under == 0 && !p.kept {
		leave(p.entries, p.records)
	}
}

// passedBefore are the facts of a trace so far.
type passedBefore struct {
	trace  pcommon.TraceID
	facts  []streamFact
	silent silentSpans
}

// maxProvisional is the number of spans after which a trace gets no provisional
// steps any more: each is found by going through the trace so far.
const maxProvisional = 256

// split leaves the roots in part, with the facts of all its spans, and returns
// the others, annotated.
func (s *streamer) split(part *tracePart, before passedBefore) (passing *tracePart) {
	s.prove(part, before)
	passing = &tracePart{id: part.id, spans: ptrace.NewTraces(), resource: -1, scope: -1}
	for r, rs := range part.spans.ResourceSpans().All() {
		for n, ss := range rs.ScopeSpans().All() {
			ss.Spans().RemoveIf(func(span ptrace.Span) bool {
				if isRoot(span) {
					return false
				}
				span.MoveTo(passing.sliceFor(r, rs, n, ss).AppendEmpty())
				passing.count++
				return true
			})
		}
	}
	passing.measure()
	return passing
}

// prove decodes the spans of a part, seals each by itself, and steps protocols
// as far as that can be done now. If that fails the spans are left as they were
// and the trace has no verdict.
func (s *streamer) prove(part *tracePart, before passedBefore) {
	sizes := measureSpans(part.spans)
	defer func() {
		if failure := recover(); failure != nil {
			sizes.restore(part.spans)
			part.facts, part.unreadable = nil, true
			unscored(s.logger, s.rec, &finished{spans: part.spans}, failure)
			s.decoder = genai.NewDecoder(s.options)
		}
	}()
	hashes := make([]uint64, 0, part.count)
	for p := range canonical.PlacedSpans(part.spans) {
		hashes = append(hashes, canonical.Hash(p))
	}
	facts, sources := s.decoder.Traces(part.spans)
	for i := range facts {
		if facts[i].Kind == genai.Tool && !isRoot(sources[i]) {
			if v := part.revision.Scorer.Late(facts[i : i+1]); v != nil {
				s.writer.Seal(sources[i], v)
			}
		}
	}
	s.step(part.revision.Scorer, facts, sources, before)
	for i := range facts {
		facts[i].Detach(part.revision.Attributes, part.revision.Resource)
		part.facts = append(part.facts, streamFact{facts[i], hashes[i], isRoot(sources[i])})
	}
}

// step writes provisional steps onto the spans that pass.
func (s *streamer) step(scorer *score.Scorer, facts []genai.Span, sources []ptrace.Span, before passedBefore) {
	passed := len(before.facts) + len(before.silent.spans)
	if len(scorer.Policy().Protocols) == 0 || passed+len(facts) > maxProvisional {
		return
	}
	all := make([]genai.Span, 0, passed+len(facts))
	for i := range before.facts {
		all = append(all, before.facts[i].Span)
	}
	for i := range before.silent.spans {
		all = append(all, before.silent.fact(before.trace, i))
	}
	all = append(all, facts...)
	v := scorer.Provisional(all, func(i int) bool { return i >= passed })
	if v == nil {
		return
	}
	s.writer.Steps(v, func(i int) (ptrace.Span, bool) {
		if i -= passed; i < 0 || isRoot(sources[i]) {
			return ptrace.Span{}, false
		}
		return sources[i], true
	})
}

// readStream prepares a finished trace of which only the roots are held: if it
// tells anything, all its facts in the order of the canonical form, and for each
// the span that carries its verdict. That is a span that goes nowhere if it has
// passed.
func (r *reader) readStream(f *finished) {
	defer func() { f.streamed, f.silent = nil, silentSpans{} }()
	f.duplicates = streamDuplicates(f)
	if f.passed() {
		return
	}
	f.spans, _ = canonical.Form(f.spans)
	f.count = f.spans.SpanCount()
	if !slices.ContainsFunc(f.streamed, func(fact streamFact) bool { return f.revision.Scorer.Concerns(&fact.Span) }) {
		return
	}
	facts := slices.Grow(f.streamed, len(f.silent.spans))
	for i := range f.silent.spans {
		facts = append(facts, streamFact{Span: f.silent.fact(f.id, i), hash: f.silent.hash(i)})
	}
	slices.SortFunc(facts, func(a, b streamFact) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), bytes.Compare(a.SpanID[:], b.SpanID[:]), cmp.Compare(a.hash, b.hash))
	})
	type key struct {
		start genai.Timestamp
		id    genai.SpanID
	}
	roots := map[key][]int{}
	f.facts = make([]genai.Span, len(facts))
	f.sources = make([]ptrace.Span, len(facts))
	passed := ptrace.NewSpan()
	for i := range facts {
		fact := &facts[i]
		f.facts[i], f.sources[i] = fact.Span, passed
		if fact.root {
			k := key{fact.Start, fact.SpanID}
			roots[k] = append(roots[k], i)
		}
	}
	for p := range canonical.PlacedSpans(f.spans) {
		k := key{genai.Timestamp(p.Span.StartTimestamp()), genai.SpanID(p.Span.SpanID())}
		of := roots[k]
		at := 0
		if len(of) > 1 { // copies: each its own fact
			hash := canonical.Hash(p)
			at = max(0, slices.IndexFunc(of, func(i int) bool { return facts[i].hash == hash }))
		}
		if len(of) > 0 {
			f.sources[of[at]] = p.Span
			roots[k] = slices.Delete(of, at, at+1)
		}
	}
}

// streamDuplicates counts the redelivered spans of a trace.
func streamDuplicates(f *finished) int {
	ids := make([]uint64, 0, len(f.streamed)+len(f.silent.spans))
	for i := range f.streamed {
		ids = append(ids, binary.BigEndian.Uint64(f.streamed[i].SpanID[:]))
	}
	for i := range f.silent.spans {
		ids = append(ids, binary.BigEndian.Uint64(f.silent.spans[i].id[:]))
	}
	if canonical.Repeated(ids) == 0 {
		return 0
	}
	copies := make([]canonical.Copy, 0, len(ids))
	for i := range f.streamed {
		s := &f.streamed[i]
		copies = append(copies, canonical.Copy{ID: pcommon.SpanID(s.SpanID), Kind: s.SpanKind, Start: pcommon.Timestamp(s.Start), Name: s.NameHash(), Ended: !s.Unended})
	}
	for i := range f.silent.spans {
		s := &f.silent.spans[i]
		copies = append(copies, canonical.Copy{ID: s.id, Kind: s.kind, Start: s.start, Name: s.name, Ended: s.end != 0})
	}
	return canonical.Redelivered(copies)
}

// isLate reports whether spans of a trace would be late if they came now.
func (a *assembler) isLate(id pcommon.TraceID) bool {
	if _, held := a.traces[id]; held {
		return false
	}
	_, late := a.decided.get(id)
	return late
}
