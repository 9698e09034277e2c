// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Scanning a text and copying parts of it read some memory without a check of bounds. A
// read outside of a text mostly finds other memory there and does not show, so here
// texts, and what they are written to, lie against pages that cannot be touched.

// guarded is memory between two such pages.
type guarded struct{ room []byte }

func newGuarded(t testing.TB, size int) guarded {
	t.Helper()
	page := os.Getpagesize()
	size = (size + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, syscall.Munmap(all)) })
	require.NoError(t, syscall.Mprotect(all[:page], syscall.PROT_NONE))
	require.NoError(t, syscall.Mprotect(all[page+size:], syscall.PROT_NONE))
	return guarded{room: all[page : page+size]}
}

// atEnd returns a text that nothing can be read after, until another one is placed.
func (g guarded) atEnd(text string) string { return g.place(len(g.room)-len(text), text) }

// atStart returns a text that nothing can be read before, until another one is placed.
func (g guarded) atStart(text string) string { return g.place(0, text) }

func (g guarded) place(i int, text string) string {
	copy(g.room[i:], text)
	return unsafe.String(unsafe.SliceData(g.room[i:]), len(text))
}

// buffer returns an empty slice that nothing can be written after.
func (g guarded) buffer(size int) []byte {
	end := len(g.room)
	return g.room[end-size : end-size : end]
}

// fault does what it is told to and returns which address it should not have touched, nil if none.
func fault(do func()) (address any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			at, ok := r.(interface{ Addr() uintptr })
			if !ok {
				panic(r)
			}
			address = at.Addr()
		}
	}()
	do()
	return nil
}

// guard holds what is read in guarded memory to what is read elsewhere.
type guard struct {
	text, written  guarded
	quick, careful *scanner
	random         *rand.Rand
}

const (
	guardedText  = 384 << 10
	guardedBytes = 2 * guardedText
)

func newGuard(t testing.TB) *guard {
	t.Helper()
	g := &guard{
		text: newGuarded(t, guardedText), written: newGuarded(t, guardedBytes),
		quick: newScanner(), careful: newScanner(), random: rand.New(rand.NewPCG(3, 4)),
	}
	g.careful.careful = true
	g.quick.pending = make([]node, 0, 64) // runs need room
	return g
}

// scan scans a text that may be none, at both ends of the guarded memory. The scanners are
// the same for all texts, as those in use are.
func (g *guard) scan(t testing.TB, text string) {
	t.Helper()
	g.careful.reset()
	g.careful.text = text
	want := g.careful.scan()
	for _, place := range []func(string) string{g.text.atStart, g.text.atEnd} {
		g.quick.reset()
		g.quick.text = place(text)
		var got *Error
		if at := fault(func() { got = g.quick.scan() }); at != nil {
			t.Fatalf("scanning touches %#x, outside of the text of %d bytes: %q", at, len(text), text)
		}
		if want == nil != (got == nil) || want != nil && *want != *got {
			t.Fatalf("%q: want %v, got %v", text, want, got)
		}
	}
}

// read scans a text, and if it is one writes its canonical form to buffers that have
// room for it, for hardly more, and for not all of it.
func (g *guard) read(t testing.TB, text string) {
	t.Helper()
	g.scan(t, text)
	v, err := Parse(text)
	if err != nil {
		return
	}
	made, err := rebuild(v).AppendCanonical(nil)
	if err != nil {
		return
	}
	for _, place := range []func(string) string{g.text.atStart, g.text.atEnd} {
		size := len(made)
		for _, size := range []int{0, g.random.IntN(size + 1), size, size + g.random.IntN(64), size + 64 + g.random.IntN(256)} {
			var copied []byte
			at := fault(func() {
				v, err = Parse(place(text))
				if err == nil {
					copied, err = v.AppendCanonical(g.written.buffer(min(size, guardedBytes)))
				}
			})
			if at != nil {
				t.Fatalf("writing the canonical form to %d bytes touches %#x, outside of these and of the text of %d bytes: %q", size, at, len(text), text)
			}
			require.NoError(t, err)
			if !bytes.Equal(made, copied) {
				t.Fatalf("%q: want %s, got %s", text, made, copied)
			}
		}
	}
}

