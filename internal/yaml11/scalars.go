// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package yaml11

import (
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// maxNumber bounds the characters of a number.
const maxNumber = 16_384

// plainForms are the forms in which a plain scalar is more than a string, in the order in
// which they are tried, each with the bytes that it may start with.
var plainForms = []struct {
	tag   string
	first string
	form  *regexp.Regexp
}{
	{"bool", "yYnNtTfFoO", regexp.MustCompile(`^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$`)},
	{"float", "-+.0123456789", regexp.MustCompile(`^(?:` +
		`[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?` + // 1. 1.5 1.5e+3
		`|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?` + // .5
		`|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*` + // 1:30.5
		`|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$`)},
	{"int", "-+0123456789", regexp.MustCompile(`^(?:` +
		`[-+]?0b[01_]+` +
		`|[-+]?0[0-7_]+` +
		`|[-+]?(?:0|[1-9][0-9_]*)` +
		`|[-+]?0x[0-9a-fA-F_]+` +
		`|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$`)}, // 1:30 is 90
	{"merge", "<", regexp.MustCompile(`^<<$`)},
	{"null", "~nN", regexp.MustCompile(`^(?:~|null|Null|NULL)$`)},
	{"timestamp", "0123456789", regexp.MustCompile(`^(?:\d{4}-\d\d-\d\d` +
		`|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?)$`)},
	{"value", "=", regexp.MustCompile(`^=$`)},
}

// plainTag returns the tag that a plain scalar without a tag has.
func plainTag(text string) string {
	if text == "" {
		return "null"
	}
	for _, p := range plainForms {
		if strings.IndexByte(p.first, text[0]) >= 0 && p.form.MatchString(text) {
			return p.tag
		}
	}
	return "str"
}

// timeForm is the form of a time. A plain scalar that is only a date needs two
// digits of month and day to be one; with an explicit tag one is enough.
var timeForm = regexp.MustCompile(`^(\d{4})-(\d\d?)-(\d\d?)` +
	`(?:(?:[Tt]|[ \t]+)(\d\d?):(\d\d):(\d\d)(?:\.(\d*))?(?:[ \t]*(Z|([-+])(\d\d?)(?::(\d\d))?))?)?$`)

// scalarValue returns the value of a scalar node of the given tag. Errors have
// CodeMalformed for a text that is not of the tag's form, and CodeUnsafe for a
// tag that has no value.
func scalarValue(tag, text string) (jsonvalue.Value, error) {
	if len(text) > maxNumber && (tag == "int" || tag == "float") {
		return jsonvalue.Value{}, errorf(CodeLimitExceeded, "number of more than %d characters", maxNumber)
	}
	var v jsonvalue.Value
	ok := true
	switch tag {
	case "str":
		v = jsonvalue.String(text)
	case "null":
	case "bool":
		v, ok = boolValue(text)
	case "int":
		v, ok = intValue(text)
	case "float":
		v, ok = floatValue(text)
	case "timestamp":
		v = jsonvalue.Timestamp(text)
		_, ok = timeIdentity(text)
	default:
		return jsonvalue.Value{}, errorf(CodeUnsafe, "%s where there is nothing to merge or replace", tag)
	}
	if !ok {
		return jsonvalue.Value{}, errorf(CodeMalformed, "text that is no %s", tag)
	}
	return v, nil
}

func boolValue(text string) (jsonvalue.Value, bool) {
	switch strings.ToLower(text) {
	case "yes", "true", "on":
		return jsonvalue.Bool(true), true
	case "no", "false", "off":
		return jsonvalue.Bool(false), true
	}
	return jsonvalue.Value{}, false
}

func intValue(text string) (jsonvalue.Value, bool) {
	text = strings.ReplaceAll(text, "_", "")
	negative := strings.HasPrefix(text, "-")
	if text != "" && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	var n *big.Int
	ok := text != ""
	switch {
	case !ok:
	case text == "0":
		n = new(big.Int)
	case strings.HasPrefix(text, "0b"):
		n, ok = bigInt(text[2:], 2)
	case strings.HasPrefix(text, "0x"):
		n, ok = bigInt(text[2:], 16)
	case text[0] == '0':
		n, ok = bigInt(text, 8)
	case strings.Contains(text, ":"):
		n = new(big.Int)
		for part := range strings.SplitSeq(text, ":") {
			var d *big.Int
			if d, ok = bigInt(part, 10); !ok {
				break
			}
			n.Add(n.Mul(n, big.NewInt(60)), d)
		}
	default:
		n, ok = bigInt(text, 10)
	}
	if !ok {
		return jsonvalue.Value{}, false
	}
	if negative {
		n.Neg(n)
	}
	return jsonvalue.BigInt(n), true
}

// bigInt reads an integer as an explicit tag lets it be written: with spaces around it, a
// sign and the prefix of its base.
func bigInt(text string, base int) (*big.Int, bool) {
	text = strings.TrimFunc(text, unicode.IsSpace)
	sign := ""
	if text != "" && (text[0] == '-' || text[0] == '+') {
		sign, text = text[:1], text[1:]
	}
	if len(text) > 2 && text[0] == '0' {
		switch c := text[1] | 0x20; {
		case base == 2 && c == 'b', base == 8 && c == 'o', base == 16 && c == 'x':
			text = text[2:]
		}
	}
	if text == "" || text[0] == '-' || text[0] == '+' || base == 10 && len(text) > jsonvalue.MaxIntDigits {
		return nil, false
	}
	return new(big.Int).SetString(sign+text, base)
}

func floatValue(text string) (jsonvalue.Value, bool) {
	text = strings.ToLower(strings.ReplaceAll(text, "_", ""))
	sign := 1.0
	if text != "" && (text[0] == '-' || text[0] == '+') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	switch text {
	case ".inf":
		text = "inf"
	case ".nan":
		text = "nan"
	}
	parts := strings.Split(text, ":")
	if len(parts) == 1 {
		f, ok := parseFloat(text)
		return jsonvalue.Float(sign * f), ok
	}
	// Each place is rounded on its own: its power of 60 is exact until then, and must
	// be a finite float.
	value, base := 0.0, big.NewInt(1)
	for _, part := range slices.Backward(parts) {
		digit, ok := parseFloat(part)
		power, _ := new(big.Float).SetInt(base).Float64()
		if !ok || math.IsInf(power, 0) {
			return jsonvalue.Value{}, false
		}
		value += digit * power
		base.Mul(base, big.NewInt(60))
	}
	return jsonvalue.Float(sign * value), true
}

// parseFloat reads a decimal float; one that overflows is infinite.
func parseFloat(text string) (float64, bool) {
	text = strings.TrimFunc(text, unicode.IsSpace)
	if strings.ContainsAny(text, "xXpP_") { // Go's own forms
		return 0, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil || f != 0 && f-f != 0
}

// timeIdentity reads a date or time. It is not ok for one that does not exist. Two
// texts have the same identity if they are both dates, or both times without an
// offset, or both times with one, and of the same day or instant.
func timeIdentity(text string) (identity string, ok bool) {
	m := timeForm.FindStringSubmatch(strings.TrimSuffix(text, "\n"))
	if m == nil {
		return "", false
	}
	n := func(i int) int { v, _ := strconv.Atoi(m[i]); return v }
	year, month, day := n(1), n(2), n(3)
	hour, minute, second, offset := n(4), n(5), n(6), n(10)*60+n(11)
	micro, _ := strconv.Atoi((m[7] + "000000")[:6])
	t := time.Date(year, time.Month(month), day, hour, minute, second, micro*1000, time.UTC)
	if year < 1 || t.Month() != time.Month(month) || t.Day() != day ||
		hour > 23 || minute > 59 || second > 59 || offset >= 24*60 {
		return "", false
	}
	form := "local time"
	switch {
	case m[4] == "":
		form = "date"
	case m[8] != "":
		form = "time"
	}
	if m[9] == "-" {
		offset = -offset
	}
	t = t.Add(-time.Duration(offset) * time.Minute)
	return fmt.Sprint(form, " ", t.UnixMicro()), true
}

// keyIdentity returns a text that is the same for keys that replace each other,
// of which none is a string: true is 1 and 1.0, and times are equal at one instant.
// The text and the place are those of the key.
func keyIdentity(key jsonvalue.Value, text string, place int) string {
	switch key.Kind() {
	case jsonvalue.BoolKind:
		if key.Bool() {
			return "1"
		}
		return "0"
	case jsonvalue.IntKind:
		digits, _ := key.Scalar()
		return digits
	case jsonvalue.FloatKind:
		f, _ := key.Float64()
		switch {
		case math.IsNaN(f) && strings.HasSuffix(strings.ToLower(strings.ReplaceAll(text, "_", "")), ".nan"):
			return ".nan" // one object to the reference
		case math.IsNaN(f):
			return fmt.Sprint("nan ", place) // equal to nothing
		case f == math.Trunc(f) && !math.IsInf(f, 0):
			n, _ := big.NewFloat(f).Int(nil)
			return n.String()
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	case jsonvalue.TimestampKind:
		identity, _ := timeIdentity(text)
		return identity
	}
	return key.Kind().String()
}
