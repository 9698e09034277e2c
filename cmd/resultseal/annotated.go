// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/annotate"
	"github.com/resultseal/otelcol-resultseal/internal/spill"
)

// annotated collects the input's spans with the annotations that the processor
// would write onto them. It is used from several goroutines.
type annotated struct {
	writer *annotate.Writer

	mu    sync.Mutex
	store spill.Store
	lines []annotatedLine
}

// annotatedLine is a trace as OTLP JSON.
type annotatedLine struct {
	start pcommon.Timestamp
	id    pcommon.TraceID
	text  spill.Blob
}

func newAnnotated() *annotated { return &annotated{writer: annotate.New(annotate.Options{})} }

// add annotates a trace. It changes the spans, so it comes after all who read
// them.
func (a *annotated) add(v *verdict) error {
	if v.session != nil {
		a.writer.Session(v.spans, v.session, "")
	}
	var m ptrace.JSONMarshaler
	text, err := m.MarshalTraces(v.trace.Traces)
	if err != nil {
		return err
	}
	line := annotatedLine{start: v.trace.Start(), id: v.trace.ID}
	a.mu.Lock()
	defer a.mu.Unlock()
	line.text, err = a.store.Put(text)
	a.lines = append(a.lines, line)
	return err
}

// remove takes back a trace that was judged too early.
func (a *annotated) remove(trace string) {
	a.lines = slices.DeleteFunc(a.lines, func(l annotatedLine) bool { return l.id.String() == trace })
}

// write writes a line for each trace, ordered by the start of their first span,
// then by id.
func (a *annotated) write(w io.Writer) error {
	slices.SortFunc(a.lines, func(x, y annotatedLine) int {
		return cmp.Or(cmp.Compare(x.start, y.start), bytes.Compare(x.id[:], y.id[:]))
	})
	out := bufio.NewWriterSize(w, 1<<16)
	for _, line := range a.lines {
		text, err := a.store.Get(line.text)
		if err != nil {
			return err
		}
		out.Write(text)
		out.WriteByte('\n')
	}
	return out.Flush()
}

func (a *annotated) close() error { return a.store.Close() }
