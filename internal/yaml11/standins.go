// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package yaml11

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

const bom = "\uFEFF"

// standIns are private characters that a text does not contain and that mean nothing to
// the library. They replace characters that it reads differently, until it has found the
// scalars.
type standIns struct {
	tab       string // a tab, which separates for the library
	backslash string // the backslash of a foreign escape
	mark      string // a byte order mark, which the library skips at the start of a line
	nothing   string // nothing, where there must be something: in front of a "#" behind "|"
	meanings  *strings.Replacer
}

// writtenRune is an escape by number.
var writtenRune = regexp.MustCompile(`\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))`)

// newStandIns chooses private characters that a text does not contain, neither as they are
// nor as escapes.
func newStandIns(text string) *standIns {
	seen := map[rune]bool{}
	for _, r := range text {
		if r >= 0xE000 {
			seen[r] = true
		}
	}
	if strings.Contains(text, `\`) {
		for _, m := range writtenRune.FindAllStringSubmatch(text, -1) {
			r, _ := strconv.ParseUint(m[1]+m[2], 16, 32)
			seen[rune(r)] = true
		}
	}
	s, next := new(standIns), rune(0xE000)
	for _, standIn := range []*string{&s.tab, &s.backslash, &s.mark, &s.nothing} {
		for seen[next] || 0xF900 <= next && next < 0xF0000 { // from one private area to the next
			next++
		}
		*standIn = string(next)
		next++
	}
	s.meanings = strings.NewReplacer(s.tab, "\t", s.backslash, `\`, s.mark, bom, s.nothing, "")
	return s
}

// put returns a text with stand-ins, those for tabs only on demand.
func (s *standIns) put(text string, tabs bool) string {
	b := new(strings.Builder)
	b.Grow(len(text) + len(text)/8)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\t':
			if tabs {
				b.WriteString(s.tab)
				continue
			}
		case bom[0]:
			if strings.HasPrefix(text[i:], bom) {
				b.WriteString(s.mark)
				i += len(bom) - 1
				continue
			}
		case '\\':
			switch {
			case strings.HasPrefix(text[i+1:], `\`):
				b.WriteByte(c)
				i++
			case tabs && strings.HasPrefix(text[i+1:], "\t"), foreignEscape(text[i+1:]):
				b.WriteString(s.backslash)
				continue
			}
		case '|', '>':
			header := text[i:]
			if n := len(header) - len(strings.TrimLeft(header[1:], "+-0123456789")); n < len(header) && header[n] == '#' {
				b.WriteString(header[:n])
				b.WriteString(s.nothing)
				i += n - 1
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// foreignEscape reports whether an escape, without its backslash, is one that the library
// reads differently: it lacks "\/", has "\'" in addition, and rejects halves of surrogate
// pairs. Tabs are among them so that they are not taken for those that space adds.
func foreignEscape(text string) bool { return foreign.MatchString(text[:min(len(text), 9)]) }

var foreign = regexp.MustCompile(`^(?:['/t]|x09|u0009|U00000009|(?:u|U0000)[dD][89a-fA-F][0-9a-fA-F]{2})`)

// resolve returns the string that the value of a scalar with stand-ins stands for. unpaired
// reports that it has half of a surrogate pair, for which U+FFFD stands. An escape that
// YAML 1.1 does not have is not ok.
func (s *standIns) resolve(value string, doubleQuoted bool) (text string, unpaired, ok bool) {
	if doubleQuoted {
		parts := strings.Split(value, s.backslash)
		for i, part := range parts[1:] {
			escape, meaning := cmp.Or(foreign.FindString(part), s.tab), "\t"
			switch {
			case escape == "'":
				return "", false, false
			case escape == "/":
				meaning = "/"
			case len(escape) >= len("ud800") && !strings.HasSuffix(escape, "0009"):
				meaning, unpaired = string(utf8.RuneError), true
			}
			parts[i+1] = meaning + part[len(escape):]
		}
		value = strings.Join(parts, "")
	}
	return s.meanings.Replace(value), unpaired, true
}
