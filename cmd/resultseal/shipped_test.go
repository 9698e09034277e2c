// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

// shippedPolicies returns the policies that users copy, by where they stand: in
// files of their own, in collector configurations, and in YAML blocks of
// documents.
func shippedPolicies(t *testing.T) map[string]*policy.Policy {
	t.Helper()
	found := map[string]*policy.Policy{}
	add := func(name, text string) {
		var doc map[string]any
		if yaml.Unmarshal([]byte(text), &doc) != nil {
			return // several documents, or a part of one
		}
		if doc["contracts"] != nil || doc["protocols"] != nil {
			p, err := policy.Load(name, []byte(text))
			require.NoError(t, err)
			found[name] = p
			return
		}
		processors, _ := doc["processors"].(map[string]any)
		for id, settings := range processors {
			settings, _ := settings.(map[string]any)
			if inPlace, ok := settings["policy"].(map[string]any); ok {
				p, err := policy.LoadMap(name+" "+id, inPlace)
				require.NoError(t, err)
				found[name+" "+id] = p
			}
		}
	}
	block := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```")
	top := filepath.Join("..", "..")
	for _, dir := range []string{"README.md", "CONTRIBUTING.md", "docs", "deploy", "examples", "processor/resultsealprocessor/README.md", "fixtures/README.md"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(top, dir), func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && e.Name() == "node_modules":
				return filepath.SkipDir
			case e.IsDir():
				return nil
			}
			text, err := os.ReadFile(path)
			name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
			switch filepath.Ext(path) {
			case ".yaml", ".yml":
				add(name, string(text))
			case ".md":
				for i, b := range block.FindAllStringSubmatch(string(text), -1) {
					add(fmt.Sprintf("%s, block %d", name, i+1), b[1])
				}
			}
			return err
		}))
	}
	return found
}

// A policy that is copied from the documents or the examples gives no warning.
func TestShippedPoliciesHaveNoWarning(t *testing.T) {
	shipped := shippedPolicies(t)
	for name, p := range shipped {
		review := p.Review(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))
		for _, g := range review.Groups() {
			t.Errorf("%s: %s", name, g)
		}
		for _, a := range p.Acknowledgements {
			require.True(t, a.Expires.IsZero() || strings.HasPrefix(name, "docs/warnings.md"), "%s: an example is not to warn some day", name)
		}
	}
	for _, name := range []string{"README.md, block 1", "processor/resultsealprocessor/README.md, block 2", "docs/warnings.md, block 1", "examples/quickstart/policy.yaml", "examples/agent-js/policy.yaml"} {
		require.Contains(t, shipped, name)
	}
	require.GreaterOrEqual(t, len(shipped), 13)
}

// Nor does one that is held against the traces beside it. The recording of the
// quick start is of an agent that gets nothing right, so much of its policy
// matches nothing.
func TestShippedPoliciesMatchTheirTraces(t *testing.T) {
	traces, err := filepath.Glob("../../examples/protocols/*/traces.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, traces)
	for _, file := range traces {
		got := execute("", "validate", filepath.Join(filepath.Dir(file), "policy.yaml"), "--against", file)
		require.Zero(t, got.code)
		require.Empty(t, got.stderr)
	}
}
