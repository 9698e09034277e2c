// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package resultsealprocessor

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
	"github.com/resultseal/otelcol-resultseal/internal/testkit/spantest"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor/internal/canonical"
)

// written is everything that the processor wrote, by span.
func written(traces []ptrace.Traces) map[string][]string {
	out := map[string][]string{}
	for _, td := range traces {
		for span := range canonical.Spans(td) {
			id := span.TraceID().String() + span.SpanID().String()
			for key, v := range span.Attributes().All() {
				if strings.HasPrefix(key, "resultseal.") {
					out[id] = append(out[id], key+"="+v.AsString())
				}
			}
			for _, e := range span.Events().All() {
				if strings.HasPrefix(e.Name(), "resultseal.") || e.Name() == "gen_ai.evaluation.result" {
					m := pcommon.NewValueMap()
					e.Attributes().CopyTo(m.Map())
					out[id] = append(out[id], e.Name()+m.AsString())
				}
			}
			slices.Sort(out[id])
		}
	}
	return out
}

// leaves collects the texts in a value.
func leaves(v jsonvalue.Value, into map[string]bool) {
	switch v.Kind() {
	case jsonvalue.StringKind:
		into[v.Text()] = true
	case jsonvalue.ArrayKind:
		for i := range v.Len() {
			leaves(v.Index(i), into)
		}
	case jsonvalue.ObjectKind:
		for i := range v.Len() {
			_, inner := v.Member(i)
			leaves(inner, into)
		}
	}
}

// secrets are the texts in tool results, or in arguments, that stand nowhere
// else in what was said, asked or called.
func secrets(traces []ptrace.Traces, arguments bool) (texts []string) {
	private, public := map[string]bool{}, map[string]bool{}
	for _, td := range traces {
		facts, sources := genai.NewDecoder(genai.Options{}).Traces(td)
		for i := range facts {
			f := &facts[i]
			contents := func(result, args genai.Content) {
				if r := result.Result(); r.State == genai.Captured {
					into := private
					if arguments {
						into = public
					}
					leaves(r.Value, into)
				}
				if a, ok := args.Arguments(); ok {
					into := public
					if arguments {
						into = private
					}
					leaves(a, into)
				}
			}
			contents(f.Call.Result, f.Call.Arguments)
			for _, m := range append(append([]genai.Message{}, f.Input.List...), f.Output.List...) {
				for _, p := range m.Parts {
					switch p.Kind {
					case genai.TextPart:
						public[p.Text] = true
					case genai.ResponsePart:
						contents(p.Content, genai.Content{})
					case genai.CallPart:
						contents(genai.Content{}, p.Content)
					}
				}
			}
			public[sources[i].Status().Message()] = true
			for key, v := range sources[i].Attributes().All() {
				if strings.Contains(key, "tools") || strings.Contains(key, "error") || v.Type() == pcommon.ValueTypeStr && len(v.Str()) < 24 {
					public[v.AsString()] = true
				}
			}
			for _, e := range sources[i].Events().All() {
				if e.Name() == "exception" {
					for _, v := range e.Attributes().All() {
						public[v.AsString()] = true
					}
				}
			}
		}
	}
	said := strings.Join(slices.Sorted(maps.Keys(public)), "\n")
	for text := range private {
		if len(text) >= 5 && !strings.Contains(said, text) && !strings.ContainsAny(text, "\"\\\n") {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	return texts
}

func places(traces []ptrace.Traces, text string) (places []string) {
	for _, td := range traces {
		for span := range canonical.Spans(td) {
			for key, v := range span.Attributes().All() {
				// A reference that was asked for with record is not content any more.
				if strings.Contains(v.AsString(), text) && !strings.HasPrefix(key, "resultseal.") {
					places = append(places, span.Name()+" "+key)
				}
			}
			for _, e := range span.Events().All() {
				for key, v := range e.Attributes().All() {
					if strings.Contains(v.AsString(), text) {
						places = append(places, span.Name()+" "+e.Name()+" "+key)
					}
				}
			}
		}
	}
	return places
}

// Whatever becomes of the content, the verdicts are the same, and where it is
// taken out it is nowhere any more.
func TestContentOfRecordedSpans(t *testing.T) {
	found := 0
	for file, policyFile := range spantest.Recordings(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			in := spantest.ReadRecording(t, file)
			results, arguments := secrets(in, false), secrets(in, true)
			found += len(results) + len(arguments)
			kept := process(t, policyFile, in)
			for _, mode := range []ContentMode{ContentHash, ContentDrop} {
				for _, with := range []bool{false, true} {
					for _, m := range []Mode{ModeTrace, ModeStream} {
						out := process(t, policyFile, spantest.ReadRecording(t, file), func(c *Config) {
							c.Content, c.ContentArguments, c.Mode = mode, with, m
						})
						if m == ModeTrace {
							if diff := cmp.Diff(written(kept), written(out)); diff != "" {
								t.Fatalf("%s: other verdicts:\n%s", mode, diff)
							}
						}
						gone := results
						if with {
							gone = append(slices.Clone(results), arguments...)
						}
						for _, text := range gone {
							require.Empty(t, places(out, text), "%s, arguments %v: %q is still there", mode, with, text)
						}
						if !with {
							for _, text := range arguments {
								require.Equal(t, len(places(kept, text)), len(places(out, text)), "%s: the argument %q is gone", mode, text)
							}
						}
					}
				}
			}
		})
	}
	require.Positive(t, found)
}
