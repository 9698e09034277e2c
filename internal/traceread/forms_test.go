// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// sample is a request with a trace and a half: the other half of the second
// trace is in the next sample.
func sample(n byte) ptrace.Traces {
	td := ptrace.NewTraces()
	for service := range byte(2) {
		rs := td.ResourceSpans().AppendEmpty()
		rs.Resource().Attributes().PutStr("service.name", fmt.Sprintf("agent-%d", service))
		ss := rs.ScopeSpans().AppendEmpty()
		ss.Scope().SetName("scope")
		ss.Scope().SetVersion("1.0")
		for i := range byte(2) {
			span := ss.Spans().AppendEmpty()
			span.SetTraceID(pcommon.TraceID{15: n + i})
			span.SetSpanID(pcommon.SpanID{6: n, 7: 1 + 2*service + i})
			if service == 1 {
				span.SetParentSpanID(pcommon.SpanID{6: n, 7: 1 + i})
			}
			span.SetName(`execute_tool "search" {}{}`)
			span.SetKind(ptrace.SpanKindClient)
			span.SetStartTimestamp(pcommon.Timestamp(1_000_000 * (10*uint64(n) + uint64(i))))
			span.SetEndTimestamp(span.StartTimestamp() + 5_000)
			a := span.Attributes()
			a.PutStr("gen_ai.tool.call.result", "[{\"text\":\"a \\\" quote\"}]\n{")
			a.PutInt("count", 7)
			a.PutDouble("ratio", 0.5)
			a.PutBool("flag", true)
			event := span.Events().AppendEmpty()
			event.SetName("exception")
			event.SetTimestamp(span.EndTimestamp())
			event.Attributes().PutStr("exception.type", "Error")
			span.Status().SetCode(ptrace.StatusCodeError)
			span.Status().SetMessage("failed")
		}
	}
	return td
}

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

func indented(t testing.TB, text []byte, indent string) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, text, "", indent))
	return b.Bytes()
}

func gzipped(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, part := range parts {
		z := gzip.NewWriter(&b)
		_, err := z.Write(part)
		require.NoError(t, err)
		require.NoError(t, z.Close())
	}
	return b.Bytes()
}

func zstandard(t testing.TB, data []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	return z.EncodeAll(data, nil)
}

func frame(data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...) //nolint:gosec // small
}

func join(parts ...any) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b.WriteString(p)
		case []byte:
			b.Write(p)
		}
	}
	return b.Bytes()
}

// spansOf describes every span with its resource and scope, by trace.
func spansOf(t testing.TB, traces ...ptrace.Traces) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	for _, td := range traces {
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					one := ptrace.NewTraces()
					to := one.ResourceSpans().AppendEmpty()
					rs.Resource().CopyTo(to.Resource())
					toScope := to.ScopeSpans().AppendEmpty()
					ss.Scope().CopyTo(toScope.Scope())
					span.CopyTo(toScope.Spans().AppendEmpty())
					id := span.TraceID().String()
					out[id] = append(out[id], string(jsonOf(t, one)))
				}
			}
		}
	}
	for id := range out {
		slices.Sort(out[id])
	}
	return out
}

// readAll reads one input and returns its traces and what was broken.
func readAll(t testing.TB, data []byte, jobs int, longLine int) ([]ptrace.Traces, []string) {
	t.Helper()
	var all Collection
	var broken []string
	p := newPool(jobs, Handler{
		Traces: func(td ptrace.Traces, _ Place) error { all.Add(td); return nil },
		Broken: func(e *Error) error { broken = append(broken, e.Error()); return nil },
	})
	p.longLine = longLine
	go func() {
		defer p.close()
		p.stream("in", bytes.NewReader(data), 0)
	}()
	require.NoError(t, p.deliver())
	return all.Traces(), broken
}