// TestGuardsHold: what guarded memory is there to find is found.
func TestGuardsHold(t *testing.T) {
	memory := newGuarded(t, 1)
	var word uint64 // kept, so that it is read
	var room [32]byte
	text := memory.atEnd("a text that is longer than the 32 bytes that are copied")
	require.Nil(t, fault(func() { word = load(text, len(text)-8); copy32(&room, text[len(text)-32:]) }))
	require.NotNil(t, fault(func() { word = load(text, len(text)-7) }))
	require.NotNil(t, fault(func() { copy32(&room, text[len(text)-31:]) }))
	text = memory.atStart(text)
	require.Nil(t, fault(func() { word = load(text, 0) }))
	require.NotNil(t, fault(func() { word = load(text, -1) }))
	require.NotNil(t, fault(func() { copy32((*[32]byte)(unsafe.Pointer(unsafe.SliceData(memory.buffer(31)))), text) }))
	_ = word
}

// TestGuardedCorpora: the texts of the measured answers, and every string in them,
// are read within their bounds; so is every beginning of some of them.
func TestGuardedCorpora(t *testing.T) {
	var texts []string
	met := map[string]bool{}
	addText := func(text string) {
		if !met[text] {
			met[text] = true
			texts = append(texts, text)
		}
	}
	var add func(v Value)
	add = func(v Value) {
		if v.Kind() == StringKind {
			addText(v.Text())
		}
		for i := range v.Len() {
			switch v.Kind() {
			case ArrayKind:
				add(v.Index(i))
			case ObjectKind:
				_, inner := v.Member(i)
				add(inner)
			}
		}
	}
	eachLine(t, func(line string) {
		addText(line)
		if v, err := Parse(line); err == nil {
			add(v)
		}
	})
	require.Greater(t, len(texts), 1000)

	g := newGuard(t)
	step, objects := 1, 0
	if raceEnabled {
		step = 16
	}
	for i := 0; i < len(texts); i += step {
		text := texts[i]
		require.LessOrEqual(t, len(text), guardedText)
		g.read(t, text)
		if !strings.HasPrefix(text, "{") || len(text) > 2000 {
			continue
		}
		if objects++; objects%24 == 0 {
			for i := range text {
				g.scan(t, text[:i])
			}
		}
	}
}

// TestGuardedTexts: so are texts that are made to be near the bounds: objects whose keys
// come again, in any order, with any white space and values; and what they become
// by small changes.
func TestGuardedTexts(t *testing.T) {
	g := newGuard(t)
	rounds := 600
	if raceEnabled {
		rounds = 80
	}
	for range rounds {
		text := alikeObjects(g.random)
		g.read(t, text)
		for range 8 {
			g.read(t, text+strings.Repeat(" ", g.random.IntN(80)))
			g.scan(t, text[:g.random.IntN(len(text)+1)])
			g.read(t, changed(g.random, text))
		}
	}
}

// TestGuardedEnds: so are texts that break off anywhere in what is scanned in runs, and
// texts that end anywhere after what is copied as words.
func TestGuardedEnds(t *testing.T) {
	g := newGuard(t)
	repeat := strings.Repeat
	ends := []string{
		repeat(" ", 80), "\n" + repeat(" ", 80), repeat("\n", 80), repeat(" \t", 40), "1" + repeat(" ", 80),
		"1234567.1234567,1", "1234567.12345678", "1234567,12345678,1", "1.1234567,", "1.10000,", repeat("1,", 40),
		`"` + repeat("v", 80), `"` + repeat(`\"`, 40), `"vv` + repeat(`\\`, 40), `"` + repeat("é", 40), `"1234567","12345678","123456789",` + repeat(`"",`, 20),
		repeat("true,", 16), repeat("false,", 16), repeat("null,", 16), "fals", "tru", "nul",
	}
	keys, strs := []int{0, 1, 4, 5, 6, 7, 12, 13, 14, 15, 16, 30, 60}, []int{1, 26, 27, 28, 29, 30, 31, 32, 58, 59, 60, 61, 62, 63, 64}
	if raceEnabled {
		keys, strs = []int{6, 13, 60}, []int{30, 31, 62}
	}
	for _, end := range ends {
		beginnings := []string{"[", "[1,"}
		for _, size := range keys {
			key := `{"` + repeat("k", size) + `":1,"` + repeat("k", size+1) + `":`
			beginnings = append(beginnings, "["+key+"2},"+key, "["+key+"2},"+key[:len(key)-1]+" ")
		}
		for _, beginning := range beginnings {
			text := beginning + end
			for i := range text {
				g.scan(t, text[:i])
			}
		}
	}
	for _, size := range strs {
		for _, key := range []string{"b", "b" + repeat("k", 29), "b" + repeat("k", 30), "b" + repeat("k", 50)} {
			for _, gap := range []string{"", " "} {
				text := `{"c":1,"a":2,"` + key + `":` + gap + `"` + repeat("v", size) + `"}`
				for i := range 80 {
					g.read(t, text+repeat(" ", i))
				}
			}
		}
	}
}

