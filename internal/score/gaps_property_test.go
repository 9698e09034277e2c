// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// gapsPolicy has a protocol of every kind that an event which is missing could
// explain, or not, for the tools of random traces.
func gapsPolicy(t require.TestingT) *policy.Policy {
	text := matrixPolicy + `
protocols:
  - {name: default, protocol: "rec X.!{lookup.?lookup.X, search(id == id).?search.X}"}
  - {name: strict, protocol: "rec X.!{lookup.?lookup.X, search.?search.X}", unmatched: violation}
  - {name: strict-once, protocol: "!lookup.?lookup.end", unmatched: violation, after_end: violation}
`
	for _, session := range []string{"trace", "conversation"} {
		text += `
  - name: read-` + session + `
    session: ` + session + `
    states:
      initial: unread
      terminal: [unread, read]
      transitions:
        - {from: unread, event: "?Read", to: read}
        - {from: read, event: "?Read", to: read}
        - {from: read, event: "!Write", to: read}
    events:
      - {label: Read, event: tool_result, tools: [lookup], decision: sealed}
      - {label: Write, event: tool_call, tools: [search]}
  - name: agreed-` + session + `
    session: ` + session + `
    unmatched: unrecognized
    states:
      initial: idle
      terminal: [idle, agreed]
      transitions:
        - {from: idle, event: "?Said", to: idle}
        - {from: idle, event: "?Yes", to: agreed}
        - {from: agreed, event: "?Said", to: idle}
        - {from: agreed, event: "?Yes", to: agreed}
        - {from: agreed, event: "!Write", to: idle}
    events:
      - {label: "Yes", event: user_message, text: yes}
      - {label: Said, event: user_message, turn: first}
      - {label: Said, event: user_message}
      - {label: Write, event: tool_call, tools: [search], arguments: {id: "4*"}}
  - name: clerk-` + session + `
    session: ` + session + `
    unmatched: violation
    states:
      initial: idle
      terminal: [idle]
      transitions:
        - {from: idle, event: "!lookup", to: idle}
        - {from: idle, event: "?lookup", to: idle}
    events:
      - {label: "{tool.name}", event: tool_call, tools: [lookup], agents: [clerk]}
      - {label: "{tool.name}", event: tool_result, tools: [lookup], agents: [clerk]}
`
	}
	p, err := policy.Load("gaps.yaml", []byte(text))
	require.NoError(t, err)
	return p
}

// pick returns the spans of a trace for which keep is true.
func pick(td ptrace.Traces, keep func(i int) bool) ptrace.Traces {
	out := ptrace.NewTraces()
	for i, rs := range td.ResourceSpans().All() {
		if keep(i) {
			rs.CopyTo(out.ResourceSpans().AppendEmpty())
		}
	}
	return out
}

func decode(td ptrace.Traces) []genai.Span {
	facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
	return facts
}

// violated are the protocols that a session violates, in whatever conversation: a
// span that is missing may have named it.
func violated(v *score.Session) map[string]bool {
	out := map[string]bool{}
	if v == nil {
		return out
	}
	for i := range v.Protocols {
		if p := &v.Protocols[i]; p.Verdict == score.Violation {
			out[p.Protocol.Name] = true
		}
	}
	return out
}

// A violation of a trace from which spans were taken, so that the trace shows it,
// is one of the whole trace.
func TestViolationsOfPartsAreOfTheWhole(t *testing.T) {
	scorer := score.New(gapsPolicy(t))
	rapid.Check(t, func(t *rapid.T) { checkPart(t, scorer) })
}

func FuzzParts(f *testing.F) {
	scorer := score.New(gapsPolicy(f))
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { checkPart(t, scorer) }))
}

