// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package distribution_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

const modulePath = "github.com/resultseal/otelcol-resultseal"

// The manifest of the processor's README builds a collector from nothing but itself and
// the module, as a module proxy serves it.
//
// RESULTSEAL_BUILDER names the collector builder. Without it the test is skipped: it needs
// the modules of the manifest, from the module cache or the network.
func TestOwnCollector(t *testing.T) {
	builder := os.Getenv("RESULTSEAL_BUILDER")
	if builder == "" {
		t.Skip("RESULTSEAL_BUILDER names no collector builder; make test-own-collector sets it")
	}
	builder, err := filepath.Abs(builder)
	require.NoError(t, err)
	dir := t.TempDir()
	version := serveModule(t, filepath.Join(dir, "proxy"))

	readme, err := os.ReadFile(filepath.Join(top, "processor", "resultsealprocessor", "README.md"))
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```yaml\n(dist:\n.*?)```").FindSubmatch(readme)
	require.NotNil(t, block, "the README has no manifest")
	released := regexp.MustCompile(regexp.QuoteMeta(modulePath) + ` v\S+`)
	require.True(t, released.Match(block[1]))
	manifest := released.ReplaceAll(block[1], []byte(modulePath+" "+version))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.yaml"), manifest, 0o600))

	// The same flags and profile as the distribution, so that packages come from the build
	// cache.
	build := exec.Command(builder, "--config", "manifest.yaml", "--gcflags", "all=-dwarf=false")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false -mod=mod -modcacherw -pgo="+absolutePath(t, filepath.Join(top, "distribution", "builder-config.pgo")), "GOWORK=off",
		"GOPROXY=file://"+filepath.ToSlash(filepath.Join(dir, "proxy"))+","+goEnv(t, "GOPROXY"), "GONOSUMDB="+modulePath)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	collector := filepath.Join(dir, "otelcol-custom", "otelcol-custom")
	out, err = exec.Command(collector, "components").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "name: resultseal")
	require.Contains(t, string(out), modulePath+" "+version)

	config := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte(`
receivers: {otlp: {protocols: {grpc: {endpoint: "127.0.0.1:0"}}}}
processors: {resultseal: {policy_file: `+filepath.ToSlash(absolutePath(t, filepath.Join(top, "examples", "quickstart", "policy.yaml")))+`}}
exporters: {debug: {}}
service: {pipelines: {traces: {receivers: [otlp], processors: [resultseal], exporters: [debug]}}}
`), 0o600))
	out, err = exec.Command(collector, "validate", "--config", config).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// serveModule writes the work tree's top module as a module proxy serves it, and returns
// its version, which depends on its content.
func serveModule(t *testing.T, proxy string) string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = top
	names, err := list.Output()
	if err != nil {
		t.Skipf("the work tree is no git repository: %v", err)
	}
	var files []modzip.File
	content := sha256.New()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(top, filepath.FromSlash(name)))
		if os.IsNotExist(err) {
			continue // deleted in the work tree
		}
		require.NoError(t, err)
		fmt.Fprintf(content, "%s %d\n", name, len(text))
		content.Write(text)
		files = append(files, treeFile(name))
	}
	v := module.Version{Path: modulePath, Version: module.PseudoVersion("v0", "", time.Unix(1800000000, 0), fmt.Sprintf("%x", content.Sum(nil))[:12])}
	dir := filepath.Join(proxy, filepath.FromSlash(modulePath), "@v")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	var archive bytes.Buffer
	require.NoError(t, modzip.Create(&archive, v, files))
	goMod, err := os.ReadFile(filepath.Join(top, "go.mod"))
	require.NoError(t, err)
	for suffix, text := range map[string][]byte{
		".zip":  archive.Bytes(),
		".mod":  goMod,
		".info": fmt.Appendf(nil, `{"Version":%q,"Time":"2027-01-15T08:00:00Z"}`, v.Version),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, v.Version+suffix), text, 0o600))
	}
	t.Cleanup(func() {
		cache := goEnv(t, "GOMODCACHE")
		_ = os.RemoveAll(filepath.Join(cache, filepath.FromSlash(modulePath)+"@"+v.Version))
		for _, suffix := range []string{".zip", ".mod", ".info", ".lock", ".ziphash"} {
			_ = os.Remove(filepath.Join(cache, "cache", "download", filepath.FromSlash(modulePath), "@v", v.Version+suffix))
		}
	})
	return v.Version
}

// treeFile is a file of the work tree, by its path from the top.
type treeFile string

func (f treeFile) Path() string                 { return string(f) }
func (f treeFile) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(top, string(f))) }
func (f treeFile) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(top, string(f))) }

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

func absolutePath(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	require.NoError(t, err)
	return path
}
