// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// around returns text within n openings and as many closings.
func around(opening string, n int, text, closing string) string {
	return strings.Repeat(opening, n) + text + strings.Repeat(closing, n)
}

// A JSON text past a limit is not read as JSON: a result is text, messages are
// missing.
func TestJSONPastItsLimitsIsText(t *testing.T) {
	for name, tt := range map[string]struct{ at, past string }{
		"size":   {`"` + strings.Repeat("x", jsonvalue.MaxBytes-len(`{"a":""}`)) + `"`, `"` + strings.Repeat("x", jsonvalue.MaxBytes) + `"`},
		"depth":  {around("[", jsonvalue.MaxDepth-1, "1", "]"), around("[", jsonvalue.MaxDepth, "1", "]")},
		"digits": {strings.Repeat("9", jsonvalue.MaxIntDigits), strings.Repeat("9", jsonvalue.MaxIntDigits+1)},
	} {
		t.Run(name, func(t *testing.T) {
			result := func(text string) Result { return ContentOf(pcommon.NewValueStr(`{"a":`+text+`}`), nil).Result() }
			require.Equal(t, jsonvalue.ObjectKind, result(tt.at).Value.Kind())
			require.Equal(t, jsonvalue.StringKind, result(tt.past).Value.Kind())
			require.Equal(t, Captured, result(tt.past).State)
			m := readMessages(pcommon.NewValueStr(`[{"role":"user","content":"hi"},`+tt.past+`]`), User, nil, nil)
			require.True(t, m.Broken)
			require.Empty(t, m.List)
		})
	}
}

// Structured values are followed so deep, and what is deeper is null.
func TestValueDepth(t *testing.T) {
	nested := func(n int) jsonvalue.Value {
		v := pcommon.NewValueEmpty()
		at := v
		for range n {
			at = at.SetEmptySlice().AppendEmpty()
		}
		at.SetStr("deepest")
		return ValueOf(v)
	}
	text := func(v jsonvalue.Value) string {
		b, err := v.AppendCanonical(nil)
		require.NoError(t, err)
		return string(b)
	}
	require.Contains(t, text(nested(maxValueDepth-1)), "deepest")
	for _, n := range []int{maxValueDepth, maxValueDepth + 1, 100_000} {
		require.Equal(t, around("[", maxValueDepth, "null", "]"), text(nested(n)))
	}
}

// A flattened name has so many parts, and the rest of it is one.
func TestFlatDepth(t *testing.T) {
	d := NewDecoder(Options{})
	read := func(rest string) jsonvalue.Value {
		d.flat = []flatAttribute{{prefix: "p.", rest: rest, value: pcommon.NewValueStr("x")}}
		v, ok := d.unflatten("p.")
		require.True(t, ok)
		return v
	}
	depth := func(v jsonvalue.Value) (n int, last string) {
		for v.Kind() == jsonvalue.ObjectKind {
			last, v = v.Member(0)
			n++
		}
		return n, last
	}
	n, last := depth(read(strings.TrimSuffix(strings.Repeat("a.", maxFlatDepth), ".")))
	require.Equal(t, maxFlatDepth, n)
	require.Equal(t, "a", last)
	n, last = depth(read(strings.Repeat("a.", 10_000)))
	require.Equal(t, maxFlatDepth, n)
	require.Len(t, last, 2*(10_000-maxFlatDepth+1))
}

// So many wrappers are opened, and the rest is the result.
func TestWrappersAreBounded(t *testing.T) {
	opened := func(n int) int {
		v := ContentOf(pcommon.NewValueStr(around(`{"result":`, n, `{"a":1,"b":2}`, "}")), googleADK).Result().Value
		for left := 0; ; left++ {
			inner, ok := v.Get("result")
			if !ok {
				return n - left
			}
			v = inner
		}
	}
	require.Equal(t, 5, opened(5))
	require.Equal(t, maxWrappers-1, opened(maxWrappers+10), "the text itself is one")
}

