// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dump writes an automaton, a state a line. A terminal state has a star.
//
//	0: !a>1 | 1*:
func dump(a *Automaton) string {
	var lines []string
	for i, s := range a.states {
		var b strings.Builder
		fmt.Fprint(&b, i)
		if s.terminal {
			b.WriteByte('*')
		}
		b.WriteByte(':')
		for _, e := range a.edges[s.first:s.end] {
			b.WriteString(" " + strings.Join(a.edgeLines(e), " ") + fmt.Sprintf(">%d", e.to))
		}
		lines = append(lines, b.String())
	}
	return strings.Join(lines, " | ")
}

func TestCompile(t *testing.T) {
	tests := []struct{ source, dump string }{
		{"end", "0*:"},
		{"!a", "0: !a>1 | 1*:"},
		{"!a.end.end", "0: !a>1 | 1*:"},
		{"!a.?b", "0: !a>1 | 1: ?b>2 | 2*:"},
		{"rec X.end", "0*:"},
		{"rec X.!a.X", "0: !a>0"},
		{"rec X.rec Y.!a.X", "0: !a>0"},
		{"rec X.rec Y.!{a.X,b.Y,c}", "0: !a>0 !b>0 !c>1 | 1*:"},
		{"rec X.!a.rec Y.?b.?{c.X,d.Y,e}", "0: !a>1 | 1: ?b>2 | 2: ?c>0 ?d>1 ?e>3 | 3*:"},
		{"rec X.!a.rec X.!b.?{again.X,out.end}", "0: !a>1 | 1: !b>2 | 2: ?again>1 ?out>3 | 3*:"},

		// Edges are sorted by name; states are numbered along them.
		{"!{b.?y,a.?x}", "0: !a>1 !b>2 | 1: ?x>3 | 2: ?y>3 | 3*:"},

		// What follows a choice is built once.
		{"!{a,b}", "0: !a>1 !b>1 | 1*:"},
		{"!{a,b}.?{c,d}", "0: !a>1 !b>1 | 1: ?c>2 ?d>2 | 2*:"},
		{"!{a.!x,b}.?c", "0: !a>1 !b>2 | 1: !x>2 | 2: ?c>3 | 3*:"},
		{"!{a.!{x,y},b}.?c", "0: !a>1 !b>2 | 1: !x>2 !y>2 | 2: ?c>3 | 3*:"},

		// It belongs to the branches that leave.
		{"rec Loop.!Ask.?{Yes,No,Again.Loop}.!Book", "0: !Ask>1 | 1: ?Again>0 ?No>2 ?Yes>2 | 2: !Book>3 | 3*:"},
		{"?{Yes.!Go.end,No}.!Done", "0: ?No>1 ?Yes>2 | 1: !Done>3 | 2: !Go>3 | 3*:"},
		{"?{a.end,b}.!c.end", "0: ?a>1 ?b>2 | 1*: | 2: !c>1"},
		{"rec Y.!{a.rec X.!b.?{more.X,stop},c}.Y", "0: !a>1 !c>0 | 1: !b>2 | 2: ?more>1 ?stop>0"},
		{
			"rec Main.?Task.!{Retryable.rec Try.!Call.?{Fail.Try,Ok},Simple.!Call}.Main",
			"0: ?Task>1 | 1: !Retryable>2 !Simple>3 | 2: !Call>4 | 3: !Call>0 | 4: ?Fail>2 ?Ok>0",
		},

		// Guards come before bindings; equal clauses are one.
		{"!a(x as p, y == q)", "0: !a [y == q] x as p>1 | 1*:"},
		{`!a(x == "p", y != 1.0)`, `0: !a [x == "p", y != 1]>1 | 1*:`},

		// Nothing is left of what cannot be reached.
		{"?{a.end,b.end}.!c.!d", "0: ?a>1 ?b>1 | 1*:"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.dump, dump(compiled(t, tt.source)), tt.source)
	}
}

