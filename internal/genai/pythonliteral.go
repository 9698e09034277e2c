// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"
	"unicode/utf8"
)

// maxPythonLiteral bounds what is converted. Arguments are short.
const maxPythonLiteral = 1 << 20

// pythonLiteral turns a dictionary as Python prints it ({'id': '42', 'all':
// True}) into JSON. LangChain for Python hands a tool's arguments to
// instrumentations in that form. It answers false for anything else.
func pythonLiteral(text string) (json string, ok bool) {
	t := strings.TrimSpace(text)
	if len(t) > maxPythonLiteral || !strings.HasPrefix(t, "{'") && !strings.HasPrefix(t, `{"`) || !strings.HasSuffix(t, "}") {
		return "", false
	}
	var b strings.Builder
	b.Grow(len(t) + 16)
	for i := 0; i < len(t); {
		c := t[i]
		switch {
		case c == '\'' || c == '"':
			n, ok := pythonString(&b, t[i:])
			if !ok {
				return "", false
			}
			i += n
		case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			end := i
			for end < len(t) && (t[end]|0x20 >= 'a' && t[end]|0x20 <= 'z') {
				end++
			}
			switch t[i:end] {
			case "True":
				b.WriteString("true")
			case "False":
				b.WriteString("false")
			case "None":
				b.WriteString("null")
			case "e", "E": // of a number
				b.WriteByte(c)
			default:
				return "", false
			}
			i = end
		case c == '(':
			b.WriteByte('[')
			i++
		case c == ')':
			b.WriteByte(']')
			i++
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String(), true
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
