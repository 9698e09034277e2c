// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package referencetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A maker makes inputs that are compared with the reference. Most are valid,
// so that they reach the rules. The others may be wrong anywhere.
type maker struct {
	*rand.Rand
	wild bool // may be wrong
}

// one is true once in n times.
func (m maker) one(n int) bool { return m.IntN(n) == 0 }

// wrongOne is true once in n times where something may be wrong.
func (m maker) wrongOne(n int) bool { return m.wild && m.one(n) }

func oneOf[T any](m maker, choices ...T) T { return choices[m.IntN(len(choices))] }

// runes makes a string of at most n of the given characters.
func (m maker) runes(n int, alphabet string) string {
	all := []rune(alphabet)
	made := make([]rune, m.IntN(n+1))
	for i := range made {
		made[i] = all[m.IntN(len(all))]
	}
	return string(made)
}

// mutate breaks a text in one place.
func (m maker) mutate(text string) string {
	all := []rune(text)
	if len(all) == 0 {
		return oneOf(m, " ", "\n", "{", "-", "0")
	}
	at := m.IntN(len(all))
	switch m.IntN(5) {
	case 0:
		return string(append(all[:at:at], all[at+1:]...))
	case 1:
		return string(all[:at])
	case 2:
		all[at] = oneOf(m, []rune("\"\\,:{}[]'-0 \n\t#&*!|>%@\u0000\u0085é😀")...)
		return string(all)
	case 3:
		end := at + m.IntN(len(all)-at) + 1
		return string(all[:end]) + string(all[at:])
	default:
		insert := oneOf(m, "\"", "\\", ",", ":", ": ", "{", "}", "[", "]", "'", "- ", "0", " ", "\n", "\t", "\r", " #", "&a ", "*a", "!x ", "|", ">", "%", "?", "? ", "<<", "=", "\u00a0", "\u2028", "\ufeff", "\\u", "...", "---\n")
		return string(all[:at]) + insert + string(all[at:])
	}
}

// text makes the text of a string value.
func (m maker) text() string {
	switch m.IntN(16) {
	case 0, 1, 2, 3:
		return oneOf(m, "found", "NOT_FOUND", "shipped", "order:7", "shop://orders", "42", "1.5", "true", "null", "id", "7")
	case 4:
		return ""
	case 5:
		return oneOf(m, "yes", "No", "~", "2026-08-21", "0x1F", "1:30", "<<", "=", "-", "*a", "&a", "!x", "%", "@", "`", "a: b", "a #b", " a", "a ", "{}", "[]", "|", ">", "''", "\"")
	case 6, 7:
		return m.runes(12, "aZ09 _-:/.,{}[]\"'\\é日😀\u0301\u00a0\u0085\u2028\ufeff\n\t\r\b\f\u0000\u001f\u007f\uffff")
	case 8:
		return strings.Repeat(oneOf(m, "a", "é", "😀"), m.IntN(40))
	default:
		return m.runes(10, "abcdefghijklmnopqrstuvwxyz0123456789 _-")
	}
}