func checkPart(t *rapid.T, scorer *score.Scorer) {
	td := drawRun(t, 1, 0, rapid.SampledFrom([]string{"", "c1"}).Draw(t, "conversation"))
	n := td.ResourceSpans().Len()
	at := func(i int) ptrace.Span { return td.ResourceSpans().At(i).ScopeSpans().At(0).Spans().At(0) }
	taken := make([]bool, n)
	ids := map[pcommon.SpanID]bool{}
	for i := range n {
		taken[i] = rapid.IntRange(0, 3).Draw(t, "taken") == 0
		if !taken[i] {
			ids[at(i).SpanID()] = true
		}
	}
	shown := false
	for i := range n {
		parent := at(i).ParentSpanID()
		shown = shown || !taken[i] && !parent.IsEmpty() && !ids[parent] && parent[0] != 0xee
	}
	if !shown {
		return
	}
	whole := scorer.Trace(decode(td), nil)
	part := scorer.Trace(decode(pick(td, func(i int) bool { return !taken[i] })), nil)
	if part == nil {
		return
	}
	if part.Gaps == 0 {
		t.Fatalf("a parent is missing, and there is no gap")
	}
	all := violated(whole)
	for name := range violated(part) {
		if !all[name] {
			t.Fatalf("%s is violated without what was taken, and not with it\nwith:\n%s\nwithout:\n%s", name, tell(whole, decode(td)), tell(part, decode(pick(td, func(i int) bool { return !taken[i] }))))
		}
	}
}

// verdictKey names a session of a protocol: a trace, or the conversation.
type verdictKey struct {
	protocol, session string
}

// addViolated adds the sessions that a trace's verdict calls violated.
func addViolated(to map[verdictKey]bool, v *score.Session) {
	if v == nil {
		return
	}
	for i := range v.Protocols {
		p := &v.Protocols[i]
		if p.Verdict != score.Violation {
			continue
		}
		session := v.TraceID.String()
		if p.Protocol.Session == policy.SessionConversation {
			session = "" // there is one, and spans that are missing may have named it
		}
		to[verdictKey{p.Protocol.Name, session}] = true
	}
}

// What a processor calls a violation, a recording of the same spans shows to be
// one, however the processor came to lack some of them: it completed traces early,
// was started in the middle of one, evicted a conversation, or was sent spans of a
// clock that is ahead.
func TestLiveIsNoStrongerThanRecorded(t *testing.T) {
	scorer := score.New(gapsPolicy(t))
	rapid.Check(t, func(t *rapid.T) { checkLive(t, scorer) })
}

func FuzzLive(f *testing.F) {
	scorer := score.New(gapsPolicy(f))
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) { checkLive(t, scorer) }))
}

