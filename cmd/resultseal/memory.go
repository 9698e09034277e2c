// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
)

// memoryFlag is how much memory a command may use: a number of bytes with a unit,
// 0 for no bound.
type memoryFlag int64

// minMemory is the least --memory that is not 0: there is no work to be done with less.
const minMemory = 16 << 20

// sizes matches a number with a unit.
var sizes = regexp.MustCompile(`^(?i)\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?b?)\s*$`)

// Set implements pflag.Value.
func (m *memoryFlag) Set(text string) error {
	parts := sizes.FindStringSubmatch(text)
	if parts == nil {
		return fmt.Errorf("%q is no size; write 512MiB or 2GiB, or 0 for no bound", text)
	}
	n, err := strconv.ParseFloat(parts[1], 64)
	if err != nil {
		return err
	}
	base := 1024.0
	if strings.EqualFold(parts[3], "b") && parts[2] != "" { // MB, not MiB
		base = 1000
	}
	n *= math.Pow(base, float64(strings.Index(" kmgt", strings.ToLower(parts[2]))))
	if parts[2] == "" {
		n, _ = strconv.ParseFloat(parts[1], 64)
	}
	if n > 0 && n < minMemory {
		return fmt.Errorf("%s is too little to work with; give 16MiB or more, or 0 for no bound", text)
	}
	if n > math.MaxInt64/2 {
		return fmt.Errorf("%s is more than there can be", text)
	}
	*m = memoryFlag(n)
	return nil
}

// String implements pflag.Value.
func (m *memoryFlag) String() string {
	n := int64(*m)
	for _, unit := range []struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}} {
		if n >= unit.size && n%unit.size == 0 {
			return fmt.Sprintf("%d%s", n/unit.size, unit.name)
		}
	}
	if n >= 1<<30 {
		return fmt.Sprintf("%.1fGiB", float64(n)/(1<<30))
	}
	return strconv.FormatInt(n, 10)
}

// Type implements pflag.Value.
func (m *memoryFlag) Type() string { return "size" }

// heldShare is what part of the memory spans may take, counted in protobuf. In
// memory they take up to twice of that, and the garbage collector and what is
// being parsed and judged need their room.
const heldShare = 4

// valueShare is what part of the memory one value of the input may take: it is read
// into a buffer that grows, and then parsed.
const valueShare = 8

// lazyCollector is how much the heap may grow before garbage is collected, in
// percent. Twice the usual saves a fifth of the work, and the memory is kept
// within its limit all the same.
const lazyCollector = 200

// untouchedShare is what part of the memory the heap may take before garbage is
// collected at all. Most of what is read is held until everything is read, so that
// looking through it over and over while it grows finds little.
const untouchedShare = 8

// budget returns how many bytes of spans may be held, and tells the garbage
// collector to keep within the memory until it is undone.
func (m memoryFlag) budget() (held int64, undo func()) {
	if m == 0 {
		return 0, func() {}
	}
	if os.Getenv("GOGC") != "" {
		limit := debug.SetMemoryLimit(int64(m))
		return int64(m) / heldShare, func() { debug.SetMemoryLimit(limit) }
	}
	c := &collecting{memory: int64(m)}
	c.limit = debug.SetMemoryLimit(int64(m) / untouchedShare)
	c.percent = debug.SetGCPercent(-1)
	runtime.AddCleanup(new(firstCollection), (*collecting).begin, c)
	return int64(m) / heldShare, c.undo
}

// firstCollection is collected as soon as anything is.
type firstCollection struct{ _ [64]byte }

// collecting is how garbage is collected for the time being.
type collecting struct {
	memory  int64
	mu      sync.Mutex
	undone  bool
	limit   int64 // what was set before
	percent int
}

// begin has garbage collected as it goes from now on.
func (c *collecting) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.undone {
		debug.SetGCPercent(lazyCollector)
		debug.SetMemoryLimit(c.memory)
	}
}

func (c *collecting) undo() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.undone = true
	debug.SetMemoryLimit(c.limit)
	debug.SetGCPercent(c.percent)
}

// defaultMemory is half of what there is.
func defaultMemory() memoryFlag {
	const unknown = 4 << 30
	n := memoryOfMachine()
	if n <= 0 {
		n = unknown
	}
	return memoryFlag(max(n/2, 64<<20) >> 20 << 20) // whole MiB
}

// tellScattered says which traces were judged too early to stay within the
// memory, and what can be done.
func tellScattered(w io.Writer, counts *totals, m memoryFlag) {
	const most = 10
	if n := len(counts.scattered); n > 0 {
		fmt.Fprintf(w, "resultseal: %s scattered over the input: spans came after the rest was judged to stay within --memory %s. No verdict is given on them:\n", are(n, "trace"), m.String())
		for i, s := range counts.scattered {
			if i == most {
				fmt.Fprintf(w, "  and %d more\n", n-most)
				break
			}
			fmt.Fprintf(w, "  %s, again at %s\n", s.trace, s.at)
		}
	}
	if counts.tooEarly > 0 && counts.released > 0 {
		fmt.Fprintf(w, "resultseal: %s judged after later ones of their conversations, to stay within --memory %s; their events could not join\n", were(counts.tooEarly, "trace"), m.String())
	}
	if len(counts.scattered) > 0 || counts.tooEarly > 0 && counts.released > 0 {
		fmt.Fprintf(w, "  Give more room with --memory, or put the spans of each trace together in the file: the collector's groupbytrace processor does so before a file exporter.\n")
	}
}

// are and were write how many things are something.
func are(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return count(n, noun) + " are"
}

func were(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " was"
	}
	return count(n, noun) + " were"
}
