// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// step goes from a value to one of its parts: the member of that name, or the
// element at that index, counted from the end where it is negative.
type step struct {
	name    string
	index   int
	isIndex bool
}

// parseSteps reads `.name`, `["any name"]` and `[0]` from text[i:] as far as
// they go. dotted counts the steps at the beginning that are `.name`.
func parseSteps(text string, i int) (steps []step, dotted, end int, err error) {
	for i < len(text) {
		var s step
		switch text[i] {
		case '.':
			s.name, end = scanName(text, i+1)
			if s.name == "" {
				return nil, 0, 0, &syntaxError{i + 1, fmt.Sprintf(`expected a name, found %s; write ["any name"] for names of other characters`, found(text, i+1))}
			}
			if dotted == len(steps) {
				dotted++
			}
		case '[':
			s, end, err = parseBracket(text, i+1)
			if err != nil {
				return nil, 0, 0, err
			}
		default:
			return steps, dotted, i, nil
		}
		steps = append(steps, s)
		i = end
	}
	return steps, dotted, i, nil
}

// parseBracket reads a step after its opening bracket.
func parseBracket(text string, i int) (s step, end int, err error) {
	if i >= len(text) {
		return s, 0, &syntaxError{i, `expected a quoted name or an index, found the end`}
	}
	switch c := text[i]; {
	case c == '"' || c == '\'':
		s.name, end, err = unquoteName(text, i)
		if err != nil {
			return s, 0, err
		}
	case '0' <= c && c <= '9':
		for end = i; end < len(text) && '0' <= text[end] && text[end] <= '9'; {
			end++
		}
		s.isIndex = true
		s.index, err = strconv.Atoi(text[i:end])
		if err != nil || end-i > 1 && c == '0' {
			return s, 0, &syntaxError{i, fmt.Sprintf("%s is no index", text[i:end])}
		}
	default:
		return s, 0, &syntaxError{i, fmt.Sprintf(`expected a quoted name or an index from 0, found %s`, found(text, i))}
	}
	if end >= len(text) || text[end] != ']' {
		return s, 0, &syntaxError{end, fmt.Sprintf(`expected "]", found %s`, found(text, end))}
	}
	return s, end + 1, nil
}

// scanName reads a name that needs no quotes: a letter or an underscore, then
// letters, digits, underscores and hyphens.
func scanName(text string, i int) (word string, end int) {
	end = i
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		first := r == '_' || unicode.IsLetter(r)
		if !first && (end == i || r != '-' && !unicode.IsDigit(r)) {
			break
		}
		end += size
	}
	return text[i:end], end
}

// nameByte reports whether c may stand in the name of a root.
func nameByte(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// unquoteName reads a quoted name with the escapes of JSON strings, in either
// kind of quotes, and returns the place after the closing quote.
func unquoteName(text string, start int) (word string, end int, err error) {
	quote := text[start]
	var b strings.Builder
	for i := start + 1; i < len(text); {
		switch c := text[i]; {
		case c == quote:
			return b.String(), i + 1, nil
		case c != '\\':
			b.WriteByte(c)
			i++
		case i+1 == len(text):
			i++
		case text[i+1] == 'u':
			r, size := decodeEscape(text[i:])
			if size == 0 {
				return "", 0, &syntaxError{i, `\u needs four hexadecimal digits, and a surrogate its partner`}
			}
			b.WriteRune(r)
			i += size
		default:
			c, ok := nameEscapes[text[i+1]]
			if !ok {
				return "", 0, &syntaxError{i, fmt.Sprintf("unknown escape %q", text[i:i+2])}
			}
			b.WriteByte(c)
			i += 2
		}
	}
	return "", 0, &syntaxError{start, "the name's closing quote is missing"}
}

var nameEscapes = map[byte]byte{
	'"': '"', '\'': '\'', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// decodeEscape decodes \uXXXX, or two of them that are a surrogate pair, at the
// start of text; size 0 if there is none.
func decodeEscape(text string) (r rune, size int) {
	r, ok := hexRune(text)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	low, ok := hexRune(text[6:])
	if pair := utf16.DecodeRune(r, low); ok && pair != utf8.RuneError {
		return pair, 12
	}
	return 0, 0
}

// hexRune decodes one \uXXXX at the start of text.
func hexRune(text string) (rune, bool) {
	if len(text) < 6 || text[:2] != `\u` {
		return 0, false
	}
	n, err := strconv.ParseUint(text[2:6], 16, 16)
	return rune(n), err == nil
}

// follow goes from v along the steps; false if one of them is not there.
func follow(v jsonvalue.Value, steps []step) (jsonvalue.Value, bool) {
	for i := range steps {
		s := &steps[i]
		ok := false
		if s.isIndex {
			v, ok = element(v, s.index)
		} else if v.Kind() == jsonvalue.ObjectKind {
			v, ok = v.Get(s.name)
		}
		if !ok {
			return jsonvalue.Null(), false
		}
	}
	return v, true
}

// element returns the element of an array, counted from the end where the
// index is negative.
func element(v jsonvalue.Value, index int) (jsonvalue.Value, bool) {
	if v.Kind() != jsonvalue.ArrayKind {
		return jsonvalue.Null(), false
	}
	if index < 0 {
		index += v.Len()
	}
	if index < 0 || index >= v.Len() {
		return jsonvalue.Null(), false
	}
	return v.Index(index), true
}

// found names what stands at text[i:], for messages.
func found(text string, i int) string {
	if i >= len(text) {
		return "the end"
	}
	r, _ := utf8.DecodeRuneInString(text[i:])
	return strconv.Quote(string(r))
}
