// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	bitset "math/bits"
	"strings"
)

// Gap is a reason why events of a session may be missing from its telemetry. A
// violation that a missing event could explain is inconclusive.
type Gap uint8

// The gaps, in the order in which they are reported. Conversations at rest hold
// the numbers: whoever changes them raises snapshotVersion.
const (
	// GapRootMissing: the trace has no root span.
	GapRootMissing Gap = iota
	// GapParentMissing: a span names a parent that is not in the trace.
	GapParentMissing
	// GapDropped: a span reports dropped attributes or events, or its resource
	// or scope reports dropped attributes that the policy reads.
	GapDropped
	// GapModelCallMissing: a later model call shows the answer of a model call
	// that has no span.
	GapModelCallMissing
	// GapMessages: messages that a protocol listens to were not captured.
	GapMessages
	// GapContent: arguments or results that decide on an event were not captured.
	GapContent
	// GapUnnamedCall: a tool call has no name.
	GapUnnamedCall
	// GapBegan: the first known model call of the conversation shows earlier
	// messages.
	GapBegan
	// GapEvicted: the state of the conversation was evicted.
	GapEvicted
	// GapOutOfOrder: a trace of the conversation came after later ones.
	GapOutOfOrder
	// GapAhead: the trace is dated ahead of the processor's clock.
	GapAhead
	// GapRestart: the trace may have begun before the processor accepted spans.
	GapRestart
	// GapOverflow: the trace was completed because of max_traces or max_bytes.
	GapOverflow
	// GapOversize: the trace was completed because it exceeded max_bytes or
	// max_spans_per_trace by itself.
	GapOversize
	// GapMaxAge: the trace was completed because of max_age.
	GapMaxAge
	// GapShutdown: the trace was completed because the processor stopped.
	GapShutdown
	// GapSharedID: different spans of the trace have the same span id.
	GapSharedID
	// GapPolicyChanged: the policy changed while the conversation was followed, so
	// that a protocol has not seen all of its traces.
	GapPolicyChanged
	// GapNoSpans: the session has log records and no spans.
	GapNoSpans
	// GapUnscored: the trace exceeded a bound of scoring work.
	GapUnscored

	gapCount
)

// gapTexts are the name of each gap in attributes, reports and metrics, and the
// reason that is given for what it caps.
var gapTexts = [gapCount]struct{ name, reason string }{
	GapRootMissing:      {"root_missing", "the trace has no root span"},
	GapParentMissing:    {"parent_missing", "a parent span is missing"},
	GapDropped:          {"dropped", "a span reports dropped attributes or events"},
	GapModelCallMissing: {"model_call_missing", "a model call is missing whose answer a later one was shown"},
	GapMessages:         {"messages", "messages were not captured"},
	GapContent:          {"content", "arguments or a result were not captured"},
	GapUnnamedCall:      {"unnamed_call", "a tool call has no name"},
	GapBegan:            {"began", "the conversation began before what is known of it"},
	GapEvicted:          {"evicted", "the state of the conversation was evicted"},
	GapOutOfOrder:       {"out_of_order", "a trace of the conversation came after later ones"},
	GapAhead:            {"ahead", "a trace is dated ahead of the processor's clock"},
	GapRestart:          {"restart", "the trace may have begun before the processor accepted spans"},
	GapOverflow:         {"overflow", "the trace was completed early because of max_traces or max_bytes"},
	GapOversize:         {"oversize", "the trace was completed early because of max_bytes or max_spans_per_trace"},
	GapMaxAge:           {"max_age", "the trace was completed early because of max_age"},
	GapShutdown:         {"shutdown", "the trace was completed early because the processor stopped"},
	GapSharedID:         {"shared_id", "different spans have the same span id"},
	GapPolicyChanged:    {"policy_changed", "the policy changed while the conversation was followed"},
	GapNoSpans:          {"no_spans", "the session has log records and no spans"},
	GapUnscored:         {"unscored", "the trace exceeded a bound of scoring work"},
}

// String returns the gap's name in attributes, reports and metrics.
func (g Gap) String() string {
	if g >= gapCount {
		return "invalid"
	}
	return gapTexts[g].name
}

// Reason returns the reason that is given for what the gap caps.
func (g Gap) Reason() string {
	if g >= gapCount {
		return "invalid"
	}
	return gapTexts[g].reason
}

// AllGaps returns every gap, in the order in which they are reported.
func AllGaps() []Gap {
	all := make([]Gap, gapCount)
	for i := range all {
		all[i] = Gap(i) //nolint:gosec // below gapCount
	}
	return all
}

// Gaps is a set of gaps.
type Gaps uint32

// GapSet returns a set of gaps.
func GapSet(gaps ...Gap) Gaps {
	var set Gaps
	for _, g := range gaps {
		set |= 1 << g
	}
	return set
}

// Has reports whether the set holds a gap.
func (s Gaps) Has(g Gap) bool { return s&(1<<g) != 0 }

// Add adds a gap.
func (s *Gaps) Add(g Gap) { *s |= 1 << g }

// List returns the gaps in the order in which they are reported; nil for none.
func (s Gaps) List() []Gap {
	if s == 0 {
		return nil
	}
	list := make([]Gap, 0, bitset.OnesCount32(uint32(s)))
	for rest := s; rest != 0; rest &= rest - 1 {
		list = append(list, Gap(bitset.TrailingZeros32(uint32(rest)))) //nolint:gosec // below 32
	}
	return list
}

// Strings returns the names of the gaps in the order in which they are reported;
// nil for none.
func (s Gaps) Strings() []string {
	if s == 0 {
		return nil
	}
	names := make([]string, 0, bitset.OnesCount32(uint32(s)))
	for _, g := range s.List() {
		names = append(names, g.String())
	}
	return names
}

// String returns the names with spaces between them.
func (s Gaps) String() string { return strings.Join(s.Strings(), " ") }

// processorGaps are the gaps that a processor makes itself. A policy that assumes
// complete telemetry does not rule them out.
const processorGaps = Gaps(1<<GapEvicted | 1<<GapOutOfOrder | 1<<GapAhead | 1<<GapRestart | 1<<GapOverflow | 1<<GapOversize |
	1<<GapMaxAge | 1<<GapShutdown | 1<<GapPolicyChanged | 1<<GapUnscored)

// spanGaps are the gaps of the trace's own spans, the one first whose reason is
// given where there are several.
var spanGaps = [...]Gap{GapParentMissing, GapDropped, GapRootMissing, GapModelCallMissing}

// reason returns why an event may be missing, "" for an empty set.
func (s Gaps) reason() string {
	for _, g := range spanGaps {
		if s.Has(g) {
			return g.Reason()
		}
	}
	if s == 0 {
		return ""
	}
	return Gap(bitset.TrailingZeros32(uint32(s))).Reason() //nolint:gosec // below 32
}
