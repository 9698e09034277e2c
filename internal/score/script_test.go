// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

var update = flag.Bool("update", false, "rewrite what the scripts and tables in testdata expect")

// The scripts in testdata/scripts are written traces and what comes of them. A
// scenario begins with "== name" and ends with what is expected, below "----":
//
//	store                       state goes on from trace to trace of a conversation
//	session                     expect the session's compliance and score, and protocols without events
//	trace                       a further trace
//	live WORD …                 what a processor knows of it: gaps; started=MS,
//	                            max_age=MS, latest=MS (what its clock allows)
//	evicted ID                  the conversation's state is evicted before the trace
//	agent NAME FROM-TO          spans, nested by indentation; times in milliseconds
//	chat FROM-TO
//	tool NAME [ID] FROM-TO
//	span NAME FROM-TO
//
// Below a span, further indented:
//
//	in ROLE TEXT                a message that the model was shown
//	in ROLE -> ID TOOL ARGS     one that asks for a call; in + adds to the message before
//	in tool ID RESULT           one that answers a call; "-" is no id
//	out …                       the answer, the same without a role
//	args JSON, result TEXT
//	error MESSAGE               the status, and an exception event; status: only the status
//	attr KEY JSON, event NAME JSON (lossy: with attributes dropped), scope NAME, service NAME, conv ID
//	resource                    without attributes, which were dropped; resource KEY
//	                            VALUE: with this one
//	dropped, unstarted, remote, orphan, again (the span once more), early (a copy of the
//	span from before it ended)
//	id sN (the id of another span, "-" for none), parent sN, kind client
//
// The expected text lists what happened in order, then what each result proves,
// then the protocols. s1 is the first span of the scenario, and so on.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "scripts", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)

	for _, file := range files {
		p := scriptPolicy(t, file)
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var out strings.Builder
		scenarios := strings.Split(string(text), "\n== ")
		ran := 0
		for n, scenario := range scenarios {
			if n == 0 && !strings.HasPrefix(scenario, "== ") {
				out.WriteString(strings.TrimRight(scenario, "\n") + "\n")
				ran++
				continue
			}
			scenario = strings.TrimPrefix(scenario, "== ")
			script, want, _ := strings.Cut(scenario, "\n----\n")
			name, _, _ := strings.Cut(script, "\n")
			t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
				ran++
				got := runScript(t, p, script, 0)
				if !*update {
					if diff := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); diff != "" {
						t.Errorf("%s (-want +got):\n%s", name, diff)
					}
				}
				// The order in which spans arrive changes nothing.
				for _, shuffle := range []int{1, 2, 3} {
					require.Equal(t, got, runScript(t, p, script, shuffle), "in another order of arrival (%d)", shuffle)
				}
				fmt.Fprintf(&out, "\n== %s\n----\n%s", strings.TrimRight(script, "\n"), got)
			})
		}
		if *update && ran == len(scenarios) { // -run may leave scenarios out
			require.NoError(t, os.WriteFile(file, []byte(strings.TrimLeft(out.String(), "\n")), 0o600))
		}
	}
}

// scriptPolicy loads the policy that lies beside a script, or the one of all.
func scriptPolicy(t *testing.T, script string) *policy.Policy {
	file := strings.TrimSuffix(script, ".txt") + ".policy.yaml"
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		file = filepath.Join(filepath.Dir(script), "policy.yaml")
		text, err = os.ReadFile(file)
	}
	require.NoError(t, err)
	p, err := policy.Load(file, text)
	require.NoError(t, err)
	return p
}

