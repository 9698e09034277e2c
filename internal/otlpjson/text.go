// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package otlpjson

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonText is a JSON text being read from left to right. It knows what strict
// JSON looks like, and less: what it is not sure of, it doubts, and nothing that
// was read counts then.
type jsonText struct {
	text  []byte
	at    int
	doubt bool

	room    *strings.Builder // for further strings of this text; those before are in use
	scratch []byte           // for a string with escapes
}

// read begins with a text.
func (t *jsonText) read(text []byte) {
	t.text, t.at, t.doubt, t.room = text, 0, false, nil
}

// doubted ends the reading.
func (t *jsonText) doubted() {
	t.doubt = true
	t.at = len(t.text)
}

// next returns the next byte that is no space, which is consumed; 0 if there is
// none.
func (t *jsonText) next() byte {
	for t.at < len(t.text) {
		c := t.text[t.at]
		t.at++
		if c > ' ' {
			return c
		}
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			break
		}
	}
	t.doubted()
	return 0
}

// open enters a list or an object, and reports whether something is in it.
func (t *jsonText) open(bracket, closing byte) bool {
	if t.next() != bracket {
		t.doubted()
	}
	if t.next() == closing {
		return false
	}
	if !t.doubt {
		t.at--
	}
	return !t.doubt
}

// more goes behind an element, and reports whether another follows.
func (t *jsonText) more(closing byte) bool {
	c := t.next()
	if c != ',' && c != closing {
		t.doubted()
	}
	return c == ',' && !t.doubt
}

// ends reports whether nothing is left, and nothing was in doubt.
func (t *jsonText) ends() bool {
	return !t.doubt && len(bytes.TrimLeft(t.text[t.at:], " \t\r\n")) == 0
}

// key reads the name of an object's member. It is good until the text is.
func (t *jsonText) key() []byte {
	begin, end := t.word()
	if t.next() != ':' {
		t.doubted()
		return nil
	}
	return t.text[begin:end]
}

// word reads a string without escapes, and says where it stands.
func (t *jsonText) word() (begin, end int) {
	if t.next() == '"' {
		begin, end = t.at, t.plain(t.at)
		if end < len(t.text) && t.text[end] == '"' {
			t.at = end + 1
			return begin, end
		}
	}
	t.doubted()
	return 0, 0
}

