// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// toolError is the error.type of a tool that answered, and answered that it
// failed.
const toolError = "tool_error"

// failure gathers the evidence of a failure from the span's status, its events
// and the attributes of the dialects. Those of a user's dialect count on its own
// spans only.
func (d *Decoder) failure(s *Span, spoken DialectSet, span ptrace.Span) Failure {
	var f Failure
	var thrown []string // what the exceptions are called
	for _, event := range span.Events().All() {
		if event.Name() != "exception" {
			continue
		}
		f.Exception = true
		for _, key := range [...]string{"exception.type", "exception.message"} {
			if v, ok := event.Attributes().Get(key); ok && v.Type() == pcommon.ValueTypeStr && v.Str() != "" {
				thrown = append(thrown, v.Str())
				break // a message tells the class only where nothing else does
			}
		}
	}
	marked, deferred, denied := false, false, false
	candidates := d.failing.Union(d.unconditional)
	for i := candidates.next(0); i >= 0; i = candidates.next(i + 1) {
		r := &d.rows[i]
		if i < d.custom && !spoken.Has(i) {
			continue
		}
		if f.Type == "" {
			f.Type = d.firstText(r.failureType)
		}
		marked = marked || d.marked(r.failure, s)
		if spoken.Has(i) {
			deferred = deferred || d.marked(r.deferred, s)
			denied = denied || d.marked(r.denied, s)
		}
	}
	if denied || deferred {
		if f.Kind, f.Evident = Interrupted, true; denied {
			f.Kind = Denied
		}
		return f
	}
	f.Evident = f.Exception || f.Type != "" || marked
	if span.Status().Code() == ptrace.StatusCodeError {
		f.Status = span.Status().Message()
	} else if !f.Evident {
		return f
	}

	names := append(thrown, f.Type)
	if len(thrown) == 0 && f.Type == "" {
		names = append(names, f.Status)
	}
	switch {
	case some(names, interrupt):
		f.Kind = Interrupted
	case cancelled(f.Type), f.Type == "" && some(names, cancelled):
		f.Kind = Cancelled
	case f.Type == toolError:
		f.Kind = ToolError
	default:
		f.Kind = Failed
	}
	return f
}

func some(names []string, is func(string) bool) bool {
	for _, n := range names {
		if is(n) {
			return true
		}
	}
	return false
}

// className cuts the name of an exception (langgraph.errors.GraphInterrupt,
// System.Threading.TaskCanceledException), or what begins with one
// (GraphInterrupt: …, GraphInterrupt([…])), to the class.
func className(s string) string {
	end := 0
	for end < len(s) && (s[end] == '_' || s[end] == '.' || s[end] == '/' || s[end]|0x20 >= 'a' && s[end]|0x20 <= 'z' || s[end]-'0' <= 9 ||
		s[end] == ':' && end+1 < len(s) && s[end+1] == ':' || s[end] == ':' && end > 0 && s[end-1] == ':') {
		end++
	}
	if end < len(s) && s[end] == ' ' {
		return "" // prose
	}
	s = s[:end]
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
	case "graphinterrupt", "nodeinterrupt", "interrupt", "interruptexception", "approvalrequired", "approvalrequirederror", "calldeferred",
		"humaninputrequired", "humaninterrupt", "toolapprovalrequired", "deferredtoolcall", "toolinterrupterror", "userinputrequired":
		return true
	}
	return false
}
