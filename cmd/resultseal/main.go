// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

// Command resultseal decides offline what the processor decides in a collector:
// whether a tool's result supports a claim, and whether a recorded session kept
// to its protocol.
package main

import (
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run executes the command line and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stderr = messages{stderr}
	cmd := newRootCommand()
	cmd.SetArgs(args)
	cmd.SetIn(stdin)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	return status(cmd.Execute(), stderr)
}