func TestCompileErrors(t *testing.T) {
	tests := []struct {
		source, message string
		code            ErrorCode
	}{
		{"X", "1:1: expected a variable of an enclosing rec, found 'X'", CodeUnboundVariable},
		{"!a.b", "1:4: expected a variable of an enclosing rec, found 'b'", CodeUnboundVariable},
		{"rec X.!a.x", "1:10: expected a variable of an enclosing rec, found 'x'", CodeUnboundVariable},
		{"!{a.rec X.!b.X, c.X}", "1:19: expected a variable of an enclosing rec, found 'X'", CodeUnboundVariable},
		{"?{a.rec X.!b.X}.X", "1:17: expected a variable of an enclosing rec, found 'X'", CodeUnboundVariable},
		{"rec X.X", "1:7: expected an event before the loop comes back to 'X', found 'X' at once", CodeUnguardedRecursion},
		{"!a.rec X.X", "1:10: expected an event before the loop comes back to 'X', found 'X' at once", CodeUnguardedRecursion},
		{"rec X.!a.rec Y.Y", "1:16: expected an event before the loop comes back to 'Y', found 'Y' at once", CodeUnguardedRecursion},
		{"rec X.rec Y.rec Z.X", "1:19: expected an event before the loop comes back to 'X', found 'X' at once", CodeUnguardedRecursion},
		{"?{a.rec X.X, b}", "1:11: expected an event before the loop comes back to 'X', found 'X' at once", CodeUnguardedRecursion},
		{"rec X.X.!a", "1:7: expected an event before the loop comes back to 'X', found 'X' at once", CodeUnguardedRecursion},
		{"rec X.!a.X.!b", "1:12: expected nothing behind 'X', which loops back, found '!b'", CodeAfterVariable},
		{"rec X.!{a.X.X, c}", "1:13: expected nothing behind 'X', which loops back, found 'X'", CodeAfterVariable},
		{"rec X.!a.X.end.rec Y.?{b.Y}", "1:22: expected nothing behind 'X', which loops back, found '?{'", CodeAfterVariable},
		{"end.!a", "1:5: expected nothing behind 'end', found '!a'", CodeAfterEnd},
		{"!a.end.end.!b", "1:12: expected nothing behind 'end', found '!b'", CodeAfterEnd},
		{"rec X.!a.end.X", "1:14: expected nothing behind 'end', found 'X'", CodeAfterEnd},
		{"!{a.end.!b, c}", "1:9: expected nothing behind 'end', found '!b'", CodeAfterEnd},
		{"end.rec X.end.rec Y.!a", "1:21: expected nothing behind 'end', found '!a'", CodeAfterEnd},
		{"!{a.\n  Y, b.Z}", "2:3: expected a variable of an enclosing rec, found 'Y'", CodeUnboundVariable},
	}
	for _, tt := range tests {
		p, err := Parse(tt.source)
		require.NoError(t, err, tt.source)
		a, warnings, err := Compile(p)
		require.EqualError(t, err, tt.message, tt.source)
		require.Equal(t, tt.code, err.(*Error).Code, tt.source)
		require.Nil(t, a)
		require.Nil(t, warnings)
	}
}

// TestHarmlessContinuations has nothing to complain about: where nothing could
// happen, nothing is lost.
func TestHarmlessContinuations(t *testing.T) {
	for _, source := range []string{
		"!a.end.end", "rec X.!{a.X.end,b}", "rec X.!{a.X,b}.end", "?{a.end,b.end}.end", "rec X.!{a.X.end.end,b.end}.end.end",
	} {
		p, err := Parse(source)
		require.NoError(t, err, source)
		_, warnings, err := Compile(p)
		require.NoError(t, err, source)
		require.Empty(t, warnings, source)
	}
}

