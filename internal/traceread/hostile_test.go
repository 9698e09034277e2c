// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/cputime"
)

// repeated joins n texts.
func repeated(n int, text func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(text(i))
	}
	return b.String()
}

func constant(text string) func(int) string { return func(int) string { return text } }

// hostile are inputs of which reading may become more than linear.
var hostile = map[string]func(n int) string{
	"lines that go on and are broken": func(n int) string { return repeated(n, constant("{}x\n")) },
	"lines that never close":          func(n int) string { return repeated(n, constant(`{"resourceSpans":[{`+"\n")) },
	"lists that never close":          func(n int) string { return repeated(n, constant("[\n")) },
	"blank lines":                     func(n int) string { return repeated(10*n, constant("\n")) },
	"values side by side":             func(n int) string { return repeated(n, constant(`{"resourceSpans":[]} `)) },
	"values side by side, with tabs":  func(n int) string { return repeated(n, constant("{\"resourceSpans\":[]}\t")) },
	"keys of one object": func(n int) string {
		return "{\n" + repeated(n, func(i int) string { return fmt.Sprintf(`"k%d":1,`, i) }) + `"data":[]}`
	},
	"results in results":           func(n int) string { return repeated(n, constant(`{"result":`)) + "{}" + strings.Repeat("}", n) },
	"results in results, on lines": func(n int) string { return repeated(n, constant("{\n\"result\":")) + "{}" + strings.Repeat("}", n) },
	"keys without values":          func(n int) string { return repeated(n, constant(`{"data"`)) },
	"lists in lists":               func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) },
	"lists in lists, then a long text": func(n int) string {
		return strings.Repeat("[", min(n, 9000)) + `"` + strings.Repeat("x", 100*n) + `"` + strings.Repeat("]", min(n, 9000))
	},
	"frames of two bytes":   func(n int) string { return repeated(n, constant("\x00\x00\x00\x02\x0a\x00")) },
	"frames of an object":   func(n int) string { return repeated(n, constant("\x00\x00\x00\x02{}")) },
	"empty resources":       func(n int) string { return `{"resourceSpans":[` + repeated(n, constant("{},")) + "{}]}" },
	"empty resources, list": func(n int) string { return `[{"resourceSpans":[` + repeated(n, constant("{},\n")) + "{}]}]" },
	"spans of one line": func(n int) string {
		return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + repeated(n, func(i int) string { return fmt.Sprintf(`{"traceId":"%032x","spanId":"%016x"},`, i+1, i+1) }) + `{}]}]}]}`
	},
}

// Reading takes time in proportion to the input, whether lines are long or short.
func TestReadingIsLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	cputime.SkipUnderRace(t)
	for name, build := range hostile {
		for _, longLine := range []int{longLine, 1000} {
			t.Run(fmt.Sprint(name, "/", longLine), func(t *testing.T) {
				cputime.IsLinear(t, 2000, func(n int) func() {
					data := []byte(build(n))
					return func() { readAll(t, data, 1, longLine) }
				})
			})
		}
	}
}

// What an input makes of memory is in proportion to the bound of a value, not to
// how little text it takes.
func TestMemoryOfValues(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	const n, maxValue = 1 << 20, 4 << 20 // {}, is three bytes
	list := func(before, after string) string {
		return before + repeated(n-1, constant("{},")) + "{}" + after + "\n"
	}
	protobuf := func(number protowire.Number, text string) string {
		return string(protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), text))
	}
	for name, in := range map[string]string{
		"resources":          list(`{"resourceSpans":[`, "]}"),
		"scopes":             list(`{"resourceSpans":[{"scopeSpans":[`, "]}]}"),
		"spans":              list(`{"resourceSpans":[{"scopeSpans":[{"spans":[`, "]}]}]}"),
		"events":             list(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"events":[`, "]}]}]}]}"),
		"links":              list(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"links":[`, "]}]}]}]}"),
		"attributes":         list(`{"resourceSpans":[{"resource":{"attributes":[`, "]}}]}"),
		"values":             list(`{"resourceSpans":[{"resource":{"attributes":[{"key":"a","value":{"arrayValue":{"values":[`, "]}}}]}}]}"),
		"spans of Jaeger":    list(`{"data":[{"spans":[`, "]}]}"),
		"scopes, protobuf":   protobuf(1, protobuf(1, "")+strings.Repeat(protobuf(2, ""), n)),
		"spans, protobuf":    protobuf(1, protobuf(1, "")+protobuf(2, strings.Repeat(protobuf(2, ""), n))),
		"events, protobuf":   protobuf(1, protobuf(1, "")+protobuf(2, protobuf(2, strings.Repeat(protobuf(11, ""), n)))),
		"links, protobuf":    protobuf(1, protobuf(1, "")+protobuf(2, protobuf(2, strings.Repeat(protobuf(13, ""), n)))),
		"entities, protobuf": protobuf(1, protobuf(1, strings.Repeat(protobuf(3, ""), n))),
		"keys, protobuf":     protobuf(1, protobuf(1, protobuf(3, strings.Repeat(protobuf(3, ""), n)))),
	} {
		t.Run(name, func(t *testing.T) {
			require.Less(t, len(in), maxValue)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var broken []string
			p := newPool(2, Handler{
				MaxValue: maxValue,
				Traces:   func(ptrace.Traces, Place) error { return nil },
				Broken:   func(e *Error) error { broken = append(broken, e.Error()); return nil },
			})
			go func() {
				defer p.close()
				p.stream("in", strings.NewReader(in), 0)
			}()
			require.NoError(t, p.deliver())
			runtime.ReadMemStats(&after)
			require.Len(t, broken, 1)
			require.Contains(t, broken[0], "bytes when it is decoded, which is more than 16777216; more memory (--memory) raises this bound")
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(roomShare+8)*maxValue)
		})
	}
}

