// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package assemble

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

// Whatever the order of arrival and the split into batches, and however often
// the time is told while nothing is due, each trace comes out as the same
// bytes.
func TestTraceDoesNotDependOnArrival(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spans := spantest.Draw("t1", "t2", "t3").Draw(t, "input")
		want := spantest.Texts([]ptrace.Traces{spantest.BatchOf(t, spans)})
		arrive := func(label string) map[pcommon.TraceID]string {
			a := NewAssembler(Limits{time.Hour, time.Hour, time.Hour, 1000, 1 << 30, 10, 0})
			now := spantest.Epoch
			for _, batch := range spantest.Cut(t, rapid.Permutation(spans).Draw(t, label)) {
				now = now.Add(time.Duration(rapid.IntRange(0, 1000).Draw(t, "ms")) * time.Millisecond)
				td := spantest.BatchOf(t, batch)
				if untraced, out := a.Add(Split(td), now); len(untraced)+len(out)+len(a.Tick(now)) > 0 {
					t.Fatal("nothing was due, yet something came")
				}
				if td.ResourceSpans().Len() > 0 {
					t.Fatalf("the batch still holds something")
				}
			}
			var out []ptrace.Traces
			for _, f := range a.Flush() {
				td, _ := canonical.Form(f.Spans)
				out = append(out, td)
			}
			if diff := cmp.Diff(want, spantest.Texts(out)); diff != "" {
				t.Fatal("other spans, or other resources and scopes of them:\n" + diff)
			}
			return spantest.TraceTexts(out)
		}
		if diff := cmp.Diff(arrive("one order"), arrive("another")); diff != "" {
			t.Fatal(diff)
		}
	})
}

// One span in is one span out, with random limits, times and shutdowns in the
// middle; and the assembler ends traces when a naive one would.
func TestEverySpanLeavesOnce(t *testing.T) { rapid.Check(t, everySpanLeavesOnce) }

func FuzzEverySpanLeavesOnce(f *testing.F) { f.Fuzz(rapid.MakeFuzz(everySpanLeavesOnce)) }

func everySpanLeavesOnce(t *rapid.T) {
	seconds := func(label string, from, to int) time.Duration {
		return time.Duration(rapid.IntRange(from, to).Draw(t, label)) * time.Second
	}
	l := Limits{
		RootDelay:    seconds("root_delay", 0, 3),
		IdleTimeout:  seconds("idle_timeout", 1, 6),
		MaxAge:       seconds("max_age", 1, 12),
		MaxTraces:    rapid.IntRange(1, 5).Draw(t, "max_traces"),
		MaxBytes:     rapid.SampledFrom([]int64{1, 2000, 5000, 1 << 30}).Draw(t, "max_bytes"),
		MaxSpans:     rapid.SampledFrom([]int{0, 1, 4, 100}).Draw(t, "max_spans_per_trace"),
		DecidedCache: rapid.SampledFrom([]int{0, 1, 2, 100}).Draw(t, "decided_cache"),
	}
	a, naive := NewAssembler(l), newNaiveAssembler(l)
	in, out := map[string]int{}, map[string]int{}
	check := func(what string, untraced []*Part, got []*Trace, want []string) {
		var gotLines []string
		for _, part := range untraced {
			for span := range canonical.Spans(part.Spans) {
				out[span.Name()]++
			}
			gotLines = append(gotLines, line(part.ID, ByRoot, false, false, part.Spans.SpanCount()))
		}
		for _, f := range got {
			td, _ := canonical.Form(f.Spans)
			ids := map[pcommon.TraceID]bool{}
			count := 0
			for span := range canonical.Spans(td) {
				out[span.Name()]++
				ids[span.TraceID()] = true
				count++
			}
			if len(ids) != 1 || count != f.Count {
				t.Fatalf("%s: %d traces and %d spans in one of %d spans", what, len(ids), count, f.Count)
			}
			id := canonical.TraceID(td)
			gotLines = append(gotLines, line(id, f.Cause, f.Late, true, count))
		}
		if diff := cmp.Diff(want, gotLines); diff != "" {
			t.Fatalf("%s: naive against real:\n%s", what, diff)
		}
		if a.Len() != len(naive.traces) || a.Bytes() != naive.bytes() {
			t.Fatalf("%s: holds %d traces, %d bytes; naive %d, %d", what, a.Len(), a.Bytes(), len(naive.traces), naive.bytes())
		}
		if a.Len() > l.MaxTraces || (a.Bytes() > l.MaxBytes && a.Len() > 0) {
			t.Fatalf("%s: %d traces and %d bytes are held", what, a.Len(), a.Bytes())
		}
	}
	now := spantest.Epoch
	for range rapid.IntRange(1, 12).Draw(t, "steps") {
		now = now.Add(time.Duration(rapid.IntRange(-1, 8).Draw(t, "half seconds")) * time.Second / 2)
		switch rapid.SampledFrom([]string{"add", "add", "add", "tick", "flush"}).Draw(t, "step") {
		case "add":
			spans := spantest.Draw("t1", "t2", "t3", "t4", "").Draw(t, "batch")
			for _, s := range spans {
				in[s.Name]++
			}
			td := spantest.BatchOf(t, spans)
			want := naive.Add(td, now)
			untraced, completed := a.Add(Split(td), now)
			check("add", untraced, completed, want)
		case "tick":
			check("tick", nil, a.Tick(now), naive.Tick(now))
			if due, ok := a.Next(); ok && !due.After(a.epoch.Add(a.now)) {
				t.Fatalf("after a tick at %v something is still due, at %v", now, due)
			}
		case "flush":
			check("flush", nil, a.Flush(), naive.Flush())
		}
	}
	check("last flush", nil, a.Flush(), naive.Flush())
	if _, ok := a.Next(); ok || a.Len() != 0 || a.Bytes() != 0 || len(a.late) != 0 {
		t.Fatalf("after the last flush %d traces, %d bytes are held", a.Len(), a.Bytes())
	}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Fatalf("spans in against spans out:\n%s", diff)
	}
}

