// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// Every flag of every command that takes one value is an error if it is given
// twice, also with the same value; flags that collect values are not.
func TestFlagsGivenTwice(t *testing.T) {
	repeatable := map[string]bool{
		"score --out": true, "score --fail-on": true, "validate --against": true,
		"check --redact": true, "replay --redact": true,
	}
	values := map[string]string{"jobs": "1", "tails": "1", "memory": "64MiB"} // others take any text
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			path := strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "resultseal"))
			name := path + " --" + f.Name
			if f.Value.Type() == "bool" {
				return
			}
			value := values[f.Name]
			if value == "" {
				value = "x"
			}
			args := append(strings.Fields(path), "--"+f.Name, value, "--"+f.Name+"="+value, "a", "b")
			got := execute("", args...)
			want := `for "--` + f.Name + `" flag: the flag takes one value and is given twice`
			if repeatable[name] {
				delete(repeatable, name)
				require.NotContains(t, got.stderr, "given twice", name)
				return
			}
			require.Equal(t, 2, got.code, name)
			require.Contains(t, got.stderr, "resultseal: INVALID_ARGUMENT: invalid argument", name)
			require.Contains(t, got.stderr, want, name)
		})
	}
	walk(newRootCommand())
	require.Empty(t, repeatable, "flags that are not there or cannot be repeated")

	require.Zero(t, execute(exampleText(t), "score", "--policy", examplePolicy, "--strict", "--strict", "-").code, "the same again")
	got := execute(exampleText(t), "score", "--policy", examplePolicy, "--strict", "--strict=false", "-")
	require.Equal(t, 2, got.code)
	require.Contains(t, got.stderr, "given twice")
	require.Zero(t, execute("", "score", "--help", "-h").code)
}

func TestOutputs(t *testing.T) {
	for _, tt := range []struct {
		format string
		out    []string
		want   []output
		err    string
	}{
		{"", nil, []output{{"json", ""}}, ""},
		{"html", nil, []output{{"html", ""}}, ""},
		{"", []string{"a.html"}, []output{{"html", "a.html"}}, ""},
		{"table", []string{"a.html"}, []output{{"table", "a.html"}}, ""},
		{"", []string{"a.HTM", "b.sarif", "c.xml", "d.jsonl", "e.json", "f"}, []output{{"html", "a.HTM"}, {"sarif", "b.sarif"}, {"junit", "c.xml"}, {"jsonl", "d.jsonl"}, {"json", "e.json"}, {"json", "f"}}, ""},
		{"", []string{"junit=a.html", "table=-", "json=x=y"}, []output{{"junit", "a.html"}, {"table", ""}, {"json", "x=y"}}, ""},
		{"", []string{"./sarf=a.json", "dir/a=b.xml", "run-1=a.xml"}, []output{{"json", "./sarf=a.json"}, {"junit", "dir/a=b.xml"}, {"junit", "run-1=a.xml"}}, ""},
		{"jsonl", []string{"-"}, []output{{"jsonl", ""}}, ""},
		{"xml", nil, nil, `--format "xml" is unknown; use table, json, jsonl, junit, sarif, html`},
		{"", []string{"sarf=a.json"}, nil, `--out "sarf=a.json": the form "sarf" is unknown; use table, json, jsonl, junit, sarif, html, or ./sarf=a.json for a file with that name`},
		{"", []string{"SARIF=a.json"}, nil, `--out "SARIF=a.json": the form "SARIF" is unknown; use table, json, jsonl, junit, sarif, html, or ./SARIF=a.json for a file with that name`},
		{"html", []string{"sarif=a"}, nil, `--out "sarif=a" has a form, so leave --format out`},
		{"html", []string{"a", "b"}, nil, "--format is for one --out; with several, write --out FORM=FILE"},
		{"", []string{"sarif="}, nil, `--out "sarif=" names no file; use - for standard output`},
		{"", []string{""}, nil, `--out "" names no file; use - for standard output`},
		{"", []string{"a.xml", "html=./a.xml"}, nil, "--out names ./a.xml twice"},
		{"", []string{"-", "table=-"}, nil, "--out names standard output twice"},
	} {
		got, err := outputs(tt.format, tt.out, new(strings.Builder))
		if tt.err != "" {
			require.EqualError(t, err, "INVALID_ARGUMENT: "+tt.err)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, tt.want, got)
	}
}

// Several outputs hold the bytes that each has by itself.
func TestScoreOutputs(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	got := execute("", "score", "--policy", examplePolicy, "--out", in("a.html"), "--out", in("b.sarif"), "--out", "junit="+in("c"), "--out", "table=-", "--annotated", in("d"), exampleTraces)
	require.Zero(t, got.code, got.stderr)
	alone := func(format string) string {
		return execute("", "score", "--policy", examplePolicy, "--format", format, exampleTraces).stdout
	}
	require.Equal(t, alone("table"), got.stdout)
	for format, name := range map[string]string{"html": "a.html", "sarif": "b.sarif", "junit": "c"} {
		text, err := os.ReadFile(in(name))
		require.NoError(t, err)
		require.Equal(t, alone(format), string(text), format)
	}

	// One that cannot be written keeps no other from being written.
	got = execute("", "score", "--policy", examplePolicy, "--out", in("no/where.json"), "--out", in("e.json"), exampleTraces)
	require.Equal(t, 2, got.code)
	require.Contains(t, got.stderr, "--out: open ")
	require.FileExists(t, in("e.json"))

	for _, args := range [][]string{
		{"--out", in("f"), "--out", "html=" + in("x/../f")},
		{"--out", in("f"), "--annotated", in("f")},
		{"--out", in("f"), "--out", in("g"), "--annotated", in("./g")},
	} {
		got = execute("", append([]string{"score", "--policy", examplePolicy, exampleTraces}, args...)...)
		require.Equal(t, 2, got.code, args)
		require.NoFileExists(t, in("f"))
	}

	// An explanation is one text.
	id := "b62e47ab"
	got = execute("", "score", "--policy", examplePolicy, "--explain", id, "--out", in("h"), exampleTraces)
	require.Zero(t, got.code, got.stderr)
	text, err := os.ReadFile(in("h"))
	require.NoError(t, err)
	require.Equal(t, string(text), execute("", "score", "--policy", examplePolicy, "--explain", id, "--out", "-", exampleTraces).stdout)
	for _, args := range [][]string{{"--out", in("i"), "--out", in("j")}, {"--out", "html=" + in("i")}} {
		got = execute("", append([]string{"score", "--policy", examplePolicy, "--explain", id, exampleTraces}, args...)...)
		require.Equal(t, 2, got.code, args)
		require.NoFileExists(t, in("i"))
	}
}