// runScript judges a scenario and describes what came of it. A shuffle other
// than 0 is another order of arrival.
func runScript(t *testing.T, p *policy.Policy, script string, shuffle int) string {
	s := &scripted{t: t, spans: map[spanKey]string{}, live: map[int]score.Live{}, evicted: map[int][]string{}}
	s.parse(script)
	decoder, scorer := genai.NewDecoder(genai.Options{}), score.New(p)
	var store conversationStore
	if s.store {
		store = conversationStore{}
	}
	var out strings.Builder
	for i, td := range s.traces {
		if len(s.traces) > 1 {
			fmt.Fprintf(&out, "trace %d\n", i+1)
		}
		reorder(td, shuffle)
		facts, _ := decoder.Traces(td)
		var v *score.Session
		var account *score.Account
		if store == nil {
			v, account = scorer.ExplainLive(facts, nil, s.live[i])
		} else {
			for _, id := range s.evicted[i] {
				store.Skip(id)
			}
			v, account = scorer.ExplainLive(facts, store, s.live[i])
		}
		s.describe(&out, facts, v, account)
	}
	return out.String()
}

type conversationStore map[string]*score.Conversation

func (c conversationStore) Conversation(id string) *score.Conversation {
	if c[id] == nil {
		c[id] = &score.Conversation{}
	}
	return c[id]
}

func (c conversationStore) Skip(id string) { c[id] = score.EvictedConversation() }

// reorder turns the resource spans of a trace around, or rotates them: every
// span has its own.
func reorder(td ptrace.Traces, shuffle int) {
	if shuffle == 0 {
		return
	}
	n := td.ResourceSpans().Len()
	moved := ptrace.NewTraces()
	for i := range n {
		at := n - 1 - i
		if shuffle > 1 {
			at = (i + shuffle) % n
		}
		td.ResourceSpans().At(at).CopyTo(moved.ResourceSpans().AppendEmpty())
	}
	moved.CopyTo(td)
}

// scripted builds traces from a script.
type scripted struct {
	t      *testing.T
	traces []ptrace.Traces
	spans  map[spanKey]string // names for the output
	store  bool
	whole  bool

	live    map[int]score.Live // by trace, as what follows
	evicted map[int][]string

	path  []frame
	count int
}

// spanKey tells spans apart, also those that share an id.
type spanKey struct {
	id    pcommon.SpanID
	kind  genai.SpanKind
	start pcommon.Timestamp
	name  string
}

func keyOf(span ptrace.Span) spanKey {
	return spanKey{span.SpanID(), genai.SpanKind(span.Kind()), span.StartTimestamp(), span.Name()}
}

// frame is an open span of a script.
type frame struct {
	indent   int
	number   int
	resource ptrace.ResourceSpans
	span     ptrace.Span
	in, out  []map[string]any
}

func (s *scripted) parse(script string) {
	for _, line := range strings.Split(script, "\n")[1:] {
		text := strings.TrimSpace(line)
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		word, rest, _ := strings.Cut(text, " ")
		switch word {
		case "store":
			s.store = true
		case "session":
			s.whole = true
		case "trace":
			s.close(0)
			s.traces = append(s.traces, ptrace.NewTraces())
		case "live":
			s.knows(strings.Fields(rest))
		case "evicted":
			s.evicted[max(0, len(s.traces)-1)] = append(s.evicted[max(0, len(s.traces)-1)], rest)
		case "agent", "chat", "tool", "span":
			s.close(indent)
			s.open(indent, word, rest)
		default:
			s.detail(word, rest)
		}
	}
	s.close(0)
}

// knows reads what a processor knows of the trace that was begun last.
func (s *scripted) knows(words []string) {
	var live score.Live
	for _, word := range words {
		key, value, _ := strings.Cut(word, "=")
		switch {
		case value == "":
			i := slices.IndexFunc(score.AllGaps(), func(g score.Gap) bool { return g.String() == key })
			require.GreaterOrEqual(s.t, i, 0, "unknown gap %q", key)
			live.Gaps.Add(score.AllGaps()[i])
		case key == "started":
			live.Started = genai.Timestamp(millis(s.t, value))
		case key == "latest":
			live.Latest = genai.Timestamp(millis(s.t, value))
		case key == "max_age":
			d, err := time.ParseDuration(value + "ms")
			require.NoError(s.t, err)
			live.MaxAge = d
		default:
			require.Fail(s.t, "unknown word in a script", word)
		}
	}
	s.live[max(0, len(s.traces)-1)] = live
}

