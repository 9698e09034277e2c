// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package genai

import (
	"strings"

	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// Result is what a tool returned, taken out of the wrappers that frameworks and
// instrumentations put around it.
type Result struct {
	State ResultState
	// Kind is what Value looks like: KindJSON, KindText or KindStdio.
	Kind engine.InputKind
	// Value is the result itself: a string for KindText, the whole object for
	// KindStdio.
	Value jsonvalue.Value
	// Source is the text that Value was parsed from, "" if it was none.
	Source   string
	ExitCode int64 // KindStdio
	// Failed is set if a wrapper says that the call failed (isError, an error
	// status).
	Failed bool
	// Denied is set if a wrapper says that the call was refused and never ran.
	Denied bool
	// Rendering is set if the result was made for a model from what the tool returned.
	Rendering bool
	// Masked is set if placeholders stand in place of some of its values. Value is
	// without these.
	Masked bool
	// Conflict is set if the result contradicts itself: content blocks that are no
	// rendering of the structure beside them, an isError that is no boolean.
	Conflict bool
	// MCP is set if the result was wrapped in an MCP tool result.
	MCP bool
	// CallID and Tool are what a wrapper says of the call, if it does.
	CallID, Tool string
}

// ResultState says whether there is a result to judge.
type ResultState uint8

const (
	// NotCaptured: the telemetry holds no result.
	NotCaptured ResultState = iota
	// Captured: there is one.
	Captured
	// Truncated: there is the beginning of one.
	Truncated
)

// maxWrappers bounds how many wrappers are opened. The deepest recorded nesting
// (a framework's output key, a serialised message, a content block, JSON in a
// string) has five.
const maxWrappers = 12

// Result opens the wrappers around a recorded result. JSON text is parsed; JSON
// in a JSON string is parsed once more, and no further.
func (c Content) Result() Result {
	if c.Form == Absent {
		if c.Dropped {
			return Result{State: Truncated}
		}
		return Result{}
	}
	o := opener{dialect: c.Dialect, fresh: c.Form == Text, extra: 1}
	o.result = Result{State: Captured, Kind: engine.KindJSON}
	v := c.Value
	for range maxWrappers {
		next, more := o.open(v)
		if !more {
			v = next
			break
		}
		if v.Kind() != jsonvalue.StringKind {
			o.result.Source = ""
		}
		v = next
	}
	r := o.result
	if r.State == NotCaptured {
		return Result{Failed: r.Failed, Denied: r.Denied, Conflict: r.Conflict, MCP: r.MCP, CallID: r.CallID, Tool: r.Tool}
	}
	if r.Value, r.Masked = unmasked(v, 0); r.Masked && r.Value.Len() == 0 {
		return Result{Failed: r.Failed, Conflict: r.Conflict, MCP: r.MCP, CallID: r.CallID, Tool: r.Tool}
	}
	if r.Masked {
		v, r.Source = r.Value, ""
	}
	if v.Kind() == jsonvalue.StringKind {
		r.Source = ""
		if r.State == Captured {
			r.Kind = engine.KindText
		}
		r.Failed = r.Failed || o.dialect.failureText(v.Text())
	} else if code, ok := exitCode(v); ok {
		r.Kind, r.ExitCode = engine.KindStdio, code
	}
	return r
}

// opener takes off one wrapper at a time.
type opener struct {
	result  Result
	dialect *Dialect
	// fresh: a text that comes now is one that can only be text where it stands
	// (an attribute, an MCP text block), so any JSON in it is the result's own.
	fresh bool
	// extra is how many texts that are JSON strings already may be parsed again.
	extra int
}

func (o *opener) open(v jsonvalue.Value) (jsonvalue.Value, bool) {
	switch v.Kind() {
	case jsonvalue.StringKind:
		return o.openText(v)
	case jsonvalue.ObjectKind:
		return o.openObject(v)
	case jsonvalue.ArrayKind:
		o.fresh = true
		return joinBlocks(v)
	default:
		return v, false
	}
}

// openText parses a text. Of a text that stood as a string in JSON only objects
// and arrays count: "42" in quotes is a string.
func (o *opener) openText(v jsonvalue.Value) (jsonvalue.Value, bool) {
	text := v.Text()
	if placeholder(text, o.dialect) {
		o.result.State = NotCaptured
		return v, false
	}
	fresh := o.fresh
	o.fresh = false
	if !fresh && o.extra == 0 {
		return v, false
	}
	if !jsonStart(text, !fresh) {
		if printed, ok := o.printed(text); ok {
			return printed, true
		}
		if fresh && onlyMarker(text) {
			o.result.State = Truncated
		}
		return v, false
	}
	parsed, err := jsonvalue.Parse(text)
	if err != nil {
		if printed, ok := o.printed(text); ok {
			return printed, true
		}
		if brokenOff(text) {
			o.result.State = Truncated
		}
		return v, false
	}
	if !fresh {
		o.extra--
	}
	o.result.Source = text
	return parsed, true
}

// printed reads a result as Python prints it.
func (o *opener) printed(text string) (jsonvalue.Value, bool) {
	if o.dialect == nil || !o.dialect.Python && len(o.dialect.Printed) == 0 {
		return jsonvalue.Value{}, false
	}
	literal, ok := pythonResult(text, o.dialect.Printed)
	if !ok {
		return jsonvalue.Value{}, false
	}
	v, err := jsonvalue.Parse(literal)
	return v, err == nil
}

// jsonStart reports whether a text may be JSON, or an object or an array.
func jsonStart(text string, containers bool) bool {
	t := strings.TrimLeft(text, " \t\r\n")
	if t == "" {
		return false
	}
	switch c := t[0]; {
	case c == '{' || c == '[':
		return true
	case containers:
		return false
	case c == '"' || c == '-' || c >= '0' && c <= '9':
		return true
	default:
		t = strings.TrimRight(t, " \t\r\n")
		return t == "true" || t == "false" || t == "null"
	}
}

func exitCode(v jsonvalue.Value) (int64, bool) {
	if v.Kind() != jsonvalue.ObjectKind {
		return 0, false
	}
	if _, ok := v.Get("stdout"); !ok {
		return 0, false
	}
	for _, key := range [...]string{"exit_code", "exitCode", "return_code"} {
		if code, ok := v.Get(key); ok {
			return code.Int64()
		}
	}
	return 0, false
}

// Nothing reports whether a text is how tools write that they return nothing: it
// is blank, or the null of a language and nothing else.
func Nothing(text string) bool {
	switch strings.TrimSpace(text) {
	case "", "None", "null", "undefined", "nil":
		return true
	}
	return false
}

// failureText reports whether a text is one that the dialect returns for a call that
// failed.
func (d *Dialect) failureText(text string) bool {
	if d == nil {
		return false
	}
	for _, pattern := range d.FailureText {
		if _, ok := fits(pattern, text); ok {
			return true
		}
	}
	return false
}

// failureTexts begin what frameworks tell a model about a tool that threw.
var failureTexts = []string{"Error: ", "Error executing tool ", "Error in tool ", "Error invoking tool "}

// FailureText reports whether a result is a framework's text about a tool that
// threw.
func FailureText(r Result) bool {
	if r.Kind != engine.KindText || r.Value.Kind() != jsonvalue.StringKind {
		return false
	}
	for _, begin := range failureTexts {
		if strings.HasPrefix(r.Value.Text(), begin) {
			return true
		}
	}
	return false
}
