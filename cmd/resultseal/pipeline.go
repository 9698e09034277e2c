// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/conversations"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

// pipeline reads recorded traces, assembles their spans and scores each trace once
// it is complete.
type pipeline struct {
	scorer  *score.Scorer
	options genai.Options // what is looked for in spans
	jobs    int
	memory  int64 // how many bytes of spans are held; 0 is no bound
	strict  bool  // stop at what is broken
	// ordered has verdicts given to take in the order of traces, from one goroutine.
	ordered bool

	// explain chooses the traces whose verdicts are explained; nil chooses none.
	explain func(trace string, conversation string) bool
	// take is given each verdict, from several goroutines and in no particular
	// order; the conversations of a policy that follows them in order, from one.
	take func(*verdict) error
	// broken tells of what could not be read or judged, or read in time.
	broken func(error)
	// bar shows how far it is.
	bar *bar

	result totals
}

// totals are the counts of a run of the pipeline.
type totals struct {
	files, spans, broken int

	scattered []scattered // traces that were judged too early
	released  int         // traces that were judged before all was read
	tooEarly  int         // traces of a conversation that were judged after later ones

	unread genai.UnreadScopes // spans that look like tool calls and that no dialect reads
}

// incomplete reports whether something could not be judged as it should.
func (t *totals) incomplete() bool {
	return t.broken > 0 || len(t.scattered) > 0 || t.tooEarly > 0 && t.released > 0
}

// scattered is a trace of which spans came after it was judged.
type scattered struct {
	trace string
	at    traceread.Place // of the first that came too late
	spans int
}

// verdict is a trace and what it came to.
type verdict struct {
	trace   traceread.Trace
	spans   []ptrace.Span
	facts   []genai.Span   // of the same spans
	session *score.Session // nil if nothing in it tells of an agent
	account *score.Account // nil unless it was asked for; then the facts are for keeps, else for take only

	dialects []*genai.Dialect // by which the spans were read
}

// run reads files. An error that it returns is not about one of them.
func (j *pipeline) run(paths []string, stdin io.Reader) error {
	j.result.files = len(paths)
	w := j.start()

	var at traceread.Place
	late := map[pcommon.TraceID]int{} // indexes of scattered traces
	traces := traceread.Collection{
		Budget:  j.memory,
		Release: w.score,
		Scattered: func(id pcommon.TraceID, spans int) {
			i, ok := late[id]
			if !ok {
				i = len(j.result.scattered)
				late[id] = i
				j.result.scattered = append(j.result.scattered, scattered{trace: id.String(), at: at})
			}
			j.result.scattered[i].spans += spans
		},
	}
	err := traceread.Read(paths, stdin, j.jobs, traceread.Handler{
		MaxValue: j.memory * heldShare / valueShare,
		Traces: func(td ptrace.Traces, place traceread.Place) error {
			at = place
			traces.AddFrom(td, place)
			return w.failure()
		},
		Broken: func(e *traceread.Error) error {
			j.result.broken++
			if j.strict {
				return invalidInput(e)
			}
			j.broken(e)
			return nil
		},
		Read: j.bar.read,
	})
	j.result.spans, j.result.released = traces.Spans, traces.Released()
	if err == nil {
		held := traces.Held()
		traces = traceread.Collection{} // who is judged is let go
		j.bar.judge(len(held))
		for i, trace := range held {
			held[i] = traceread.Trace{}
			w.score(trace)
		}
	}
	if failed := w.close(); err == nil {
		err = failed
	}
	return err
}

// workers score traces. Traces are independent of each other unless a protocol
// follows conversations, whose traces are scored in order.
type workers struct {
	*pipeline
	dialects []*genai.Dialect
	work     chan traceread.Trace
	running  sync.WaitGroup

	mu     sync.Mutex
	failed error // the first error of who takes the verdicts
}

// maxSpansAgain is up to how many spans a trace's facts may have so that the next
// one's take their place.
const maxSpansAgain = 4096

// start starts the workers.
func (j *pipeline) start() *workers {
	jobs := max(j.jobs, 1)
	if j.ordered || j.scorer.Conversational() {
		jobs = 1
	}
	b := &workers{pipeline: j, dialects: slices.Concat(j.options.Dialects, genai.Builtin), work: make(chan traceread.Trace, jobs)}
	for range jobs {
		b.running.Go(func() {
			decoder := genai.NewDecoder(j.options)
			store := conversations.Unbounded{}
			before := &verdict{}
			unread := &genai.UnreadScopes{}
			defer func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.result.unread.Merge(unread)
			}()
			for trace := range b.work {
				if b.failure() != nil {
					continue
				}
				v := &verdict{trace: trace, dialects: b.dialects}
				if before.account == nil && len(before.facts) <= maxSpansAgain {
					v.facts, v.spans = before.facts, before.spans
				}
				before = v
				if err := b.one(decoder, store, unread, v); err != nil {
					b.mu.Lock()
					b.failed = err
					b.mu.Unlock()
				}
			}
		})
	}
	return b
}

// score queues a trace. It blocks while all workers are busy.
func (b *workers) score(trace traceread.Trace) { b.work <- trace }

func (b *workers) failure() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

// close waits until everything is judged.
func (b *workers) close() error {
	close(b.work)
	b.running.Wait()
	return b.failed
}

// one judges a trace. A trace that cannot be judged, which is a fault of this
// program, costs that trace.
func (b *workers) one(decoder *genai.Decoder, store conversations.Unbounded, unread *genai.UnreadScopes, v *verdict) (err error) {
	trace := v.trace
	defer func() {
		if failure := recover(); failure != nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.result.broken++
			b.broken(fmt.Errorf("trace %s cannot be judged, which is a fault of this program: %s", trace.ID, describePanic(failure)))
		}
	}()
	annotate.Namespace(annotate.DefaultPrefix).Clean(trace.Traces)
	v.facts, v.spans = decoder.TracesInto(v.facts, v.spans, trace.Traces)
	unread.Add(decoder, v.facts, v.spans)
	if b.explain != nil && b.explain(trace.ID.String(), conversationOf(v.facts)) {
		v.session, v.account = b.scorer.Explain(v.facts, store)
	} else {
		v.session = b.scorer.Trace(v.facts, store)
	}
	if v.session != nil && v.session.OutOfOrder {
		b.mu.Lock()
		b.result.tooEarly++
		b.mu.Unlock()
	}
	err = b.take(v)
	b.bar.judged()
	return err
}

// conversationOf returns the first conversation that a span names.
func conversationOf(facts []genai.Span) string {
	for i := range facts {
		if c := facts[i].Conversation; c != "" {
			return genai.ConversationID(c)
		}
	}
	return ""
}

// describePanic says what went wrong without any text that could come from a
// span. The runtime's own errors hold types and numbers only.
func describePanic(failure any) string {
	if err, ok := failure.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", failure)
}
