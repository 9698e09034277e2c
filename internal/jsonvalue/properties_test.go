// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package jsonvalue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// texts are strings with what JSON and YAML have to be careful about.
var texts = rapid.Custom(func(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "Z", "0", " ", "\"", "\\", "/", "\n", "\t", "\x00", "\x1f", "\x7f", "\u0085", "é", "\u2028", "\uffff", "😀", "NOT_FOUND", "null",
	}), 0, 6).Draw(t, "text")
	return strings.Join(parts, "")
})

// values are JSON values made of values, of at most the given depth.
func values(depth int) *rapid.Generator[Value] {
	return rapid.Custom(func(t *rapid.T) Value {
		kinds := []Kind{NullKind, BoolKind, IntKind, FloatKind, StringKind, ArrayKind, ObjectKind}
		if depth == 0 {
			kinds = kinds[:5]
		}
		switch rapid.SampledFrom(kinds).Draw(t, "kind") {
		case BoolKind:
			return Bool(rapid.Bool().Draw(t, "bool"))
		case IntKind:
			return Int(rapid.Int64().Draw(t, "int"))
		case FloatKind:
			f := math.Float64frombits(rapid.Uint64().Draw(t, "float"))
			if math.IsNaN(f) || math.IsInf(f, 0) {
				f = rapid.Float64Range(-1e6, 1e6).Draw(t, "float")
			}
			return Float(f)
		case StringKind:
			return String(texts.Draw(t, "string"))
		case ArrayKind:
			return Array(rapid.SliceOfN(values(depth-1), 0, 4).Draw(t, "array")...)
		case ObjectKind:
			keys := rapid.SliceOfN(texts, 0, 20).Draw(t, "keys")
			members := make([]Member, len(keys))
			for i, key := range keys {
				members[i] = Member{key, values(depth-1).Draw(t, "member")}
			}
			return Object(members...)
		}
		return Null()
	})
}

func canonicalOf(t require.TestingT, v Value) string {
	b, err := v.AppendCanonical(nil)
	require.NoError(t, err)
	return string(b)
}

// spell writes a value in one of the ways in which it can be written: in any
// order of keys, with any white space and any escapes, and with keys twice.
func spell(t *rapid.T, v Value) string {
	var b strings.Builder
	space := func() {
		b.WriteString(rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\r\n"}).Draw(t, "space"))
	}
	text := func(s string) {
		b.WriteByte('"')
		for _, r := range s {
			escape := rapid.IntRange(0, 3).Draw(t, "escape") == 0
			switch {
			case r == '"' || r == '\\':
				b.WriteByte('\\')
				b.WriteRune(r)
			case r >= 0x10000 && escape:
				fmt.Fprintf(&b, `\u%04x\u%04X`, 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF)
			case r < 0x20 || escape && r < 0x10000:
				fmt.Fprintf(&b, rapid.SampledFrom([]string{`\u%04x`, `\u%04X`}).Draw(t, "digits"), r)
			default:
				b.WriteRune(r)
			}
		}
		b.WriteByte('"')
	}
	var write func(v Value)
	write = func(v Value) {
		space()
		defer space()
		switch v.Kind() {
		case StringKind:
			text(v.Text())
		case ArrayKind:
			b.WriteByte('[')
			for i := range v.Len() {
				if i > 0 {
					b.WriteByte(',')
				}
				write(v.Index(i))
			}
			space()
			b.WriteByte(']')
		case ObjectKind:
			order := make([]int, 0, 2*v.Len())
			for i := range v.Len() {
				order = append(order, i)
			}
			order = rapid.Permutation(order).Draw(t, "order")
			twice := len(order) > 0 && rapid.IntRange(0, 4).Draw(t, "twice") == 0
			b.WriteByte('{')
			if twice {
				key, _ := v.Member(order[len(order)-1])
				text(key)
				b.WriteString(`:[{"replaced":true}],`)
			}
			for n, i := range order {
				if n > 0 {
					b.WriteByte(',')
				}
				key, member := v.Member(i)
				space()
				text(key)
				space()
				b.WriteByte(':')
				write(member)
			}
			space()
			b.WriteByte('}')
		default:
			b.WriteString(canonicalOf(t, v))
		}
	}
	write(v)
	return b.String()
}

// TestSpellingNeverChangesTheForm: the order of keys, white space, escapes and
// members that a later one replaces are not part of a value.
func TestSpellingNeverChangesTheForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		want := canonicalOf(t, v)
		text := spell(t, v)
		parsed, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, canonicalOf(t, parsed), text)
		require.True(t, Equal(v, parsed))
		require.True(t, Equal(parsed, v))
	})
}

