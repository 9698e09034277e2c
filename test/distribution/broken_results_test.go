// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// canary stands in every result that holds text. It must not show in the log.
const canary = "canary-7d1f0c"

// resultKey is where the tool spans of these tests have their result.
const resultKey = "gen_ai.tool.call.result"

// call is a tool call of a trace that a test makes up.
type call struct {
	tool string
	// result puts the result onto the span.
	result func(ptrace.Span)
	// verdict is what is expected: decision, truth state and reasons.
	verdict verdict
}

type verdict struct{ decision, truthState, reasons string }

var (
	sealed       = verdict{"sealed", "sealed", `["SEALED_WITH_REQUIRED_EVIDENCE"]`}
	parseError   = verdict{"blocked", "parse_error", `["PARSE_FAILED"]`}
	truncated    = verdict{"blocked", "unknown", `["RESULT_TRUNCATED"]`}
	notCaptured  = verdict{"blocked", "unknown", `["RESULT_NOT_CAPTURED"]`}
	unhashable   = verdict{"blocked", "unknown", `["SCHEMA_INVALID"]`}
	empty        = verdict{"blocked", "empty", `["EMPTY_WITHOUT_NOT_FOUND_SENTINEL"]`}
	fieldMissing = verdict{"blocked", "partial", `["MISSING_REQUIRED_FIELD"]`}
	failed       = verdict{"blocked", "unknown", `["TRANSPORT_FAILED"]`}
)

func text(s string) func(ptrace.Span) {
	return func(span ptrace.Span) { span.Attributes().PutStr(resultKey, s) }
}

func bytesOf(b ...byte) func(ptrace.Span) {
	return func(span ptrace.Span) { span.Attributes().PutEmptyBytes(resultKey).FromRaw(b) }
}

func fields(fill func(pcommon.Map)) func(ptrace.Span) {
	return func(span ptrace.Span) { fill(span.Attributes().PutEmptyMap(resultKey)) }
}

// nestedValue is a structured value of so many levels.
func nestedValue(levels int) func(ptrace.Span) {
	return func(span ptrace.Span) {
		m := span.Attributes().PutEmptyMap(resultKey)
		m.PutStr("id", canary)
		for range levels - 1 {
			m = m.PutEmptyMap("in")
		}
	}
}

