// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/conversations"
	"github.com/resultseal/otelcol-resultseal/internal/explain"
	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/mask"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

func load(t *testing.T, file string) *policy.Policy {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	p, err := policy.Load(file, text)
	require.NoError(t, err)
	return p
}

func read(t *testing.T, file string) []ptrace.Traces {
	t.Helper()
	var traces traceread.Collection
	require.NoError(t, traceread.Read([]string{file}, nil, 2, traceread.Handler{
		Traces: func(td ptrace.Traces, _ traceread.Place) error { traces.Add(td); return nil },
		Broken: func(e *traceread.Error) error { return e },
	}))
	return traces.Traces()
}

// judge judges one trace with an account; nil if nothing tells of an agent.
func judge(p *policy.Policy, td ptrace.Traces, store score.Conversations) *explain.Trace {
	facts, spans := genai.NewDecoder(genai.Options{}).Traces(td)
	v, a := score.New(p).Explain(facts, store)
	if v == nil {
		return nil
	}
	return &explain.Trace{Verdict: v, Account: a, Facts: facts, Spans: spans, Policy: p, Origin: "traces.jsonl:1"}
}

func written(t *testing.T, trace *explain.Trace, o explain.Options) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, explain.Write(&b, trace, o))
	return b.String()
}

func example(name string) (policyFile, traces string) {
	dir := filepath.Join("..", "..", "examples", "protocols", name)
	return filepath.Join(dir, "policy.yaml"), filepath.Join(dir, "traces.jsonl")
}

// withoutRoot takes the root span away, as if it had never come.
func withoutRoot(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			ss.Spans().RemoveIf(func(s ptrace.Span) bool { return s.ParentSpanID().IsEmpty() })
		}
	}
}

// Explanations as they are read. The golden files were read by eye.
func TestExplain(t *testing.T) {
	tests := []struct {
		golden, policy, traces string
		trace                  string // the beginning of its id
		change                 func(ptrace.Traces)
		o                      explain.Options
	}{
		{"violation", "no-action-on-an-unsealed-fact", "", "b62e47ab", nil, explain.Options{}},
		{"violation-content", "no-action-on-an-unsealed-fact", "", "4cb0e6e1", nil, explain.Options{Content: true}},
		{"guard", "read-before-write", "", "f735a132", nil, explain.Options{}},
		{"guard-content", "read-before-write", "", "f735a132", nil, explain.Options{Content: true}},
		{"compliant", "retry-at-most-three-times", "", "3f9e082a", nil, explain.Options{}},
		{"incomplete", "search-present-approve-book", "", "4edc7709", nil, explain.Options{Content: true}},
		{"inconclusive", "search-present-approve-book", "", "dba32420", withoutRoot, explain.Options{}},
		{"colour", "read-before-write", "", "c33a4ad7", nil, explain.Options{Colour: true}},
		{"events-of-spans", filepath.Join("testdata", "support.yaml"), filepath.Join("..", "traceread", "testdata", "strands.jsonl"), "", nil, explain.Options{}},
		{"two-servers", filepath.Join("testdata", "support.yaml"), filepath.Join("..", "traceread", "testdata", "mcp.jsonl"), "", nil, explain.Options{}},
		{"odd", filepath.Join("testdata", "odd.yaml"), filepath.Join("..", "traceread", "testdata", "strands.jsonl"), "", nil, explain.Options{}},
	}
	for _, tt := range tests {
		t.Run(tt.golden, func(t *testing.T) {
			policyFile, traces := tt.policy, tt.traces
			if traces == "" {
				policyFile, traces = example(tt.policy)
			}
			p := load(t, policyFile)
			for _, td := range read(t, traces) {
				if tt.change != nil {
					tt.change(td)
				}
				trace := judge(p, td, nil)
				if trace == nil || !strings.HasPrefix(trace.Verdict.TraceID.String(), tt.trace) {
					continue
				}
				got := written(t, trace, tt.o)
				path := filepath.Join("testdata", tt.golden+".txt")
				if *update {
					require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
					return
				}
				want, err := os.ReadFile(path)
				require.NoError(t, err, "run the test with -update")
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("%s (-want +got):\n%s", path, diff)
				}
				return
			}
			t.Fatal("no such trace")
		})
	}
}

