// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/engine"
	"github.com/resultseal/otelcol-resultseal/internal/jsonvalue"
)

// sealOptions are the flags that check and replay share.
type sealOptions struct {
	format string
	now    clockFlag
	redact []string
}

// clockFlag is the value of --now.
type clockFlag struct {
	text string
	set  bool
}

// String implements pflag.Value.
func (c *clockFlag) String() string { return c.text }

// Type implements pflag.Value.
func (*clockFlag) Type() string { return "string" }

// Set implements pflag.Value.
func (c *clockFlag) Set(text string) error {
	c.text, c.set = text, true
	return nil
}

func (o *sealOptions) register(cmd *cobra.Command, format string) {
	f := cmd.Flags()
	f.StringVar(&o.format, "format", format, "json or md")
	f.Var(&o.now, "now", "the reference clock in ISO 8601, UTC without an offset (default: now)")
	f.StringArrayVar(&o.redact, "redact", nil, "a record's field to redact before its fingerprint is taken (repeatable)")
}

func (o *sealOptions) check() error {
	if o.format != "json" && o.format != "md" {
		return invalidArgument(fmt.Sprintf("--format %q is unknown; use json or md", o.format))
	}
	for _, field := range o.redact {
		if !slices.Contains(engine.RedactableFields, field) {
			return invalidArgument(fmt.Sprintf("--redact %q is no field of a record that can be redacted; use %s", field, strings.Join(engine.RedactableFields, ", ")))
		}
	}
	return nil
}

// clock reads --now; without it, it is now.
func (c *clockFlag) clock() (time.Time, error) {
	switch {
	case !c.set:
		return time.Now(), nil
	case strings.TrimSpace(c.text) == "":
		return time.Time{}, invalidArgument("--now is empty; use an ISO 8601 time such as 2026-08-21T12:00:00Z, or leave it out for the current time")
	}
	return engine.ParseClock(c.text)
}

func newCheckCommand() *cobra.Command {
	var o sealOptions
	var contract string
	cmd := &cobra.Command{
		Use:   "check RESPONSE --contract CONTRACT",
		Short: "Hold a tool's result against a contract",
		Long: `Hold a tool's result against a contract, and print the decision record.

RESPONSE is an adapter document, "-" for standard input; CONTRACT is a contract.
A file whose name ends with .yaml or .yml is YAML, any other is JSON.

The exit status is 0 if the claim is sealed, 1 if it is blocked, 2 if something
is invalid and 3 if it is unsafe to process.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			if contract == "" {
				return invalidArgument("--contract is required")
			}
			response, err := readDocument(cmd, args[0])
			if err != nil {
				return err
			}
			terms, err := readDocument(cmd, contract)
			if err != nil {
				return err
			}
			report, err := engine.Check(response, terms, o.now.clock, o.redact)
			if err != nil {
				return err
			}
			if err := writeRecord(cmd.OutOrStdout(), &report, o.format); err != nil {
				return err
			}
			if report.Evaluation.Decision != engine.Sealed {
				return exitCode(1)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&contract, "contract", "", "the contract (required)")
	o.register(cmd, "json")
	return cmd
}

// maxRead is a little more than what the engine takes, so that it is the engine
// that refuses a file as too large.
const maxRead = 1 << 20

// readDocument reads a file, or standard input for "-".
func readDocument(cmd *cobra.Command, name string) (engine.Document, error) {
	from := cmd.InOrStdin()
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return engine.Document{}, invalidArgument(err.Error())
		}
		defer f.Close()
		from = f
	}
	data, err := io.ReadAll(io.LimitReader(from, maxRead))
	if err != nil {
		return engine.Document{}, invalidArgument(err.Error())
	}
	return engine.Document{Data: data, Format: formatOf(name)}, nil
}

func formatOf(name string) engine.Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return engine.FormatYAML
	}
	return engine.FormatJSON
}

// writeRecord prints a record: as canonical JSON, or as a table to be read.
func writeRecord(w io.Writer, report *engine.Report, format string) error {
	r := &report.Record
	if format == "json" {
		_, err := w.Write(append(r.AppendCanonical(nil), '\n'))
		return err
	}
	b := new(strings.Builder)
	fmt.Fprintf(b, "# %s\n\n| field | value |\n|---|---|\n", mark(w, report.Evaluation.Decision == engine.Sealed, string(r.Decision)))
	for _, f := range r.Fields() {
		fmt.Fprintf(b, "| %s | %s |\n", f.Key, cell(f.Value))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// cell writes a value into a table's cell.
func cell(v jsonvalue.Value) string {
	if v.Kind() == jsonvalue.ArrayKind {
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = cell(v.Index(i))
		}
		return strings.Join(parts, ", ")
	}
	return strings.ReplaceAll(display.Line(v.Text()), "|", `\|`)
}

// mark colours a word on a terminal: green for what holds, red for what does not.
func mark(w io.Writer, good bool, word string) string {
	switch {
	case !colours(w):
		return word
	case good:
		return "\x1b[32m" + word + "\x1b[0m"
	}
	return "\x1b[31m" + word + "\x1b[0m"
}
