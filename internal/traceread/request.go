// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package traceread

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/otlpjson"
)

// value hands over a request, or each request of a list. It has the text to
// itself.
func (s *stream) value(text []byte, line int) bool {
	if text[0] == '{' && !severalObjects(text) {
		return s.request(text, line, func(text []byte) (ptrace.Traces, error) {
			td, err := request(text)
			s.pool.recycle(text)
			return td, err
		})
	}
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var raw json.RawMessage
		switch err := d.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return true
		case err != nil:
			return s.broken(line, jsonError(err))
		}
		if !s.requests(raw, line, maxLists) {
			return false
		}
	}
}

// severalObjects reports whether one object may follow another in a text.
func severalObjects(text []byte) bool {
	return bytes.Contains(text, []byte("}{")) || bytes.Contains(text, []byte("} {")) || text[len(text)-1] != '}'
}

// request hands over one request.
func (s *stream) request(text []byte, line int, parse func([]byte) (ptrace.Traces, error)) bool {
	const exact = 8 // what part of the room is worth the work
	cost := mostOfJSON(text)
	if cost > s.pool.room.size/exact {
		cost, _ = jsonCost(text)
	}
	return s.pool.parse(Place{s.name, line}, text, cost, parse)
}

// maxLists is in how many lists a request stands at most, and maxResults in how
// many others as their result.
const (
	maxLists   = 4
	maxResults = 4
)

// requests hands over one value: a request or a list of them, in which there are
// so many lists within each other at most.
func (s *stream) requests(raw []byte, line, lists int) bool {
	if raw[0] != '[' {
		return s.request(raw, line, request)
	}
	if lists == 0 {
		return s.broken(line, errNested)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return s.broken(line, jsonError(err))
	}
	for _, e := range list {
		if !s.requests(e, line, lists-1) {
			return false
		}
	}
	return true
}

// request parses one JSON object: an OTLP request or a download from Jaeger.
// Nothing of what it returns is part of the text.
func request(text []byte) (ptrace.Traces, error) { return requestIn(text, 0) }

// requestIn parses a request that is the result in so many others.
func requestIn(text []byte, results int) (ptrace.Traces, error) {
	if !requestHead.Match(text[:min(len(text), headSize)]) {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(text, &members); err != nil {
			return ptrace.Traces{}, jsonError(err)
		}
		if inner, ok := members["result"]; ok && inner[0] == '{' {
			if results == maxResults {
				return ptrace.Traces{}, errNested
			}
			return requestIn(inner, results+1)
		}
		isJaeger, err := kindOf(func(key string) bool { _, ok := members[key]; return ok })
		switch {
		case len(members) == 0: // a request without spans
		case err != nil:
			return ptrace.Traces{}, err
		case isJaeger:
			return jaeger(text)
		}
	}
	if td, ok := otlpjson.Traces(text); ok {
		return td, nil
	}
	// The general decoder would not see what follows the object.
	var c cutter
	if n := c.cut(text); c.done && n < len(text) {
		return several(text)
	}
	if _, nesting := jsonCost(text); nesting > maxNesting {
		return ptrace.Traces{}, errNested // the decoder has no bound
	}
	var u ptrace.JSONUnmarshaler
	td, err := u.UnmarshalTraces(text)
	if err == nil {
		return td, nil
	}
	// The decoder's own message may quote what it met.
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		return ptrace.Traces{}, jsonError(err)
	}
	return ptrace.Traces{}, errors.New("no OTLP traces: a field has a wrong type")
}

// several parses objects that follow each other. If there is an error, the requests
// before it count all the same.
func several(text []byte) (ptrace.Traces, error) {
	all := ptrace.NewTraces()
	for {
		text = bytes.TrimLeft(text, space)
		switch {
		case len(text) == 0:
			return all, nil
		case text[0] != '{':
			return all, errors.New("something else follows an object")
		}
		var c cutter
		n := c.cut(text)
		td, err := request(text[:n])
		if td != (ptrace.Traces{}) {
			td.ResourceSpans().MoveAndAppendTo(all.ResourceSpans())
		}
		if err != nil {
			return all, err
		}
		text = text[n:]
	}
}

// requestHead matches what nearly every request begins with.
var requestHead = regexp.MustCompile(`^\{\s*"resource_?[sS]pans"`)

// requestKeys are the keys that tell what a JSON object is.
var requestKeys = []string{"result", "resourceSpans", "resource_spans", "data", "resourceLogs", "resource_logs", "resourceMetrics", "resource_metrics"}

// kindOf tells by its keys what a JSON object is.
func kindOf(has func(key string) bool) (isJaeger bool, err error) {
	switch {
	case has("resourceSpans"), has("resource_spans"):
		return false, nil
	case has("data"):
		return true, nil
	case has("resourceLogs"), has("resource_logs"):
		return false, errors.New("these are OTLP logs, not traces")
	case has("resourceMetrics"), has("resource_metrics"):
		return false, errors.New("these are OTLP metrics, not traces")
	default:
		return false, errors.New("neither OTLP traces nor a Jaeger download")
	}
}

// jsonError says where JSON is broken and nothing of what it holds.
func jsonError(err error) error {
	var syntax *json.SyntaxError
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped):
		return errors.New("neither OTLP traces nor a Jaeger download: a field has a wrong type")
	case errors.As(err, &syntax):
		return fmt.Errorf("broken JSON at byte %d", syntax.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errEndsEarly
	default:
		return errors.New("broken JSON")
	}
}
