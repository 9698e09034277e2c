// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package otlpjson

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func jsonOf(t testing.TB, td ptrace.Traces) []byte {
	t.Helper()
	var m ptrace.JSONMarshaler
	text, err := m.MarshalTraces(td)
	require.NoError(t, err)
	return text
}

func protoOf(t testing.TB, td ptrace.Traces) []byte {
	t.Helper()
	var m ptrace.ProtoMarshaler
	data, err := m.MarshalTraces(td)
	require.NoError(t, err)
	return data
}

// requireSame requires that what the quick reader accepts, the general decoder
// accepts, and that both come to the same. It returns whether it accepted.
func requireSame(t testing.TB, text []byte) bool {
	t.Helper()
	quick, ok := new(reader).traces(text)
	again, okAgain := Traces(text) // by one that has read others
	require.Equal(t, ok, okAgain)
	if !ok {
		return false
	}
	require.Equal(t, string(protoOf(t, quick)), string(protoOf(t, again)))
	var u ptrace.JSONUnmarshaler
	general, err := u.UnmarshalTraces(text)
	require.NoError(t, err)
	// Both forms: JSON tells the kinds of values apart, and protobuf takes texts
	// that are not UTF-8.
	require.Equal(t, string(protoOf(t, general)), string(protoOf(t, quick)))
	require.Equal(t, string(jsonOf(t, general)), string(jsonOf(t, quick)))
	return true
}

// recordings are the lines of the recordings that are here.
func recordings(t testing.TB) [][]byte {
	t.Helper()
	shared := cmp.Or(os.Getenv("RESULTSEAL_SHARED"), filepath.Join("..", "..", "..", "shared"))
	var files []string
	for _, pattern := range []string{
		filepath.Join("..", "traceread", "testdata", "*.jsonl"), filepath.Join("..", "..", "testdata", "*", "*.jsonl"),
		filepath.Join(shared, "traces", "*", "*.jsonl"), filepath.Join(shared, "traces", "*", "*.jsonl.gz"),
	} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, found...)
	}
	var lines [][]byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, line := range bytes.Split(unpacked(t, text), []byte("\n")) {
			if bytes.HasPrefix(line, []byte(`{"resourceSpans"`)) || bytes.HasPrefix(line, []byte(`{"resource_spans"`)) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// unpacked is a text that may be compressed with gzip.
func unpacked(t testing.TB, text []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(text, []byte("\x1f\x8b")) {
		return text
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	require.NoError(t, err)
	text, err = io.ReadAll(z)
	require.NoError(t, err)
	return text
}

// Every recorded request is read quickly, and as it should be.
func TestRecordings(t *testing.T) {
	lines := recordings(t)
	require.NotEmpty(t, lines)
	for _, line := range lines {
		require.True(t, requireSame(t, line), "%.200s", line)
	}
}

// inSpan, inValue and inText are requests with something in them.
func inSpan(members string) string {
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[{` + members + `}]}]}]}`
}

func inValue(value string) string {
	return inSpan(`"attributes":[{"key":"k","value":` + value + `}]`)
}

func inText(text string) string { return inValue(`{"stringValue":"` + text + `"}`) }

// ordinary is read quickly.
var ordinary = []string{
	`{}`, ` { } `, `{"resourceSpans":[]}`, `{"resource_spans":[{}]}`, `{"resourceSpans":[{}],"resourceSpans":[{}]}`,
	`{"resourceSpans":[{"resource":{"attributes":[],"droppedAttributesCount":1},"schemaUrl":"u","scopeSpans":[{"scope":{"name":"n","version":"v","attributes":[{"key":"a","value":{}}],"droppedAttributesCount":"2"},"schemaUrl":"w"}]}]}`,
	`{"resource_spans":[{"resource":{"dropped_attributes_count":1},"schema_url":"u","scope_spans":[{"scope":{"dropped_attributes_count":3},"schema_url":"w","spans":[]}]}]}`,
	"{\r\n\t\"resourceSpans\" : [ { \"scopeSpans\" : [ ] } , { } ] }\n",
	inSpan(`"traceId":"0123456789abcdefFEDCBA9876543210","spanId":"0123456789abcdef","parentSpanId":"","traceState":"a=b","flags":257,"name":"n","kind":3`),
	inSpan(`"trace_id":"","span_id":"","parent_span_id":"0123456789ABCDEF","trace_state":"","flags":"1","kind":0`),
	inSpan(`"startTimeUnixNano":"1777885200006352911","endTimeUnixNano":1777885200006352911`),
	inSpan(`"start_time_unix_nano":0,"end_time_unix_nano":"9999999999999999999","dropped_attributes_count":4294967295,"dropped_events_count":1,"dropped_links_count":2`),
	inSpan(`"events":[{"timeUnixNano":"5","name":"e","attributes":[{"key":"a","value":{"boolValue":true}}],"droppedAttributesCount":1},{"time_unix_nano":6,"dropped_attributes_count":2},{}]`),
	inSpan(`"links":[{"traceId":"0123456789abcdef0123456789abcdef","spanId":"0123456789abcdef","traceState":"s","attributes":[],"droppedAttributesCount":1,"flags":3},{"trace_id":"","span_id":"","trace_state":"","dropped_attributes_count":9}]`),
	inSpan(`"status":{"message":"m","code":2}`), inSpan(`"status":{}`), inSpan(`"name":"a","name":"b","droppedEventsCount":1,"droppedLinksCount":2,"droppedAttributesCount":3`),
	inSpan(`"attributes":[{"key":"k","value":{"stringValue":"1"}},{"key":"k","value":{"stringValue":"2"}}]`),
	inSpan(`"attributes":[` + strings.Repeat(`{"key":"k","value":{"intValue":1}},`, 40) + `{"key":"","value":{"boolValue":false}}]`),
	inValue(`{}`), inValue(`{"string_value":"a"}`), inValue(`{"boolValue":true}`), inValue(`{"bool_value":false}`), inValue(`{"stringValue":"a","intValue":"1"}`),
	inValue(`{"intValue":"-9223372036854775807"}`), inValue(`{"int_value":9223372036854775807}`), inValue(`{"intValue":0}`), inValue(`{"intValue":"-0"}`),
	inValue(`{"doubleValue":0.30000000000000004}`), inValue(`{"double_value":-1e-7}`), inValue(`{"doubleValue":-0}`), inValue(`{"doubleValue":9007199254740993}`), inValue(`{"doubleValue":1.7976931348623157E+308}`), inValue(`{"doubleValue":90071992547409.93}`),
	inValue(`{"arrayValue":{"values":[{"stringValue":"a"},{"intValue":1},{},{"arrayValue":{}}]}}`), inValue(`{"array_value":{"values":[],"values":[{"intValue":2}]}}`), inValue(`{"arrayValue":{"values":[{}]},"arrayValue":{}}`),
	inValue(`{"kvlistValue":{"values":[{"key":"a","value":{"kvlist_value":{"values":[{"key":"b","value":{"stringValue":"c"}}]}}}]}}`), inValue(`{"kvlistValue":{}}`),
	inValue(`{"arrayValue":{"values":[{"arrayValue":{"values":[{"kvlistValue":{"values":[{"key":"a","value":{"stringValue":"in lists"}}]}}]}}]}}`),
	inText(``), inText(`plain`), inText(`\"\\\/\b\f\n\r\t`), inText(`\u00e9\u20AC\u0000\ud83d\ude00.`), inText("\xff\xfe\u007f é € 😀"), inText(`a long text before it \"and a long text behind it\" and \n`),
	inText(`\\\\\\\\\\\\\\\\\\`), inText(`1234567\"`), inText(`12345678\"`), inText(`123456\u0041`),
}

