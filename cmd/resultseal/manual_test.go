// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

// beCommand makes the test's own binary the command, so that a shell can run it.
const beCommand = "RESULTSEAL_TEST_BE_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(beCommand) != "" {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func manual(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	require.NoError(t, err)
	return string(text)
}

// Every command of the manual does what the manual shows. Its examples are run in
// a copy of the folder that they are said to be run in.
func TestManualExamples(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell here")
	}
	text := manual(t)
	top := t.TempDir()
	dir := filepath.Join(top, "examples", "protocols", "no-action-on-an-unsealed-fact")
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", "protocols", "no-action-on-an-unsealed-fact"))))
	require.NoError(t, os.CopyFS(filepath.Join(top, "fixtures"), os.DirFS(filepath.Join("..", "..", "fixtures"))))
	self, err := os.Executable()
	require.NoError(t, err)
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "resultseal"), []byte("#!/bin/sh\n"+beCommand+"=1 exec '"+self+"' \"$@\"\n"), 0o700)) //nolint:gosec // it is to be run

	commands := 0
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(text, -1) {
		code := 0
		for _, part := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(part, "\n")
			commands++
			if command == "echo $?" {
				require.Equal(t, strings.TrimSpace(want), fmt.Sprint(code))
				continue
			}
			var stdout, stderr bytes.Buffer
			cmd := exec.Command("sh", "-c", command)
			cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
			cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			var exit *exec.ExitError
			code = 0
			if err := cmd.Run(); errors.As(err, &exit) {
				code = exit.ExitCode()
			} else {
				require.NoError(t, err)
			}
			got := stdout.String() + stderr.String()
			require.Regexp(t, shown(want), got, command)
		}
	}
	require.Greater(t, commands, 15)
}

// shown matches what the manual shows of an output: … stands for anything.
func shown(want string) string {
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	for i, part := range strings.Split(strings.TrimSuffix(want, "\n"), "…") {
		if i > 0 {
			b.WriteString(".*")
		}
		b.WriteString(regexp.QuoteMeta(part))
	}
	return b.String() + `\n?\z`
}

// The manual names every command and every flag.
func TestManualIsComplete(t *testing.T) {
	text := manual(t)
	root := newRootCommand()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			return
		}
		if cmd != root {
			require.Contains(t, text, cmd.Name())
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" {
				require.Contains(t, text, "--"+f.Name, cmd.CommandPath())
			}
		})
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root)
	for _, format := range formats {
		require.Contains(t, text, "`"+format+"`")
	}
	for _, failure := range failures {
		require.Contains(t, text, "`"+failure+"`")
	}
}
