// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/resultseal/otelcol-resultseal/"

// importsOf returns what each package of the repository imports, without its tests.
func importsOf(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, root := range []string{"internal", "processor", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", root), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			name := strings.TrimPrefix(path.Dir(filepath.ToSlash(file)), "../")
			for _, spec := range parsed.Imports {
				imported, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					return err
				}
				all[name] = append(all[name], strings.TrimPrefix(imported, module))
			}
			return nil
		})
		require.NoError(t, err)
	}
	return all
}

// reach returns everything that a package imports, and the packages of the repository
// that it imports import.
func reach(all map[string][]string, name string, seen map[string]bool) map[string]bool {
	for _, imported := range all[name] {
		if !seen[imported] {
			seen[imported] = true
			reach(all, imported, seen)
		}
	}
	return seen
}

// Imports point one way, as CONTRIBUTING.md and the documentation of the processor's
// package say.
func TestImports(t *testing.T) {
	const (
		processor = "processor/resultsealprocessor"
		wal       = processor + "/internal/wal"
		assemble  = processor + "/internal/assemble"
		scoring   = processor + "/internal/scoring"
		telemetry = "go.opentelemetry.io/"
	)
	all := importsOf(t)
	for name, forbidden := range map[string][]string{
		"internal/engine":                {"internal/session", "internal/genai", "internal/policy", "internal/score", telemetry},
		"internal/session":               {"internal/engine", "internal/genai", "internal/policy", "internal/score", telemetry},
		"internal/score":                 {"internal/annotate", "internal/conversations"},
		processor + "/internal/mailbox":  {"internal/", processor, telemetry},
		processor + "/internal/revision": {wal, assemble, scoring, "internal/annotate"},
		wal:                              {"internal/", assemble, scoring, telemetry + "collector/pdata"},
		assemble:                         {scoring, "internal/annotate"},
		scoring:                          {processor + "/internal/metadata"},
	} {
		require.Contains(t, all, name)
		for imported := range reach(all, name, map[string]bool{}) {
			for _, prefix := range forbidden {
				require.False(t, strings.HasPrefix(imported, prefix), "%s imports %s", name, imported)
			}
		}
	}
	for name := range all {
		if strings.HasPrefix(name, "internal/") {
			for imported := range reach(all, name, map[string]bool{}) {
				require.False(t, strings.HasPrefix(imported, "processor/") || strings.HasPrefix(imported, "cmd/"), "%s imports %s", name, imported)
			}
		}
	}
}
