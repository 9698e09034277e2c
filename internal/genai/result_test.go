// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// dumpResult writes a result in a line.
func dumpResult(r Result) string {
	text := ""
	switch r.State {
	case NotCaptured:
		text = "nothing"
	case Truncated:
		text = "cut off"
	default:
		value, err := r.Value.AppendCanonical(nil)
		if err != nil {
			value = []byte("?")
		}
		text = r.Kind.String() + " " + string(value)
	}
	if r.ExitCode != 0 {
		text += fmt.Sprint(" exit ", r.ExitCode)
	}
	if r.CallID != "" || r.Tool != "" {
		text += " of " + r.Tool + " " + r.CallID
	}
	if r.Failed {
		text += " failed"
	}
	if r.Conflict {
		text += " conflict"
	}
	return text
}

// What a recorded result is under its wrappers.
func TestResult(t *testing.T) {
	adk, strands, lang := googleADK, strands, openInference
	for _, tc := range []struct {
		text    string
		dialect *Dialect
		want    string
	}{
		// As it is.
		{`{"a":1}`, nil, `json {"a":1}`},
		{` [ 1 , 2 ] `, nil, `json [1,2]`},
		{`sent`, nil, `text "sent"`},
		{``, nil, `text ""`},
		{`42`, nil, `json 42`},
		{`-0.50`, nil, `json -0.5`},
		{`true`, nil, `json true`},
		{`null`, nil, `json null`},
		{`nullable`, nil, `text "nullable"`},
		{`42 pieces`, nil, `text "42 pieces"`},

		// JSON in a JSON string, once and no further.
		{`"sent"`, nil, `text "sent"`},
		{`"42"`, nil, `text "42"`},
		{`"[]"`, nil, `json []`},
		{`"{\"a\":\"{\\\"b\\\":1}\"}"`, nil, `json {"a":"{\"b\":1}"}`},
		{`"\"[]\""`, nil, `text "\"[]\""`},

		// MCP.
		{`{"content":[{"type":"text","text":"{\"a\":1}"}]}`, nil, `json {"a":1}`},
		{`{"content":[{"type":"text","text":"42"}]}`, nil, `json 42`},
		{`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, nil, `text "a\nb"`},
		{`{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}`, nil, `json {"a":1}`},
		{`{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":null}`, nil, `json {"a":1}`},
		{`{"content":[{"type":"text","text":"no"}],"isError":true}`, nil, `text "no" failed`},
		{`{"content":[],"isError":false}`, nil, `text ""`},
		{`{"content":[]}`, nil, `text ""`},
		{`{"content":[{"type":"image","data":"AA"}]}`, nil, `json [{"data":"AA","type":"image"}]`},
		{`{"structured_content":{"a":1},"is_error":false,"data":{"a":1},"meta":null,"content":[]}`, nil, `json {"a":1}`},
		{`"{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"a\\\":1}\"}]}"`, nil, `json {"a":1}`},
		{`{"content":[],"structuredContent":{"result":[]},"isError":false}`, nil, `json []`},
		{`{"content":[{"type":"text","text":"5"}],"structuredContent":{"result":5}}`, nil, `json 5`},
		{`{"content":[],"structuredContent":{"result":null}}`, nil, `json null`},
		{`{"content":[{"type":"text","text":"sent"}],"structuredContent":{"result":"sent"}}`, nil, `text "sent"`},
		{`{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"result":"{\"a\":1}"}}`, nil, `json {"a":1}`},
		{`{"content":[],"structuredContent":{"result":{"result":1}}}`, nil, `json {"result":1}`},
		{`{"content":[],"structuredContent":{"result":[],"total":0}}`, nil, `json {"result":[],"total":0}`},
		{`{"content":[{"type":"text","text":"{\"a\":2}"}],"structuredContent":{"a":1}}`, nil, `json {"a":1} conflict`},
		{`{"content":[{"type":"text","text":"{\"a\":2}"}],"structuredContent":{"a":1},"isError":true}`, nil, `json {"a":1} failed conflict`},
		{`{"content":[{"type":"text","text":"{\"a\":1}"}],"isError":"true"}`, nil, `json {"a":1} conflict`},
		{`{"content":[{"type":"text","text":"{\"a\":1}"}],"is_error":1}`, nil, `json {"a":1} conflict`},
		{`{"content":[{"text":"{\"a\":1}"}],"isError":[]}`, nil, `json {"a":1} conflict`},
		{`{"content":[{"type":"text","text":"{\"a\":1}"}],"isError":null}`, nil, `json {"a":1}`},
		{`{"structuredContent":{"a":1},"isError":"no"}`, nil, `json {"a":1} conflict`},
		{`{"content":[{"text":"chapter"}],"title":"book"}`, nil, `json {"content":[{"text":"chapter"}],"title":"book"}`},
		{`{"content":[1,2]}`, nil, `json {"content":[1,2]}`},
		{`{"content":"words"}`, nil, `json {"content":"words"}`},

		// LangChain.
		{`{"lc":1,"type":"constructor","id":["langchain_core","messages","ToolMessage"],"kwargs":{"status":"success","content":"{\"a\":1}","tool_call_id":"k1","name":"find"}}`, nil, `json {"a":1} of find k1`},
		{`{"output":{"lc":1,"type":"constructor","id":["ToolMessage"],"kwargs":{"status":"error","content":"no","tool_call_id":"k1"}}}`, lang, `text "no" of  k1 failed`},
		{`{"lc":1,"type":"constructor","id":["ToolMessage"],"kwargs":{"content":[],"tool_call_id":"k1"}}`, nil, `json [] of  k1`},
		{`{"type":"tool","content":"[]","tool_call_id":"k1","name":"find"}`, nil, `json [] of find k1`},
		{`{"type":"tool","content":"hammer"}`, nil, `json {"content":"hammer","type":"tool"}`},

		// Blocks, and the AI SDK's values.
		{`[{"json":{"a":1}}]`, nil, `json {"a":1}`},
		{`[{"json":{"$value":[]}}]`, strands, `json []`},
		{`[{"text":"{\"a\":1}"}]`, nil, `json {"a":1}`},
		{`[{"text":"a"},{"json":{}}]`, nil, `json [{"text":"a"},{"json":{}}]`},
		{`[{"text":"a","lang":"en"}]`, nil, `json [{"lang":"en","text":"a"}]`},
		{`{"type":"json","value":{"a":1}}`, nil, `json {"a":1}`},
		{`{"type":"text","value":"42"}`, nil, `text "42"`},
		{`{"type":"text","value":"[]"}`, nil, `json []`},
		{`{"type":"content","value":[{"type":"text","text":"a"}]}`, nil, `text "a"`},
		{`{"type":"text","value":"{\"type\":\"text\",\"value\":\"[]\"}"}`, nil, `text "[]"`},
		{`{"type":"error-text","value":"no"}`, nil, `text "no" failed`},
		{`{"type":"celsius","value":3}`, nil, `json {"type":"celsius","value":3}`},

		// A single key, where the row says so.
		{`{"result":"sent"}`, adk, `text "sent"`},
		{`{"result":"sent"}`, nil, `json {"result":"sent"}`},
		{`{"result":"sent","more":1}`, adk, `json {"more":1,"result":"sent"}`},
		{`{"error":"no"}`, adk, `text "no" failed`},
		{`{"error":"no"}`, nil, `json {"error":"no"}`},
		{`{"result":"no","is_error":true}`, traceloop, `text "no" failed`},
		{`{"result":"no","is_error":"true"}`, traceloop, `text "no" conflict`},
		{`{"result":"no","is_error":null}`, traceloop, `text "no"`},
		{`{"output":{"a":1},"kwargs":{"color":"green"}}`, traceloop, `json {"a":1}`},
		{`{}`, adk, `nothing`},
		{`{}`, nil, `json {}`},

		// Commands.
		{`{"stdout":"a","exit_code":2}`, nil, `stdio {"exit_code":2,"stdout":"a"} exit 2`},
		{`{"stdout":"a","exitCode":"2"}`, nil, `json {"exitCode":"2","stdout":"a"}`},
		{`{"stdout":"a"}`, nil, `json {"stdout":"a"}`},

		// What was not recorded, or not to its end.
		{`[redacted]`, nil, `nothing`},
		{`"[REDACTED]"`, nil, `nothing`},
		{`{"type":"text","value":"<not specified>"}`, nil, `nothing`},
		{`{"content":[{"type":"text","text":"[redacted]"}],"isError":true}`, nil, `nothing failed`},
		{`{"a":`, nil, `cut off`},
		{`{"a":"x…`, nil, `cut off`},
		{`[1,2,... (truncated)`, nil, `cut off`},
		{`{"a":1}...[truncated, original 5000 chars]`, nil, `cut off`},
		{`"sen`, nil, `cut off`},
		{`… [truncated]`, nil, `cut off`},
		{`...`, nil, `text "..."`},
		{`see below…`, nil, `text "see below…"`},
		{`{a: 1}…`, nil, `text "{a: 1}…"`},
	} {
		t.Run(tc.text, func(t *testing.T) {
			require.Equal(t, tc.want, dumpResult(ContentOf(pcommon.NewValueStr(tc.text), tc.dialect).Result()))
		})
	}
}

// The text that a value was parsed from is kept for who wants the text.
func TestResultSource(t *testing.T) {
	source := func(text string) string { return ContentOf(pcommon.NewValueStr(text), nil).Result().Source }
	require.Equal(t, ` {"a" : 1}`, source(` {"a" : 1}`))
	require.Equal(t, `{"a" : 1}`, source(`{"content":[{"type":"text","text":"{\"a\" : 1}"}]}`))
	require.Empty(t, source(`{"structuredContent":{"a":1}}`))
	require.Empty(t, source(`sent`))
}

// Every beginning of a JSON text is known as one, and nothing else is.
func TestJSONPrefix(t *testing.T) {
	for _, text := range []string{
		`{"a":1,"b":[true,false,null,-1.5e+3],"c":{"d":"e\"\\\u00e9"},"f":[]}`,
		`[ {"x" : NaN} , [ Infinity , -Infinity ] , "é" ]`,
		`[[[[{}]]],{"a":{"b":{}}}]`,
	} {
		require.Equal(t, jsonWhole, jsonPrefix(text))
		for i := 1; i < len(text); i++ {
			require.Equal(t, jsonUnfinished, jsonPrefix(text[:i]), text[:i])
			require.True(t, brokenOff(text[:i]+"… [truncated]"), text[:i])
			require.Equal(t, jsonWrong, jsonPrefix("}"+text[:i]))
		}
		require.Equal(t, jsonWrong, jsonPrefix(text+"x"))
	}
	for _, text := range []string{`{a}`, `[1 2]`, `{"a" 1}`, `[1,]`, `{,}`, `{"a":1,}`, "[\"a\nb\"]", `[tru]`, `[1.]`, `[see`, `x`} {
		require.Equal(t, jsonWrong, jsonPrefix(text), text)
	}
}

func TestTrimCut(t *testing.T) {
	for text, want := range map[string]string{
		"abc… [truncated]": "abc", "abc...[truncated, original 5000 chars]": "abc", "abc…": "abc", "abc...": "abc", "abc ... (Truncated)  ": "abc",
		"abc<truncated>": "abc", "abc [+12 chars truncated]...": "abc",
	} {
		got, cut := trimCut(text)
		require.True(t, cut, text)
		require.Equal(t, want, got)
	}
	for _, text := range []string{"abc", "", "abc [1]", "abc (see above)", `["truncated"]`, "abc."} {
		got, cut := trimCut(text)
		require.False(t, cut, text)
		require.Equal(t, strings.TrimRight(text, " "), got)
	}
}

func TestCutCopy(t *testing.T) {
	text := "All is well with the order, and it was sent to the customer today."
	for _, copied := range []string{"All is well…", "All is well with… [truncated]", text[:40], "All is… customer today.", "All is [truncated 30 chars] today.", "All is ... today."} {
		require.True(t, CutCopy(text, copied), copied)
	}
	for _, copied := range []string{"All is", "Nothing is well…", "All is… lost.", "[truncated] today"} {
		require.False(t, CutCopy(text, copied), copied)
	}
}

// Arguments as instrumentations write them.
func TestArguments(t *testing.T) {
	for _, tc := range []struct {
		text    string
		dialect *Dialect
		want    string // "" if they are not known
	}{
		{`{"id":"42"}`, nil, `{"id":"42"}`},
		{`"{\"id\":\"42\"}"`, nil, `{"id":"42"}`},
		{`42`, nil, `42`},
		{`A-1`, nil, `"A-1"`},
		{`{"id":"42","no`, nil, ``},
		{`[redacted]`, nil, ``},
		{`{'id': '42', 'all': True, 'none': None, 'n': (1, 2.5e3), 's': "it's \"so\"", 'e': 'caf\xe9'}`, nil, `{"all":true,"e":"café","id":"42","n":[1,2500.0],"none":null,"s":"it's \"so\""}`},
		{`{'id': object}`, nil, `"{'id': object}"`},
		{`{"args":[],"kwargs":{"id":"42"}}`, traceloop, `{"id":"42"}`},
		{`{"args":["{\"id\":\"42\"}"]}`, traceloop, `{"id":"42"}`},
		{`{"args":["ada","hi"],"kwargs":{}}`, traceloop, `["ada","hi"]`},
		{`{"args":[],"kwargs":{}}`, traceloop, `{}`},
		{`{"tool_name":"find","arguments":{"id":"42"}}`, traceloop, `{"id":"42"}`},
		{`{"tool_name":"find","arguments":{}}`, traceloop, `{}`},
		{`{"input_str":"{'id': '42'}","tags":[],"metadata":{},"inputs":{"id":"42"},"kwargs":{"color":"green"}}`, traceloop, `{"id":"42"}`},
		{`{"id":"42"}`, traceloop, `{"id":"42"}`},
		{`{"input":"{\"id\":\"42\"}"}`, nil, `{"id":"42"}`},
		{`{"input":"{'id': '42'}"}`, openInference, `{"id":"42"}`},
		{`{"input":"all of it"}`, nil, `{"input":"all of it"}`},
		{`{"kwargs":{"id":"42"}}`, openInference, `{"id":"42"}`},
		{`{"args":["-la"]}`, openInference, `{"args":["-la"]}`},
	} {
		t.Run(tc.text, func(t *testing.T) {
			v, ok := ContentOf(pcommon.NewValueStr(tc.text), tc.dialect).Arguments()
			require.Equal(t, tc.want != "", ok)
			if ok {
				got, err := v.AppendCanonical(nil)
				require.NoError(t, err)
				require.Equal(t, tc.want, string(got))
			}
		})
	}
	_, ok := Content{}.Arguments()
	require.False(t, ok)
	require.Equal(t, Result{State: Truncated}, Content{Dropped: true}.Result())
	require.Equal(t, jsonvalue.NullKind, Content{}.Result().Value.Kind())
}

func TestUsableID(t *testing.T) {
	for _, id := range []string{"", " ", "unknown", "Unknown", "N/A", "n/a", "null", "None", "nil", "undefined", "<not specified>"} {
		require.Empty(t, UsableID(id), id)
	}
	for _, id := range []string{"call_1", "0", "unknown-1", "toolu_0123456789abcdef"} {
		require.Equal(t, id, UsableID(id))
	}
}

func TestFailureNames(t *testing.T) {
	for _, name := range []string{"GraphInterrupt", "langgraph.errors.GraphInterrupt", "GraphInterrupt: [{}]\n at", "GraphInterrupt([...])", "pydantic_ai.exceptions.ApprovalRequired", "NodeInterrupt"} {
		require.True(t, interrupt(name), name)
	}
	for _, name := range []string{"", "Error", "Interrupt handler failed", "KeyboardInterrupt", "interruption"} {
		require.False(t, interrupt(name), name)
	}
	for _, name := range []string{"cancelled", "asyncio.exceptions.CancelledError", "System.Threading.Tasks.TaskCanceledException", "AbortError"} {
		require.True(t, cancelled(name), name)
	}
	require.False(t, cancelled("cancelled orders cannot be sent"))
}