// doubtful is left to the general decoder, whether it is accepted there or not.
var doubtful = []string{
	``, ` `, `[]`, `null`, `{`, `{"resourceSpans"`, `{"resourceSpans":`, `{"resourceSpans":[`, `{"resourceSpans":[{`, `{"resourceSpans":[{}`, `{"resourceSpans":[{}]`, `{"resourceSpans":[{}]}x`, `{"resourceSpans":[{}]}{}`, `{"resourceSpans":[{}],}`, `{"resourceSpans":[{},]}`, `{,}`,
	`{"resourceSpans":null}`, `{"resourceSpans":{}}`, `{"resourceSpans":[null]}`, `{"resourceSpans":[[]]}`, `{"resourceSpans":[{"unknown":1}]}`, `{"":1}`, `{"\u0072esourceSpans":[]}`, `{resourceSpans:[]}`, `{"resourceSpans" []}`, `{"resourceSpans":[{}{}]}`, "{\v}",
	`{"resourceSpans":[{"deprecatedScopeSpans":[{}]}]}`, `{"resourceSpans":[{"resource":{"entityRefs":[]}}]}`,
	inSpan(`"traceId":"00"`), inSpan(`"traceId":null`), inSpan(`"traceId":"0123456789abcdef0123456789abcdeg"`), inSpan(`"spanId":"0123456789ab\u0063def"`), inSpan(`"spanId":"0123456789\u00"`), inSpan(`"spanId":5`),
	inSpan(`"kind":"SPAN_KIND_CLIENT"`), inSpan(`"kind":-1`), inSpan(`"kind":1.0`), inSpan(`"kind":"3"`), inSpan(`"status":null`), inSpan(`"status":{"code":"STATUS_CODE_OK"}`),
	inSpan(`"startTimeUnixNano":"01"`), inSpan(`"startTimeUnixNano":01`), inSpan(`"startTimeUnixNano":1e3`), inSpan(`"startTimeUnixNano":-1`), inSpan(`"startTimeUnixNano":"99999999999999999999"`), inSpan(`"startTimeUnixNano":""`), inSpan(`"startTimeUnixNano":"1`), inSpan(`"startTimeUnixNano":1x`), inSpan(`"startTimeUnixNano":1 2`), inSpan(`"startTimeUnixNano":" 1"`), inSpan(`"startTimeUnixNano":"1 "`), inSpan("\"flags\":\"1\n\""), inValue("{\"intValue\":\"-1\t\"}"), inSpan(`"flags":"1`), inSpan(`"flags":4294967296`),
	inSpan(`"attributes":[{"key":"a"}]`), inSpan(`"attributes":[{}]`), inSpan(`"attributes":[{"value":{},"key":"a"}]`), inSpan(`"attributes":[{"key":"a","value":{},"value":{}}]`), inSpan(`"attributes":[{"key":"a","value":{}}],"attributes":[]`), inSpan(`"attributes":[{"key":null,"value":{}}]`),
	inValue(`null`), inValue(`{"stringValue":null}`), inValue(`{"bytesValue":"AA=="}`), inValue(`{"boolValue":"true"}`), inValue(`{"boolValue":truth}`), inValue(`{"boolValue":falsehood}`), inValue(`{"intValue":1.5}`), inValue(`{"intValue":"-9223372036854775808"}`), inValue(`{"intValue":"+1"}`), inValue(`{"intValue":-}`), inValue(`{"stringValueStrindex":1}`),
	inValue(`{"doubleValue":"1.5"}`), inValue(`{"doubleValue":"NaN"}`), inValue(`{"doubleValue":1.}`), inValue(`{"doubleValue":.5}`), inValue(`{"doubleValue":01}`), inValue(`{"doubleValue":1e999}`), inValue(`{"doubleValue":--1}`),
	inValue(`{"arrayValue":null}`), inValue(`{"arrayValue":{"values":null}}`), inValue(`{"arrayValue":{"other":1}}`), inValue(strings.Repeat(`{"arrayValue":{"values":[`, maxDepth) + strings.Repeat(`]}}`, maxDepth)), inValue(strings.Repeat(`{"kvlistValue":{"values":[{"key":"k","value":`, maxDepth) + `{}` + strings.Repeat(`}]}}`, maxDepth)),
	inText("\n"), inText("a\x1f"), inText("\\n\x00"), inText(`\x`), inText(`\u12`), inText(`\u12g4`), inText(`\ud83d`), inText(`\ud83d\n`), inText(`\ude00\ud83d`), inText(`\ud83dA`), inText(`\`), `{"resourceSpans":[{"schemaUrl":"\`, `{"resourceSpans":[{"schemaUrl":"\u00`, `{"resourceSpans":[{"schemaUrl":"\n`,
}

func TestForms(t *testing.T) {
	for _, text := range ordinary {
		require.True(t, requireSame(t, []byte(text)), text)
	}
	for _, text := range doubtful {
		require.False(t, requireSame(t, []byte(text)), text)
	}
}

// Whatever the quick reader accepts, the general decoder reads alike.
func FuzzTraces(f *testing.F) {
	for _, text := range append(ordinary, doubtful...) {
		f.Add([]byte(text))
	}
	for _, line := range recordings(f) {
		if len(line) < 16<<10 {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if requireSame(t, text) {
			require.True(t, json.Valid(text))
		}
	})
}

// What is allocated is the request's own structure: for an attribute the value
// that it has. The strings of a request share a place, and so do the attributes of
// a span, which take as much memory as they need.
func TestAllocations(t *testing.T) {
	text := func(attributes int) []byte {
		list := strings.Repeat(`{"key":"gen_ai.tool.call.result","value":{"stringValue":"[{\"text\":\"a \\\" quote\"}]\n{"}},`, attributes)
		return []byte(inSpan(`"traceId":"0123456789abcdef0123456789abcdef","spanId":"0123456789abcdef","name":"execute_tool \"search\"","kind":3,"startTimeUnixNano":"1777885200006352911","attributes":[` + strings.TrimSuffix(list, ",") + `]`))
	}
	allocations := func(attributes int) int {
		r, text := new(reader), text(attributes)
		return int(testing.AllocsPerRun(20, func() {
			if _, ok := r.traces(text); !ok {
				t.Error("in doubt")
			}
		}))
	}
	few, many := allocations(4), allocations(104)
	require.LessOrEqual(t, few, 4+12)
	require.LessOrEqual(t, many-few, 100+8)
}
