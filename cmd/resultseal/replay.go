// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"io/fs"
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

func newReplayCommand() *cobra.Command {
	var o sealOptions
	cmd := &cobra.Command{
		Use:   "replay FIXTURE...",
		Short: "Replay fixtures against what they expect",
		Long: `Replay fixtures against what they expect.

A FIXTURE is a file, or a directory of .yaml, .yml and .json files. It matches if
the decision is the expected one, and so is the truth state where one is expected,
and every expected reason code is among the actual ones. A fixture that expects the
decision "rejected" matches if its input or contract is refused.

With --format json each decision is a record on a line; a refusal is an object with
the decision "rejected", the fixture and the reason codes.

The exit status is 0 if all fixtures match, 1 if one does not, 2 if one is invalid
and 3 if one is unsafe to process.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			now, err := o.now.clock()
			if err != nil {
				return err
			}
			files, err := documentFiles(args)
			if err != nil {
				return err
			}
			worst := 0
			for _, name := range files {
				code, err := replay(cmd, name, now, &o)
				if err != nil {
					if len(files) > 1 {
						fmt.Fprintf(cmd.ErrOrStderr(), "resultseal: in %s:\n", display.Line(name))
					}
					code = status(err, cmd.ErrOrStderr())
				}
				worst = max(worst, code)
			}
			if worst > 0 {
				return exitCode(worst)
			}
			return nil
		},
	}
	o.register(cmd, "md")
	return cmd
}

// documentFiles replaces directories by the documents in them, in order of their names.
func documentFiles(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if path == "-" || err == nil && !info.IsDir() {
			files = append(files, path)
			continue
		}
		if err != nil {
			return nil, invalidArgument(err.Error())
		}
		found := len(files)
		err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, strings.ToLower(filepath.Ext(name))) {
				files = append(files, name)
			}
			return err
		})
		if err != nil {
			return nil, invalidArgument(err.Error())
		}
		if len(files) == found {
			return nil, invalidArgument(path + ": no .yaml, .yml or .json file in this directory")
		}
	}
	return files, nil
}

// replay replays one fixture and reports it: 0 for a match, 1 for a mismatch.
func replay(cmd *cobra.Command, name string, now time.Time, o *sealOptions) (code int, err error) {
	doc, err := readDocument(cmd, name)
	if err != nil {
		return 0, err
	}
	v, err := engine.ParseDocument(doc.Data, doc.Format)
	if err != nil {
		return 0, err
	}
	f, err := engine.DecodeFixture(v)
	if err != nil {
		return 0, err
	}
	actual, report, err := f.Replay(now, o.redact)
	if err != nil {
		return 0, err
	}
	verdict, match := "MATCH", actual.Meets(f.Expected)
	if !match {
		verdict, code = "MISMATCH", 1
	}
	w := cmd.OutOrStdout()
	if o.format == "json" {
		return code, writeReplay(w, f, actual, &report)
	}
	summary := outcome(actual)
	if actual.Decision == engine.Rejected {
		summary += " (" + strings.Join(actual.ReasonCodes, ", ") + ")"
	}
	b := new(strings.Builder)
	fmt.Fprintf(b, "%s: %s -> %s\n", mark(w, match, verdict), display.Line(f.Name), summary)
	if !match {
		fmt.Fprintf(b, "  expected: %s codes=%s\n", outcome(f.Expected), list(f.Expected.ReasonCodes))
		fmt.Fprintf(b, "  actual:   %s codes=%s\n", outcome(actual), list(actual.ReasonCodes))
	}
	_, err = io.WriteString(w, b.String())
	return code, err
}

// outcome is a truth state and a decision, with an asterisk for any truth state.
func outcome(o engine.Outcome) string {
	switch {
	case o.Decision == engine.Rejected:
		return string(o.Decision)
	case o.TruthState == "":
		return "*/" + string(o.Decision)
	}
	return string(o.TruthState) + "/" + string(o.Decision)
}

// list writes strings as the reference does, as a list of Python.
func list(codes []string) string {
	quoted := make([]string, len(codes))
	for i, code := range codes {
		quote := "'"
		if strings.Contains(code, "'") && !strings.Contains(code, `"`) {
			quote = `"`
		}
		quoted[i] = quote + strings.NewReplacer(`\`, `\\`, quote, `\`+quote).Replace(display.Line(code)) + quote
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// writeReplay writes an outcome as an object on a line: the record of a decision,
// or for a refusal, which has none, the fixture and the reasons.
func writeReplay(w io.Writer, f *engine.Fixture, actual engine.Outcome, report *engine.Report) error {
	if actual.Decision != engine.Rejected {
		return writeRecord(w, report, "json")
	}
	reasons := make([]jsonvalue.Value, len(actual.ReasonCodes))
	for i, r := range actual.ReasonCodes {
		reasons[i] = jsonvalue.String(r)
	}
	line, err := jsonvalue.Object(
		jsonvalue.Member{Key: "decision", Value: jsonvalue.String(string(actual.Decision))},
		jsonvalue.Member{Key: "fixture", Value: jsonvalue.String(f.Name)},
		jsonvalue.Member{Key: "reason_codes", Value: jsonvalue.Array(reasons...)},
	).AppendCanonical(nil)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}