func checkLive(t *rapid.T, scorer *score.Scorer) {
	conversation := rapid.SampledFrom([]string{"", "c1", "c1"}).Draw(t, "conversation")
	var runs []ptrace.Traces
	clock := 1000
	for n := range rapid.IntRange(1, 3).Draw(t, "runs") {
		runs = append(runs, drawRun(t, n+1, clock, conversation))
		_, end := extentOf(runs[n])
		clock = int(end/1_000_000) + 1
	}
	recorded := map[verdictKey]bool{}
	store := conversationStore{}
	account := ""
	for _, td := range runs {
		v := scorer.Trace(decode(td), store)
		addViolated(recorded, v)
		account += "recorded: " + tell(v, decode(td))
	}

	live := map[verdictKey]bool{}
	store = conversationStore{}
	fates := []string{"whole", "whole", "early", "early", "evicted", "ahead", "restart"}
	var later []func()
	for n, td := range runs {
		begin, end := extentOf(td)
		l := score.Live{Started: 1, MaxAge: time.Minute, Latest: end}
		fate := rapid.SampledFrom(fates).Draw(t, "fate")
		taken := make([]bool, td.ResourceSpans().Len())
		switch fate {
		case "early":
			l.Gaps = score.GapSet(rapid.SampledFrom([]score.Gap{score.GapOverflow, score.GapOversize, score.GapMaxAge, score.GapShutdown}).Draw(t, "gap"))
			for k := range taken {
				taken[k] = rapid.IntRange(0, 3).Draw(t, "comes later") == 0
			}
		case "evicted":
			if n > 0 { // there was something to evict
				store.Skip(conversation)
			}
		case "ahead":
			l.Latest = begin
		case "restart":
			if n > 0 {
				break // the conversation's state would be gone, which is another matter
			}
			l.Started = begin + 1 + genai.Timestamp(rapid.IntRange(0, int((end-begin)/1_000_000)).Draw(t, "started"))*1_000_000
			for k := range taken {
				span := td.ResourceSpans().At(k).ScopeSpans().At(0).Spans().At(0)
				taken[k] = k > 0 && genai.Timestamp(span.EndTimestamp()) <= l.Started && rapid.Bool().Draw(t, "went to the process before")
			}
		}
		first := pick(td, func(k int) bool { return !taken[k] })
		v := scorer.LiveTrace(decode(first), store, l)
		addViolated(live, v)
		account += fate + ": " + tell(v, decode(first))
		if v != nil && v.Gaps == 0 && slices.Contains(taken, true) {
			t.Fatalf("%s: spans are missing, and there is no gap", fate)
		}
		if late := pick(td, func(k int) bool { return taken[k] }); fate == "early" && late.SpanCount() > 0 {
			later = append(later, func() {
				v, _ := scorer.LateTurn(decode(late), store, score.Live{Gaps: l.Gaps, Latest: end})
				addViolated(live, v)
				account += "late: " + tell(v, decode(late))
			})
		}
		// Nobody can know of a conversation what a trace lacks that does not name it: the
		// root does.
		if rapid.Bool().Draw(t, "what is late comes") || taken[0] {
			for _, turn := range later {
				turn()
			}
			later = nil
		}
	}
	for key := range live {
		if !recorded[key] {
			t.Fatalf("%v is violated where spans are missing, and not where all are there\n%s", key, account)
		}
	}
}

// extentOf is when the first span of a trace begins and the last one ends.
func extentOf(td ptrace.Traces) (begin, end genai.Timestamp) {
	for i, rs := range td.ResourceSpans().All() {
		span := rs.ScopeSpans().At(0).Spans().At(0)
		if s := genai.Timestamp(span.StartTimestamp()); i == 0 || s < begin {
			begin = s
		}
		end = max(end, genai.Timestamp(span.EndTimestamp()))
	}
	return begin, end
}

// What a processor knows of a trace does not depend on the order in which the spans
// arrive, and neither does what it concludes.
func TestLiveInAnyOrder(t *testing.T) {
	scorer := score.New(gapsPolicy(t))
	rapid.Check(t, func(t *rapid.T) {
		td := drawRun(t, 1, 1000, "c1")
		begin, end := extentOf(td)
		l := score.Live{
			Gaps:    score.Gaps(rapid.Uint32Range(0, 1<<16-1).Draw(t, "gaps")),
			Started: rapid.SampledFrom([]genai.Timestamp{0, begin + 1}).Draw(t, "started"), MaxAge: time.Minute,
			Latest: rapid.SampledFrom([]genai.Timestamp{0, end, end - 1}).Draw(t, "latest"),
		}
		verdict := func(td ptrace.Traces) string {
			store := conversationStore{}
			v := scorer.LiveTrace(decode(td), store, l)
			return tell(v, decode(td)) + string(scorer.AppendConversation(nil, store["c1"]))
		}
		order := make([]int, td.ResourceSpans().Len())
		for i := range order {
			order[i] = i
		}
		moved := ptrace.NewTraces()
		for _, i := range rapid.Permutation(order).Draw(t, "order") {
			td.ResourceSpans().At(i).CopyTo(moved.ResourceSpans().AppendEmpty())
		}
		if diff := cmp.Diff(verdict(td), verdict(moved)); diff != "" {
			t.Fatalf("in another order (-first +second):\n%s", diff)
		}
	})
}
