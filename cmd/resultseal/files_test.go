// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// copyOf copies a file into a folder of the test's own.
func copyOf(t *testing.T, from, name string) string {
	t.Helper()
	text, err := os.ReadFile(from)
	require.NoError(t, err)
	return write(t, name, string(text))
}

// No output overwrites what is read, also through links, and the file that is read
// stays as it was.
func TestOutputsKeepInputs(t *testing.T) {
	traces, policy := copyOf(t, exampleTraces, "traces.jsonl"), copyOf(t, examplePolicy, "policy.yaml")
	dialects := write(t, "dialects.yaml", "conversation_attributes: [session.id]\n")
	soft, hard := filepath.Join(t.TempDir(), "soft.jsonl"), filepath.Join(filepath.Dir(traces), "hard.jsonl")
	require.NoError(t, os.Symlink(traces, soft))
	require.NoError(t, os.Link(traces, hard))
	before := map[string]string{}
	for _, file := range []string{traces, policy, dialects} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		before[file] = string(text)
	}
	for _, test := range []struct {
		args []string
		says string
	}{
		{[]string{"score", "--policy", policy, "--out", traces, traces}, "--out " + traces + " would overwrite the input " + traces},
		{[]string{"score", "--policy", policy, "--out", soft, traces}, "would overwrite the input"},
		{[]string{"score", "--policy", policy, "--out", hard, traces}, "would overwrite the input"},
		{[]string{"score", "--policy", policy, "--out", traces, soft}, "would overwrite the input"},
		{[]string{"score", "--policy", policy, "--out", traces, filepath.Dir(traces)}, "would overwrite the input"},
		{[]string{"score", "--policy", policy, "--annotated", traces, traces}, "--annotated " + traces + " would overwrite the input"},
		{[]string{"score", "--policy", policy, "--out", policy, traces}, "would overwrite --policy"},
		{[]string{"score", "--policy", policy, "--dialects", dialects, "--out", dialects, traces}, "would overwrite --dialects"},
		{[]string{"score", "--policy", policy, "--explain", "0000", "--out", traces, traces}, "would overwrite the input"},
		{[]string{"score", "--policy", policy, "--out", "json=" + soft + ".x", "--out", "html=" + filepath.Dir(soft) + "/./soft.jsonl.x", traces}, "twice"},
		{[]string{"init", "--force", "--out", traces, traces}, "would overwrite the input"},
	} {
		got := execute("", test.args...)
		require.Equal(t, 2, got.code, "%v", test.args)
		require.Contains(t, got.stderr, test.says)
	}
	for file, text := range before {
		now, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, text, string(now), file)
	}
}

// A file is there as a whole or not at all, a link stays one, and nothing is left
// beside it.
func TestWriteFile(t *testing.T) {
	folder := t.TempDir()
	target, link := filepath.Join(folder, "report.json"), filepath.Join(folder, "link.json")
	put := func(name, text string, fail error) error {
		return writeFile(name, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, fail)
		})
	}
	require.NoError(t, put(target, "first", nil))
	require.NoError(t, os.Chmod(target, 0o640))
	require.NoError(t, os.Symlink(target, link))
	require.NoError(t, put(link, "second", nil))
	require.Error(t, put(link, "half", errors.New("disk full")))
	text, err := os.ReadFile(target)
	require.NoError(t, err)
	require.Equal(t, "second", string(text))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)
	info, err = os.Stat(target)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	require.NoError(t, put(os.DevNull, "anything", nil))
	require.ErrorContains(t, put(filepath.Join(folder, "no", "file"), "x", nil), filepath.Join(folder, "no", "file"))
}

// What has no end is read up to a limit.
func TestFilesWithoutEnd(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no /dev/zero here")
	}
	for _, args := range [][]string{
		{"score", "--policy", "/dev/zero", exampleTraces},
		{"score", "--policy", examplePolicy, "--dialects", "/dev/zero", exampleTraces},
		{"validate", "/dev/zero"},
		{"check", "--contract", "/dev/zero", "/dev/zero"},
		{"replay", "/dev/zero"},
	} {
		got := execute("", args...)
		require.NotZero(t, got.code, "%v", args)
		require.NotEmpty(t, got.stderr)
	}
}

// One value that does not fit into --memory is refused, by name and with the size
// at which reading stopped, however it is compressed.
func TestDocumentsBeyondTheMemory(t *testing.T) {
	value := []byte(`{"resourceSpans":[{"resource":{"attributes":[{"key":"x","value":{"stringValue":"` + strings.Repeat("a", 16<<20) + `"}}]}}]}` + "\n")
	good, err := os.ReadFile(exampleTraces)
	require.NoError(t, err)
	pack := func(name string, newWriter func(io.Writer) io.WriteCloser) string {
		var packed bytes.Buffer
		w := newWriter(&packed)
		_, err := w.Write(append(value, good...))
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return write(t, name, packed.String())
	}
	for _, file := range []string{
		pack("bomb.gz", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }),
		pack("bomb.zst", func(w io.Writer) io.WriteCloser {
			z, err := zstd.NewWriter(w)
			require.NoError(t, err)
			return z
		}),
	} {
		got := execute("", "score", "--policy", examplePolicy, "--memory", "64MiB", "--format", "json", file)
		require.Equal(t, 2, got.code)
		require.Contains(t, got.stderr, filepath.Base(file)+":1: one value takes more than 8388608 bytes, where reading stopped")
		require.Contains(t, got.stdout, `"broken": 1`)
		want := execute("", "score", "--policy", examplePolicy, "--format", "json", exampleTraces)
		require.Equal(t, want.stdout[:strings.Index(want.stdout, `"inputs"`)], got.stdout[:strings.Index(got.stdout, `"inputs"`)], "the rest is scored")
	}
}

