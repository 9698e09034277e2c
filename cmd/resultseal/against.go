// Copyright The ResultSeal Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/resultseal/otelcol-resultseal/internal/coverage"
	"github.com/resultseal/otelcol-resultseal/internal/display"
	"github.com/resultseal/otelcol-resultseal/internal/policy"
	"github.com/resultseal/otelcol-resultseal/internal/score"
)

// validateAgainst checks a policy, and reports what of it recorded traces never
// touched as warnings.
func validateAgainst(cmd *cobra.Command, name string, traces []string, now time.Time, o *validateOptions) error {
	file, p, err := openPolicy(name)
	var wrong policy.Diagnostics
	switch {
	case errors.As(err, &wrong):
		fmt.Fprintln(cmd.ErrOrStderr(), wrong)
		return exitCode(2)
	case err != nil:
		return err
	}
	seen := coverage.New(p)
	counts, err := scoreFiles(cmd, traces, &o.input, pipeline{
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
	var found []policy.Diagnostic
	for _, f := range seen.Findings() {
		d := policy.Diagnostic{Level: policy.LevelWarning, Kind: f.Kind, File: name, Path: f.Path, Message: f.Message, Tool: f.Tool, Repeat: f.Repeat}
		if f.Path != "" {
			d.Line, d.Column = file.place(f.Path)
			d.Excerpt = file.excerpt(d.Line, d.Column)
		}
		found = append(found, d)
	}
	review := p.ReviewAgainst(now, found)
	writeReview(cmd, &review)
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: valid (policy)%s\n%[1]s: held against %[3]s\n", display.Line(name), acknowledged(&review), seen.Summary()); err != nil {
		return err
	}
	if counts.incomplete() {
		return exitCode(2)
	}
	return o.exit(0, len(review.Warnings))
}

// openPolicy reads the policy that traces are held against.
func openPolicy(name string) (*documentFile, *policy.Policy, error) {
	file, err := readDocumentFile(name)
	if err != nil {
		return nil, nil, err
	}
	if kind, sure := file.kind(); kind != policyFile && sure {
		return nil, nil, invalidArgument(name + " is no policy; with --against the first PATH is one, and what follows are traces")
	}
	p, err := policy.Load(name, file.text)
	return file, p, err
}
