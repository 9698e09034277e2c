// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package cputime measures the processor time of a test: others may be at work on
// the same machine.
package cputime

import (
	"runtime"
	"testing"
	"time"

	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
)

// Of returns the processor time of the whole process while f runs, the least of
// three runs. It is the time that passes where the system does not count processor
// time.
func Of(f func()) time.Duration {
	best := time.Duration(1 << 62)
	for range 3 {
		runtime.GC()
		begin := now()
		f()
		best = min(best, now()-begin)
	}
	return best
}

// SkipUnderRace skips a test of processor time under the race detector, which takes more
// for some work than for other. `make test-linear` runs these tests without it.
func SkipUnderRace(t *testing.T) {
	t.Helper()
	if spantest.RaceEnabled {
		t.Skip("processor time means nothing under the race detector; make test-linear runs it without")
	}
}

// IsLinear fails a test if work takes much more than eight times the processor time
// for eight times the size. A square would be 64 times.
func IsLinear(t *testing.T, n int, prepare func(n int) (work func())) {
	t.Helper()
	const more, most, noise = 8, 26, 20 * time.Millisecond
	once, again := Of(prepare(n)), Of(prepare(n*more))
	t.Logf("%v for %d, %v for %d", once, n, again, n*more)
	if again > most*once+noise {
		t.Errorf("%v for %d and %v for %d: not in proportion", once, n, again, n*more)
	}
}