// TestCanonicalFormIsAFixedPoint: the canonical form of the canonical form is itself,
// and both kinds of container read alike.
func TestCanonicalFormIsAFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		want := canonicalOf(t, v)
		parsed, err := Parse(want)
		require.NoError(t, err)
		require.Equal(t, want, canonicalOf(t, parsed))
		if v.Kind() >= ArrayKind && !hasFloat(v) {
			require.True(t, parsed.exact, "a canonical text needs no writing")
		}
		require.Equal(t, want, canonicalOf(t, rebuild(parsed)))
	})
}

// hasFloat reports whether there is a float in v. Whether one is written as its
// canonical form is only known of short ones.
func hasFloat(v Value) bool {
	switch v.Kind() {
	case FloatKind:
		return true
	case ArrayKind:
		for i := range v.Len() {
			if hasFloat(v.Index(i)) {
				return true
			}
		}
	case ObjectKind:
		for i := range v.Len() {
			if _, member := v.Member(i); hasFloat(member) {
				return true
			}
		}
	}
	return false
}

// rebuild makes a value of values through the accessors alone.
func rebuild(v Value) Value {
	switch v.Kind() {
	case ArrayKind:
		elements := make([]Value, v.Len())
		for i := range elements {
			elements[i] = rebuild(v.Index(i))
		}
		return Array(elements...)
	case ObjectKind:
		members := make([]Member, v.Len())
		for i := range members {
			members[i].Key, members[i].Value = v.Member(i)
			members[i].Value = rebuild(members[i].Value)
			if got, ok := v.Get(members[i].Key); !ok || !Equal(got, members[i].Value) {
				panic("Get and Member disagree")
			}
		}
		return Object(members...)
	case IntKind:
		if n, ok := v.Int64(); ok {
			return Int(n)
		}
	case FloatKind:
		f, _ := v.Float64()
		return Float(f)
	}
	return v
}

// TestCanonicalAgainstNaive compares with a canonical form that is written in the most
// obvious way over the standard library's decoder.
func TestCanonicalAgainstNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := spell(t, values(3).Draw(t, "value"))
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var decoded any
		require.NoError(t, d.Decode(&decoded))
		parsed, err := Parse(text)
		require.NoError(t, err)
		require.Equal(t, naive(decoded), canonicalOf(t, parsed), text)
	})
}

func naive(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case json.Number:
		if v == "-0" {
			return "0"
		}
		if !strings.ContainsAny(string(v), ".eE") {
			return string(v)
		}
		f, _ := v.Float64()
		if f == 0 {
			return "0.0"
		}
		scientific := strconv.FormatFloat(f, 'e', -1, 64)
		_, exponent, _ := strings.Cut(scientific, "e")
		if e, _ := strconv.Atoi(exponent); e < -4 || e >= 16 {
			return scientific
		}
		decimal := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(decimal, ".") {
			decimal += ".0"
		}
		return decimal
	case string:
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(v)
		// The library escapes two characters that need no escape; a pair of
		// backslashes before them is none.
		return strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(b.String(), "\n"))
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = naive(v[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for i, k := range keys {
			keys[i] = naive(k) + ":" + naive(v[k])
		}
		return "{" + strings.Join(keys, ",") + "}"
	}
	panic(fmt.Sprintf("%T", v))
}