// naiveAssembler does what the assembler does by looking at everything each
// time. It only says what is finished.
type naiveAssembler struct {
	l      Limits
	now    time.Time
	traces []*naiveTrace // in the order of their first span
	late   []*naiveTrace
	cache  []naiveTrace // the newest use last
	ranks  int
}

type naiveTrace struct {
	id                pcommon.TraceID
	spans             int
	bytes             int64
	first, last, root time.Time
	hasRoot           bool
	by                Cause
	rank              [3]int // among traces that came to a queue at the same time
}

func newNaiveAssembler(l Limits) *naiveAssembler { return &naiveAssembler{l: l} }

func (n *naiveAssembler) bytes() (sum int64) {
	for _, t := range n.traces {
		sum += t.bytes
	}
	return sum
}

func (n *naiveAssembler) advance(now time.Time) {
	if now.After(n.now) {
		n.now = now
	}
}

func line(id pcommon.TraceID, by Cause, late, traced bool, spans int) string {
	return fmt.Sprintf("%x %v late=%v traced=%v spans=%d", id[:2], by, late, traced, spans)
}

func (n *naiveAssembler) Add(td ptrace.Traces, now time.Time) (out []string) {
	n.advance(now)
	var order []pcommon.TraceID
	seen := map[pcommon.TraceID]*naiveTrace{}
	for span := range canonical.Spans(td) {
		id := span.TraceID()
		if seen[id] == nil {
			seen[id] = &naiveTrace{id: id}
			order = append(order, id)
		}
		seen[id].spans++
		seen[id].hasRoot = seen[id].hasRoot || IsRoot(span)
	}
	var oversized []*naiveTrace
	for _, id := range order {
		part := seen[id]
		if id.IsEmpty() {
			out = append(out, line(id, ByRoot, false, false, part.spans))
			continue
		}
		size := sizeOfTrace(td, id, len(order) == 1)
		t := n.find(id)
		t.spans += part.spans
		if slices.Contains(n.late, t) {
			continue
		}
		t.last = n.now
		if part.hasRoot && !t.hasRoot {
			t.hasRoot, t.root = true, n.now
		}
		// Where two have the same time, the one that was put there first.
		n.touch(t)
		if t.bytes += size; t.bytes > n.l.MaxBytes || n.l.MaxSpans > 0 && t.spans > n.l.MaxSpans {
			oversized = append(oversized, t)
		}
	}
	for _, t := range oversized {
		out = append(out, n.finish(t, ByOversize))
	}
	for len(n.traces) > n.l.MaxTraces || (n.bytes() > n.l.MaxBytes && len(n.traces) > 0) {
		out = append(out, n.finish(n.traces[0], ByOverflow))
	}
	return out
}

func (n *naiveAssembler) touch(t *naiveTrace) {
	n.ranks++
	t.rank[queueIdle] = n.ranks
	if t.hasRoot && t.rank[queueRoot] == 0 {
		t.rank[queueRoot] = n.ranks
	}
}

func (n *naiveAssembler) find(id pcommon.TraceID) *naiveTrace {
	for _, t := range append(slices.Clone(n.traces), n.late...) {
		if t.id == id {
			return t
		}
	}
	for i, decided := range n.cache {
		if decided.id == id {
			n.cache = append(slices.Delete(n.cache, i, i+1), decided)
			t := &naiveTrace{id: id, by: decided.by, first: n.now}
			n.late = append(n.late, t)
			return t
		}
	}
	n.ranks++
	t := &naiveTrace{id: id, first: n.now, rank: [3]int{queueFirst: n.ranks}}
	n.traces = append(n.traces, t)
	return t
}