// An explanation shows nothing of what tools returned or people wrote, but for
// references and versions that have the shape of an identifier.
func TestExplainNoContent(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "examples", "protocols", "*", "traces.jsonl"))
	require.NoError(t, err)
	root := os.Getenv("RESULTSEAL_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	more, err := filepath.Glob(filepath.Join(root, "traces", "*", "*.jsonl*"))
	require.NoError(t, err)
	if len(more) == 0 {
		t.Log("only the examples are looked at: recordings are not here (set RESULTSEAL_SHARED)")
	}
	for _, file := range append(files, more...) {
		if strings.Contains(file, ".logs.") {
			continue
		}
		policyFile := filepath.Join(filepath.Dir(file), "policy.yaml")
		p := load(t, policyFile)
		policyText, err := os.ReadFile(policyFile)
		require.NoError(t, err)
		for _, td := range read(t, file) {
			trace := judge(p, td, nil)
			if trace == nil {
				continue
			}
			text := written(t, trace, explain.Options{})
			shown := compared(trace) + string(policyText)
			for _, secret := range contents(trace.Account) {
				if len(secret) < 12 || strings.Contains(shown, secret) {
					continue
				}
				require.NotContains(t, text, secret, file)
			}
			require.NotContains(t, text, "!BADPREC")
			require.NotContains(t, text, "%!")
		}
	}
}

// compared is all that may be shown: names, and what rules compare if it has the
// shape of an identifier.
func compared(trace *explain.Trace) string {
	var b strings.Builder
	for _, c := range trace.Account.Calls {
		fmt.Fprintln(&b, c.Tool, c.ID)
		for _, t := range c.Trials {
			fmt.Fprintln(&b, t.Bound.RequiredFields)
			for _, r := range t.Templates {
				if mask.Identifier(r.Text) {
					fmt.Fprintln(&b, r.Text)
				}
			}
		}
	}
	return b.String()
}

// contents are the texts of arguments, results and messages.
func contents(a *score.Account) []string {
	var out []string
	var add func(v jsonvalue.Value)
	add = func(v jsonvalue.Value) {
		switch v.Kind() {
		case jsonvalue.StringKind:
			out = append(out, v.Text())
		case jsonvalue.ArrayKind:
			for i := range v.Len() {
				add(v.Index(i))
			}
		case jsonvalue.ObjectKind:
			for i := range v.Len() {
				_, member := v.Member(i)
				add(member)
			}
		}
	}
	for _, c := range a.Calls {
		add(c.Arguments)
		add(c.Result.Value)
	}
	for _, f := range a.Facts {
		out = append(out, f.Text)
	}
	return out
}

// What telemetry names things cannot write to a terminal by itself.
func TestExplainTerminal(t *testing.T) {
	policyFile, traces := example("read-before-write")
	td := read(t, traces)[0]
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				s.SetName("\x1b[31mred\nline\u202e")
				s.Attributes().PutStr("gen_ai.tool.call.id", "\x1b]0;title\x07")
			}
		}
	}
	for _, colour := range []bool{false, true} {
		text := written(t, judge(load(t, policyFile), td, nil), explain.Options{Colour: colour, Content: true})
		require.NotContains(t, text, "\x07")
		require.NotContains(t, text, "\u202e")
		require.NotContains(t, text, "\x1b[31mred")
		require.NotContains(t, text, "\x1b]0")
	}
}

// A protocol that follows a conversation goes on where the trace before left it.
func TestExplainConversation(t *testing.T) {
	p, err := policy.Load("policy.yaml", []byte(`
protocols:
  - name: talk
    session: conversation
    protocol: "!search.?search.!search.?search.end"
`))
	require.NoError(t, err)
	store := conversations.Unbounded{}
	var texts []string
	for n := range byte(2) {
		td := ptrace.NewTraces()
		span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		span.SetTraceID([16]byte{15: n + 1})
		span.SetSpanID([8]byte{7: 1})
		span.SetName("execute_tool search")
		span.SetStartTimestamp(1000 + 1000*pcommon.Timestamp(n))
		span.SetEndTimestamp(1500 + 1000*pcommon.Timestamp(n))
		span.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
		span.Attributes().PutStr("gen_ai.tool.name", "search")
		span.Attributes().PutStr("gen_ai.conversation.id", "c-1")
		texts = append(texts, written(t, judge(p, td, store), explain.Options{}))
	}
	require.Contains(t, texts[0], "It follows the conversation c-1.")
	require.Contains(t, texts[0], "It ends in state 2, which is no terminal one.")
	require.Contains(t, texts[1], "It goes on in state 2, where the conversation's earlier traces left it.")
	require.Contains(t, texts[1], "It ends in state 4, in which it may end.")
}