// number makes the text of a JSON number, of which some are none.
func (m maker) number() string {
	if m.wrongOne(8) {
		return oneOf(m, "01", "1.", "+1", ".5", "1e", "0x1F", "-", "1_000", "1e+", "--1", "Infinity", "-Infinity", "NaN", "-NaN", "inf", "1e400", "-1e400", "1E999")
	}
	switch m.IntN(8) {
	case 0, 1:
		return strconv.Itoa(m.IntN(2000) - 1000)
	case 2:
		return strconv.FormatFloat(math.Float64frombits(m.Uint64()), oneOf(m, byte('e'), 'g', 'E'), -1, 64)
	case 3:
		return strconv.FormatFloat((m.Float64()-0.5)*math.Pow(10, float64(m.IntN(40)-20)), 'f', m.IntN(20), 64)
	case 4, 5:
		return oneOf(m, "0", "-0", "0.0", "-0.0", "1.0", "1.50", "1e5", "1E+5", "1e-5", "0.0001", "0.00001", "1e15", "1e16", "9999999999999998.0", "1e22", "1e23", "5e-324", "2e-324", "1.7976931348623157e308", "9007199254740993", "9007199254740993.0")
	case 6:
		return oneOf(m, "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "123456789012345678901234567890", "100000000000000000000000", "4294967296")
	default:
		digits := m.IntN(40) + 1
		if m.one(100) {
			digits = 4299 + m.IntN(3)
		}
		return strings.TrimLeft(m.runes(1, "-")+"1"+m.digits(digits-1), " ")
	}
}

func (m maker) digits(n int) string {
	made := make([]byte, n)
	for i := range made {
		made[i] = byte('0' + m.IntN(10))
	}
	return string(made)
}

// json makes the text of a JSON value.
func (m maker) json(depth int) string {
	switch n := m.IntN(14); {
	case n < 2:
		if m.wrongOne(10) {
			return oneOf(m, "nul", "True", "tru", "Null", "'a'", "")
		}
		return oneOf(m, "null", "true", "false", "null")
	case n < 4:
		return m.number()
	case n < 8:
		return m.jsonString(m.text())
	case n < 9:
		return oneOf(m, `""`, "{}", "[]", "null", "[[]]", `{"a":null}`, "0", "false", `[null]`, `" "`)
	case depth == 0:
		return `"leaf"`
	case n < 11:
		b := new(strings.Builder)
		b.WriteString("[" + m.space())
		for i, count := 0, m.IntN(4); i < count; i++ {
			if i > 0 {
				b.WriteString("," + m.space())
			}
			b.WriteString(m.json(depth-1) + m.space())
		}
		return b.String() + "]"
	default:
		var fields []field
		for range m.IntN(5) {
			key := oneOf(m, "id", "name", "status", "items", "error", "a", "b", "", "é", "😀", "\uffff")
			if m.one(8) {
				key = m.text()
			}
			fields = append(fields, field{key: key, json: m.json(depth - 1)})
		}
		return m.object(fields)
	}
}

// space makes white space of JSON, mostly none.
func (m maker) space() string {
	if !m.one(4) {
		return ""
	}
	if m.wrongOne(150) {
		return oneOf(m, "\u00a0", "\f", "\v", "//", "#", "\u2028")
	}
	return m.runes(3, " \t\r\n")
}

// jsonString writes a string, with escapes where they must be and where they may.
func (m maker) jsonString(text string) string {
	b := new(strings.Builder)
	b.WriteByte('"')
	escapes := m.one(4)
	for _, r := range text {
		switch short := strings.IndexRune("\"\\/\b\f\n\r\t", r); {
		case short >= 0 && (short != 2 || m.one(20)) && !(escapes && m.one(4)):
			b.WriteByte('\\')
			b.WriteByte("\"\\/bfnrt"[short])
		case r < 0x20 || r == '"' || r == '\\' || escapes && m.one(3):
			if m.wrongOne(200) {
				b.WriteRune(r) // perhaps one that must be escaped
				continue
			}
			form := oneOf(m, `\u%04x`, `\u%04X`)
			if r > 0xFFFF {
				fmt.Fprintf(b, form+form, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
			} else {
				fmt.Fprintf(b, form, r)
			}
		default:
			b.WriteRune(r)
		}
	}
	if m.wrongOne(800) {
		b.WriteString(oneOf(m, `\ud800`, `\udc00`, `\ud83d\u0041`, `\udc00\ud800`, `\uD83D\uD83D\uDE00`))
	}
	if m.wrongOne(300) {
		b.WriteString(oneOf(m, `\x41`, `\u12`, `\u12G4`, `\'`, `\`, `\U0001F600`, "\n", "\x01"))
	}
	b.WriteByte('"')
	return b.String()
}

// A field is a key with its value in JSON, and perhaps the YAML forms that it has besides.
type field struct {
	key, json string
	yaml      []string // plain forms, on one line
	tree      bool     // any YAML will do
}

// object writes fields as a JSON object.
func (m maker) object(fields []field) string {
	b := new(strings.Builder)
	b.WriteString("{" + m.space())
	for i, f := range fields {
		if i > 0 {
			b.WriteString("," + m.space())
		}
		b.WriteString(m.jsonString(f.key) + m.space() + ":" + m.space() + f.json + m.space())
	}
	if m.wrongOne(100) {
		b.WriteByte(',')
	}
	return b.String() + "}"
}

// mapping writes fields as a YAML mapping in block style.
func (m maker) mapping(fields []field) string {
	b := new(strings.Builder)
	if m.wrongOne(200) {
		b.WriteString("%YAML " + oneOf(m, "1.", "001.", "1.0") + m.digits(4297+m.IntN(6)) + "\n---\n")
	} else if m.wrongOne(20) {
		b.WriteString(oneOf(m, "%YAML 2.0\n---\n", "...\n", "&a\n", "!!map\n", "%YAML 1.1\n", "!x\n"))
	} else if m.one(20) {
		b.WriteString(oneOf(m, "---\n", "--- # c\n", "%YAML 1.1\n---\n", "%YAML 1.2\n---\n", "# c\n", "\n", "\ufeff", "%TAG !e! tag:yaml.org,2002:\n---\n", "%FOO bar\n---\n", "--- !!map\n"))
	}
	for _, f := range fields {
		b.WriteString(m.yamlKey(f.key) + ":")
		switch {
		case f.tree && m.one(2):
			b.WriteString(m.yamlNode(2, 3))
		case len(f.yaml) > 0 && m.one(2):
			b.WriteString(" " + oneOf(m, f.yaml...) + "\n")
		default:
			b.WriteString(" " + strings.Map(func(r rune) rune {
				if r == '\n' || r == '\r' || r == '\t' {
					return ' ' // JSON's white space only separates: strings have it as escapes
				}
				return r
			}, f.json) + "\n")
		}
		if m.one(30) {
			b.WriteString(oneOf(m, "\n", "# comment\n", "   \n", " # comment\n"))
		}
	}
	if m.wrongOne(20) {
		b.WriteString(oneOf(m, "---\n", "--- {}\n", "...\n---\n", "- a\n", "a\n", "[a]: b\n", "{a: b}: c\n", "x: &a 1\ny: *a\n", "\t\n", "<<: 1\n", " a: b\n"))
	} else if m.one(40) {
		b.WriteString(oneOf(m, "...\n", "...\n# c\n", "<<: {tool_name: merged}\n", "<<: [{tool_name: a}, {note: b}]\n", "? a\n", "? a\n: b\n", "1: one\n", "~: x\n", "=: x\n", "2026-08-21: x\n"))
	}
	text := b.String()
	switch m.IntN(60) {
	case 0:
		text = strings.ReplaceAll(text, "\n", "\r\n")
	case 1:
		text = strings.ReplaceAll(text, "\n", "\r")
	case 2:
		text = strings.ReplaceAll(text, "\n", oneOf(m, "\u0085", "\u2028", "\u2029"))
	case 3:
		text = strings.TrimRight(text, "\n")
	}
	return text
}

func (m maker) yamlKey(key string) string {
	plain := key != "" && strings.Trim(key, "abcdefghijklmnopqrstuvwxyz_CSO") == ""
	switch {
	case !plain:
		return m.yamlDouble(key)
	case m.one(15):
		return "'" + key + "'"
	case m.one(15):
		return m.yamlDouble(key)
	case m.one(60):
		return "!!str " + key
	case m.one(60):
		return key + " "
	}
	return key
}

// yamlNode makes a value of a key or an entry, from the space before it to the end of its line.
func (m maker) yamlNode(indent, depth int) string {
	switch n := m.IntN(16); {
	case n < 7:
		return " " + m.yamlScalar() + m.comment() + "\n"
	case n < 9:
		return " " + m.yamlFlow(2) + m.comment() + "\n"
	case n < 10:
		return " " + m.yamlBlock(indent)
	case n < 11:
		return "\n"
	case depth == 0:
		return " leaf\n"
	}
	b := new(strings.Builder)
	if m.wrongOne(40) {
		b.WriteString(oneOf(m, " !!map", " !!seq", " &a", " !x", " !!str"))
	}
	b.WriteString(m.comment() + "\n")
	pad := strings.Repeat(" ", indent)
	if m.one(2) {
		if indent > 0 && m.one(4) {
			pad = pad[:len(pad)-2] // a sequence in a mapping need not be indented
		}
		for range m.IntN(3) + 1 {
			b.WriteString(pad + "-" + m.yamlNode(indent+2, depth-1))
		}
		return b.String()
	}
	for range m.IntN(3) + 1 {
		key := m.yamlKey(oneOf(m, "id", "name", "status", "items", "error", "a", "b", "é", ""))
		if m.wrongOne(8) {
			key = m.yamlScalar()
		}
		if m.one(30) {
			b.WriteString(pad + "?" + m.yamlNode(indent+2, depth-1) + pad + ":" + m.yamlNode(indent+2, depth-1))
			continue
		}
		b.WriteString(pad + key + ":" + m.yamlNode(indent+2, depth-1))
	}
	return b.String()
}

func (m maker) comment() string {
	switch {
	case m.wrongOne(20):
		return oneOf(m, "#x", "\t# c", "\t")
	case m.one(12):
		return oneOf(m, " # c", " #", "  # a: b", " ")
	}
	return ""
}

// yamlScalar makes a scalar on one line, mostly.
func (m maker) yamlScalar() string {
	if !m.wild {
		return m.validScalar()
	}
	switch m.IntN(14) {
	case 0:
		return oneOf(m, "yes", "Yes", "YES", "no", "No", "on", "Off", "true", "True", "TRUE", "false", "FALSE", "y", "n", "yEs", "~", "null", "Null", "NULL", "nUll", "", "none", "NOT_FOUND", "found")
	case 1:
		return oneOf(m, "0", "-0", "+1", "17", "017", "08", "0o17", "0x1F", "-0x1f", "0X1F", "0b101", "0b_", "0x_", "-0b1", "1_000", "_1", "1__0", "0_7", "1:30", "-1:30:01", "1:60", "01:30", "0:0", "1:2:3:4", "123456789012345678901234567890", "0xFFFFFFFFFFFFFFFFFF", "-")
	case 2:
		return oneOf(m, "1.", ".5", "-.5", "+.5", "1.5", "-1.5", "1e3", "1.0e3", "1.0e+3", "1.5E-7", "1:30.5", "-190:20:30.15", "1:60.5", ".inf", "-.INF", "+.Inf", ".iNf", ".nan", ".NaN", "-.nan", "1.0e+400", "1_0.5_0", "._5", ".", "..", "0.0", "-0.0", "1.e+3", "0x1.8", "12e03", "685.230_15e+03")
	case 3:
		return oneOf(m, "2026-08-21", "2026-8-1", "2026-08-21T12:00:00Z", "2026-08-21t12:00:00z", "2026-08-21 12:00:00", "2026-08-21  12:00:00.5 +02:00", "2026-8-1 1:02:03", "2026-08-21T12:00", "2026-13-01", "2026-02-30", "0000-01-01", "2026-08-21T24:00:00", "2026-08-21T12:00:00+24:00", "2026-08-21T12:00:00-23:59", "2026-08-21T12:00:00 -2", "2026-08-21T12:00:00.", "2026-08-21\t12:00:00", "9999-12-31T23:59:59.9999999Z", "02026-08-21", "2026-08-21T12:00:60Z")
	case 4:
		return oneOf(m, "!!str 1", "!!str", "!!int '5'", "!!int 0o17", "!!int x", "!!int", "!!int ' 7 '", "!!int \"\\x0b7\"", "!!int 1_0:5", "!!float 1", "!!float 1e3", "!!float inf", "!!float 0x1p3", "!!float nan", "!!float \"1 \"", "!!float 1:2", "!!bool yes", "!!bool x", "!!bool TRUE", "!!null x", "!!null", "!!timestamp 2026-8-1", "!!timestamp x", "!!timestamp 2026-8-1 1:2:3", "!!seq [a]", "!!seq a", "!!map {a: 1}", "!!map [a]", "!!str [a]", "!!str {=: a}", "!!int {=: 5, a: b}", "!!binary aGk=", "!!set {a}", "!!omap [a: 1]", "!!pairs [a: 1]", "!!python/none x", "!x y", "! x", "!<tag:yaml.org,2002:int> 5", "!<tag:yaml.org,2002:str>", "!!merge x", "!!value x", "!e!int 5", "!!in%74 5", "!<!x> y")
	case 5:
		return oneOf(m, "&a 1", "*a", "&a", "& a", "<<", "=", "-", "- a", "?", "? a", ":", ": a", "a: b", "a:b", "a :b", "a#b", "a #b", "#a", "@a", "`a`", "%a", "a%", ",a", "a,b", "[a", "a]", "{a", "a}", "'a", "\"a", "|", ">", "|a", "--- a", "...", "a ... b", "---", "a\u0085b", "a\u2028b", "\u00a0a", "\ufeffa", "a\tb", "a\u0000", "\u007f", "-a", "?a", ":a", "!", "*", "&")
	case 6:
		if m.one(20) {
			return "1" + strings.Repeat(oneOf(m, ":0", ":59", ":7"), 170+m.IntN(8)) + oneOf(m, ".5", ".", "")
		}
		return m.runes(8, "0123456789_.:eExXbBoO+-")
	case 7:
		return m.runes(8, "ab:#,[]{}-?!&*|>'\"%@` ")
	case 8:
		return "'" + strings.ReplaceAll(m.text(), "'", oneOf(m, "''", "''", "''", "'")) + "'"
	case 9, 10:
		return m.yamlDouble(m.text())
	case 11:
		return m.time(true)
	default:
		return m.runes(8, "abcdefghijklmnopqrstuvwxyz0123456789") + oneOf(m, "", "", " b", "\n   c", ": d")
	}
}

var yamlShortEscapes = map[rune]string{
	0: "0", '\a': "a", '\b': "b", '\t': "t", '\n': "n", '\v': "v", '\f': "f", '\r': "r", 0x1B: "e",
	' ': " ", '"': `"`, '\\': `\`, '/': "/", 0x85: "N", 0xA0: "_", 0x2028: "L", 0x2029: "P",
}

// validScalar makes a scalar that is read, of any type.
func (m maker) validScalar() string {
	switch m.IntN(10) {
	case 0:
		return oneOf(m, "yes", "Yes", "NO", "on", "Off", "true", "FALSE", "y", "yEs", "~", "null", "NULL", "nUll", "", "NOT_FOUND", "found")
	case 1:
		return oneOf(m, "0", "-0", "+1", "17", "017", "08", "0o17", "0x1F", "-0x1f", "0X1F", "0b101", "-0b1", "1_000", "_1", "0_7", "1:30", "-1:30:01", "1:60", "01:30", "0:0", "1:2:3:4", "123456789012345678901234567890", "0xFFFFFFFFFFFFFFFFFF")
	case 2:
		return oneOf(m, "1.", ".5", "-.5", "1.5", "1e3", "1.0e3", "1.0e+3", "1.5E-7", "1:30.5", "-190:20:30.15", "1:60.5", ".iNf", "-.nan", "1_0.5_0", ".", "..", "0.0", "-0.0", "1.e+3", "12e03", "685.230_15e+03", "1"+strings.Repeat(":59", m.IntN(170))+".5")
	case 3:
		return oneOf(m, "2026-8-1", "2026-08-21T12:00", "02026-08-21", "a:b", "a#b", "a,b", "-a", "?a", ":a", "a b", "a\u0085b", "!!str 1", "!!str", "!!int '5'", "!!int 0o17", "!!int \"\\x0b7\"", "!!float 1", "!!float 1e3", "!!bool TRUE", "!!null x", "!!str {=: a}", "!<tag:yaml.org,2002:int> 5", "!!in%74 5")
	case 4:
		return "'" + strings.ReplaceAll(strings.Map(printable, m.text()), "'", "''") + "'"
	case 5, 6:
		return m.yamlDouble(m.text())
	case 7:
		return oneOf(m, "2026-08-21", "2026-08-21T12:00:00Z", "2026-8-1 1:02:03", "!!timestamp 2026-8-1", "2026-08-21T12:00:00.5 +02:00", ".nan", ".inf")
	default:
		return m.runes(8, "abcdefghijklmnopqrstuvwxyz0123456789") + oneOf(m, "x", "z", " b")
	}
}

// printable drops what cannot stand in a line of YAML.
func printable(r rune) rune {
	if r < 0x20 || r == 0x7F || r == 0x85 || r == 0x2028 || r == 0xFEFF || r == 0xFFFF {
		return -1
	}
	return r
}

// yamlDouble writes a string in double quotes, with escapes.
func (m maker) yamlDouble(text string) string {
	b := new(strings.Builder)
	b.WriteByte('"')
	escapes := m.one(4)
	for _, r := range text {
		short, named := yamlShortEscapes[r]
		switch must := printable(r) < 0 || r == '"' || r == '\\'; {
		case named && (must || escapes && m.one(3)):
			b.WriteString(`\` + short)
		case must || escapes && m.one(3):
			switch {
			case r < 0x100 && m.one(2):
				fmt.Fprintf(b, `\x%02x`, r)
			case r < 0x10000 && m.one(2):
				fmt.Fprintf(b, `\u%04X`, r)
			default:
				fmt.Fprintf(b, `\U%08x`, r)
			}
		default:
			b.WriteRune(r)
		}
	}
	if m.wrongOne(20) {
		b.WriteString(oneOf(m, "\n", "\n\n  x", "  \n  x", "\\\n  x", "\\\t", "\\\n\n x", "\n---\n", "\t"))
	}
	if m.wrongOne(150) {
		b.WriteString(oneOf(m, `\q`, `\x4`, `\u12G4`, `\U00110000`, `\UFFFFFFFF`, `\ud800`, `\ud83d\ude00`, `\'`, `\`))
	}
	b.WriteByte('"')
	return b.String()
}

// yamlFlow makes a collection in flow style.
func (m maker) yamlFlow(depth int) string {
	if depth == 0 || m.one(4) {
		return m.yamlScalar()
	}
	entries := make([]string, m.IntN(4))
	sequence := m.one(2)
	for i := range entries {
		switch n := m.IntN(12); {
		case n == 0 && m.wild:
			entries[i] = oneOf(m, "? a", "a:", ": b", "'a':b", "\"a\":b", "a :b", "", "<<: a", "*a", "a\n")
		case n == 0:
			entries[i] = oneOf(m, "a: b", "? a : b", "a", "<<: {a: 1}", "<<: [{a: 1}, {a: 2, b: 3}]", "=: a", m.oddEntries())
		case sequence:
			entries[i] = m.yamlFlow(depth - 1)
		default:
			entries[i] = m.yamlKey(oneOf(m, "id", "name", "status", "a", "b", "é")) + oneOf(m, ": ", ": ", ": ", ":", ":  ", ":\n   ") + m.yamlFlow(depth-1)
		}
	}
	inner := strings.Join(entries, oneOf(m, ", ", ",", " , ", ",\n   "))
	if m.one(20) {
		inner += ","
	}
	if sequence {
		return "[" + inner + "]"
	}
	return "{" + inner + "}"
}

// oddEntries makes entries of a mapping whose keys are no strings. Of two that are
// equal, the second replaces the first.
func (m maker) oddEntries() string {
	keys := oneOf(m,
		[]string{"1", "0x1", "1.0", "yes", "'1'", "+1", "True", "1.00", "01", "1:0"},
		[]string{"0", "-0", "0.0", "-0.0", "no", "0x0", "''"},
		[]string{"~", "null", "Null", "'null'"},
		[]string{"60", "1:0", "1:0.0", "60.0", "0x3C", "074"},
		[]string{".inf", ".INF", "-.inf", "1.0e+400"},
		[]string{".nan", ".NaN", "!!float nan", "!!float .nan"},
		[]string{"9007199254740992", "9007199254740992.0", "9007199254740993", "9007199254740993.0", "1.5", "1.50", "15.0e-1"},
		[]string{"2026-08-21", "!!timestamp 2026-8-21", "2026-08-21 00:00:00", "2026-08-21T00:00:00Z", "2026-08-21t0:00:00.0", "2026-08-21T02:00:00+02:00", "2026-08-20 23:30:00 -0:30", "2026-08-21T00:00:00.0000001Z", "2026-08-21T00:00:00.000001Z"},
	)
	entries := make([]string, m.IntN(3)+1)
	for i := range entries {
		entries[i] = oneOf(m, keys...) + ": " + oneOf(m, "NOT_FOUND", "a", "7")
	}
	return strings.Join(entries, ", ")
}

// yamlBlock makes a block scalar.
func (m maker) yamlBlock(indent int) string {
	b := new(strings.Builder)
	b.WriteString(oneOf(m, "|", ">"))
	if m.wild {
		b.WriteString(oneOf(m, "2", "1", "-1", "3+", "0", "x", " # c", "+-"))
	} else {
		b.WriteString(oneOf(m, "", "", "", "-", "+", " # c"))
	}
	b.WriteByte('\n')
	indent = max(indent, 1)
	for i := range m.IntN(5) {
		if m.one(5) {
			b.WriteString(oneOf(m, "\n", strings.Repeat(" ", indent)+"\n"))
			if m.wild {
				b.WriteString(oneOf(m, " \n", strings.Repeat(" ", indent+2)+"\n"))
			}
			continue
		}
		b.WriteString(strings.Repeat(" ", indent))
		if i > 0 || m.wild { // the first line says how far all are indented
			b.WriteString(oneOf(m, "", "", "", " ", "  "))
		}
		b.WriteString(oneOf(m, "a", "b c", "d", "e", "# f", "- g", "h: i", "é", "j ", "---", "\u2028k") + "\n")
	}
	return b.String()
}

// encode returns a document in the encoding that it is sent in, mostly UTF-8.
func (m maker) encode(text string) []byte {
	if !m.one(40) {
		return []byte(text)
	}
	last := 6 // of the encodings that are read
	if m.wild {
		last = 9
	}
	wide := func(mark bool, size int, put func([]byte, rune) []byte) []byte {
		b := []byte{}
		if mark {
			b = put(b, 0xFEFF)
		}
		for _, r := range text {
			if size == 2 && r > 0xFFFF {
				b = put(put(b, 0xD800+(r-0x10000)>>10), 0xDC00+(r-0x10000)&0x3FF)
				continue
			}
			b = put(b, r)
		}
		return b
	}
	mark := m.one(2)
	switch m.IntN(last) {
	case 0, 1:
		return append([]byte("\ufeff"), text...)
	case 2:
		return wide(mark, 2, func(b []byte, r rune) []byte { return append(b, byte(r), byte(r>>8)) })
	case 3:
		return wide(mark, 2, func(b []byte, r rune) []byte { return append(b, byte(r>>8), byte(r)) })
	case 4:
		return wide(mark, 4, func(b []byte, r rune) []byte { return append(b, byte(r), byte(r>>8), byte(r>>16), 0) })
	case 5:
		return wide(mark, 4, func(b []byte, r rune) []byte { return append(b, 0, byte(r>>16), byte(r>>8), byte(r)) })
	case 6:
		return []byte(oneOf(m, text+"\x00", "\ufeff\ufeff"+text))
	case 7:
		at := m.IntN(len(text) + 1)
		return []byte(text[:at] + oneOf(m, "\xff", "\xc0\x80", "\xed\xa0\x80", "\xe9", "\x80", "\xf4\x90\x80\x80") + text[at:])
	default:
		all := []byte(text)
		for i, r := range text {
			if r == utf8.RuneError || r > 0x7F {
				return all[:i+1]
			}
		}
		return all
	}
}