// FuzzGuarded: so is any text.
func FuzzGuarded(f *testing.F) {
	seeds(f)
	random := rand.New(rand.NewPCG(5, 6))
	for range 40 {
		f.Add(alikeObjects(random))
	}
	g := newGuard(f)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) <= guardedText {
			g.read(t, text)
		}
	})
}

// alikeObjects makes a text of objects that mostly have the same keys.
func alikeObjects(random *rand.Rand) string {
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	long := strings.Repeat("k", random.IntN(80))
	keys := []string{
		"", "a", "ab", "abc", "abcde", "abcdef", "abcdefg", "abcdefgh", "abcdefghi", "abcdefghijklmno", "abcdefghijklmnop",
		"abcdefghX", "abcdefghijklmnoX", "abcdefghXjklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz0123456789",
		long + "1", long + "2", `\u0000`, `a\u0000`, `\u0061`, `a\nb`, `a\/b`, "é", "\u007f",
	}
	random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	keys = keys[:1+random.IntN(6)]
	spaced := random.IntN(3) == 0
	space := func() string {
		if !spaced {
			return ""
		}
		return pick("", "", " ", "  ", "\n", "\r\n\t", "\n"+strings.Repeat(" ", random.IntN(20)))
	}
	digits := func(n int) string {
		return "123456789012345678901234567890"[:1+random.IntN(n)]
	}
	var value func(depth int) string
	value = func(depth int) string {
		switch random.IntN(10 - depth) {
		case 0:
			return digits(20)
		case 1:
			return pick("-", "") + digits(9) + "." + digits(9) + pick("", "", "0", "00", "e5", "E-7")
		case 2:
			return pick("true", "false", "null", "0", "0.0", "0.50", "-0", "NaN", "1e5")
		case 3, 4:
			return `"` + strings.Repeat("v", random.IntN(20)) + pick("", `\"`, `\\`, `\n`, `\/`, `\u0000`, `\u001F`, `\ud83d\ude00`, "é", "😀") + strings.Repeat("w", random.IntN(70)) + `"`
		case 5, 6:
			return pick(`""`, `"x"`, `"text"`, "7", "1.5")
		case 7:
			return "[" + space() + value(3) + space() + "," + space() + value(3) + space() + "]"
		case 8:
			return "{" + space() + `"inner"` + space() + ":" + space() + value(2) + "}"
		default:
			return pick("[]", "{}", "[ ]", "{\n}")
		}
	}
	var b strings.Builder
	b.WriteString("[")
	for i := range 2 + random.IntN(6) {
		if i > 0 {
			b.WriteString("," + space())
		}
		switch random.IntN(6) {
		case 0:
			random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		case 1:
			keys = keys[:1+random.IntN(len(keys))]
		}
		b.WriteString("{" + space())
		for i, key := range keys {
			if i > 0 {
				b.WriteString("," + space())
			}
			fmt.Fprintf(&b, `"%s"%s:%s%s%s`, key, space(), space(), value(0), space())
		}
		b.WriteString("}" + space())
	}
	b.WriteString("]")
	return b.String()
}

// changed makes a small change somewhere in a text.
func changed(random *rand.Rand, text string) string {
	i := random.IntN(len(text))
	j := min(len(text), i+random.IntN(4))
	const others = "{}[]\",:\\ \n0.e-tu\x00\xff"
	c := others[random.IntN(len(others))]
	return text[:i] + strings.Repeat(string([]byte{c}), random.IntN(3)) + text[j:]
}