// plain returns where the first byte at or behind i is that ends a string or
// begins an escape in it, or must not be in one; or the end of the text.
func (t *jsonText) plain(i int) int {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(t.text); i += 8 {
		// Eight bytes at a time. A byte's top bit is set where taking something
		// from it borrows: 0x20 from a control character, 1 from what is zero by
		// then. A borrow goes on into the byte above only, so that the first mark
		// is right.
		w := binary.LittleEndian.Uint64(t.text[i:])
		quote, backslash := w^('"'*ones), w^('\\'*ones)
		marks := ((w-0x20*ones)&^w | (quote-ones)&^quote | (backslash-ones)&^backslash) & tops
		if marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for ; i < len(t.text); i++ {
		if c := t.text[i]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return i
}

// str reads a string.
func (t *jsonText) str() string { return t.keep(t.bytes()) }

// bytes reads a string. It is good until the next one is read.
func (t *jsonText) bytes() []byte {
	if t.next() != '"' {
		t.doubted()
		return nil
	}
	begin := t.at
	i := t.plain(begin)
	if i < len(t.text) && t.text[i] == '"' {
		t.at = i + 1
		return t.text[begin:i]
	}
	s := append(t.scratch[:0], t.text[begin:i]...)
	for i < len(t.text) && t.text[i] == '\\' {
		var read int
		if s, read = t.unescape(s, i); read == 0 {
			break
		}
		from := i + read
		i = t.plain(from)
		s = append(s, t.text[from:i]...)
	}
	t.scratch = s
	if i == len(t.text) || t.text[i] != '"' {
		t.doubted()
		return nil
	}
	t.at = i + 1
	return s
}

// keep makes a string of bytes that change. The strings of a text lie side by
// side, which takes less memory and time than a place for each. As long as one of
// them is in use, those beside it stay in memory; so no other text's are there.
func (t *jsonText) keep(s []byte) string {
	const (
		most = 16 << 10
		long = most / 4 // this has a place of its own
	)
	if len(s) > long {
		return string(s)
	}
	if t.room == nil || len(s) > t.room.Cap()-t.room.Len() {
		// About half of a text is in its strings.
		t.room = new(strings.Builder)
		t.room.Grow(max(len(s), min((len(t.text)-t.at)/2, most)))
	}
	begin := t.room.Len()
	t.room.Write(s)
	return t.room.String()[begin:]
}

// escapes are what stands behind a backslash, and for what.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unescape appends what the escape at i stands for, and says how long it is; 0 if
// it is in doubt.
func (t *jsonText) unescape(dst []byte, i int) (_ []byte, read int) {
	const short, long = len(`\n`), len(`\u0000`)
	if i+1 >= len(t.text) {
		return dst, 0
	}
	if c := escapes[t.text[i+1]]; c != 0 {
		return append(dst, c), short
	}
	r, ok := t.hexEscape(i)
	if !ok {
		return dst, 0
	}
	read = long
	if utf16.IsSurrogate(r) {
		low, ok := t.hexEscape(i + long)
		if r = utf16.DecodeRune(r, low); !ok || r == utf8.RuneError {
			return dst, 0
		}
		read += long
	}
	return utf8.AppendRune(dst, r), read
}

// hexEscape reads four digits behind \u.
func (t *jsonText) hexEscape(i int) (rune, bool) {
	const digits = len(`\u`)
	if i+digits+4 > len(t.text) || t.text[i] != '\\' || t.text[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range t.text[i+digits : i+digits+4] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// number reads the text of a number, and whether it stood in quotation marks.
// Whether it is one, is for who reads it; what follows it, for more.
func (t *jsonText) number() (text []byte, quoted bool) {
	quoted = t.next() == '"'
	if t.doubt {
		return nil, quoted
	}
	begin := t.at
	if !quoted {
		begin--
	}
	t.at = begin
	for t.at < len(t.text) && numeric[t.text[t.at]] {
		t.at++
	}
	text = t.text[begin:t.at]
	if quoted { // by a mark that follows at once: space is part of a string
		if t.at == len(t.text) || t.text[t.at] != '"' {
			t.doubted()
			return nil, quoted
		}
		t.at++
	}
	if len(text) == 0 {
		t.doubted()
	}
	return text, quoted
}

// numeric are the bytes of numbers.
var numeric = func() (is [256]bool) {
	for _, c := range []byte("0123456789+-.eE") {
		is[c] = true
	}
	return is
}()

// unsigned reads an integer up to a limit, in quotation marks or not.
func (t *jsonText) unsigned(limit uint64) uint64 {
	text, _ := t.number()
	return t.decimal(text, limit)
}

// signed reads an integer, in quotation marks or not.
func (t *jsonText) signed() int64 {
	text, _ := t.number()
	if len(text) > 0 && text[0] == '-' {
		return -int64(t.decimal(text[1:], math.MaxInt64)) //nolint:gosec // not above that
	}
	return int64(t.decimal(text, math.MaxInt64)) //nolint:gosec // not above that
}

// decimal is the value of decimal digits.
func (t *jsonText) decimal(text []byte, limit uint64) uint64 {
	const most = 19 // digits, for which an uint64 always has room
	n := uint64(0)
	for _, c := range text {
		if c -= '0'; c > 9 {
			t.doubted()
			return 0
		}
		n = 10*n + uint64(c)
	}
	if len(text) == 0 || len(text) > most || len(text) > 1 && text[0] == '0' || n > limit {
		t.doubted()
		return 0
	}
	return n
}

// double reads a number.
func (t *jsonText) double() float64 {
	text, quoted := t.number()
	if quoted || !json.Valid(text) {
		t.doubted()
		return 0
	}
	f, err := strconv.ParseFloat(string(text), 64)
	if err != nil {
		t.doubted()
	}
	return f
}

// boolean reads true or false.
func (t *jsonText) boolean() bool {
	first := t.next()
	rest := t.text[t.at:]
	switch {
	case first == 't' && bytes.HasPrefix(rest, []byte("rue")):
		t.at += len("rue")
		return true
	case first == 'f' && bytes.HasPrefix(rest, []byte("alse")):
		t.at += len("alse")
	default:
		t.doubted()
	}
	return false
}
