// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// A measured case is a protocol and what is known about it: an error of the
// grammar, an error of the meaning, the answers to a run, or the legal sets
// after some runs.
type measuredCase struct {
	ID       string  `json:"id"`
	Protocol *string `json:"protocol"`

	// An error of the grammar, in characters and in bytes.
	ParseError bool   `json:"parse_error"`
	Pos        int    `json:"pos"`
	PosByte    int    `json:"pos_byte"`
	Message    string `json:"message"`

	// A run.
	Steps    []measuredStep `json:"steps"`
	Terminal *bool          `json:"terminal"`
	Halted   bool           `json:"halted"`
	Trace    []string       `json:"trace"`

	// Readings of a disputed protocol.
	Differences []measuredDifference `json:"differences"`
	Flags       []string             `json:"flags"`

	Why string `json:"why"`
}

type measuredStep struct {
	Dir         string                     `json:"dir"`
	Label       string                     `json:"label"`
	Payload     json.RawMessage            `json:"payload"`
	Peek        bool                       `json:"peek"`
	Expect      string                     `json:"expect"`
	Why         *string                    `json:"why"`
	ExpectedSet []string                   `json:"expected_set"`
	Registers   map[string]json.RawMessage `json:"registers"`
}

type measuredDifference struct {
	After    string                      `json:"after"`
	Readings map[string]*measuredReading `json:"readings"`
}

type measuredReading struct {
	Legal    []string `json:"legal"`
	Terminal bool     `json:"terminal"`
}

// ourReading is how this package reads the protocols that can be read in more
// than one way: an explicit end stops, a variable jumps.
const ourReading = "end=stop,var=jump"

// kind tells the kinds of cases apart by their fields. It is empty for rows
// that are not about protocols.
func (c *measuredCase) kind() string {
	switch {
	case c.Protocol == nil || c.ID == "":
		return ""
	case c.ParseError:
		return "grammar"
	case c.Differences != nil:
		return "disputed"
	case c.Terminal != nil:
		return "run"
	case c.Why != "":
		return "meaning"
	}
	return ""
}

// check returns how the package differs from what was measured, "" if it does
// not.
func (c *measuredCase) check() string {
	p, parseErr := Parse(*c.Protocol)
	if c.kind() == "grammar" {
		return c.checkGrammar(parseErr)
	}
	if c.kind() == "meaning" && parseErr != nil {
		return "" // a reserved name
	}
	if parseErr != nil {
		return "does not parse: " + parseErr.Error()
	}
	a, _, err := Compile(p)
	switch c.kind() {
	case "meaning":
		if err == nil {
			return "compiles, and should not: " + c.Why
		}
		return ""
	case "disputed":
		return c.checkReading(a, err)
	}
	if err != nil {
		return "does not compile: " + err.Error()
	}
	return c.checkRun(a)
}

// checkGrammar compares the place of an error.
func (c *measuredCase) checkGrammar(err error) string {
	if err == nil {
		return "parses, and should not"
	}
	e := err.(*Error)
	if label, ok := strings.CutPrefix(c.Message, "duplicate branch label "); ok {
		// The measured place is behind the branch that repeats the label; ours is
		// the label.
		if e.Code != CodeDuplicateLabel || e.Offset >= c.PosByte || !strings.HasPrefix((*c.Protocol)[e.Offset:], strings.Trim(label, "'")) {
			return fmt.Sprintf("%v at byte %d, want a label that is repeated before byte %d", e, e.Offset, c.PosByte)
		}
		return ""
	}
	if chars := utf8.RuneCountInString((*c.Protocol)[:e.Offset]); e.Offset != c.PosByte || chars != c.Pos {
		return fmt.Sprintf("%v at byte %d, character %d; want byte %d, character %d", e, e.Offset, chars, c.PosByte, c.Pos)
	}
	return ""
}

// checkReading compares what is legal after runs of a disputed protocol.
// Protocols in which something stands behind a variable or an end are errors
// here, whatever they might mean.
func (c *measuredCase) checkReading(a *Automaton, err error) string {
	if slices.Contains(c.Flags, "var_then_dot") || slices.Contains(c.Flags, "end_then_dot") {
		if err == nil {
			return "compiles, and should not: " + strings.Join(c.Flags, ", ")
		}
		return ""
	}
	if err != nil {
		return "does not compile: " + err.Error()
	}
	for _, d := range c.Differences {
		want, ok := d.Readings[ourReading]
		if !ok {
			return "no reading " + ourReading + " after " + d.After
		}
		m := a.NewMonitor()
		for _, event := range strings.Fields(d.After) {
			m.Step(direction(event[:1]), event[1:], nil)
		}
		if want == nil {
			if !m.Halted() {
				return "allows " + d.After
			}
			continue
		}
		got := measuredReading{Legal: append([]string{}, m.Expected()...), Terminal: m.Terminal()}
		if diff := cmp.Diff(*want, got); m.Halted() || diff != "" {
			return fmt.Sprintf("after %s (halted: %t), want -, got +:\n%s", d.After, m.Halted(), diff)
		}
	}
	return ""
}

