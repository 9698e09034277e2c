// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

// streamer evaluates arriving spans by themselves, in mode stream. A span is forwarded
// when it arrives, with the verdict that it has by itself. Its facts are kept, and when
// the trace is completed they are scored as the spans would have been. Only roots are
// buffered, for the verdict of the session. It belongs to one shard.
type streamer struct {
	*Scoring
	decoder *genai.Decoder
}

func (s *Scoring) newStreamer() *streamer {
	return &streamer{Scoring: s, decoder: genai.NewDecoder(s.Decoding)}
}

// maxProvisional is the number of spans after which a trace gets no provisional
// steps any more: each is found by going through the trace so far.
const maxProvisional = 256

// prove decodes the spans of a part, seals each by itself, and steps protocols as far as
// that is possible now. before is what was kept of earlier spans. If that fails the spans
// are left as they were and the trace has no verdict.
func (s *streamer) prove(part *assemble.Part, before *assemble.Early) {
	sizes := measureSpans(part.Spans)
	defer func() {
		if failure := recover(); failure != nil {
			sizes.restore(part.Spans)
			part.Facts, part.Unreadable = nil, true
			s.unscored(part.Spans, failure)
			s.decoder = genai.NewDecoder(s.Decoding)
		}
	}()
	hashes := make([]uint64, 0, part.Count)
	for p := range canonical.PlacedSpans(part.Spans) {
		hashes = append(hashes, canonical.Hash(p))
	}
	facts, sources := s.decoder.Traces(part.Spans)
	for i := range facts {
		if facts[i].Kind == genai.Tool && !assemble.IsRoot(sources[i]) {
			if v := part.Revision.Scorer.Late(facts[i : i+1]); v != nil {
				s.writer.Seal(sources[i], v)
			}
		}
	}
	s.step(part, facts, sources, before)
	for i := range facts {
		facts[i].Detach(part.Revision.Attributes, part.Revision.Resource)
		part.Facts = append(part.Facts, assemble.Fact{Span: facts[i], Hash: hashes[i], Root: assemble.IsRoot(sources[i])})
	}
}

// step writes provisional steps onto the spans that are forwarded.
func (s *streamer) step(part *assemble.Part, facts []genai.Span, sources []ptrace.Span, before *assemble.Early) {
	scorer := part.Revision.Scorer
	earlier := len(before.Facts) + before.Plain.Len()
	if len(scorer.Policy().Protocols) == 0 || earlier+len(facts) > maxProvisional {
		return
	}
	all := make([]genai.Span, 0, earlier+len(facts))
	for i := range before.Facts {
		all = append(all, before.Facts[i].Span)
	}
	for i := range before.Plain.Len() {
		all = append(all, before.Plain.Fact(part.ID, i))
	}
	all = append(all, facts...)
	v := scorer.Provisional(all, func(i int) bool { return i >= earlier })
	if v == nil {
		return
	}
	s.writer.Steps(v, func(i int) (ptrace.Span, bool) {
		if i -= earlier; i < 0 || assemble.IsRoot(sources[i]) {
			return ptrace.Span{}, false
		}
		return sources[i], true
	})
}

// readEarly reads a trace of which only the roots were buffered. If there may be something
// to score, it sets all facts in the order of the canonical form, and for each the span
// that carries its verdict: a discarded one for spans that were forwarded.
func readEarly(t *trace) {
	defer func() { t.Early = assemble.Early{} }()
	t.duplicates = earlyDuplicates(&t.Early)
	t.Spans, _ = canonical.Form(t.Spans)
	t.Count = t.Spans.SpanCount()
	if !slices.ContainsFunc(t.Early.Facts, func(fact assemble.Fact) bool { return t.Revision.Scorer.Concerns(&fact.Span) }) {
		return
	}
	facts := slices.Grow(t.Early.Facts, t.Early.Plain.Len())
	for i := range t.Early.Plain.Len() {
		facts = append(facts, assemble.Fact{Span: t.Early.Plain.Fact(t.ID, i), Hash: t.Early.Plain.Hash(i)})
	}
	slices.SortFunc(facts, func(a, b assemble.Fact) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), bytes.Compare(a.SpanID[:], b.SpanID[:]), cmp.Compare(a.Hash, b.Hash))
	})
	type key struct {
		start genai.Timestamp
		id    genai.SpanID
	}
	roots := map[key][]int{}
	t.facts = make([]genai.Span, len(facts))
	t.sources = make([]ptrace.Span, len(facts))
	discarded := ptrace.NewSpan()
	for i := range facts {
		fact := &facts[i]
		t.facts[i], t.sources[i] = fact.Span, discarded
		if fact.Root {
			k := key{fact.Start, fact.SpanID}
			roots[k] = append(roots[k], i)
		}
	}
	for p := range canonical.PlacedSpans(t.Spans) {
		k := key{genai.Timestamp(p.Span.StartTimestamp()), genai.SpanID(p.Span.SpanID())}
		of := roots[k]
		at := 0
		if len(of) > 1 { // copies: each its own fact
			hash := canonical.Hash(p)
			at = max(0, slices.IndexFunc(of, func(i int) bool { return facts[i].Hash == hash }))
		}
		if len(of) > 0 {
			t.sources[of[at]] = p.Span
			roots[k] = slices.Delete(of, at, at+1)
		}
	}
}

// earlyDuplicates counts the redelivered spans of a trace.
func earlyDuplicates(e *assemble.Early) int {
	ids := make([]uint64, 0, len(e.Facts)+e.Plain.Len())
	for i := range e.Facts {
		ids = append(ids, binary.BigEndian.Uint64(e.Facts[i].SpanID[:]))
	}
	for i := range e.Plain.Len() {
		ids = append(ids, binary.BigEndian.Uint64(e.Plain.At(i).ID[:]))
	}
	if canonical.Repeated(ids) == 0 {
		return 0
	}
	copies := make([]canonical.Copy, 0, len(ids))
	for i := range e.Facts {
		s := &e.Facts[i]
		copies = append(copies, canonical.Copy{ID: pcommon.SpanID(s.SpanID), Kind: s.SpanKind, Start: pcommon.Timestamp(s.Start), Name: s.NameHash(), Ended: !s.Unended})
	}
	for i := range e.Plain.Len() {
		s := e.Plain.At(i)
		copies = append(copies, canonical.Copy{ID: s.ID, Kind: s.Kind, Start: s.Start, Name: s.Name, Ended: s.End != 0})
	}
	return canonical.Redelivered(copies)
}
