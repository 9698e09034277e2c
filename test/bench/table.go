// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strings"
)

// line is a line of the table: one contestant, alone or beside another.
type line struct {
	what string
	// of and against are contestants of the contest; against is alone for none.
	of, against int
	// figure is what is compared; nil is the processor time.
	figure func(figures) float64
	// unit is what stands behind the time, such as " a span".
	unit string
	// inverse turns the ratio round: how many times as fast, not as slow.
	inverse bool
	target  target
	// headline is what the line is called above the table, for those in a hurry; most
	// lines do not stand there.
	headline string
}

const alone = -1

func wall(f figures) float64 { return f.wall }

// target is what a line is held against. Zero is none.
type target struct {
	ratioAtMost, ratioAtLeast float64
	nsAtMost                  float64
	// allocs is the most allocations, if hasAllocs.
	allocs    float64
	hasAllocs bool
}

func (t target) String() string {
	var parts []string
	if t.ratioAtMost > 0 {
		parts = append(parts, "≤ "+number(t.ratioAtMost)+" ×")
	}
	if t.ratioAtLeast > 0 {
		parts = append(parts, "≥ "+number(t.ratioAtLeast)+" ×")
	}
	if t.nsAtMost > 0 {
		parts = append(parts, "≤ "+duration(t.nsAtMost))
	}
	if t.hasAllocs {
		if t.allocs == 0 {
			parts = append(parts, "0 allocations")
		} else {
			parts = append(parts, "≤ "+number(t.allocs)+" allocations")
		}
	}
	return strings.Join(parts, ", ")
}

// allocsNoise is what the runtime itself allocates now and then during a round, for an
// operation.
const allocsNoise = 0.05

// met says whether a target is reached: "yes", "no", or "" where there is none.
func (t target) met(r ratio, ns, allocs float64) string {
	if t == (target{}) {
		return ""
	}
	if t.ratioAtMost > 0 && r.value > t.ratioAtMost ||
		t.ratioAtLeast > 0 && r.value < t.ratioAtLeast ||
		t.nsAtMost > 0 && ns > t.nsAtMost ||
		t.hasAllocs && allocs > t.allocs+allocsNoise {
		return "no"
	}
	return "yes"
}

// table is a heading and the lines under it, as Markdown, and what of it comes first.
type table struct {
	b         strings.Builder
	headlines []string
}

func newTable() *table {
	t := &table{}
	t.b.WriteString("| what | ResultSeal | allocations | beside | ratio | 95 % of ratios | target | met |\n")
	t.b.WriteString("|---|---:|---:|---|---:|---:|---|---|\n")
	return t
}

// add writes the lines of a contest.
func (t *table) add(c *contest, all results) {
	for _, l := range c.lines {
		figure := l.figure
		if figure == nil {
			figure = func(f figures) float64 { return f.cpu }
		}
		values := func(i int, figure func(figures) float64) []float64 {
			var out []float64
			for _, f := range all[i] {
				out = append(out, figure(f))
			}
			return out
		}
		ours := values(l.of, figure)
		allocs := median(values(l.of, func(f figures) float64 { return f.allocs }))
		s := summary(ours)
		cells := []string{l.what, duration(s.Center) + l.unit + spread(s.PctRangeString()), count(allocs), "", "", "", l.target.String(), ""}
		r := ratio{math.NaN(), math.NaN(), math.NaN()}
		if l.against != alone {
			theirs := values(l.against, figure)
			if r = ratioOf(ours, theirs); l.inverse {
				r = ratioOf(theirs, ours)
			}
			cells[3] = c.contestants[l.against].name + ": " + duration(median(theirs)) + l.unit
			cells[4] = fmt.Sprintf("%.2f", r.value)
			cells[5] = fmt.Sprintf("%.2f – %.2f", r.lo, r.hi)
		}
		cells[7] = l.target.met(r, s.Center, allocs)
		if l.headline != "" {
			text := "- " + l.headline + ": " + duration(s.Center) + l.unit
			if l.against != alone {
				text += ", " + cells[4] + " × " + c.contestants[l.against].name
			}
			t.headlines = append(t.headlines, text)
		}
		t.b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
}

func (t *table) String() string {
	if len(t.headlines) == 0 {
		return t.b.String()
	}
	return strings.Join(t.headlines, "\n") + "\n\n" + t.b.String()
}

// spread is benchmath's, with a space; too few rounds have none.
func spread(pct string) string {
	digits := strings.TrimSuffix(strings.TrimPrefix(pct, "±"), "%")
	if strings.Contains(digits, "∞") || digits == "?" {
		return ""
	}
	return " ± " + strings.TrimSpace(digits) + " %"
}

// count is a number of allocations; that of one in twenty operations and fewer is the
// runtime's own.
func count(allocs float64) string {
	switch {
	case allocs < 0:
		return ""
	case allocs <= allocsNoise:
		return "0"
	case allocs < 10:
		return number(math.Round(allocs*10) / 10)
	}
	return fmt.Sprintf("%.0f", allocs)
}

func number(v float64) string { return fmt.Sprintf("%g", v) }

// duration writes nanoseconds with three digits that count.
func duration(ns float64) string {
	for _, u := range []struct {
		unit string
		size float64
	}{{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}} {
		if ns >= u.size {
			return digits(ns/u.size) + " " + u.unit
		}
	}
	return digits(ns) + " ns"
}

func digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
