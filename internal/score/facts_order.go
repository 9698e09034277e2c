// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"cmp"
	"slices"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// order sorts facts by time. Of two at once, a parent's comes before its child's,
// what was said before a call before a result, then the smaller span id; what one
// span shows at one time is in the order in which it shows it. But what began
// earlier ends before anything begins: the result of a call, and the end of a span,
// come before a call and a span that begin at that time. A call always comes before
// its own result.
func (f *facts) order(list []fact) {
	slices.SortStableFunc(list, func(a, b fact) int { return f.compare(&a, &b) })
	for begin := 0; begin < len(list); {
		end := begin + 1
		for end < len(list) && list[end].time == list[begin].time {
			end++
		}
		if end > begin+1 {
			f.endFirst(list[begin:end])
			callFirst(list[begin:end])
			f.tie(list[begin:end])
		}
		begin = end
	}
}

// tie marks facts at one time whose order depends on how deep a span is whose
// ancestors are missing.
func (f *facts) tie(list []fact) {
	if f.gaps&missingSpans == 0 || !slices.ContainsFunc(list, func(x fact) bool { return f.t.nodes[x.span].stray }) {
		return
	}
	for i := range list {
		list[i].unplaced = true
	}
}

// endFirst moves, of facts at one time, the ends of what began earlier before the
// first beginning. Clocks of milliseconds give a call the time at which the one
// before it returned.
func (f *facts) endFirst(list []fact) {
	first := slices.IndexFunc(list, func(x fact) bool { return x.begins() })
	if first < 0 {
		return
	}
	list = list[first:]
	var ends []fact
	for i := range list {
		if f.endsEarlier(&list[i]) {
			ends = append(ends, list[i])
		}
	}
	if ends == nil {
		return
	}
	at := len(list)
	for i := len(list) - 1; i >= 0; i-- {
		if !f.endsEarlier(&list[i]) {
			at--
			list[at] = list[i]
		}
	}
	copy(list, ends)
}

// callFirst moves, of facts at one time, each result that comes before its own call
// behind it. Messages may show both at one time, of spans in another order.
func callFirst(list []fact) {
	returns := func(x *fact) bool { return x.kind == policy.ToolResult && x.call.start == x.time }
	first := slices.IndexFunc(list, func(x fact) bool { return returns(&x) })
	if first < 0 {
		return
	}
	list = list[first:]
	called, early := map[*call]bool{}, map[*call]fact{} // results before their calls
	for i := len(list) - 1; i >= 0; i-- {
		switch x := &list[i]; {
		case x.kind == policy.ToolCall:
			called[x.call] = true
		case returns(x) && called[x.call]:
			early[x.call] = *x
		}
	}
	if len(early) == 0 {
		return
	}
	out := make([]fact, 0, len(list))
	for _, x := range list {
		result, moved := early[x.call]
		if moved && x.kind == policy.ToolResult {
			continue
		}
		if out = append(out, x); moved && x.kind == policy.ToolCall {
			out = append(out, result)
		}
	}
	copy(list, out)
}

// begins reports whether a fact is a call, or the start of a span.
func (x *fact) begins() bool {
	return x.kind == policy.ToolCall || x.kind == policy.SpanEvent && !x.late
}

// endsEarlier reports whether a fact is the end of what began at an earlier time.
func (f *facts) endsEarlier(x *fact) bool {
	switch x.kind {
	case policy.ToolResult:
		return x.call.start < x.time || x.call.called || x.call.prior && len(x.call.spans) == 0
	case policy.SpanEvent:
		return x.late && f.t.nodes[x.span].start < x.time
	default:
		return false
	}
}

func (f *facts) compare(a, b *fact) int {
	t := f.t
	return cmp.Or(
		cmp.Compare(a.time, b.time),
		cmp.Compare(t.skewed(a), t.skewed(b)),
		cmp.Compare(t.nodes[a.span].depth, t.nodes[b.span].depth),
		cmp.Compare(rank(a), rank(b)),
		compareIDs(t.spans[a.span].SpanID, t.spans[b.span].SpanID),
		cmp.Compare(later(a), later(b)),
		cmp.Compare(a.seq, b.seq),
	)
}

// skewed orders what a parent's clock moved to the same time.
func (t *trace) skewed(x *fact) genai.Timestamp {
	n := &t.nodes[x.span]
	switch x.time {
	case n.start:
		if x.late && n.skewedEnd > 0 {
			return n.skewedEnd
		}
		return n.skewedStart
	case n.end:
		return n.skewedEnd
	}
	return 0
}

func rank(x *fact) int {
	switch {
	case x.seq > 0: // shown by messages
		return 0
	case x.late:
		return 2
	default:
		return 1
	}
}

func later(x *fact) int {
	if x.late {
		return 1
	}
	return 0
}

// serialized moves each result next to its call: calls that overlap become
// pairs, in the order in which they began.
func serialized(list []fact) []fact {
	results := map[*call]int{}
	for i := range list {
		if list[i].kind == policy.ToolResult {
			results[list[i].call] = i
		}
	}
	out := make([]fact, 0, len(list))
	called := map[*call]bool{}
	for i := range list {
		x := &list[i]
		switch {
		case x.kind == policy.ToolCall:
			called[x.call] = true
			out = append(out, *x)
			if r, ok := results[x.call]; ok {
				out = append(out, list[r])
			}
		case x.kind == policy.ToolResult && called[x.call]:
		default:
			out = append(out, *x)
		}
	}
	return out
}
