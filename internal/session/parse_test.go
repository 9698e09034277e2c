// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// parseTests are protocols, their canonical spelling and their dump.
var parseTests = []struct{ source, printed, dump string }{
	// atoms
	{"end", "end", "seq(end)"},
	{"!a", "!a", "seq(!a)"},
	{"?a", "?a", "seq(?a)"},
	{"!a.?b", "!a.?b", "seq(!a ?b)"},
	{"!a.?b.end", "!a.?b.end", "seq(!a ?b end)"},
	{"X", "X", "seq(var X)"},
	{"X.Y.end", "X.Y.end", "seq(var X var Y end)"},
	{"rec X.!a.X", "rec X.!a.X", "seq(rec X seq(!a var X))"},
	{"!a.rec X.!b.X", "!a.rec X.!b.X", "seq(!a rec X seq(!b var X))"},
	{"rec X.rec Y.!a.X", "rec X.rec Y.!a.X", "seq(rec X seq(rec Y seq(!a var X)))"},

	// choices
	{"!{a}", "!{a}", "seq(!{a})"},
	{"!{a,b}", "!{a, b}", "seq(!{a b})"},
	{"?{a.!b,c}.?d", "?{a.!b, c}.?d", "seq(?{a:seq(!b) c} ?d)"},
	{"!{a.!{b.!{c}}}", "!{a.!{b.!{c}}}", "seq(!{a:seq(!{b:seq(!{c})})})"},
	{"!{a.rec X.!b.X,c}.end", "!{a.rec X.!b.X, c}.end", "seq(!{a:seq(rec X seq(!b var X)) c} end)"},

	// names
	{"!end.?rec", "!end.?rec", "seq(!end ?rec)"},
	{"!{end.end,rec.rec X.end}", "!{end.end, rec.rec X.end}", "seq(!{end:seq(end) rec:seq(rec X seq(end))})"},
	{"recX", "recX", "seq(var recX)"},
	{"end1", "end1", "seq(var end1)"},
	{"!-.?--.!_.?1", "!-.?--.!_.?1", "seq(!- ?-- !_ ?1)"},
	{"!日本語.?½.!Ⅷ.?x²", "!日本語.?½.!Ⅷ.?x²", "seq(!日本語 ?½ !Ⅷ ?x²)"},
	{"!mcp:fs:read.?{a:b,a:c}", "!mcp:fs:read.?{a:b, a:c}", "seq(!mcp:fs:read ?{a:b a:c})"},
	{"rec true.!null.true", "rec true.!null.true", "seq(rec true seq(!null var true))"},

	// white space
	{" \t\r\n! \t\r\na\n.\r?\t{ b , c }\n", "!a.?{b, c}", "seq(!a ?{b c})"},
	{"rec\r\nX\t.! a . X", "rec X.!a.X", "seq(rec X seq(!a var X))"},
	{"!a ( x  as\tp )", "!a(x as p)", "seq(!a[x as p])"},

	// clauses
	{"!a(x as p)", "!a(x as p)", "seq(!a[x as p])"},
	{"!a(x==p,y!=q,z as r)", "!a(x == p, y != q, z as r)", "seq(!a[x == p, y != q, z as r])"},
	{"?{a(x as p).!b,c(x==p)}", "?{a(x as p).!b, c(x == p)}", "seq(?{a[x as p]:seq(!b) c[x == p]})"},
	{"!a(as as as)", "!a(as as as)", "seq(!a[as as as])"},
	{"!a(true == true, end != rec)", "!a(true == true, end != rec)", "seq(!a[true == true, end != rec])"},
	{"!a(file-path as u-id2)", "!a(file-path as u-id2)", "seq(!a[file-path as u-id2])"},
	{"!a(città == _x)", "!a(città == _x)", "seq(!a[città == _x])"},
	{"!a(x == null, x == false)", "!a(x == null, x == false)", "seq(!a[x == null, x == false])"},
	{"!a(x == truely)", "!a(x == truely)", "seq(!a[x == truely])"},

	// numbers
	{"!a(x == 1)", "!a(x == 1)", "seq(!a[x == 1])"},
	{"!a(x==-1.50)", "!a(x == -1.5)", "seq(!a[x == -1.5])"},
	{"!a(x == 1E+2)", "!a(x == 100)", "seq(!a[x == 100])"},
	{"!a(x == -0)", "!a(x == 0)", "seq(!a[x == 0])"},
	{"!a(x == 123456789012345678901234567890)", "!a(x == 123456789012345678901234567890)", "seq(!a[x == 123456789012345678901234567890])"},
	{"!a(x == 1e999)", "!a(x == 1e999)", "seq(!a[x == 1e999])"},

	// strings
	{`!a(x == "p")`, `!a(x == "p")`, `seq(!a[x == "p"])`},
	{`!a(x == 'p')`, `!a(x == "p")`, `seq(!a[x == "p"])`},
	{`!a(x == '')`, `!a(x == "")`, `seq(!a[x == ""])`},
	{`!a(x == 'say "hi" and it\'s')`, `!a(x == "say \"hi\" and it's")`, `seq(!a[x == "say \"hi\" and it's"])`},
	{`!a(x == "a, b) . !x")`, `!a(x == "a, b) . !x")`, `seq(!a[x == "a, b) . !x"])`},
	{`!a(x == "\u65e5\u672c\/\n\t\u0001")`, `!a(x == "日本/\n\t\u0001")`, `seq(!a[x == "日本/\n\t\u0001"])`},
	{`!a(x == "\ud83d\ude00")`, `!a(x == "😀")`, `seq(!a[x == "😀"])`},
	{`!a(x == "\ud83d", y == "\ude00\ud83d!")`, `!a(x == "\ud83d", y == "\ude00\ud83d!")`, `seq(!a[x == "\ud83d", y == "\ude00\ud83d!"])`},
}

