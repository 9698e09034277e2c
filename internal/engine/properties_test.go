// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

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
		kinds := []ValueKind{NullKind, BoolKind, IntKind, FloatKind, StringKind, ArrayKind, ObjectKind}
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

// TestSpellingNeverChangesAHash: the order of keys, white space, escapes and
// members that a later one replaces are not part of a value.
func TestSpellingNeverChangesAHash(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		want := canonicalOf(t, v)
		text := spell(t, v)
		parsed, err := ParseJSON(text)
		require.NoError(t, err, text)
		require.Equal(t, want, canonicalOf(t, parsed), text)
		require.True(t, Equal(v, parsed))
		require.True(t, Equal(parsed, v))
		a, err := Hash(v)
		require.NoError(t, err)
		b, err := Hash(parsed)
		require.NoError(t, err)
		require.Equal(t, a, b)
	})
}

// TestCanonicalFormIsAFixedPoint: the canonical form of the canonical form is itself,
// and both kinds of container read alike.
func TestCanonicalFormIsAFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := values(3).Draw(t, "value")
		want := canonicalOf(t, v)
		parsed, err := ParseJSON(want)
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
		parsed, err := ParseJSON(text)
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

// observation is a case that a contract can be held against.
type observation struct {
	Contract Contract
	Input    Input
}

func versionText(n int) string { return "rev-" + strconv.Itoa(n) }

// observations are cases near to sealing, each with a few things amiss.
var observations = rapid.Custom(func(t *rapid.T) observation {
	claims := []ClaimType{ClaimFound, ClaimNotFound, ClaimReadComplete, ClaimEffectObserved, ClaimTaskComplete}
	amiss := func(what string) bool { return rapid.IntRange(0, 9).Draw(t, what) == 0 }
	sentinel := "NOT_FOUND"
	low := versionText(rapid.IntRange(1, 20).Draw(t, "least version"))
	c := Contract{
		SchemaVersion:          "1",
		ClaimType:              rapid.SampledFrom(claims).Draw(t, "claim"),
		RequiredFields:         rapid.SampledFrom([][]string{nil, {"id"}, {"id", "name"}}).Draw(t, "fields"),
		SourceRef:              "crm://customers",
		TargetRef:              "customer:42",
		EffectEvidenceRequired: rapid.Bool().Draw(t, "evidence required"),
	}
	if c.ClaimType == ClaimNotFound || amiss("stray sentinel") {
		c.NotFoundSentinel = &sentinel
		c.RequiredFields = nil
	}
	switch c.Freshness.Mode = rapid.SampledFrom([]FreshnessMode{FreshnessNotRequired, FreshnessSourceVersion, FreshnessMaxAge}).Draw(t, "mode"); c.Freshness.Mode {
	case FreshnessSourceVersion:
		c.MinSourceVersion = &low
	case FreshnessMaxAge:
		c.Freshness.MaxAgeSeconds = rapid.Int64Range(0, 100).Draw(t, "age limit")
	}
	payload := []Member{{"id", Int(42)}, {"name", String("Ada")}}
	if c.NotFoundSentinel != nil {
		payload = append(payload, Member{"status", String(sentinel)})
	}
	for i := range payload {
		if amiss("missing") {
			payload = append(payload[:i], payload[i+1:]...)
			break
		}
	}
	version := versionText(rapid.IntRange(10, 30).Draw(t, "version"))
	age := time.Duration(rapid.IntRange(-1, 60).Draw(t, "age")) * time.Second
	in := Input{
		Kind:          KindJSON,
		SourceRef:     c.SourceRef,
		TargetRef:     c.TargetRef,
		Body:          Object(payload...),
		SourceVersion: &version,
		EvidenceRefs:  []string{"delete-api:204"},
		ObservedAt:    benchmarkNow.Add(-age).Format(time.RFC3339Nano),
	}
	if amiss("target") {
		in.TargetRef = "customer:43"
	}
	if amiss("source") {
		in.SourceRef = "crm://archive"
	}
	if amiss("no evidence") {
		in.EvidenceRefs = nil
	}
	if amiss("no version") {
		in.SourceVersion = nil
	}
	if amiss("conflict") {
		in.Metadata = []Member{{"protocol_conflict", Bool(true)}}
	}
	return observation{c, in}
})

func (o observation) evaluate(t require.TestingT) Evaluation {
	require.NoError(t, o.Contract.Validate())
	r, err := o.Input.Read()
	require.NoError(t, err)
	env, err := o.Input.Envelope(r, benchmarkNow)
	require.NoError(t, err)
	return o.Contract.Evaluate(&env, r.Payload, benchmarkNow)
}