// Whatever the form, the spans are the same.
func TestForms(t *testing.T) {
	a, b := jsonOf(t, sample(1)), jsonOf(t, sample(2))
	pa, pb := protoOf(t, sample(1)), protoOf(t, sample(2))
	want := spansOf(t, sample(1), sample(2))
	snake := func(text []byte) []byte {
		return replacer{strings.NewReplacer("resourceSpans", "resource_spans", "scopeSpans", "scope_spans")}.replace(text)
	}
	forms := map[string][]byte{
		"a request a line":                     join(a, "\n", b, "\n"),
		"no line end at the end":               join(a, "\n", b),
		"line ends of Windows":                 join(a, "\r\n", b, "\r\n"),
		"blank lines":                          join("\n\n", a, "\n  \n\t\n", b, "\n\n"),
		"byte order mark":                      join("\xef\xbb\xbf", a, "\n", b, "\n"),
		"byte order mark before pretty":        join("\xef\xbb\xbf", indented(t, join("[", a, ",", b, "]"), "  ")),
		"two requests on a line":               join(a, b, "\n"),
		"two requests on a line, with a space": join(a, " ", b, "\n"),
		"list":                                 join("[", a, ",", b, "]"),
		"list of lists":                        join("[[", a, "],[", b, "]]"),
		"list, a request a line":               join("[\n", a, ",\n", b, "\n]\n"),
		"list, comma first":                    join("[\n  ", a, "\n, ", b, "\n]\n"),
		"list that begins on the first line":   join("[", a, ",\n", b, "]"),
		"lists, one a line":                    join("[", a, "]\n[", b, "]\n"),
		"pretty-printed":                       join(indented(t, a, "  "), "\n", indented(t, b, "\t"), "\n"),
		"pretty-printed without indentation":   join(indented(t, a, ""), "\n", indented(t, b, ""), "\n"),
		"pretty-printed, one behind the other": join(indented(t, a, "  "), indented(t, b, "  ")),
		"pretty-printed list":                  indented(t, join("[", a, ",", b, "]"), "    "),
		"pretty-printed list of lists":         indented(t, join("[[", a, "],[],[", b, "]]"), " "),
		"pretty-printed and lines":             join(indented(t, a, "  "), "\n", b, "\n"),
		"lines and pretty-printed":             join(a, "\n", indented(t, b, "  "), "\n"),
		"snake case":                           join(snake(a), "\n", indented(t, snake(b), "  ")),
		"other keys before":                    join(`{"schema":"x","n":1.5e3,"resourceSpans"`, a[len(`{"resourceSpans"`):], "\n", b),
		"other keys before, pretty":            join(indented(t, join(`{"schema":{"a":["}"]},"n":-1,"t":null,"resourceSpans"`, a[len(`{"resourceSpans"`):]), "  "), "\n", b),
		"space before the first key":           join(`{ "resourceSpans"`, a[len(`{"resourceSpans"`):], "\n", `{ "resourceSpans"`, b[len(`{"resourceSpans"`):]),
		"empty requests between":               join("{}\n", a, "\n{\"resourceSpans\":[]}\n[]\n{\n}\n[\n]\n", b),
		"answer of Jaeger's new interface":     join(`{"result":`, a, "}\n", indented(t, join(`{"result":`, b, "}"), "  ")),
		"protobuf":                             join(pa, pb), // a request in two parts is a request
		"protobuf with lengths":                join(frame(pa), frame(pb)),
		"JSON with lengths, compressed":        join(frame(zstandard(t, a)), frame(zstandard(t, b))),
		"protobuf with lengths, compressed":    join(frame(zstandard(t, pa)), frame(zstandard(t, pb))),
	}
	for name, data := range forms {
		for packing, pack := range map[string]func([]byte) []byte{
			"plain":       func(d []byte) []byte { return d },
			"gzip":        func(d []byte) []byte { return gzipped(t, d) },
			"gzip, parts": func(d []byte) []byte { return gzipped(t, d[:len(d)/2], d[len(d)/2:]) },
			"zstd":        func(d []byte) []byte { return zstandard(t, d) },
			"both":        func(d []byte) []byte { return gzipped(t, zstandard(t, d)) },
		} {
			for _, longLine := range []int{longLine, 100} {
				t.Run(fmt.Sprint(name, "/", packing, "/", longLine), func(t *testing.T) {
					got, broken := readAll(t, pack(data), 2, longLine)
					require.Empty(t, broken)
					if diff := cmp.Diff(want, spansOf(t, got...)); diff != "" {
						t.Errorf("spans (-want +got):\n%s", diff)
					}
					require.Len(t, got, 3, "each trace by itself")
				})
			}
		}
	}
}

// replacer lets a strings.Replacer work on bytes.
type replacer struct{ *strings.Replacer }

func (r replacer) replace(text []byte) []byte { return []byte(r.Replace(string(text))) }