// checkRun compares every answer of a run.
func (c *measuredCase) checkRun(a *Automaton) string {
	type answer struct {
		Result, Cause string
		Expected      []string
		Registers     map[string]string
	}
	m := a.NewMonitor(WithTrace(TraceLimits{Events: 1 << 20, Bytes: 1 << 30}))
	for i, s := range c.Steps {
		event := Event{direction(s.Dir), s.Label, payload(s.Payload)}
		var o Outcome
		if s.Peek {
			o = m.Peek(event.Direction, event.Label, event.Payload)
		} else {
			o = m.Step(event.Direction, event.Label, event.Payload)
		}
		got := answer{o.Result.String(), o.Cause.String(), append([]string{}, o.Expected...), map[string]string{}}
		want := answer{s.Expect, "", append([]string{}, s.ExpectedSet...), map[string]string{}}
		if s.Why != nil {
			want.Cause = *s.Why
		} else if s.Registers == nil {
			want.Cause = got.Cause // not measured
		}
		if s.Registers == nil {
			want.Registers, got.Registers = nil, nil
		} else {
			for _, r := range m.Registers() {
				got.Registers[r.Name] = r.Value.String()
			}
		}
		for name, text := range s.Registers {
			v, err := ParseValue(string(text))
			if err != nil {
				return fmt.Sprintf("step %d: register %s: %v", i, name, err)
			}
			want.Registers[name] = v.String()
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Sprintf("step %d, %s with %s, want -, got +:\n%s", i, event, s.Payload, diff)
		}
	}
	type rest struct {
		Terminal, Halted bool
		Trace            []string
	}
	want := rest{*c.Terminal, c.Halted, append([]string{}, c.Trace...)}
	got := rest{m.Terminal(), m.Halted(), []string{}}
	attempts, _ := m.Trace()
	for _, t := range attempts {
		got.Trace = append(got.Trace, t.Event.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return "at the end, want -, got +:\n" + diff
	}
	return ""
}

// direction reads "send", "receive", "!" or "?".
func direction(s string) Direction {
	if s == "receive" || s == "?" {
		return Receive
	}
	return Send
}

// payload reads the payload of a step. What is no object has no fields.
func payload(text json.RawMessage) Payload {
	fields, err := ParseFields(string(text))
	if err != nil {
		return nil
	}
	return fields
}

// corpora returns the directories that measured cases are read from.
func corpora() []string {
	dirs := []string{filepath.Join("testdata", "conformance")}
	return append(dirs, filepath.SplitList(os.Getenv("RESULTSEAL_CORPUS"))...)
}

// eachMeasuredCase calls f for every case of every file of the corpora.
func eachMeasuredCase(t *testing.T, f func(t *testing.T, c *measuredCase)) {
	for _, dir := range corpora() {
		_, err := os.Stat(dir)
		require.NoError(t, err)
		var files []string
		for _, pattern := range []string{"*.jsonl", "*.jsonl.gz"} {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			require.NoError(t, err)
			files = append(files, found...)
		}
		for _, file := range files {
			cases := readMeasuredCases(t, file)
			if len(cases) == 0 {
				continue // not about protocols
			}
			t.Run(filepath.Base(file), func(t *testing.T) {
				for i := range cases {
					f(t, &cases[i])
				}
			})
		}
	}
}

// readMeasuredCases reads the cases of one file. It stops at the first row that
// is not about protocols.
func readMeasuredCases(t *testing.T, file string) []measuredCase {
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	var r io.Reader = bytes.NewReader(raw)
	if strings.HasSuffix(file, ".gz") {
		r, err = gzip.NewReader(r)
		require.NoError(t, err)
	}
	var cases []measuredCase
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 64<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var c measuredCase
		err := json.Unmarshal(lines.Bytes(), &c)
		switch {
		case err == nil && c.kind() != "":
			cases = append(cases, c)
		case len(cases) > 0:
			t.Fatalf("%s:%d: a row of another kind: %v", file, n, err)
		case strings.HasPrefix(filepath.Base(file), "monitor"):
			t.Fatalf("%s:%d: a row about protocols of no known kind: %v", file, n, err)
		default:
			return nil
		}
	}
	require.NoError(t, lines.Err())
	return cases
}

// TestConformance holds the package against measured answers: those in testdata
// and those in the directories of the environment variable RESULTSEAL_CORPUS.
func TestConformance(t *testing.T) {
	kinds := map[string]int{}
	eachMeasuredCase(t, func(t *testing.T, c *measuredCase) {
		kinds[c.kind()]++
		if diff := c.check(); diff != "" {
			t.Errorf("%s: %q: %s", c.ID, *c.Protocol, diff)
		}
	})
	t.Logf("cases by kind: %v", kinds)
	for _, kind := range []string{"grammar", "meaning", "disputed", "run"} {
		require.NotZero(t, kinds[kind], "no case of the kind %s was read", kind)
	}
}

