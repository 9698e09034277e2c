// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"pgregory.net/rapid"
)

// What is read is handed over in the order in which it stands, broken or not,
// however many goroutines parse.
func TestOrder(t *testing.T) {
	good := jsonOf(t, sample(1))
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{"good", "broken", "log", ""})).Draw(t, "lines")
		var in bytes.Buffer
		var want []string
		run := false
		for i, line := range lines {
			switch line {
			case "good":
				in.Write(good)
				want, run = append(want, fmt.Sprint("good ", i+1)), false
			case "broken":
				in.WriteString(`{"resourceSpans":[,]}`)
				want, run = append(want, fmt.Sprint("broken ", i+1)), false
			case "log":
				in.WriteString("ready")
				if !run { // lines in a row are told once
					want = append(want, fmt.Sprint("broken ", i+1))
				}
				run = true
			}
			in.WriteByte('\n')
		}
		var got []string
		require.NoError(t, Read([]string{"-"}, &in, rapid.IntRange(1, 8).Draw(t, "jobs"), Handler{
			Traces: func(_ ptrace.Traces, at Place) error { got = append(got, fmt.Sprint("good ", at.Line)); return nil },
			Broken: func(e *Error) error { got = append(got, fmt.Sprint("broken ", e.Place.Line)); return nil },
		}))
		require.Equal(t, want, got)
	})
}

// A handler that has had enough ends the reading, of an input that never ends
// too, and nothing is left running.
func TestStop(t *testing.T) {
	before := runtime.NumGoroutine()
	enough := errors.New("enough")
	line := append(jsonOf(t, sample(1)), '\n')
	for _, endless := range []io.Reader{
		&repeat{text: line},
		&repeat{text: []byte("{\"resourceSpans\":[}\n")},
		&repeat{head: []byte("[\n"), text: append(line, ',')},
		&repeat{text: protoOf(t, sample(1))},
		&repeat{text: frame(protoOf(t, sample(1)))},
	} {
		n := 0
		count := func() error {
			if n++; n == 10 {
				return enough
			}
			return nil
		}
		require.ErrorIs(t, Read([]string{"-", "-"}, endless, 3, Handler{
			Traces: func(ptrace.Traces, Place) error { return count() },
			Broken: func(*Error) error { return count() },
		}), enough)
		require.Equal(t, 10, n)
	}
	for range 500 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("goroutines: %d before, %d after", before, runtime.NumGoroutine())
}

// repeat is a text that comes again and again.
type repeat struct{ head, text, rest []byte }

func (r *repeat) Read(b []byte) (int, error) {
	if len(r.head) > 0 {
		n := copy(b, r.head)
		r.head = r.head[n:]
		return n, nil
	}
	if len(r.rest) == 0 {
		r.rest = r.text
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// A large document is handed over while it is read, in bounded memory.
func TestLargeDocument(t *testing.T) {
	line := jsonOf(t, sample(1))
	element := line[len(`{"resourceSpans":[`) : len(line)-len(`]}`)]
	const total = 64 << 20
	r := io.MultiReader(
		bytes.NewReader([]byte("{\n\"resourceSpans\": [\n")),
		io.LimitReader(&repeat{text: append(append([]byte{}, element...), ',', '\n')}, total/int64(len(element)+2)*int64(len(element)+2)),
		bytes.NewReader(element), bytes.NewReader([]byte("]}")),
	)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, most := 0, uint64(0)
	require.NoError(t, Read([]string{"-"}, r, 2, Handler{
		Traces: func(td ptrace.Traces, _ Place) error {
			if n += td.SpanCount(); n%20000 == 0 {
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc)
			}
			return nil
		},
		Broken: func(e *Error) error { return e },
	}))
	require.Greater(t, n, 4*total/(len(line)+2))
	require.Less(t, most, before.HeapAlloc+total/2, "the heap while reading")
}