// No name of a file writes a line of its own or moves the cursor, whatever is said of
// the file.
func TestNamesOfFilesStayOnTheirLine(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("names of files have no such characters here")
	}
	const evil = "a\nFORGED: 0 violations\r\x1b[31m\u202e\u2066\u2028.yaml"
	folder := t.TempDir()
	put := func(text string) string {
		dir, err := os.MkdirTemp(folder, "*")
		require.NoError(t, err)
		name := filepath.Join(dir, evil)
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	missing := filepath.Join(folder, evil)
	broken, traces := put("{\n"), copyOf(t, exampleTraces, "traces.jsonl")
	linked := filepath.Join(filepath.Dir(traces), evil)
	require.NoError(t, os.Symlink(traces, linked))
	emptyFolder := filepath.Join(t.TempDir(), evil)
	require.NoError(t, os.Mkdir(emptyFolder, 0o700))
	contract := put("schema_version: '1.0'\nclaim_type: read_complete\nrequired_fields: []\nfreshness: {mode: never}\n")
	for name, args := range map[string][]string{
		"broken traces":             {"score", "--policy", examplePolicy, broken},
		"missing traces":            {"score", "--policy", examplePolicy, missing},
		"pattern without a file":    {"score", "--policy", examplePolicy, missing + "*"},
		"folder without a file":     {"score", "--policy", examplePolicy, emptyFolder},
		"strict":                    {"score", "--strict", "--policy", examplePolicy, broken},
		"missing policy":            {"score", "--policy", missing, traces},
		"broken policy":             {"score", "--policy", broken, traces},
		"invalid policy":            {"score", "--policy", put("contracts: [{}]\nzzz: 1\n"), traces},
		"missing dialects":          {"score", "--policy", examplePolicy, "--dialects", missing, traces},
		"broken dialects":           {"score", "--policy", examplePolicy, "--dialects", broken, traces},
		"invalid dialects":          {"score", "--policy", examplePolicy, "--dialects", put("dialects: [{name: a}, {name: b}]\n"), traces},
		"output onto the input":     {"score", "--policy", examplePolicy, "--out", linked, traces},
		"two outputs":               {"score", "--policy", examplePolicy, "--out", missing, "--out", missing, traces},
		"output in a missing place": {"score", "--policy", examplePolicy, "--out", filepath.Join(missing, "x.json"), traces},
		"annotated output":          {"score", "--policy", examplePolicy, "--annotated", filepath.Join(missing, "x.json"), traces},
		"init onto a file":          {"init", "--out", broken, traces},
		"init of broken traces":     {"init", broken},
		"validate: invalid policy":  {"validate", put("contracts: [{}]\nzzz: 1\n")},
		"validate: warning":         {"validate", put("contracts: []\n")},
		"validate: contract":        {"validate", contract},
		"validate: nothing":         {"validate", put("a: 1\n")},
		"validate: passed over":     {"validate", filepath.Dir(put("a: 1\n"))},
		"validate: missing":         {"validate", missing},
		"validate: empty folder":    {"validate", emptyFolder},
		"validate --against":        {"validate", put("contracts: []\n"), "--against", traces},
		"validate: no policy":       {"validate", contract, "--against", traces},
		"check":                     {"check", missing, "--contract", contract},
		"check: contract":           {"check", broken, "--contract", missing},
		"replay":                    {"replay", missing},
		"replay: several":           {"replay", broken, broken},
	} {
		got := execute("", args...)
		for stream, text := range map[string]string{"stderr": got.stderr, "stdout": got.stdout} {
			if stream == "stdout" && args[0] == "score" {
				continue // JSON
			}
			require.NotContains(t, text, "\nFORGED", "%s: %s", name, stream)
			require.False(t, strings.ContainsAny(text, "\r\x1b\u202e\u2066\u2028"), "%s: %s: %q", name, stream, text)
		}
		require.Contains(t, got.stderr+got.stdout, "?FORGED", "%s: the file is named", name)
	}
}

func TestJobsAreBounded(t *testing.T) {
	got := execute("", "score", "--policy", examplePolicy, "--jobs", "1000000", exampleTraces)
	require.Equal(t, 2, got.code)
	require.Contains(t, got.stderr, "--jobs must be between 0 and 1024, got 1000000")
}
