// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// A broken line costs that line only: whatever stands between two good lines,
// both are read.
func FuzzLines(f *testing.F) {
	for _, seed := range []string{
		"", "{", "}", `{"`, `{"resourceSpans":[`, `{"resourceSpans":[{"resource":{}}`, `{"data":[{"spans":[{}]}]}`,
		"\xef\xbb\xbf", `{"a":"\"}"}`, "hello", "{}{}", `"`, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":5}]}]}]}`, "\x1f\x8b", "\x0a\x05",
	} {
		f.Add([]byte(seed))
	}
	good := jsonOf(f, sample(1))
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.IndexByte(line, '\n') >= 0 || bytes.HasPrefix(bytes.TrimLeft(line, space), []byte("[")) {
			return // a list may hold what stands on the lines after it
		}
		traces, _ := readAll(t, join(good, "\n", line, "\n", good), 2, longLine)
		found := 0
		for _, td := range traces {
			for _, spans := range spansOf(t, td) {
				for _, span := range spans {
					if bytes.Contains([]byte(span), []byte(`"agent-`)) {
						found++
					}
				}
			}
		}
		require.GreaterOrEqual(t, found, 8)
	})
}

// Any input ends, is told of or read, and reads the same however it is cut into
// parts and by however many goroutines.
func FuzzRead(f *testing.F) {
	a := jsonOf(f, sample(1))
	for _, seed := range [][]byte{
		a, join("[\n", a, ",\n", a, "\n]"), indented(f, a, " "), protoOf(f, sample(1)), frame(protoOf(f, sample(1))),
		gzipped(f, a), zstandard(f, a), frame(zstandard(f, a)), []byte("{\n\"result\": {\"resourceSpans\": []}}"), []byte("[[[[[[]]]]]]"),
		[]byte("{\n\"data\": [{\"spans\":[{\"traceID\":\"1\",\"spanID\":\"2\"}]}]}"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		traces, broken := readAll(t, data, 1, longLine)
		again, brokenAgain := readAll(t, data, 3, longLine)
		require.Equal(t, broken, brokenAgain)
		require.Equal(t, spansOf(t, traces...), spansOf(t, again...))
	})
}

// The cutter finds the end of every value that JSON's own scanner accepts.
func FuzzCutter(f *testing.F) {
	for _, seed := range []string{`{"a":["}",{"b":"\\\""}]}`, `[]`, `"a\"b"`, `12.5e3`, `true`, ` {"a" : 1 } `} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, split int) {
		if !json.Valid(text) {
			return
		}
		text = bytes.Trim(text, space)
		split = min(max(split, 0), len(text))
		var c cutter
		n := c.cut(text[:split])
		if !c.done {
			n += c.cut(append(bytes.Clone(text[split:]), ','))
		}
		require.True(t, c.done)
		require.Equal(t, len(text), n)
	})
}