func TestCompileWarnings(t *testing.T) {
	const forever = "this protocol can never stop: no terminal state can be reached"
	const stuck = "a run that comes here can never stop: no terminal state can be reached"
	const skipped = "nothing comes here: every branch of the choice before it loops back or ends"
	tests := []struct {
		source   string
		warnings []string
		codes    []WarningCode
	}{
		{"!a.?b", nil, nil},
		{"rec X.!{a.X,b}", nil, nil},
		{"rec X.!a", []string{"1:5: nothing loops back to 'X'"}, []WarningCode{WarnUnusedVariable}},
		{
			"rec X.!a.rec X.!{b.X,c}",
			[]string{"1:5: nothing loops back to 'X'", "1:14: this 'X' hides the one of an enclosing rec"},
			[]WarningCode{WarnUnusedVariable, WarnShadowedVariable},
		},
		{"rec X.!{a.X,b}.?c", nil, nil},
		{"!{a.rec X.!{b.X,c},d.rec X.!{e.X,f}}", nil, nil},
		{"rec X.!a.X", []string{"1:7: " + forever}, []WarningCode{WarnNoTerminal}},
		{"!a.\nrec X.!b.X", []string{"1:1: " + forever}, []WarningCode{WarnNoTerminal}},
		{"!{a.\nrec X.!b.X,c}", []string{"2:7: " + stuck}, []WarningCode{WarnNoTerminal}},
		{"!{a.rec X.!b.?d.X,c}", []string{"1:11: " + stuck}, []WarningCode{WarnNoTerminal}},
		{"!{a.rec X.!b.X,b.rec X.!b.X,c}", []string{"1:11: " + stuck, "1:24: " + stuck}, []WarningCode{WarnNoTerminal, WarnNoTerminal}},
		{"?{Yes.!Go.end,No.end}.!Done", []string{"1:23: " + skipped}, []WarningCode{WarnUnreachable}},
		{
			"rec X.!{a.X,b.X}.\n?{c,d}",
			[]string{"1:7: " + forever, "2:1: " + skipped},
			[]WarningCode{WarnNoTerminal, WarnUnreachable},
		},
		{"?{a.?{b.end,c.end},d.end}.!e", []string{"1:27: " + skipped}, []WarningCode{WarnUnreachable}},
		{"?{a.?{b.end,c},d.end}.!e", nil, nil},
		{"?{a.?{b.end,c.end}.!x,d.end}.!e", []string{"1:20: " + skipped}, []WarningCode{WarnUnreachable}},
		{
			"!a(x == p)",
			[]string{"1:9: the register 'p' is compared and never bound, so this guard never holds"},
			[]WarningCode{WarnUnboundRegister},
		},
		{"!a(x == p).!b(x as p)", nil, nil},
		{
			"!a(x == p, y != q, z == p).!b(x as r)",
			[]string{
				"1:9: the register 'p' is compared and never bound, so this guard never holds",
				"1:17: the register 'q' is compared and never bound, so this guard never holds",
			},
			[]WarningCode{WarnUnboundRegister, WarnUnboundRegister},
		},
		{`!a(x == "p")`, nil, nil},
	}
	for _, tt := range tests {
		p, err := Parse(tt.source)
		require.NoError(t, err, tt.source)
		_, warnings, err := Compile(p)
		require.NoError(t, err, tt.source)
		var got []string
		var codes []WarningCode
		for _, w := range warnings {
			got, codes = append(got, w.String()), append(codes, w.Code)
			line, column := position(tt.source, w.Offset)
			require.Equal(t, [2]int{line, column}, [2]int{w.Line, w.Column}, tt.source)
		}
		require.Equal(t, tt.warnings, got, tt.source)
		require.Equal(t, tt.codes, codes, tt.source)
	}
}

func TestWarningDetail(t *testing.T) {
	p, err := Parse("!a.\nrec X.!b")
	require.NoError(t, err)
	_, warnings, err := Compile(p)
	require.NoError(t, err)
	require.Equal(t, "2:5: nothing loops back to 'X'\nrec X.!b\n    ^", warnings[0].Detail())
}

// TestHash is the same for protocols that do the same, and another for those
// that do not.
func TestHash(t *testing.T) {
	same := [][]string{
		{"!a.?b", " !a .\n?b.end", "rec Unused.!a.?b"},
		{"rec X.!{a.X,b}", "rec Y.!{b,a.Y}"},
		{`!a(x as p, y == q, y != 1.0)`, `!a(y == q, y != 1, x as p)`},
		{`!a(x == "q")`, `!a(x == 'q')`},
		{"!a.?b.?c"},
		{"!a.!b"},
		{"?a.?b"},
		{"!a"},
		{"!a(x as p)"},
		{"!a(x == p)"},
		{"!a(x != p)"},
		{"!a(x == q)"},
		{`!a(x == "p")`},
		{"!a(x == 1)"},
		{`!a(x == "1")`},
		{"!a(y as p)"},
		{"rec X.!a.X"},
		{"end"},
		{"!{a,b.end}.!c"},
		{"!{a,b}.!c"},
	}
	seen := map[string]string{}
	for _, group := range same {
		hash := compiled(t, group[0]).Hash()
		require.Regexp(t, "^sha256:[0-9a-f]{64}$", hash)
		for _, source := range group {
			require.Equal(t, hash, compiled(t, source).Hash(), source)
		}
		require.Empty(t, seen[hash], group[0])
		seen[hash] = group[0]
	}
}

// TestCompileSizes has as many states as positions, and memory in proportion.
func TestCompileSizes(t *testing.T) {
	choices := func(n int) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf("!{a%d,b%d}", i, i))
		}
		return strings.Join(parts, ".")
	}
	steps := func(n int) string {
		var parts []string
		for i := range n {
			parts = append(parts, fmt.Sprintf("!step%d(x as p)", i))
		}
		return strings.Join(parts, ".")
	}
	require.Equal(t, 65, compiled(t, choices(64)).States())
	require.Equal(t, 10_001, compiled(t, steps(10_000)).States())

	// Ten times the length takes ten times the memory, give or take a doubling
	// of some slice.
	for name, source := range map[string]func(int) string{"choices": choices, "steps": steps} {
		short, long := compileCost(t, source(1000)), compileCost(t, source(10_000))
		require.Less(t, float64(long), 15*float64(short), "%s: %d bytes for 1,000, %d for 10,000", name, short, long)
		require.Less(t, long, uint64(20<<20), name)
	}
}

// compileCost returns the bytes that parsing and compiling allocate.
func compileCost(t *testing.T, source string) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	compiled(t, source)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
