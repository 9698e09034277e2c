// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// maxPythonLiteral bounds what is converted. Arguments are short.
	maxPythonLiteral = 1 << 20
	// maxPythonDepth bounds the brackets inside each other.
	maxPythonDepth = 128
)

// pythonLiteral turns a dictionary as Python prints it ({'id': '42', 'all':
// True}) into JSON. LangChain for Python hands a tool's arguments to
// instrumentations in that form. It answers false for anything else.
func pythonLiteral(text string) (json string, ok bool) {
	t := strings.TrimSpace(text)
	if !strings.HasPrefix(t, "{'") && !strings.HasPrefix(t, `{"`) || !strings.HasSuffix(t, "}") {
		return "", false
	}
	return pythonJSON(t, nil)
}

// pythonResult turns a dictionary, a list or a tuple as Python prints them, or a
// call of one of the classes, into JSON. It answers false for anything else.
func pythonResult(text string, classes []string) (json string, ok bool) {
	t := strings.TrimSpace(text)
	if t == "" || !strings.ContainsRune("}])", rune(t[len(t)-1])) {
		return "", false
	}
	if name, _, called := strings.Cut(t, "("); t[0] != '{' && t[0] != '[' && !(called && (name == "" || slices.Contains(classes, name))) {
		return "", false
	}
	return pythonJSON(t, classes)
}

// pythonJSON writes a literal as JSON. A call of one of the classes with keyword
// arguments becomes an object.
func pythonJSON(t string, classes []string) (json string, ok bool) {
	if len(t) > maxPythonLiteral {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(t) + 16)
	type bracket struct{ closes, json byte }
	var open []bracket
	comma := false // a comma was read and not written: Python has one before a bracket
	write := func(s string) {
		if comma {
			b.WriteByte(',')
			comma = false
		}
		b.WriteString(s)
	}
	enter := func(opens string, closes, json byte) bool {
		write(opens)
		open = append(open, bracket{closes, json})
		return len(open) <= maxPythonDepth
	}
	for i := 0; i < len(t); {
		c := t[i]
		switch {
		case c == '\'' || c == '"':
			write("")
			n, ok := pythonString(&b, t[i:])
			if !ok {
				return "", false
			}
			i += n
		case c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			end := i
			for end < len(t) && (t[end] == '_' || t[end]|0x20 >= 'a' && t[end]|0x20 <= 'z' || end > i && t[end]-'0' <= 9) {
				end++
			}
			word := t[i:end]
			i = end
			switch {
			case i < len(t) && t[i] == '(' && slices.Contains(classes, word):
				if i++; !enter("{", ')', '}') {
					return "", false
				}
			case i < len(t) && t[i] == '=' && len(open) > 0 && open[len(open)-1] == bracket{')', '}'}:
				write(`"` + word + `":`)
				i++
			case word == "True":
				write("true")
			case word == "False":
				write("false")
			case word == "None":
				write("null")
			case numberGoesOn(t, end-len(word)): // 1e5
				write(word)
			default:
				return "", false
			}
		case c == '{':
			if i++; !enter("{", '}', '}') {
				return "", false
			}
		case c == '[':
			if i++; !enter("[", ']', ']') {
				return "", false
			}
		case c == '(':
			if i++; !enter("[", ')', ']') {
				return "", false
			}
		case c == '}' || c == ']' || c == ')':
			if len(open) == 0 || open[len(open)-1].closes != c {
				return "", false
			}
			comma = false
			b.WriteByte(open[len(open)-1].json)
			open = open[:len(open)-1]
			i++
		case c == ',':
			if comma {
				return "", false
			}
			comma = true
			i++
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		default:
			write(t[i : i+1])
			i++
		}
	}
	return b.String(), len(open) == 0 && !comma
}

// numberGoesOn reports whether the e at i stands in a number.
func numberGoesOn(t string, i int) bool {
	return t[i]|0x20 == 'e' && i > 0 && (t[i-1]-'0' <= 9 || t[i-1] == '.')
}

// pythonString converts the quoted string that text begins with, and returns how
// long it was.
func pythonString(b *strings.Builder, text string) (n int, ok bool) {
	quote := text[0]
	b.WriteByte('"')
	for i := 1; i < len(text); {
		switch c := text[i]; {
		case c == quote:
			b.WriteByte('"')
			return i + 1, true
		case c == '"':
			b.WriteString(`\"`)
			i++
		case c == '\\' && i+1 < len(text):
			switch e := text[i+1]; e {
			case '\'':
				b.WriteByte('\'')
				i += 2
			case 'x':
				if len(text)-i < 4 {
					return 0, false
				}
				b.WriteString(`\u00` + text[i+2:i+4])
				i += 4
			default:
				b.WriteString(text[i : i+2])
				i += 2
			}
		case c < 0x20:
			return 0, false
		default:
			_, size := utf8.DecodeRuneInString(text[i:])
			b.WriteString(text[i : i+size])
			i += size
		}
	}
	return 0, false
}