func nested(levels int) string {
	return `{"id":"` + canary + `","in":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + "}"
}

// large is text of a mebibyte.
var large = strings.Repeat(canary+" ", 1<<20/len(canary+" ")+1)[:1<<20]

var brokenResults = []call{
	// Nothing that anyone could read.
	{"json_garbage", text("%PDF-1.7 <<" + canary + ">> {]\x00\x01\x7f"), parseError},
	{"fields_garbage", text("%PDF-1.7 <<" + canary + ">> {]\x00\x01\x7f"), fieldMissing},
	{"any_garbage", text("%PDF-1.7 <<" + canary + ">> {]\x00\x01\x7f"), sealed},
	{"json_wrong_json", text(`{"id": '` + canary + `'}`), parseError},
	{"json_two_documents", text(`{"id":"` + canary + `"} {"id":"2"}`), parseError},

	// JSON that breaks off.
	{"json_cut_in_array", text(`{"id":"` + canary + `","rows":[{"a":1},{"b":`), truncated},
	{"fields_cut_in_string", text(`{"id":"` + canary + `","name":"Ad`), truncated},
	{"any_cut_in_key", text(`[{"id":"` + canary + `"},{"na`), truncated},
	{"fields_cut_with_marker", text(`{"id":"` + canary + `","name":"Ad… [truncated]`), truncated},
	{"json_large_cut", text(`{"id":"` + large), truncated},

	// Large, and whole.
	{"any_large_text", text(large), sealed},
	{"json_large_text", text(large), parseError},
	{"fields_large_json", text(`{"id":"` + large + `"}`), sealed},

	// Bytes.
	{"json_bytes_of_json", bytesOf([]byte(`{"id":"` + canary + `"}`)...), sealed},
	{"fields_bytes_of_json", bytesOf([]byte(`{"id":"` + canary + `"}`)...), sealed},
	{"json_bytes_no_text", bytesOf(0xff, 0xfe, 0x80, '{', 0xc3), unhashable},
	{"any_bytes_no_text", bytesOf(0xff, 0xfe, 0x80, '{', 0xc3), unhashable},
	{"json_string_no_text", text("{\"id\":\"\xff\xfe\"}"), unhashable},
	{"any_string_no_text", text("\xc3\x28 " + canary), unhashable},
	{"any_no_bytes", bytesOf(), empty},

	// Nested as deep as it goes.
	{"fields_nested_100", text(nested(100)), sealed},
	{"any_nested_values_90", nestedValue(90), sealed},
	{"fields_nested_values_90", nestedValue(90), sealed},

	// Structured values.
	{"fields_map", fields(func(m pcommon.Map) {
		m.PutStr("id", canary)
		m.PutEmptyBytes("blob").FromRaw([]byte("text"))
		m.PutEmptySlice("list").AppendEmpty().SetInt(math.MinInt64)
		m.PutEmpty("nothing")
	}), sealed},
	{"json_map", fields(func(m pcommon.Map) { m.PutInt("id", math.MaxInt64) }), sealed},
	{"fields_map_without", fields(func(m pcommon.Map) { m.PutStr("name", canary) }), fieldMissing},
	{"any_empty_map", fields(func(pcommon.Map) {}), empty},
	{"any_map_no_text", fields(func(m pcommon.Map) { m.PutStr("id", "\xff") }), unhashable},
	{"any_slice", func(span ptrace.Span) {
		span.Attributes().PutEmptySlice(resultKey).AppendEmpty().SetBool(false)
	}, sealed},
	{"any_number", func(span ptrace.Span) { span.Attributes().PutInt(resultKey, 0) }, sealed},

	// Numbers that JSON does not have.
	{"fields_map_nan", fields(func(m pcommon.Map) { m.PutStr("id", canary); m.PutDouble("x", math.NaN()) }), unhashable},
	{"fields_map_infinity", fields(func(m pcommon.Map) { m.PutStr("id", canary); m.PutDouble("x", math.Inf(-1)) }), unhashable},
	{"any_nan", func(span ptrace.Span) { span.Attributes().PutDouble(resultKey, math.NaN()) }, unhashable},
	{"fields_json_nan", text(`{"id":"` + canary + `","x":NaN}`), unhashable},
	{"json_json_infinity", text(`{"id":"` + canary + `","x":[-Infinity]}`), unhashable},
	{"fields_overflow", text(`{"id":"` + canary + `","x":1e999}`), unhashable},
	{"fields_negative_zero", text(`{"id":"` + canary + `","x":-0.0}`), sealed},

	// Next to nothing.
	{"any_null", text("null"), empty},
	{"any_empty_object", text("{}"), empty},
	{"any_empty_text", text(""), empty},
	{"json_placeholder", text("[REDACTED]"), notCaptured},
	{"any_absent", func(ptrace.Span) {}, notCaptured},
	{"any_without_value", func(span ptrace.Span) { span.Attributes().PutEmpty(resultKey) }, notCaptured},
	{"json_dropped", func(span ptrace.Span) { span.SetDroppedAttributesCount(1) }, truncated},

	// A failure with a result beside it.
	{"fields_failed", func(span ptrace.Span) {
		text(`{"id":"` + canary + `"}`)(span)
		span.Status().SetCode(ptrace.StatusCodeError)
		span.Attributes().PutStr("error.type", "\xff")
		span.Events().AppendEmpty().SetName("exception")
	}, failed},
}

// Too deep for any reader: that they are blocked is certain, how it is called
// is not.
var bottomless = map[string]string{
	"json_nested_5000":     nested(5_000),
	"json_nested_200000":   nested(200_000),
	"fields_nested_200000": nested(200_000),
	"json_long_integer":    `{"id":` + strings.Repeat("7", 100_000) + `}`,
}

// brokenMessages are what a model's span may hold in place of its messages.
var brokenMessages = map[string]func(pcommon.Value){
	"garbage": func(v pcommon.Value) { v.SetStr("]]>" + canary) },
	"cut":     func(v pcommon.Value) { v.SetStr(`[{"role":"user","parts":[{"type":"text","content":"` + canary) },
	"no list": func(v pcommon.Value) { v.SetStr(`{"role":{"role":[` + canary + `]}}`) },
	"odd parts": func(v pcommon.Value) {
		v.SetStr(`[null,1,"x",{"role":3,"parts":{"type":null}},{"parts":[[],{"type":"tool_call"}]}]`)
	},
	"bytes":  func(v pcommon.Value) { v.SetEmptyBytes().FromRaw([]byte{0xff, 0x00}) },
	"deep":   func(v pcommon.Value) { v.SetStr(strings.Repeat("[", 100_000)) },
	"number": func(v pcommon.Value) { v.SetDouble(math.NaN()) },
	"nested values": func(v pcommon.Value) {
		m := v.SetEmptySlice().AppendEmpty().SetEmptyMap()
		m.PutStr("role", "tool")
		m.PutEmptySlice("parts").AppendEmpty().SetEmptyMap().PutDouble("response", math.Inf(1))
	},
}

// Whatever a result is, its span comes out as it went in, with a verdict; and
// the collector goes on.
func TestBrokenResults(t *testing.T) {
	distribution(t)
	policyPath, err := filepath.Abs(filepath.Join("testdata", "broken-results.yaml"))
	require.NoError(t, err)

	broken := newTrace("0b")
	for _, c := range brokenResults {
		broken.tool(c.tool, c.result)
	}
	for tool, result := range bottomless {
		broken.tool(tool, text(result))
	}
	for name, messages := range brokenMessages {
		broken.model(name, messages)
	}
	good := newTrace("60")
	good.tool("json_good", text(`{"id":"42"}`))

	for _, transport := range transports[:2] { // JSON cannot hold texts that are not UTF-8
		t.Run(transport.name, func(t *testing.T) {
			t.Parallel()
			c, _ := deliver(t, settings{Processor: []string{policyFile(policyPath)}, Format: "proto"}, []delivery{
				{name: "broken", records: broken.records, senders: 2, requests: through(transport.dial, batches(broken.records, 1))},
			})
			// It goes on: another trace is judged as if nothing had been.
			for _, td := range batches(good.records, 1) {
				require.NoError(t, transport.dial(t, c)(t.Context(), td))
			}
			c.output.await(t, len(broken.records)+len(good.records))
			require.Zero(t, c.metric(t, "otelcol_processor_resultseal_unscored_traces"))
			c.stop(t)

			traces := byTrace(c.output.read(t))
			require.Len(t, traces, 2)
			got := traces[broken.id]
			requireUntouched(t, broken.records, got)
			byName := map[string]record{}
			for _, r := range got {
				byName[r.span().Name()] = r
			}
			verdictOf := func(tool string) verdict {
				r := byName["execute_tool "+tool]
				return verdict{r.attribute(prefix + "decision"), r.attribute(prefix + "truth_state"), r.attribute(prefix + "reason_codes")}
			}
			for _, want := range brokenResults {
				require.Equal(t, want.verdict, verdictOf(want.tool), want.tool)
			}
			for tool := range bottomless {
				require.Equal(t, "blocked", verdictOf(tool).decision, tool)
			}
			require.NotEmpty(t, carrier(t, got).attribute(prefix+"session.protocols"))
			require.Equal(t, carrier(t, got).id(), root(t, got).id())
			newOffline(t, policyPath).requireAsOffline(t, broken.records, got)

			requireUntouched(t, good.records, traces[good.id])
			require.Equal(t, "compliant", root(t, traces[good.id]).attribute(prefix+"session.compliance"))
			require.Equal(t, "1", root(t, traces[good.id]).attribute(prefix+"session.sealed"))

			log, err := os.ReadFile(c.Log)
			require.NoError(t, err)
			require.NotContains(t, string(log), canary, "content in the log")
		})
	}
}
