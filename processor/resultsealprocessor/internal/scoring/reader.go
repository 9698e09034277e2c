// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package scoring

import (
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/assemble"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

// handler takes over the spans of one shard. It implements assemble.Handler.
type handler struct {
	*Scoring
	reader   *reader
	streamer *streamer // in mode stream
}

// Complete reads a trace, and scores it unless its conversations require an order.
func (h *handler) Complete(completed *assemble.Trace) {
	if completed.AllForwarded() { // nothing is left to score
		h.Recorder.Duplicates(earlyDuplicates(&completed.Early))
		h.Accounting.ReleaseTrace(completed, nil, false)
		return
	}
	t := &trace{Trace: completed}
	h.reader.read(t)
	h.emit(t)
}

// Untraced forwards spans without a trace id: they get no verdict.
func (h *handler) Untraced(p *assemble.Part) {
	h.own.CleanSpans(p.Spans)
	h.emitPart(p)
}

// Early forwards the spans of a part that are no roots.
func (h *handler) Early(p *assemble.Part, before *assemble.Early) {
	h.own.CleanSpans(p.Spans)
	h.streamer.prove(p, before)
	if children := p.CutChildren(); children.Count > 0 {
		h.Accounting.HoldEarly(children)
		h.emitPart(children)
	}
}

// reader puts completed traces in canonical form, decodes them, and scores those that no
// protocol follows across traces. It belongs to one shard.
type reader struct {
	*Scoring
	cleaner cleaner
	decoder *genai.Decoder
	score   func(*trace)

	// The facts of the last trace that was scored, to be overwritten.
	facts   []genai.Span
	sources []ptrace.Span
}

func (s *Scoring) newReader() *reader {
	return &reader{Scoring: s, cleaner: s.newCleaner(), decoder: genai.NewDecoder(s.Decoding), score: s.guard(s.scoreTrace)}
}

func (r *reader) read(t *trace) {
	begin := time.Now()
	t.failed = t.Early.Unreadable
	if !t.Early.IsEmpty() {
		readEarly(t)
	} else {
		decodable := r.decodable(t)
		t.Spans, t.duplicates = canonical.Form(t.Spans)
		if decodable {
			r.decode(t)
		}
	}
	if t.Revision.Scorer.Conversational() {
		t.conversations = conversationsOf(t.facts)
	}
	switch {
	case len(t.facts) == 0:
		t.scored = true
	case len(t.conversations) == 0:
		facts, sources := t.facts, t.sources
		r.score(t)
		if t.facts = nil; len(facts) <= maxSpareFacts {
			clear(facts) // they reference the spans, and it may be long until the next trace
			clear(sources)
			r.facts, r.sources = facts, sources
		}
	}
	t.reading = time.Since(begin)
}

// maxSpareFacts bounds the memory that is kept for the next trace: facts are of some
// hundred bytes each.
const maxSpareFacts = 1000

// decode finds the facts of a trace's spans.
func (r *reader) decode(t *trace) {
	defer r.giveUp(t)
	t.facts, t.sources = r.decoder.TracesInto(r.facts, r.sources, t.Spans)
	r.facts, r.sources = nil, nil // they are the trace's until it is scored
}

// decodable cleans the spans of a trace and reports whether there may be something to
// score. Most traces are not an agent's, and nothing else is done for them.
func (r *reader) decodable(t *trace) (some bool) {
	defer r.giveUp(t)
	for span := range canonical.Spans(t.Spans) {
		if !r.cleaner.plain(span) || t.Revision.Scorer.Names(span.Name()) {
			some = true
		}
	}
	return some
}

// giveUp recovers from a trace that cannot be read: it has no verdict, and not that of a
// sender either.
func (r *reader) giveUp(t *trace) {
	if failure := recover(); failure != nil {
		t.facts, t.sources, t.failed = nil, nil, true
		r.unscored(t.Spans, failure)
		r.own.CleanSpans(t.Spans)
		r.decoder = genai.NewDecoder(r.Decoding) // its scratch memory is not what it should be
	}
}

// conversationsOf lists the conversations that the spans of a trace name, each once, in
// their order.
func conversationsOf(facts []genai.Span) (ids []string) {
	var known map[string]struct{} // once there are many
	for i := range facts {
		id := facts[i].Conversation
		if id == "" || known == nil && slices.Contains(ids, id) {
			continue
		}
		if known == nil && len(ids) >= score.MaxConversations {
			known = make(map[string]struct{}, 2*len(ids))
			for _, id := range ids {
				known[id] = struct{}{}
			}
		}
		if known != nil {
			if _, again := known[id]; again {
				continue
			}
			known[id] = struct{}{}
		}
		ids = append(ids, id)
	}
	return ids
}
