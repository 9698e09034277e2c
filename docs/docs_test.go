// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Package docs_test reads the documentation as a user would copy it: every YAML
// block of every page is loaded as what it is, and every link to a file leads to
// one.
package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"gopkg.in/yaml.v3"

	"github.com/resultseal/otelcol-resultseal/internal/genai"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/processor/resultsealprocessor"
)

var (
	yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	fileName  = regexp.MustCompile(`^# ([a-z-]+\.yaml)\n`)
	fileLink  = regexp.MustCompile(`\]\(([^)#:\s]+)(#[^)]*)?\)`)
)

// pages lists the Markdown files of the repository, from its top.
func pages(t *testing.T) []string {
	t.Helper()
	var out []string
	require.NoError(t, filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "dist" || d.Name() == "node_modules"):
			return filepath.SkipDir
		case strings.HasSuffix(d.Name(), ".md"):
			out = append(out, path)
		}
		return nil
	}))
	require.NotEmpty(t, out)
	return out
}

func TestYAMLBlocks(t *testing.T) {
	blocks := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		found := yamlBlock.FindAllStringSubmatch(string(text), -1)
		blocks += len(found)
		t.Run(page, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("RESULTSEAL_HASH_KEY", "for this test")
			for _, match := range found {
				load(t, page, match[1])
			}
		})
	}
	require.GreaterOrEqual(t, blocks, 5)
}

// load loads one block. A policy is kept for the configurations that follow on
// its page, under the file name in the comment that it begins with, or as
// policy.yaml.
func load(t *testing.T, page, block string) {
	t.Helper()
	var keys map[string]yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte(block), &keys), "%s:\n%s", page, block)
	has := func(key string) bool { _, ok := keys[key]; return ok }
	switch {
	case has("contracts") || has("protocols"):
		_, err := policy.Load(page, []byte(block))
		require.NoError(t, err)
		name := "policy.yaml"
		if named := fileName.FindStringSubmatch(block); named != nil {
			name = named[1]
		}
		require.NoError(t, os.WriteFile(name, []byte(block), 0o600))
	case has("dist"):
		// A manifest of the collector builder; test/distribution builds it.
	case has("processors"):
		configuration(t, page, block)
	case has("dialects"):
		settings, err := genai.ReadSettings([]byte(block))
		require.NoError(t, err)
		_, err = settings.Options()
		require.NoError(t, err)
	case has("jobs") && has("on"), has("services"), has("apiVersion"), has("groups"), has("fixture_version"):
		// Of another program; that it is YAML is all that is asked here.
	default:
		t.Errorf("%s: what is this block?\n%s", page, block)
	}
}

// configuration resolves a collector's configuration as the collector does and
// reads each resultseal section of it.
func configuration(t *testing.T, page, block string) {
	t.Helper()
	if _, err := os.Stat("policy.yaml"); err != nil {
		require.NoError(t, os.WriteFile("policy.yaml", []byte("contracts: []\n"), 0o600))
	}
	require.NoError(t, os.WriteFile("collector.yaml", []byte(block), 0o600))
	resolver, err := confmap.NewResolver(confmap.ResolverSettings{
		URIs:              []string{"file:collector.yaml"},
		ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory(), envprovider.NewFactory()},
		DefaultScheme:     "file",
	})
	require.NoError(t, err)
	conf, err := resolver.Resolve(t.Context())
	require.NoError(t, err, page)
	processors, err := conf.Sub("processors")
	require.NoError(t, err)
	factory := resultsealprocessor.NewFactory()
	for name := range processors.ToStringMap() {
		var id component.ID
		require.NoError(t, id.UnmarshalText([]byte(name)))
		if id.Type() != factory.Type() {
			continue
		}
		sub, err := processors.Sub(name)
		require.NoError(t, err)
		cfg := factory.CreateDefaultConfig()
		require.NoError(t, sub.Unmarshal(cfg), "%s: %s", page, name)
		require.NoError(t, confmap.Validate(cfg), "%s: %s", page, name)
	}
}

func TestLinks(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, match := range fileLink.FindAllStringSubmatch(string(text), -1) {
			target := filepath.Join(filepath.Dir(page), match[1])
			_, err := os.Stat(target)
			require.NoError(t, err, "%s links to %s", page, match[1])
		}
	}
}
