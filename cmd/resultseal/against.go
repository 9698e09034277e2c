// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/resultseal/otelcol-resultseal/internal/coverage"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// validateAgainst checks a policy and then tells what of it recorded traces never
// touched. What it tells are warnings.
func validateAgainst(cmd *cobra.Command, name string, traces []string, o *inputOptions) error {
	code, err := validate(cmd, name, true)
	if err != nil {
		return err
	}
	if code > 0 {
		return exitCode(code)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return invalidArgument(err.Error())
	}
	file := &documentFile{name: name, text: text}
	if kind, _ := file.kind(); kind != policyFile {
		return invalidArgument(name + " is no policy; with --against the first PATH is one, and what follows are traces")
	}
	p, err := policy.Load(name, text)
	if err != nil {
		return policyError(err)
	}
	seen := coverage.New(p)
	counts, err := judgeFiles(cmd, traces, o, judging{
		scorer:  score.New(p),
		explain: func(string, string) bool { return true },
		take: func(v *verdict) error {
			if v.session != nil {
				seen.Add(v.session, v.account)
			}
			return nil
		},
	})
	if err != nil {
		return err
	}
	for _, f := range seen.Findings() {
		if f.Path == "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: %s\n", name, f.Message)
			continue
		}
		fmt.Fprintln(cmd.ErrOrStderr(), file.tell("warning", f.Path, f.Message))
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: held against %s\n", name, seen.Summary()); err != nil {
		return err
	}
	if counts.incomplete() {
		return exitCode(2)
	}
	return nil
}