// A trace that fills the memory by itself is released, however little its spans
// take on the wire.
func TestCollectionOfOneTrace(t *testing.T) {
	held, most, scattered := 0, 0, 0
	c := Collection{Budget: 1 << 20}
	c.Release = func(trace Trace) { held -= trace.Traces.SpanCount() }
	c.Scattered = func(pcommon.TraceID, int) { scattered++ }
	for range 1000 {
		td := ptrace.NewTraces()
		spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
		for range 100 {
			spans.AppendEmpty()
		}
		before := scattered
		held += 100
		if c.Add(td); scattered > before {
			held -= 100 // they were dropped
		}
		most = max(most, held)
	}
	require.Less(t, most, maxOfOne<<20/spanHeader+200)
	require.NotZero(t, scattered)
}

// endless is one byte, for ever.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

// A line that does not end is given up, and so is what follows it.
func TestLineWithoutEnd(t *testing.T) {
	good := jsonOf(t, sample(1))
	for begin, want := range map[string]string{
		"":                       "in:2: neither JSON nor any other form of traces, with a line of more than 1048576 bytes, where reading stopped",
		"{":                      "in:2: the line does not end after 1048576 more bytes, where reading stopped",
		`{"resourceSpans":[{"`:   "in:2: one value takes more than 262144 bytes, where reading stopped; more memory (--memory) raises this bound",
		`{"resourceSpans":[]} [`: "in:2: the line does not end after 1048576 more bytes, where reading stopped",
	} {
		spans, broken := 0, []string(nil)
		p := newPool(1, Handler{
			MaxValue: 1 << 18,
			Traces:   func(td ptrace.Traces, _ Place) error { spans += td.SpanCount(); return nil },
			Broken:   func(e *Error) error { broken = append(broken, e.Error()); return nil },
		})
		p.maxSkipped = 1 << 20
		go func() {
			defer p.close()
			p.stream("in", io.MultiReader(bytes.NewReader(good), strings.NewReader("\n"+begin), endless('x')), 0)
		}()
		require.NoError(t, p.deliver())
		require.Contains(t, broken, want)
		require.Equal(t, sample(1).SpanCount(), spans)
	}
}

// What is nested too deeply for the decoders is reported.
func TestNesting(t *testing.T) {
	attribute := func(depth int) string {
		return `{"resourceSpans":[{"resource":{"attributes":[{"key":"a","value":` + strings.Repeat(`{"arrayValue":{"values":[`, depth) + strings.Repeat(`]}}`, depth) + `}]}}]}`
	}
	value := []byte(nil)
	for range maxNesting {
		value = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), value)
		value = protowire.AppendBytes(protowire.AppendTag(nil, 5, protowire.BytesType), value)
	}
	for _, number := range []protowire.Number{2, 1, 1, 1} {
		value = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
	}
	for in, deep := range map[string]bool{
		attribute(90): false, attribute(1000): false, attribute(10_000): true, attribute(200_000): true,
		"[\n" + attribute(200_000) + "\n]":                               true,
		strings.Repeat("{\n\"result\":", 1e6) + strings.Repeat("}", 1e6): true,
		strings.Repeat("[", 6) + attribute(1) + strings.Repeat("]", 6):   true,
		string(value): true,
	} {
		_, broken := readAll(t, []byte(in), 1, longLine)
		if !deep {
			require.Empty(t, broken)
			continue
		}
		require.NotEmpty(t, broken)
		require.Contains(t, broken[0], "nested too deeply", "%.100q", in)
	}
}
