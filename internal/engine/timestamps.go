// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// ParseClock reads a reference clock as ISO 8601, with white space around it or
// without; a time without an offset is UTC. In UTC it may be outside of the years
// 1 to 9999. Errors have CodeInvalidArgument.
func ParseClock(text string) (time.Time, error) {
	if t, ok := parseTimestamp(strings.TrimFunc(text, isSpace)); ok {
		return time.UnixMicro(t.local - t.offset).UTC(), nil
	}
	return time.Time{}, errorf(CodeInvalidArgument, "the clock must be an ISO 8601 time")
}

// ParseTimestamp reads when something was observed, as rule 7 does. A time that
// cannot be read or has no offset is not ok: it may be any time.
func ParseTimestamp(text string) (t time.Time, ok bool) {
	micro, ok := observationTime(text)
	return time.UnixMicro(micro).UTC(), ok
}

// isSpace reports whether r is white space to the reference, for which the four
// separators U+001C to U+001F are, too.
func isSpace(r rune) bool { return unicode.IsSpace(r) || 0x1C <= r && r <= 0x1F }

// formatClock writes the reference clock as the default of ObservedAt: in UTC, cut
// to seconds. Only the years 1 to 9999 can be written.
func formatClock(now time.Time) (text string, ok bool) {
	now = now.UTC()
	if now.Year() < 1 || now.Year() > 9999 {
		return "", false
	}
	var room [32]byte
	b := strconv.AppendInt(room[:0], int64(now.Year()), 10) // years before 1000 are not padded
	return string(now.AppendFormat(b, "-01-02T15:04:05Z")), true
}

// microseconds is a time as microseconds since 1970.
func microseconds(t time.Time) int64 { return t.UnixMicro() }

// observationTime reads a time with an offset.
func observationTime(text string) (micro int64, ok bool) {
	t, ok := parseTimestamp(text)
	return t.local - t.offset, ok && t.zoned
}

// timestamp is a time of day at some offset, in microseconds; local counts from 1970.
type timestamp struct {
	local, offset int64
	zoned         bool
}

// parseTimestamp reads ISO 8601: a date, any one character, a time, an offset.
// "Z" stands for +00:00 wherever it stands.
func parseTimestamp(text string) (timestamp, bool) {
	text = strings.ReplaceAll(text, "Z", "+00:00")
	if len(text) < 7 {
		return timestamp{}, false
	}
	end := dateEnd(text)
	if end < 0 || end > len(text) {
		return timestamp{}, false
	}
	days, ok := parseDate(text[:end])
	if !ok {
		return timestamp{}, false
	}
	t := timestamp{local: days * 86400e6}
	if end == len(text) {
		return t, true
	}
	_, size := utf8.DecodeRuneInString(text[end:])
	clock := text[end+size:]
	if sign := strings.IndexAny(clock, "+-"); sign >= 0 {
		offset, rest, ok := parseTime(clock[sign+1:])
		micro := offset.micro()
		if !ok || rest != "" || micro >= 24*3600e6 {
			return timestamp{}, false
		}
		if micro < 1e6 {
			micro = 0 // an offset of less than a second is none
		}
		if clock[sign] == '-' {
			micro = -micro
		}
		t.offset, t.zoned = micro, true
		clock = clock[:sign]
	}
	day, rest, ok := parseTime(clock)
	// Before an offset one more character may stand, and after six digits of a
	// fraction anything; a time without offset ends where it ends.
	if !ok || rest != "" && !t.zoned || day.hour > 23 || day.minute > 59 || day.second > 59 {
		return timestamp{}, false
	}
	t.local += day.micro()
	return t, true
}

// dateEnd is where the date ends. Since any character may separate it from the
// time, week dates are ambiguous: what follows the week is its day unless the
// rest is then no time.
func dateEnd(text string) int {
	switch {
	case len(text) == 7:
		return 7
	case text[4] == '-' && text[5] == 'W':
		switch {
		case len(text) == 8 || text[8] != '-':
			return 8
		case len(text) == 9:
			return -1
		case len(text) > 10 && isDigit(text[10]): // YYYY-Www-HH rather than a digit as separator
			return 8
		}
		return 10
	case text[4] == '-':
		return 10
	case text[4] == 'W':
		run := digits(text, 7)
		switch {
		case run < 9:
			return run
		case run%2 == 0: // digits of a time come in pairs
			return 7
		}
		return 8
	}
	return 8
}

