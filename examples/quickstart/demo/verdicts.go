// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// errPartialLine is a file that is still being written.
var errPartialLine = errors.New("the last line is not complete")

// readRequests reads OTLP JSON, one request a line, and counts the spans.
func readRequests(path string) (requests [][]byte, spans int, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		return nil, 0, fmt.Errorf("%s: %w", path, errPartialLine)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for n := 1; lines.Scan(); n++ {
		line := bytes.Clone(bytes.TrimSpace(lines.Bytes()))
		if len(line) == 0 {
			continue
		}
		td, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(line)
		if err != nil {
			return nil, 0, fmt.Errorf("%s:%d: not an OTLP request: %w", path, n, err)
		}
		requests = append(requests, line)
		spans += td.SpanCount()
	}
	return requests, spans, lines.Err()
}

// verdicts are what the processor wrote onto spans.
type verdicts struct {
	spans    int
	sessions []session
}

type session struct {
	trace      pcommon.TraceID
	begin      pcommon.Timestamp
	compliance string
	violations []string
	calls      []call
}

type call struct {
	begin                            pcommon.Timestamp
	tool, contract, decision, states string
	reasons                          []string
}

func readVerdicts(path string) (*verdicts, error) {
	requests, spans, err := readRequests(path)
	if err != nil {
		return nil, err
	}
	byTrace := map[pcommon.TraceID]*session{}
	for _, request := range requests {
		td, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(request)
		if err != nil {
			return nil, err
		}
		for _, rs := range td.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					s, ok := byTrace[span.TraceID()]
					if !ok {
						s = &session{trace: span.TraceID(), begin: span.StartTimestamp()}
						byTrace[s.trace] = s
					}
					s.begin = min(s.begin, span.StartTimestamp())
					s.read(span)
				}
			}
		}
	}
	v := &verdicts{spans: spans}
	for _, s := range byTrace {
		slices.SortStableFunc(s.calls, func(a, b call) int { return cmp.Compare(a.begin, b.begin) })
		v.sessions = append(v.sessions, *s)
	}
	slices.SortFunc(v.sessions, func(a, b session) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), bytes.Compare(a.trace[:], b.trace[:]))
	})
	return v, nil
}

func (s *session) read(span ptrace.Span) {
	if compliance := text(span, "resultseal.session.compliance"); compliance != "" {
		s.compliance = compliance
		s.violations = list(span, "resultseal.session.violations")
	}
	if decision := text(span, "resultseal.decision"); decision != "" {
		s.calls = append(s.calls, call{
			begin:    span.StartTimestamp(),
			tool:     cmp.Or(text(span, "gen_ai.tool.name"), span.Name()),
			contract: text(span, "resultseal.contract"),
			decision: decision,
			states:   text(span, "resultseal.truth_state"),
			reasons:  list(span, "resultseal.reason_codes"),
		})
	}
}

func text(span ptrace.Span, key string) string {
	value, ok := span.Attributes().Get(key)
	if !ok {
		return ""
	}
	return value.AsString()
}

func list(span ptrace.Span, key string) (values []string) {
	value, ok := span.Attributes().Get(key)
	if !ok || value.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	for _, v := range value.Slice().All() {
		values = append(values, v.AsString())
	}
	return values
}

func (v *verdicts) print(w io.Writer) {
	for _, s := range v.sessions {
		fmt.Fprintf(w, "\nSession %s: %s\n", s.trace, cmp.Or(s.compliance, "no verdict"))
		for _, violation := range s.violations {
			fmt.Fprintf(w, "  %s\n", violation)
		}
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, c := range s.calls {
			fmt.Fprintf(table, "  %s\t%s\t%s\t%s\n", c.tool, c.decision, c.states, strings.Join(c.reasons, " "))
		}
		_ = table.Flush()
	}
}

// check says what is wrong with the outcome, if anything.
func (v *verdicts) check(sent int) error {
	calls := 0
	for _, s := range v.sessions {
		if s.compliance == "" {
			return fmt.Errorf("session %s has no verdict", s.trace)
		}
		calls += len(s.calls)
	}
	switch {
	case v.spans != sent:
		return fmt.Errorf("%d spans were sent and %d came out", sent, v.spans)
	case calls == 0:
		return errors.New("no tool call has a verdict")
	}
	return nil
}
