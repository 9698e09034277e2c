// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// normalizer replaces what differs between two recordings of the same versions: ids, times,
// durations, addresses, paths. Equal values stay equal, and the order of times stays.
type normalizer struct {
	replace *strings.Replacer // ports and paths of this machine
	port    int
	ids     map[string]string // ids and UUIDs, in order of their appearance
	times   map[pcommon.Timestamp]pcommon.Timestamp
	traces  int
	spans   int
	others  int
}

// firstTime is 2026-01-01 00:00:00 UTC.
const firstTime = pcommon.Timestamp(created) * 1e9

var (
	idPattern = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|\b[0-9a-f]{64}\b|\b[0-9a-f]{32}\b|\b[0-9a-f]{16}\b|\bitem_[0-9a-f]{12}\b`)
	// The standard library of an interpreter, in stack traces.
	libraryPattern = regexp.MustCompile(`/[\w./-]+/lib/(python3|node)`)
	hexPattern     = regexp.MustCompile(`0x[0-9a-f]{6,16}\b`)
	datePattern    = regexp.MustCompile(`\b20[0-9]{2}-[01][0-9]-[0-3][0-9]([T ][0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]+)?([+-][0-9]{2}:?[0-9]{2}\b|Z)?)?`)
	pythonDate     = regexp.MustCompile(`datetime\.datetime\(20[0-9]{2}(, [0-9]+)+`)
	// A member of a JSON object, or of a Python one, that holds a duration or a time.
	durationPattern = regexp.MustCompile(`((?i:[a-z_]*(?:duration|latency|elapsed|ttft|time_to_first|time_per|time_ms|timestamp|started_at|ended_at|start_time|end_time|created_at|process_time|total_time)[a-z_]*)["']?\s*[:=]\s*)[0-9]+(\.[0-9]+(e-?[0-9]+)?)?`)
	durationKey     = regexp.MustCompile(`(?i)duration|latency|elapsed|time_to_|time_per|timestamp|start_time|end_time|(^|[._])time$|_ms$`)
	privateKey      = regexp.MustCompile(`^(host|process|os|thread|enduser)\.|^(code\.lineno|code\.line\.number|system_reminders)$`)
)

// normalizeTraces returns one batch for each trace, in the order in which they began. The
// spans of a batch are in the order in which they ended.
func (n *normalizer) normalizeTraces(in ptrace.Traces) (out []ptrace.Traces) {
	type span struct {
		resource ptrace.ResourceSpans
		scope    ptrace.ScopeSpans
		span     ptrace.Span
	}
	var all []span
	for _, rs := range in.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				all = append(all, span{rs, ss, s})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.span.StartTimestamp(), b.span.StartTimestamp()), cmp.Compare(b.span.EndTimestamp(), a.span.EndTimestamp()))
	})
	var traces []pcommon.TraceID
	for _, s := range all {
		if !slices.Contains(traces, s.span.TraceID()) {
			traces = append(traces, s.span.TraceID())
			n.traces++
			n.name(s.span.TraceID().String(), fmt.Sprintf("%032x", 0xa0000000+n.traces))
		}
		n.spans++
		n.name(s.span.SpanID().String(), fmt.Sprintf("%016x", 0xb0000000+n.spans))
	}
	// Ids in strings are numbered in the order of the spans' starts.
	for _, s := range all {
		n.resource(s.resource.Resource())
		n.span(s.span)
	}
	slices.SortStableFunc(all, func(a, b span) int { return cmp.Compare(a.span.EndTimestamp(), b.span.EndTimestamp()) })
	for _, id := range traces {
		batch := ptrace.NewTraces()
		for _, s := range all {
			if s.span.TraceID() != n.traceID(id) {
				continue
			}
			s.span.CopyTo(scopeSpans(batch, s.resource, s.scope).Spans().AppendEmpty())
		}
		out = append(out, batch)
	}
	return out
}

// scopeSpans returns the group of a batch for a resource and a scope.
func scopeSpans(batch ptrace.Traces, resource ptrace.ResourceSpans, scope ptrace.ScopeSpans) ptrace.ScopeSpans {
	for _, rs := range batch.ResourceSpans().All() {
		if !rs.Resource().Attributes().Equal(resource.Resource().Attributes()) {
			continue
		}
		for _, ss := range rs.ScopeSpans().All() {
			if ss.Scope().Name() == scope.Scope().Name() && ss.Scope().Version() == scope.Scope().Version() {
				return ss
			}
		}
		ss := rs.ScopeSpans().AppendEmpty()
		copyScope(scope, ss)
		return ss
	}
	rs := batch.ResourceSpans().AppendEmpty()
	resource.Resource().CopyTo(rs.Resource())
	rs.SetSchemaUrl(resource.SchemaUrl())
	ss := rs.ScopeSpans().AppendEmpty()
	copyScope(scope, ss)
	return ss
}