// parseDate reads YYYY-MM-DD, YYYYMMDD, YYYY-Www[-D] or YYYYWww[D] as days since 1970.
func parseDate(text string) (days int64, ok bool) {
	year, ok := number(text, 0, 4)
	if !ok || year < 1 {
		return 0, false
	}
	at, dash := 4, strings.HasPrefix(text[4:], "-")
	if dash {
		at++
	}
	if strings.HasPrefix(text[at:], "W") {
		return parseWeekDate(year, text[at+1:], dash)
	}
	month, ok := number(text, at, 2)
	if !ok {
		return 0, false
	}
	at += 2
	if dash {
		if !strings.HasPrefix(text[at:], "-") {
			return 0, false
		}
		at++
	}
	day, ok := number(text, at, 2)
	if !ok || at+2 != len(text) || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false
	}
	return daysSince1970(year, month, day), true
}

// parseWeekDate reads what follows "W" in an ISO week date.
func parseWeekDate(year int, text string, dash bool) (days int64, ok bool) {
	week, ok := number(text, 0, 2)
	if !ok {
		return 0, false
	}
	day, rest := 1, text[2:]
	if rest != "" {
		if dash && !strings.HasPrefix(rest, "-") {
			return 0, false
		}
		if dash {
			rest = rest[1:]
		}
		if day, ok = number(rest, 0, 1); !ok || len(rest) != 1 {
			return 0, false
		}
	}
	if week < 1 || week > weeksIn(year) || day < 1 || day > 7 {
		return 0, false
	}
	days = firstMonday(year) + int64(week-1)*7 + int64(day-1)
	return days, days <= daysSince1970(9999, 12, 31)
}

// timeOfDay is a time, or an offset, whose fields are not yet held to a range.
type timeOfDay struct {
	hour, minute, second int
	fraction             int64 // microseconds
}

func (t timeOfDay) micro() int64 {
	return (int64(t.hour)*3600+int64(t.minute)*60+int64(t.second))*1e6 + t.fraction
}

// parseTime reads HH[:MM[:SS]] or HH[MM[SS]], and a fraction after any of them
// that counts as one of a second, whatever it stands behind. It returns what
// follows: one character, or what stands behind six digits of a fraction.
func parseTime(text string) (t timeOfDay, rest string, ok bool) {
	colons, at := false, 0
	for i, field := range []*int{&t.hour, &t.minute, &t.second} {
		if *field, ok = number(text, at, 2); !ok {
			return t, "", false
		}
		at += 2
		if i == 0 {
			colons = at < len(text) && text[at] == ':'
		}
		if at >= len(text)-1 { // the end, or one character before it
			return t, text[at:], true
		}
		switch c := text[at]; {
		case colons && c == ':':
			at++
		case c == '.', c == ',':
			return t.withFraction(text[at+1:])
		case colons:
			return t, "", false
		}
	}
	return t.withFraction(text[at:])
}

// withFraction reads the digits of a fraction, of which six count.
func (t timeOfDay) withFraction(text string) (_ timeOfDay, rest string, ok bool) {
	n, ok := number(text, 0, min(len(text), 6))
	if !ok {
		return t, "", false
	}
	t.fraction = int64(n)
	for i := len(text); i < 6; i++ {
		t.fraction *= 10
	}
	return t, strings.TrimLeft(text[min(len(text), 6):], "0123456789"), true
}

// number reads exactly n digits at i.
func number(text string, i, n int) (v int, ok bool) {
	if i+n > len(text) || digits(text[:i+n], i) != i+n {
		return 0, false
	}
	v, err := strconv.Atoi(text[i : i+n])
	return v, err == nil
}

func leap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func daysIn(year, month int) int {
	if month == 2 && leap(year) {
		return 29
	}
	return [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
}

func daysSince1970(year, month, day int) int64 {
	return time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / 86400
}

// firstMonday is the Monday of ISO week 1: that of the week with January 4.
func firstMonday(year int) int64 {
	fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
	return daysSince1970(year, 1, 4) - int64(fourth.Weekday()+6)%7
}

func weeksIn(year int) int {
	return int(firstMonday(year+1)-firstMonday(year)) / 7
}

// digits returns where the decimal digits from i on end.
func digits(text string, i int) int {
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return c-'0' <= 9 }