// What is broken costs what is broken and no more, and is told with its place.
func TestBroken(t *testing.T) {
	a, b := string(jsonOf(t, sample(1))), string(jsonOf(t, sample(2)))
	pa, pb := string(protoOf(t, sample(1))), string(protoOf(t, sample(2)))
	half := a[:len(a)/2]
	tests := []struct {
		name, in string
		spans    int
		broken   []string
	}{
		{"nothing", "", 0, nil},
		{"white space", " \n\n", 0, nil},
		{"a line that breaks off", a + "\n" + half + "\n" + b + "\n", 8, []string{"in:2: broken JSON: it ends too early"}},
		{"the first line breaks off", half + "\n" + b + "\n", 4, []string{"in:1: broken JSON: it ends too early"}},
		{"the last line breaks off", a + "\n" + half, 4, []string{"in:2: broken JSON: it ends too early"}},
		{"the only line breaks off", half, 0, []string{"in:1: broken JSON: it ends too early"}},
		{"a comma too many", a + "\n" + `{"resourceSpans":[,]}` + "\n" + b, 8, []string{"in:2: broken JSON at byte 19"}},
		{"a bracket too many", a + "}\n" + b, 8, []string{"in:1: broken JSON at byte " + fmt.Sprint(len(a)+1)}},
		{"a field of a wrong type", `{"resourceSpans":5}` + "\n" + b, 4, []string{"in:1: no OTLP traces: a field has a wrong type"}},
		{"an id that is none", strings.Replace(a, "00000000000000000000000000000001", "xyz", 1) + "\n" + b, 4, []string{"in:1: no OTLP traces: a field has a wrong type"}},
		{"logs", `{"resourceLogs":[]}` + "\n" + b, 4, []string{"in:1: these are OTLP logs, not traces"}},
		{"metrics, pretty-printed", "{\n\"resourceMetrics\": []\n}\n" + b, 4, []string{"in:1: these are OTLP metrics, not traces"}},
		{"something else", `{"hello":[1,2]}` + "\n" + b, 4, []string{"in:1: neither OTLP traces nor a Jaeger download"}},
		{"something else, pretty-printed", "{\n  \"hello\": [1,\n2]\n}\n" + b, 4, []string{"in:1: neither OTLP traces nor a Jaeger download"}},
		{"something else with data", `{"data":{"id":1}}` + "\n" + b, 4, []string{"in:1: neither OTLP traces nor a Jaeger download: a field has a wrong type"}},
		{"list of numbers", "[1,2]\n" + b, 4, []string{
			"in:1: neither OTLP traces nor a Jaeger download: a field has a wrong type",
			"in:1: neither OTLP traces nor a Jaeger download: a field has a wrong type",
		}},
		{"one of a list", "[" + `{"resourceSpans":5},` + b + "]", 4, []string{"in:1: no OTLP traces: a field has a wrong type"}},
		{"one of a list over lines", "[\n" + a + ",\n" + `{"resourceSpans":5},` + "\n" + b + "\n]", 8, []string{"in:3: no OTLP traces: a field has a wrong type"}},
		{"a line of brackets", strings.Repeat("[", 1000) + "\n" + a + "\n" + b + "\n", 8, []string{"in:1: broken JSON: it ends too early"}},
		{"a list without its end", "[\n" + a + ",\n" + b + "\n", 8, []string{"in:4: broken JSON: it ends too early"}},
		{"a log's lines before", "starting\nready\n" + a + "\n", 4, []string{"in:1: neither JSON nor any other form of traces, up to line 2"}},
		{"a log's lines between", a + "\nflushed\n\nflushed\n" + b + "\nbye", 8, []string{
			"in:2: neither JSON nor any other form of traces, up to line 4",
			"in:6: neither JSON nor any other form of traces",
		}},
		{"text", strings.Repeat("# Hello\n", 100), 0, []string{"in:1: neither JSON nor any other form of traces, up to line 100"}},
		{"an element of a pretty-printed request", string(indented(t, []byte(strings.Replace(a, "00000000000000000000000000000001", "xyz", 1)), " ")), 2, []string{"in:3: no OTLP traces: a field has a wrong type"}},
		{"pretty-printed, and breaks off before another", string(indented(t, []byte(a), " ")[:300]) + "\n" + b + "\n", 4, []string{"in:22: broken JSON: it ends too early"}},
		{"pretty-printed, and breaks off in a text", string(indented(t, []byte(a), " ")[:304]) + "\n" + b + "\n{", 4, []string{"in:22: broken JSON: it ends too early", "in:24: broken JSON: it ends too early"}},
		{"pretty-printed with a word too many", "{\n\"resourceSpans\": [] oops\n}\nmore\n" + b + "\n" + a, 8, []string{"in:2: broken JSON"}},
		{"compressed data that breaks off", string(gzipped(t, []byte(a+"\n"+b+"\n"))[:300]), 0, []string{"in:1: the file ends in the middle of its compressed data"}},
		{"not gzip after all", "\x1f\x8bhello, world", 0, []string{"in: not gzip after all"}},
		{"protobuf that breaks off", pa + pb[:len(pb)-7], 6, []string{fmt.Sprintf("in: broken protobuf: what begins at byte %d ends too early", len(pa)+partEnd(pb))}},
		{"protobuf and then something else", pa + "hello", 4, []string{fmt.Sprintf("in: broken protobuf at byte %d: no resource's spans begin here", len(pa))}},
		{"no protobuf after all", "\x0a\x05\x0a\x03hel", 0, []string{"in: neither JSON nor OTLP traces as protobuf"}},
		{"protobuf of a length that cannot be", "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x0a\x03", 0, []string{"in: neither JSON nor OTLP traces as protobuf"}},
		{"blank lines and then text", "\n\n\nhello\n\n" + a, 4, []string{"in:4: neither JSON nor any other form of traces, up to line 5"}},
		{"messages with lengths, the last breaks off", string(frame([]byte(pa))) + string(frame([]byte(pb))[:50]), 4, []string{"in: message 2 breaks off"}},
		{"packed too often", string(gzipped(t, gzipped(t, gzipped(t, gzipped(t, gzipped(t, gzipped(t, []byte(a)))))))), 0, []string{"in: compressed too many times over"}},
		{"an image", "\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR", 0, []string{"in:1: neither JSON nor any other form of traces, up to line 3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, jobs := range []int{1, 4} {
				got, broken := readAll(t, []byte(tt.in), jobs, longLine)
				n := 0
				for _, td := range got {
					n += td.SpanCount()
				}
				require.Equal(t, tt.broken, broken)
				require.Equal(t, tt.spans, n)
			}
		})
	}
}