func copyScope(from, to ptrace.ScopeSpans) {
	from.Scope().CopyTo(to.Scope())
	to.SetSchemaUrl(from.SchemaUrl())
}

// normalizeLogs returns all log records in one batch, in the order of their times.
func (n *normalizer) normalizeLogs(in plog.Logs) plog.Logs {
	type record struct {
		resource plog.ResourceLogs
		scope    plog.ScopeLogs
		record   plog.LogRecord
	}
	var all []record
	for _, rl := range in.ResourceLogs().All() {
		n.resource(rl.Resource())
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				all = append(all, record{rl, sl, r})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b record) int { return cmp.Compare(logTime(a.record), logTime(b.record)) })
	out := plog.NewLogs()
	for _, l := range all {
		r := l.record
		r.SetTimestamp(n.time(r.Timestamp()))
		r.SetObservedTimestamp(n.time(r.ObservedTimestamp()))
		r.SetTraceID(n.traceID(r.TraceID()))
		r.SetSpanID(n.spanID(r.SpanID()))
		n.value("", r.Body())
		n.attributes(r.Attributes())
		r.CopyTo(scopeLogs(out, l.resource, l.scope).LogRecords().AppendEmpty())
	}
	return out
}

// scopeLogs returns the group of a batch for a resource and a scope.
func scopeLogs(batch plog.Logs, resource plog.ResourceLogs, scope plog.ScopeLogs) plog.ScopeLogs {
	add := func(rl plog.ResourceLogs) plog.ScopeLogs {
		sl := rl.ScopeLogs().AppendEmpty()
		scope.Scope().CopyTo(sl.Scope())
		sl.SetSchemaUrl(scope.SchemaUrl())
		return sl
	}
	for _, rl := range batch.ResourceLogs().All() {
		if !rl.Resource().Attributes().Equal(resource.Resource().Attributes()) {
			continue
		}
		for _, sl := range rl.ScopeLogs().All() {
			if sl.Scope().Name() == scope.Scope().Name() && sl.Scope().Version() == scope.Scope().Version() {
				return sl
			}
		}
		return add(rl)
	}
	rl := batch.ResourceLogs().AppendEmpty()
	resource.Resource().CopyTo(rl.Resource())
	rl.SetSchemaUrl(resource.SchemaUrl())
	return add(rl)
}

func logTime(r plog.LogRecord) pcommon.Timestamp {
	return cmp.Or(r.Timestamp(), r.ObservedTimestamp())
}

// collectTimes numbers all points in time of a recording in their order.
func (n *normalizer) collectTimes(traces ptrace.Traces, logs plog.Logs) {
	var all []pcommon.Timestamp
	for _, rs := range traces.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				all = append(all, s.StartTimestamp(), s.EndTimestamp())
				for _, e := range s.Events().All() {
					all = append(all, e.Timestamp())
				}
			}
		}
	}
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				all = append(all, r.Timestamp(), r.ObservedTimestamp())
			}
		}
	}
	slices.Sort(all)
	for i, t := range slices.Compact(all) {
		n.times[t] = firstTime + pcommon.Timestamp(i)*1e6
	}
	n.times[0] = 0
}

func (n *normalizer) time(t pcommon.Timestamp) pcommon.Timestamp { return n.times[t] }

func (n *normalizer) resource(r pcommon.Resource) { n.attributes(r.Attributes()) }

func (n *normalizer) span(s ptrace.Span) {
	s.SetTraceID(n.traceID(s.TraceID()))
	s.SetSpanID(n.spanID(s.SpanID()))
	s.SetParentSpanID(n.spanID(s.ParentSpanID()))
	s.SetStartTimestamp(n.time(s.StartTimestamp()))
	s.SetEndTimestamp(n.time(s.EndTimestamp()))
	s.SetName(n.text(s.Name()))
	s.Status().SetMessage(cutStack(n.text(s.Status().Message())))
	n.attributes(s.Attributes())
	for _, e := range s.Events().All() {
		e.SetTimestamp(n.time(e.Timestamp()))
		n.attributes(e.Attributes())
	}
	for _, l := range s.Links().All() {
		l.SetTraceID(n.traceID(l.TraceID()))
		l.SetSpanID(n.spanID(l.SpanID()))
		n.attributes(l.Attributes())
	}
}