func TestParse(t *testing.T) {
	for _, tt := range parseTests {
		p, err := Parse(tt.source)
		require.NoError(t, err, tt.source)
		require.Equal(t, tt.printed, p.String(), tt.source)
		require.Equal(t, tt.dump, p.Dump(), tt.source)
		require.Equal(t, tt.source, p.Source())
	}
}

// TestParsePrintRoundTrip parses what String prints and gets the same tree: for
// the table, the measured protocols and random ones.
func TestParsePrintRoundTrip(t *testing.T) {
	for _, tt := range parseTests {
		roundTrip(t, tt.source)
	}
	eachMeasuredCase(t, func(t *testing.T, c *measuredCase) {
		if _, err := Parse(*c.Protocol); err == nil {
			roundTrip(t, *c.Protocol)
		}
	})
	for seed := range 2000 {
		r := &maker{Rand: rand.New(rand.NewPCG(uint64(seed), 3)), size: 20, clauses: true}
		roundTrip(t, text(r.terms(nil, nil, 0)))
	}
}

// roundTrip requires that a protocol survives printing, and that nothing that a
// printed protocol means got lost.
func roundTrip(t testing.TB, source string) {
	t.Helper()
	p, err := Parse(source)
	require.NoError(t, err, source)
	again, err := Parse(p.String())
	require.NoError(t, err, "%s printed as %s", source, p)
	require.Equal(t, p.Dump(), again.Dump(), source)
	require.Equal(t, p.String(), again.String(), source)
	a, _, err := Compile(p)
	b, _, errAgain := Compile(again)
	require.Equal(t, err == nil, errAgain == nil, source)
	if err == nil {
		require.Equal(t, a.Hash(), b.Hash(), source)
	}
}

