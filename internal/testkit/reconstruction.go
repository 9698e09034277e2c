// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package testkit

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"gopkg.in/yaml.v3"
)

// Reconstruction is a file of spans as an instrumentation emits them, written by
// hand.
type Reconstruction struct {
	Source string   `yaml:"source"` // the instrumentation, its version, and what shows its form
	Spans  []span   `yaml:"spans"`
	Want   []string `yaml:"want"` // of the test that reads the file
}

type span struct {
	Name       string         `yaml:"name"`
	ID         uint64         `yaml:"id"`
	Parent     uint64         `yaml:"parent"` // 0 for none
	Trace      uint64         `yaml:"trace"`  // 0 for 1
	Scope      string         `yaml:"scope"`
	Version    string         `yaml:"version"`
	Service    string         `yaml:"service"`
	Kind       int32          `yaml:"kind"`
	At         [2]uint64      `yaml:"at"`    // milliseconds
	Error      *string        `yaml:"error"` // the message of the status ERROR
	OK         bool           `yaml:"ok"`    // the status is OK
	Attributes map[string]any `yaml:"attributes"`
	Events     []struct {
		Name       string         `yaml:"name"`
		Attributes map[string]any `yaml:"attributes"`
	} `yaml:"events"`
}

// ReadReconstruction reads a file of spans.
func ReadReconstruction(tb testing.TB, file string) Reconstruction {
	tb.Helper()
	f, err := os.Open(file)
	require.NoError(tb, err)
	defer f.Close()
	decoder := yaml.NewDecoder(f)
	decoder.KnownFields(true)
	var r Reconstruction
	require.NoError(tb, decoder.Decode(&r), file)
	require.NotEmpty(tb, r.Spans, file)
	return r
}

// Traces returns the spans as OTLP data, one for each trace in the order of the file.
func (r *Reconstruction) Traces(tb testing.TB) (list []ptrace.Traces) {
	tb.Helper()
	const epoch = 1_700_000_000_000
	byID := map[uint64]ptrace.Traces{}
	for _, s := range r.Spans {
		trace := max(s.Trace, 1)
		td, ok := byID[trace]
		if !ok {
			td = ptrace.NewTraces()
			byID[trace] = td
			list = append(list, td)
		}
		rs := td.ResourceSpans().AppendEmpty()
		service := s.Service
		if service == "" {
			service = "depot"
		}
		rs.Resource().Attributes().PutStr("service.name", service)
		ss := rs.ScopeSpans().AppendEmpty()
		ss.Scope().SetName(s.Scope)
		ss.Scope().SetVersion(s.Version)
		out := ss.Spans().AppendEmpty()
		var traceID pcommon.TraceID
		binary.BigEndian.PutUint64(traceID[8:], trace)
		out.SetTraceID(traceID)
		out.SetSpanID(spanID(s.ID))
		if s.Parent != 0 {
			out.SetParentSpanID(spanID(s.Parent))
		}
		out.SetName(s.Name)
		out.SetKind(ptrace.SpanKind(s.Kind))
		out.SetStartTimestamp(pcommon.Timestamp((epoch + s.At[0]) * 1e6))
		out.SetEndTimestamp(pcommon.Timestamp((epoch + s.At[1]) * 1e6))
		switch {
		case s.Error != nil:
			out.Status().SetCode(ptrace.StatusCodeError)
			out.Status().SetMessage(*s.Error)
		case s.OK:
			out.Status().SetCode(ptrace.StatusCodeOk)
		}
		require.NoError(tb, out.Attributes().FromRaw(s.Attributes))
		for _, e := range s.Events {
			event := out.Events().AppendEmpty()
			event.SetName(e.Name)
			event.SetTimestamp(out.EndTimestamp())
			require.NoError(tb, event.Attributes().FromRaw(e.Attributes))
		}
	}
	return list
}

func spanID(n uint64) (id pcommon.SpanID) {
	binary.BigEndian.PutUint64(id[:], n)
	return id
}
