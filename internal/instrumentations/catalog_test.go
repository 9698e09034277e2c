// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package instrumentations

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/testkit"
	"github.com/resultseal/otelcol-resultseal/internal/traceread"
)

var testdata = filepath.Join("..", "score", "testdata")

// traces reads a recording or a reconstruction.
func traces(t *testing.T, name string, recorded bool) (list []ptrace.Traces) {
	t.Helper()
	if file := filepath.Join(testdata, "reconstructed", name+".yaml"); !recorded && exists(file) {
		r := testkit.ReadReconstruction(t, file)
		return r.Traces(t)
	}
	file := filepath.Join(testdata, "recordings", name+".jsonl.gz")
	if !recorded {
		file = filepath.Join(testdata, "recordings", "written", name+".jsonl.gz")
	}
	var all traceread.Collection
	require.NoError(t, traceread.Read([]string{file}, nil, 1, traceread.Handler{
		Traces: func(td ptrace.Traces, _ traceread.Place) error { all.Add(td); return nil },
		Broken: func(e *traceread.Error) error { return e },
	}), name)
	return all.Traces()
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// Every file that an entry rests on has tool calls that one of its dialects reads.
func TestEntriesAreShown(t *testing.T) {
	decoder := genai.NewDecoder(genai.Options{})
	dialects := decoder.Dialects()
	for i := range Entries {
		e := &Entries[i]
		require.NotEmpty(t, e.Dialects, e.Name)
		for n, name := range e.Files() {
			own := map[string]bool{}
			for _, td := range traces(t, name, n < len(e.Recorded)) {
				facts, _ := decoder.Traces(td)
				for f := range facts {
					for d := range dialects {
						if facts[f].Dialects().Has(d) {
							own[dialects[d].Name] = true
						}
					}
				}
			}
			for _, d := range e.Dialects {
				if own[d] {
					own["shown"] = true
				}
			}
			require.True(t, own["shown"], "%s: none of %v reads %s, but %v", e.Name, e.Dialects, name, own)
		}
	}
}

// No recording, no reconstruction and no dialect is missing from the list.
func TestEntriesAreComplete(t *testing.T) {
	listed, read := map[string]bool{}, map[string]bool{}
	for i := range Entries {
		for _, name := range Entries[i].Files() {
			listed[name] = true
		}
		for _, d := range Entries[i].Dialects {
			read[d] = true
		}
	}
	for _, pattern := range []string{"recordings/*.jsonl.gz", "recordings/written/*.jsonl.gz", "reconstructed/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(testdata, filepath.FromSlash(pattern)))
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".jsonl.gz"), ".yaml")
			if name != "policy" {
				require.True(t, listed[name], "%s is in no entry", file)
			}
		}
	}
	known := map[string]bool{}
	for _, d := range genai.Builtin {
		known[d.Name] = true
		require.True(t, read[d.Name], "the dialect %s is in no entry", d.Name)
	}
	for d := range read {
		require.True(t, known[d], "there is no dialect %s", d)
	}
}

// The documentation has the table, and the schema is the one that is made.
func TestGenerated(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "instrumentations.md"))
	require.NoError(t, err)
	require.Contains(t, string(page), Table(), "run make generate")
	schema, err := os.ReadFile(filepath.Join("..", "..", "docs", "dialects.schema.json"))
	require.NoError(t, err)
	require.Equal(t, string(genai.SettingsSchema()), string(schema), "run make generate")
}