// close ends the spans that are indented as far or further.
func (s *scripted) close(indent int) {
	for len(s.path) > 0 && s.path[len(s.path)-1].indent >= indent {
		f := &s.path[len(s.path)-1]
		if f.in != nil {
			f.span.Attributes().PutStr("gen_ai.input.messages", encode(s.t, f.in))
		}
		if f.out != nil {
			f.span.Attributes().PutStr("gen_ai.output.messages", encode(s.t, f.out))
		}
		s.path = s.path[:len(s.path)-1]
	}
}

func encode(t *testing.T, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func (s *scripted) open(indent int, kind, rest string) {
	if len(s.traces) == 0 {
		s.traces = append(s.traces, ptrace.NewTraces())
	}
	words := strings.Fields(rest)
	from, to, ok := strings.Cut(words[len(words)-1], "-")
	require.True(s.t, ok, "%s %s: times are missing", kind, rest)
	s.count++
	rs := s.traces[len(s.traces)-1].ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "crm-agent")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("script")
	span := ss.Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{15: byte(len(s.traces))})
	span.SetSpanID(pcommon.SpanID{7: byte(s.count)})
	if len(s.path) > 0 {
		span.SetParentSpanID(s.path[len(s.path)-1].span.SpanID())
	}
	span.SetStartTimestamp(millis(s.t, from))
	span.SetEndTimestamp(millis(s.t, to))
	a := span.Attributes()
	switch kind {
	case "agent":
		span.SetName("invoke_agent " + words[0])
		a.PutStr("gen_ai.operation.name", "invoke_agent")
		a.PutStr("gen_ai.agent.name", words[0])
	case "chat":
		span.SetName("chat model-1")
		a.PutStr("gen_ai.operation.name", "chat")
	case "tool":
		span.SetName("execute_tool " + words[0])
		a.PutStr("gen_ai.operation.name", "execute_tool")
		a.PutStr("gen_ai.tool.name", words[0])
		if len(words) > 2 {
			a.PutStr("gen_ai.tool.call.id", words[1])
		}
	default:
		span.SetName(strings.Join(words[:len(words)-1], " "))
	}
	s.spans[keyOf(span)] = "s" + strconv.Itoa(s.count)
	s.path = append(s.path, frame{indent: indent, number: s.count, resource: rs, span: span})
}

func millis(t *testing.T, text string) pcommon.Timestamp {
	ms, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	const epoch = 1_700_000_000_000
	return pcommon.Timestamp((epoch + ms) * 1e6)
}