// parseErrorTests are errors as "line:column: expected …, found …" and as codes.
var parseErrorTests = []struct {
	source, message string
	code            ErrorCode
}{
	{"", "1:1: expected '!', '?', 'rec', 'end' or a variable, found the end", CodeSyntax},
	{" \n\t", "2:2: expected '!', '?', 'rec', 'end' or a variable, found the end", CodeSyntax},
	{".", "1:1: expected '!', '?', 'rec', 'end' or a variable, found '.'", CodeSyntax},
	{"!a.", "1:4: expected '!', '?', 'rec', 'end' or a variable, found the end", CodeSyntax},
	{"!a.\n  .", "2:3: expected '!', '?', 'rec', 'end' or a variable, found '.'", CodeSyntax},
	{"!a end", "1:4: expected '(', '.' or the end, found 'end'", CodeSyntax},
	{"!a(x as p) end", "1:12: expected '.' or the end, found 'end'", CodeSyntax},
	{"!a}", "1:3: expected '(', '.' or the end, found '}'", CodeSyntax},
	{"end}", "1:4: expected '.' or the end, found '}'", CodeSyntax},
	{"!{a}}", "1:5: expected '.' or the end, found '}'", CodeSyntax},
	{"!", "1:2: expected a label or '{', found the end", CodeSyntax},
	{"!?a", "1:2: expected a label or '{', found '?'", CodeSyntax},
	{"!{}", "1:3: expected a label, found '}'", CodeSyntax},
	{"!{a,}", "1:5: expected a label, found '}'", CodeSyntax},
	{"!{!a}", "1:3: expected a label, found '!'", CodeSyntax},
	{"!{a", "1:4: expected '(', '.', ',' or '}', found the end", CodeSyntax},
	{"!{a.!b(x as p)", "1:15: expected '.', ',' or '}', found the end", CodeSyntax},
	{"!{a.!b", "1:7: expected '(', '.', ',' or '}', found the end", CodeSyntax},
	{"!{a|b}", "1:4: expected '(', '.', ',' or '}', found '|'", CodeSyntax},
	{"{a,b}", "1:1: expected '!', '?', 'rec', 'end' or a variable, found '{'", CodeSyntax},
	{"rec", "1:4: expected a variable to name the loop, found the end", CodeSyntax},
	{"rec .!a", "1:5: expected a variable to name the loop, found '.'", CodeSyntax},
	{"rec X", "1:6: expected '.' and the body of the loop, found the end", CodeSyntax},
	{"rec X !a", "1:7: expected '.' and the body of the loop, found '!'", CodeSyntax},
	{"rec X.", "1:7: expected '!', '?', 'rec', 'end' or a variable, found the end", CodeSyntax},
	{"rec a:b.!a", "1:6: expected '.' and the body of the loop, found ':'", CodeSyntax},
	{"rec end.!a", "1:5: expected a variable to name the loop, found the keyword 'end'", CodeReservedName},
	{"rec end", "1:8: expected '.' and the body of the loop, found the end", CodeSyntax},
	{"!a.rec rec ", "1:12: expected '.' and the body of the loop, found the end", CodeSyntax},
	{"rec rec.!a", "1:5: expected a variable to name the loop, found the keyword 'rec'", CodeReservedName},

	// characters
	{"!a\u00a0.end", "1:3: expected '(', '.' or the end, found '\\u00a0'", CodeSyntax},
	{"!a\f.end", "1:3: expected '(', '.' or the end, found '\\f'", CodeSyntax},
	{"\ufeff!a", "1:1: expected '!', '?', 'rec', 'end' or a variable, found '\\ufeff'", CodeSyntax},
	{"!日本。end", "1:4: expected '(', '.' or the end, found '。'", CodeSyntax},
	{"!a\xff", "1:3: expected '(', '.' or the end, found the byte 0xFF, which is not UTF-8", CodeSyntax},
	{"!a\ufffd", "1:3: expected '(', '.' or the end, found '\ufffd'", CodeSyntax},
	{"!a\r.\r\n^", "2:1: expected '!', '?', 'rec', 'end' or a variable, found '^'", CodeSyntax},

	// labels
	{"!a:", "1:4: expected the rest of the label behind ':', found the end", CodeSyntax},
	{"!a: b", "1:4: expected the rest of the label behind ':', found ' '", CodeSyntax},
	{"!a::b", "1:4: expected the rest of the label behind ':', found ':'", CodeSyntax},
	{"!:a", "1:2: expected a label or '{', found ':'", CodeSyntax},
	{"!{a,b,a}", "1:7: expected each label once in a choice, found 'a' again", CodeDuplicateLabel},
	{"!{a(x == 1),\n a(x == 2)}", "2:2: expected each label once in a choice, found 'a' again", CodeDuplicateLabel},

	// clauses
	{"(x as p).!a", "1:1: expected '!', '?', 'rec', 'end' or a variable, found '('", CodeSyntax},
	{"!(x as p)a", "1:2: expected a label or '{', found '('", CodeSyntax},
	{"!a()", "1:4: expected a field, found ')'", CodeSyntax},
	{"!a(,x as p)", "1:4: expected a field, found ','", CodeSyntax},
	{"!a(1 as p)", "1:4: expected a field, found '1'", CodeSyntax},
	{"!a(-x as p)", "1:4: expected a field, found '-x'", CodeSyntax},
	{`!a("x" as p)`, `1:4: expected a field, found '"'`, CodeSyntax},
	{"!a(x)", "1:5: expected 'as', '==' or '!=', found ')'", CodeSyntax},
	{"!a(x > 1)", "1:6: expected 'as', '==' or '!=', found '>'", CodeSyntax},
	{"!a(x = 1)", "1:6: expected 'as', '==' or '!=', found '='", CodeSyntax},
	{"!a(x === 1)", "1:8: expected a register or a literal, found '='", CodeSyntax},
	{"!a(x as 1)", "1:9: expected a register, found '1'", CodeSyntax},
	{"!a(x as true)", "1:9: expected a register, found the literal 'true'", CodeReservedName},
	{"!a(x as 'p')", "1:9: expected a register, found '''", CodeSyntax},
	{"!a(x as", "1:8: expected a register, found the end", CodeSyntax},
	{"!a(x == )", "1:9: expected a register or a literal, found ')'", CodeSyntax},
	{"!a(x == [1])", "1:9: expected a register or a literal, found '['", CodeSyntax},
	{"!a(x == -)", "1:9: expected a register or a literal, found '-'", CodeSyntax},
	{"!a(x == -p)", "1:9: expected a register or a literal, found '-p'", CodeSyntax},
	{"!a(x as p", "1:10: expected ',' or ')', found the end", CodeSyntax},
	{"!a(x as p.end", "1:10: expected ',' or ')', found '.'", CodeSyntax},
	{"!a(x as p,)", "1:11: expected a field, found ')'", CodeSyntax},
	{"!{a,b}(x as p)", "1:7: expected '.' or the end, found '('", CodeSyntax},

	{"!a(x as p, y as p)", "1:17: expected each register bound once in a clause, found 'p' again", CodeDuplicateRegister},
	{"!a(x as p, y as q, y == p, x as q).end", "1:33: expected each register bound once in a clause, found 'q' again", CodeDuplicateRegister},
	{"!{a(x as p), b(x as p, x as p)}", "1:29: expected each register bound once in a clause, found 'p' again", CodeDuplicateRegister},

	// literals
	{"!a(x == 01)", "1:9: expected a JSON number, found '01'", CodeLiteral},
	{"!a(x == 1.)", "1:9: expected a JSON number, found '1.'", CodeLiteral},
	{"!a(x == 1e)", "1:9: expected a JSON number, found '1e'", CodeLiteral},
	{"!a(x == 1abc)", "1:9: expected a JSON number, found '1abc'", CodeLiteral},
	{"!a(x == 0x1F)", "1:9: expected a JSON number, found '0x1F'", CodeLiteral},
	{"!a(x == .5)", "1:9: expected a register or a literal, found '.'", CodeSyntax},
	{"!a(x == +5)", "1:9: expected a register or a literal, found '+'", CodeSyntax},
	{`!a(x == "p)`, "1:9: expected a JSON string, found a string without an end", CodeLiteral},
	{`!a(x == 'p")`, "1:9: expected a JSON string, found a string without an end", CodeLiteral},
	{`!a(x == "p\`, "1:9: expected a JSON string, found a string without an end", CodeLiteral},
	{`!a(x == "\x")`, `1:10: expected a JSON string, found a string with the unknown escape \x`, CodeLiteral},
	{`!a(x == "\'")`, `1:10: expected a JSON string, found a string with the unknown escape \'`, CodeLiteral},
	{`!a(x == "ab\u12")`, `1:12: expected a JSON string, found a string with \u and not four hexadecimal digits`, CodeLiteral},
	{`!a(x == "\u+123")`, `1:10: expected a JSON string, found a string with \u and not four hexadecimal digits`, CodeLiteral},
	{"!a(x == \"é\n\")", `1:11: expected a JSON string, found a string with the unescaped control character '\n'`, CodeLiteral},
	{"!a(x == \"\xff\")", `1:10: expected a JSON string, found a string with the byte 0xFF, which is not UTF-8`, CodeLiteral},
}

func TestParseErrors(t *testing.T) {
	for _, tt := range parseErrorTests {
		_, err := Parse(tt.source)
		require.Error(t, err, "%q", tt.source)
		require.Equal(t, tt.message, err.Error(), "%q", tt.source)
		e := err.(*Error)
		require.Equal(t, tt.code, e.Code, "%q", tt.source)
		line, column := position(tt.source, e.Offset)
		require.Equal(t, fmt.Sprint(e.Line, e.Column), fmt.Sprint(line, column), "%q", tt.source)
		require.Equal(t, -1, e.Index)
	}
}

func TestErrorDetail(t *testing.T) {
	tests := []struct{ source, detail string }{
		{
			"!Search.\n?{Results, Nothing.}\n.!Book",
			"2:20: expected '!', '?', 'rec', 'end' or a variable, found '}'\n" +
				"?{Results, Nothing.}\n" +
				"                   ^",
		},
		{"!a.\n\t!予約。", "2:5: expected '(', '.' or the end, found '。'\n\t!予約。\n\t   ^"},
		{"!a.", "1:4: expected '!', '?', 'rec', 'end' or a variable, found the end\n!a.\n   ^"},
		{
			"!" + strings.Repeat("a", 80) + ".§." + strings.Repeat("b", 200),
			"1:83: expected '!', '?', 'rec', 'end' or a variable, found '§'\n" +
				"…" + strings.Repeat("a", 49) + ".§." + strings.Repeat("b", 48) + "…\n" +
				strings.Repeat(" ", 51) + "^",
		},
	}
	for _, tt := range tests {
		_, err := Parse(tt.source)
		require.Error(t, err)
		require.Equal(t, tt.detail, err.(*Error).Detail())
	}
}

// TestPositions requires exact places of every part of a tree.
func TestPositions(t *testing.T) {
	source := "rec X .\n !{ é ( x as p ), b.end }\r\n.?c( y\n== 'x' ).X"
	p, err := Parse(source)
	require.NoError(t, err)
	at := func(pos int, want string) {
		t.Helper()
		require.True(t, strings.HasPrefix(source[pos:], want), "%q stands at %d, not %q", source[pos:], pos, want)
	}
	l := p.root.atoms[0].(*loop)
	at(l.place(), "rec")
	at(l.namePos, "X .")
	first := l.body.atoms[0].(*choice)
	at(first.place(), "!{")
	at(first.branches[0].pos, "é")
	at(first.branches[0].clause[0].pos, "x as")
	at(first.branches[0].clause[0].operand, "p )")
	at(first.branches[1].pos, "b.")
	at(first.branches[1].body.atoms[0].place(), "end")
	second := l.body.atoms[1].(*choice)
	at(second.place(), "?c")
	at(second.branches[0].clause[0].pos, "y\n")
	at(second.branches[0].clause[0].operand, "'x'")
	at(l.body.atoms[2].place(), "X")
}

// TestNestingLimit lowers the limit so that it can be read.
func TestNestingLimit(t *testing.T) {
	_, err := parse("!{a.rec X.!b.X}", 2)
	require.NoError(t, err)
	_, err = parse("!{a.rec X.!{b.X}}", 2)
	require.EqualError(t, err, "1:12: expected at most 2 nested choices and loops, found one more")
	_, err = parse("!{a.rec X.rec Y.!b}", 2)
	require.EqualError(t, err, "1:11: expected at most 2 nested choices and loops, found one more")
	require.Equal(t, CodeTooDeep, err.(*Error).Code)

	// Length is not depth.
	_, err = parse(strings.Repeat("!{a}.", 1000)+"end", 1)
	require.NoError(t, err)
}

// TestHostileInput is over at once, with a place.
func TestHostileInput(t *testing.T) {
	tests := []struct {
		name, source string
		code         ErrorCode
		offset       int
	}{
		{"braces", strings.Repeat("!{a.", 100_000), CodeTooDeep, 4*maxNesting + 1},
		{"open braces", strings.Repeat("{", 100_000), CodeSyntax, 0},
		{"closed braces", strings.Repeat("!{a.", 100_000) + "!b" + strings.Repeat("}", 100_000), CodeTooDeep, 4*maxNesting + 1},
		{"rec", strings.Repeat("rec", 350_000), CodeUnboundVariable, 0},
		{"rec rec", strings.Repeat("rec ", 260_000), CodeSyntax, 8},
		{"rec rec.", strings.Repeat("rec rec.", 130_000), CodeReservedName, 4},
		{"registers", "!a(x as p" + strings.Repeat(", x as p", 100_000), CodeDuplicateRegister, 16},
		{"rec X.", strings.Repeat("rec X.", 170_000) + "!a", CodeTooDeep, 6 * maxNesting},
		{"parentheses", "!a" + strings.Repeat("(", 100_000), CodeSyntax, 3},
		{"dots", strings.Repeat(".", 1_000_000), CodeSyntax, 0},
		{"ends", strings.Repeat("end.", 250_000), CodeSyntax, 1_000_000},
		{"ends and more", strings.Repeat("end.", 250_000) + "!a", CodeAfterEnd, 1_000_000},
		{"variables", strings.Repeat("X.", 500_000) + "X", CodeUnboundVariable, 0},
		{"too long", strings.Repeat(" ", maxSource+1), CodeTooLong, maxSource},
	}
	for _, tt := range tests {
		p, err := Parse(tt.source)
		if err == nil {
			_, _, err = Compile(p)
		}
		require.Error(t, err, tt.name)
		e := err.(*Error)
		require.Equal(t, tt.code, e.Code, "%s: %v", tt.name, e)
		require.Equal(t, tt.offset, e.Offset, "%s: %v", tt.name, e)
		require.Less(t, len(e.Detail()), 1000, tt.name)
	}
}

// TestLongProtocols are not hostile, only long, and take no more than their
// length.
func TestLongProtocols(t *testing.T) {
	var loops, jumps strings.Builder
	for i := range maxNesting - 1 {
		fmt.Fprintf(&loops, "rec X%d.", i)
	}
	for i := range 100_000 {
		fmt.Fprintf(&jumps, ",b%d.X0", i)
	}
	for name, source := range map[string]string{
		"ends":      strings.Repeat("end.", 250_000) + "end",
		"more ends": "!{a" + strings.Repeat(".end", 100_000) + "}" + strings.Repeat(".end", 100_000),
		"jumps":     loops.String() + "!{a" + jumps.String() + "}",
		"doubts":    "!a" + strings.Repeat(".!{b.rec X.!d,c}", 50_000),
	} {
		p, err := Parse(source)
		require.NoError(t, err, name)
		_, warnings, err := Compile(p)
		require.NoError(t, err, name)
		if name == "doubts" {
			require.Len(t, warnings, 50_000)
		}
	}
}

// TestDeepestProtocol goes through everything that recurses.
func TestDeepestProtocol(t *testing.T) {
	source := strings.Repeat("!{a.rec X.", maxNesting/2) + "!b.X" + strings.Repeat("}", maxNesting/2)
	roundTrip(t, source)
	require.Equal(t, maxNesting/2+1, compiled(t, source).States())
}
