// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package spantest

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Epoch is 0s in scripts: when the clock of a synctest bubble begins.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Time returns the time that is a duration, such as 1.5s, after Epoch.
func Time(t *testing.T, text string) time.Time {
	d, err := time.ParseDuration(text)
	require.NoError(t, err)
	return Epoch.Add(d)
}

// Batch returns a batch of spans, one for each line. A line is
//
//	trace/span [root|remote|local|parent=SPAN] [start=TIME] [name=SUFFIX] [res=SERVICE] [scope=SCOPE] [pad=BYTES]
//
// and - is no trace id. Resources and scopes are in the order of the lines; a line
// continues the last resource and scope where they are the same.
func Batch(t *testing.T, lines []string) ptrace.Traces {
	td := ptrace.NewTraces()
	var (
		lastResource, lastScope = "\x00", "\x00"
		spans                   ptrace.SpanSlice
		scopes                  ptrace.ScopeSpansSlice
	)
	for _, line := range lines {
		fields := strings.Fields(line)
		trace, id, _ := strings.Cut(fields[0], "/")
		options := map[string]string{"res": "svc", "scope": "lib"}
		for _, field := range fields[1:] {
			key, value, _ := strings.Cut(field, "=")
			options[key] = value
		}
		if options["res"] != lastResource {
			rs := td.ResourceSpans().AppendEmpty()
			rs.Resource().Attributes().PutStr("service.name", options["res"])
			scopes = rs.ScopeSpans()
			lastResource, lastScope = options["res"], "\x00"
		}
		if options["scope"] != lastScope {
			ss := scopes.AppendEmpty()
			ss.Scope().SetName(options["scope"])
			spans = ss.Spans()
			lastScope = options["scope"]
		}
		span := spans.AppendEmpty()
		if trace != "-" {
			span.SetTraceID(TraceID(trace))
		}
		span.SetSpanID(SpanID(id))
		span.SetName(id + options["name"])
		span.SetParentSpanID(SpanID("some parent"))
		for key, value := range options {
			switch key {
			case "root":
				span.SetParentSpanID(pcommon.SpanID{})
			case "remote":
				span.SetFlags(0x301)
			case "local":
				span.SetFlags(0x101)
			case "parent":
				span.SetParentSpanID(SpanID(value))
			case "start":
				span.SetStartTimestamp(pcommon.NewTimestampFromTime(Time(t, value)))
			case "pad":
				n, err := strconv.Atoi(value)
				require.NoError(t, err)
				span.Attributes().PutStr("pad", strings.Repeat("x", n))
			case "res", "scope", "name":
			default:
				t.Fatalf("unknown option %q in %q", key, line)
			}
		}
	}
	return td
}

// TraceID returns the trace id that begins with name.
func TraceID(name string) pcommon.TraceID {
	var id pcommon.TraceID
	copy(id[:], name)
	return id
}

// SpanID returns the span id that begins with name.
func SpanID(name string) pcommon.SpanID {
	var id pcommon.SpanID
	copy(id[:], name)
	return id
}

// AgentBatch is Batch for spans of an agent. Lines may also have call=TOOL, id=CALL,
// args=JSON, result=JSON, agent, conv=CONVERSATION and end=TIME.
func AgentBatch(t *testing.T, lines []string) ptrace.Traces {
	plain := make([]string, len(lines))
	more := make([]map[string]string, len(lines))
	for i, line := range lines {
		fields := strings.Fields(line)
		more[i] = map[string]string{}
		keep := fields[:0:0]
		for _, field := range fields {
			key, value, _ := strings.Cut(field, "=")
			if slices.Contains([]string{"call", "id", "args", "result", "agent", "conv", "end"}, key) {
				more[i][key] = value
			} else {
				keep = append(keep, field)
			}
		}
		plain[i] = strings.Join(keep, " ")
	}
	td := Batch(t, plain)
	i := 0
	for span := range eachSpan(td) {
		o := more[i]
		i++
		a := span.Attributes()
		for key, attribute := range map[string]string{
			"call": "gen_ai.tool.name", "id": "gen_ai.tool.call.id", "args": "gen_ai.tool.call.arguments",
			"result": "gen_ai.tool.call.result", "conv": "gen_ai.conversation.id",
		} {
			if value, ok := o[key]; ok {
				a.PutStr(attribute, value)
			}
		}
		if _, ok := o["call"]; ok {
			a.PutStr("gen_ai.operation.name", "execute_tool")
		}
		if _, ok := o["agent"]; ok {
			a.PutStr("gen_ai.operation.name", "invoke_agent")
		}
		span.SetEndTimestamp(span.StartTimestamp())
		if end, ok := o["end"]; ok {
			span.SetEndTimestamp(pcommon.NewTimestampFromTime(Time(t, end)))
		}
	}
	return td
}