// partEnd returns the length of a request's first part.
func partEnd(request string) int {
	length, n := binary.Uvarint([]byte(request[1:]))
	return 1 + n + int(length) //nolint:gosec // small
}

// What is told of broken input holds nothing of it.
func TestBrokenTellsNoContent(t *testing.T) {
	const secret = "s3cret"
	for _, in := range []string{
		secret, `{"` + secret, `{"` + secret + `":1}`, `{"resourceSpans":["` + secret + `"]}`, `["` + secret + `"]`,
		`{"data":[{"spans":[{"traceID":"` + secret + `"}]}]}`, `{"data":"` + secret + `"}`, "{\n\"" + secret + "\": oops\n}", "\x0a\x08\x0a\x06" + secret,
	} {
		_, broken := readAll(t, []byte(in), 1, longLine)
		require.NotEmpty(t, broken, in)
		require.NotContains(t, fmt.Sprint(broken), secret)
	}
}

// Files are read from disk and from standard input alike, and one that is not
// there costs itself.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.binpb.gz")
	require.NoError(t, os.WriteFile(first, jsonOf(t, sample(1)), 0o600))
	require.NoError(t, os.WriteFile(second, gzipped(t, protoOf(t, sample(2))), 0o600))
	missing := filepath.Join(dir, "c.json")
	var all Collection
	var broken []string
	var places []string
	read := 0
	err := Read([]string{first, missing, second, "-"}, bytes.NewReader(jsonOf(t, sample(3))), 2, Handler{
		Traces: func(td ptrace.Traces, at Place) error {
			places = append(places, at.String())
			all.Add(td)
			return nil
		},
		Broken: func(e *Error) error { broken = append(broken, e.Error()); return nil },
		Read:   func(n int) { read += n },
	})
	require.NoError(t, err)
	require.Equal(t, []string{first + ":1", second, second, "standard input:1"}, places)
	require.Equal(t, []string{missing + ": no such file or directory"}, broken)
	require.Equal(t, spansOf(t, sample(1), sample(2), sample(3)), spansOf(t, all.Traces()...))
	require.Equal(t, 12, all.Spans)
	require.Equal(t, len(jsonOf(t, sample(1)))+len(gzipped(t, protoOf(t, sample(2))))+len(jsonOf(t, sample(3))), read)
}
