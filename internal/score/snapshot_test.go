// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score

import (
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

const conversationPolicy = `
protocols:
  - name: orders
    session: conversation
    protocol: "rec X.!{order(id as id).?order.X, cancel(id == id).?cancel.X, stop}"
  - name: any
    session: conversation
    protocol: "rec X.!{order.?order.X, cancel.?cancel.X}"
    unmatched: violation
`

// turnOf is a trace with one tool call.
func turnOf(n int, conversation, tool, id string) ptrace.Traces {
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	root := spans.AppendEmpty()
	root.SetTraceID(pcommon.TraceID{1, byte(n >> 8), byte(n)})
	root.SetSpanID(pcommon.SpanID{1})
	root.SetStartTimestamp(pcommon.Timestamp(1000 * n))
	root.SetEndTimestamp(pcommon.Timestamp(1000*n + 900))
	root.Attributes().PutStr("gen_ai.operation.name", "invoke_agent")
	root.Attributes().PutStr("gen_ai.conversation.id", conversation)
	call := spans.AppendEmpty()
	call.SetTraceID(root.TraceID())
	call.SetSpanID(pcommon.SpanID{2})
	call.SetParentSpanID(root.SpanID())
	call.SetStartTimestamp(pcommon.Timestamp(1000*n + 100))
	call.SetEndTimestamp(pcommon.Timestamp(1000*n + 200))
	call.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
	call.Attributes().PutStr("gen_ai.tool.name", tool)
	call.Attributes().PutStr("gen_ai.tool.call.id", fmt.Sprint("call_", n))
	call.Attributes().PutStr("gen_ai.tool.call.arguments", fmt.Sprintf(`{"id": %q}`, id))
	call.Attributes().PutStr("gen_ai.tool.call.result", `{"ok": true}`)
	chat := spans.AppendEmpty()
	chat.SetTraceID(root.TraceID())
	chat.SetSpanID(pcommon.SpanID{3})
	chat.SetParentSpanID(root.SpanID())
	chat.SetStartTimestamp(pcommon.Timestamp(1000*n + 300))
	chat.SetEndTimestamp(pcommon.Timestamp(1000*n + 400))
	chat.Attributes().PutStr("gen_ai.operation.name", "chat")
	chat.Attributes().PutStr("gen_ai.input.messages", fmt.Sprintf(`[{"role":"user","parts":[{"type":"text","content":"turn %d"}]}]`, n))
	chat.Attributes().PutStr("gen_ai.output.messages", fmt.Sprintf(`[{"role":"assistant","parts":[{"type":"text","content":"answer %d"}]}]`, n))
	return td
}

type restoring struct {
	s    *Scorer
	rest map[string][]byte
	open map[string]*Conversation
}

func (r *restoring) Conversation(id string) *Conversation {
	c := &Conversation{}
	if data, ok := r.rest[id]; ok {
		var err error
		if c, err = r.s.RestoreConversation(data); err != nil {
			panic(err)
		}
	}
	r.open[id] = c
	return c
}

func (r *restoring) Skip(id string) {
	delete(r.open, id)
	r.rest[id] = r.s.AppendConversation(nil, EvictedConversation())
}

func (r *restoring) keep() {
	for id, c := range r.open {
		r.rest[id] = r.s.AppendConversation(nil, c)
	}
	clear(r.open)
}

type remembering map[string]*Conversation

func (r remembering) Conversation(id string) *Conversation {
	if r[id] == nil {
		r[id] = &Conversation{}
	}
	return r[id]
}

func (r remembering) Skip(id string) { r[id] = EvictedConversation() }

// A conversation that is put away after each of its traces goes on as one that
// was not, to the byte.
func TestConversationAtRestGoesOn(t *testing.T) {
	pol, err := policy.Load("policy.yaml", []byte(conversationPolicy))
	require.NoError(t, err)
	s := New(pol)
	rapid.Check(t, func(t *rapid.T) {
		kept, rested := remembering{}, &restoring{s, map[string][]byte{}, map[string]*Conversation{}}
		for range rapid.IntRange(1, 12).Draw(t, "turns") {
			n := rapid.IntRange(0, 20).Draw(t, "n")
			id := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "conversation")
			td := turnOf(n, id,
				rapid.SampledFrom([]string{"order", "cancel", "stop", "Unrecognized", "x"}).Draw(t, "tool"),
				rapid.SampledFrom([]string{"1", "2", "\"quoted\" \x00 ü"}).Draw(t, "id"))
			call := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1)
			switch rapid.IntRange(0, 8).Draw(t, "lacks") {
			case 0:
				call.Attributes().Remove("gen_ai.tool.call.arguments")
			case 1:
				call.SetParentSpanID(pcommon.SpanID{9})
			case 2:
				call.SetDroppedAttributesCount(1)
			}
			facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
			want, got := s.Trace(facts, kept), s.Trace(facts, rested)
			rested.keep()
			if diff := cmp.Diff(describe(want), describe(got)); diff != "" {
				t.Fatal(diff)
			}
			if diff := cmp.Diff(s.AppendConversation(nil, kept[id]), rested.rest[id]); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

func describe(v *Session) (lines []string) {
	lines = append(lines, v.Compliance.String(), v.Gaps.String(), fmt.Sprint(v.OutOfOrder, v.Complete))
	for _, p := range v.Protocols {
		lines = append(lines, p.Protocol.Name+" "+p.Verdict.String())
		for _, e := range p.Events {
			lines = append(lines, fmt.Sprint(e.Name, e.Verdict, e.Expected, e.Reason, e.Registers))
		}
	}
	return lines
}

// Conversations of version 2, as the release before gaps were a set wrote them:
// the first lacked a parent, of the second the arguments of a call.
var conversationsV2 = [...]string{
	"0201f80a186120706172656e74207370616e206973206d697373696e670202147549f9b1d80d6503e5d1aff72dc0d3ef01030663616c6c5f31056f7264657202e0585f8f1b6969fd0e0000000102696403223122020205cfffe70aab3d495c260504000004020400010c757365725f6d65737361676500000d6167656e745f6d657373616765",
	"0201e0120002027a1ab4babadc283d032c2605096a1014fd01030663616c6c5f32056f7264657202e0585f8f1b6969fd0702000000020205cfffe70aab3d495c260504000004020400010c757365725f6d65737361676500000d6167656e745f6d657373616765",
}

func TestConversationsOfVersion2(t *testing.T) {
	pol, err := policy.Load("policy.yaml", []byte(conversationPolicy))
	require.NoError(t, err)
	s := New(pol)
	restore := func(text string) *Conversation {
		data, err := hex.DecodeString(text)
		require.NoError(t, err)
		c, err := s.RestoreConversation(data)
		require.NoError(t, err)
		require.Len(t, c.followed, 2)
		return c
	}
	parent, content := restore(conversationsV2[0]), restore(conversationsV2[1])
	require.Equal(t, GapSet(GapParentMissing), parent.gaps)
	require.Zero(t, parent.followed[0].lacks)
	require.Zero(t, content.gaps)
	require.Equal(t, GapSet(GapContent), content.followed[0].lacks)

	// They go on as they would have: what may be missing explains what comes next.
	for reason, c := range map[string]*Conversation{GapParentMissing.Reason(): parent, GapContent.Reason(): content} {
		facts, _ := genai.NewDecoder(genai.Options{}).Traces(turnOf(3, "a", "cancel", "2"))
		v := s.Trace(facts, remembering{"a": c})
		require.Equal(t, Inconclusive, v.Protocols[0].Verdict)
		require.Equal(t, reason, v.Protocols[0].Events[0].Reason)
	}

	for _, text := range conversationsV2 {
		data, err := hex.DecodeString(text)
		require.NoError(t, err)
		for n := range data {
			_, err := s.RestoreConversation(data[:n])
			require.ErrorIs(t, err, ErrBadConversation)
		}
	}
}

// An unjudged protocol is so at rest, too. Conversations that an earlier release
// saved, which did not know of it, are read as they were.
func TestUnjudgedAtRest(t *testing.T) {
	pol, err := policy.Load("policy.yaml", []byte(`
protocols:
  - name: refunds
    session: conversation
    protocol: "!refund.end"
    events: [{label: refund, event: tool_call, tools: [refund]}]
`))
	require.NoError(t, err)
	s := New(pol)
	turn := func(n int, tool string, store Conversations) Compliance {
		facts, _ := genai.NewDecoder(genai.Options{}).Traces(turnOf(n, "a", tool, "1"))
		return s.Trace(facts, store).Compliance
	}
	rested := &restoring{s, map[string][]byte{}, map[string]*Conversation{}}
	for n, want := range []struct {
		tool string
		Compliance
	}{{"order", Unjudged}, {"order", Unjudged}, {"refund", Compliant}, {"order", Compliant}} {
		require.Equal(t, want.Compliance, turn(n+1, want.tool, rested), "trace %d", n+1)
		rested.keep()
	}

	f := &followed{monitor: pol.Protocols[0].Automaton.NewMonitor()}
	for worst, saved := range map[Compliance]byte{Unjudged: 255, Compliant: 0, Incomplete: 1, Unrecognized: 2, Inconclusive: 3, Violation: 4} {
		f.worst = worst
		body := appendFollowed(nil, pol.Protocols[0], f)
		require.Equal(t, saved, body[1], worst)
		require.Equal(t, worst, (&restorer{data: body}).followed(pol.Protocols[0]).worst)
		body[1] = 5
		require.Nil(t, (&restorer{data: body}).followed(pol.Protocols[0]))
	}
}

// A protocol that was changed begins anew; the others go on.
func TestChangedProtocolBeginsAnew(t *testing.T) {
	before, err := policy.Load("policy.yaml", []byte(conversationPolicy))
	require.NoError(t, err)
	changed, err := policy.Load("policy.yaml", []byte(`
protocols:
  - name: any
    session: conversation
    protocol: "rec X.!{order.?order.X, cancel.?cancel.X}"
    unmatched: violation
  - name: orders
    session: conversation
    protocol: "!cancel.?cancel.end"
`))
	require.NoError(t, err)
	kept := remembering{}
	facts, _ := genai.NewDecoder(genai.Options{}).Traces(turnOf(1, "a", "order", "1"))
	New(before).Trace(facts, kept)
	data := New(before).AppendConversation(nil, kept["a"])
	c, err := New(changed).RestoreConversation(data)
	require.NoError(t, err)
	require.Len(t, c.followed, 1)
	require.Contains(t, c.followed, 0)
	require.False(t, c.followed[0].changed)
	require.True(t, c.changed)
	require.Equal(t, kept["a"].calls, c.calls)
}

// Whatever stands in storage, reading it ends with a conversation or an error.
// What can be read is written again as it was, for the same policy.
func FuzzRestoreConversation(f *testing.F) {
	pol, err := policy.Load("policy.yaml", []byte(conversationPolicy))
	require.NoError(f, err)
	s := New(pol)
	kept := remembering{}
	for n := range 3 {
		facts, _ := genai.NewDecoder(genai.Options{}).Traces(turnOf(n, "a", "order", "1"))
		s.Trace(facts, kept)
		f.Add(s.AppendConversation(nil, kept["a"]))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := s.RestoreConversation(data)
		if err != nil {
			require.ErrorIs(t, err, ErrBadConversation)
			return
		}
		again, err := s.RestoreConversation(s.AppendConversation(nil, c))
		require.NoError(t, err)
		require.Equal(t, s.AppendConversation(nil, c), s.AppendConversation(nil, again))
	})
}
