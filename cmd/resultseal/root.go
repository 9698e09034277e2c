// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
)

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "resultseal",
		Short:         "Seal what tools returned, and judge what agents did with it",
		SilenceErrors: true, // status tells them, in one form
		SilenceUsage:  true,
		Version:       versions(),
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		newCheckCommand(),
		newReplayCommand(),
		newValidateCommand(),
		newScoreCommand(),
		newInitCommand(),
		newProtocolCommand(),
		newDialectsCommand(),
		newVersionCommand(),
	)
	setOnce(root)
	return root
}

// exitCode is an outcome that the output tells already: 1 for a claim that is
// blocked or an expectation that is not met, 2 for broken input that was named.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit status %d", int(c)) }

// failure is an error that is not the engine's, with the code that it is told under.
type failure struct {
	code engine.ErrorCode
	err  error
}

func (f *failure) Error() string { return string(f.code) + ": " + f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// invalidArgument is a command line that cannot be meant. The message is one line,
// whatever names of files are in it.
func invalidArgument(message string) error {
	return &failure{engine.CodeInvalidArgument, errors.New(display.Line(message))}
}

// invalidInput is a file that cannot be read.
func invalidInput(err error) error { return &failure{engine.CodeParseFailed, err} }

// policyError is a policy that nothing can start with.
func policyError(err error) error { return &failure{engine.CodeSchemaInvalid, err} }

// status tells an error on standard error, as "resultseal: CODE: message", and
// returns the exit status: 2 for what is invalid, 3 for what is unsafe.
func status(err error, stderr io.Writer) int {
	var code exitCode
	var coded *engine.Error
	var diagnostics policy.Diagnostics
	var f *failure
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &coded):
		fmt.Fprintf(stderr, "resultseal: %s\n", coded)
		return coded.Exit()
	case errors.As(err, &diagnostics):
		fmt.Fprintf(stderr, "resultseal: %s: %s\n", engine.CodeSchemaInvalid, diagnostics)
		return 2
	case errors.As(err, &f):
		fmt.Fprintf(stderr, "resultseal: %s\n", f)
		return 2
	}
	// What is left is what the command line's own parser refuses.
	fmt.Fprintf(stderr, "resultseal: %s: %s\n", engine.CodeInvalidArgument, err)
	return 2
}

// messages writes what a person reads on standard error. Names of files and of
// what is in them are foreign text, so each write goes through [display.Lines]. A
// name that may hold a line break goes through [display.Line] before, so that it
// cannot write a line of its own.
type messages struct{ io.Writer }

// Write implements io.Writer. A message is one write.
func (m messages) Write(p []byte) (int, error) {
	if _, err := io.WriteString(m.Writer, display.Lines(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	if m, ok := w.(messages); ok {
		w = m.Writer
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// colours reports whether to write colours to w: on a terminal, unless NO_COLOR is set.
func colours(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && isTerminal(w)
}