func (n *normalizer) attributes(m pcommon.Map) {
	m.RemoveIf(func(key string, _ pcommon.Value) bool { return privateKey.MatchString(key) })
	for key, value := range m.All() {
		n.value(key, value)
	}
}

func (n *normalizer) value(key string, value pcommon.Value) {
	switch value.Type() {
	case pcommon.ValueTypeStr:
		text := n.text(value.Str())
		if strings.HasSuffix(key, "stacktrace") {
			text = cutStack(text)
		}
		value.SetStr(text)
	case pcommon.ValueTypeInt:
		switch {
		case value.Int() == int64(n.port):
			value.SetInt(8080)
		case durationKey.MatchString(key):
			value.SetInt(0)
		}
	case pcommon.ValueTypeDouble:
		if durationKey.MatchString(key) {
			value.SetDouble(0)
		}
	case pcommon.ValueTypeMap:
		for key, v := range value.Map().All() {
			n.value(key, v)
		}
	case pcommon.ValueTypeSlice:
		for _, v := range value.Slice().All() {
			n.value(key, v)
		}
	}
}

// text normalizes a string. JSON and other notations in it stay what they are.
func (n *normalizer) text(s string) string {
	s = n.replace.Replace(s)
	s = idPattern.ReplaceAllStringFunc(s, n.id)
	s = libraryPattern.ReplaceAllString(s, "/usr/lib/${1}")
	s = hexPattern.ReplaceAllString(s, "0x0")
	s = pythonDate.ReplaceAllString(s, "datetime.datetime(2026, 1, 1, 0, 0")
	s = datePattern.ReplaceAllStringFunc(s, fixedDate)
	return durationPattern.ReplaceAllString(s, "${1}0")
}

func (n *normalizer) id(id string) string {
	if id == strings.Repeat("0", len(id)) {
		return id
	}
	if known, ok := n.ids[id]; ok {
		return known
	}
	if strings.Contains(id, "-") {
		// Some exporters write a span's id as a UUID.
		if known, ok := n.ids[strings.ReplaceAll(id, "-", "")]; ok {
			return known[:8] + "-" + known[8:12] + "-" + known[12:16] + "-" + known[16:20] + "-" + known[20:]
		}
		n.others++
		return n.name(id, fmt.Sprintf("00000000-0000-4000-8000-%012d", n.others))
	}
	if _, err := strconv.ParseUint(id, 10, 64); err == nil {
		return id // a number
	}
	n.others++
	prefix, digits, ok := strings.Cut(id, "_")
	if !ok {
		return n.name(id, fmt.Sprintf("%0*x", len(id), 0xc0000000+n.others))
	}
	return n.name(id, fmt.Sprintf("%s_%0*x", prefix, len(digits), 0xc0000000+n.others))
}

// name gives an id its name, which keeps it if it is normalized again.
func (n *normalizer) name(id, name string) string {
	n.ids[id], n.ids[name] = name, name
	return name
}

// fixedDate keeps the form of a date.
func fixedDate(s string) string {
	fixed := "2026-01-01T00:00:00.000000000"
	var out strings.Builder
	for i, c := range []byte(s) {
		if c >= '0' && c <= '9' && i < len(fixed) {
			c = fixed[i]
		}
		out.WriteByte(c)
	}
	return out.String()
}

// cutStack keeps the ends of a stack trace: the rest is long and differs by machine.
func cutStack(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if len(lines) < 6 {
		return s
	}
	if strings.HasPrefix(lines[0], "Traceback") {
		return lines[0] + "\n  ...\n" + lines[len(lines)-1] + "\n"
	}
	return strings.Join(lines[:2], "\n") + "\n  ...\n"
}

func (n *normalizer) traceID(id pcommon.TraceID) (out pcommon.TraceID) {
	if !id.IsEmpty() {
		copy(out[:], unhex(n.id(id.String())))
	}
	return out
}

func (n *normalizer) spanID(id pcommon.SpanID) (out pcommon.SpanID) {
	if !id.IsEmpty() {
		copy(out[:], unhex(n.id(id.String())))
	}
	return out
}

func unhex(s string) []byte {
	out, err := hex.DecodeString(s)
	if err != nil {
		panic(err) // the normalizer's own ids are hexadecimal
	}
	return out
}
