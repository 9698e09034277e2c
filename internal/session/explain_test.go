// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExplains(t *testing.T) {
	booking := "!Search.?Results.!Present.?Approval.!Book.?Confirmation"
	loop := "rec L.!{read.?got.L, write.?done.L, stop}"
	tests := []struct {
		source, seen, missing string
		want                  bool
	}{
		{booking, "", "", true},
		{booking, "!Search ?Results", "", true},
		{booking, "!Search !Present", "", false},
		{booking, "!Search !Present", "?Results", true},
		{booking, "!Search !Present", "?Approval", false},
		{booking, "!Book", "", false},
		{booking, "!Book", "?Approval", false},
		{booking, "!Book", "!Search ?Results !Present ?Approval", true},
		{booking, "!Book !Search", "!Search ?Results !Present ?Approval !Book ?Confirmation", false},
		{booking, "!Book !Book", "!Search ?Results !Present ?Approval !Book ?Confirmation", false},
		{booking, "!Search !Search", "!Search ?Results", false},
		{booking, "!Other", "!Search ?Results !Present ?Approval !Other", false},
		{booking, "!Search ?Results !Present !Book", "?Approval", true},
		{booking, "!Search ?Results !Book", "!Present ?Approval", true},
		{booking, "?Search", "!Search", false},

		{loop, "?done ?got ?done", "", false},
		{loop, "?done ?got ?done", "!read !write", true},
		{loop, "?done !stop ?got", "!read !write", false},
		{loop, "!read ?done", "!read !write", false},
		{loop, "!read ?done", "!read !write ?got", true},

		// The sentinel changes nothing where no edge waits for it.
		{booking, "?Unrecognized !Search !Unrecognized ?Results", "", true},
		{booking, "?Unrecognized !Present", "!Search", false},
		{"!a.?{Unrecognized, b.!c}", "!a ?Unrecognized !c", "", false},
		{"!a.?{Unrecognized, b.!c}", "!a ?Unrecognized !c", "?b", true}, // after ?b
		{"!a.?{Unrecognized, b.!c}", "?Unrecognized !a !c", "?b", true}, // before !a
		{"!a.?{Unrecognized.!d, b.!c}", "?Unrecognized !d", "!a", true},

		// Guards are taken to hold.
		{"?read(path as p).!write(path == p)", "!write", "?read", true},
		{"!write(path == p)", "!write", "", true},
	}
	for _, tt := range tests {
		var events []Event
		for _, name := range strings.Fields(tt.seen) {
			events = append(events, Event{Direction: direction(name[:1]), Label: name[1:]})
		}
		missing := strings.Fields(tt.missing)
		got := compiled(t, tt.source).Explains(events, func(d Direction, label string) bool {
			return slices.Contains(missing, d.String()+label)
		})
		require.Equal(t, tt.want, got, "%s: seen %q, missing %q", tt.source, tt.seen, tt.missing)
	}
}

// explains searches for a legal run by trying everything, with the naive
// monitor. It imagines at most budget events in a row.
func (m *naiveMonitor) explains(seen, missing []string, imagined, budget int) bool {
	if len(seen) == 0 {
		return true
	}
	legal := m.legal()
	past := m.past
	defer func() { m.past = past }()
	if _, ok := legal[seen[0]]; ok {
		m.past = append(slices.Clone(past), seen[0])
		if m.explains(seen[1:], missing, 0, budget) {
			return true
		}
	} else if seen[0][1:] == UnrecognizedLabel {
		m.past = past
		if m.explains(seen[1:], missing, imagined, budget) {
			return true
		}
	}
	if imagined == budget {
		return false
	}
	for name := range legal {
		m.past = append(slices.Clone(past), name)
		if slices.Contains(missing, name) && m.explains(seen, missing, imagined+1, budget) {
			return true
		}
	}
	return false
}

// TestExplainsBruteForce compares with the search, for protocols so small that
// a search is complete: a run from one seen event to the next needs no more
// unseen events than there are other states.
func TestExplainsBruteForce(t *testing.T) {
	const seenEvents, states = 2, 4
	count := 4000
	if testing.Short() {
		count = 300
	}
	answers := map[bool]int{}
	for seed := 0; answers[true]+answers[false] < count; seed++ {
		r := &maker{Rand: rand.New(rand.NewPCG(uint64(seed), 7)), size: 5}
		terms := r.terms(nil, nil, 0)
		a := compiled(t, text(terms))
		if a.States() == 1 || a.States() > states {
			continue
		}
		naive := &naiveMonitor{runs: runs(terms, seenEvents+seenEvents*(states-1))}
		var all []string
		for _, e := range a.Events() {
			all = append(all, e.String())
		}
		for range 4 {
			var seen, missing []string
			for range 1 + r.IntN(seenEvents) {
				seen = append(seen, pick(r, append(slices.Clone(all), "?Unrecognized")))
			}
			for _, name := range all {
				if r.IntN(2) == 0 {
					missing = append(missing, name)
				}
			}
			var events []Event
			for _, name := range seen {
				events = append(events, Event{Direction: direction(name[:1]), Label: name[1:]})
			}
			naive.past = nil
			want := naive.explains(seen, missing, 0, states-1)
			got := a.Explains(events, func(d Direction, label string) bool { return slices.Contains(missing, d.String()+label) })
			answers[got]++
			require.Equal(t, want, got, "seed %d: %s: seen %v, missing %v", seed, text(terms), seen, missing)
		}
	}
	require.Greater(t, answers[true], count/10)
	require.Greater(t, answers[false], count/10)
	t.Logf("explained %d, not %d", answers[true], answers[false])
}

// TestExplainsWhatWasHidden hides events of legal runs and has the rest
// explained.
func TestExplainsWhatWasHidden(t *testing.T) {
	for seed := range 3000 {
		r := &maker{Rand: rand.New(rand.NewPCG(uint64(seed), 8)), size: 12}
		terms := r.terms(nil, nil, 0)
		a := compiled(t, text(terms))
		all := runs(terms, 6)
		trace := names(pick(r, all).trace)
		var missing []string
		for _, e := range a.Events() {
			if r.IntN(2) == 0 {
				missing = append(missing, e.String())
			}
		}
		var seen []Event
		for _, name := range trace {
			if !slices.Contains(missing, name) || r.IntN(3) == 0 {
				seen = append(seen, Event{Direction: direction(name[:1]), Label: name[1:]})
			}
		}
		require.True(t, a.Explains(seen, func(d Direction, label string) bool { return slices.Contains(missing, d.String()+label) }),
			"%s: of %v only %v was seen, missing %v", text(terms), trace, seen, missing)
	}
}