func (s *scripted) detail(word, rest string) {
	f := &s.path[len(s.path)-1]
	a := f.span.Attributes()
	switch word {
	case "in":
		f.in = s.message(f.in, rest)
	case "out":
		if !strings.HasPrefix(rest, "+ ") {
			rest = "assistant " + rest
		}
		f.out = s.message(f.out, rest)
	case "args":
		a.PutStr("gen_ai.tool.call.arguments", rest)
	case "result":
		a.PutStr("gen_ai.tool.call.result", rest)
	case "error":
		f.span.Status().SetCode(ptrace.StatusCodeError)
		f.span.Status().SetMessage(rest)
		e := f.span.Events().AppendEmpty()
		e.SetName("exception")
		e.Attributes().PutStr("exception.type", "Error")
		e.Attributes().PutStr("exception.message", rest)
	case "status":
		f.span.Status().SetCode(ptrace.StatusCodeError)
		f.span.Status().SetMessage(rest)
	case "attr":
		key, value, _ := strings.Cut(rest, " ")
		put(s.t, a, key, value)
	case "event":
		name, value, _ := strings.Cut(rest, " ")
		e := f.span.Events().AppendEmpty()
		e.SetName(name)
		var attributes map[string]any
		require.NoError(s.t, json.Unmarshal([]byte(value), &attributes))
		require.NoError(s.t, e.Attributes().FromRaw(attributes))
	case "lossy": // attributes of the last event were dropped
		f.span.Events().At(f.span.Events().Len() - 1).SetDroppedAttributesCount(1)
	case "scope":
		f.resource.ScopeSpans().At(0).Scope().SetName(rest)
	case "service":
		f.resource.Resource().Attributes().PutStr("service.name", rest)
	case "conv":
		a.PutStr("gen_ai.conversation.id", rest)
	case "id":
		f.span.SetSpanID(s.id(rest))
		s.spans[keyOf(f.span)] = "s" + strconv.Itoa(f.number)
	case "kind":
		f.span.SetKind(map[string]ptrace.SpanKind{"client": ptrace.SpanKindClient, "server": ptrace.SpanKindServer}[rest])
		s.spans[keyOf(f.span)] = "s" + strconv.Itoa(f.number)
	case "parent":
		f.span.SetParentSpanID(s.id(rest))
	case "unstarted":
		f.span.SetStartTimestamp(0)
	case "dropped":
		f.span.SetDroppedAttributesCount(1)
	case "resource":
		key, value, _ := strings.Cut(rest, " ")
		r := f.resource.Resource()
		if r.DroppedAttributesCount() == 0 {
			r.Attributes().Clear()
			r.SetDroppedAttributesCount(1)
		}
		if key != "" {
			r.Attributes().PutStr(key, value)
		}
	case "remote":
		f.span.SetParentSpanID(pcommon.SpanID{0xee})
		f.span.SetFlags(0x301)
	case "orphan":
		f.span.SetParentSpanID(pcommon.SpanID{0xee})
	case "early": // a copy that was exported before the span had ended
		rs := s.traces[len(s.traces)-1].ResourceSpans().AppendEmpty()
		f.resource.CopyTo(rs)
		copied := rs.ScopeSpans().At(0).Spans().At(0)
		copied.SetEndTimestamp(copied.StartTimestamp())
		copied.Attributes().Remove("gen_ai.tool.call.result")
	case "again":
		f.resource.CopyTo(s.traces[len(s.traces)-1].ResourceSpans().AppendEmpty())
	default:
		require.Fail(s.t, "unknown word in a script", "%s %s", word, rest)
	}
}

// id is the id of the span that a script names.
func (s *scripted) id(name string) pcommon.SpanID {
	if name == "-" {
		return pcommon.SpanID{}
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(name, "s"), 10, 8)
	require.NoError(s.t, err)
	return pcommon.SpanID{7: byte(n)}
}

func put(t *testing.T, m pcommon.Map, key, value string) {
	var v any
	require.NoError(t, json.Unmarshal([]byte(value), &v), value)
	if f, ok := v.(float64); ok && f == float64(int64(f)) {
		v = int64(f)
	}
	require.NoError(t, m.PutEmpty(key).FromRaw(v))
}

// message adds a message, or a part to the last one.
func (s *scripted) message(list []map[string]any, rest string) []map[string]any {
	role, text, spoken := strings.Cut(rest, " ")
	if role != "+" {
		list = append(list, map[string]any{"role": role, "parts": []any{}})
	}
	m := list[len(list)-1]
	if !spoken {
		return list // not captured
	}
	part := map[string]any{"type": "text", "content": text}
	words := strings.SplitN(text, " ", 4)
	switch {
	case words[0] == "->":
		part = map[string]any{"type": "tool_call", "name": words[2]}
		if words[1] != "-" {
			part["id"] = words[1]
		}
		if len(words) > 3 {
			part["arguments"] = raw(words[3])
		}
	case role == "tool" || strings.HasPrefix(text, "<- "):
		id, result, given := strings.Cut(strings.TrimPrefix(text, "<- "), " ")
		part = map[string]any{"type": "tool_call_response"}
		if id != "-" {
			part["id"] = id
		}
		if given {
			part["response"] = raw(result)
		}
	case text == `""`:
		part["content"] = ""
	}
	m["parts"] = append(m["parts"].([]any), part)
	return list
}

