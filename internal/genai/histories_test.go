// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"pgregory.net/rapid"
)

// listElements are messages, parts that stand outside any, and what is neither.
var listElements = []string{
	`{"role":"user","content":"a, ] b"}`, `{"role":"assistant","content":"it is","tool_calls":[{"id":"k","function":{"name":"f","arguments":"{}"}}]}`,
	`{"role":"tool","tool_call_id":"k","content":"[{\"a\":1}]"}`, `{"role":"user","parts":[{"type":"text","content":"x"}]}`,
	`{"type":"text","text":"loose"}`, `{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}`, `{"type":"function_call_output","call_id":"c","output":"1"}`,
	`{"type":"reasoning"}`, `"said"`, `7`, `null`, `[{"role":"user","content":"a batch"}]`, `{"role":"user","content":"half`, ``,
}

// Lists that go on from each other, or nearly, come to the same as if each were
// read alone, and what was read before stays what it was.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h histories
		dialects := []*Dialect{nil, googleADK}
		var texts []string
		var got []Messages
		var want []string
		for n := range rapid.IntRange(1, 12).Draw(t, "lists") {
			var elements []string
			if n > 0 && rapid.IntRange(0, 3).Draw(t, "anew") > 0 {
				before := texts[rapid.IntRange(0, n-1).Draw(t, "from")]
				if rapid.IntRange(0, 4).Draw(t, "ended") > 0 {
					before = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(before), "]"))
				}
				elements = append(elements, before)
			} else {
				elements = append(elements, "["+rapid.SampledFrom(listElements).Draw(t, "first"))
			}
			for range rapid.IntRange(0, 3).Draw(t, "more") {
				among := listElements
				if rapid.Bool().Draw(t, "message") {
					among = listElements[:4]
				}
				elements = append(elements, rapid.SampledFrom(among).Draw(t, "element"))
			}
			text := strings.Join(elements, rapid.SampledFrom([]string{",", ", "}).Draw(t, "comma")) + rapid.SampledFrom([]string{"]", "]", "]", "] ", "", "]]"}).Draw(t, "end")
			d := rapid.SampledFrom(dialects).Draw(t, "dialect")
			role := rapid.SampledFrom([]Role{User, User, User, Assistant}).Draw(t, "role")
			texts = append(texts, text)
			want = append(want, dump(readMessages(pcommon.NewValueStr(text), role, d, nil)))
			got = append(got, readMessages(pcommon.NewValueStr(text), role, d, &h))
		}
		for i := range got {
			require.Equal(t, want[i], dump(got[i]), "%d of %q", i, texts)
		}
	})
}

// What is new in a list is all that is read of it: a conversation of twice as
// many turns takes twice as many allocations, not four times.
func TestHistoriesReadWhatIsNew(t *testing.T) {
	allocations := func(turns int) float64 {
		var lists []pcommon.Value
		var list []string
		for i := range turns {
			list = append(list, fmt.Sprintf(`{"role":"user","content":"question %d"},{"role":"assistant","content":"answer"}`, i))
			lists = append(lists, pcommon.NewValueStr("["+strings.Join(list, ",")+"]"))
		}
		return testing.AllocsPerRun(5, func() {
			var h histories
			for _, v := range lists {
				if m := readMessages(v, User, nil, &h); m.Broken {
					t.Error("broken")
				}
			}
		})
	}
	require.Less(t, allocations(200), 2.5*allocations(100))
}

// A decoder keeps nothing of the traces that it has read.
func TestHistoriesAreForgotten(t *testing.T) {
	var h histories
	h.begin(TraceID{1})
	readMessages(pcommon.NewValueStr(`[{"role":"user","content":"hi"}]`), User, nil, &h)
	require.NotEmpty(t, h.lists[0].text)
	h.begin(TraceID{1})
	require.NotEmpty(t, h.lists[0].text)
	h.begin(TraceID{2})
	require.Equal(t, histories{trace: TraceID{2}}, h)
}