// TestLessEvidenceNeverSealsMore: whatever is taken from an observation, a claim
// that was blocked stays blocked.
func TestLessEvidenceNeverSealsMore(t *testing.T) {
	removals := map[string]func(t *rapid.T, o *observation){
		"evidence":  func(_ *rapid.T, o *observation) { o.Input.EvidenceRefs = nil },
		"version":   func(_ *rapid.T, o *observation) { o.Input.SourceVersion = nil },
		"body":      func(_ *rapid.T, o *observation) { o.Input.Body = Null() },
		"transport": func(_ *rapid.T, o *observation) { o.Input.Kind, o.Input.StatusCode = KindHTTPJSON, 500 },
		"dispatch":  func(_ *rapid.T, o *observation) { o.Input.Kind = KindClaimOnly },
		"capture":   func(_ *rapid.T, o *observation) { o.Input.Gap = ReasonResultNotCaptured },
		"offset":    func(_ *rapid.T, o *observation) { o.Input.ObservedAt = strings.TrimSuffix(o.Input.ObservedAt, "Z") },
		"a field": func(t *rapid.T, o *observation) {
			n := o.Input.Body.Len()
			if n == 0 {
				return
			}
			drop := rapid.IntRange(0, n-1).Draw(t, "drop")
			var kept []Member
			for i := range n {
				if key, v := o.Input.Body.Member(i); i != drop {
					kept = append(kept, Member{key, v})
				}
			}
			o.Input.Body = Object(kept...)
		},
	}
	for name, remove := range removals {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				o := observations.Draw(t, "observation")
				before := o.evaluate(t)
				remove(t, &o)
				after := o.evaluate(t)
				if before.Decision == Blocked {
					require.Equal(t, Blocked, after.Decision, "%v, then %v", before, after)
				}
			})
		})
	}
}

// TestNoSealSurvivesAnotherTarget: nor another source.
func TestNoSealSurvivesAnotherTarget(t *testing.T) {
	sealed := 0
	rapid.Check(t, func(t *rapid.T) {
		o := observations.Draw(t, "observation")
		if o.evaluate(t).Decision == Sealed {
			sealed++
		}
		ref := rapid.SampledFrom([]*string{&o.Input.SourceRef, &o.Input.TargetRef, &o.Contract.SourceRef, &o.Contract.TargetRef}).Draw(t, "ref")
		was := *ref
		*ref = rapid.SampledFrom([]string{was + " ", strings.ToUpper(was), was[1:], was + "\u200b", "x"}).Draw(t, "other")
		switch ref {
		case &o.Input.SourceRef:
			o.Contract.SourceRef = was
		case &o.Input.TargetRef:
			o.Contract.TargetRef = was
		case &o.Contract.SourceRef:
			o.Input.SourceRef = was
		default:
			o.Input.TargetRef = was
		}
		require.Equal(t, Blocked, o.evaluate(t).Decision)
	})
	require.NotZero(t, sealed, "nothing was ever sealed, so nothing was shown")
}

// TestNoFreshnessSurvivesAnOlderRevision: an observation that is older than the
// least version, or than the limit, is never sealed.
func TestNoFreshnessSurvivesAnOlderRevision(t *testing.T) {
	sealed := 0
	rapid.Check(t, func(t *rapid.T) {
		o := observations.Draw(t, "observation")
		if o.evaluate(t).Decision == Sealed {
			sealed++
		}
		switch o.Contract.Freshness.Mode {
		case FreshnessSourceVersion:
			older := "rev-0"
			o.Input.SourceVersion = &older
		case FreshnessMaxAge:
			late := time.Duration(o.Contract.Freshness.MaxAgeSeconds)*time.Second + time.Duration(rapid.Int64Range(1, 1e6).Draw(t, "late"))*time.Microsecond
			o.Input.ObservedAt = benchmarkNow.Add(-late).Format(time.RFC3339Nano)
		default:
			return
		}
		require.Equal(t, Blocked, o.evaluate(t).Decision)
	})
	require.NotZero(t, sealed, "nothing was ever sealed, so nothing was shown")
}

// TestVersionOrder: comparing is antisymmetric, equal texts are equal, and numbers
// count by their value.
func TestVersionOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		runs := rapid.SliceOfN(rapid.SampledFrom([]string{"0", "7", "10", "007", "a", ".", "-", "é", "٣", "²"}), 0, 6)
		a, b := strings.Join(runs.Draw(t, "a"), ""), strings.Join(runs.Draw(t, "b"), "")
		require.Equal(t, CompareVersions(a, b), -CompareVersions(b, a))
		require.Zero(t, CompareVersions(a, a))
		n, m := rapid.Uint32().Draw(t, "n"), rapid.Uint32().Draw(t, "m")
		want := 0
		if n != m {
			want = 1
			if n < m {
				want = -1
			}
		}
		zeros := strings.Repeat("0", rapid.IntRange(0, 3).Draw(t, "zeros"))
		require.Equal(t, want, CompareVersions(fmt.Sprintf("v%s%d", zeros, n), fmt.Sprintf("v%d", m)))
	})
}

// TestTimesAgainstTheLibrary: what RFC 3339 allows is read as the standard library
// reads it, to the microsecond.
func TestTimesAgainstTheLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMicro(rapid.Int64Range(-62135596800e6, 253402300799e6).Draw(t, "time"))
		zone := time.FixedZone("", rapid.IntRange(-1439, 1439).Draw(t, "offset")*60)
		text := at.In(zone).Format("2006-01-02T15:04:05.999999Z07:00")
		if len(text) < 19 || text[4] != '-' || text[0] == '-' || at.In(zone).Year() < 1 || at.In(zone).Year() > 9999 {
			t.Skip("a year that the format cannot hold")
		}
		got, ok := ParseTimestamp(text)
		require.True(t, ok, text)
		require.True(t, at.Equal(got), "%s is %s, not %s", text, at, got)
	})
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
					quoted = append(fmt.Appendf(nil, "\"\\u%04x", r), string(appendString(nil, key[len(string(r)):]))[1:]...)
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

		got, err := ParseJSON(b.String())
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
