// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// failure gathers the evidence of a failure from the span's status, its events
// and the attributes of its dialects.
func (d *Decoder) failure(s *Span, span ptrace.Span) Failure {
	var f Failure
	exceptionType := ""
	for i := 0; i < span.Events().Len(); i++ {
		event := span.Events().At(i)
		if event.Name() != "exception" {
			continue
		}
		f.Exception = true
		if v, ok := event.Attributes().Get("exception.type"); ok && v.Type() == pcommon.ValueTypeStr {
			exceptionType = v.Str()
		}
	}
	marked := false
	for i := range d.rows {
		r := &d.rows[i]
		if f.Type == "" {
			f.Type = d.first(r.failureType)
		}
		marked = marked || d.marked(r.failure, s)
	}
	f.Evident = f.Exception || f.Type != "" || marked
	if span.Status().Code() == ptrace.StatusCodeError {
		f.Status = span.Status().Message()
	} else if !f.Evident {
		return f
	}

	switch {
	case interrupt(exceptionType) || interrupt(f.Type):
		f.Kind = Interrupted
	case cancelled(f.Type) || f.Type == "" && cancelled(exceptionType):
		f.Kind = Cancelled
	case f.Type == "tool_error":
		f.Kind = ToolError
	default:
		f.Kind = Failed
	}
	return f
}

// className cuts a qualified name (langgraph.errors.GraphInterrupt,
// System.Threading.TaskCanceledException) to its last part.
func className(s string) string {
	if i := strings.LastIndexAny(s, ".:/"); i >= 0 {
		s = s[i+1:]
	}
	return strings.ToLower(s)
}

// cancelled recognises calls that were given up before they returned.
func cancelled(name string) bool {
	switch className(name) {
	case "cancelled", "canceled", "cancellederror", "cancelederror", "aborterror",
		"operationcanceledexception", "taskcanceledexception", "cancellationexception":
		return true
	}
	return false
}

// interrupt recognises exceptions by which a framework hands a call over to a
// person or defers it.
func interrupt(name string) bool {
	switch className(name) {
	case "graphinterrupt", "nodeinterrupt", "interrupt", "approvalrequired", "calldeferred",
		"humaninputrequired", "toolapprovalrequired":
		return true
	}
	return false
}