// TestCorruptedExpectationsFail changes each measured expectation in turn and
// requires that the comparison notices.
func TestCorruptedExpectationsFail(t *testing.T) {
	type corruption struct {
		name string
		// corrupt returns false where the case has nothing to corrupt.
		corrupt func(c *measuredCase) bool
	}
	// lastStep corrupts a copy of the last step.
	lastStep := func(f func(s *measuredStep) bool) func(c *measuredCase) bool {
		return func(c *measuredCase) bool {
			if len(c.Steps) == 0 {
				return false
			}
			c.Steps = slices.Clone(c.Steps)
			return f(&c.Steps[len(c.Steps)-1])
		}
	}
	// reading corrupts a copy of our reading of the last difference.
	reading := func(f func(r *measuredReading) *measuredReading) func(c *measuredCase) bool {
		return func(c *measuredCase) bool {
			if len(c.Differences) == 0 || slices.Contains(c.Flags, "var_then_dot") || slices.Contains(c.Flags, "end_then_dot") {
				return false
			}
			c.Differences = slices.Clone(c.Differences)
			d := &c.Differences[len(c.Differences)-1]
			d.Readings = map[string]*measuredReading{ourReading: f(d.Readings[ourReading])}
			return true
		}
	}
	valid := "!a"
	corruptions := map[string][]corruption{
		"grammar": {
			{"a place before", func(c *measuredCase) bool { c.PosByte, c.Pos = c.PosByte-1, c.Pos-1; return !duplicate(c) }},
			{"a character more", func(c *measuredCase) bool { c.Pos++; return !duplicate(c) }},
			{"a label before the first", func(c *measuredCase) bool { c.PosByte = 0; return duplicate(c) }},
			{"nothing wrong", func(c *measuredCase) bool { c.Protocol = &valid; return true }},
		},
		"meaning": {
			{"nothing wrong", func(c *measuredCase) bool { c.Protocol = &valid; return true }},
		},
		"disputed": {
			{"another legal event", reading(func(r *measuredReading) *measuredReading {
				if r == nil {
					return &measuredReading{Legal: []string{"!other"}}
				}
				return &measuredReading{append(slices.Clone(r.Legal), "?other"), r.Terminal}
			})},
			{"another end", reading(func(r *measuredReading) *measuredReading {
				if r == nil {
					return &measuredReading{Legal: []string{}, Terminal: true}
				}
				return &measuredReading{r.Legal, !r.Terminal}
			})},
			{"allowed or not", reading(func(r *measuredReading) *measuredReading {
				if r == nil {
					return &measuredReading{Legal: []string{}}
				}
				return nil
			})},
		},
		"run": {
			{"another result", lastStep(func(s *measuredStep) bool {
				s.Expect = map[string]string{"ok": "violation", "violation": "ok", "unrecognized": "ok", "blocked": "unrecognized"}[s.Expect]
				return true
			})},
			{"another cause", lastStep(func(s *measuredStep) bool {
				other := map[string]string{"label": "guard", "guard": "label"}
				if s.Why == nil {
					return false
				}
				why := other[*s.Why]
				s.Why = &why
				return true
			})},
			{"one more expected", lastStep(func(s *measuredStep) bool {
				s.ExpectedSet = append(slices.Clone(s.ExpectedSet), "?zzz")
				return true
			})},
			{"one fewer expected", lastStep(func(s *measuredStep) bool {
				if len(s.ExpectedSet) == 0 {
					return false
				}
				s.ExpectedSet = s.ExpectedSet[1:]
				return true
			})},
			{"another register", lastStep(func(s *measuredStep) bool {
				if s.Registers == nil {
					return false
				}
				s.Registers = map[string]json.RawMessage{"other": json.RawMessage("1")}
				return true
			})},
			{"another value", lastStep(func(s *measuredStep) bool {
				registers := map[string]json.RawMessage{}
				for name, v := range s.Registers {
					registers[name] = json.RawMessage(`[` + string(v) + `]`)
				}
				s.Registers = registers
				return len(registers) > 0
			})},
			{"another end", func(c *measuredCase) bool { terminal := !*c.Terminal; c.Terminal = &terminal; return true }},
			{"halted or not", func(c *measuredCase) bool { c.Halted = !c.Halted; return true }},
			{"a longer trace", func(c *measuredCase) bool { c.Trace = append(slices.Clone(c.Trace), "!a"); return true }},
			{"another protocol", func(c *measuredCase) bool { other := "?zzz.!zzz"; c.Protocol = &other; return len(c.Steps) > 0 }},
		},
	}
	applied := map[string]int{}
	eachMeasuredCase(t, func(t *testing.T, c *measuredCase) {
		for _, k := range corruptions[c.kind()] {
			corrupted := *c
			if !k.corrupt(&corrupted) {
				continue
			}
			applied[c.kind()+": "+k.name]++
			if corrupted.check() == "" {
				t.Errorf("%s: %q with %s passes", c.ID, *c.Protocol, k.name)
			}
		}
	})
	for kind, ks := range corruptions {
		for _, k := range ks {
			require.NotZero(t, applied[kind+": "+k.name], "%s: %s never applied", kind, k.name)
		}
	}
}

// duplicate reports whether the case is about a label that is repeated, whose
// measured place is behind ours.
func duplicate(c *measuredCase) bool { return strings.HasPrefix(c.Message, "duplicate") }