// TestRecords: lists of records are read as they are written, whether their keys come
// in one order or in several, with some left out, repeated or spelled otherwise.
func TestRecords(t *testing.T) {
	pool := []string{
		"a", "ab", "", "id", "user_id", "user_name", "user_names", "customer_reference", "customer_reference_2",
		"customer_references_of_the_account", "customer_references_of_the_accounts", "é", "ключ", "q\"", "back\\slash", "tab\t",
	}
	spaces := rapid.SampledFrom([]string{"", "", "", " ", "\n  ", "\n          \t\r "})
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.SampledFrom(pool), 1, 6, rapid.ID[string]).Draw(t, "keys")
		usual := rapid.Permutation(keys).Draw(t, "usual")
		tidy := rapid.Bool().Draw(t, "tidy")
		space := func() string {
			if tidy {
				return ""
			}
			return spaces.Draw(t, "space")
		}
		var b strings.Builder
		var values []Value
		var record func(depth int) Value
		record = func(depth int) Value {
			order := usual
			switch rapid.IntRange(0, 5).Draw(t, "variation") {
			case 0:
				order = rapid.Permutation(keys).Draw(t, "order")
			case 1:
				order = rapid.SliceOfN(rapid.SampledFrom(keys), 0, 7).Draw(t, "keys")
			case 2:
				order = append([]string{rapid.SampledFrom(pool).Draw(t, "more")}, usual...)
			}
			var members []Member
			b.WriteString("{" + space())
			for i, key := range order {
				if i > 0 {
					b.WriteString(space() + "," + space())
				}
				quoted, err := json.Marshal(key)
				require.NoError(t, err)
				if key != "" && rapid.IntRange(0, 9).Draw(t, "spell") == 0 {
					r := []rune(key)[0]
					quoted = append(fmt.Appendf(nil, "\"\\u%04x", r), string(AppendString(nil, key[len(string(r)):]))[1:]...)
				}
				b.Write(quoted)
				b.WriteString(space() + ":" + space())
				if depth < 2 && rapid.IntRange(0, 4).Draw(t, "nest") == 0 {
					members = append(members, Member{key, record(depth + 1)})
					continue
				}
				n := rapid.Int64Range(-20, 20).Draw(t, "n")
				fmt.Fprint(&b, n)
				members = append(members, Member{key, Int(n)})
			}
			b.WriteString(space() + "}")
			return Object(members...)
		}
		b.WriteString("[" + space())
		for i := range rapid.IntRange(1, 8).Draw(t, "records") {
			if i > 0 {
				b.WriteString(space() + "," + space())
			}
			values = append(values, record(0))
		}
		b.WriteString("]" + strings.Repeat(" ", rapid.IntRange(0, 20).Draw(t, "end")))

		got, err := Parse(b.String())
		require.NoError(t, err)
		want := Array(values...)
		require.Equal(t, canonicalOf(t, want), canonicalOf(t, got), "%s", b.String())
		requireSameOrder(t, want, got)
	})
}

// requireSameOrder wants the keys of both in the same document order, and every key to be found.
func requireSameOrder(t *rapid.T, want, got Value) {
	require.Equal(t, want.Kind(), got.Kind())
	require.Equal(t, want.Len(), got.Len())
	for i := range want.Len() {
		if want.Kind() == ArrayKind {
			requireSameOrder(t, want.Index(i), got.Index(i))
			continue
		}
		wantKey, wantValue := want.Member(i)
		gotKey, gotValue := got.Member(i)
		require.Equal(t, wantKey, gotKey)
		found, ok := got.Get(wantKey)
		require.True(t, ok)
		require.True(t, Equal(found, wantValue))
		requireSameOrder(t, wantValue, gotValue)
	}
}
