// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import "strings"

// jsonExtent is how far a text goes as JSON.
type jsonExtent uint8

const (
	jsonWrong      jsonExtent = iota // it is no JSON, and could not become any
	jsonWhole                        // it is JSON
	jsonUnfinished                   // it is the beginning of JSON
)

// jsonPrefix tells JSON that was cut off from text that never was any. It reads
// what [jsonvalue.Parse] reads, up to where the text ends.
func jsonPrefix(text string) jsonExtent {
	p := prefixScanner{text: text}
	return p.scan()
}

type prefixScanner struct {
	text  string
	pos   int
	stack []byte // the closing brackets that are still to come
}

func (p *prefixScanner) scan() jsonExtent {
	for {
		if p.space() {
			return jsonUnfinished
		}
		if e := p.value(); e != jsonWhole {
			return e
		}
		// After a value.
		for {
			ended := p.space()
			if len(p.stack) == 0 {
				if ended {
					return jsonWhole
				}
				return jsonWrong
			}
			if ended {
				return jsonUnfinished
			}
			c := p.text[p.pos]
			p.pos++
			if c == p.stack[len(p.stack)-1] {
				p.stack = p.stack[:len(p.stack)-1]
				continue
			}
			if c != ',' {
				return jsonWrong
			}
			break
		}
		if e := p.key(); e != jsonWhole {
			return e
		}
	}
}

// space skips white space and reports whether the text ends.
func (p *prefixScanner) space() bool {
	for p.pos < len(p.text) {
		switch p.text[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
		default:
			return false
		}
	}
	return true
}

// value scans a scalar, or as many opening brackets as there are before one. An
// empty container is whole.
func (p *prefixScanner) value() jsonExtent {
	for {
		if p.space() {
			return jsonUnfinished
		}
		switch c := p.text[p.pos]; c {
		case '"':
			return p.str()
		case '{', '[':
			p.pos++
			p.stack = append(p.stack, c+2) // '}' and ']' stand two after '{' and '['
			if p.space() {
				return jsonUnfinished
			}
			if p.text[p.pos] == c+2 {
				p.pos++
				p.stack = p.stack[:len(p.stack)-1]
				return jsonWhole
			}
			if e := p.key(); e != jsonWhole {
				return e
			}
		default:
			return p.word()
		}
	}
}

// key scans a key and its colon if the innermost container is an object.
func (p *prefixScanner) key() jsonExtent {
	if p.stack[len(p.stack)-1] != '}' {
		return jsonWhole
	}
	if p.space() {
		return jsonUnfinished
	}
	if p.text[p.pos] != '"' {
		return jsonWrong
	}
	if e := p.str(); e != jsonWhole {
		return e
	}
	if p.space() {
		return jsonUnfinished
	}
	if p.text[p.pos] != ':' {
		return jsonWrong
	}
	p.pos++
	return jsonWhole
}

func (p *prefixScanner) str() jsonExtent {
	for p.pos++; p.pos < len(p.text); p.pos++ {
		switch c := p.text[p.pos]; {
		case c == '"':
			p.pos++
			return jsonWhole
		case c == '\\':
			p.pos++
		case c < 0x20:
			return jsonWrong
		}
	}
	p.pos = len(p.text)
	return jsonUnfinished
}

// word scans a number or a literal. What ends with the text may have gone on.
func (p *prefixScanner) word() jsonExtent {
	start := p.pos
	for p.pos < len(p.text) && !strings.ContainsRune(" \t\r\n,]}", rune(p.text[p.pos])) {
		p.pos++
	}
	w, ended := p.text[start:p.pos], p.pos == len(p.text)
	for _, literal := range [...]string{"true", "false", "null", "NaN", "Infinity", "-Infinity"} {
		if w == literal {
			return jsonWhole
		}
		if ended && strings.HasPrefix(literal, w) {
			return jsonUnfinished
		}
	}
	if w == "" || strings.Trim(w, "0123456789+-.eE") != "" {
		return jsonWrong
	}
	if c := w[len(w)-1]; c < '0' || c > '9' {
		if ended {
			return jsonUnfinished
		}
		return jsonWrong
	}
	return jsonWhole
}