// A long or deep dictionary in Python's notation is text.
func TestPythonLiteralIsBounded(t *testing.T) {
	read := func(size int) bool {
		text := "{'a': '" + strings.Repeat("x", size-len("{'a': ''}")) + "'}"
		v, _ := ContentOf(pcommon.NewValueStr(text), nil).Arguments()
		return v.Kind() == jsonvalue.ObjectKind
	}
	require.True(t, read(maxPythonLiteral))
	require.False(t, read(maxPythonLiteral+1))

	nested := func(n int) bool {
		_, ok := pythonLiteral("{'a': " + around("[", n-1, "True", "]") + "}")
		return ok
	}
	require.True(t, nested(maxPythonDepth))
	require.False(t, nested(maxPythonDepth+1))
}

// A long list of messages is read as a whole each time, and is not kept.
func TestHistoriesAreBounded(t *testing.T) {
	list := func(size int) string {
		const rest = `[{"role":"user","content":""}]`
		return rest[:len(rest)-3] + strings.Repeat("x", size-len(rest)) + rest[len(rest)-3:]
	}
	for size, kept := range map[int]bool{maxHistory: true, maxHistory + 1: false} {
		var h histories
		m := readMessages(pcommon.NewValueStr(list(size)), User, nil, &h)
		require.Len(t, m.List, 1)
		require.Equal(t, kept, h.lists[0].text != "")
	}
}

// Values are compared part by part so deep, and as a whole below.
func TestDataDepth(t *testing.T) {
	same := func(depth int) bool {
		return SameData(parse(t, around("[", depth, `"a"`, "]")), parse(t, around("[", depth, `" a "`, "]")))
	}
	require.True(t, same(maxDataDepth))
	require.False(t, same(maxDataDepth+1), "white space counts below")
	require.True(t, SameData(parse(t, around("[", 900, "1", "]")), parse(t, around("[", 900, "1", "]"))))
}

// A long id becomes its beginning and a hash, one for each id.
func TestBoundedID(t *testing.T) {
	at, past := strings.Repeat("x", MaxID), strings.Repeat("x", MaxID+1)
	require.Equal(t, at, BoundedID(at))
	require.LessOrEqual(t, len(BoundedID(past)), MaxID)
	require.NotEqual(t, BoundedID(past), BoundedID(past+"y"))
	require.Equal(t, BoundedID(past), BoundedID(strings.Clone(past)))
	require.Equal(t, BoundedID(past), BoundedID(BoundedID(past)))
}

// A placeholder is recognized so deep in a value, and is content below.
func TestMaskDepth(t *testing.T) {
	masked := func(depth int) bool {
		_, is := unmasked(parse(t, around("[", depth+1, `"[redacted]"`, "]")), 0)
		return is
	}
	require.True(t, masked(maxMaskDepth))
	require.False(t, masked(maxMaskDepth+1))
}

// A path at a limit is read, and one past it is refused, and so is a file that
// aliases make large.
func TestDialectLimits(t *testing.T) {
	_, err := parsePath(strings.Repeat("a", maxPathLength))
	require.NoError(t, err)
	_, err = parsePath(strings.Repeat("a", maxPathLength+1))
	require.EqualError(t, err, "a path has at most 256 bytes")
	_, err = parsePath(strings.TrimSuffix(strings.Repeat("a.", maxPathSteps), "."))
	require.NoError(t, err)
	_, err = parsePath(strings.TrimSuffix(strings.Repeat("a.", maxPathSteps+1), "."))
	require.EqualError(t, err, "a path has at most 16 steps")

	names := "conversation_attributes: [" + strings.TrimSuffix(strings.Repeat("*a, ", maxSettingsNodes), ", ") + "]"
	_, err = ReadOptions([]byte("conversation_resource_attributes: [&a x]\n" + names))
	require.ErrorContains(t, err, "there are too many values")
	_, err = ReadOptions([]byte("conversation_attributes: &a [*a]"))
	require.Error(t, err)

	_, err = ReadOptions([]byte("{" + strings.Repeat("unknown: x, ", 10*maxFaults) + "}"))
	var faults Faults
	require.ErrorAs(t, err, &faults)
	require.LessOrEqual(t, len(faults), maxFaults)
}
