// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package score_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

var scriptedID = regexp.MustCompile(`\bcall_\d\b`)

// changes are what may happen to a recording without any effect on what its
// results prove.
var changes = map[string]func(td ptrace.Traces){
	"spans in another order": func(td ptrace.Traces) {
		for _, ss := range scopeSpans(td) {
			n := ss.Spans().Len()
			moved := ptrace.NewSpanSlice()
			for i := range n {
				ss.Spans().At(n - 1 - i).CopyTo(moved.AppendEmpty())
			}
			moved.CopyTo(ss.Spans())
		}
	},
	"every span twice": func(td ptrace.Traces) {
		for _, ss := range scopeSpans(td) {
			for i := range ss.Spans().Len() {
				copied := ptrace.NewSpan()
				ss.Spans().At(i).CopyTo(copied)
				copied.CopyTo(ss.Spans().AppendEmpty())
			}
		}
	},
	"the root is lost": func(td ptrace.Traces) {
		for _, ss := range scopeSpans(td) {
			ss.Spans().RemoveIf(func(s ptrace.Span) bool {
				return s.ParentSpanID().IsEmpty() && !strings.Contains(s.Name(), "tool") && ss.Spans().Len() > 1
			})
		}
	},
	"clocks an hour apart": func(td ptrace.Traces) {
		const hour = 3_600_000_000_000
		for _, ss := range scopeSpans(td) {
			for _, s := range ss.Spans().All() {
				if !s.ParentSpanID().IsEmpty() {
					s.SetStartTimestamp(s.StartTimestamp() - hour)
					s.SetEndTimestamp(s.EndTimestamp() - hour)
				}
			}
		}
	},
	"ids that are none": func(td ptrace.Traces) {
		eachString(td, func(v pcommon.Value) { v.SetStr(scriptedID.ReplaceAllString(v.Str(), "N/A")) })
	},
	"one id for all calls": func(td ptrace.Traces) {
		eachString(td, func(v pcommon.Value) { v.SetStr(scriptedID.ReplaceAllString(v.Str(), "call_0")) })
	},
	"JSON as structures": func(td ptrace.Traces) {
		eachString(td, func(v pcommon.Value) {
			var parsed any
			if text := v.Str(); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
				if json.Unmarshal([]byte(text), &parsed) == nil {
					must(v.FromRaw(parsed))
				}
			}
		})
	},
	"JSON as bytes": func(td ptrace.Traces) {
		eachString(td, func(v pcommon.Value) {
			if text := v.Str(); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
				v.SetEmptyBytes().FromRaw([]byte(text))
			}
		})
	},
	"JSON with spaces": func(td ptrace.Traces) {
		eachString(td, func(v pcommon.Value) {
			var parsed json.RawMessage
			if text := v.Str(); strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
				if json.Unmarshal([]byte(text), &parsed) == nil {
					spaced, err := json.MarshalIndent(parsed, " ", "\t")
					must(err)
					v.SetStr("\n" + string(spaced) + "\n")
				}
			}
		})
	},
}

func scopeSpans(td ptrace.Traces) (out []ptrace.ScopeSpans) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			out = append(out, ss)
		}
	}
	return out
}

// eachString visits the strings among the attributes of spans and their events.
func eachString(td ptrace.Traces, visit func(pcommon.Value)) {
	each := func(m pcommon.Map) {
		for _, v := range m.All() {
			if v.Type() == pcommon.ValueTypeStr {
				visit(v)
			}
		}
	}
	for _, ss := range scopeSpans(td) {
		for _, s := range ss.Spans().All() {
			each(s.Attributes())
			for _, e := range s.Events().All() {
				each(e.Attributes())
			}
		}
	}
}

// No recording comes to other truth states by what may happen to it on its way.
func TestRecordingsUnderChange(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(recordings, "policy.yaml"))
	require.NoError(t, err)
	p, err := policy.Load("policy.yaml", text)
	require.NoError(t, err)
	scorer := score.New(p)
	states := func(td ptrace.Traces) []string {
		facts, _ := genai.NewDecoder(genai.Options{}).Traces(td)
		v := scorer.Trace(facts, nil)
		var out []string
		if v != nil {
			for i := range v.Observations {
				out = append(out, fmt.Sprint(v.Observations[i].Tool, " ", v.Observations[i].Evaluation.TruthState))
			}
		}
		slices.Sort(out)
		return out
	}
	for _, file := range recordingFiles(t) {
		var traces traceread.Collection
		require.NoError(t, traceread.Read([]string{file}, nil, 2, traceread.Handler{
			Traces: func(td ptrace.Traces, _ traceread.Place) error { traces.Add(td); return nil },
		}))
		for n, td := range traces.Traces() {
			want := states(td)
			for name, change := range changes {
				changed := ptrace.NewTraces()
				td.CopyTo(changed)
				change(changed)
				if diff := cmp.Diff(want, states(changed)); diff != "" {
					t.Errorf("%s %d, %s (-want +got):\n%s", recordingName(file), n+1, name, diff)
				}
			}
		}
	}
}
