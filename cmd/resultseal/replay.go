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

	"github.com/resultseal/otelcol-resultseal/internal/engine"
)

func newReplayCommand() *cobra.Command {
	var o sealOptions
	cmd := &cobra.Command{
		Use:   "replay FIXTURE...",
		Short: "Replay fixtures against what they expect",
		Long: `Replay fixtures against what they expect.

A FIXTURE is a file, or a directory of .yaml, .yml and .json files. The exit status
is 0 if all decisions are as expected, 1 if one is not, 2 if a fixture is invalid
and 3 if one is unsafe to process.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(); err != nil {
				return err
			}
			now, err := o.clock()
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
						fmt.Fprintf(cmd.ErrOrStderr(), "resultseal: in %s:\n", name)
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
	actual, report := f.Replay(now, o.redact)
	match := f.Expected.Equal(actual)
	if !match {
		code = 1
	}
	if o.format == "json" {
		return code, writeReplay(cmd.OutOrStdout(), f, actual, &report)
	}
	w := cmd.OutOrStdout()
	if match {
		_, err = fmt.Fprintf(w, "%s: %s -> %s\n", mark(w, true, "MATCH"), oneLine(f.Name), summary(actual))
		return code, err
	}
	_, err = fmt.Fprintf(w, "%s: %s\n  expected: %s (%s)\n  actual:   %s (%s)\n", mark(w, false, "MISMATCH"), oneLine(f.Name),
		summary(f.Expected), oneLine(strings.Join(f.Expected.ReasonCodes, ", ")),
		summary(actual), oneLine(strings.Join(actual.ReasonCodes, ", ")))
	return code, err
}

// summary is an outcome in two words: the truth state and the decision, or why
// there is none.
func summary(o engine.Outcome) string {
	state := string(o.TruthState)
	if o.Decision == engine.Rejected {
		state = strings.Join(o.ReasonCodes, ",")
	}
	return oneLine(state + "/" + string(o.Decision))
}

// oneLine keeps what a file says from writing lines or colours of its own.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7F && r < 0xA0 {
			return '?'
		}
		return r
	}, text)
}

// writeReplay writes a replay as an object on a line.
func writeReplay(w io.Writer, f *engine.Fixture, actual engine.Outcome, report *engine.Report) error {
	outcome := func(o engine.Outcome) engine.Value {
		reasons := make([]engine.Value, len(o.ReasonCodes))
		for i, r := range o.ReasonCodes {
			reasons[i] = engine.String(r)
		}
		state := engine.Null()
		if o.TruthState != "" {
			state = engine.String(string(o.TruthState))
		}
		return engine.Object(
			engine.Member{Key: "decision", Value: engine.String(string(o.Decision))},
			engine.Member{Key: "truth_state", Value: state},
			engine.Member{Key: "reason_codes", Value: engine.Array(reasons...)},
		)
	}
	record := engine.Null()
	if report.Record.Fingerprint != "" {
		record = engine.Object(report.Record.Fields()...)
	}
	line, err := engine.Object(
		engine.Member{Key: "name", Value: engine.String(f.Name)},
		engine.Member{Key: "match", Value: engine.Bool(f.Expected.Equal(actual))},
		engine.Member{Key: "expected", Value: outcome(f.Expected)},
		engine.Member{Key: "actual", Value: outcome(actual)},
		engine.Member{Key: "record", Value: record},
	).AppendCanonical(nil)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}
