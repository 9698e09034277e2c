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
// span shows at one time is in the order in which it shows it.
func (f *facts) order(list []fact) {
	slices.SortStableFunc(list, func(a, b fact) int { return f.compare(&a, &b) })
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