func (n *naiveAssembler) Tick(now time.Time) (out []string) {
	n.advance(now)
	type due struct {
		at   time.Time
		rank int
		by   Cause
		late bool
		t    *naiveTrace
	}
	for {
		var all []due
		for _, t := range n.traces {
			if t.hasRoot {
				all = append(all, due{t.root.Add(n.l.RootDelay), t.rank[queueRoot], ByRoot, false, t})
			}
			all = append(all, due{t.last.Add(n.l.IdleTimeout), t.rank[queueIdle], ByIdle, false, t},
				due{t.first.Add(n.l.MaxAge), t.rank[queueFirst], ByMaxAge, false, t})
		}
		for i, t := range n.late {
			all = append(all, due{t.first, i, t.by, true, t})
		}
		all = slices.DeleteFunc(all, func(d due) bool { return d.at.After(n.now) })
		if len(all) == 0 {
			return out
		}
		order := func(d due) int {
			if d.late {
				return int(queueLate)
			}
			return slices.Index(causeOf[:], d.by)
		}
		first := slices.MinFunc(all, func(a, b due) int {
			if c := a.at.Compare(b.at); c != 0 {
				return c
			}
			if c := order(a) - order(b); c != 0 {
				return c
			}
			return a.rank - b.rank
		})
		if first.late {
			out = append(out, n.finishLate(first.t))
		} else {
			out = append(out, n.finish(first.t, first.by))
		}
	}
}

func (n *naiveAssembler) Flush() (out []string) {
	for len(n.late) > 0 {
		out = append(out, n.finishLate(n.late[0]))
	}
	for len(n.traces) > 0 {
		out = append(out, n.finish(n.traces[0], ByShutdown))
	}
	return out
}

func (n *naiveAssembler) finishLate(t *naiveTrace) string {
	n.late = slices.DeleteFunc(n.late, func(other *naiveTrace) bool { return other == t })
	return line(t.id, t.by, true, true, t.spans)
}

func (n *naiveAssembler) finish(t *naiveTrace, by Cause) string {
	n.traces = slices.DeleteFunc(n.traces, func(other *naiveTrace) bool { return other == t })
	n.cache = append(n.cache, naiveTrace{id: t.id, by: by})
	if len(n.cache) > n.l.DecidedCache {
		n.cache = n.cache[1:]
	}
	return line(t.id, by, false, true, t.spans)
}

// sizeOfTrace is the size of one trace's spans in a batch with the resources
// and scopes that they need, each once where it is not interrupted.
func sizeOfTrace(td ptrace.Traces, id pcommon.TraceID, alone bool) int64 {
	td2 := ptrace.NewTraces()
	td.CopyTo(td2)
	if !alone {
		td2.ResourceSpans().RemoveIf(func(rs ptrace.ResourceSpans) bool {
			rs.ScopeSpans().RemoveIf(func(ss ptrace.ScopeSpans) bool {
				ss.Spans().RemoveIf(func(span ptrace.Span) bool { return span.TraceID() != id })
				return ss.Spans().Len() == 0
			})
			return rs.ScopeSpans().Len() == 0
		})
	}
	return Footprint(td2)
}

// The decision cache answers as a list would in which the last use
// stands last.
func TestDecisionCacheAgainstList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 4).Draw(t, "limit")
		c := newDecisionCache(limit)
		var list []string
		by := map[string]Cause{}
		for range rapid.IntRange(0, 40).Draw(t, "steps") {
			name := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(t, "id")
			at := slices.Index(list, name)
			if rapid.Bool().Draw(t, "put") {
				how := Cause(rapid.IntRange(0, 5).Draw(t, "by"))
				c.put(spantest.TraceID(name), how)
				if at >= 0 {
					list = append(slices.Delete(list, at, at+1), name)
				} else {
					list = append(list, name)
					by[name] = how
				}
				if len(list) > limit {
					list = list[1:]
				}
				continue
			}
			got, known := c.get(spantest.TraceID(name))
			if known != (at >= 0) || (known && got != by[name]) {
				t.Fatalf("%s: got %v, %v; want %v, %v", name, got, known, by[name], at >= 0)
			}
			if known {
				list = append(slices.Delete(list, at, at+1), name)
			}
		}
		if len(c.index) != len(list) {
			t.Fatalf("%d ids are held, want %d", len(c.index), len(list))
		}
	})
}
