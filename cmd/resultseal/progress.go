// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"

	"github.com/resultseal/otelcol-resultseal/internal/display"
)

// progressDelay is how long work has to take before it is worth a bar.
const progressDelay = 2 * time.Second

// bar shows on a terminal how much of the input was read, and then how many of
// the traces that were held were judged. A nil bar shows nothing.
type bar struct {
	w io.Writer

	reading, judging progress.Tracker

	mu     sync.Mutex
	writer progress.Writer // nil until it is shown
	timer  *time.Timer
	ended  bool
	done   chan struct{} // closed when the writer has ended
}

// newBar returns a bar that appears on w after a while, nil if w is no terminal.
func newBar(w io.Writer, terminal bool, delay time.Duration, paths []string) *bar {
	if !terminal {
		return nil
	}
	if m, ok := w.(messages); ok {
		w = m.Writer // the bar moves the cursor
	}
	b := &bar{
		w:       w,
		reading: progress.Tracker{Message: "reading " + count(len(paths), "file"), Units: progress.UnitsBytes, Total: totalSize(paths), RemoveOnCompletion: true},
		judging: progress.Tracker{Message: "judging", DeferStart: true, RemoveOnCompletion: true},
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timer = time.AfterFunc(delay, b.show)
	return b
}

// totalSize adds up the sizes of files, 0 if one of them has none.
func totalSize(paths []string) int64 {
	total := int64(0)
	for _, path := range paths {
		info, err := os.Stat(path)
		if path == "-" || err == nil && !info.Mode().IsRegular() {
			return 0
		}
		if err == nil {
			total += info.Size()
		}
	}
	return total
}

func (b *bar) show() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return // it ended while the timer fired
	}
	w := progress.NewWriter()
	w.SetOutputWriter(b.w)
	w.SetUpdateFrequency(200 * time.Millisecond)
	w.SetTrackerLength(30)
	w.Style().Visibility.Time = false // it would be that since the bar is shown
	w.AppendTrackers([]*progress.Tracker{&b.reading, &b.judging})
	b.writer, b.done = w, make(chan struct{})
	go func() {
		defer close(b.done)
		w.Render()
	}()
}

// read moves the bar on.
func (b *bar) read(bytes int) {
	if b != nil {
		b.reading.Increment(int64(bytes))
	}
}

// judge says how many traces are to be judged now that all is read.
func (b *bar) judge(traces int) {
	if b != nil {
		b.reading.MarkAsDone()
		b.judging.UpdateTotal(int64(traces))
		b.judging.Start()
	}
}

// judged moves the bar on.
func (b *bar) judged() {
	if b != nil && b.judging.IsStarted() {
		b.judging.Increment(1)
	}
}

// say writes a line to w, above the bar if there is one.
func (b *bar) say(w io.Writer, line string) {
	if b != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.writer != nil {
			b.writer.Log("%s", display.Lines(line))
			return
		}
	}
	fmt.Fprintln(w, line)
}

// end takes the bar away.
func (b *bar) end() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.timer.Stop()
	b.ended = true
	if b.writer == nil {
		return
	}
	b.reading.MarkAsDone()
	b.judging.MarkAsDone()
	b.writer.Stop()
	<-b.done
	b.writer = nil
}