func raw(text string) any {
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}

// describe writes what came of a trace.
func (s *scripted) describe(out *strings.Builder, facts []genai.Span, v *score.Session, account *score.Account) {
	if v == nil {
		out.WriteString("nothing of an agent\n")
		return
	}
	name := func(span int) string {
		f := &facts[span]
		return s.spans[spanKey{pcommon.SpanID(f.SpanID), f.SpanKind, pcommon.Timestamp(f.Start), f.Name}]
	}
	call := func(i int) string {
		if i < 0 {
			return "?"
		}
		return strings.TrimSpace(account.Calls[i].Tool + " " + account.Calls[i].ID)
	}
	for _, f := range account.Facts {
		switch f.Kind {
		case policy.ToolCall:
			fmt.Fprintf(out, "call %s %s\n", call(f.Call), name(f.Span))
		case policy.ToolResult:
			fmt.Fprintf(out, "result %s %s\n", call(f.Call), name(f.Span))
		case policy.UserMessage:
			first := ""
			if f.First {
				first = "first "
			}
			fmt.Fprintf(out, "%suser %q %s\n", first, f.Text, name(f.Span))
		case policy.AgentMessage:
			asks := ""
			if f.Text == "" {
				fmt.Fprintf(out, "agent calls tools %s\n", name(f.Span))
				break
			}
			if f.Calls {
				asks = " and calls"
			}
			fmt.Fprintf(out, "agent %q%s %s\n", f.Text, asks, name(f.Span))
		}
	}
	if v.Gaps != 0 {
		fmt.Fprintf(out, "gaps: %s\n", v.Gaps)
	}
	for i := range v.Observations {
		o := &v.Observations[i]
		fmt.Fprintf(out, "%s: %s", strings.TrimSpace(o.Tool+" "+o.CallID), o.Evaluation.TruthState)
		if !o.Sealed() {
			fmt.Fprintf(out, " %v", o.Evaluation.ReasonCodes)
		}
		if len(o.Evaluation.MissingFields) > 0 {
			fmt.Fprintf(out, " missing %v", o.Evaluation.MissingFields)
		}
		fmt.Fprintf(out, " %s\n", name(o.Span))
	}
	for _, c := range v.Uncontracted {
		fmt.Fprintf(out, "uncontracted %s %s\n", strings.TrimSpace(c.Tool+" "+c.ID), name(c.Span))
	}
	for i := range v.Protocols {
		p := &v.Protocols[i]
		if len(p.Events) == 0 && !s.whole || p.Protocol.Session == policy.SessionConversation && p.Conversation == "" {
			continue
		}
		fmt.Fprintf(out, "%s: %s", strings.TrimSpace(p.Protocol.Name+" "+p.Conversation), p.Verdict)
		if r := p.Reason(); r != "" {
			fmt.Fprintf(out, ", %s", r)
		}
		for _, e := range p.Events {
			fmt.Fprintf(out, " %s", e.Name)
			if e.Verdict != score.EventOK {
				fmt.Fprintf(out, "(%s)", e.Verdict)
			}
		}
		out.WriteString("\n")
	}
	if s.whole {
		passed, made := v.Score()
		fmt.Fprintf(out, "session: %s, %d of %d\n", v.Compliance, passed, made)
	}
	if v.OutOfOrder {
		out.WriteString("out of order\n")
	}
	if v.Ahead {
		out.WriteString("ahead\n")
	}
	if v.Unfollowed > 0 {
		fmt.Fprintf(out, "%d conversations not followed\n", v.Unfollowed)
	}
}
